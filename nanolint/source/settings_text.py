"""The values of a YAML or JSON text, as Python's readers give them, with where each stands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nanolint.errors import Refused
from nanolint.frozen import dataclass
from nanolint.regex import lazily
from nanolint.source.json_places import elements, end_of, members, skip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.source.values import Scalar

MOST_NODES = 10_000  # an alias counts each time
DEEPEST = 50
# omegaconf/_utils.py, get_yaml_loader: 1e-4 is a number there, and text in PyYAML.
_FLOAT = lazily(r"[-+]?(\d[\d_]*\.?[\d_]*|\.[\d_]+)([eE][-+]?\d+)?")


class NoSettings(Refused):
    """A text that is not what it is read as. Its own text is one line."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value, and its characters; not ``known``: of a kind that no setting has."""

    value: Scalar
    start: int
    end: int
    known: bool = True


@dataclass(frozen=True, slots=True)
class Listed:
    """The items of a list."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Mapped:
    """The entries of a mapping, the last of each key."""

    entries: tuple[tuple[Scalar, Node], ...]


Node = Leaf | Listed | Mapped


def read_json(text: str) -> Node:
    """The value of a JSON text. Raises NoSettings."""
    try:
        json.loads(text)
        return _of_json(text, skip(text, 0), _Count())
    except (ValueError, RecursionError) as error:
        raise NoSettings(f"it is no JSON: {error}") from None


def read_yaml(text: str, *, floats: bool = False) -> Node:
    """The value of a YAML text, as PyYAML reads it; ``floats``: as OmegaConf does. Raises
    NoSettings."""
    import yaml

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is None:
            return Leaf(None, 0, 0)
        return _of_yaml(node, yaml.constructor.SafeConstructor(), floats, _Count())
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise NoSettings(f"it is no YAML: {str(error).splitlines()[0]}") from None


class _Count:
    """How many nodes there are, and how deep this one is. ``enter`` raises ValueError."""

    def __init__(self) -> None:
        self._nodes = 0

    def enter(self, depth: int) -> None:
        self._nodes += 1
        if self._nodes > MOST_NODES or depth > DEEPEST:
            raise ValueError("it holds more than is read")


def _of_json(text: str, at: int, count: _Count, depth: int = 0) -> Node:
    count.enter(depth)
    if text[at] == "{":
        found = ((key, _of_json(text, start, count, depth + 1)) for key, start in members(text, at))
        return Mapped(tuple(dict(found).items()))
    if text[at] == "[":
        return Listed(tuple(_of_json(text, each, count, depth + 1) for each in elements(text, at)))
    end = end_of(text, at)
    return Leaf(json.loads(text[at:end]), at, end)


def _of_yaml(node: Any, reader: Any, floats: bool, count: _Count, depth: int = 0) -> Node:
    count.enter(depth)
    if node.id == "mapping":
        if any(key.tag.endswith(":merge") for key, _ in node.value):
            reader.flatten_mapping(node)
        found: dict[Scalar, Node] = {}
        for key, value in node.value:
            leaf = _scalar(key, reader, floats) if key.id == "scalar" else None
            if leaf is not None and leaf.known:
                found[leaf.value] = _of_yaml(value, reader, floats, count, depth + 1)
        return Mapped(tuple(found.items()))
    if node.id == "sequence":
        return Listed(
            tuple(_of_yaml(each, reader, floats, count, depth + 1) for each in node.value)
        )
    return _scalar(node, reader, floats)


def _scalar(node: Any, reader: Any, floats: bool) -> Leaf:
    import yaml

    start, end = node.start_mark.index, node.end_mark.index
    try:
        value = reader.construct_object(node)
    except (yaml.YAMLError, ValueError):
        return Leaf(None, start, end, known=False)
    if floats and isinstance(value, str) and node.style is None and _FLOAT.fullmatch(value):
        value = float(value.replace("_", ""))
    known = value is None or isinstance(value, (int, float, str))
    return Leaf(value if known else None, start, end, known)


def leaves(node: Node) -> Iterator[Leaf]:
    """Every value, in its order."""
    if isinstance(node, Leaf):
        yield node
    elif isinstance(node, Listed):
        for each in node.items:
            yield from leaves(each)
    else:
        for _, each in node.entries:
            yield from leaves(each)
