"""Pages of verbs and topics, from what the command prints about itself."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from links import outside_code

#: An option in a sentence.
OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]*|-[a-zA-Z](?=[ ,.;:)]|$))")
#: What Markdown would take for markup.
MARKUP = re.compile(r"([\\*_<>\[\]{}#|])")
#: Longer lines that end in a colon are no headings.
LONGEST_HEADING = 40


@dataclass
class Section:
    """Lines below a heading; the first of a help has none."""

    title: str
    lines: list[str]


class Command:
    """The command, asked for its help."""

    def __init__(self, program: Path) -> None:
        self.program = program
        self.screen = sections(self._output("--help"))
        #: Options of all verbs are on a page of their own.
        self.shared = {entry.term for part in sections(self._output("help", "options")) for entry in options(part)}

    def _output(self, *arguments: str) -> str:
        return subprocess.run([self.program, *arguments], check=True, capture_output=True, text=True).stdout

    def purposes(self) -> dict[str, dict[str, str]]:
        """Verbs with a few words each, by purpose, and at last those that stand in one line."""
        found: dict[str, dict[str, str]] = {}
        for part in self.screen:
            verbs = dict(match.groups() for line in part.lines if (match := re.match(r"  ([a-z][\w-]*)  +(\S.*)$", line)))
            if part.title and verbs:
                found[part.title] = verbs
        rest = next(line for part in self.screen for line in part.lines if line.startswith("More: "))
        names = [name for item in rest.removeprefix("More: ").split(", ") if (name := item.split()[0]) != "help"]
        found["More"] = {name: "" for name in names}
        return found

    def topics(self) -> list[str]:
        """The names of the pages about what several verbs take."""
        line = next(line for part in self.screen for line in part.lines if line.startswith("Topics: zarr help "))
        return line.removeprefix("Topics: zarr help ").split(", ")

    def verb(self, name: str, transcripts: str) -> tuple[str, str]:
        """The page of a verb, and its first paragraph."""
        text = self._output(name, "--help")
        parts = sections(text)
        about, *more = paragraphs(parts[0].lines)
        usage = next(part for part in parts if part.title == "Usage")
        examples = [part for part in parts if part.title == "Examples"]
        page = [f"# zarr {name}", sentence(about)]
        page += [fenced("text", [line.strip() for part in examples for line in part.lines if line.strip()])] if examples else []
        page += [sentence(text) for text in more]
        page += ["## Usage", fenced("text", [line.strip() for line in usage.lines if line.strip()])]
        page += [f"```{{program}} zarr {name}\n```"]
        for part in parts[1:]:
            if part.title in ("Usage", "Examples"):
                continue
            page += list(described(part, self.shared))
        page += ["Options of every verb, such as `--json` and `--store-option`, are on [a page of their own](../topics/options.md)."]
        page += [transcripts] if transcripts else []
        written = "\n\n".join(page) + "\n"
        # What is not taken for an option would be missing without a word.
        options_of_help = re.findall(r"^ {2,6}(?:-\w, )?(--[a-z][a-z-]*)", text, re.MULTILINE)
        shared = {option for term in self.shared for option in re.findall(r"--[a-z][a-z-]*", term)}
        if missing := [option for option in options_of_help if option not in shared and "{option} " + option not in written
                       and f", {option}" not in written]:
            raise SystemExit(f"zarr {name} --help: {', '.join(missing)} did not come onto its page")
        return written, sentence(about)

    def topic(self, name: str) -> tuple[str, str]:
        """The page of a topic, and its first paragraph."""
        parts = sections(self._output("help", name))
        first, *more = list(prose(parts[0].lines)) or [f"{parts[1].title}."]
        page = [f"# {name.capitalize()}", first, *more]
        page += ["```{program} zarr\n```"] if name == "options" else []
        for part in parts[1:]:
            page += list(described(part, set()))
        page += [f"`zarr help {name}` prints this page."]
        return "\n\n".join(page) + "\n", first


def sections(text: str) -> list[Section]:
    """The parts of a help: lines below a line that ends in a colon."""
    found = [Section("", [])]
    for line in text.splitlines():
        if line.startswith("Usage: "):
            found.append(Section("Usage", [line.removeprefix("Usage: ")]))
        elif re.match(r"\S.*:$", line) and len(line) <= LONGEST_HEADING:
            found.append(Section(line.removesuffix(":"), []))
        elif line and not line.startswith(" ") and found[-1].title and any(other.startswith("  ") for other in found[-1].lines):
            # A paragraph behind a list belongs to no heading.
            found.append(Section("", [line]))
        else:
            found[-1].lines.append(line)
    return found


def paragraphs(lines: list[str]) -> list[str]:
    """Paragraphs of lines, each as one line."""
    return [" ".join(block.split()) for block in re.split(r"\n\s*\n", "\n".join(lines)) if block.strip()]


@dataclass
class Entry:
    """An argument or an option, with its paragraphs."""

    term: str
    lines: list[str]


def options(part: Section) -> list[Entry]:
    """The arguments and options of a section; none if it has others."""
    found: list[Entry] = []
    for line in part.lines:
        if match := re.match(r" {2,6}(-\S.*|<.*|\[.*)$", line):
            term, _, text = match[1].partition("  ")
            found.append(Entry(term.strip(), [text.strip()] if text else []))
        elif found and (not line.strip() or line.startswith(" " * 8)):
            found[-1].lines.append(line.strip())
        elif line.strip():
            return []
    return found


def described(part: Section, without: set[str]) -> Iterator[str]:
    """The Markdown of a section."""
    if part.title == "Examples":
        yield f"## {part.title}"
        yield fenced("text", [line.strip() for line in part.lines if line.strip()])
        return
    if entries := options(part):
        if entries := [entry for entry in entries if entry.term not in without]:
            yield f"## {part.title}"
            yield from map(directive, entries)
        return
    if part.title:
        yield f"## {part.title}"
    yield from prose(part.lines)


def directive(entry: Entry) -> str:
    """An option as Sphinx knows it, so that it has an anchor and is found by its name; an argument as a definition."""
    texts = []
    for text in paragraphs(entry.lines):
        if match := re.fullmatch(r"\[(default|possible values|aliases|short aliases): (.*)\]", text):
            values = match[2].split(", ") if match[1] != "default" else [match[2]]
            texts.append(f"{match[1].capitalize()}: " + ", ".join(f"`{value}`" for value in values) + ".")
            continue
        items = text.split(" - ") if text.startswith(("Possible values: ", "- ")) else [text]
        # A value, and what it means.
        items[1:] = [re.sub(r"^([\w-]+): ", r"`\1`: ", item) for item in items[1:]]
        texts.append("\n".join([sentence(items[0]), *(f"- {sentence(item)}" for item in items[1:])]))
    body = "\n\n".join(texts)
    if entry.term.startswith("-"):
        # Short and long forms stand in one line.
        return f"````{{option}} {entry.term}\n{body}\n````"
    return definition(f"`{entry.term}`", body)


def definition(term: str, body: str) -> str:
    return f"{term}\n: " + body.replace("\n", "\n  ")


def prose(lines: list[str]) -> Iterator[str]:
    """Paragraphs, and lists of terms with what they mean, as they stand below each other in columns."""
    block: list[str] = []
    for line in [*lines, ""]:
        if block and line.startswith("  ") != block[-1].startswith("  ") or not line.strip():
            if block:
                yield "\n\n".join(columns(block)) if block[0].startswith("  ") else sentence(" ".join(block))
            block = []
        if line.strip():
            block.append(line)


def columns(lines: list[str]) -> list[str]:
    """Lines such as `  TERM      what it means`, which may go on below, as definitions."""
    gaps = [match.end() for line in lines if (match := re.match(r"  \S+(?: \S+)*  +(?=\S)", line))]
    column = max(set(gaps), key=gaps.count) if gaps else 0
    entries: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("   ") and entries:
            entries[-1][1].append(line.strip())
        elif entries and not entries[-1][1] and entries[-1][0].endswith(","):
            entries[-1] = (f"{entries[-1][0]} {line.strip()}", [])
        elif column and len(line) > column and line[column - 1] == " " and line[column] != " " and line[column - 2] != ",":
            entries.append((line[:column].strip(), [line[column:].strip()]))
        else:
            entries.append((line.strip(), []))
    if not any(texts for _, texts in entries):
        # Names alone, as many as a line takes.
        entries = [(", ".join(term.rstrip(",") for term, _ in entries), [])]
    # A comma within brackets is part of a term.
    terms = [", ".join(f"`{term}`" for term in re.split(r", (?![^\[]*\])", term)) for term, _ in entries]
    return [
        definition(term, sentence(" ".join(texts))) if texts else term for term, (_, texts) in zip(terms, entries)
    ]


def sentence(text: str) -> str:
    """Plain text as Markdown: options are code, and nothing else is markup. It ends in a full stop."""
    marked = outside_code(text.strip(), lambda plain: OPTION.sub(r"`\1`", MARKUP.sub(r"\\\1", plain)))
    return marked if not marked or marked[-1] in ".:;,!?]" else f"{marked}."


def fenced(language: str, lines: list[str]) -> str:
    return "\n".join([f"```{language}", *lines, "```"])
