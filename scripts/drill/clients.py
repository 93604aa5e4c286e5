"""Clients that write and read while things break, and the model that judges their answers.

Each client has separate customers, so it knows what every answer about them must contain. It repeats an unanswered
call under the same key until there is an answer. The call then counts once.
"""
import base64
import http.client
import json
import random
import threading
import time
import uuid

TIMEOUT = 15
# The maximum age of an answer that does not state its age, plus the time to make and read it.
UNSAID_AGE = 1.0
SLACK = 2.0
# The maximum age of an answer that states its age: the default of --max-stale-seconds.
MAX_STALE = 60.0
# An instant at which all submitted evidence gives access.
DURING_PURCHASES = "2023-05-15T00:00:00.000Z"


class Connections:
    """An open connection to each service."""

    def __init__(self, services, key):
        self.services, self.key = services, key
        self.open = {}

    def send(self, place, method, path, body=None, headers=()):
        """Returns status, headers and JSON, or None without an answer."""
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

    def read(self, place, path):
        """Returns the JSON of a read after the last fault, or None if the read fails repeatedly."""
        for _ in range(100):
            answer = self.send(place, "GET", path)
            if answer and answer[0] == 200:
                return answer[2]
            time.sleep(0.1)
        return None


class Customer:
    """The expected state of one customer after the answered writes."""

    def __init__(self, name):
        self.name = name
        self.balance = 0
        self.grants = {}    # id -> (entitlement, whether it is live)
        self.orders = {}    # id -> state
        self.purchases = set()
        self.positions = {"production": None, "sandbox": None}
        self.answered = {}  # mark -> type of the event that must exist once
        self.sent = set()   # the marks of everything ever sent
        self.earlier = []   # earlier entitlements, and until when they were right
        self.version = 0    # the version of the last event read
        self.read = set()   # the marks of the events read

    def entitlements(self):
        return {entitlement for entitlement, is_live in self.grants.values() if is_live}

    def change(self, grant, entitlement, is_live):
        self.earlier.append((self.entitlements(), time.monotonic()))
        self.grants[grant] = (entitlement, is_live)

    def entitlements_since(self, moment):
        """Returns each set of entitlements that was right at some time since then."""
        self.earlier = [(names, end) for names, end in self.earlier if end > time.monotonic() - 2 * MAX_STALE]
        return [self.entitlements()] + [names for names, end in self.earlier if end >= moment]


