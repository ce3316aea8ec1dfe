"""The numbers that a script gives names to, its texts without them, and those that count steps.

The numbers that a script gives names to, and its texts without them: ``learning_rate = 6e-4``.

Texts that differ in fractions alone have the same tape, unless the reading looks at one of them
(``interpreter/watched.py``). Those that differ in whole numbers may share one
(``recording/symbolic_cache.py``).
What has a name that nobody uses decides nothing, be it a number, a text or a truth value:
``wandb_project = "owt"`` if nothing is logged.

The constants that a text gives names to.

Who types changes a line of a text. Where that line has whole statements of the module, before and
after, nothing else is another thing, and it alone is parsed: 0.1 ms instead of 2 to 5, for each of
half a dozen texts that a keystroke makes.

What is known of a script's numbers that count steps, of whatever run.

It is the same if a whole number stands for a fraction that is being typed: that is another
family of runs, of the same script.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, deque
from dataclasses import field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.frozen import dataclass
from nanolint.run.program import SETTINGS
from nanolint.source.python import new_tree, python_tree, statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from nanolint.run.program import SourceText


ASSIGNMENTS = (ast.Assign, ast.AnnAssign)
DECORATED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)  # by lines before their own
MOST_LATELY = 16  # texts, of which one may be another line away
MOST_LINES = 4  # that differ
OTHER_BREAKS = ("\r", "\f")  # which Python's own lines end with, or not
FAILURES = (SyntaxError, ValueError, RecursionError, MemoryError)


class Named(NamedTuple):
    """A constant where it stands in its line, in bytes, and what it is given to; ``is_global``
    where that is one name of the module's own."""

    line: int
    start: int
    end: int
    value: Any
    name: str
    is_global: bool


class _Text(NamedTuple):
    """What was found in a text, and which of its lines hold whole statements of the module."""

    lines: list[str]
    named: tuple[Named, ...]
    whole: frozenset[int]


@lru_cache(maxsize=64)
def named(text: str) -> tuple[Named, ...]:
    """Whatever constants have a name, in their order; none where Python cannot parse the text.

    >>> [(each.name, each.value) for each in named("a = b = 1; c: int = 2; d = (3, 4)")]
    [('a', 1), ('c', 2)]
    """
    lines = text.split("\n")
    others = (_changed(each, lines) for each in tuple(_lately))  # threads may add some
    found = next((each for each in others if each is not None), None)
    if found is None:
        try:
            tree = python_tree(text)
        except FAILURES:
            return ()
        is_usual = not any(each in text for each in OTHER_BREAKS)
        whole = frozenset(_whole_lines(tree)) if is_usual else frozenset()
        found = _Text(lines, _in_order(_of(tree)), whole)
    _lately.appendleft(found)
    return found.named


_lately: deque[_Text] = deque(maxlen=MOST_LATELY)


def _changed(other: _Text, lines: list[str]) -> _Text | None:
    """What is in a text, from another one that only whole lines are another thing in."""
    if len(lines) != len(other.lines):
        return None
    pairs = enumerate(zip(lines, other.lines, strict=True), 1)
    changed = {at for at, (own, its) in pairs if own != its}
    if len(changed) > MOST_LINES or not other.whole.issuperset(changed):
        return None
    found = [each for each in other.named if each.line not in changed]
    for at in changed:
        own = _of_line(lines[at - 1])
        if own is None:
            return None
        found += [each._replace(line=at) for each in own]
    return _Text(lines, _in_order(found), other.whole)


def _in_order(found: Iterable[Named]) -> tuple[Named, ...]:
    return tuple(sorted(found, key=lambda each: each[:2]))


def _of_line(line: str) -> tuple[Named, ...] | None:
    """What is in a line of whole statements; None for another one."""
    if any(each in line for each in OTHER_BREAKS):
        return None
    try:
        tree = new_tree(line)
    except FAILURES:
        return None
    return tuple(_of(tree)) if tree.body else None


