"""The common part of the bench's fake servers: reads whole requests one after another, on a port that it prints."""
import asyncio


class Receiver(asyncio.Protocol):
    """Calls `received` with the head of each request after reading the body."""

    def connection_made(self, transport):
        self.transport, self.rest = transport, b""

    def data_received(self, data):
        self.rest += data
        while b"\r\n\r\n" in self.rest:
            head, _, rest = self.rest.partition(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
            if len(rest) < length:
                return
            self.rest = rest[length:]
            self.received(head)


def serve(receiver):
    async def forever():
        server = await asyncio.get_running_loop().create_server(receiver, "127.0.0.1", 0, backlog=1024)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(forever())
