"""Reads the types of events that calls show, and the example of each, from docs/events.md."""
import pathlib
import re

PAGE = "docs/events.md"


def shown():
    """The example of each type, in the order of the page."""
    text = (pathlib.Path(__file__).resolve().parent.parent / PAGE).read_text(encoding="utf-8")
    sections = re.findall(
        r"\n### ([a-z]+\.[a-z_]+)\n((?:(?!\n##).)*?)```json\n(.*?)\n```",
        text.split("\n## What the feed leaves out\n")[0], re.DOTALL)
    return {name: example for name, _, example in sections}
