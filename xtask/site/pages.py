"""Writes the sources of the documentation site: pages.py ROOT FOLDER COMMAND PACKAGES.

ROOT is the repository, COMMAND the `zarr` command, and PACKAGES what the Python package imports. What FOLDER gets is Markdown and
reStructuredText for Sphinx: the files that contents.toml lists, with links that hold on the site, and pages that are made of what the command
and the Python package say about themselves. FOLDER is empty before.
"""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from pathlib import Path

import api
from help import Command, sentence
from links import Links, blocks, relative, slug

SITE = Path(__file__).parent
#: Files of the repository that are on the site as they are, besides pictures.
FILES = {"docs/json.schema.json": "site:json.schema.json"}
#: The file with commands and what they print.
TRANSCRIPTS = "docs/command.md"
#: Where a page gets the links to its sections that are pages of their own.
PARTS = "{{parts}}"


def main() -> None:
    root, folder, program, packages = map(Path, sys.argv[1:])
    sys.path[:0] = [str(root / "python")]
    sys.path.append(str(packages))
    contents = tomllib.loads((SITE / "contents.toml").read_text())["section"]
    repository = tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["package"]["repository"]
    entries = [entry for section in contents for page in section["pages"] for entry in (page, *page.get("pages", []))]
    whole = {entry["file"]: entry["page"] for entry in entries if "file" in entry and "part" not in entry}
    whole["README.md"] = "index"
    parts = {f"{entry['file']}#{slug(entry['part'])}": entry["page"] for entry in entries if "part" in entry}
    pictures = {f"docs/pictures/{path.name}": f"pictures/{path.name}" for path in (root / "docs/pictures").iterdir()}
    links = Links(root, repository, whole, parts, FILES | pictures)

    pages: dict[str, str] = {"index.md": index(root, contents, links)}
    for entry in entries:
        if "file" in entry:
            text = (root / entry["file"]).read_text()
            taken = [other for other in entries if other.get("file") == entry["file"] and "part" in other]
            text = section_of(text, entry["part"]) if "part" in entry else without(text, taken)
            named = ", ".join(f"[{other['part']}]({relative(other['page'] + '.md', entry['page'])})" for other in taken)
            pages[f"{entry['page']}.md"] = links.rewritten(text, entry["file"], entry["page"]).replace(PARTS, named)
    pages |= command_pages(Command(program), (root / TRANSCRIPTS).read_text())
    import zarr_rust

    pages |= api.python_pages([name for name in dir(zarr_rust) if name not in (*api.MODULES, "__version__")])
    pages["crates.md"] = api.crates_page(root)
    for entry in entries:
        if "pages" in entry:
            pages[f"{entry['page']}.md"] += tree([(page.get("title"), page["page"]) for page in entry["pages"]])
    unlisted = sorted(str(path.relative_to(root)) for path in (root / "docs").rglob("*.md") if str(path.relative_to(root)) not in whole)
    links.faults += [f"xtask/site/contents.toml: {name} is on no page" for name in unlisted]
    if links.faults:
        raise SystemExit("\n".join(links.faults))
    write(folder, pages)
    shutil.copytree(root / "docs/pictures", folder / "pictures")


def write(folder: Path, pages: dict[str, str]) -> None:
    for name, text in pages.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def index(root: Path, contents: list[dict], links: Links) -> str:
    """The first page: README.md, with what there is to do, and the list of pages for Sphinx."""
    readme = links.rewritten((root / "README.md").read_text(), "README.md", "index")
    text = (SITE / "index.md").read_text()

    def of_readme(match: re.Match[str]) -> str:
        before, begin, after = readme.partition(f"\n{match[2]}")
        if not begin:
            raise SystemExit(f"README.md has no line that begins with {match[2]}, as xtask/site/index.md has it")
        return (before if match[1] == "until" else begin + after).strip()

    text = re.sub(r'\{\{README (until|from) "([^"]*)"\}\}', of_readme, text)
    rows, trees = [], ""
    for section in contents:
        pages = section["pages"]
        if all("about" in page for page in pages):
            rows += [f"- [**{page.get('title') or page['part']}**]({page['page']}.md): {page['about']}" for page in pages]
        else:
            # Those of the Python interface are no Markdown.
            named = ", ".join(f"[{page['title']}](site:{page['page']}.html)" for page in pages)
            rows.append(f"- **{section['title']}**: {named}")
        trees += tree([(page.get("title"), page["page"]) for page in pages], section["title"])
    return text.replace("{{contents}}", "\n".join(rows)) + trees


