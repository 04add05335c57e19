"""Checks the links of the built site: check.py SITE ROOT.

Each link of a page leads to a file of the site and to an anchor in it, and each link into the repository to a file that is there. Each page begins
with a heading and a paragraph. Links to other places are not followed. The pages of rustdoc are only led to: rustdoc checks its own.
"""

from __future__ import annotations

import sys
import tomllib
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and the anchors of a page, and the elements that stand behind its first heading."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.begins: list[str] = []
        self._behind_heading = False
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        self.links += [link for name in ("href", "src") if (link := named.get(name)) is not None]
        self.anchors |= {anchor for name in ("id", "name") if (anchor := named.get(name)) is not None}
        if self._behind_heading and len(self.begins) < 1:
            self.begins.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self._behind_heading = self._behind_heading or tag == "h1"


page = cache(Page)


def main() -> None:
    site, root = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    repository = tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["package"]["repository"]
    in_repository = tuple(f"{repository}/{kind}/main/" for kind in ("blob", "tree"))
    rust = site / "rust"
    pages = [path for path in sorted(site.rglob("*.html")) if rust not in path.parents]
    faults, count = [], 0
    for path in pages:
        found, name = page(path), path.relative_to(site)
        # Pages of Sphinx itself, to search and to list what is indexed, have a form instead.
        if found.begins != ["p"] and name.name not in ("search.html", "genindex.html", "py-modindex.html"):
            faults.append(f"{name}: expected a paragraph behind the heading, found {found.begins}")
        for link in found.links:
            count += 1
            if fault := fault_of(link, path, site, root, in_repository):
                faults.append(f"{name}: {link}: {fault}")
    print(f"{len(pages)} pages, {count} links")
    if faults:
        raise SystemExit("\n".join(faults))


def fault_of(link: str, path: Path, site: Path, root: Path, in_repository: tuple[str, ...]) -> str | None:
    """What is wrong with a link; none if nothing is."""
    if link.startswith(in_repository):
        there = root / unquote(urlsplit(link).path.split("/main/", 1)[1])
        return None if there.exists() else "the repository has no such file"
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None if parts.scheme in ("https", "mailto", "data") else "expected https"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if site not in (target, *target.parents):
        return "leads out of the site"
    target = target / "index.html" if target.is_dir() else target
    if not target.is_file():
        return "there is no such file"
    anchor = unquote(parts.fragment)
    if anchor and target.suffix == ".html" and anchor not in page(target).anchors:
        return f"there is no anchor {anchor}"
    return None


if __name__ == "__main__":
    main()