def _whole_lines(tree: ast.Module) -> Iterator[int]:
    """The lines with statements of the module that begin and end there."""
    longer = set[int]()
    for each in tree.body:
        is_decorated = isinstance(each, DECORATED) and each.decorator_list
        if each.end_lineno != each.lineno or is_decorated:
            longer.update(range(each.lineno, (each.end_lineno or each.lineno) + 1))
    yield from {each.lineno for each in tree.body} - longer


def _of(tree: ast.Module) -> Iterator[Named]:
    own = frozenset(map(id, tree.body))
    for each in statements(tree):
        if isinstance(each, ASSIGNMENTS) and isinstance(value := each.value, ast.Constant):
            yield _given(each, value, is_global=id(each) in own)


def _given(to: ast.Assign | ast.AnnAssign, value: ast.Constant, *, is_global: bool) -> Named:
    targets = to.targets if isinstance(to, ast.Assign) else [to.target]
    name = targets[0].id if isinstance(targets[0], ast.Name) else ""
    is_short = value.lineno == value.end_lineno and len(targets) == 1
    is_plain = is_global and is_short and bool(name) and not name.startswith("__")
    end = value.end_col_offset or 0
    return Named(value.lineno, value.col_offset, end, value.value, name, is_plain)


# Whole numbers that count: how long it trains, and when something is done. Sizes hardly ever follow
# from them, and they are typed often.
COUNTS = re.compile(r"iter|step|interval|every|warmup|epoch|seed", re.IGNORECASE)
WORD = re.compile(r"[^\W\d]\w*")
# How a program comes to a value without saying its name: ``getattr(config, f"{key}_size")``.
UNNAMED = re.compile(
    r"\b(globals|locals|vars|dir|exec|eval|__dict__|attrgetter|getmembers|__getattribute__)\b"
    r"|\bimport\s+\(?\*|\bgetattr\b(?!\([\w.]+, *[\"'])"
)
Spot = tuple[str, int, int]  # a path, a line, a column in bytes


class Numbered(NamedTuple):
    """A text with its named constants, but for those ``unused``."""

    source: SourceText
    named: tuple[Named, ...]
    unused: tuple[Named, ...]

    def of(self, kinds: tuple[type, ...]) -> tuple[Named, ...]:
        """The constants of these types."""
        return tuple(each for each in self.named if type(each.value) in kinds)


@lru_cache(maxsize=64)  # one keystroke asks eighty times, for a few runs
def without(
    modules: tuple[SourceText, ...], kinds: tuple[type, ...] = (float,)
) -> tuple[tuple[SourceText, ...], tuple[Any, ...]]:
    """The texts with nothing in the places of named fractions, or of the ``kinds``, and those in
    their order; nor with anything in those of constants that nobody uses."""
    found = [(each, each.of(kinds)) for each in _numbered(modules)]
    texts = tuple(
        replace(each.source, text=_cut(each.source.text, named, each.unused))
        for each, named in found
    )
    return texts, tuple(each.value for _, named in found for each in named)


def counting(modules: Iterable[SourceText]) -> dict[int, int]:
    """Which of the named whole numbers count, by their places among these, with those among all
    numbers; also one that stands for a fraction, as the first digit of ``1e-4`` does meanwhile."""
    found = [each for text in _numbered(tuple(modules)) for each in text.of((int, float))]
    fractions = {each.name for each in found if type(each.value) is float}
    whole = [(at, each.name) for at, each in enumerate(found) if type(each.value) is int]
    return {
        place: at
        for place, (at, name) in enumerate(whole)
        if name in fractions or COUNTS.search(name)
    }


def spots(modules: Iterable[SourceText], kinds: tuple[type, ...] = (float,)) -> Mapping[Spot, int]:
    """Which of them stands where, by its number in that order."""
    listed = [
        (text.source.path, each.line, each.start)
        for text in _numbered(tuple(modules))
        for each in text.of(kinds)
    ]
    return {spot: at for at, spot in enumerate(listed)}


