"""Signs in to the console with wrong passwords.

usage: sign_in.py choose PORT LINK             chooses the password behind the link
       sign_in.py names PORT ROUNDS OUT        each round, OUT gets the slower and the faster one of two medians in
                                               milliseconds: attempts with a known name, and with an unknown one
       sign_in.py many PORT COUNT SECONDS [healthz]
                                               each second, that many people sign in at the same moment, or ask for
                                               /healthz instead

Each attempt comes from a different address, so that no limit for an address applies.
"""
import http.client
import random
import statistics
import sys
import threading
import time
import urllib.parse

task, port = sys.argv[1], int(sys.argv[2])
PASSWORD = "correct horse battery"
ATTEMPTS = 7


def post(path, form, address="192.0.2.1", method="POST"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.connect()
    began = time.monotonic()
    connection.request(method, path, urllib.parse.urlencode(form), {
        "Sec-Fetch-Site": "same-origin", "X-Forwarded-For": address, "X-Forwarded-Proto": "https",
        "Content-Type": "application/x-www-form-urlencoded"})
    answer = connection.getresponse()
    answer.read()
    took = 1000 * (time.monotonic() - began)
    connection.close()
    return answer.status, took


def attempt(name):
    address = f"2001:db8:{random.randrange(65536):x}:{random.randrange(65536):x}::1"
    return post("/console/sign-in", {"email": name, "password": "wrong but long enough"}, address)


def choose(link):
    status, _ = post(urllib.parse.urlsplit(link).path, {"password": PASSWORD, "again": PASSWORD})
    if status != 303:
        sys.exit(f"error: the password was not chosen: {status}")


def names(rounds, out):
    with open(out, "w") as file:
        # The first round finds nothing in memory.
        for turn in range(int(rounds) + 1):
            took = {"bench@example.com": [], "other@example.com": []}
            for number in range(2 * ATTEMPTS):
                name = sorted(took)[(number + turn) % 2]
                status, milliseconds = attempt(name)
                if status != 403:
                    sys.exit(f"error: an attempt was answered with {status}")
                took[name].append(milliseconds)
            medians = sorted(statistics.median(times) for times in took.values())
            if turn:
                file.write(f"{medians[1]:.3f} {medians[0]:.3f}\n")


def many(count, seconds, instead=None):
    found = {}
    start = time.monotonic() + 0.2

    def person(number):
        for second in range(int(seconds)):
            time.sleep(max(0, start + second - time.monotonic()))
            status, _ = post("/healthz", {}, method="GET") if instead else attempt(f"person-{number}@example.com")
            found[status] = found.get(status, 0) + 1

    threads = [threading.Thread(target=person, args=(number,)) for number in range(int(count))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # 503 means that another password is being hashed.
    if instead and set(found) == {200}:
        return
    if not found.get(403) or set(found) - {403, 429, 503}:
        sys.exit(f"error: the attempts were answered with {found}")


{"choose": choose, "names": names, "many": many}[task](*sys.argv[3:])
