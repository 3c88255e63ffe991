/** What the console asks, and how it complains. */
import { Trouble } from "../ask.js";

export { Trouble, ask } from "../ask.js";

/** Says what went wrong; where a session has ended, how to begin another. @param {HTMLElement} place @param {unknown} trouble */
export function complain(place, trouble) {
  place.hidden = false;
  if (!(trouble instanceof Trouble && trouble.status === 401)) {
    place.textContent = trouble instanceof Error ? trouble.message : String(trouble);
    return;
  }
  const way = document.createElement("a");
  way.href = `/admin?next=${encodeURIComponent(location.pathname + location.search)}`;
  way.textContent = "Sign in again";
  place.replaceChildren("Your session has ended. ", way);
}
