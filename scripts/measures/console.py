"""Opens pages of the console as people do.

usage: console.py PORT LINK SECONDS PEOPLE CUSTOMERS FOLDER

LINK is what `deed person create` printed. Each of the PEOPLE opens a page every two seconds, for SECONDS. FOLDER gets a
file for each kind of page with the 99th percentile of its milliseconds (console.customer, console.search,
console.overview), console.size with the kilobytes of the largest customer's page, and console.crowded with the number of
pages refused because of other requests. The milliseconds include the connection on this machine.
"""
import http.client
import random
import sys
import threading
import time
import urllib.parse

port, link, seconds, people, customers, folder = sys.argv[1:]
PASSWORD = "correct horse battery"
HOME = "/console/p/default"
took = {"customer": [], "search": [], "overview": []}
sizes, crowded = [], []
lock = threading.Lock()


def send(connection, method, path, form=None, cookie=None):
    headers = {"Sec-Fetch-Site": "same-origin"}
    if cookie:
        headers["Cookie"] = cookie
    if form is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    connection.request(method, path, form and urllib.parse.urlencode(form), headers)
    answer = connection.getresponse()
    return answer, answer.read()


def expect(status, answer, text, path):
    if answer.status != status:
        sys.exit(f"error: {path} {answer.status} {text[:300]!r}")


def sign_in():
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
    place = urllib.parse.urlsplit(link).path
    expect(303, *send(connection, "POST", place, {"password": PASSWORD, "again": PASSWORD}), place)
    answer, text = send(
        connection, "POST", "/console/sign-in", {"email": "bench@example.com", "password": PASSWORD})
    expect(303, answer, text, "sign-in")
    return answer.getheader("Set-Cookie").split(";")[0]


def page(kind, dice):
    """Returns a path and the possible statuses. A search with a single match redirects to the customer."""
    if kind == "customer":
        return f"{HOME}/customers/long-0", [200]
    if kind == "search":
        return f"{HOME}/find?q=reader-{dice.randrange(int(customers))}", [200, 303]
    return HOME, [200]


def person(number, cookie, start):
    connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
    dice = random.Random(number)
    for turn in range(int(float(seconds) / 2)):
        time.sleep(max(0, start + 2 * (turn + number / int(people)) - time.monotonic()))
        # Every second page is the expensive one.
        kind = ["customer", "search", "customer", "overview"][(turn + number) % 4]
        path, statuses = page(kind, dice)
        began = time.monotonic()
        answer, text = send(connection, "GET", path, cookie=cookie)
        with lock:
            if answer.status == 503 and kind != "overview":
                crowded.append(1)
                continue
            if answer.status not in statuses:
                print(f"error: {path} {answer.status} {text[:300]!r}", file=sys.stderr)
                crowded.append(None)
                return
            took[kind].append(1000 * (time.monotonic() - began))
            if kind == "customer":
                sizes.append(len(text))


def main():
    with open(f"{folder}/console.cookie") as file:
        cookie = file.read().strip()
    if not cookie:
        cookie = sign_in()
        with open(f"{folder}/console.cookie", "w") as file:
            file.write(cookie)
    start = time.monotonic() + 0.2
    threads = [
        threading.Thread(target=person, args=(number, cookie, start)) for number in range(int(people))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if None in crowded or not all(took.values()):
        sys.exit("error: not every page came")
    for kind, times in took.items():
        times.sort()
        with open(f"{folder}/console.{kind}", "a") as file:
            file.write(f"{times[min(len(times) - 1, len(times) * 99 // 100)]:.2f}\n")
    with open(f"{folder}/console.size", "a") as file:
        file.write(f"{max(sizes) / 1024:.1f}\n")
    with open(f"{folder}/console.crowded", "a") as file:
        file.write(f"{len(crowded)}\n")


main()
