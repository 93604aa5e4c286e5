"""Creates customers, each with a purchase, an order and an account token, and writes these names.

usage: hands.py PORT KEY EVIDENCE FOLDER COUNT

EVIDENCE is the folder that deed-bench mint wrote with --apart yes. FOLDER gets a file for each kind, with a name in each line.
"""
import concurrent.futures
import http.client
import json
import sys
import threading
import uuid

port, key, evidence, folder, count = sys.argv[1:]
header = open(f"{evidence}/header").readline().strip()
lines = open(f"{evidence}/transactions").read().split("\n")[: int(count)]
# The names that deed-bench mint uses.
FIRST = 1_000_000_000
local = threading.local()


def call(method, path, body):
    if not hasattr(local, "connection"):
        local.connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
    local.connection.request(
        method, path, json.dumps(body), {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
    answer = local.connection.getresponse()
    text = answer.read()
    if answer.status not in (200, 201):
        sys.exit(f"error: {path} {answer.status} {text[:300]!r}")
    return json.loads(text)


def make(number):
    customer = f"/v1/customers/buyer-{number}"
    token = str(uuid.uuid4())
    bought = call("POST", f"{customer}/receipts", {
        "environment": "sandbox", "signed_transactions": [f"{header}.{lines[number]}"]})
    if bought["items"][0]["outcome"] != "recorded":
        sys.exit(f"error: {bought}")
    opened = call("POST", f"{customer}/orders", {"environment": "sandbox"})
    call("PUT", f"{customer}/account_token", {"environment": "sandbox", "token": token})
    return opened["order"]["id"], token


with concurrent.futures.ThreadPoolExecutor(8) as pool:
    made = list(pool.map(make, range(int(count))))
numbers = [FIRST + number for number in range(int(count))]
names = {
    "purchase": numbers, "transaction": [f"7{number}" for number in numbers],
    "line_item": [f"9{number}" for number in numbers], "account": [f"704{number}" for number in numbers],
    "order": [order for order, _ in made], "token": [token for _, token in made],
}
for kind, all_of_it in names.items():
    with open(f"{folder}/find.{kind}", "w") as file:
        file.writelines(f"{name}\n" for name in all_of_it)
