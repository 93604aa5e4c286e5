"""Joins the rows of each feature into a page of tables: docs/errors/*.txt into docs/errors.md, docs/limits/*.txt into
docs/limits.md.

- page.txt is the page without its rows, which follow the head of each table. Its first paragraph, "order: …", names
  features in the order of the page. All others follow by name, so a new feature need not be named.
- Every other file is a feature. Its rows stand below the heading of their section, if the page has sections.
- A row that ends with "like `code`" adds its codes to the row of that code, in any feature.
"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["docs/errors", "docs/limits"]
HEAD = re.compile(r"\|(---\|)+")
LIKE = re.compile(r"like `(\w+)`")


class Wrong(Exception):
    """A mistake in a file, as a sentence that begins with its place."""


class Page:
    def __init__(self, folder, name):
        self.folder = folder
        self.name = name
        # The rows of each section, as lists of cells.
        self.sections = {}
        self.likes = []

    def features(self, order):
        files = {path.stem: path for path in self.folder.glob("*.txt") if path.stem != "page"}
        for feature in order:
            if feature not in files:
                raise Wrong(f"{self.name}/page.txt: the order names {feature}, and there is no {feature}.txt.")
        return [files[feature] for feature in order + sorted(set(files) - set(order))]

    def read(self, path):
        section = None
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            where = f"{self.name}/{path.name}: line {number}"
            if line.startswith("## "):
                section = line
            elif line.startswith("| ") and line.endswith(" |"):
                self.add(where, section, [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
            elif line:
                raise Wrong(f"{where}: this is neither a row (| … |) nor a heading (## …).")

    def add(self, where, section, cells):
        if section not in self.sections:
            names = ", ".join(f'"{one}"' for one in self.sections if one) or "none"
            raise Wrong(f"{where}: page.txt has no table below \"{section or 'no heading'}\"; its headings are {names}.")
        rows, width = self.sections[section]
        if len(cells) != width:
            raise Wrong(f"{where}: the row has {len(cells)} cells instead of {width}.")
        like = LIKE.fullmatch(cells[-1])
        if like:
            self.likes.append((where, section, cells, like[1]))
        else:
            rows.append(cells)

    def join(self):
        for where, section, cells, code in self.likes:
            row = next((row for row in self.sections[section][0] if f"`{code}`" in row[1]), None)
            if row is None or row[0] != cells[0]:
                raise Wrong(f"{where}: below this heading, no row with {cells[0]} has the code `{code}`.")
            row[1] += f", {cells[1]}"

    def make(self):
        first, text = (self.folder / "page.txt").read_text(encoding="utf-8").split("\n\n", 1)
        order = first.removeprefix("order:").replace(",", " ").split()
        lines = text.splitlines()
        section = None
        for line in lines:
            if line.startswith("## "):
                section = line
            if HEAD.fullmatch(line):
                self.sections[section] = ([], line.count("|") - 1)
        for path in self.features(order):
            self.read(path)
        self.join()
        made, section = [], None
        for line in lines:
            made.append(line)
            if line.startswith("# "):
                made += ["", f"<!-- Made by scripts/api-page from {self.name}: edit that. -->"]
            elif line.startswith("## "):
                section = line
            elif HEAD.fullmatch(line):
                made += ["|" + "".join(f" {cell} |" if cell else " |" for cell in cells)
                         for cells in self.sections[section][0]]
        return "\n".join(made) + "\n"


def pages(root=ROOT):
    """Returns the text of each page, by path."""
    return {f"{name}.md": Page(root / name, name).make() for name in PAGES}
