#!/usr/bin/env python3
"""Tests scripts/rows.py: how rows are joined, and the messages about faulty files.

usage: scripts/rows_test.py

DocumentTests also runs it.
"""
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import rows

PAGE = """order: requests, notes

# Errors

All of them.

## The request

| status | code | when |
|---|---|---|

## The rules

| status | code | when |
|---|---|---|

The end.
"""
REQUESTS = "## The request\n\n| 400 | `wrong` | it is wrong |\n"
NOTES = "## The rules\n\n| 404 | `note_unknown` | it is unknown |\n| 409 | `too_many_notes` | too many |\n"


def make(**files):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, text in {"page": PAGE, "requests": REQUESTS, "notes": NOTES, **files}.items():
            (folder / f"{file}.txt").write_text(text, encoding="utf-8")
        return rows.Page(folder, "docs/errors").make()


class Joining(unittest.TestCase):
    def refused(self, message, **files):
        with self.assertRaises(rows.Wrong) as caught:
            make(**files)
        self.assertEqual(str(caught.exception), message)

    def test_order(self):
        page = make(apps="## The rules\n\n| 404 | `app_unknown` | like `note_unknown` |\n| 409 | `app_taken` | taken |\n")
        self.assertEqual(page, PAGE.removeprefix("order: requests, notes\n\n").replace(
            "# Errors\n", "# Errors\n\n<!-- Made by scripts/api-page from docs/errors: edit that. -->\n", 1).replace(
            "|---|---|---|\n\n## The rules", "|---|---|---|\n| 400 | `wrong` | it is wrong |\n\n## The rules").replace(
            "|---|---|---|\n\nThe end.", "|---|---|---|\n| 404 | `note_unknown`, `app_unknown` | it is unknown |\n"
            "| 409 | `too_many_notes` | too many |\n| 409 | `app_taken` | taken |\n\nThe end."))

    def test_cells(self):
        self.assertIn("| 400 | `a \\| b` | |\n", make(requests="## The request\n\n| 400 | `a \\| b` | |\n"))
        self.refused("docs/errors/requests.txt: line 2: the row has 2 cells instead of 3.",
                     requests="## The request\n| 400 | `wrong` |\n")

    def test_places(self):
        self.refused('docs/errors/notes.txt: line 1: page.txt has no table below "no heading"; its headings are '
                     '"## The request", "## The rules".', notes="| 400 | `a` | b |\n")
        self.refused("docs/errors/notes.txt: line 1: this is neither a row (| … |) nor a heading (## …).", notes="Notes:\n")

    def test_likeness(self):
        self.refused("docs/errors/notes.txt: line 2: below this heading, no row with 404 has the code `app_unknown`.",
                     notes="## The rules\n| 404 | `note_unknown` | like `app_unknown` |\n")
        self.refused("docs/errors/apps.txt: line 2: below this heading, no row with 400 has the code `note_unknown`.",
                     apps="## The rules\n| 400 | `app_unknown` | like `note_unknown` |\n")

    def test_named_files(self):
        self.refused("docs/errors/page.txt: the order names apps, and there is no apps.txt.",
                     page=PAGE.replace("requests, notes", "requests, apps"))


if __name__ == "__main__":
    unittest.main()
