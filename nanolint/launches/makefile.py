"""The launch lines in a Makefile's recipes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.launches.commands import argument
from nanolint.launches.launch import Found, once
from nanolint.launches.placed import Placed, joined
from nanolint.launches.script import launches_of
from nanolint.launches.shell.worlds import World

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_CHARACTERS = 1 << 12  # of a line with its variables filled in
MOST_NESTED = 10  # variables in variables
_ASSIGNMENT = re.compile(
    r"(?:(?P<export>export)\s+|override\s+)?(?P<name>[\w.-]+)\s*(?P<how>::?:?|\?|\+|!)?=\s*(?P<value>.*)",
    re.DOTALL,
)
_FOR_A_TARGET = re.compile(r"[^\s:=]+\s*:\s*(?:export\s+)?([\w.-]+)\s*(?:::?|\?|\+)?=")
_VARIABLE = re.compile(r"\$(?:\$|\(([\w.-]+)\)|\{([\w.-]+)\}|\([^()]*\)|\{[^{}]*\}|(.))")
_CONTINUED = re.compile(r"\\\r?\n")
_JOINT = re.compile("\0")
_CONDITION = ("ifeq", "ifneq", "ifdef", "ifndef")
_UNKNOWN = "${make}"  # in a shell's text: what make fills in there


def find_launches(text: str) -> Iterator[Found]:
    """The runs that the recipes start, each line in a shell of its own, as make runs them."""
    lines = list(_logical_lines(text))
    variables, exported = _variables(lines)
    world = {name: (argument(value),) for name, value in variables.items() if name in exported}
    found = (
        Found(row, each.launch, each.reason)
        for row, recipe in _recipes(lines, one_shell=".ONESHELL" in text)
        for each in launches_of(_filled(recipe, variables), World(dict(world), exported))
        if each.matters
    )
    yield from once(found)


def _logical_lines(text: str) -> Iterator[tuple[int, Placed]]:
    """Each line with the number of its first row; those joined by backslashes are one."""
    row = 1
    for line in Placed.whole(text).sub(_CONTINUED, "\0").lines():
        yield row, line.rstripped("\r")
        row += 1 + line.text.count("\0")


def _recipes(lines: list[tuple[int, Placed]], *, one_shell: bool) -> Iterator[tuple[int, Placed]]:
    """What make gives to a shell, with its row."""
    block: list[Placed] = []
    first = 0
    for row, line in [*lines, (0, Placed(""))]:
        if not line.text.startswith("\t"):
            if block:
                yield first, joined(block, "\n")
            block = []
            continue
        command = line.lstripped("\t @-+").sub(_JOINT, " ")
        if not one_shell:
            yield row, command
            continue
        first = first if block else row
        block.append(command)


def _variables(lines: list[tuple[int, Placed]]) -> tuple[dict[str, Placed], frozenset[str]]:
    """The variables that have one value whatever happens, and those that programs see."""
    values: dict[str, Placed] = {}
    uncertain: set[str] = set()
    exported: set[str] = set()
    depth = 0
    for _, placed in lines:
        line = placed.text
        first = line.split(maxsplit=1)[:1]
        if line.startswith("\t") or not first:
            continue
        depth += (first[0] in _CONDITION) - (first[0] == "endif")
        for_a_target = _FOR_A_TARGET.match(line)
        if for_a_target is not None:
            uncertain.add(for_a_target[1])
            continue
        statement = placed.sub(_JOINT, " ").part(0, len(line.partition("#")[0])).stripped()
        match = _ASSIGNMENT.fullmatch(statement.text)
        if match is None:
            if first[0] == "export":
                exported.update(line.split()[1:])
            continue
        name, how = match["name"], match["how"]
        value = statement.group(match, "value").stripped()
        if match["export"]:
            exported.add(name)
        if depth > 0 or how == "!":
            uncertain.add(name)
        if how == "+":
            value = joined((values.get(name, Placed("")), value), " ").stripped()
        if how != "?" or name not in values:
            values[name] = value
    kept = {name: value for name, value in values.items() if name not in uncertain}
    return kept, frozenset(exported)


def _filled(text: Placed, variables: Mapping[str, Placed], depth: int = 0) -> Placed:
    """The text that make gives to the shell, with what it would fill in where that is known."""

    def value(match: re.Match[str]) -> str | Placed:
        if match[0] == "$$":
            return "$"
        name = match[1] or match[2]
        if name is None or name not in variables or depth >= MOST_NESTED:
            return f"${{{name}}}" if name and name.isidentifier() else _UNKNOWN
        return _filled(variables[name], variables, depth + 1)

    filled = text.sub(_VARIABLE, value)
    return filled if len(filled.text) <= MOST_CHARACTERS else Placed("")
