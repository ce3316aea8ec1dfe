"""The numbers that a script gives names to, and its texts without them: ``learning_rate = 6e-4``.

Texts that differ in fractions alone have the same tape, unless the reading looks at one of them
(``model/reading/watched.py``); those that differ in whole numbers may share one (``family.py``).
What has a name that nobody uses decides nothing, be it a number, a text or a truth value:
``wandb_project = "owt"`` where nothing is logged.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.run.program import SETTINGS
from nanolint.tape.named import named as named_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from nanolint.run.program import SourceText
    from nanolint.tape.named import Named

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
    named = [
        () if times[each.path] > 1 or each.module.startswith(SETTINGS) else named_in(each.text)
        for each in listed
    ]
    unused = _unused([each.text for each in listed], [name for each in named for name in each])
    return tuple(
        Numbered(
            each,
            tuple(one for one in own if one.name not in unused),
            tuple(one for one in own if one.name in unused),
        )
        for each, own in zip(listed, named, strict=True)
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


@lru_cache(maxsize=64)
def _words(text: str) -> Counter[str] | None:
    """How often each word stands in a text, comments included; None where names are no words."""
    return None if UNNAMED.search(text) else Counter(WORD.findall(text))


@lru_cache(maxsize=64)
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
