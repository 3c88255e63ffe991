/** The console's requests, and how their errors are shown. */
import { ApiError } from "../api.js";

export { ApiError, request } from "../api.js";

/** Shows an error; where the session has expired, a link to sign in again. @param {HTMLElement} place @param {unknown} trouble */
export function showError(place, trouble) {
  place.hidden = false;
  if (!(trouble instanceof ApiError && trouble.status === 401)) {
    place.textContent = trouble instanceof Error ? trouble.message : String(trouble);
    return;
  }
  const link = document.createElement("a");
  link.href = `/admin?next=${encodeURIComponent(location.pathname + location.search)}`;
  link.textContent = "Sign in again";
  place.replaceChildren("Your session has ended. ", link);
}
