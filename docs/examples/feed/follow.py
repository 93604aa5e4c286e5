#!/usr/bin/env python3
"""Follows Deed's feed, and writes one line of JSON for each event. It needs only Python (3.9 or newer).

    DEED_KEY=deed_reader_... python3 follow.py --cursor place.json --out events.jsonl

The `--cursor` file stores the position in the log, from which the program continues after it was killed at any moment.
With `--out`, that file contains each event once. Without it, the lines go to standard output, and a page of events is
repeated if the program dies between writing the page and storing the position. In both cases, events of the last few
minutes come again after Deed's log lost events: recognize them by their ids. Only one program at a time may use a
`--cursor` file.
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

WAIT = 30  # seconds for which Deed may delay an empty answer
LONGEST_PAUSE = 10  # seconds between two attempts


class Stop(Exception):
    """An error that a retry cannot resolve, as a sentence for people."""


class Lost(Exception):
    """The log lost events before the cursor; the argument is a cursor that misses no remaining event."""


def say(sentence):
    print(sentence, file=sys.stderr, flush=True)


class Place:
    """The cursor, the ids of the last page's events, and the length of the output after that page."""

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
            raise Stop(f"{path} is no file of this program; name another file with --cursor")

    def keep(self):
        """Replaces the file in one step, so that it is complete even if the program or the machine stops."""
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
    """Standard output, which cannot be taken back: lines written since the last stored position are repeated."""

    def __init__(self, place):
        if place.length is not None:
            raise Stop(f"{place.path} belongs to an output file; name that file with --out")

    def write(self, lines):
        sys.stdout.buffer.write(lines)
        sys.stdout.buffer.flush()


class OutputFile:
    """An output file. At the start, the program cuts off lines written since the last stored position, and writes them again."""

    def __init__(self, path, place):
        self.place = place
        self.file = open(path, "ab")
        size = os.fstat(self.file.fileno()).st_size
        if place.length is None:
            if place.cursor:
                raise Stop(f"{place.path} belongs to standard output; name a new file with --cursor")
            if size > 0:
                raise Stop(f"{path} has content that {place.path} does not know of; name a new file with --out")
            place.length = 0
        if size < place.length:
            raise Stop(f"{path} has {size} bytes instead of {place.length}: it was cut, or it is another file")
        self.file.truncate(place.length)

    def write(self, lines):
        self.file.write(lines)
        self.file.flush()
        os.fsync(self.file.fileno())
        self.place.length += len(lines)


class Feed:
    """Requests pages over one open connection, and repeats each request until it is answered."""

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
                trouble = "the answer is not from Deed"
            if tries == 0:
                say(f"{trouble}; retrying.")
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
        """Describes a problem that a retry may resolve; raises any other."""
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
            say("Deed's log lost events that this program has read, and an operator accepted the loss; continuing with the cursor from Deed.")
            place.cursor = lost.args[0]
            place.keep()
            continue
        known = set(place.ids)
        # Write the page first, then store the cursor after it.
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
        # Deed delays only a limited number of calls, and answers others immediately.
        if not events and time.monotonic() - asked < 1:
            time.sleep(1)


def main():
    parser = argparse.ArgumentParser(description="Writes a line of JSON for each event of Deed's feed.")
    parser.add_argument("--cursor", required=True, metavar="FILE", help="stores the position in the log")
    parser.add_argument("--out", metavar="FILE", help="the output; the default is standard output")
    parser.add_argument("--url", default=os.environ.get("DEED_URL", "http://127.0.0.1:8080"))
    parser.add_argument("--environment", default="production", choices=["production", "sandbox"])
    parser.add_argument("--types", help="such as purchase.made,subscription.*,entitlement.ended; the default is all")
    parser.add_argument("--once", action="store_true", help="stop at the end of the log")
    options = parser.parse_args()
    if not re.fullmatch(r"https?://([^/?#@:\s]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?(/[^?#\s]*)?", options.url):
        raise Stop("--url must be Deed's address, such as http://127.0.0.1:8080")
    key = os.environ.get("DEED_KEY", "").strip()
    if not key:
        raise Stop("DEED_KEY is missing; create a key with: deed key create --role reader")
    if not re.fullmatch(r"deed_[!-~]+", key):
        raise Stop("DEED_KEY is not a key of Deed, which begins with deed_")
    query = {"environment": options.environment, "limit": 1000}
    if options.types:
        query["types"] = options.types
    place = Place(options.cursor)
    output = OutputFile(options.out, place) if options.out else StandardOutput(place)
    place.keep()  # reports an unwritable folder before the first page is read
    follow(Feed(options.url, key, query), place, output, options.once)


if __name__ == "__main__":
    try:
        main()
    except Stop as stop:
        sys.exit(str(stop))
    except BrokenPipeError:
        # The reader of the lines has exited; without this, Python would report it again when it closes the output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit("the reader of the lines has exited")
    except OSError as error:
        sys.exit(f"{error.filename or 'the output'}: {error.strerror}")
    except KeyboardInterrupt:
        sys.exit(130)
