#!/usr/bin/env node
// Receives Deed's webhooks: verifies each call, and acts once on each message. It needs only Node (18 or newer).
//
//     node receive.mjs --listen 127.0.0.1:9191 --secret-file secret --out events.jsonl
//
// --secret-file names a file with the whsec_... that `deed webhook create` printed; after `deed webhook rotate`, with
// both secrets, one on each line. This example writes one line of JSON for each message to standard output or to the
// --out file. After a restart, that file shows which messages are done. Replace `act` with your own work, in the same
// transaction as the message's id.

import { createHmac, timingSafeEqual } from "node:crypto";
import { existsSync, fsyncSync, openSync, readFileSync, truncateSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { parseArgs } from "node:util";

const TOLERANCE = 300; // seconds that a call's timestamp may differ from the clock
const LONGEST = 1 << 20; // bytes in a body

const { values: options } = parseArgs({
  options: {
    listen: { type: "string", default: "127.0.0.1:9191" },
    "secret-file": { type: "string" },
    out: { type: "string" },
  },
});
if (!options["secret-file"]) {
  console.error("--secret-file FILE is missing: the file with the secret");
  process.exit(2);
}
const lines = readFileSync(options["secret-file"], "utf8").split("\n").map((line) => line.trim()).filter(Boolean);
if (lines.length === 0 || !lines.every((line) => /^whsec_[A-Za-z0-9+/]+=*$/.test(line))) {
  console.error(`${options["secret-file"]} must have a secret that begins with whsec_, or two, one on each line`);
  process.exit(2);
}
const keys = lines.map((line) => Buffer.from(line.slice("whsec_".length), "base64"));

/** Whether one of the keys recently signed exactly these bytes under this id. */
function isGenuine(headers, body) {
  const id = headers["webhook-id"] ?? "", moment = headers["webhook-timestamp"] ?? "";
  if (!/^[0-9]{1,15}$/.test(moment) || Math.abs(Date.now() / 1000 - Number(moment)) > TOLERANCE) return false;
  const given = (headers["webhook-signature"] ?? "").split(" ").filter((one) => one.startsWith("v1,"))
    .map((one) => Buffer.from(one.slice(3), "base64"));
  return keys.some((key) => {
    const wanted = createHmac("sha256", key).update(`${id}.${moment}.`).update(body).digest();
    return given.some((one) => one.length === wanted.length && timingSafeEqual(one, wanted));
  });
}

// The ids of finished messages, including those from before a restart.
const done = new Set();
if (options.out && existsSync(options.out)) {
  const whole = readFileSync(options.out);
  // Drops a line that a crash cut short: its message comes again.
  const end = whole.lastIndexOf(10) + 1;
  truncateSync(options.out, end);
  for (const line of whole.subarray(0, end).toString().split("\n")) if (line) done.add(JSON.parse(line).id);
}
const file = options.out ? openSync(options.out, "a") : 1;

/** Acts on each message once, even if it arrives again. */
function act(id, content) {
  if (done.has(id)) return;
  writeSync(file, JSON.stringify({ id, ...content }) + "\n");
  if (options.out) fsyncSync(file);
  done.add(id);
}

const server = createServer((request, response) => {
  const parts = [];
  let length = 0;
  request.on("data", (part) => {
    length += part.length;
    if (length > LONGEST) request.destroy();
    else parts.push(part);
  });
  request.on("end", () => {
    const body = Buffer.concat(parts), headers = request.headers;
    if (request.method !== "POST" || !isGenuine(headers, body)) return response.writeHead(401).end();
    // An example from `deed webhook test` is verified but has no effect.
    if (!headers["deed-test"]) {
      let content = JSON.parse(body.toString());
      if (headers["ce-type"]) content = { type: headers["ce-type"], timestamp: headers["ce-time"], data: content };
      act(headers["webhook-id"], content);
    }
    response.writeHead(204).end();
  });
});
const colon = options.listen.lastIndexOf(":");
server.listen(Number(options.listen.slice(colon + 1)), options.listen.slice(0, colon), () => {
  console.error(`receiving on http://${options.listen.slice(0, colon)}:${server.address().port}`);
});
