"""Prints how soon after a write's answer the waiting calls get theirs: the 99th percentile in milliseconds.

usage: wake.py PORT KEY WAITING WOKEN ROUNDS

WAITING calls wait. WOKEN of them wait for the customer who gets a grant in each of the ROUNDS.
"""
import http.client
import json
import selectors
import socket
import sys
import time

port, key, waiting, woken, rounds = int(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:])
headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
control = http.client.HTTPConnection("127.0.0.1", port, timeout=60)


def ask(method, path, body=None):
    control.request(method, path, body=body and json.dumps(body), headers=headers)
    answer = control.getresponse()
    text = answer.read().decode()
    if answer.status >= 300:
        sys.exit(f"error: {method} {path}: {answer.status} {text}")
    return text


def held():
    lines = ask("GET", "/metrics").splitlines()
    return next(int(float(line.split()[1])) for line in lines if line.startswith("deed_feed_waiting "))


def begin(call, customer, cursor):
    call.sendall(
        f"GET /v1/events?customer={customer}&after={cursor}&wait=30 HTTP/1.1\r\n"
        f"Host: localhost\r\nAuthorization: Bearer {key}\r\n\r\n".encode())


def finish(call):
    """Returns the whole answer. The last byte may arrive later than the first."""
    text = b""
    while b"\r\n\r\n" not in text:
        text += call.recv(65536)
    head, body = text.split(b"\r\n\r\n", 1)
    length = int(next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))[15:])
    while len(body) < length:
        body += call.recv(65536)
    if not head.startswith(b"HTTP/1.1 200") or not body.startswith(b'{"events":[{'):
        sys.exit(f"error: a waiting call got {head[:40]!r} {body[:200]!r}")


calls = [socket.create_connection(("127.0.0.1", port)) for _ in range(waiting)]
cursor = json.loads(ask("GET", "/v1/events?after=end"))["next"]
for number, call in enumerate(calls[woken:]):
    begin(call, f"asleep-{number}", cursor)
delays = []
began = time.monotonic()
for turn in range(rounds):
    cursor = json.loads(ask("GET", "/v1/events?after=end"))["next"]
    for call in calls[:woken]:
        begin(call, "awake", cursor)
    while held() < waiting:
        # The waiting calls get their answers after thirty seconds.
        if time.monotonic() - began > (25 if waiting > woken else 300):
            sys.exit("error: the rounds take too long")
        time.sleep(0.002)
    ready = selectors.DefaultSelector()
    for call in calls[:woken]:
        ready.register(call, selectors.EVENT_READ)
    ask("POST", "/v1/customers/awake/grants", {"entitlement": f"pro{turn}", "reason": "r", "allow_unknown": True})
    answered = time.monotonic()
    left = woken
    while left:
        for found, _ in ready.select():
            finish(found.fileobj)
            ready.unregister(found.fileobj)
            delays.append(1000 * (time.monotonic() - answered))
            left -= 1
delays.sort()
print(f"{max(0.0, delays[int(0.99 * (len(delays) - 1))]):.2f}")
