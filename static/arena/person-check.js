/** Passes the server's check that a person votes. Loaded only when the server asks for it. */
import { ArenaApiError, sendPersonCheck } from "./api.js";

/** What is sent where a service's script did not load: the server lets voters pass if it cannot reach the service either. */
const NO_TOKEN = "unavailable";

/** @param {PersonCheck} check @returns {Promise<void>} */
export async function passPersonCheck(check) {
  if (check.kind === "work") return sendPersonCheck(await solveInWorker(check));
  const { getToken, SERVICE_NAMES } = await import("./captcha.js");
  const token = await getToken(check);
  try {
    await sendPersonCheck(token ?? NO_TOKEN);
  } catch (error) {
    if (token) throw error;
    throw new ArenaApiError("person_check_blocked", `${SERVICE_NAMES[check.kind]}, which checks visitors, could not be loaded. Your browser may be blocking it.`);
  }
}

/** @param {{ challenge: string, bits: number }} work @returns {Promise<string>} */
function solveInWorker(work) {
  const worker = new Worker(new URL("./proof-of-work-worker.js", import.meta.url), { type: "module" });
  const solved = new Promise((resolve, reject) => {
    worker.addEventListener("message", ({ data }) => resolve(data));
    worker.addEventListener("error", () => reject(new ArenaApiError("person_check_broken", "Your browser could not finish the check.")));
  });
  worker.postMessage(work);
  return solved.finally(() => worker.terminate());
}
