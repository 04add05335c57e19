"""How Sphinx makes the documentation site. `cargo xtask site` says by variables where things are."""

import os
import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(os.environ["SITE_ROOT"])
package = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]

# The package as it is, and behind all that this environment has what the package imports.
sys.path.insert(0, str(ROOT / "python"))
sys.path.append(os.environ["SITE_PACKAGES"])

owner, name = package["repository"].split("/")[-2:]

project = "zarr"
author = "The authors of zarr"
project_copyright = author
version = release = package["version"]
html_title = "zarr"

extensions = ["myst_parser", "sphinx.ext.autodoc"]
highlight_language = "text"
# It would make one dash of the two before an option.
smartquotes = False
nitpicky = True
# Names of other packages, and types in signatures, some of which are no part of the interface. Names in texts are checked by the other roles.
nitpick_ignore_regex = [("py:.*", r"(dask|xarray|zarr|numpy)\..*"), ("py:class", ".*"), ("py:obj", ".*")]

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 6
# Files of the site that Sphinx does not know: `site:rust/zarr/index.html`, which is the path from the page.
myst_url_schemes = {"http": None, "https": None, "mailto": None, "site": "{{path}}"}

autodoc_member_order = "bysource"
autodoc_type_aliases = {name: name for name in ("StoreLike", "Selection")}
# Arrays, groups and data sets are opened, and not made by their types.
autodoc_class_signature = "separated"
python_maximum_signature_line_length = 88
add_module_names = False

html_theme = "furo"
# Where GitHub Pages has it.
html_baseurl = f"https://{owner}.github.io/{name}/"
html_favicon = str(ROOT / "xtask/site/static/icon.svg")
html_static_path = [str(ROOT / "xtask/site/static")]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_extra_path = [str(ROOT / "docs/json.schema.json")]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "top_of_page_buttons": [],
    "footer_icons": [{"name": "Repository", "url": package["repository"], "html": "Repository", "class": ""}],
}


def plain_names(app, what, name, thing, options, signature, result):
    """Signatures with the names of types that autodoc left as objects of its own."""
    return tuple(text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) for text in (signature, result))


def accessible(app, pagename, templatename, context, doctree):
    """What Sphinx says of lists and captions, as browsers and readers of screens expect it."""
    # A level belongs to each heading.
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')
    # The parameters of a signature with a line for each, which are no definitions of anything.
    if "body" in context:
        lists = re.compile(r"<dl>\n((?:<dd>.*</dd>\n)+)</dl>")
        context["body"] = lists.sub(lambda match: f'<div class="parameters">{match[1].replace("dd>", "div>")}</div>', context["body"])


def setup(app):
    app.connect("autodoc-process-signature", plain_names)
    # Behind the theme, which makes the tree.
    app.connect("html-page-context", accessible, priority=900)
