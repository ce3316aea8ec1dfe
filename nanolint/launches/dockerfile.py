"""What the containers of a Dockerfile run."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from nanolint.launches.commands import Argument, argument
from nanolint.launches.launch import Found, once
from nanolint.launches.notebook import strings_of, unescaped
from nanolint.launches.placed import Placed, joined
from nanolint.launches.script import launches_of
from nanolint.launches.shell.worlds import World

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.launches.launch import Launch

_INSTRUCTION = re.compile(r"\s*([A-Za-z]+)\s+(.*)", re.DOTALL)
_PAIR = re.compile(r"([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|\S*)")
# A comment between continued lines is no part of the command.
_COMMENTS = re.compile(r"(?<=\\\n)(?:[ \t]*#[^\n]*\n)+")
_JOINT = re.compile("\0")
_QUOTE = re.compile("'")
IN_LIST = '", "{flag}={value}'  # how a flag is put behind the last word of a list
_CONTINUED = re.compile(r"\\[ \t]*\r?\n")


@dataclass(slots=True)
class _Stage:
    """What the instructions since the last ``FROM`` have set."""

    variables: dict[str, Placed] = field(default_factory=dict)
    folder: str = ""
    entry: tuple[int, Placed] | None = None
    command: tuple[int, Placed] | None = None


def find_launches(text: str) -> Iterator[Found]:
    """The runs of ENTRYPOINT with CMD, and of RUN. Paths below WORKDIR are relative to it."""
    yield from once(_found(text))


def _found(text: str) -> Iterator[Found]:
    stage = _Stage()
    for row, name, rest in _instructions(text):
        if name == "FROM":
            yield from _container(stage)
            stage = _Stage(dict(stage.variables))
        elif name in ("ENV", "ARG"):
            stage.variables |= _pairs(rest)
        elif name == "WORKDIR":
            stage.folder = rest.text.strip().rstrip("/")
        elif name == "RUN":
            # Most of what builds an image is no launch, and may be beyond this reader.
            yield from (each for each in _run(row, _as_shell(rest), stage) if each.launch)
        elif name == "ENTRYPOINT":
            stage.entry = (row, rest)
        elif name == "CMD":
            stage.command = (row, rest)
    yield from _container(stage)


def _instructions(text: str) -> Iterator[tuple[int, str, Placed]]:
    row = 1
    for line in Placed.whole(text).sub(_COMMENTS, _joints).sub(_CONTINUED, "\0").lines():
        match = _INSTRUCTION.fullmatch(line.text)
        if match is not None and not line.text.lstrip().startswith("#"):
            rest = line.group(match, 2).sub(_JOINT, " ")
            yield row, match[1].upper(), rest.stripped()
        row += 1 + line.text.count("\0")


def _joints(comments: re.Match[str]) -> str:
    return "\0" * comments[0].count("\n")


def _pairs(rest: Placed) -> dict[str, Placed]:
    """The variables of ``ENV A=1 B=2`` and ``ENV A 1``."""
    name, _, value = rest.text.partition(" ")
    if "=" in name:
        return {
            match[1]: rest.group(match, 2).stripped("\"'") for match in _PAIR.finditer(rest.text)
        }
    return {name: rest.part(len(name)).stripped()} if value else {}


def _container(stage: _Stage) -> Iterator[Found]:
    """What a container runs: ENTRYPOINT, with CMD as its arguments."""
    if stage.entry is None:
        if stage.command is not None:
            at, command = stage.command
            words = _words(command)
            yield from _run(at, _as_shell(command), stage, words[-1] if words else None)
        return
    row, entry = stage.entry
    text = _as_shell(entry)
    listed = _words(entry)
    if stage.command is not None and listed is not None:
        command = stage.command[1]
        words = _words(command)
        arguments = [Placed("/bin/sh"), Placed("-c"), command] if words is None else words
        text = joined((text, *map(_quoted, arguments)), " ")
        listed = words
    yield from _run(row, text, stage, listed[-1] if listed else None)


def _as_shell(rest: Placed) -> Placed:
    """An instruction as a line of a shell: as it is, or made from its list of words."""
    words = _words(rest)
    return rest if words is None else joined(map(_quoted, words), " ")


def _words(rest: Placed) -> list[Placed] | None:
    """The words of ``["python", "train.py"]``."""
    if not rest.text.startswith("["):
        return None
    try:
        words = json.loads(rest.text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(words, list) or not all(isinstance(each, str) for each in words):
        return None
    return [unescaped(rest.part(*span)) for span in strings_of(rest.text)]


def _quoted(word: Placed) -> Placed:
    """One word for a shell to read."""
    if shlex.quote(word.text) == word.text:
        return word
    return joined(("'", word.sub(_QUOTE, "'\"'\"'"), "'"))


def _run(row: int, text: Placed, stage: _Stage, last: Placed | None = None) -> Iterator[Found]:
    """The launches of a line for a shell; ``last`` is its last word, if it was made of a list."""
    variables: dict[str, tuple[Argument, ...]] = {
        name: (argument(value),) for name, value in stage.variables.items() if "$" not in value.text
    }
    if stage.folder.startswith("/"):
        own = re.compile(rf"(?<![\w./-]){re.escape(stage.folder)}/")
        text = text.sub(own, "")
    for each in launches_of(text, World(variables, frozenset(variables))):
        if each.matters:
            launch = each.launch
            if launch is not None and last is not None and _ends_with(launch, last):
                launch = replace(launch, added=IN_LIST)
            yield Found(row, launch, each.reason)


def _ends_with(launch: Launch, last: Placed) -> bool:
    """Whether ``last``, a word of a list, is the launch's own, and no line for another shell."""
    words = launch.arguments
    return (words[-1].text if words else launch.script.as_posix()) == last.text
