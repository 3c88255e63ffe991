/** Screenshots, and the sky and the file names that videos share. */
import { make } from "./controls.js";

/** The canvas is transparent, so the page's sky is drawn behind it. @param {import("./viewer.js").BuildViewer} element */
export function saveScreenshot(element) {
  const { viewer } = element;
  if (!viewer) return;
  const { width, height } = viewer.canvas;
  const sheet = make("canvas", { width: String(width), height: String(height) });
  const paper = /** @type {CanvasRenderingContext2D} */ (sheet.getContext("2d"));
  paper.fillStyle = skyGradient(element, paper, height);
  paper.fillRect(0, 0, width, height);
  viewer.draw();
  paper.drawImage(viewer.canvas, 0, 0);
  sheet.toBlob((blob) => {
    if (!blob) return;
    const anchor = make("a", { href: URL.createObjectURL(blob), download: fileName(element, "png") });
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 1000);
  });
}

/** @param {Element} element @param {CanvasRenderingContext2D} paper @param {number} height */
export function skyGradient(element, paper, height) {
  const sky = paper.createLinearGradient(0, 0, 0, height);
  const colours = getComputedStyle(element, "::before").backgroundImage.match(/rgba?\([^)]*\)/g) ?? ["#fff"];
  colours.forEach((colour, index) => sky.addColorStop(Math.min(1, index), colour));
  return sky;
}

/** @param {Element} element @param {string} kind */
export function fileName(element, kind) {
  return `${(element.getAttribute("name") ?? "build").replace(/[^\p{L}\p{N}]+/gu, "-").toLowerCase()}.${kind}`;
}
