"""Settings of Sphinx for the site; ci/docs gives the version and the folder of Doxygen's output."""
import os
import sys
from pathlib import Path

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.domains.cpp import ASTDeclaration, CPPDomain
from sphinx.util import logging

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "python"))

project = "Heddle"
author = "The Heddle developers"
copyright = author
version = release = os.environ["HEDDLE_VERSION"]
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon",
              "sphinx_copybutton"]

# Markdown as code hosts show it, with their anchors of headings and $formulas$.
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]
myst_dmath_allow_digits = False
myst_dmath_allow_space = False

breathe_projects = {path.name: str(path) for path in Path(os.environ["HEDDLE_BREATHE"]).iterdir()}
breathe_show_include = False

# The compiled module does not exist where the site is built.
autodoc_mock_imports = ["heddle._core"]
autodoc_member_order = "bysource"
autodoc_class_signature = "separated"
autodoc_typehints = "none"
autosummary_generate = False
napoleon_google_docstring = False
napoleon_use_rtype = False
python_use_unqualified_type_names = True
toc_object_entries = False

# Names of other projects, namespaces, and parameters of templates have no page. Types in docstrings are sentences.
nitpick_ignore_regex = [
    ("cpp:identifier", r"(std|Kokkos|MPI_\w+|[a-z]\w*)(::.*)?|heddle(::[a-z]\w*)*|\w+<\w+>::\w+|\w+::memory_space"),
    ("cpp:identifier", r"Apply|HostMesh|Implementation|Progress|State|Transfer|Values"),
    ("py:class", r".*"),
    ("py:exc", r"numpy\..*"),
]

html_theme = "furo"
html_title = f"Heddle {version}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = False
html_last_updated_fmt = None
pygments_style = "tango"
pygments_dark_style = "monokai"
copybutton_selector = "div:not(.highlight-text) > div.highlight pre"  # commands and programs, not their output
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
html_math_renderer = "mathml"


def kept(compute):
    """Return a method without arguments that computes its result once for each object."""

    def method(self):
        if "_kept" not in self.__dict__:
            self._kept = compute(self)
        return self._kept

    return method


# Sphinx computes the name of each declaration anew for each link.
ASTDeclaration.get_newest_id = kept(ASTDeclaration.get_newest_id)


class Searched(CPPDomain):
    """C++ without parameters of functions and templates, which would fill the results of a search."""

    def get_objects(self):
        return (found for found in super().get_objects() if not found[2].endswith("Param"))


def formula(translator, node):
    """Write a formula as MathML, which browsers show without a script or a network."""
    code, block = node.astext(), isinstance(node, nodes.math_block)
    try:
        markup = latex2mathml.tex2mathml(code, inline=not block)
    except SyntaxError as error:
        logging.getLogger(__name__).warning("the formula %s: %s", code, error, location=node)
    else:
        translator.body.append(f'<div class="math">{markup}</div>\n' if block else markup)
    raise nodes.SkipNode


def escape(app, what, name, thing, options, lines):
    """Keep the bars of |x| in docstrings, which reStructuredText would take for names of substitutions."""
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else line.replace("|", "\\|") for line in lines]


def setup(app):
    app.add_domain(Searched, override=True)
    app.connect("autodoc-process-docstring", escape)
    app.add_html_math_renderer("mathml", inline_renderers=(formula, None), block_renderers=(formula, None))
