"""Pages of the C++ interface, one for each public header by room, from Doxygen's output; pages of the Python package."""
import ast
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import rooms

CPP_INDEX = """\
A *room* is a folder of public headers; ``#include <heddle/heddle.hpp>`` takes all of them. Each header says what an
operation computes, what it needs, what it throws, whether it blocks, what it promises about its last digits, and what it
costs.

.. list-table::
   :header-rows: 1
   :widths: 18 82

   * - room
     - content
"""
KINDS = {"class", "struct", "concept"}
PYTHON = {"_products": "Products and transposes", "_solve": "Factorizations and linear systems", "_expm": "Exponentials",
          "_eigen": "Eigenvalues", "exact": "Exact sums and products", "_tdse": "Wave functions in time",
          "_search": "Meshes and equal keys", "_distributed": "Matrices over ranks", "__init__": "The process"}
MEMBERS = "   :members:\n   :undoc-members:\n   :exclude-members: __init__\n"  # Options of classes of Python.
WITH = {"_gradients": "_expm", "_frechet": "_expm", "_phi": "_expm"}  # Modules that share the page of another.


def headers(root):
    """Return {room: public headers, relative to include}."""
    found = {}
    for path in sorted((root / "include/heddle").glob("*/*.hpp")):
        # Headers that only include the one that has taken their place have no page.
        if re.search(r"^(namespace|#define)", path.read_text(encoding="utf-8"), re.MULTILINE):
            found.setdefault(path.parent.name, []).append(str(path.relative_to(root / "include")))
    return found


def page_of_header(header):
    return f"cpp/{header.removeprefix('heddle/').removesuffix('.hpp')}.rst"


def pages(root):
    """Return {file or folder of the repository: page of the site}."""
    found = {"include/heddle": "cpp/index.rst", "include": "cpp/index.rst", "python/heddle": "python/index.rst",
             "include/heddle/heddle.hpp": "cpp/index.rst"}
    for room, of_room in headers(root).items():
        found[f"include/heddle/{room}"] = f"cpp/{room}/index.rst"
        found.update({f"include/{header}": page_of_header(header) for header in of_room})
    for name in ("c", "c/heddle.h", "c/heddle.f90"):
        found[f"include/heddle/{name}"] = "cpp/c/index.rst"
    return found


def heading(text, line):
    return f"{text}\n{line * len(text)}\n\n"


def plain(text):
    """Return text as reStructuredText takes it, with `code` as code."""
    text = re.sub(r"([\\*_|])", r"\\\1", text)
    return re.sub(r"`([^`]*)`", lambda match: f"``{match[1]}``".replace("\\", ""), text)


def toctree(names, *options):
    lines = [".. toctree::", *(f"   :{option}:" for option in options), "", *(f"   {name}" for name in names), ""]
    return "\n".join(lines)


def opening(path):
    """Return the comment that opens a header."""
    lines = path.read_text(encoding="utf-8").splitlines()
    count = next(number for number, line in enumerate(lines) if not line.startswith("//"))
    return " ".join(line[2:].strip() for line in lines[:count])


def words_of(element):
    """Return the comment of an element as plain text."""
    return "\n\n".join(text.strip() for tag in ("briefdescription", "detaileddescription")
                       for text in element.find(tag).itertext() if text.strip())


def things(xml):
    """Return {header: [(line, kind, qualified name, arguments or declaration and comment)]} by line, and Doxygen's names of
    headers."""
    found, labels = {}, {}

    def add(element, kind, name, more):
        location = element.find("location")
        found.setdefault(location.get("file"), []).append((int(location.get("line")), kind, name, more))

    for path in sorted(xml.glob("*.xml")):
        for compound in ElementTree.parse(path).getroot().findall("compounddef"):
            kind, name = compound.get("kind"), compound.findtext("compoundname")
            if kind == "file":
                labels[compound.find("location").get("file")] = compound.get("id")
            elif kind == "concept":
                add(compound, kind, name, (compound.findtext("initializer"), words_of(compound)))
            elif kind in KINDS:
                add(compound, kind, name, "")
            elif kind == "namespace":
                for member in compound.iter("memberdef"):
                    arguments = member.findtext("argsstring") if member.get("kind") == "function" else ""
                    add(member, member.get("kind"), f"{name}::{member.findtext('name')}", arguments)
    # Classes within classes are shown with these, specializations with their template.
    classes = {name for entries in found.values() for _, kind, name, _ in entries if kind in KINDS}
    return {file: sorted((entry for entry in entries
                          if entry[2].rpartition("::")[0] not in classes and "<" not in entry[2]), key=lambda one: one[0])
            for file, entries in found.items()}, labels


