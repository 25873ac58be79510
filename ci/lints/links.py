#!/usr/bin/env python3
"""Fails where a link of a document leads nowhere: a file that is not in the repository, a heading that is not there.

    ci/lints/links.py [ROOT]        checks every *.md that git knows under ROOT, by default this repository
    ci/lints/links.py --self-test   checks that the lint sees planted mistakes

Links and pictures of Markdown ([text](where), [text]: where) and of HTML (href, src) are followed within the
repository; addresses with a scheme are not. Code is left out. Without git every file that lies there counts.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

import command

INLINE = re.compile(r"\]\(\s*<?([^()\s<>]*(?:\([^()\s]*\)[^()\s<>]*)*)>?(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)")
DEFINED = re.compile(r"^ {0,3}\[[^\]]+\]:\s*<?([^\s>]+)>?", re.MULTILINE)
OF_HTML = re.compile(r"<[a-zA-Z][^>]*?\b(?:href|src)\s*=\s*[\"']([^\"']*)[\"']")
ANCHOR_OF_HTML = re.compile(r"<[a-zA-Z][^>]*?\b(?:id|name)\s*=\s*[\"']([^\"']*)[\"']")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*\s*$|\Z)", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$|^([^\s>#\-*+`|][^\n]*)\n {0,3}(?:=+|-+)[ \t]*$", re.MULTILINE)
SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*:|//")


def blank(match):
    """Return spaces in place of code, so that lines keep their numbers."""
    return re.sub(r"[^\n]", " ", match[0])


def anchors_of(text):
    """Return GitHub's anchors of the headings of a document, and the anchors of its HTML."""
    text = FENCE.sub(blank, text)
    found = set(ANCHOR_OF_HTML.findall(CODE.sub(blank, text)))
    seen = {}
    for match in HEADING.finditer(text):
        words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", match[1] if match[1] is not None else match[2])
        words = re.sub(r"<[^>]*>", "", words)
        name = re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")
        count = seen.get(name, 0)
        seen[name] = count + 1
        found.add(name if count == 0 else f"{name}-{count}")
    return found


def files_of(root):
    """Every file that git has, or would have if it were added; else every file."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached"], capture_output=True, check=False)
    if listed.returncode == 0:
        return {name for name in listed.stdout.decode().split("\0") if name}
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def check(root):
    """Return the broken links, and the number of links followed."""
    root = Path(root).resolve()
    files = files_of(root)
    folders = {str(parent) for name in files for parent in Path(name).parents}
    findings = []
    links = 0
    for name in sorted(name for name in files if name.endswith(".md") and (root / name).is_file()):
        whole = (root / name).read_text(encoding="utf-8")
        text = CODE.sub(blank, FENCE.sub(blank, whole))
        for match in sorted((m for pattern in (INLINE, DEFINED, OF_HTML) for m in pattern.finditer(text)),
                            key=lambda m: m.start(1)):
            link = match[1]
            if SCHEME.match(link):
                continue
            links += 1
            place = f"{name}:{text.count(chr(10), 0, match.start(1)) + 1}: {link}"
            path, _, anchor = link.partition("#")
            path = unquote(path.partition("?")[0])
            target = name
            if path:
                absolute = root / path.lstrip("/") if path.startswith("/") else (root / name).parent / path
                try:
                    target = str(Path(str(absolute)).resolve().relative_to(root))
                except ValueError:
                    findings.append(f"{place}: leads out of the repository")
                    continue
            if target in folders and target not in files and not anchor:
                continue
            if target not in files or not (root / target).is_file():
                findings.append(f"{place}: git has no such file")
            elif anchor and target.endswith(".md"):
                if unquote(anchor) not in anchors_of((root / target).read_text(encoding="utf-8")):
                    findings.append(f"{place}: {target} has no such heading")
            elif anchor and not re.fullmatch(r"L\d+(-L\d+)?", anchor):
                findings.append(f"{place}: {target} is no document with headings")
    return findings, links


def self_test():
    """A document that is right, then one link at a time that is not."""
    right = ("# A *heading*, with `code`!\n\nTwice\n-----\n\n## Twice\n\n[a](other.md) ![b](folder/picture.png \"title\")\n"
             "[c](folder) [d](#a-heading-with-code) [e](other.md#there) [f](#twice-1) <a href=\"other.md\">g</a>\n"
             "[h]: folder/picture.png\n[i](https://example.org/none) `[j](none.md)`\n```\n[k](none.md)\n```\n"
             "[l](folder/with%20blank.txt) [m](/other.md) [n](folder/picture.png#L3)\n")
    wrong_links = ["[a](none.md)", "![b](folder/none.png)", "![b](folder/untracked.png)", "[c](nowhere/)", "[d](#none)",
                   "[e](other.md#none)", "[f](../outside.md)", "<img src='none.png'>", "[g]: none.md", "[h](#twice-2)",
                   "[i](folder/picture.png#part)", "[![j](none.png)](other.md)"]
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "repository"
        (root / "folder").mkdir(parents=True)
        (root / "other.md").write_text("# There\n", encoding="utf-8")
        for name in ("picture.png", "with blank.txt"):
            (root / "folder" / name).touch()
        document = root / "document.md"
        document.write_text(right, encoding="utf-8")
        subprocess.run(["git", "init", "--quiet", str(root)], check=True)
        subprocess.run(["git", "-C", str(root), "add", "."], check=True)
        (root / "folder" / "untracked.png").touch()
        findings, links = check(root)
        wrong += [f"refused: {line}" for line in findings]
        if links != 11:
            wrong.append(f"{links} links were followed of 11")
        for link in wrong_links:
            document.write_text(f"{right}\n{link}\n", encoding="utf-8")
            if len(check(root)[0]) != 1:
                wrong.append(f"let through: {link}")
    for line in wrong:
        print(line)
    print(f"links --self-test: {1 + len(wrong_links)} cases, {len(wrong)} wrong")
    return 1 if wrong else 0


def lint(root):
    findings, links = check(root)
    return findings, f"links: {links} links, {len(findings)} that lead nowhere"


if __name__ == "__main__":
    sys.exit(command.run(__doc__, self_test, lint))
