// The official SDK for JavaScript as a client of Buildoff.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";

import { ClientFactory } from "@a2a-js/sdk/client";
import { Role, SendMessageRequest, TaskState } from "@a2a-js/sdk";

const SPEC = { version: "1.0", boxes: [{ x1: 4, y1: 0, z1: 4, x2: 27, y2: 5, z2: 27, type: "oak_planks" }] };

let server, folder, site;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "buildoff-a2a-"));
  // Where the tests run as root, Postgres runs as another account.
  await chmod(folder, 0o711);
  const { DATABASE_URL: _, ...inherited } = process.env;
  const environment = { ...inherited, DATA_DIR: folder, RATE_LIMITS: "off" };
  server = spawn(process.env.BUILDOFF, ["--host", "127.0.0.1", "--port", "0"], { env: environment });
  server.stdout.resume();
  for await (const line of createInterface({ input: server.stderr })) {
    const url = line.includes("listening") && line.match(/"url":"([^"]+)"/);
    if (url) { site = url[1]; break; }
  }
  server.stderr.resume();
});

after(async () => {
  const ended = new Promise((resolve) => server.once("exit", resolve));
  server.kill("SIGINT");
  await ended;
  await rm(folder, { recursive: true });
});

function request(content) {
  return SendMessageRequest.fromJSON({
    message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [content] },
  });
}

test("a build is checked by a request that waits", async () => {
  const client = await new ClientFactory().createFromUrl(site);
  const task = await client.sendMessage(request({ data: SPEC }));
  assert.equal(task.status.state, TaskState.TASK_STATE_COMPLETED);
  const [summary, report] = task.artifacts[0].parts;
  assert.equal(summary.content.value, "Valid: 3456 blocks.");
  assert.equal(report.content.value.ok, true);
  const again = await client.getTask({ id: task.id, tenant: "" });
  assert.deepEqual(again.artifacts, task.artifacts);
});

test("a build is checked by a stream that ends", async () => {
  const client = await new ClientFactory().createFromUrl(site);
  const events = [];
  for await (const event of client.sendMessageStream(request({ text: `A hut: ${JSON.stringify(SPEC)}` }))) {
    events.push(event.payload?.$case);
  }
  assert.equal(events[0], "task");
  assert.ok(events.includes("artifactUpdate") || events.length === 1, events.join(" "));
});

test("rules come as a message", async () => {
  const client = await new ClientFactory().createFromUrl(site);
  const message = await client.sendMessage(request({ text: "hello" }));
  assert.equal(message.role, Role.ROLE_AGENT);
  assert.equal(message.parts[1].content.value.type, "build-rules");
});

test("an error keeps its words", async () => {
  const client = await new ClientFactory().createFromUrl(site);
  await assert.rejects(client.sendMessage(request({ data: { skill: "paint" } })), /There is no skill/);
  await assert.rejects(client.getTask({ id: "no", tenant: "" }), /There is no such task/);
});