def split(xml, folder):
    """Split Doxygen's output into projects of Breathe, which goes through a whole project for each name that it looks up:
    the members of namespaces, and the classes of each room, without members that need no words."""
    index = ElementTree.parse(xml / "index.xml").getroot()
    projects = {}
    for compound in index.findall("compound"):
        name = f"{compound.get('refid')}.xml"
        if compound.get("kind") == "namespace":
            projects.setdefault("members", []).append((compound, name))
        elif compound.get("kind") in ("class", "struct"):
            file = ElementTree.parse(xml / name).find("compounddef/location").get("file")
            projects.setdefault(Path(file).parent.name, []).append((compound, name))
    for project, compounds in projects.items():
        (folder / project).mkdir(parents=True)
        part = ElementTree.Element(index.tag, index.attrib)
        part.extend(compound for compound, _ in compounds)
        ElementTree.ElementTree(part).write(folder / project / "index.xml", encoding="utf-8", xml_declaration=True)
        for _, name in compounds:
            tree = ElementTree.parse(xml / name)
            for section in tree.iter("sectiondef"):
                for member in [member for member in section.findall("memberdef") if plain_member(member)]:
                    section.remove(member)
            tree.write(folder / project / name, encoding="utf-8", xml_declaration=True)


def plain_member(member):
    """Return whether a member is a destructor, an assignment or a deleted function without a comment."""
    name, arguments = member.findtext("name"), member.findtext("argsstring") or ""
    return not words_of(member) and (name.startswith("~") or name == "operator=" or arguments.endswith("=delete"))


def short(kind, name):
    return name.rpartition("::")[2] + ("()" if kind == "function" else "")


def directive(room, kind, name, more):
    if kind == "concept":
        text, words = more
        head = re.sub(r"\s+", " ", text).partition(" concept ")[0].replace("class ", "typename ")
        return f".. cpp:concept:: {head} {name}\n\n   {plain(words)}\n\n"
    options = f"   :project: {room}\n   :members:\n   :undoc-members:\n" if kind in KINDS else "   :project: members\n"
    return f".. doxygen{kind}:: {name}{more if isinstance(more, str) else ''}\n{options}\n"


def header_page(root, header, entries, label):
    text = f".. _{label}:\n\n" + heading(header.removeprefix("heddle/"), "=")
    text += f"{plain(opening(root / 'include' / header))}\n\n.. code-block:: cpp\n\n   #include <{header}>\n\n"
    spaces = dict.fromkeys(name.rpartition("::")[0] for _, _, name, _ in entries)
    text += f"Namespace {', '.join(f'``{space}``' for space in spaces)}.\n\n"
    last = None
    for _, kind, name, more in entries:
        if short(kind, name) != last:
            last = short(kind, name)
            text += heading(plain(last), "-")
        text += directive(Path(header).parent.name, kind, name, more)
    return text


def room_page(root, room, about, of_room, entries):
    text = heading(room, "=") + f"{plain(about)}\n\n"
    for header in of_room:
        names = list(dict.fromkeys((short(kind, name), name) for _, kind, name, _ in entries.get(header, [])))
        page = page_of_header(header).removesuffix(".rst")
        text += f":doc:`/{page}`\n   {plain(opening(root / 'include' / header))}\n\n"
        text += "   " + ", ".join(f":cpp:any:`{one} <{name}>`" for one, name in names) + "\n\n"
    return text + toctree([f"/{page_of_header(header)}" for header in of_room], "hidden")


