"""Reads a project's whole feed in pages of a thousand and prints the events per second.

usage: feed.py PORT KEY access=0|access=1
"""
import http.client
import sys
import time

port, key, access = sys.argv[1:]
connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
after, count, start = "", 0, time.monotonic()
while True:
    connection.request(
        "GET", f"/v1/events?limit=1000&{access}{after}", headers={"Authorization": f"Bearer {key}"})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        sys.exit(f"error: {answer.status} {body[:300]!r}")
    count += body.count(b'{"id":"')
    end = body.rindex(b'"next":"')
    after = "&after=" + body[end + 8:body.index(b'"', end + 8)].decode()
    if body.endswith(b'"more":false}'):
        break
print(f"{count / (time.monotonic() - start):.0f}")
