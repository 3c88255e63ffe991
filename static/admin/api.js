/** What the console asks, and how it complains. */
import { ApiError } from "../api.js";

export { ApiError, request } from "../api.js";

/** Says what went wrong; where a session has ended, how to begin another. @param {HTMLElement} place @param {unknown} trouble */
export function showError(place, trouble) {
  place.hidden = false;
  if (!(trouble instanceof ApiError && trouble.status === 401)) {
    place.textContent = trouble instanceof Error ? trouble.message : String(trouble);
    return;
  }
  const way = document.createElement("a");
  way.href = `/admin?next=${encodeURIComponent(location.pathname + location.search)}`;
  way.textContent = "Sign in again";
  place.replaceChildren("Your session has ended. ", way);
}
