"""Merges a customer with many purchases, and reads pages of the trail.

usage: persons.py buy PORT KEY EVIDENCE COUNT
           the customer "bought" buys COUNT things
       persons.py merge PORT KEY SECONDS OUT
           repeatedly merges it into another customer and undoes that; OUT gets the milliseconds of each merge
       persons.py trail PORT KEY FOLDER ROUNDS CUSTOMER TICKET
           reads pages of 100; a file for each filter gets the milliseconds of each round's slowest page

EVIDENCE is what deed-bench mint has written with --apart yes.
"""
import http.client
import json
import sys
import time
import urllib.parse

task, port, key = sys.argv[1:4]
connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
PAGES = 20


def call(method, path, body=None):
    connection.request(
        method, path, body and json.dumps(body), {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
    answer = connection.getresponse()
    text = answer.read()
    if answer.status not in (200, 201):
        sys.exit(f"error: {path} {answer.status} {text[:300]!r}")
    return json.loads(text)


def buy(evidence, count):
    header = open(f"{evidence}/header").readline().strip()
    lines = open(f"{evidence}/transactions").read().split("\n")[:int(count)]
    for first in range(0, len(lines), 100):
        bought = call("POST", "/v1/customers/bought/receipts", {
            "environment": "sandbox", "signed_transactions": [f"{header}.{line}" for line in lines[first:first + 100]]})
        if any(item["outcome"] != "recorded" for item in bought["items"]):
            sys.exit(f"error: {bought}")


def merge(seconds, out):
    end = time.monotonic() + float(seconds)
    with open(out, "a") as file:
        while time.monotonic() < end:
            started = time.monotonic()
            call("POST", "/v1/customers/bought/merge", {"into": "whole", "reason": "bench"})
            file.write(f"{(time.monotonic() - started) * 1000:.1f}\n")
            call("POST", "/v1/customers/bought/merge/undo", {"reason": "bench"})


def trail(folder, rounds, customer, ticket):
    actor = "actor=" + urllib.parse.quote("key:k_person0")
    kinds = {
        "all": "", "actor": actor, "customer": f"customer={customer}", "ticket": f"ticket={ticket}",
        "action": "action=grant.given", "every": f"{actor}&ticket={ticket}&action=grant.given",
    }
    for kind, query in kinds.items():
        with open(f"{folder}/trail.{kind}", "w") as file:
            # The first round loads the data into the database's memory.
            for turn in range(int(rounds) + 1):
                place, slowest, found = "", 0, 0
                for _ in range(PAGES):
                    started = time.monotonic()
                    page = call("GET", f"/v1/trail?limit=100&environment=production&{query}{place}")
                    slowest = max(slowest, time.monotonic() - started)
                    found += len(page["entries"])
                    if page["next"] is None:
                        break
                    place = "&after=" + urllib.parse.quote(page["next"])
                if kind in ("all", "actor", "action") and found == 0:
                    sys.exit(f"error: no act is in the trail of the kind {kind}")
                if turn:
                    file.write(f"{slowest * 1000:.2f}\n")


{"buy": buy, "merge": merge, "trail": trail}[task](*sys.argv[4:])
