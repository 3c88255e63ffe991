/** Comparing builds: choosing two to four of them, and copying the comparison's link. */
const MAX_BUILDS = 4;

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
      copied.textContent = "Your browser blocked copying. Copy the link from the address bar.";
    }
  });
}

if (builds) {
  const boxes = /** @type {HTMLInputElement[]} */ ([...builds.querySelectorAll("[name=build]")]);
  const button = /** @type {HTMLButtonElement} */ (document.getElementById("compare"));
  const chosenStatus = document.getElementById("chosen");
  const update = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    for (const box of boxes) box.disabled = !box.checked && chosen >= MAX_BUILDS;
    button.disabled = chosen < 2;
    if (chosenStatus) chosenStatus.textContent = chosen < 2 ? "Choose at least two." : chosen === MAX_BUILDS ? "Four of four chosen." : `${chosen} of four chosen.`;
  };
  builds.addEventListener("change", update);
  addEventListener("pageshow", update);
  update();
}

export {};
