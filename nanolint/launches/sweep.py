"""The runs of a wandb sweep: each point of its grid."""

from __future__ import annotations

import shlex
from dataclasses import replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from nanolint.launches.found import Found
from nanolint.launches.placed import Placed, joined
from nanolint.launches.script import launches_of
from nanolint.launches.shell.worlds import World

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from nanolint.launches.launch import Launch

MOST_POINTS = 64
MOST_BYTES = 1 << 16
DEFAULT_COMMAND = ("${env}", "${interpreter}", "${program}", "${args}")


class NotASweep(ValueError):
    """A text that describes no sweep. Its text is one line."""


def find_launches(text: str) -> Iterator[Found]:
    """The runs of a sweep. A key without a list of values is not known. Raises NotASweep."""
    sweep = _load(text)
    row = 1 + text[: max(text.find("parameters"), 0)].count("\n")
    written = _Written(text)
    values = {
        str(key): _values(given, written.values_of(str(key)))
        for key, given in sweep["parameters"].items()
    }
    count = prod(len(each) for each in values.values())
    if count > MOST_POINTS:
        yield Found(row, None, f"its grid has {count:,} points, of which {MOST_POINTS} are checked")
    for number, point in enumerate(product(*values.values())):
        if number >= MOST_POINTS:
            return
        line = _line(sweep, dict(zip(values, point, strict=True)))
        for each in launches_of(line, World()):
            if each.matters:
                yield Found(row, each.launch and written.extensible(each.launch), each.reason)


class _Written:
    """Where the values of a sweep stand in its text, and where another parameter could."""

    def __init__(self, text: str) -> None:
        import yaml

        self._whole = Placed.whole(text)
        # The parser in Python counts characters, as texts do; its first mark may be a byte's.
        top = yaml.compose(text, Loader=yaml.SafeLoader)
        self._parameters = _entries(_entries(top).get("parameters"))
        self._first = next(iter(_entry_nodes(_child(top, "parameters"))), None)

    def values_of(self, key: str) -> list[Placed]:
        """The values of a parameter as they are written, where each is one plain word."""
        given = _entries(self._parameters.get(key))
        listed = getattr(given.get("values"), "value", None)
        nodes = listed if isinstance(listed, list) else [given.get("value")]
        return [self._scalar(node) for node in nodes if node is not None]

    def _scalar(self, node: Any) -> Placed:
        start, end = node.start_mark.index, node.end_mark.index
        quotes = 1 if getattr(node, "style", None) in ("'", '"') else 0
        return self._whole.part(start + quotes, end - quotes)

    def extensible(self, launch: Launch) -> Launch:
        """``launch``, with where and how its sweep takes another parameter: before the first."""
        if self._first is None:
            return launch
        mark, is_flow = self._first
        if is_flow:
            added = "{key}: {{value: {value}}}, "
        else:
            before = self._whole.text[: mark.index]
            newline = "\r\n" if before.endswith("\r\n" + " " * mark.column) else "\n"
            margin = " " * mark.column
            added = f"{{key}}:{newline}{margin}  value: {{value}}{newline}{margin}"
        return replace(launch, added=added, added_at=mark.index)


def _child(node: Any, key: str) -> Any:
    return _entries(node).get(key)


def _entries(node: Any) -> dict[str, Any]:
    """The values of a mapping by their keys, as nodes; of anything else none."""
    pairs = getattr(node, "value", None)
    if getattr(node, "id", "") != "mapping" or not isinstance(pairs, list):
        return {}
    return {str(key.value): value for key, value in pairs}


def _entry_nodes(node: Any) -> Iterator[tuple[Any, bool]]:
    """Where each key of a mapping begins, and whether it stands between braces."""
    if getattr(node, "id", "") == "mapping":
        for key, _ in node.value:
            yield key.start_mark, bool(node.flow_style)


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


def _values(given: object, written: Sequence[Placed]) -> list[Placed]:
    """What a parameter may be; ``$name`` stands for what the sweep chooses while it runs."""
    if isinstance(given, dict):
        found = [given["value"]] if "value" in given else []
        if isinstance(given.get("values"), list):
            found = given["values"] or ["${values}"]
        texts = [str(each) for each in found]
        if texts:
            # YAML reads 0x10 and 1_000 as other characters than there are.
            alike = [each.text for each in written] == texts
            return list(written) if alike else [Placed(each) for each in texts]
    return [Placed("${sweep}")]


def _line(sweep: Mapping[str, Any], point: Mapping[str, Placed]) -> Placed:
    command = sweep.get("command")
    words: list[Placed] = []
    for word in map(str, command if isinstance(command, list) else DEFAULT_COMMAND):
        words += _expanded(word, str(sweep.get("program", "")), point)
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
