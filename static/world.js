/** Lets visitors walk through the scenes: a picture becomes the 3D viewer, in walking mode, and comes back. */

/** @typedef {import("./viewer/viewer.js").BuildViewer} BuildViewer */

/** Puts the picture back whose scene is open; at most one is. @type {() => void} */
let closeScene = () => {};

/** Shows the viewer in the picture's place. @param {HTMLButtonElement} button @param {HTMLElement} figure */
async function openScene(button, figure) {
  await import("./viewer/viewer.js");
  closeScene();
  const picture = /** @type {HTMLImageElement} */ (figure.querySelector("img"));
  const viewer = /** @type {BuildViewer} */ (document.createElement("build-viewer"));
  const { grid = "", start = "" } = button.dataset;
  const name = figure.querySelector("figcaption span")?.textContent ?? "";
  for (const [attribute, value] of Object.entries({ src: grid, start, name, summary: picture.alt })) {
    viewer.setAttribute(attribute, value);
  }
  viewer.addEventListener("viewer:ready", () => {
    // The toolbar, which is there now, makes the figure higher.
    figure.scrollIntoView({ block: "nearest" });
    /** @type {HTMLElement | null} */ (viewer.querySelector("[data-tool=walk]"))?.click();
  }, { once: true });
  viewer.addEventListener("viewer:error", () => {
    // Without WebGL there is only the picture; after other errors, the viewer offers to try again.
    if (viewer.dataset.state !== "flat") return;
    closeScene();
    button.replaceWith("This browser shows no 3D.");
  });
  picture.replaceWith(viewer);
  viewer.append(picture);
  button.textContent = "Back to the picture";
  closeScene = () => {
    viewer.replaceWith(picture);
    button.textContent = "Walk through it";
    closeScene = () => {};
  };
}

for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("button[data-grid]"))) {
  const figure = /** @type {HTMLElement} */ (button.closest("figure"));
  button.hidden = false;
  button.addEventListener("click", () => {
    if (figure.querySelector("build-viewer")) closeScene();
    else openScene(button, figure);
  });
}
/** @type {HTMLElement} */ (document.getElementById("walks")).hidden = false;
