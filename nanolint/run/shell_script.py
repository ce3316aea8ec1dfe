"""The launch lines in a shell script, found without running it."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.run.launch import ASSIGNMENT, Launch, NotALaunch, read_launch_line
from nanolint.source.values import Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.source.values import Value

# No script is worth more, and variables made of variables could grow without end.
MOST_CHARACTERS = 1 << 20
MOST_ON_LINE, MOST_IN_WORD = 1 << 14, 1 << 12
_CONTINUED = re.compile(r"\\\r?\n")
_LAUNCHES = re.compile(r"\.py\b")
_ENDS = frozenset(";&|()<>")  # what a shell ends a command's words at
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?-([^{}$]*))?\})")
_SUBSTITUTION = re.compile(r"\$\([^()]*\)|`[^`]*`")  # what a command prints
_DESCRIPTOR = re.compile(r"(?<=\s)\d*[<>]&\d|(?<=\s)\d+(?=[<>])")  # 2>&1 and the 2 of 2>log
_ARGUMENTS = frozenset(
    {"$@", "$*", "${@}", "${*}"}
)  # of the script itself: none, as far as we know


@dataclass(frozen=True, slots=True)
class Found:
    """A launch line, or why the line cannot be judged."""

    row: int
    launch: Launch | None
    reason: str = ""


def find_launches(text: str) -> Iterator[Found]:
    """The lines of a shell script that launch a training script with nanoGPT's grammar.

    Variables that the script sets to plain values above a line are filled in.
    """
    variables: dict[str, str] = {}
    exported: dict[str, str] = {}
    for row, line in _logical_lines(text[:MOST_CHARACTERS]):
        if len(line) > MOST_ON_LINE or ("=" not in line and ".py" not in line):
            continue
        for words in _commands(line):
            filled = [_filled(word, variables) for word in words if word not in _ARGUMENTS]
            if not _set(filled, variables, exported) and _LAUNCHES.search(" ".join(filled)):
                found = _read(row, filled, exported)
                if found is not None:
                    yield found


def _read(row: int, words: list[str], exported: dict[str, str]) -> Found | None:
    try:
        launch = read_launch_line(words, exported)
    except NotALaunch:
        return None
    if "train" not in launch.script.name:  # sample.py, prepare.py, ...
        return None
    unknown = next((str(config) for config in launch.configs if "$" in str(config)), None)
    if unknown is not None:
        return Found(row, None, f"{unknown} is known only when the script runs")
    overrides = tuple((key, _settled(value)) for key, value in launch.overrides)
    return Found(row, replace(launch, overrides=overrides))


def _settled(value: Value) -> Value:
    if isinstance(value, Known) and isinstance(value.value, str) and "$" in value.value:
        return Unknown(f"{value.value} is known only when the script runs")
    return value


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with those joined that end in a backslash, each with the number of its first."""
    row = 1
    joined = _CONTINUED.sub("\0", text)
    for line in joined.split("\n"):
        yield row, line.replace("\0", " ")
        row += 1 + line.count("\0")


def _commands(line: str) -> Iterator[list[str]]:
    """The words of each command on a line."""
    line = _DESCRIPTOR.sub(" ", _SUBSTITUTION.sub("$_", line))
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    try:
        for word in lexer:
            if word and set(word) <= _ENDS:
                if words:
                    yield words
                words = []
            else:
                words.append(word)
    except ValueError:  # a quote that another line closes
        return
    if words:
        yield words


def _filled(word: str, variables: dict[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return variables.get(name, match[0] if match[3] is None else match[3])

    filled = _VARIABLE.sub(value, word)
    return filled if len(filled) <= MOST_IN_WORD else word


def _set(words: list[str], variables: dict[str, str], exported: dict[str, str]) -> bool:
    """Take note of ``NAME=value`` and ``export NAME=value``; returns whether that is all."""
    export = words[:1] == ["export"]
    assignments = [ASSIGNMENT.fullmatch(word) for word in words[export:]]
    if not words or not all(assignments):
        return False
    for assignment in assignments:
        if assignment is not None:
            variables[assignment[1]] = assignment[2]
            if export:
                exported[assignment[1]] = assignment[2]
    return True
