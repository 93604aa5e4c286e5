#!/usr/bin/env python3
"""Receives Deed's webhooks: verifies each call, and acts once on each message. It needs only Python (3.9 or newer).

    python3 receive.py --listen 127.0.0.1:9191 --secret-file secret --out events.jsonl

`--secret-file` names a file with the `whsec_...` that `deed webhook create` printed; after `deed webhook rotate`, with
both secrets, one on each line. This example writes one line of JSON for each message to standard output or to the
`--out` file. After a restart, that file shows which messages are done. Replace `act` with your own work, in the same
transaction as the message's id.
"""

import argparse
import base64
import hashlib
import hmac
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE = 300  # seconds that a call's timestamp may differ from the clock
LONGEST = 1 << 20  # bytes in a body


def secrets(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip()]
    try:
        keys = [base64.b64decode(line.removeprefix("whsec_"), validate=True) for line in lines if line.startswith("whsec_")]
    except ValueError:
        keys = []
    if not keys or len(keys) < len(lines):
        sys.exit(f"{path} must have a secret that begins with whsec_, or two, one on each line")
    return keys


def is_genuine(keys, headers, body, now):
    """Whether one of the keys recently signed exactly these bytes under this id."""
    message, moment = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not moment.isascii() or not moment.isdigit() or abs(now - int(moment)) > TOLERANCE:
        return False
    signed = f"{message}.{moment}.".encode() + body
    wanted = ["v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode() for key in keys]
    given = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(one.encode(), other.encode()) for one in given for other in wanted)


class Actions:
    """Acts on each message once, even if it arrives again."""

    def __init__(self, path):
        self.lock, self.done = threading.Lock(), set()
        if path and os.path.exists(path):
            with open(path, "rb+") as file:
                whole = file.read()
                # Drops a line that a crash cut short: its message comes again.
                file.truncate(whole.rfind(b"\n") + 1)
            self.done = {json.loads(line)["id"] for line in whole.split(b"\n")[:-1]}
        self.file = open(path, "a", encoding="utf-8") if path else sys.stdout

    def act(self, message, content):
        with self.lock:
            if message in self.done:
                return
            self.file.write(json.dumps({"id": message, **content}) + "\n")
            self.file.flush()
            if self.file is not sys.stdout:
                os.fsync(self.file.fileno())
            self.done.add(message)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdigit() or int(length) > LONGEST:
            self.close_connection = True
            return self.answer(413)
        body = self.rfile.read(int(length))
        if not is_genuine(self.server.keys, self.headers, body, time.time()):
            return self.answer(401)
        # An example from `deed webhook test` is verified but has no effect.
        if "deed-test" not in self.headers:
            content = json.loads(body)
            if "ce-type" in self.headers:
                content = {"type": self.headers["ce-type"], "timestamp": self.headers["ce-time"], "data": content}
            self.server.actions.act(self.headers["webhook-id"], content)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format, *arguments):
        pass


def main():
    parser = argparse.ArgumentParser(description="Receives Deed's webhooks.")
    parser.add_argument("--listen", default="127.0.0.1:9191")
    parser.add_argument("--secret-file", required=True)
    parser.add_argument("--out")
    options = parser.parse_args()
    host, port = options.listen.rsplit(":", 1)
    server = ThreadingHTTPServer((host, int(port)), Receiver)
    server.keys, server.actions = secrets(options.secret_file), Actions(options.out)
    print(f"receiving on http://{host}:{server.server_port}", file=sys.stderr, flush=True)
    server.serve_forever()


main()
