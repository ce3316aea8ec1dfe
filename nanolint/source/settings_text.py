"""The values of a YAML or JSON text, as Python's readers give them, with where each stands."""

from __future__ import annotations

import json
from dataclasses import field
from typing import TYPE_CHECKING, Any

from nanolint.errors import Refused
from nanolint.frozen import dataclass
from nanolint.regex import lazily
from nanolint.source.json_places import elements, end_of, members, skip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.source.values import Scalar

MOST_CHARACTERS = 1 << 17  # of a YAML text, and of all its values; PyYAML takes seconds for more
MOST_NODES = 10_000  # an alias counts each time
DEEPEST = 50
MOST_BITS = 4096  # of a whole number; Python writes no more than 4,300 digits
TOO_DEEP = "it is nested too deeply"
MERGE = "tag:yaml.org,2002:merge"
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
    """The entries of a mapping, the last of each key.

    ``first`` is where its first key stands in a YAML text, ``column`` counts from the beginning of
    that line, and with ``is_flow`` the keys stand between braces.
    """

    entries: tuple[tuple[Scalar, Node], ...]
    first: int | None = field(default=None, compare=False)
    column: int = field(default=0, compare=False)
    is_flow: bool = field(default=False, compare=False)


Node = Leaf | Listed | Mapped


def read_json(text: str) -> Node:
    """The value of a JSON text. Raises NoSettings."""
    try:
        json.loads(text)
        return _of_json(text, skip(text, 0), Count())
    except ValueError as error:
        raise NoSettings(f"it is not JSON: {str(error).partition(';')[0]}") from None
    except RecursionError:
        raise NoSettings(TOO_DEEP) from None


def read_yaml(text: str, *, floats: bool = False) -> Node:
    """The value of a YAML text, as PyYAML reads it; ``floats``: as OmegaConf does. Raises
    NoSettings."""
    import yaml

    if len(text) > MOST_CHARACTERS:
        raise NoSettings(f"it is longer than {MOST_CHARACTERS:,} characters")
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is None:
            return Leaf(None, 0, 0)
        return _Yaml(floats).node(node)
    except yaml.MarkedYAMLError as error:
        what = error.problem or error.context
        raise NoSettings(f"it is not YAML: {what}{_place(error.problem_mark)}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise NoSettings(f"it is not YAML: {str(error).splitlines()[0]}") from None
    except RecursionError:
        raise NoSettings(TOO_DEEP) from None


def _place(mark: Any) -> str:
    return "" if mark is None else f", line {mark.line + 1}, column {mark.column + 1}"


class Count:
    """How many nodes there are, how deep this one is, and the characters of all values."""

    def __init__(self) -> None:
        self._nodes = self._characters = 0

    def enter(self, depth: int, characters: int = 0) -> None:
        """Count one more. Raises NoSettings for more than is read."""
        self._nodes += 1
        self._characters += characters
        if self._nodes > MOST_NODES or depth > DEEPEST or self._characters > MOST_CHARACTERS:
            raise NoSettings("it holds more than is read")


def _of_json(text: str, at: int, count: Count, depth: int = 0) -> Node:
    count.enter(depth)
    if text[at] == "{":
        found = ((key, _of_json(text, start, count, depth + 1)) for key, start in members(text, at))
        return Mapped(tuple(dict(found).items()))
    if text[at] == "[":
        return Listed(tuple(_of_json(text, each, count, depth + 1) for each in elements(text, at)))
    end = end_of(text, at)
    return Leaf(json.loads(text[at:end]), at, end)


class _Yaml:
    """Takes the nodes that PyYAML composes, an alias each time that it stands there."""

    def __init__(self, floats: bool) -> None:
        import yaml

        self._reader = yaml.constructor.SafeConstructor()
        self._floats = floats
        self._count = Count()

    def node(self, node: Any, depth: int = 0) -> Node:
        """The value of a node."""
        if node.id == "scalar":
            return self._scalar(node, depth)
        self._count.enter(depth)
        if node.id == "sequence":
            return Listed(tuple(self.node(each, depth + 1) for each in node.value))
        found: dict[Scalar, Node] = {}
        for key, value in self._pairs(node, depth):
            leaf = self._scalar(key, depth) if key.id == "scalar" else None
            if leaf is not None and leaf.known:
                found[leaf.value] = self.node(value, depth + 1)
        mark = node.value[0][0].start_mark if node.value else None
        first, column = (mark.index, mark.column) if mark is not None else (None, 0)
        return Mapped(tuple(found.items()), first, column, bool(node.flow_style))

    def _pairs(self, node: Any, depth: int) -> Iterator[tuple[Any, Any]]:
        """The keys and values of a mapping, those first that it merges (``<<: *base``)."""
        merged = [value for key, value in node.value if key.tag == MERGE]
        for each in merged:
            parts = reversed(each.value) if each.id == "sequence" else (each,)
            for part in parts:
                self._count.enter(depth)
                if part.id != "mapping":
                    where = _place(part.start_mark)
                    raise NoSettings(
                        f"it is not YAML: it merges a value that is not a mapping{where}"
                    )
                yield from self._pairs(part, depth + 1)
        for key, value in node.value:
            self._count.enter(depth)
            if key.tag != MERGE:
                yield key, value

    def _scalar(self, node: Any, depth: int) -> Leaf:
        import yaml

        start, end = node.start_mark.index, node.end_mark.index
        self._count.enter(depth, len(node.value))
        try:
            value = self._reader.construct_object(node)
        except yaml.YAMLError:  # a tag that another loader may know
            return Leaf(None, start, end, known=False)
        except (LookupError, AttributeError, ValueError, TypeError, ArithmeticError):
            kind = node.tag.rpartition(":")[2]
            what = f"{node.value[:40]!r} is not a value of type {kind}{_place(node.start_mark)}"
            raise NoSettings(f"it is not YAML: {what}") from None
        if self._floats and isinstance(value, str) and node.style is None:
            value = float(value.replace("_", "")) if _FLOAT.fullmatch(value) else value
        known = value is None or isinstance(value, (float, str))
        known = known or (isinstance(value, int) and value.bit_length() <= MOST_BITS)
        return Leaf(value if known else None, start, end, known)
