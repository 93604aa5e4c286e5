"""A receiver that says 204 to everything as fast as Python can, on a port that it prints. Each arrival is a line in FILE: the
message's id, and when it came, in milliseconds. usage: sink.py FILE [sick]

With the word `sick` it answers 500, late, or closes the connection, by turns.
"""
import asyncio
import sys
import time

SICK = sys.argv[2:] == ["sick"]
FILE = open(sys.argv[1], "a", buffering=1)


class Sink(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.rest, self.turn = transport, b"", 0

    def data_received(self, data):
        self.rest += data
        while b"\r\n\r\n" in self.rest:
            head, _, rest = self.rest.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
            if len(rest) < length:
                return
            self.rest = rest[length:]
            message = head.lower().partition(b"webhook-id: ")[2].split(b"\r\n")[0].decode()
            FILE.write(f"{message}\t{time.time_ns() // 1_000_000}\n")
            if SICK:
                self.fail()
            else:
                self.transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    def fail(self):
        self.turn += 1
        answer = b"HTTP/1.1 500 Sick\r\nContent-Length: 0\r\n\r\n"
        if self.turn % 3 == 0:
            self.transport.abort()
        elif self.turn % 3 == 1:
            self.transport.write(answer)
        else:
            asyncio.get_running_loop().call_later(3, self.transport.write, answer)


async def main():
    server = await asyncio.get_running_loop().create_server(Sink, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
