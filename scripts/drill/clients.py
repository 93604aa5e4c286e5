"""Clients who write and read while things break, and the model by which their answers are judged.

Each client has customers of its own, so it knows what must be in every answer about them. What was not answered is
sent again, under the same key, until it is: then it counts once.
"""
import http.client
import json
import random
import threading
import time
import uuid

TIMEOUT = 15


class Connections:
    """A connection to each service, kept open."""

    def __init__(self, services, key):
        self.services, self.key = services, key
        self.open = {}

    def send(self, place, method, path, body=None, headers=()):
        """Status, headers and JSON; None where there was no answer."""
        sent = {"Authorization": f"Bearer {self.key}", **dict(headers)}
        if body is not None:
            sent["Content-Type"] = "application/json"
        try:
            connection = self.open.get(place)
            if connection is None:
                connection = http.client.HTTPConnection("127.0.0.1", self.services[place].port, timeout=TIMEOUT)
                self.open[place] = connection
            connection.request(method, path, json.dumps(body) if body is not None else None, sent)
            answer = connection.getresponse()
            return answer.status, answer.headers, json.loads(answer.read() or b"null")
        except (OSError, http.client.HTTPException, ValueError):
            broken = self.open.pop(place, None)
            if broken:
                broken.close()
            return None


class Customer:
    """What must be true of one customer, by the writes that were answered."""

    def __init__(self, name):
        self.name = name
        self.balance = 0
        self.grants = {}    # id -> (entitlement, whether it is live)
        self.orders = {}    # id -> state
        self.position = None
        self.answered = {}  # mark -> type of the event that must be there, once
        self.sent = set()   # marks of everything that was ever sent

    def entitlements(self):
        return {entitlement for entitlement, is_live in self.grants.values() if is_live}


