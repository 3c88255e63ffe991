/** Solves one challenge, off the main thread. */
import { solve } from "./proof-of-work.js";

self.addEventListener("message", ({ data: { challenge, bits } }) => self.postMessage(solve(challenge, bits)), { once: true });
