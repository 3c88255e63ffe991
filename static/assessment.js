/**
 * The page of an assessment while it goes on. Whenever something has changed, the page is fetched again, and those of its
 * parts are taken over that are new: words and numbers are made in one place, and nothing else moves or loses the focus.
 */
import { byId } from "./dom.js";

/** Changes that come faster are shown together. */
const REFRESH_MS = 1000;
/** A shorter interruption shows no notice: the server restarts. */
const GRACE_MS = 4000;
const RECONNECT_MS = 5000;

const lost = byId("lost");
const address = `/api/assessments/${byId("assessment").dataset.id}/events`;

/** @type {EventSource | undefined} */
let source;
let isOver = false;
let isShown = false;
let lostTimer = 0;
let refreshTimer = 0;

function connect() {
  if (document.hidden || isShown) return;
  source?.close();
  const opened = new EventSource(address);
  source = opened;
  opened.addEventListener("open", () => {
    clearTimeout(lostTimer);
    lostTimer = 0;
    lost.hidden = true;
  });
  opened.addEventListener("assessment", (event) => {
    isOver = !["queued", "running"].includes(JSON.parse(event.data).state);
    if (isOver) opened.close();
    refreshTimer ||= setTimeout(refresh, isOver ? 0 : REFRESH_MS);
  });
  opened.addEventListener("error", () => {
    lostTimer ||= setTimeout(showLost, GRACE_MS);
    // In its other states the browser connects again by itself.
    if (opened === source && opened.readyState === EventSource.CLOSED) setTimeout(connect, RECONNECT_MS);
  });
}

/** Hidden pages disconnect: a browser opens only six connections to a server, for all its tabs together. */
function disconnect() {
  clearTimeout(lostTimer);
  lostTimer = 0;
  source?.close();
}

function showLost() {
  lost.hidden = false;
  lost.textContent = "Connection lost; this page may be out of date. Reconnecting …";
}

async function refresh() {
  const showsEnd = isOver;
  try {
    const response = await fetch(location.pathname);
    if (!response.ok) throw new Error(`The server answered ${response.status}.`);
    takeOver(new DOMParser().parseFromString(await response.text(), "text/html"));
    isShown = showsEnd;
    lost.hidden = true;
  } catch {
    showLost();
  }
  refreshTimer = 0;
  // The end came while the page was fetched, or could not be fetched.
  if (isOver && !isShown) refreshTimer = setTimeout(refresh, REFRESH_MS);
}

/** @param {Document} now */
function takeOver(now) {
  for (const part of document.querySelectorAll("[data-live]")) {
    const newer = now.getElementById(part.id);
    if (newer && newer.innerHTML !== part.innerHTML) part.replaceChildren(...document.adoptNode(newer).childNodes);
  }
}

connect();
document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
addEventListener("pagehide", disconnect);
addEventListener("pageshow", (event) => event.persisted && connect());
