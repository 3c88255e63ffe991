/** On phones A and B are slides: swiped at the edge, or shown by a tap on the name. */

/** @param {HTMLElement} stage @param {HTMLElement} tabs */
export function setUpSlides(stage, tabs) {
  const sides = /** @type {HTMLElement[]} */ ([...stage.querySelectorAll(".side")]);
  const buttons = /** @type {HTMLElement[]} */ ([...tabs.querySelectorAll("[data-show]")]);

  /** @param {string | undefined} name @param {ScrollBehavior} [behavior] */
  const show = (name, behavior) => {
    const side = sides.find((one) => one.dataset.side === name);
    if (side) stage.scrollTo({ left: side.offsetLeft - (stage.clientWidth - side.offsetWidth) / 2, behavior });
  };
  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) target.toggleAttribute("data-front", isIntersecting);
    for (const button of buttons) {
      const front = sides.some((side) => side.dataset.side === button.dataset.show && side.hasAttribute("data-front"));
      button.setAttribute("aria-pressed", String(front));
    }
  }, { root: stage, threshold: 0.6 });

  for (const side of sides) {
    watch.observe(side);
    side.addEventListener("click", () => side.hasAttribute("data-front") || show(side.dataset.side));
    // A viewer that the keyboard focuses scrolls into view.
    side.addEventListener("focusin", () => side.hasAttribute("data-front") || show(side.dataset.side));
  }
  for (const button of buttons) button.addEventListener("click", () => show(button.dataset.show));
  return { show };
}
