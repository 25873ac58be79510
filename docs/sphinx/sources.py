#!/usr/bin/env python3
"""Writes the sources of the site for Sphinx: the pages of the repository, and pages of its headers, package and examples.

    docs/sphinx/sources.py XML FOLDER BREATHE     XML is Doxygen's output; the sources go to FOLDER, parts of XML to BREATHE

Pages are plain Markdown, written for the repository. On the site their names are short and their links are rewritten: a
link to a page, a header, an example or the Python package leads to its page on the site, and a link to any other file of
the repository becomes plain text. The lists of docs/site/index.md are the navigation; pages that they leave out are below
the page of their folder.
"""
import posixpath
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "ci/lints"))

import gallery
import interface
import links

OUTSIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md", "perf/RESULTS.md": "results.md",
           "perf/results/README.md": "results-files.md"}
FIRST = ("README.md", "docs/README.md", "docs/site")  # The first page of the site stands for them.
BELOW = {"results-files.md": "results.md"}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(\s*<?([^()\s<>]+)>?(?:\s+\"[^\"]*\")?\s*\)")


def markdown_pages():
    """Return {file of the repository: file of the site} of the Markdown pages."""
    found = dict(OUTSIDE)
    for path in sorted((ROOT / "docs").rglob("*.md")):
        file = str(path.relative_to(ROOT))
        name = path.relative_to(ROOT / "docs" / "site" if path.parent.name == "site" else ROOT / "docs")
        if file not in FIRST:
            found[file] = str(name.with_name("index.md") if name.name == "README.md" else name)
    return found


class Site:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.markdown = markdown_pages()
        self.place = {**interface.pages(ROOT), **gallery.pages(ROOT), **self.markdown, "docs/notes": "notes/index.md",
                      **{file: "index.md" for file in FIRST}}
        self.pictures = set()

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def rewritten(self, file, text):
        """Return the text of a page of the repository with links for the site, and note the pictures that it shows."""
        here = self.markdown[file]

        def replacement(match):
            picture, words, (target, _, anchor) = match[1], text[match.start(2):match.end(2)], match[3].partition("#")
            path = posixpath.normpath(posixpath.join(posixpath.dirname(file), target)) if target else file
            if picture:
                self.pictures.add(path)
                return f"![{words}](/{path})"
            if path not in self.place:
                return words
            page = "" if self.place[path] == here and anchor else "../" * here.count("/") + self.place[path]
            return f"[{words}]({page}{'#' + anchor if anchor else ''})"

        parts, end = [], 0
        for match in LINK.finditer(links.CODE.sub(links.blank, links.FENCE.sub(links.blank, text))):
            whole = text[match.start():match.end()]
            parts += [text[end:match.start()], whole if links.SCHEME.match(match[3]) else replacement(match)]
            end = match.end()
        return "".join(parts) + text[end:]

    def contents(self, index):
        """Return [(heading, pages)] of the sections of the first page that list pages."""
        sections = re.split(r"^## (.*)$", index, flags=re.MULTILINE)
        listed = [(heading, [match[3] for match in LINK.finditer(text) if match[3].endswith((".md", ".rst"))])
                  for heading, text in zip(sections[1::2], sections[2::2])]
        return [(heading, list(dict.fromkeys(found))) for heading, found in listed if found]

    def parent(self, page):
        """Return the page that a page without a line on the first page is below."""
        folder = str(Path(page).parent)
        if page in BELOW or folder == ".":
            return BELOW.get(page, "index.md")
        own = f"{folder}/index.md"
        return own if own in self.markdown.values() and page != own else "architecture.md"

    def write_pages(self):
        texts = {page: self.rewritten(file, (ROOT / file).read_text(encoding="utf-8"))
                 for file, page in self.markdown.items()}
        contents = self.contents(texts["index.md"])
        listed = {page for _, pages in contents for page in pages}
        below = {}
        for page in sorted(texts):
            if page not in listed and self.parent(page) != "index.md":
                below.setdefault(self.parent(page), []).append(page)
        below.setdefault("examples.md", []).extend(gallery.order(texts["examples.md"]))
        for heading, pages in contents:
            texts["index.md"] += toctree(pages, heading)
        for page, pages in below.items():
            # Pages in the order of the links to them, then the others.
            first = texts[page]
            named = [posixpath.normpath(str(Path(page).parent / match[3])) for match in LINK.finditer(first)]
            pages.sort(key=lambda one: named.index(one) if one in named else len(named))
            texts[page] += toctree([f"/{one}" for one in pages])
        for page, text in texts.items():
            self.write(page, text)
        # Sphinx names the pages whose pictures are missing.
        for picture in filter(lambda one: (ROOT / one).is_file(), sorted(self.pictures)):
            (self.folder / picture).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / picture).write_bytes((ROOT / picture).read_bytes())


def toctree(pages, caption=None):
    lines = ["", "", "```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), *pages, "```", ""]
    return "\n".join(lines)


def main(xml, folder, breathe):
    site = Site(folder)
    interface.split(Path(xml), Path(breathe))
    for name, text in [*interface.texts(ROOT, Path(xml)), *gallery.texts(ROOT, site)]:
        site.write(name, text)
    site.write_pages()


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
