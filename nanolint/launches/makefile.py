"""The launch lines in a Makefile's recipes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.launches.commands import Argument
from nanolint.launches.found import Found, once
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
_CONDITION = ("ifeq", "ifneq", "ifdef", "ifndef")
_UNKNOWN = "${make}"  # in a shell's text: what make fills in there


def find_launches(text: str) -> Iterator[Found]:
    """The runs that the recipes start, each line in a shell of its own, as make runs them."""
    lines = list(_logical_lines(text))
    variables, exported = _variables(lines)
    world = {name: (Argument(value),) for name, value in variables.items() if name in exported}
    found = (
        Found(row, each.launch, each.reason)
        for row, recipe in _recipes(lines, one_shell=".ONESHELL" in text)
        for each in launches_of(_filled(recipe, variables), World(dict(world), exported))
        if each.matters
    )
    yield from once(found)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Each line with the number of its first row; those joined by backslashes are one."""
    row = 1
    for line in re.sub(r"\\\r?\n", "\0", text).split("\n"):
        yield row, line.rstrip("\r")
        row += 1 + line.count("\0")


def _recipes(lines: list[tuple[int, str]], *, one_shell: bool) -> Iterator[tuple[int, str]]:
    """What make gives to a shell, with its row."""
    block: list[str] = []
    first = 0
    for row, line in [*lines, (0, "")]:
        if not line.startswith("\t"):
            if block:
                yield first, "\n".join(block)
            block = []
            continue
        command = line.lstrip("\t @-+").replace("\0", " ")
        if not one_shell:
            yield row, command
            continue
        first = first if block else row
        block.append(command)


def _variables(lines: list[tuple[int, str]]) -> tuple[dict[str, str], frozenset[str]]:
    """The variables that have one value whatever happens, and those that programs see."""
    values: dict[str, str] = {}
    uncertain: set[str] = set()
    exported: set[str] = set()
    depth = 0
    for _, line in lines:
        first = line.split(maxsplit=1)[:1]
        if line.startswith("\t") or not first:
            continue
        depth += (first[0] in _CONDITION) - (first[0] == "endif")
        for_a_target = _FOR_A_TARGET.match(line)
        if for_a_target is not None:
            uncertain.add(for_a_target[1])
            continue
        match = _ASSIGNMENT.fullmatch(line.replace("\0", " ").partition("#")[0].strip())
        if match is None:
            if first[0] == "export":
                exported.update(line.split()[1:])
            continue
        name, value, how = match["name"], match["value"].strip(), match["how"]
        if match["export"]:
            exported.add(name)
        if depth > 0 or how == "!":
            uncertain.add(name)
        if how == "+":
            value = f"{values.get(name, '')} {value}".strip()
        if how != "?" or name not in values:
            values[name] = value
    kept = {name: value for name, value in values.items() if name not in uncertain}
    return kept, frozenset(exported)


def _filled(text: str, variables: Mapping[str, str], depth: int = 0) -> str:
    """The text that make gives to the shell, with what it would fill in where that is known."""

    def value(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        name = match[1] or match[2]
        if name is None or name not in variables or depth >= MOST_NESTED:
            return f"${{{name}}}" if name and name.isidentifier() else _UNKNOWN
        return _filled(variables[name], variables, depth + 1)

    filled = _VARIABLE.sub(value, text)
    return filled if len(filled) <= MOST_CHARACTERS else ""
