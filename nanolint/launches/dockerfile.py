"""What the containers of a Dockerfile run."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nanolint.launches.commands import Argument
from nanolint.launches.found import Found, once
from nanolint.launches.script import launches_of
from nanolint.launches.shell.worlds import World

if TYPE_CHECKING:
    from collections.abc import Iterator

_INSTRUCTION = re.compile(r"\s*([A-Za-z]+)\s+(.*)", re.DOTALL)
_PAIR = re.compile(r"([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|\S*)")
# A comment between continued lines is no part of the command.
_COMMENT = re.compile(r"(?<=\\\n)[ \t]*#[^\n]*\n")
_CONTINUED = re.compile(r"\\[ \t]*\r?\n")


@dataclass(slots=True)
class _Stage:
    """What the instructions since the last ``FROM`` have set."""

    variables: dict[str, str] = field(default_factory=dict)
    folder: str = ""
    entry: tuple[int, str] | None = None
    command: tuple[int, str] | None = None


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
            stage.folder = rest.strip().rstrip("/")
        elif name == "RUN":
            # Most of what builds an image is no launch, and may be beyond this reader.
            yield from (each for each in _run(row, _as_shell(rest), stage) if each.launch)
        elif name == "ENTRYPOINT":
            stage.entry = (row, rest)
        elif name == "CMD":
            stage.command = (row, rest)
    yield from _container(stage)


def _instructions(text: str) -> Iterator[tuple[int, str, str]]:
    text = _COMMENT.sub("\\\\\n", text)
    row = 1
    for line in _CONTINUED.sub("\0", text).split("\n"):
        match = _INSTRUCTION.fullmatch(line)
        if match is not None and not line.lstrip().startswith("#"):
            yield row, match[1].upper(), match[2].replace("\0", " ").strip()
        row += 1 + line.count("\0")


def _pairs(rest: str) -> dict[str, str]:
    """The variables of ``ENV A=1 B=2`` and ``ENV A 1``."""
    if "=" in rest.partition(" ")[0]:
        return {name: value.strip("\"'") for name, value in _PAIR.findall(rest)}
    name, _, value = rest.partition(" ")
    return {name: value.strip()} if value else {}


def _container(stage: _Stage) -> Iterator[Found]:
    """What a container runs: ENTRYPOINT, with CMD as its arguments."""
    if stage.entry is None:
        if stage.command is not None:
            yield from _run(stage.command[0], _as_shell(stage.command[1]), stage)
        return
    row, entry = stage.entry
    text = _as_shell(entry)
    if stage.command is not None and _words(entry) is not None:
        words = _words(stage.command[1])
        arguments = ["/bin/sh", "-c", stage.command[1]] if words is None else words
        text = f"{text} {shlex.join(arguments)}"
    yield from _run(row, text, stage)


def _as_shell(rest: str) -> str:
    """An instruction as a line of a shell: as it is, or made from its list of words."""
    words = _words(rest)
    return rest if words is None else shlex.join(words)


def _words(rest: str) -> list[str] | None:
    if not rest.startswith("["):
        return None
    try:
        words = json.loads(rest)
    except (ValueError, RecursionError):
        return None
    return words if isinstance(words, list) and all(isinstance(w, str) for w in words) else None


def _run(row: int, text: str, stage: _Stage) -> Iterator[Found]:
    variables: dict[str, tuple[Argument, ...]] = {
        name: (Argument(value),) for name, value in stage.variables.items() if "$" not in value
    }
    if stage.folder.startswith("/"):
        text = re.sub(rf"(?<![\w./-]){re.escape(stage.folder)}/", "", text)
    for each in launches_of(text, World(variables, frozenset(variables))):
        if each.matters:
            yield Found(row, each.launch, each.reason)
