"""Measures a project with many large catalogs.

usage: catalogs.py fill PORT KEY COUNT
       catalogs.py write PORT KEY NAME COUNT
       catalogs.py cut PORT KEY COUNT PSQL ...

`fill` applies that many catalogs of 770 kB without common parts. `write` gives the customers NAME-0, NAME-1, ... a
grant each and prints the milliseconds of each call. `cut` ends every session of the database under load, that many
times, and prints the milliseconds until the first write after each."""
import http.client
import json
import subprocess
import sys
import threading
import time

command, port, key = sys.argv[1], int(sys.argv[2]), sys.argv[3]


def call(method, path, body):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def give(customer):
    began = time.monotonic()
    status = call("POST", f"/v1/customers/{customer}/grants",
                  b'{"entitlement":"pro","for":"P30D","reason":"measured","allow_unknown":true}')
    return status // 100 == 2, 1000 * (time.monotonic() - began)


def catalog(number):
    products, size = [], 100
    while size < 770_000:
        products.append({
            "id": f"com.example.game.edition{number}.product{len(products)}", "kind": "auto_renewable",
            "group": f"group{number}-{len(products) % 50}", "level": 1, "entitlements": [f"right{number}-{len(products) % 90}"]})
        size += len(json.dumps(products[-1], separators=(",", ":"))) + 1
    return json.dumps({"products": products, "entitlements": {}, "currencies": {}}).encode()


if command == "fill":
    for number in range(int(sys.argv[4])):
        status = call("PUT", "/v1/catalog", catalog(number))
        if status != 200:
            sys.exit(f"error: {status}")
elif command == "write":
    for number in range(int(sys.argv[5])):
        isDone, milliseconds = give(f"{sys.argv[4]}-{number}")
        if not isDone:
            sys.exit("error: a grant was refused")
        print(f"{milliseconds:.2f}")
else:
    isOver = threading.Event()

    def load(lane):
        number = 0
        while not isOver.is_set():
            number += 1
            try:
                give(f"load-{lane}-{number % 500}")
            except OSError:
                pass

    lanes = [threading.Thread(target=load, args=(lane,)) for lane in range(8)]
    for lane in lanes:
        lane.start()
    for turn in range(int(sys.argv[4])):
        time.sleep(2)
        subprocess.run(
            sys.argv[5:] + ["-c", "select pg_terminate_backend(pid) from pg_stat_activity "
                            "where datname = current_database() and pid <> pg_backend_pid()"],
            check=True, stdout=subprocess.DEVNULL)
        began = time.monotonic()
        while not give(f"cut-{turn}")[0]:
            time.sleep(0.005)
        print(f"{1000 * (time.monotonic() - began):.2f}")
    isOver.set()
    for lane in lanes:
        lane.join()
