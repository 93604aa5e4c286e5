#!/usr/bin/env python3
"""A game's back end in front of Deed: all that it has to do, and nothing from outside Python.

    DEED_URL=http://127.0.0.1:8080 DEED_KEY=deed_backend_... python3 backend.py

DEED_ENVIRONMENT is `production`, or `sandbox` for purchases of testers and of the practice store; PORT is where
it listens (8081). The game calls it, never Deed: who the player is, the back end knows. Here the path says so;
put your own login there.
"""

import json
import os
import sys
import threading
import urllib.parse
import uuid
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DEED = urllib.parse.urlsplit(os.environ.get("DEED_URL", "http://127.0.0.1:8080"))
if DEED.scheme not in ("http", "https") or not DEED.netloc:
    sys.exit("DEED_URL must be where Deed serves, like http://127.0.0.1:8080")
KEY = os.environ.get("DEED_KEY") or sys.exit("DEED_KEY is missing; make one with: deed key create --role backend")
if not KEY.startswith("deed_backend_"):
    sys.exit("DEED_KEY is not a key of a back end, which begins with deed_backend_; make one with: deed key create --role backend")
ENVIRONMENT = os.environ.get("DEED_ENVIRONMENT", "production")
if ENVIRONMENT not in ("production", "sandbox"):
    sys.exit(f"DEED_ENVIRONMENT must be production or sandbox, and is {ENVIRONMENT}")
PORT = os.environ.get("PORT", "8081")
if not (PORT.isascii() and PORT.isdigit() and int(PORT) <= 65535):
    sys.exit(f"PORT must be a number up to 65535, and is {PORT}")

# What the client app may do with a transaction: tell the store that it is delivered, or keep it for later.
DELIVERED = {"recorded", "already_known", "already_settled"}


class Refused(Exception):
    """Deed said no; `problem["code"]` is for programs, `problem["detail"]` for people."""

    def __init__(self, status, problem):
        super().__init__(problem.get("detail", ""))
        self.status = status
        self.problem = problem


def call(method, path, body=None, headers=None):
    """One call of Deed, made again where Deed says that it may be: everything here can be repeated."""
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json", **(headers or {})}
    payload = None if body is None else json.dumps(body)
    for attempt in range(3):
        try:
            connect = HTTPSConnection if DEED.scheme == "https" else HTTPConnection
            connection = connect(DEED.netloc, timeout=10)
            try:
                connection.request(method, path, payload, headers)
                answer = connection.getresponse()
                text = answer.read()
            finally:
                connection.close()
        except (OSError, HTTPException):
            if attempt == 2:
                raise Refused(503, {"code": "deed_unreachable", "detail": "Deed does not answer."})
            continue
        if answer.status == 304:
            return 304, None, answer.headers
        content = json.loads(text)
        if answer.status < 400:
            return answer.status, content, answer.headers
        if not content.get("retryable") or attempt == 2:
            raise Refused(answer.status, content)
        threading.Event().wait(int(answer.headers.get("Retry-After", "1")))
    raise AssertionError("unreachable")


