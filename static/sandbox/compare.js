/** Builds side by side: choosing two to four, and taking the address along. */
const MOST = 4;

const copy = document.getElementById("copy");
const copied = document.getElementById("copied");
const builds = document.getElementById("builds");

if (copy && copied) {
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      copied.textContent = "Copied.";
    } catch {
      copied.textContent = "Your browser does not allow it: copy it from the address bar.";
    }
  });
}

if (builds) {
  const boxes = /** @type {HTMLInputElement[]} */ ([...builds.querySelectorAll("[name=build]")]);
  const button = /** @type {HTMLButtonElement} */ (document.getElementById("compare"));
  const told = document.getElementById("chosen");
  const fit = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    for (const box of boxes) box.disabled = !box.checked && chosen >= MOST;
    button.disabled = chosen < 2;
    if (told) told.textContent = chosen < 2 ? "Choose at least two." : chosen === MOST ? "Four of four chosen." : `${chosen} of four chosen.`;
  };
  builds.addEventListener("change", fit);
  addEventListener("pageshow", fit);
  fit();
}

export {};
