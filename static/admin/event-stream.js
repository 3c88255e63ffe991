/**
 * Subscribes to server-sent events while the page is visible, and shows a notice while the connection is lost. Hidden
 * pages disconnect: a browser opens only six HTTP/1.1 connections to a server, for all its tabs together.
 */
import { ApiError, request, showError } from "./api.js";

/** A shorter interruption shows no notice: the server restarts, or ends each stream after a while. */
const GRACE_MS = 3000;
const RECONNECT_MS = 5000;

/**
 * @param {string} address @param {HTMLElement} notice
 * @param {string} name of the events @param {(told: any) => void} onEvent
 * @returns {() => void} reconnects, which fetches the whole state
 */
export function subscribe(address, notice, name, onEvent) {
  let lostTimer = 0;
  /** @type {EventSource | undefined} */
  let current;
  const open = () => {
    if (document.hidden) return;
    current?.close();
    const source = new EventSource(address);
    current = source;
    source.addEventListener("open", () => {
      clearTimeout(lostTimer);
      lostTimer = 0;
      notice.hidden = true;
    });
    source.addEventListener(name, (event) => onEvent(JSON.parse(event.data)));
    source.addEventListener("error", () => {
      lostTimer ||= setTimeout(showLost, GRACE_MS);
      // In the other states the browser reconnects by itself.
      if (source === current && source.readyState === EventSource.CLOSED) setTimeout(reopen, RECONNECT_MS);
    });
  };
  const showLost = () => {
    notice.hidden = false;
    notice.textContent = "Connection lost; this page may be out of date. Reconnecting …";
  };
  const reopen = async () => {
    try {
      await request("GET", "/api/admin/status");
    } catch (trouble) {
      if (trouble instanceof ApiError && [401, 403].includes(trouble.status)) return showError(notice, trouble);
    }
    open();
  };
  const pause = () => {
    clearTimeout(lostTimer);
    lostTimer = 0;
    current?.close();
  };
  open();
  document.addEventListener("visibilitychange", () => (document.hidden ? pause() : open()));
  addEventListener("pagehide", pause);
  addEventListener("pageshow", (event) => event.persisted && open());
  return open;
}
