// The official SDK for JavaScript as a client of Buildoff.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
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

test("an assessment is ordered and followed to its result", async () => {
  const agent = createServer(walk);
  await new Promise((resolve) => agent.listen(0, "127.0.0.1", () => resolve(undefined)));
  try {
    const url = `http://127.0.0.1:${agent.address().port}`;
    const order = { participants: { agent: url }, config: { tasks: ["craft_ladder"], max_steps: 3, seed: 7 } };
    const client = await new ClientFactory().createFromUrl(site);
    const states = [], words = [], artifacts = [];
    for await (const { payload } of client.sendMessageStream(request({ data: order }))) {
      if (payload?.$case === "artifactUpdate") artifacts.push(payload.value.artifact);
      if (payload?.$case !== "statusUpdate") continue;
      states.push(payload.value.status.state);
      const said = payload.value.status.message?.parts[0].content.value;
      if (said) words.push(said);
    }
    assert.equal(states.at(-1), TaskState.TASK_STATE_COMPLETED, words.join("\n"));
    assert.deepEqual(words, [
      "Starting MCU evaluation with 1 tasks from crafting",
      "Running task: craft ladder (category: crafting)",
      "Task 'craft_ladder': 0.0",
    ]);
    assert.deepEqual(artifacts.map((artifact) => artifact.name), ["Result"]);
    const [summary, result] = artifacts[0].parts;
    assert.match(summary.content.value, /^MCU Evaluation Result\nCategories: crafting\n/);
    assert.deepEqual(Object.keys(result.content.value.task_metrics), ["craft_ladder"]);
  } finally {
    agent.closeAllConnections();
    agent.close();
  }
});

// An agent of A2A 1.0 that walks forward.
async function walk(incoming, outgoing) {
  const answer = (value) => {
    outgoing.setHeader("content-type", "application/json");
    outgoing.end(JSON.stringify(value));
  };
  if (incoming.method === "GET") {
    const url = `http://${incoming.headers.host}/`;
    return answer({
      name: "Walker", description: "Walks.", version: "1", capabilities: {}, skills: [],
      defaultInputModes: ["text/plain"], defaultOutputModes: ["text/plain"],
      supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    });
  }
  let body = "";
  for await (const chunk of incoming) body += chunk;
  const { id, params } = JSON.parse(body);
  const sent = JSON.parse(params.message.parts[0].text);
  const said = sent.type === "init" ? { type: "ack", success: true } : { type: "action", keys: ["forward"] };
  const message = { messageId: "m", contextId: "c", role: "ROLE_AGENT", parts: [{ text: JSON.stringify(said) }] };
  answer({ jsonrpc: "2.0", id, result: { message } });
}
