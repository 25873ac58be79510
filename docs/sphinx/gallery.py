"""Pages of the examples: what docs/site/examples.md says of each, its picture, its source, and how it is built."""
import ast
import re

ROW = re.compile(r"^\| (?:(?:!\[(?P<alt>[^\]]*)\]\((?P<picture>[^)]*)\) )?\| )?\[(?P<title>[^\]]*)\]\((?P<link>[^)]*)\)\.? *"
                 r"(?P<text>.*?) *\|$", re.MULTILINE)


def pages(root):
    """Return {file or folder of the repository: page of the site}."""
    found = {"examples": "examples.md", "python/examples": "examples.md"}
    for path in sorted((root / "examples").glob("*/main.cpp")):
        found[f"examples/{path.parent.name}"] = found[str(path.relative_to(root))] = f"examples/{path.parent.name}.md"
    for path in sorted((root / "python/examples").glob("*.py")):
        found[str(path.relative_to(root))] = f"examples/python-{path.stem}.md"
    return found


def order(gallery):
    """Return the pages of the examples in the order of the page that shows all."""
    return [row["link"] for row in ROW.finditer(gallery)]


def guide(root, quoted):
    """Return a line that links to the first guide with this text, or nothing."""
    for path in sorted((root / "docs/site").glob("guide-*.md")):
        text = path.read_text(encoding="utf-8")
        if quoted in text:
            return f"The guide is [{re.search('^# (.*)$', text, re.MULTILINE)[1]}](../{path.name}).\n\n"
    return ""


def texts(root, site):
    rows = list(ROW.finditer((root / "docs/site/examples.md").read_text(encoding="utf-8")))
    shown = site.rewritten("docs/site/examples.md", "\n".join(row[0] for row in rows))
    for row, rewritten in zip(rows, ROW.finditer(shown)):
        file = str((root / "docs/site" / row["link"]).resolve().relative_to(root))
        source = (root / file).read_text(encoding="utf-8")
        text = f"# {row['title']}\n\n"
        if file.endswith(".py"):
            text += f"{row['text']}\n\n{guide(root, file)}"
            words = ast.get_docstring(ast.parse(source))
            command = words.rpartition("\n\n")[2].strip()
            build = f"With the package installed, run it from its folder; it draws its picture:\n\n```sh\n{command}\n```\n"
            language = "python"
        else:
            folder = file.rpartition("/")[0]
            lists = (root / folder / "CMakeLists.txt").read_text(encoding="utf-8")
            name = re.search(r"add_executable\((\w+)", lists)[1]
            text += f"{row['text']}\n\n{guide(root, source)}"
            build = ("Build and run it against an installed Heddle:\n\n```sh\n"
                     f'cmake -S {folder} -B build/example -DCMAKE_PREFIX_PATH="$HOME/heddle"\n'
                     f"cmake --build build/example\nmpirun -n 2 build/example/{name}\n```\n")
            language = "cpp"
        if row["picture"]:
            text += f"![{row['alt']}]({rewritten['picture']})\n\n*{row['alt']}.*\n\n"
        yield site.place[file], f"{text}## Source\n\n`{file}`:\n\n```{language}\n{source}```\n\n## Run\n\n{build}"
