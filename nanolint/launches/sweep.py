"""The runs of a wandb sweep: each point of its grid."""

from __future__ import annotations

import shlex
from dataclasses import replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from nanolint.launches.launch import Found
from nanolint.launches.placed import Placed, joined
from nanolint.launches.script import launches_of
from nanolint.launches.shell.worlds import World
from nanolint.source.settings_text import Leaf, Listed, Mapped, read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nanolint.launches.launch import Launch
    from nanolint.source.settings_text import Node
    from nanolint.source.values import Scalar

MOST_POINTS = 64
MOST_BYTES = 1 << 16
DEFAULT_COMMAND = ("${env}", "${interpreter}", "${program}", "${args}")


class NotASweep(ValueError):
    """A text that describes no sweep. Its text is one line."""


def find_launches(text: str) -> Iterator[Found]:
    """The runs of a sweep. A key without a list of values is not known.

    Raises NotASweep, and NoSettings for what is no YAML.
    """
    sweep, parameters = _load(text)
    row = 1 + text[: max(text.find("parameters"), 0)].count("\n")
    whole = Placed.whole(text)
    values = {str(key): _values(given, whole) for key, given in parameters.entries}
    count = prod(len(each) for each in values.values())
    if count > MOST_POINTS:
        yield Found(
            row, None, f"its grid has {count:,} points; nanolint checks {MOST_POINTS} of them"
        )
    for number, point in enumerate(product(*values.values())):
        if number >= MOST_POINTS:
            return
        line = _line(sweep, dict(zip(values, point, strict=True)))
        for each in launches_of(line, World()):
            if each.matters:
                launch = each.launch and _extensible(each.launch, parameters, text)
                yield Found(row, launch, each.reason)


def _extensible(launch: Launch, parameters: Mapped, text: str) -> Launch:
    """``launch``, with where and how its sweep takes another parameter: before the first."""
    if parameters.first is None:
        return launch
    if parameters.is_flow:
        added = "{key}: {{value: {value}}}, "
    else:
        margin = " " * parameters.column
        is_windows = text[: parameters.first].endswith(f"\r\n{margin}")
        newline = "\r\n" if is_windows else "\n"
        added = f"{{key}}:{newline}{margin}  value: {{value}}{newline}{margin}"
    return replace(launch, added=added, added_at=parameters.first)


def _load(text: str) -> tuple[Mapping[Scalar, Node], Mapped]:
    if len(text) > MOST_BYTES:
        raise NotASweep(f"it is longer than {MOST_BYTES:,} characters")
    top = read_yaml(text)
    sweep = dict(top.entries) if isinstance(top, Mapped) else {}
    parameters = sweep.get("parameters")
    if not isinstance(parameters, Mapped):
        raise NotASweep("it is not a sweep: it has no parameters")
    if "program" not in sweep and "command" not in sweep:
        raise NotASweep("it is not a sweep: it names no program")
    return sweep, parameters


def _values(given: Node, whole: Placed) -> list[Placed]:
    """What a parameter may be; ``$name`` stands for what the sweep chooses while it runs."""
    entries = dict(given.entries) if isinstance(given, Mapped) else {}
    values = entries.get("values")
    if isinstance(values, Listed):
        return [_value(each, whole) for each in values.items] or [Placed("${values}")]
    return [_value(entries["value"], whole) if "value" in entries else Placed("${sweep}")]


def _value(given: Node, whole: Placed) -> Placed:
    """One value, where it stands if that is in one plain word."""
    text = _text(given)
    if text is None:
        return Placed("${value}")
    if isinstance(given, Leaf):
        quotes = 1 if whole.text[given.start : given.start + 1] in ("'", '"') else 0
        written = whole.part(given.start + quotes, given.end - quotes)
        if written.text == text:  # YAML reads 0x10 and 1_000 as other characters than there are
            return written
    return Placed(text)


def _text(given: Node) -> str | None:
    """A value as wandb writes it on the line; None for one that is not known."""
    if isinstance(given, Leaf):
        return str(given.value) if given.known else None
    if isinstance(given, Listed):
        items = [each for each in given.items if isinstance(each, Leaf) and each.known]
        return str([each.value for each in items]) if len(items) == len(given.items) else None
    return None


def _line(sweep: Mapping[Scalar, Node], point: Mapping[str, Placed]) -> Placed:
    command, program = sweep.get("command"), sweep.get("program")
    given: Sequence[str] = DEFAULT_COMMAND
    if isinstance(command, Listed):
        given = [_text(each) or "" for each in command.items]
    words: list[Placed] = []
    for word in given:
        words += _expanded(word, "" if program is None else _text(program) or "", point)
    return joined(words, " ")


def _expanded(word: str, program: str, point: Mapping[str, Placed]) -> Sequence[Placed]:
    """One word of the command as wandb fills it in, for a shell to read."""
    if word in ("${env}", "/usr/bin/env"):
        return [Placed("env")]
    if word == "${interpreter}":
        return [Placed("python")]
    if word == "${args}":
        return [_quoted(joined((f"--{key}=", value))) for key, value in point.items()]
    if word == "${args_no_hyphens}":
        return [_quoted(joined((f"{key}=", value))) for key, value in point.items()]
    return [_quoted(Placed(word.replace("${program}", program)))]


def _quoted(word: Placed) -> Placed:
    if word.text.endswith("${sweep}"):
        return joined(('"', word, '"'))
    return word if shlex.quote(word.text) == word.text else Placed(shlex.quote(word.text))
