#!/usr/bin/env python3
"""A complete back end of a game that uses Deed. It needs only Python's standard library.

    DEED_URL=http://127.0.0.1:8080 DEED_KEY=deed_backend_... python3 backend.py

DEED_ENVIRONMENT is `production`, or `sandbox` for purchases by testers and from the practice store. PORT is the
port to listen on (8081). The game calls only this back end, never Deed, because the back end knows who the player
is. In this example, the path names the player; use your own login instead.
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
    sys.exit("DEED_URL must be Deed's address, such as http://127.0.0.1:8080")
KEY = os.environ.get("DEED_KEY") or sys.exit("DEED_KEY is missing; create a key with: deed key create --role backend")
if not KEY.startswith("deed_backend_"):
    sys.exit("DEED_KEY is not a back end's key, which begins with deed_backend_; create one with: deed key create --role backend")
ENVIRONMENT = os.environ.get("DEED_ENVIRONMENT", "production")
if ENVIRONMENT not in ("production", "sandbox"):
    sys.exit(f"DEED_ENVIRONMENT must be production or sandbox, not {ENVIRONMENT}")
PORT = os.environ.get("PORT", "8081")
if not (PORT.isascii() and PORT.isdigit() and int(PORT) <= 65535):
    sys.exit(f"PORT must be a number up to 65535, not {PORT}")

# With these outcomes, the client app may finish the transaction; otherwise it keeps it for later.
DELIVERED = {"recorded", "already_known", "already_settled"}


class Refused(Exception):
    """A refusal by Deed; `problem["code"]` is for programs, `problem["detail"]` for people."""

    def __init__(self, status, problem):
        super().__init__(problem.get("detail", ""))
        self.status = status
        self.problem = problem


def call(method, path, body=None, headers=None):
    """Calls Deed, and repeats the call if Deed marks it retryable: every call here can be repeated safely."""
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
    """A cache of each player's data. It only saves calls and bytes, so losing it does no harm."""

    def __init__(self):
        self.lock = threading.Lock()
        self.positions = {}  # the log's position after the player's last write
        self.answers = {}  # the last answer about rights, with its ETag

    def path(self, player, rest):
        return f"/v1/customers/{urllib.parse.quote(player, safe='')}{rest}"

    def wrote(self, player, headers):
        with self.lock:
            self.positions[player] = headers["Deed-Position"]

    def submit(self, player, evidence, restoring=False):
        """Submits the phone's evidence. The app finishes the transactions in `finish`, and keeps the others for later."""
        body = {name: evidence[name] for name in ("signed_transactions", "receipt") if name in evidence}
        body["environment"] = ENVIRONMENT
        path = self.path(player, "/restore" if restoring else "/receipts")
        _, answer, headers = call("POST", path, body)
        self.wrote(player, headers)
        items = answer["items"]
        return {
            # A receipt and a signed transaction may name the same transaction.
            "finish": sorted({item["transaction"] for item in items
                              if item["outcome"] in DELIVERED and "transaction" in item}),
            "told": [item.get("detail", item["outcome"]) for item in items if item["outcome"] not in DELIVERED],
            "rights": rights_in(answer),
            "balances": answer["balances"],
        }

    def rights(self, player):
        """Returns what the player may use now. The answer includes the player's own writes, no matter which instance answers."""
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
        # Before `next_change`, only a write changes the answer, so the game need not ask again until then.
        found = {"rights": rights_in(answer), "next_change": answer["next_change"]}
        with self.lock:
            self.answers[player] = (received["ETag"], found)
        return {**found, "unchanged": False}

    def spend(self, player, order, amount, what):
        """Spends coins. `order` is the game's name for this request: a repeated request takes nothing more."""
        _, answer, headers = call(
            "POST", self.path(player, "/balances/coins/spend"),
            {"amount": amount, "reason": what, "environment": ENVIRONMENT},
            {"Idempotency-Key": f"spend {order}"})
        self.wrote(player, headers)
        return {"balance": answer["balance"]}

    def token(self, player):
        """Registers the UUID that the app passes to each purchase. Purchases with it belong to this player, no matter who
        submits them."""
        token = str(uuid.uuid5(uuid.NAMESPACE_URL, f"https://game.example/players/{player}"))
        _, _, headers = call(
            "PUT", self.path(player, "/account_token"), {"token": token, "environment": ENVIRONMENT})
        self.wrote(player, headers)
        return {"token": token}

    def news(self, player, after):
        """Returns the events after version `after`, such as a refund, so that the game can take back what it delivered. The
        game stores the answer's `after` together with the effects: no event is lost, and none counts twice."""
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
            return self.send(400, {"code": "malformed", "detail": "The body is not JSON."})
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
