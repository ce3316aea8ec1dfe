"""The runs of a wandb sweep: each point of its grid."""

from __future__ import annotations

import shlex
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from nanolint.launches.found import Found
from nanolint.launches.script import launches_of
from nanolint.launches.shell.worlds import World

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MOST_POINTS = 64
MOST_BYTES = 1 << 16
DEFAULT_COMMAND = ("${env}", "${interpreter}", "${program}", "${args}")


class NotASweep(ValueError):
    """A text that describes no sweep. Its text is one line."""


def find_launches(text: str) -> Iterator[Found]:
    """The runs of a sweep. A key without a list of values is not known. Raises NotASweep."""
    sweep = _load(text)
    row = 1 + text[: max(text.find("parameters"), 0)].count("\n")
    parameters = sweep["parameters"]
    values = {str(key): _values(given) for key, given in parameters.items()}
    count = prod(len(each) for each in values.values())
    if count > MOST_POINTS:
        yield Found(row, None, f"its grid has {count:,} points, of which {MOST_POINTS} are checked")
    for number, point in enumerate(product(*values.values())):
        if number >= MOST_POINTS:
            return
        line = _line(sweep, dict(zip(values, point, strict=True)))
        for each in launches_of(line, World()):
            if each.matters:
                yield Found(row, each.launch, each.reason)


def _load(text: str) -> Mapping[str, Any]:
    import yaml

    if len(text) > MOST_BYTES:
        raise NotASweep(f"it is longer than {MOST_BYTES:,} characters")
    try:
        sweep = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise NotASweep(f"it is no YAML: {str(error).splitlines()[0]}") from None
    if not isinstance(sweep, dict) or not isinstance(sweep.get("parameters"), dict):
        raise NotASweep("it describes no sweep: it has no parameters")
    if "program" not in sweep and "command" not in sweep:
        raise NotASweep("it describes no sweep: it names no program")
    return sweep


def _values(given: object) -> list[str]:
    """What a parameter may be; ``$name`` stands for what the sweep chooses while it runs."""
    if isinstance(given, dict):
        if isinstance(given.get("values"), list):
            return [str(each) for each in given["values"]] or ["${values}"]
        if "value" in given:
            return [str(given["value"])]
    return ["${sweep}"]


def _line(sweep: Mapping[str, Any], point: Mapping[str, str]) -> str:
    command = sweep.get("command")
    words: list[str] = []
    for word in map(str, command if isinstance(command, list) else DEFAULT_COMMAND):
        words += _expanded(word, str(sweep.get("program", "")), point)
    return " ".join(words)


def _expanded(word: str, program: str, point: Mapping[str, str]) -> Sequence[str]:
    """One word of the command as wandb fills it in, for a shell to read."""
    if word in ("${env}", "/usr/bin/env"):
        return ["env"]
    if word == "${interpreter}":
        return ["python"]
    if word == "${args}":
        return [_quoted(f"--{key}={value}") for key, value in point.items()]
    if word == "${args_no_hyphens}":
        return [_quoted(f"{key}={value}") for key, value in point.items()]
    return [_quoted(word.replace("${program}", program))]


def _quoted(word: str) -> str:
    return f'"{word}"' if word.endswith("${sweep}") else shlex.quote(word)
