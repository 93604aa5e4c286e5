"""A receiver that answers 204 to everything as fast as Python can, on a port that it prints. FILE has a line for each arrival:
the message's id, and its time in milliseconds. usage: sink.py FILE [sick]

With the word `sick`, it takes turns: it answers 500, answers late, or closes the connection.
"""
import asyncio
import sys
import time

from receiver import Receiver, serve

SICK = sys.argv[2:] == ["sick"]
FILE = open(sys.argv[1], "a", buffering=1)


class Sink(Receiver):
    turn = 0

    def received(self, head):
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


serve(Sink)
