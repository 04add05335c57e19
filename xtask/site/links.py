"""Links of the repository's Markdown as links of the site."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path

# Code between as many backticks on both sides, within one paragraph.
CODE = re.compile(r"(?<!`)(`+)(?!`)((?:(?!\n\s*\n).)+?)(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"\]\(([^()\s]+)\)")
FENCE = re.compile(r" *(```+|~~~+)(.*)")
ELSEWHERE = re.compile(r"[a-z][a-z+.-]*:", re.IGNORECASE)


class Links:
    """What the links of pages mean on the site: other pages, files of the site, or files of the repository where it is hosted."""

    def __init__(self, root: Path, repository: str, pages: dict[str, str], parts: dict[str, str], files: dict[str, str]) -> None:
        #: ``pages`` and ``files`` have what is on the site by its path in the repository; ``parts`` the pages of sections by ``file#anchor``.
        self.root, self.repository = root, repository
        self.pages, self.parts, self.files = pages, parts, files
        self.faults: list[str] = []

    def rewritten(self, text: str, source: str, page: str) -> str:
        """The text of a file as that of a page of the site."""
        return "".join(
            line_of_fence(block) if is_code else self._prose(block, source, page) for is_code, block in blocks(text)
        )

    def _prose(self, text: str, source: str, page: str) -> str:
        def link(match: re.Match[str]) -> str:
            return f"]({self._target(match[1], source, page)})"

        def code(match: re.Match[str]) -> str:
            # A file that is named and is a page of the site.
            target = self.pages.get(match[2])
            inside_link = text[match.end() :].startswith("](")
            return match[0] if target is None or inside_link else f"[{match[0]}]({relative(target + '.md', page)})"

        return outside_code(text, lambda prose: LINK.sub(link, prose), code)

    def _target(self, target: str, source: str, page: str) -> str:
        if ELSEWHERE.match(target) or target.startswith("#"):
            return self.parts_target(source, target, page) if target.startswith("#") else target
        path, _, anchor = target.partition("#")
        found = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if (part := self.parts.get(f"{found}#{anchor}")) is not None:
            return relative(f"{part}.md", page)
        if found in self.pages:
            return relative(f"{self.pages[found]}.md", page) + (f"#{anchor}" if anchor else "")
        if found in self.files:
            scheme, _, path = self.files[found].rpartition(":")
            return (f"{scheme}:" if scheme else "") + relative(path, page)
        if found.startswith("..") or not (self.root / found).exists():
            self.faults.append(f"{source}: the link to {target} leads to {found}, which is not there")
            return target
        kind = "tree" if (self.root / found).is_dir() else "blob"
        return f"{self.repository}/{kind}/main/{found}" + (f"#{anchor}" if anchor else "")

    def parts_target(self, source: str, anchor: str, page: str) -> str:
        """A section of the same file, which may be a page of its own."""
        part = self.parts.get(f"{source}{anchor}")
        return anchor if part is None else relative(f"{part}.md", page)


def relative(path: str, page: str) -> str:
    """The path of a file of the site as a page links to it."""
    return posixpath.relpath(path, posixpath.dirname(page) or ".")


def blocks(text: str) -> Iterator[tuple[bool, str]]:
    """The text in pieces: whether a piece is a fenced block of code, and its lines."""
    piece: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = FENCE.match(line)
        if not fence and mark:
            yield False, "".join(piece)
            piece, fence = [line], mark[1]
        elif fence and mark and mark[1].startswith(fence) and not mark[2].strip():
            yield True, "".join([*piece, line])
            piece, fence = [], ""
        else:
            piece.append(line)
    yield bool(fence), "".join(piece)


def line_of_fence(block: str) -> str:
    """The block with its language alone: ``rust,no_run`` and ``sh run`` tell tests more."""
    first, rest = block.split("\n", 1)
    return re.sub(r"^( *(?:```+|~~~+)) *([\w+-]*).*", r"\1\2", first) + "\n" + rest


def outside_code(text: str, prose: Callable[[str], str], code: Callable[[re.Match[str]], str] = lambda match: match[0]) -> str:
    """The text with ``prose`` applied to what is no code, and ``code`` to what is."""
    written, end = [], 0
    for match in CODE.finditer(text):
        written += [prose(text[end : match.start()]), code(match)]
        end = match.end()
    return "".join([*written, prose(text[end:])])


def slug(heading: str) -> str:
    """The anchor of a heading, as hosting sites make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