def of_any_kind(texts: Iterable[SourceText]) -> tuple[SourceText, ...]:
    """Texts without numbers, of which it is not told whether they were whole."""
    marks = _mark(int), _mark(float)
    return tuple(replace(each, text=each.text.replace(*marks)) for each in texts)


@lru_cache(maxsize=64)  # one keystroke asks forty times, for a few runs
def _numbered(listed: tuple[SourceText, ...]) -> tuple[Numbered, ...]:
    """Of files of settings none, nor where two files are shown by one path."""
    times = Counter(each.path for each in listed)
    in_texts = [
        () if times[each.path] > 1 or each.module.startswith(SETTINGS) else named(each.text)
        for each in listed
    ]
    unused = _unused([each.text for each in listed], [name for each in in_texts for name in each])
    return tuple(
        Numbered(
            each,
            tuple(one for one in own if one.name not in unused),
            tuple(one for one in own if one.name in unused),
        )
        for each, own in zip(listed, in_texts, strict=True)
    )


def _unused(texts: Iterable[str], named: Iterable[Named]) -> frozenset[str]:
    """The names of modules that no text has but where it gives them a constant."""
    given = Counter(each.name for each in named if each.is_global)
    said = [_words(text) for text in texts]
    if None in said:
        return frozenset()
    return frozenset(
        name for name, times in given.items() if sum(each[name] for each in said if each) == times
    )


def _words(text: str) -> Counter[str] | None:
    """How often each word stands in a text, comments included; None where names are no words."""
    return None if UNNAMED.search(text) else Counter(WORD.findall(text))


def _cut(text: str, named: tuple[Named, ...], unused: tuple[Named, ...]) -> str:
    """With what stands in their places: a number of another kind is another script."""
    marks = [(each, _mark(type(each.value))) for each in named]
    marks += [(each, "\0unused") for each in unused]
    lines = text.encode("utf-8", "surrogatepass").splitlines(keepends=True)
    for each, mark in sorted(marks, key=lambda mark: mark[0][:2], reverse=True):
        line = lines[each.line - 1]
        lines[each.line - 1] = line[: each.start] + mark.encode() + line[each.end :]
    return b"".join(lines).decode("utf-8", "surrogatepass")


def _mark(kind: type) -> str:
    """What stands in the place of a number."""
    return f"\0{kind.__name__}"


@dataclass(frozen=True, slots=True)
class Script:
    """A script without its numbers: those that count steps and that a second tape has shown to be
    followed, and such that it cannot be read with as symbolic ones."""

    shown: set[int] = field(default_factory=set)
    plain: set[frozenset[int]] = field(default_factory=set)


class Counts:
    """Those of a family's numbers that count steps; ``numbers`` are these in its script, by their
    places in the family, which are others where a whole number stands for a fraction."""

    def __init__(self, numbers: Mapping[int, int], script: Script) -> None:
        self._numbers, self._script = numbers, script
        self.places = frozenset(numbers)

    @property
    def shown(self) -> frozenset[int]:
        """The places of those that are shown to be followed."""
        shown = self._script.shown
        return frozenset(place for place, number in self._numbers.items() if number in shown)

    def show(self, places: frozenset[int]) -> None:
        """A second tape has shown that some are followed."""
        self._script.shown.update(self._numbers[each] for each in places & self.places)

    @property
    def are_plain(self) -> bool:
        """Whether the script cannot be read with symbolic ones."""
        return frozenset(self._numbers.values()) in self._script.plain

    def fail(self) -> None:
        """The script cannot be read with symbolic ones."""
        self._script.plain.add(frozenset(self._numbers.values()))


@lru_cache(maxsize=64)
def script_of(_texts: tuple[SourceText, ...]) -> Script:
    """What is known of a script, from whatever run of it."""
    return Script()
