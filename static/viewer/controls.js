/** The toolbar of a viewer. */
const SVG = "http://www.w3.org/2000/svg";

/** SVG paths on a field of 20 by 20. */
const ICONS = {
  reset: "M4 9l6-5 6 5M6 8v8h8V8",
  rotate: "M3.5 10c0-2 3-3.5 6.5-3.5s6.5 1.5 6.5 3.5-3 3.5-6.5 3.5M12.5 11l-2.5 2.5 2.5 2.5",
  link: "M8.5 11.5l3-3M9 6.5l1.5-1.5a3.2 3.2 0 014.5 4.5L13.5 11M11 13.5L9.5 15A3.2 3.2 0 015 10.5L6.5 9",
  full: "M4 8V4h4M12 4h4v4M16 12v4h-4M8 16H4v-4",
  replay: "M4 10a6 6 0 106-6H5M8 1L5 4l3 3",
  walk: "M11 3.5a1 1 0 100-.1M8 18l2-5-2-2 1-4 3 2 2 1M12 18l-1-4",
  night: "M16 12.5A7 7 0 017.5 4 7 7 0 1016 12.5z",
  more: "M4 10a.6.6 0 101.2 0 .6.6 0 00-1.2 0M9.4 10a.6.6 0 101.2 0 .6.6 0 00-1.2 0M14.8 10a.6.6 0 101.2 0 .6.6 0 00-1.2 0",
};
const SPIN_SPEED = 0.35;

/**
 * @param {import("./viewer.js").BuildViewer} element
 * @param {import("./page-viewers.js").Pair} pair
 */
export function createControls(element, pair) {
  const camera = () => element.camera;
  const reset = iconButton("reset", "Reset the view", () => camera().reset());
  const rotate = iconButton("rotate", "Turn by itself", () => {
    camera().spin = camera().spin ? 0 : SPIN_SPEED;
    camera().changed();
    pair.sync();
  });
  const link = iconButton("link", "Move both together", () => pair.toggle(element));
  const fullscreen = iconButton("full", "Full screen", () => {
    if (document.fullscreenElement) document.exitFullscreen();
    else element.requestFullscreen();
  });
  /** A button whose module, `<tool>.js`, is loaded at the first click; its `activate` handles each click. @param {keyof typeof ICONS} tool @param {string} name */
  const lazyTool = (tool, name) => {
    const button = iconButton(tool, name, async () => {
      const loaded = await import(`./${tool}.js`).catch(() => {});
      if (loaded) loaded.activate(element, button, pair);
      else element.querySelector(":scope > [role=status]")?.replaceChildren(`${name} could not be loaded.`);
    });
    button.setAttribute(tool === "more" ? "aria-expanded" : "aria-pressed", "false");
    return button;
  };
  const slider = make("input", { type: "range", min: "1", step: "1" });
  slider.addEventListener("input", () => {
    element.viewer?.cut(slider.valueAsNumber);
    showLayers();
  });
  const showLayers = () => {
    const all = slider.value === slider.max;
    slider.setAttribute("aria-valuetext", all ? "nothing hidden" : `layer ${slider.value} of ${slider.max}`);
  };
  const label = make("label", { class: "cut" }, make("span", {}, "Cut from the top"), slider);

  rotate.hidden = matchMedia("(prefers-reduced-motion: reduce)").matches;
  fullscreen.hidden = !document.fullscreenEnabled;
  link.hidden = !element.hasAttribute("pair");
  const bar = make("div", { class: "bar", role: "group", "aria-label": "View" }, reset, rotate, link);
  if (element.hasAttribute("spec")) bar.append(lazyTool("replay", "Replay how it was built"));
  bar.append(lazyTool("walk", "Walk through it"), lazyTool("night", "Night"), fullscreen, lazyTool("more", "More"), label);
  return {
    bar,
    sync() {
      rotate.setAttribute("aria-pressed", String(camera().spin !== 0));
      link.setAttribute("aria-pressed", String(pair.linked));
    },
    /** @param {number} layers */
    setLayers(layers) {
      slider.max = String(layers);
      slider.value = slider.max;
      showLayers();
    },
  };
}

/**
 * Creates an element with attributes and children.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string>} attributes
 * @param {...(Node | string)} children
 */
export function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** @param {string} icon @param {string} name @param {() => void} onClick @param {string} [drawn] the path, where it is not one of ICONS */
export function iconButton(icon, name, onClick, drawn = ICONS[/** @type {keyof typeof ICONS} */ (icon)]) {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", "0 0 20 20");
  picture.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", drawn);
  picture.append(path);
  const button = make("button", { type: "button", "aria-label": name, title: name, "data-tool": icon }, picture);
  button.addEventListener("click", onClick);
  return button;
}