def tree(pages: list[tuple[str | None, str]], caption: str = "") -> str:
    """Pages that stand below this one in the list at the left, by their titles if they have others there."""
    names = [f"{title} </{page}>" if title else f"/{page}" for title, page in pages]
    options = [f":caption: {caption}"] if caption else []
    return "\n".join(["", "```{toctree}", *options, ":hidden:", "", *names, "```", ""])


def section_of(text: str, title: str) -> str:
    """A section as a page of its own."""
    lines = _sections(text)[title]
    return f"# {title}\n" + "".join(block if is_code else re.sub(r"^##", "#", block, flags=re.MULTILINE) for is_code, block in blocks(lines))


def without(text: str, parts: list[dict]) -> str:
    """A file without the sections that are pages of their own, which are named instead."""
    if not parts:
        return text
    sections = _sections(text)
    first = sections.pop("")
    rest = [f"## {title}\n{body}" for title, body in sections.items() if title not in {part["part"] for part in parts}]
    return f"{first.rstrip()}\n\nCommands and what they print: {PARTS}.\n\n{''.join(rest)}"


def _sections(text: str) -> dict[str, str]:
    """The sections of the second level, by their headings."""
    found, title = {"": ""}, ""
    for is_code, block in blocks(text):
        for line in [block] if is_code else block.splitlines(keepends=True):
            if not is_code and line.startswith("## "):
                title = line[3:].strip()
                found[title] = ""
            else:
                found[title] += line
    return found


def command_pages(command: Command, transcripts: str) -> dict[str, str]:
    """A page for each verb and each topic, and lists of them."""
    pages: dict[str, str] = {}
    listed, names = "", []
    for purpose, verbs in command.purposes().items():
        rows = []
        for verb, words in verbs.items():
            page, about = command.verb(verb, transcript(transcripts, verb))
            pages[f"verbs/{verb}.md"] = page
            rows.append(f"- [`{verb}`]({verb}.md): {(sentence(words) or about).removesuffix('.')}")
            names.append(verb)
        listed += f"\n## {purpose}\n\n" + "\n".join(rows) + "\n"
    pages["verbs/index.md"] = (
        "# Verbs\n\nEach verb of the command on a page of its own, with all its options. `zarr VERB --help` prints the same.\n"
        + listed
        + tree([(verb, f"verbs/{verb}") for verb in names])
    )
    topics = {name: command.topic(name) for name in command.topics()}
    pages |= {f"topics/{name}.md": page for name, (page, _) in topics.items()}
    pages["topics/index.md"] = (
        "# What several verbs take\n\nAddresses of stores, selections, codecs, formats and options, as `zarr help TOPIC` prints them.\n\n"
        + "\n".join(f"- [{name.capitalize()}]({name}.md): {about}" for name, (_, about) in topics.items())
        + "\n"
        + tree([(None, f"topics/{name}") for name in topics])
    )
    return pages


def transcript(text: str, verb: str) -> str:
    """The commands of a verb in the transcripts, with what they print."""
    runs: list[str] = []
    for is_code, block in blocks(text):
        if is_code and block.startswith("```console\n"):
            for run in re.split(r"^(?=\$ )", block.split("\n", 1)[1].removesuffix("```\n"), flags=re.MULTILINE):
                if re.match(rf"\$ (?:.*\| *)?zarr {verb}(?= |$)", run.split("\n", 1)[0]):
                    runs.append(run)
    if not runs:
        return ""
    return "## What it prints\n\nOf the data in `examples/data`; a test runs these commands.\n\n```console\n" + "".join(runs) + "```"


if __name__ == "__main__":
    main()