class Client(threading.Thread):
    """Sends random calls, one after another. While `calm` is set, sends no new call."""

    def __init__(self, number, seed, services, key, evidence, stop, calm, rest, long):
        super().__init__(name=f"client-{number}", daemon=True)
        self.random = random.Random(seed)
        self.connections = Connections(services, key)
        self.customers = [Customer(f"c{number}-{place}") for place in range(4)]
        self.number, self.evidence, self.stop, self.calm, self.rest = number, evidence, stop, calm, rest
        self.long = long  # how many events the first customer gets first
        self.count = 0
        self.findings = []
        self.tally = {"writes": 0, "reads": 0, "stale": 0, "again": 0, "refused": 0}

    def run(self):
        try:
            while not self.stop.is_set() and len(self.findings) < 5:
                if self.calm.is_set():
                    self.stop.wait(0.05)
                    continue
                if self.count < self.long:
                    self.count += 1
                    self.adjust(self.customers[0], f"m{self.number}-{self.count}")
                    continue
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

    def obtain(self, customer, mark, method, path, body, expected, refusals=()):
        """Repeats a call until there is a final answer: the expected status, or one of these codes."""
        customer.sent.add(mark)
        headers = {"Idempotency-Key": mark}
        tries = 0
        while True:
            answer = self.connections.send(self.random.randrange(2), method, path, body, headers)
            if answer and answer[0] not in (503, 429):
                status, _, found = answer
                if status != expected and found.get("code") not in refusals:
                    self.find(f"{method} {path} {mark} was answered {status} {found}")
                    return status, found
                self.tally["writes" if status == expected else "refused"] += 1
                # Events of the sandbox are in another shard.
                if found.get("position"):
                    customer.positions[found.get("environment", "production")] = found["position"]
                return status, found
            tries += 1
            self.tally["again"] += 1
            # Continues even after the drill ends, because every call must be settled before the judgement.
            if tries > 3000:
                self.find(f"{method} {path} {mark} was never answered; at last {answer}")
                return 0, {}
            time.sleep(0.05)

    def give(self, customer, mark):
        entitlement = f"e{self.random.randrange(3)}"
        body = {"entitlement": entitlement, "reason": mark, "allow_unknown": True}
        status, answer = self.obtain(customer, mark, "POST", f"/v1/customers/{customer.name}/grants", body, 201)
        if status == 201:
            customer.change(answer["grant"]["id"], entitlement, True)
            customer.answered[mark] = "grant.given"

    def revoke(self, customer, mark):
        live = sorted(grant for grant, (_, is_live) in customer.grants.items() if is_live)
        if not live:
            return self.give(customer, mark)
        grant = self.random.choice(live)
        path = f"/v1/customers/{customer.name}/grants/{grant}"
        status, _ = self.obtain(customer, mark, "DELETE", path, {"reason": mark}, 200)
        if status == 200:
            customer.change(grant, customer.grants[grant][0], False)
            customer.answered[mark] = "grant.revoked"

    def adjust(self, customer, mark):
        amount = self.random.randrange(1, 100)
        path = f"/v1/customers/{customer.name}/balances/coins/adjust"
        status, answer = self.obtain(customer, mark, "POST", path, {"amount": amount, "reason": mark}, 200)
        if status == 200:
            customer.balance += amount
            customer.answered[mark] = "balance.adjusted"
            if answer["balance"] != customer.balance:
                self.find(f"{mark} left {answer['balance']}, and {customer.balance} is right")

    def spend(self, customer, mark):
        amount = self.random.randrange(1, 60)
        path = f"/v1/customers/{customer.name}/balances/coins/spend"
        body = {"amount": amount, "reason": mark}
        status, answer = self.obtain(customer, mark, "POST", path, body, 200, ["insufficient_balance"])
        if status == 200:
            customer.balance -= amount
            customer.answered[mark] = "balance.spent"
            if answer["balance"] != customer.balance:
                self.find(f"{mark} left {answer['balance']}, and {customer.balance} is right")
        elif status == 409 and amount <= customer.balance:
            self.find(f"{mark} was refused, although the balance was {customer.balance}")

    def order(self, customer, mark):
        if sum(state == "open" for state in customer.orders.values()) > 50:
            return self.close_order(customer, mark)
        status, answer = self.obtain(customer, mark, "POST", f"/v1/customers/{customer.name}/orders", {}, 201)
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
        status, _ = self.obtain(customer, mark, "POST", path, {"because": "cancelled", "reason": mark}, 200)
        if status == 200:
            customer.orders[order] = "closed"
            customer.answered[mark] = "order.closed"

    def token(self, customer, mark):
        if sum(kind == "token.registered" for kind in customer.answered.values()) > 50:
            return self.adjust(customer, mark)
        token = str(uuid.UUID(int=self.random.getrandbits(128), version=4))
        customer.sent.add(token)
        path = f"/v1/customers/{customer.name}/account_token"
        status, _ = self.obtain(customer, mark, "PUT", path, {"token": token}, 200)
        if status == 200:
            customer.answered[token] = "token.registered"

    def submit(self, customer, mark):
        signed = self.evidence.take()
        if signed is None:
            return self.adjust(customer, mark)
        path = f"/v1/customers/{customer.name}/receipts"
        body = {"signed_transactions": [signed]}
        transaction = payload(signed)["transactionId"]
        customer.sent.add(transaction)
        status, answer = self.obtain(customer, mark, "POST", path, body, 200)
        if status == 200:
            outcome = answer["items"][0]
            if outcome["outcome"] not in ("recorded", "unchanged") or outcome["transaction"] != transaction:
                self.find(f"{mark}: the evidence of {transaction} was answered {outcome}")
            else:
                customer.answered[transaction] = "purchase.made"
                customer.purchases.add(transaction)

    # An answer without a position may be older than the last write, but not older than the age that it states.

    def read(self, customer):
        draw = self.random.random()
        place = self.random.randrange(2)
        after = {"Deed-After": customer.positions["production"]} if customer.positions["production"] else {}
        if draw < 0.2:
            return self.read_balances(customer, place, after)
        if draw < 0.3:
            return self.read_purchases(customer, place)
        if draw < 0.35:
            return self.read_news(customer, place)
        strong = "?consistency=strong" if draw > 0.9 else ""
        headers = after if draw < 0.7 else {}
        path = f"/v1/customers/{customer.name}/entitlements{strong}"
        sent_at = time.monotonic()
        answer = self.ask(place, path, headers)
        if answer:
            self.judge_entitlements(customer, path, sent_at, bool(headers or strong), *answer)

    def ask(self, place, path, headers=()):
        """Returns the headers and JSON of an answer, or None if the call must be repeated."""
        answer = self.connections.send(place, "GET", path, headers=headers)
        if not answer or answer[0] == 503:
            return None
        status, found_headers, found = answer
        if status != 200:
            return self.find(f"{path} was answered {status} {found}")
        self.tally["reads"] += 1
        return found_headers, found

    def judge_entitlements(self, customer, path, sent_at, is_new, headers, found):
        age = int(headers["Deed-Stale"]) / 1000 if "Deed-Stale" in headers else None
        self.tally["stale"] += age is not None
        position = customer.positions["production"]
        if is_new and position and shard_and_place(found["position"]) < shard_and_place(position):
            self.find(f"{path} after {position} was answered at {found['position']}")
        if age is not None and age > MAX_STALE:
            self.find(f"{path} was answered from {age} s ago")
        # An answer without a position may be older than the last write, but not older than the age that it states.
        since = sent_at - (age or UNSAID_AGE) - SLACK
        right = [customer.entitlements()] if is_new else customer.entitlements_since(since)
        active = {name for name, entitlement in found["entitlements"].items() if entitlement["active"]}
        if active not in right:
            self.find(f"{path} after {position} gives {sorted(active)}, and {sorted(right[0])} is right (age: {age})")

    def read_balances(self, customer, place, headers):
        path = f"/v1/customers/{customer.name}/balances"
        answer = self.ask(place, path, headers)
        if answer and answer[1]["balances"].get("coins", 0) != customer.balance:
            self.find(f"{path} gives {answer[1]['balances']}, and {customer.balance} is right")

    def read_purchases(self, customer, place):
        position = customer.positions["sandbox"]
        path = f"/v1/customers/{customer.name}/entitlements?environment=sandbox&at={DURING_PURCHASES}"
        answer = self.ask(place, path, {"Deed-After": position} if position else {})
        if not answer:
            return
        active = {name for name, entitlement in answer[1]["entitlements"].items() if entitlement["active"]}
        if active != ({"pro"} if customer.purchases else set()):
            self.find(f"{path} after {position} gives {sorted(active)} with {len(customer.purchases)} purchases")

    def read_news(self, customer, place):
        """Reads the new events. The services read them from the database over separate connections."""
        path = f"/v1/customers/{customer.name}/events?limit=1000&after={customer.version}"
        answer = self.ask(place, path)
        if not answer:
            return
        for event in answer[1]["events"]:
            customer.version = event["version"]
            customer.read.update(marks_of(event))
        missing = set(customer.answered) - customer.read - customer.purchases
        if missing and answer[1]["next"] is None:
            self.find(f"{path} lacks {sorted(missing)}, although they were answered")

    # At the end

    def judge(self):
        """Compares the history of each customer with the answers."""
        for customer in self.customers:
            found = self.history(customer.name, "production") + self.history(customer.name, "sandbox")
            for finding in differences(customer, found):
                self.find(finding)
            answer = self.connections.read(0, f"/v1/customers/{customer.name}/balances")
            if answer is None or answer["balances"].get("coins", 0) != customer.balance:
                self.find(f"{customer.name} ends with {answer}, and {customer.balance} is right")

    def history(self, name, environment):
        events, after = [], 0
        while after is not None:
            path = f"/v1/customers/{name}/events?environment={environment}&limit=1000&after={after}"
            answer = self.connections.read(0, path)
            if answer is None:
                self.find(f"the history of {name} cannot be read")
                return events
            events += answer["events"]
            after = answer["next"]
        return events


