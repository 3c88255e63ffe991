/** Disables controls while something runs that they would interfere with. */

/** How many callers keep each control disabled. @type {WeakMap<HTMLElement, number>} */
const holdCounts = new WeakMap();

/**
 * Disables controls of a viewer.
 * @param {HTMLElement} element @param {string} which as a selector
 * @returns {() => void} releases them; each is enabled once no other caller holds it
 */
export function disableControls(element, which) {
  const controls = /** @type {HTMLButtonElement[]} */ ([...element.querySelectorAll(which)]);
  const count = (/** @type {number} */ more) => {
    for (const control of controls) {
      const kept = (holdCounts.get(control) ?? 0) + more;
      holdCounts.set(control, kept);
      control.disabled = kept > 0;
    }
  };
  count(1);
  return () => count(-1);
}

/** @param {...string} names */
export function toolSelector(...names) {
  return names.map((name) => `[data-tool="${name}"]`).join();
}