class Client(threading.Thread):
    def __init__(self, number, seed, services, key, evidence, stop, rest):
        super().__init__(name=f"client-{number}", daemon=True)
        self.random = random.Random(seed)
        self.connections = Connections(services, key)
        self.customers = [Customer(f"c{number}-{place}") for place in range(4)]
        self.number, self.evidence, self.stop, self.rest = number, evidence, stop, rest
        self.count = 0
        self.findings = []
        self.tally = {"writes": 0, "reads": 0, "stale": 0, "again": 0, "refused": 0}

    def run(self):
        try:
            while not self.stop.is_set() and len(self.findings) < 5:
                customer = self.random.choice(self.customers)
                draw = self.random.random()
                if draw < 0.5:
                    self.read(customer)
                else:
                    self.write(customer)
                self.stop.wait(self.rest * self.random.random())
        except Exception as error:  # a drill whose clients die silently proves nothing
            self.findings.append(f"{self.name} broke: {error!r}")

    def find(self, text):
        self.findings.append(f"{self.name}: {text}")

    # Writes

    def write(self, customer):
        self.count += 1
        mark = f"m{self.number}-{self.count}"
        kinds = [self.give, self.adjust, self.adjust, self.spend, self.revoke, self.order, self.close_order, self.submit,
                 self.token]
        self.random.choice(kinds)(customer, mark)

    def obtain(self, customer, mark, method, path, body):
        """Sends the same until it is answered for good."""
        customer.sent.add(mark)
        headers = {"Idempotency-Key": mark}
        tries = 0
        while True:
            answer = self.connections.send(self.random.randrange(2), method, path, body, headers)
            if answer and answer[0] not in (503, 429):
                status, _, found = answer
                if status >= 500 or status in (401, 403, 404, 422):
                    self.find(f"{method} {path} {mark} was answered {status} {found}")
                    return status, found
                self.tally["writes" if status < 300 else "refused"] += 1
                # What comes from a sandbox has its place in another shard.
                if found.get("position") and found.get("environment", "production") == "production":
                    customer.position = found["position"]
                return status, found
            tries += 1
            self.tally["again"] += 1
            # Also after the drill: what was sent must be settled before it can be judged.
            if tries > 3000:
                self.find(f"{method} {path} {mark} was never answered; at last {answer}")
                return 0, {}
            time.sleep(0.05)

    def give(self, customer, mark):
        entitlement = f"e{self.random.randrange(3)}"
        body = {"entitlement": entitlement, "reason": mark, "allow_unknown": True}
        status, answer = self.obtain(customer, mark, "POST", f"/v1/customers/{customer.name}/grants", body)
        if status == 201:
            customer.grants[answer["grant"]["id"]] = (entitlement, True)
            customer.answered[mark] = "grant.given"

    def revoke(self, customer, mark):
        live = sorted(grant for grant, (_, is_live) in customer.grants.items() if is_live)
        if not live:
            return self.give(customer, mark)
        grant = self.random.choice(live)
        path = f"/v1/customers/{customer.name}/grants/{grant}"
        status, _ = self.obtain(customer, mark, "DELETE", path, {"reason": mark})
        if status == 200:
            customer.grants[grant] = (customer.grants[grant][0], False)
            customer.answered[mark] = "grant.revoked"

    def adjust(self, customer, mark):
        amount = self.random.randrange(1, 100)
        path = f"/v1/customers/{customer.name}/balances/coins/adjust"
        status, answer = self.obtain(customer, mark, "POST", path, {"amount": amount, "reason": mark})
        if status == 200:
            customer.balance += amount
            customer.answered[mark] = "balance.adjusted"
            if answer["balance"] != customer.balance:
                self.find(f"{mark} left {answer['balance']}, and {customer.balance} is right")

    def spend(self, customer, mark):
        amount = self.random.randrange(1, 60)
        path = f"/v1/customers/{customer.name}/balances/coins/spend"
        status, answer = self.obtain(customer, mark, "POST", path, {"amount": amount, "reason": mark})
        if status == 200:
            customer.balance -= amount
            customer.answered[mark] = "balance.spent"
            if answer["balance"] != customer.balance:
                self.find(f"{mark} left {answer['balance']}, and {customer.balance} is right")
        elif status == 409 and amount <= customer.balance:
            self.find(f"{mark} was refused, and {customer.balance} was there")

    def order(self, customer, mark):
        if sum(state == "open" for state in customer.orders.values()) > 50:
            return self.close_order(customer, mark)
        status, answer = self.obtain(customer, mark, "POST", f"/v1/customers/{customer.name}/orders", {})
        if status == 201:
            order = answer["order"]["id"] if "order" in answer else answer["id"]
            customer.orders[order] = "open"
            customer.answered[order] = "order.opened"
            customer.sent.add(order)

    def close_order(self, customer, mark):
        still_open = sorted(order for order, state in customer.orders.items() if state == "open")
        if not still_open:
            return self.adjust(customer, mark)
        order = self.random.choice(still_open)
        path = f"/v1/customers/{customer.name}/orders/{order}/close"
        status, _ = self.obtain(customer, mark, "POST", path, {"reason": mark})
        if status == 200:
            customer.orders[order] = "closed"
            customer.answered[mark] = "order.closed"

    def token(self, customer, mark):
        if sum(kind == "token.registered" for kind in customer.answered.values()) > 50:
            return self.adjust(customer, mark)
        token = str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        customer.sent.add(token)
        path = f"/v1/customers/{customer.name}/account_token"
        status, _ = self.obtain(customer, mark, "PUT", path, {"token": token})
        if status == 200:
            customer.answered[token] = "token.registered"

    def submit(self, customer, mark):
        signed = self.evidence.take()
        if signed is None:
            return self.adjust(customer, mark)
        path = f"/v1/customers/{customer.name}/receipts"
        body = {"signed_transactions": [signed]}
        status, answer = self.obtain(customer, mark, "POST", path, body)
        if status == 200:
            outcome = answer["items"][0]
            if outcome["outcome"] not in ("recorded", "unchanged"):
                self.find(f"{mark}: evidence was answered {outcome}")
            else:
                customer.answered[outcome["transaction"]] = "purchase"

    # Reads

    def read(self, customer):
        draw = self.random.random()
        headers = {"Deed-After": customer.position} if customer.position and draw < 0.7 else {}
        place = self.random.randrange(2)
        if draw < 0.25:
            return self.read_balances(customer, place, headers)
        strong = "?consistency=strong" if draw > 0.9 else ""
        path = f"/v1/customers/{customer.name}/entitlements{strong}"
        answer = self.connections.send(place, "GET", path, headers=headers)
        if not answer or answer[0] == 503:
            return
        status, found_headers, found = answer
        if status != 200:
            return self.find(f"{path} was answered {status} {found}")
        self.tally["reads"] += 1
        is_stale = "Deed-Stale" in found_headers
        self.tally["stale"] += is_stale
        if headers and shard_and_place(found["position"]) < shard_and_place(customer.position):
            self.find(f"{path} after {customer.position} was answered at {found['position']}")
        # An answer that names no position may be of before the last write.
        if headers or strong:
            active = {name for name, entitlement in found["entitlements"].items() if entitlement["active"]}
            if active != customer.entitlements():
                self.find(f"{path} after {customer.position} gives {sorted(active)}, and "
                          f"{sorted(customer.entitlements())} is right (stale: {is_stale})")

    def read_balances(self, customer, place, headers):
        path = f"/v1/customers/{customer.name}/balances"
        answer = self.connections.send(place, "GET", path, headers=headers)
        if not answer or answer[0] == 503:
            return
        status, _, found = answer
        if status != 200:
            return self.find(f"{path} was answered {status} {found}")
        self.tally["reads"] += 1
        if found["balances"].get("coins", 0) != customer.balance:
            self.find(f"{path} gives {found['balances']}, and {customer.balance} is right")

    # At the end

    def judge(self):
        """Holds the history of each customer against what was answered."""
        for customer in self.customers:
            found = self.history(customer.name, "production") + self.history(customer.name, "sandbox")
            marks = {}
            for event in found:
                for mark in marks_of(event):
                    marks.setdefault(mark, []).append(event["type"])
            for mark, kind in customer.answered.items():
                times = [found for found in marks.get(mark, []) if found.startswith(kind)]
                if len(times) != 1:
                    self.find(f"{mark} of {customer.name} was answered, and is there {len(times)} times")
            for mark, types in marks.items():
                if mark not in customer.sent and not any(kind.startswith("purchase") for kind in types):
                    self.find(f"{mark} of {customer.name} is there ({types}) and was never sent")
            status, _, answer = self.connections.send(0, "GET", f"/v1/customers/{customer.name}/balances")
            if status != 200 or answer["balances"].get("coins", 0) != customer.balance:
                self.find(f"{customer.name} ends with {answer}, and {customer.balance} is right")

    def history(self, name, environment):
        events, after = [], 0
        while after is not None:
            path = f"/v1/customers/{name}/events?environment={environment}&limit=1000&after={after}"
            answer = self.connections.send(0, "GET", path)
            if not answer or answer[0] != 200:
                self.find(f"the history of {name} is not read: {answer}")
                return events
            events += answer[2]["events"]
            after = answer[2]["next"]
        return events


def marks_of(event):
    """By what an event is known: the reason that came with it, or what it is about."""
    data, kind = event["data"], event["type"]
    if kind.startswith("access."):
        return []
    if kind == "order.opened":
        return [data["order"]]
    if kind == "token.registered":
        return [data["token"]]
    if kind.startswith("purchase.made") or kind.startswith("subscription."):
        return [data["transaction"]]
    return [data["reason"]] if "reason" in data else []


def shard_and_place(position):
    shard, place = position.split(":")
    return int(shard), int(place)


class Evidence:
    """Signed transactions, each handed out once."""

    def __init__(self, texts):
        self.texts, self.lock = list(texts), threading.Lock()

    def take(self):
        with self.lock:
            return self.texts.pop() if self.texts else None
