"""A receiver that says 204 to everything as fast as Python can, on a port that it prints."""
import asyncio


class Sink(asyncio.Protocol):
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
            self.transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")


async def main():
    server = await asyncio.get_running_loop().create_server(Sink, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
