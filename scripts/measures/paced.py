"""Gives grants at an even rate. usage: paced.py PORT KEY RATE SECONDS NAME"""
import asyncio
import sys
import time

port, key, rate, seconds = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
CLIENTS = 50


async def client(number, start):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for turn in range(rate * seconds // CLIENTS):
        await asyncio.sleep(max(0, start + (turn * CLIENTS + number) / rate - time.monotonic()))
        body = b'{"entitlement":"pro","reason":"bench","allow_unknown":true}'
        writer.write(f"POST /v1/customers/paced-{sys.argv[5]}-{number}-{turn}/grants HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {key}\r\n"
                     f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 201 " not in head.split(b"\r\n")[0]:
            sys.exit(f"error: {head.decode()}")
        await reader.readexactly(int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]))


async def main():
    start = time.monotonic() + 0.2
    await asyncio.gather(*(client(number, start) for number in range(CLIENTS)))


asyncio.run(main())