def differences(customer, events):
    """Returns the faults of a customer's history: each answered mark must occur once, and no mark may occur that was never sent."""
    marks = {}
    for event in events:
        for mark in marks_of(event):
            marks.setdefault(mark, []).append(event["type"])
    for mark, kind in customer.answered.items():
        times = len(marks.get(mark, []))
        if times != 1 or marks[mark] != [kind]:
            yield f"{mark} of {customer.name} was answered, and occurs {times} times: {marks.get(mark)}, not {kind}"
    for mark, types in marks.items():
        if mark not in customer.sent:
            yield f"{mark} of {customer.name} occurs ({types}) and was never sent"
        elif len(types) > 1 and mark not in customer.answered:
            yield f"{mark} of {customer.name} occurs {len(types)} times"


def marks_of(event):
    """Returns the mark of an event: its reason or its subject."""
    data, kind = event["data"], event["type"]
    # The clock causes these events.
    if kind.startswith("access."):
        return []
    if kind == "order.closed":
        data = data["cause"]
    member = {"order.opened": "order", "token.registered": "token", "purchase.made": "transaction"}.get(kind, "reason")
    return [data.get(member, f"{kind} without {member}")]


def payload(signed):
    """Returns the payload of a signed transaction."""
    part = signed.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def shard_and_place(position):
    shard, place = position.split(":")
    return int(shard), int(place)


class Evidence:
    """Signed transactions. Each is used once."""

    def __init__(self, texts):
        self.texts, self.lock = list(texts), threading.Lock()

    def take(self):
        with self.lock:
            return self.texts.pop() if self.texts else None
