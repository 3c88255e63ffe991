/** A picture to take along. */
import { make } from "./controls.js";

/** Saves the picture with the sky behind it. @param {import("./viewer.js").BuildViewer} element */
export function save(element) {
  const { viewer } = element;
  if (!viewer) return;
  const { width, height } = viewer.canvas;
  const sheet = make("canvas", { width: String(width), height: String(height) });
  const paper = /** @type {CanvasRenderingContext2D} */ (sheet.getContext("2d"));
  const sky = paper.createLinearGradient(0, 0, 0, height);
  const colours = getComputedStyle(element, "::before").backgroundImage.match(/rgba?\([^)]*\)/g) ?? ["#fff"];
  colours.forEach((colour, index) => sky.addColorStop(Math.min(1, index), colour));
  paper.fillStyle = sky;
  paper.fillRect(0, 0, width, height);
  viewer.draw();
  paper.drawImage(viewer.canvas, 0, 0);
  sheet.toBlob((blob) => {
    if (!blob) return;
    const name = (element.getAttribute("name") ?? "build").replace(/[^\p{L}\p{N}]+/gu, "-").toLowerCase();
    const anchor = make("a", { href: URL.createObjectURL(blob), download: `${name}.png` });
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 1000);
  });
}
