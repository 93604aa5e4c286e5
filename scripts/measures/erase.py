"""Erases customers with 1,000 events and 100 pieces of evidence each, one after the other, and writes the
milliseconds of each erasure.

usage: erase.py PORT KEY EVIDENCE OUT COUNT

EVIDENCE is the folder that deed-bench mint wrote with --apart yes, with at least 100 transactions for each customer.
"""
import http.client
import json
import sys
import time

port, key, evidence, out, count = sys.argv[1:]
header = open(f"{evidence}/header").readline().strip()
lines = open(f"{evidence}/transactions").read().split("\n")
connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
EVENTS, PIECES = 1000, 100


def call(method, path, body):
    connection.request(
        method, path, json.dumps(body), {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    if answer.status not in (200, 201):
        sys.exit(f"error: {path} {answer.status} {text[:300]!r}")
    return json.loads(text)


def fill(customer, pieces):
    # One call per piece makes each piece separate evidence.
    for piece in pieces:
        call("POST", f"{customer}/receipts", {"environment": "sandbox", "signed_transactions": [f"{header}.{piece}"]})
    version = call("POST", f"{customer}/erase", {"purchases": "forget", "reason": "look"})["environments"][0]["version"]
    for _ in range(version, EVENTS):
        call("POST", f"{customer}/grants", {
            "entitlement": "pro", "reason": "bench", "environment": "sandbox", "allow_unknown": True})


with open(out, "w") as file:
    for number in range(int(count)):
        customer = f"/v1/customers/erased-{number}"
        fill(customer, lines[number * PIECES:(number + 1) * PIECES])
        wish = {"purchases": "forget", "reason": "bench"}
        look = call("POST", f"{customer}/erase", wish)
        side = look["environments"][0]
        if side["goes"]["events"] < EVENTS or side["goes"]["evidence"] != PIECES:
            sys.exit(f"error: {look}")
        started = time.monotonic()
        done = call("POST", f"{customer}/erase", wish | {"intent": look["intent"]})
        file.write(f"{(time.monotonic() - started) * 1000:.1f}\n")
        if not done["emptied"]:
            sys.exit(f"error: {done}")
