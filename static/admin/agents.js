/** The agents page: switches, the form, cards and tokens. */
import { ApiError, request, showError } from "./api.js";
import { FieldError, clearFieldError, itemOf, setUpForm, setUpSwitches } from "./catalog.js";
import { byId, closeOnButtons, confirmAction, inputById, query, textElement } from "./ui.js";

const tokens = /** @type {HTMLDialogElement} */ (byId("tokens"));
/** The agent in the form; null for a new one. @type {AdminAgent | null} */
let edited = null;
/** The agent whose tokens are shown. @type {AdminAgent | null} */
let owned = null;

/** @param {{ key: string }} agent */
function addressOf({ key }) {
  return `/api/admin/agents/${encodeURIComponent(key)}`;
}

/** @param {AdminAgent | null} agent */
function fillForm(agent) {
  edited = agent;
  byId("edit-title").textContent = agent ? `Edit ${agent.name}` : "Add an agent";
  byId("remove").hidden = !agent;
  inputById("url").value = agent?.url ?? "";
  inputById("key").value = agent?.key ?? "";
  inputById("key").readOnly = !!agent;
  inputById("name").value = agent?.name ?? "";
  inputById("variable").value = agent?.keyVariable ?? "";
  inputById("note").value = agent?.note ?? "";
  inputById("builds").checked = agent?.builds ?? true;
}

/** @param {AdminAgent | null} agent */
async function save(agent) {
  const text = (/** @type {string} */ id) => inputById(id).value.trim();
  const now = { url: text("url"), keyVariable: text("variable") || null, note: text("note"), builds: inputById("builds").checked };
  const name = text("name");
  if (!agent) return request("POST", "/api/admin/agents", { json: { ...now, key: text("key"), ...(name ? { name } : {}) } });
  if (!name) throw new FieldError("name", "Required.");
  /** @type {Record<string, unknown>} */
  const changes = { ...now, name };
  const same = Object.keys(changes).filter((field) => changes[field] === agent[/** @type {keyof AdminAgent} */ (field)]);
  // At a new address, the secret goes along only if it is named again.
  for (const field of same) if (field !== "keyVariable" || same.includes("url")) delete changes[field];
  return request("PATCH", addressOf(agent), { json: changes });
}

/** @param {unknown} reason */
function fieldOf(reason) {
  if (!(reason instanceof ApiError)) return undefined;
  if (reason.code === "address_refused") return "url";
  if (reason.code === "agent_exists") return "key";
  return reason.message.includes("variable") ? "variable" : undefined;
}

async function remove() {
  const agent = /** @type {AdminAgent} */ (edited);
  const words = `${agent.name} has neither builds nor jobs if it can be removed. Its tokens are not valid any more.`;
  if (!(await confirmAction("Remove this agent?", [textElement("p", words)], "Remove"))) return;
  try {
    await request("DELETE", addressOf(agent));
    location.reload();
  } catch (reason) {
    showError(byId("edit-trouble"), reason);
  }
}

/** @param {Element} button */
async function readCard(button) {
  byId("trouble").hidden = true;
  button.setAttribute("aria-disabled", "true");
  try {
    await request("POST", `${addressOf(itemOf(button))}/card`);
    location.reload();
  } catch (reason) {
    showError(byId("trouble"), reason);
  } finally {
    button.removeAttribute("aria-disabled");
  }
}

/** @param {Element} button */
async function openTokens(button) {
  owned = itemOf(button);
  byId("tokens-title").textContent = `Tokens for ${owned?.name}`;
  byId("made").hidden = true;
  byId("token-trouble").hidden = true;
  inputById("token-name").value = "";
  try {
    await listTokens();
    tokens.showModal();
  } catch (reason) {
    showError(byId("trouble"), reason);
  }
}

async function listTokens() {
  const agent = /** @type {AdminAgent} */ (owned);
  const { tokens: all } = /** @type {{ tokens: AgentToken[] }} */ (await request("GET", `${addressOf(agent)}/tokens`));
  byId("token-list").replaceChildren(...(all.length ? all.map(tokenRow) : [textElement("li", "No tokens yet.")]));
}

/** @param {AgentToken} token */
function tokenRow({ id, name, runsPerDay, usedAt, revokedAt }) {
  const used = usedAt ? `used ${new Date(usedAt).toLocaleString()}` : "never used";
  const row = textElement("li", revokedAt ? `${name}: revoked ` : `${name}: ${runsPerDay} runs a day, ${used} `);
  if (revokedAt) return row;
  const revoke = Object.assign(textElement("button", "Revoke"), { type: "button", className: "quiet" });
  revoke.setAttribute("aria-label", `Revoke the token for ${name}`);
  revoke.addEventListener("click", () => act(() => request("DELETE", `${addressOf(/** @type {AdminAgent} */ (owned))}/tokens/${id}`)));
  row.append(revoke);
  return row;
}

async function makeToken() {
  const name = inputById("token-name");
  clearFieldError(name);
  const wanted = { name: name.value.trim(), runsPerDay: Number(inputById("runs").value) };
  const { token } = /** @type {{ token: string }} */ (await request("POST", `${addressOf(/** @type {AdminAgent} */ (owned))}/tokens`, { json: wanted }));
  byId("token-text").textContent = token;
  byId("made").hidden = false;
  name.value = "";
}

/** Does something to the tokens, and lists them again. @param {() => Promise<unknown>} action */
async function act(action) {
  byId("token-trouble").hidden = true;
  try {
    await action();
    await listTokens();
  } catch (reason) {
    showError(byId("token-trouble"), reason);
  }
}

/** Proposes a key from the address, until one is typed. */
function proposeKey() {
  const key = inputById("key");
  const form = query(byId("edit"), "form");
  if (key.readOnly || form.hasAttribute("data-touched")) return;
  const name = inputById("url").value.trim().replace(/^https?:\/\//, "");
  key.value = name.toLowerCase().replace(/[^a-z0-9]+/g, "_").replace(/^_|_$/g, "").slice(0, 64);
  clearFieldError(key);
}

for (const [mark, action] of /** @type {[string, (button: Element) => void][]} */ ([["card", readCard], ["tokens", openTokens]])) {
  for (const button of document.querySelectorAll(`[data-${mark}]`)) {
    button.removeAttribute("hidden");
    button.addEventListener("click", () => action(button));
  }
}
closeOnButtons(tokens);
byId("make").addEventListener("submit", (event) => {
  event.preventDefault();
  act(makeToken);
});
byId("remove").addEventListener("click", remove);
byId("url").addEventListener("input", proposeKey);
byId("key").addEventListener("input", () => query(byId("edit"), "form").setAttribute("data-touched", ""));
setUpSwitches(addressOf, ({ modelKey }, { key }) => modelKey === key);
setUpForm({ fill: fillForm, save, fieldOf });
