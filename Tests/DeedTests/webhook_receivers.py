"""Receivers of webhooks for tests, each with a fault. The public libraries check every call.

    webhook_receivers.py FOLDER [library]

For each line NAME FAULTS SECRET on standard input, starts a receiver and prints `NAME PORT`. FOLDER/NAME gets a line with id
and body for each call that the receiver accepts, and FOLDER/wrong gets the mistakes in calls. FAULTS say how the receiver
fails until the line `well` arrives:

    none                nothing
    always              500
    turns               fails by turns
    dies                by turns, its port is closed
    sleeps              one call in fifty gets its answer only after 20 s
    slow                each call takes 0.4 s
    customer NAME       500 for only this customer
    answers STATUS      this status, with 70 KiB of answer if `long` follows
    once STATUS DATE    only the first call, with this Retry-After; `+5` is the date in 5 s
    moved NAME          307 to the address of a receiver that started before
    echo                the answer repeats all headers
"""
import base64
import email.utils
import hashlib
import hmac
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
    """Expects the library to accept the call, and to refuse it after each change."""
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
        fault = "none" if WELL.is_set() else server.fault(body)
        if fault in ("dead", "reset"):
            if fault == "reset":
                server.note(self.headers, body, "lost")
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
            return
        if fault == "sleeps":
            server.note(self.headers, body, "lost")
            time.sleep(20)
            return self.answer(204)
        if fault in ("late", "slow"):
            time.sleep(0.5 if fault == "late" else 0.4)
        if fault == "echo":
            server.note(self.headers, body, "ok")
            return self.answer(200, json.dumps(dict(self.headers)).encode())
        if fault in ("none", "late", "slow"):
            server.note(self.headers, body, "ok")
            return self.answer(204)
        is_done = 200 <= int(fault) < 300
        server.note(self.headers, body, "ok" if is_done else fault)
        self.answer(int(fault), b"a" * (70 << 10) if "long" in server.faults else b"")

    def answer(self, status, content=b""):
        self.send_response(status)
        if status == 429 and self.server.faults[0] != "once":
            self.send_header("Retry-After", "1")
        if self.server.faults[0] == "once" and status != 204:
            wish = self.server.faults[2]
            date = email.utils.formatdate(time.time() + int(wish), usegmt=True)
            self.send_header("Retry-After", date if wish.startswith("+") else wish)
        if status == 307:
            port = self.server.port_of(self.server.faults[-1])
            self.send_header("Location", f"http://127.0.0.1:{port}/hook")
        if status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if status != 204:
            self.wfile.write(content)

    def setup(self):
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self):
        self.server.connections.discard(self.connection)
        super().finish()

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
    all = []

    def __init__(self, port, before=None):
        super().__init__(("127.0.0.1", port), Receiver)
        self.connections = set()
        for name in ("name", "faults", "secret", "public", "lock", "file"):
            setattr(self, name, getattr(before, name, ""))

    def start(self):
        Server.all = [one for one in Server.all if one.name != self.name] + [self]
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def port_of(self, name):
        return next((one.server_port for one in Server.all if one.name == name), 1)

    def fault(self, body):
        """Returns the fault for this call."""
        kind = self.faults[0]
        if kind == "turns":
            return "none" if random.random() < 0.3 else TURNS[int(time.time() / 1.5) % len(TURNS)]
        if kind == "customer":
            return "500" if customer(json.loads(body)) == self.faults[1] else "none"
        if kind == "once":
            with self.lock:
                is_first, self.called = not getattr(self, "called", False), True
            return self.faults[1] if is_first else "none"
        if kind == "sleeps":
            return "sleeps" if random.random() < 0.02 else "none"
        words = {"always": "500", "moved": "307", "dies": "none"}
        return self.faults[1] if kind == "answers" else words.get(kind, kind)

    def die(self):
        """Closes the port for a moment and breaks every connection."""
        self.shutdown()
        self.server_close()
        for connection in list(self.connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        time.sleep(random.uniform(0.5, 2))
        while True:
            try:
                return Server(self.server_port, self)
            except OSError:
                time.sleep(0.05)

    def is_genuine(self, headers, body):
        """Returns whether a v1 signature is valid, without using a library."""
        if not self.secret:
            return None
        key = base64.b64decode(self.secret.removeprefix("whsec_"))
        text = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        right = "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
        return right in headers["webhook-signature"].split()

    def note(self, headers, body, end):
        content = json.loads(body)
        data = content["data"] if "ce-id" not in headers else content
        events = {name.lower(): value for name, value in headers.items() if name.lower().startswith("ce-")}
        line = {"id": headers["webhook-id"], "end": end, "type": content.get("type", headers.get("ce-type")),
                "customer": data["customer"], "version": data["version"], "replay": headers.get("deed-replay"),
                "test": headers.get("deed-test"), "erased": data.get("erased"), "has_data": data.get("data") is not None,
                "header": headers.get("x-shop"),
                "at": int(time.time() * 1000), "ce": events, "genuine": self.is_genuine(headers, body)}
        with self.lock:
            self.file.write(json.dumps(line) + "\n")
            self.file.flush()

    def handle_error(self, request, address):
        pass


def customer(content):
    return content.get("data", content).get("customer") or content.get("customer")


def keep_dying(server):
    while not WELL.is_set():
        time.sleep(random.uniform(2, 4))
        server = server.die()
        server.start()


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
    server = Server(0)
    server.name, server.faults = words[0], words[1:]
    server.lock = threading.Lock()
    server.file = open(os.path.join(FOLDER, words[0]), "a")
    server.start()
    if server.faults[0] == "dies":
        threading.Thread(target=keep_dying, args=(server,), daemon=True).start()
    print(f"{words[0]} {server.server_port}", flush=True)