def c_page(about):
    text = heading("c", "=") + f"{plain(about)}\n\n"
    for name, language in (("heddle.h", "c"), ("heddle.f90", "fortran")):
        text += heading(name, "-") + f".. literalinclude:: {name}\n   :language: {language}\n\n"
    return text


def cpp_texts(root, xml):
    entries, labels = things(xml)
    of_rooms = headers(root)
    pages = {page: (root / page).read_text(encoding="utf-8") for page in rooms.PAGES}
    about = {rooms.one_name(place, cells[0]): cells[1] for place, cells in rooms.rows_of(pages, rooms.COLUMNS)["rooms"]}
    shown = [room for room in about if room in of_rooms or room == "c"]
    index = heading("C++ by room", "=") + CPP_INDEX
    for room in shown:
        index += f"   * - :doc:`/cpp/{room}/index`\n     - {plain(about[room])}\n"
    yield "cpp/index.rst", index + "\n" + toctree([f"/cpp/{room}/index" for room in shown], "hidden")
    for room in shown:
        if room == "c":
            yield "cpp/c/index.rst", c_page(about[room])
            for name in ("heddle.h", "heddle.f90"):
                yield f"cpp/c/{name}", (root / "include/heddle/c" / name).read_text(encoding="utf-8")
            continue
        yield f"cpp/{room}/index.rst", room_page(root, room, about[room], of_rooms[room], entries)
        for header in of_rooms[room]:
            yield page_of_header(header), header_page(root, header, entries.get(header, []), labels[header])


def python_names(root):
    """Return {module: public names}, in the order of docs: those that heddle imports, and those of heddle.exact."""
    package = root / "python/heddle"
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    public = next(ast.literal_eval(node.value) for node in tree.body
                  if isinstance(node, ast.Assign) and node.targets[0].id == "__all__")
    found = {module: [] for module in PYTHON}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [alias.name for alias in node.names if alias.name in public]
            if names:
                found.setdefault(WITH.get(node.module, node.module), []).extend(f"heddle.{name}" for name in names)
    found["exact"] = [f"heddle.exact.{name}" for name in exact_names(package / "exact.py")]
    left = set(public) - {name.removeprefix("heddle.") for names in found.values() for name in names} - {"exact"}
    found["__init__"] = [f"heddle.{name}" for name in sorted(left)]
    return found


def exact_names(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return next(ast.literal_eval(node.value) for node in tree.body
                if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__")


def python_texts(root):
    index = heading("Python by subject", "=")
    index += ".. automodule:: heddle\n   :no-members:\n\nThe :doc:`guide </guide-python>` shows the use of all names.\n\n"
    names = []
    for module, of_module in python_names(root).items():
        name = module.strip("_")
        title = PYTHON.get(module, name.capitalize())
        functions = sorted((one for one in of_module if not one.rpartition(".")[2][0].isupper()), key=str.lower)
        classes = sorted(one for one in of_module if one not in functions)
        index += f":doc:`/python/{name}`\n   " + ", ".join(f":py:obj:`~{one}`" for one in functions + classes) + "\n\n"
        text = heading(title, "=") + (".. automodule:: heddle.exact\n   :no-members:\n\n" if module == "exact" else "")
        text += ".. autosummary::\n   :nosignatures:\n\n" + "".join(f"   {one}\n" for one in functions + classes) + "\n"
        for one in functions + classes:
            text += heading(plain(one), "-")
            text += f".. autofunction:: {one}\n\n" if one in functions else f".. autoclass:: {one}\n{MEMBERS}\n"
        yield f"python/{name}.rst", text
        names.append(f"/python/{name}")
    yield "python/index.rst", index + toctree(names, "hidden")


def texts(root, xml):
    """Return [(page of the site, its text)]."""
    return [*cpp_texts(root, Path(xml)), *python_texts(root)]
