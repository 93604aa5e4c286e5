#!/usr/bin/env python3
"""Follows Deed's feed: one line of JSON for each event. It needs nothing from outside Python (3.9 or newer).

    DEED_KEY=deed_reader_... python3 follow.py --cursor place.json --out events.jsonl

The file of `--cursor` keeps the place. Killed at any moment and started again, the program goes on from there. With
`--out` each event is in that file once. Without it the lines go to standard output, and a page of events comes
twice if the program dies after it wrote them and before it kept the place. Either way, events of the last minutes
come again after Deed's log itself lost something: tell them by their ids. One place is for one program at a time.
"""

import argparse
import json
import os
import random
import re
import sys
import time
import urllib.parse
from http.client import HTTPConnection, HTTPException, HTTPSConnection

WAIT = 30  # seconds for which Deed may hold an empty answer back
LONGEST_PAUSE = 10  # seconds between two tries


class Stop(Exception):
    """What no repetition mends, in a sentence for people."""


class Lost(Exception):
    """The log lost events that the cursor had seen; the argument is the cursor that misses nothing that counts."""


def say(sentence):
    print(sentence, file=sys.stderr, flush=True)


class Place:
    """How far the log was read, which events the last page had, and how long the output was then."""

    def __init__(self, path):
        self.path = path
        self.cursor, self.ids, self.length = None, [], None
        try:
            with open(path, encoding="utf-8") as file:
                kept = json.load(file)
            self.cursor, self.ids, self.length = kept["cursor"], kept["ids"], kept["length"]
        except FileNotFoundError:
            pass
        except (ValueError, KeyError, TypeError):
            raise Stop(f"{path} is no file of this program; name another one with --cursor")

    def keep(self):
        """The file holds the old place or the new one, whenever the program or the machine stops."""
        aside = self.path + ".new"
        with open(aside, "w", encoding="utf-8") as file:
            json.dump({"cursor": self.cursor, "ids": self.ids, "length": self.length}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, self.path)
        folder = os.open(os.path.dirname(os.path.abspath(self.path)), os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class StandardOutput:
    """Nothing can be taken back here: what was written before the place was kept is written again."""

    def __init__(self, place):
        if place.length is not None:
            raise Stop(f"{place.path} is the place of a file; name that file with --out")

    def write(self, lines):
        sys.stdout.buffer.write(lines)
        sys.stdout.buffer.flush()


class OutputFile:
    """What was written after the place was kept is cut off at the start, and then written again."""

    def __init__(self, path, place):
        self.place = place
        self.file = open(path, "ab")
        size = os.fstat(self.file.fileno()).st_size
        if place.length is None:
            if place.cursor:
                raise Stop(f"{place.path} is the place of standard output; name a new file with --cursor")
            if size > 0:
                raise Stop(f"{path} holds something that {place.path} does not know of; name a new file with --out")
            place.length = 0
        if size < place.length:
            raise Stop(f"{path} has {size} bytes, and {place.length} were written: it was cut, or it is another file")
        self.file.truncate(place.length)

    def write(self, lines):
        self.file.write(lines)
        self.file.flush()
        os.fsync(self.file.fileno())
        self.place.length += len(lines)


class Feed:
    """Asks for pages over one connection that is kept open, until each is answered."""

    def __init__(self, url, key, query):
        self.url = urllib.parse.urlsplit(url)
        self.key, self.query = key, query
        self.connection = None

    def page(self, cursor, wait):
        query = dict(self.query)
        if cursor:
            query["after"] = cursor
        if wait:
            query["wait"] = wait
        path = f"{self.url.path.rstrip('/')}/v1/events?{urllib.parse.urlencode(query)}"
        tries = 0
        while True:
            pause = 0
            try:
                status, headers, text = self.ask(path)
                if status == 200:
                    page = json.loads(text)
                    if tries > 0:
                        say("Deed answers again.")
                    return page["events"], page["next"], page["more"]
                trouble = self.trouble(status, text)
                after = headers.get("Retry-After", "")
                pause = int(after) if after.isascii() and after.isdigit() else 0
            except (OSError, HTTPException) as error:
                self.close()
                trouble = f"Deed cannot be reached ({error or type(error).__name__})"
            except (ValueError, KeyError, TypeError):
                self.close()
                trouble = "the answer is not Deed's"
            if tries == 0:
                say(f"{trouble}; it is tried until it works.")
            backoff = min(LONGEST_PAUSE, 0.25 * 2 ** min(tries, 10)) * random.uniform(0.5, 1)
            time.sleep(max(pause, backoff))
            tries += 1

    def ask(self, path):
        if self.connection is None:
            connect = HTTPSConnection if self.url.scheme == "https" else HTTPConnection
            self.connection = connect(self.url.netloc, timeout=WAIT + 30)
        self.connection.request("GET", path, headers={"Authorization": f"Bearer {self.key}"})
        answer = self.connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def trouble(self, status, text):
        """What the next try may find mended, in words; anything else is raised."""
        try:
            problem = json.loads(text)
            code, detail = problem.get("code"), problem.get("detail")
        except (ValueError, AttributeError):
            problem, code, detail = {}, None, None
        if status == 409 and code == "cursor_lost":
            raise Lost(problem["restart"])
        words = f"Deed answers {status}" + (f" {code}: {detail}" if code else "")
        if status in (408, 429) or status >= 500:
            return words
        raise Stop(words)

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None


def line(event):
    return json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def follow(feed, place, output, once):
    while True:
        asked = time.monotonic()
        try:
            events, cursor, more = feed.page(place.cursor, 0 if once else WAIT)
        except Lost as lost:
            say("Deed's log lost events that were read here, and an operator accepted that; going on from where it counts.")
            place.cursor = lost.args[0]
            place.keep()
            continue
        known = set(place.ids)
        # First the effects of the page, then the place behind it.
        if events:
            output.write(b"".join(line(event) for event in events if event["id"] not in known))
            place.ids = [event["id"] for event in events]
        if events or cursor != place.cursor:
            place.cursor = cursor
            place.keep()
        if more:
            continue
        if once:
            return
        # Deed holds back a bounded number of calls, and answers the others at once.
        if not events and time.monotonic() - asked < 1:
            time.sleep(1)


def main():
    parser = argparse.ArgumentParser(description="Writes a line of JSON for each event of Deed's feed.")
    parser.add_argument("--cursor", required=True, metavar="FILE", help="keeps the place in the log")
    parser.add_argument("--out", metavar="FILE", help="where the lines go; else to standard output")
    parser.add_argument("--url", default=os.environ.get("DEED_URL", "http://127.0.0.1:8080"))
    parser.add_argument("--environment", default="production", choices=["production", "sandbox"])
    parser.add_argument("--types", help="like purchase.made,subscription.*,entitlement.ended; else all")
    parser.add_argument("--once", action="store_true", help="stop at the end of the log")
    options = parser.parse_args()
    if not re.fullmatch(r"https?://([^/?#@:\s]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?(/[^?#\s]*)?", options.url):
        raise Stop("--url must be where Deed serves, like http://127.0.0.1:8080")
    key = os.environ.get("DEED_KEY", "").strip()
    if not key:
        raise Stop("DEED_KEY is missing; make one with: deed key create --role reader")
    if not re.fullmatch(r"deed_[!-~]+", key):
        raise Stop("DEED_KEY is not a key of Deed, which begins with deed_")
    query = {"environment": options.environment, "limit": 1000}
    if options.types:
        query["types"] = options.types
    place = Place(options.cursor)
    output = OutputFile(options.out, place) if options.out else StandardOutput(place)
    place.keep()  # before anything is written, so that a folder that cannot be written to is told now
    follow(Feed(options.url, key, query), place, output, options.once)


if __name__ == "__main__":
    try:
        main()
    except Stop as stop:
        sys.exit(str(stop))
    except BrokenPipeError:
        # The reader of the lines has gone; Python would complain once more when it closes the output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit("the lines are read no more")
    except OSError as error:
        sys.exit(f"{error.filename or 'the output'}: {error.strerror}")
    except KeyboardInterrupt:
        sys.exit(130)
