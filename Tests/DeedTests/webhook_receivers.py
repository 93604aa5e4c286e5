"""Receivers of webhooks for tests, each with its faults. Every call is checked with the public libraries.

    webhook_receivers.py FOLDER [library]

For each line NAME FAULTS SECRET on standard input, a receiver starts, and `NAME PORT` is printed. What it accepts goes to
FOLDER/NAME, an id and a body a line; what is wrong goes to FOLDER/wrong. FAULTS is a word: `none`, or `turns` for a receiver
that is sick by turns, until `well` comes as a line of its own.
"""
import base64
import json
import os
import random
import sys
import threading
import time
import socket
import struct
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FOLDER = sys.argv[1]
LIBRARY = "library" in sys.argv[2:]
if LIBRARY:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from standardwebhooks import Webhook, WebhookVerificationError
WELL = threading.Event()
LOCK = threading.Lock()
TURNS = ["dead", "late", "500", "429", "307", "reset", "none"]


def wrong(sentence):
    with LOCK, open(os.path.join(FOLDER, "wrong"), "a") as file:
        file.write(sentence + "\n")


def verify(secret, public, headers, body):
    """The library accepts the call, and refuses each change to it."""
    known = {name.lower(): value for name, value in headers.items()}
    Webhook(secret).verify(body, known)
    for name, value in [("webhook-id", "x"), ("webhook-timestamp", str(int(time.time()) - 7))]:
        try:
            Webhook(secret).verify(body, {**known, name: value})
            wrong(f"another {name} is accepted")
        except WebhookVerificationError:
            pass
    try:
        Webhook(secret).verify(body + b" ", known)
        wrong("another body is accepted")
    except WebhookVerificationError:
        pass
    key = Ed25519PublicKey.from_public_bytes(base64.b64decode(public.removeprefix("whpk_")))
    signed = f"{known['webhook-id']}.{known['webhook-timestamp']}.".encode() + body
    found = [one[4:] for one in known["webhook-signature"].split() if one.startswith("v1a,")]
    for signature in found:
        try:
            key.verify(base64.b64decode(signature), signed)
            break
        except InvalidSignature:
            pass
    else:
        wrong("no v1a signature is genuine")
    try:
        key.verify(base64.b64decode(found[0]), signed + b" ")
        wrong("v1a of another body is accepted")
    except InvalidSignature:
        pass


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        server = self.server
        body = self.rfile.read(int(self.headers["content-length"]))
        if LIBRARY:
            try:
                verify(server.secret, server.public, self.headers, body)
            except Exception as error:
                wrong(f"{server.name}: {type(error).__name__} {error} {dict(self.headers)}")
        fault = "none"
        if server.faults == "always" and not WELL.is_set():
            fault = "500"
        if server.faults == "turns" and not WELL.is_set():
            fault = TURNS[int(time.time() / 1.5) % len(TURNS)]
            if random.random() < 0.3:
                fault = "none"
        if fault in ("dead", "reset"):
            if fault == "reset":
                server.note(self.headers, body, "lost")
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
            return
        if fault == "late":
            time.sleep(0.5)
        if fault in ("none", "late"):
            server.note(self.headers, body, "ok")
            return self.answer(204)
        self.answer(int(fault))

    def answer(self, status):
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "1")
        if status == 307:
            self.send_header("Location", "http://127.0.0.1:1/")
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (ConnectionError, OSError, ValueError):
            self.close_connection = True


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def note(self, headers, body, end):
        content = json.loads(body)
        data = content["data"] if "ce-id" not in headers else content
        line = {"id": headers["webhook-id"], "end": end, "type": content.get("type", headers.get("ce-type")),
                "customer": data["customer"], "version": data["version"], "replay": headers.get("deed-replay"),
                "test": headers.get("deed-test"), "header": headers.get("x-shop")}
        with self.lock:
            self.file.write(json.dumps(line) + "\n")
            self.file.flush()

    def handle_error(self, request, address):
        pass


for line in sys.stdin:
    words = line.split()
    if words == ["well"]:
        WELL.set()
        print("well", flush=True)
        continue
    if words[0] == "keys":
        for server in Server.all:
            if server.name == words[1]:
                server.secret, server.public = words[2], words[3]
        print("keys", flush=True)
        continue
    server = Server(("127.0.0.1", 0), Receiver)
    server.name, server.faults = words[0], words[1]
    server.secret, server.public = "", ""
    server.lock = threading.Lock()
    server.file = open(os.path.join(FOLDER, words[0]), "a")
    Server.all = getattr(Server, "all", []) + [server]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"{words[0]} {server.server_port}", flush=True)