class Players:
    """What the back end remembers of each player. Losing it loses nothing: it saves calls and bytes."""

    def __init__(self):
        self.lock = threading.Lock()
        self.positions = {}  # where the log stood after the player's last write
        self.answers = {}  # the last answer about rights, with its tag

    def path(self, player, rest):
        return f"/v1/customers/{urllib.parse.quote(player, safe='')}{rest}"

    def wrote(self, player, headers):
        with self.lock:
            self.positions[player] = headers["Deed-Position"]

    def submit(self, player, evidence, restoring=False):
        """Hands over what the phone sent. The app finishes what is in `finish`, and keeps the rest for later."""
        body = {name: evidence[name] for name in ("signed_transactions", "receipt") if name in evidence}
        body["environment"] = ENVIRONMENT
        path = self.path(player, "/restore" if restoring else "/receipts")
        _, answer, headers = call("POST", path, body)
        self.wrote(player, headers)
        items = answer["items"]
        return {
            # A receipt and a signed transaction may tell of the same one.
            "finish": sorted({item["transaction"] for item in items
                              if item["outcome"] in DELIVERED and "transaction" in item}),
            "told": [item.get("detail", item["outcome"]) for item in items if item["outcome"] not in DELIVERED],
            "rights": rights_in(answer),
            "balances": answer["balances"],
        }

    def rights(self, player):
        """What the player may use now. It knows the player's own writes, whichever instance answers."""
        with self.lock:
            known, position = self.answers.get(player), self.positions.get(player)
        headers = {}
        if known:
            headers["If-None-Match"] = known[0]
        if position:
            headers["Deed-After"] = position
        path = self.path(player, f"/entitlements?environment={ENVIRONMENT}")
        status, answer, received = call("GET", path, headers=headers)
        if status == 304:
            return {**known[1], "unchanged": True}
        # Nothing but a write changes it before `next_change`: until then the game need not ask again.
        found = {"rights": rights_in(answer), "next_change": answer["next_change"]}
        with self.lock:
            self.answers[player] = (received["ETag"], found)
        return {**found, "unchanged": False}

    def spend(self, player, order, amount, what):
        """`order` is the game's own name of this one wish: sent again, it takes nothing more."""
        _, answer, headers = call(
            "POST", self.path(player, "/balances/coins/spend"),
            {"amount": amount, "reason": what, "environment": ENVIRONMENT},
            {"Idempotency-Key": f"spend {order}"})
        self.wrote(player, headers)
        return {"balance": answer["balance"]}

    def token(self, player):
        """The UUID that the app hands to each purchase, so that it is this player's no matter who brings it."""
        token = str(uuid.uuid5(uuid.NAMESPACE_URL, f"https://game.example/players/{player}"))
        _, _, headers = call(
            "PUT", self.path(player, "/account_token"), {"token": token, "environment": ENVIRONMENT})
        self.wrote(player, headers)
        return {"token": token}

    def news(self, player, after):
        """What happened behind version `after`, such as a refund: the game takes back what it delivered. It keeps
        the `after` of the answer once it has done so, beside what it did: then no news is lost and none counts twice."""
        path = self.path(player, f"/events?environment={ENVIRONMENT}&limit=100&after={after}")
        _, page, _ = call("GET", path)
        told = [{"version": event["version"], "type": event["type"], "at": event["recorded_at"]}
                for event in page["events"]]
        return {"news": told, "after": told[-1]["version"] if told else after, "more": page.get("next") is not None}


def rights_in(answer):
    return sorted(name for name, right in answer["entitlements"].items() if right["active"])


PLAYERS = Players()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        self.answer({
            "rights": PLAYERS.rights,
            "news": lambda player: PLAYERS.news(player, int(query.get("after", ["0"])[0])),
            "token": PLAYERS.token,
        })

    def do_POST(self):
        length = int(self.headers.get("Content-Length", "0"))
        try:
            body = json.loads(self.rfile.read(length) or b"{}")
        except ValueError:
            return self.send(400, {"code": "malformed", "detail": "The body is no JSON."})
        self.answer({
            "purchases": lambda player: PLAYERS.submit(player, body),
            "restore": lambda player: PLAYERS.submit(player, body, restoring=True),
            "spend": lambda player: PLAYERS.spend(player, body["order"], body["amount"], body["what"]),
        })

    def answer(self, calls):
        parts = urllib.parse.urlsplit(self.path).path.strip("/").split("/")
        status, content = 404, {"code": "unknown"}
        if len(parts) == 3 and parts[0] == "players" and parts[2] in calls:
            try:
                status, content = 200, calls[parts[2]](urllib.parse.unquote(parts[1]))
            except Refused as refused:
                status, content = refused.status, refused.problem
            except (KeyError, TypeError, ValueError) as error:
                status, content = 400, {"code": "malformed", "detail": f"{error} is missing or wrong"}
        self.send(status, content)

    def send(self, status, content):
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *arguments):
        pass


if __name__ == "__main__":
    try:
        server = ThreadingHTTPServer(("127.0.0.1", int(PORT)), Handler)
    except OSError as error:
        sys.exit(f"port {PORT} cannot be listened on ({error.strerror}); set PORT to a free one")
    print(f"the game's back end is on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
