"""Measures customers with many events and their effect on other customers.

usage: long.py fill PORT KEY CUSTOMERS EVENTS
       long.py load PORT KEY CUSTOMERS RATE SECONDS NAME KIND

`fill` gives each of the customers long-0, long-1, ... that many events. Each event is a change of a balance under a separate
key. With `load`, each of the customers KIND-0, KIND-1, ... writes once a second and gets a grant that ends meanwhile. Other
customers with one event each write RATE times a second. Prints p50 and p99 in milliseconds of the others' writes, of the
customers' writes, of repeated calls of these, and of their reads from the database."""
import asyncio
import sys
import time

command, port, key = sys.argv[1], int(sys.argv[2]), sys.argv[3]
customers = int(sys.argv[4])
CLIENTS = 50


class Client:
    async def open(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        return self

    async def adjust(self, customer, name):
        body = b'{"amount":1,"reason":"bench"}'
        return await self.call(
            f"POST /v1/customers/{customer}/balances/coins/adjust HTTP/1.1\r\nHost: bench\r\n"
            f"Authorization: Bearer {key}\r\nIdempotency-Key: {name}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body)

    async def read(self, customer):
        return await self.call(
            f"GET /v1/customers/{customer}/entitlements?consistency=strong HTTP/1.1\r\nHost: bench\r\n"
            f"Authorization: Bearer {key}\r\n\r\n".encode())

    async def grant(self, customer, name, milliseconds):
        """Gives a grant that ends at an instant."""
        end = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(milliseconds // 1000)) + f".{milliseconds % 1000:03d}Z"
        body = f'{{"entitlement":"pro","end":"{end}","reason":"bench","allow_unknown":true}}'.encode()
        return await self.call(
            f"POST /v1/customers/{customer}/grants HTTP/1.1\r\nHost: bench\r\n"
            f"Authorization: Bearer {key}\r\nIdempotency-Key: {name}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body)

    async def call(self, request):
        began = time.monotonic()
        self.writer.write(request)
        head = await self.reader.readuntil(b"\r\n\r\n")
        if b" 20" not in head.split(b"\r\n")[0]:
            sys.exit(f"error: {head.decode()}")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        await self.reader.readexactly(length)
        return 1000 * (time.monotonic() - began)


async def fill(events):
    async def part(number):
        client = await Client().open()
        for index in range(number, events * customers, CLIENTS):
            event, customer = divmod(index, customers)
            await client.adjust(f"long-{customer}", f"fill-{event}")

    await asyncio.gather(*(part(number) for number in range(CLIENTS)))


async def load(rate, seconds, name, kind):
    others, own, again, reads = [], [], [], []
    start = time.monotonic() + 0.5

    async def until(moment):
        await asyncio.sleep(max(0, moment - time.monotonic()))

    async def other(number):
        client = await Client().open()
        for turn in range(rate * seconds // CLIENTS):
            await until(start + (turn * CLIENTS + number) / rate)
            others.append(await client.adjust(f"other-{name}-{number}-{turn}", "once"))

    async def one(number):
        client = await Client().open()
        for turn in range(seconds):
            await until(start + turn + number / max(1, customers))
            own.append(await client.adjust(f"{kind}-{number}", f"{name}-{turn}"))
            if turn == 1:
                await client.grant(f"{kind}-{number}", f"end-{name}", int(1000 * (time.time() + seconds / 2)))
            if turn % 10 == 9:
                again.append(await client.adjust(f"{kind}-{number}", f"fill-{turn}"))
                reads.append(await client.read(f"{kind}-{number}"))

    await asyncio.gather(*(other(number) for number in range(CLIENTS)),
                         *(one(number) for number in range(customers)))

    def told(times):
        times.sort()
        return [f"{times[int(part * (len(times) - 1))]:.2f}" for part in (0.5, 0.99)] if times else ["-", "-"]

    print(*told(others), *told(own), *told(again), *told(reads))


asyncio.run(fill(int(sys.argv[5])) if command == "fill" else load(int(sys.argv[5]), int(sys.argv[6]), *sys.argv[7:9]))
