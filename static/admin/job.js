/** A job, live, and its answers on demand. */
import { Trouble, ask, complain } from "./api.js";
import { count, one, part, say } from "./parts.js";

const GLANCE_MS = 2000;
/** More of an answer is for another window. */
const SHOWN = 200_000;

const job = part("job");
const trouble = part("trouble");
const told = part("told");
const list = part("list");
const ALLOWED = { cancel: ["queued", "running"], retry: ["failed", "cancelled"], reread: ["failed", "cancelled"] };

let glance = 0;

/** Offers what the state allows. */
function offer() {
  part("acts").hidden = false;
  for (const button of buttons()) {
    const does = /** @type {keyof typeof ALLOWED} */ (button.dataset.does);
    button.hidden = !ALLOWED[does].includes(job.dataset.state ?? "");
  }
}

/** @param {string} does */
async function act(does) {
  trouble.hidden = true;
  told.hidden = true;
  const [promptId, modelKey] = (job.dataset.place ?? "").split("/");
  const address = `/api/admin/jobs/${job.dataset.job}`;
  try {
    if (does === "cancel") await ask("DELETE", address);
    if (does === "reread") tell(await ask("POST", `${address}/reparse`));
    if (does === "retry") {
      const { id } = await ask("POST", "/api/admin/jobs", { json: { promptId, modelKey } });
      return location.assign(`/admin/jobs/${id}`);
    }
    await look();
  } catch (reason) {
    complain(trouble, reason);
  }
}

/** @param {{ ok: boolean, attempt: number, error: string | null }} reread */
function tell({ ok, attempt, error }) {
  told.hidden = false;
  told.classList.toggle("good", ok);
  told.textContent = ok ? `Answer ${attempt} holds a build, which is in now.` : `No answer holds a build. ${error ?? ""}`;
}

/** The page as it is now; what is open stays open. */
async function look() {
  clearTimeout(glance);
  try {
    const response = await fetch(location.pathname);
    if (response.redirected) throw new Trouble("", 401);
    if (!response.ok) throw new Trouble(`The server answered ${response.status}.`, response.status);
    take(new DOMParser().parseFromString(await response.text(), "text/html"));
    if (trouble.dataset.lost) trouble.hidden = true;
    delete trouble.dataset.lost;
  } catch (reason) {
    trouble.dataset.lost = "yes";
    const known = reason instanceof Trouble;
    complain(trouble, known ? reason : "The connection is lost, so this is how things stood a moment ago. It is being tried again.");
    if (known && reason.status === 401) return;
  }
  wait();
}

/** @param {Document} now */
function take(now) {
  const state = one(now, "#job").dataset.state ?? "";
  if (state !== job.dataset.state) say(`The job is ${state}.`);
  job.dataset.state = state;
  for (const slot of ["state", "facts"]) renew(one(job, `[data-live=${slot}]`), one(now, `[data-live=${slot}]`));
  for (const attempt of now.querySelectorAll("[data-attempt]")) {
    const known = list.querySelector(`[data-attempt="${attempt.getAttribute("data-attempt")}"]`);
    if (!known) {
      list.append(document.adoptNode(attempt));
      continue;
    }
    for (const css of ["[data-facts]", "[data-bytes]"]) renew(one(known, css), one(attempt, css));
  }
  part("none").hidden = list.childElementCount > 0;
  offer();
}

/** @param {Element} old @param {Element} now */
function renew(old, now) {
  if (old.innerHTML !== now.innerHTML) old.replaceChildren(...document.adoptNode(now).childNodes);
}

function wait() {
  if (["queued", "running"].includes(job.dataset.state ?? "")) glance = setTimeout(look, GLANCE_MS);
}

/** @param {HTMLElement} details */
async function show(details) {
  const text = one(details, "pre");
  text.hidden = false;
  text.textContent = "…";
  try {
    text.textContent = await beginning(details.dataset.answer ?? "");
  } catch (reason) {
    text.textContent = "";
    complain(text, reason);
  }
}

/** @param {string} address */
async function beginning(address) {
  const response = await fetch(address);
  if (!response.ok) throw new Trouble(`The server answered ${response.status}.`, response.status);
  if (!response.body) return "";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (text.length <= SHOWN) {
    const { done, value } = await reader.read();
    if (done) return text || "Nothing was said.";
    text += value;
  }
  reader.cancel();
  return `${text.slice(0, SHOWN)}\n\n… and so on. These are the first ${count(SHOWN)} characters; the link above leads to the rest.`;
}

function buttons() {
  return /** @type {NodeListOf<HTMLButtonElement>} */ (job.querySelectorAll("[data-does]"));
}

for (const button of buttons()) button.addEventListener("click", () => act(button.dataset.does ?? ""));
list.addEventListener("toggle", ({ target }) => target instanceof HTMLDetailsElement && target.open && show(target), true);
offer();
wait();
