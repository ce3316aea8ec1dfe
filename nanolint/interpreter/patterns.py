"""``re``: what plain patterns make of texts that are known; of all others nothing is known."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.interpreter.values import Namespace, Native
from nanolint.regex import lazily

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value

CHARACTERS = lazily(r"\\.|\[\^?]?(?:\\.|[^\]])*\]", re.DOTALL)  # one of them, as in a pattern
QUANTIFIERS = lazily(r"[*+?{]")
LONGEST = 1 << 12  # characters: with one quantifier a search is at most quadratic
FLAGS = (
    "A",
    "ASCII",
    "I",
    "IGNORECASE",
    "M",
    "MULTILINE",
    "S",
    "DOTALL",
    "U",
    "UNICODE",
    "VERBOSE",
)
# What gives texts, and how many texts it is given.
GIVING_TEXTS: dict[str, tuple[Callable[..., object], int]] = {
    "split": (re.split, 2),
    "findall": (re.findall, 2),
    "sub": (re.sub, 3),
    "escape": (re.escape, 1),
}
OTHER = ("compile", "match", "search", "fullmatch", "finditer", "subn")


def regular_expressions(machine: Machine) -> Namespace:
    """The module."""

    def known(name: str) -> Native:
        function, texts = GIVING_TEXTS[name]

        def applied(*given: Value, **options: Value) -> Value:
            plain = len(given) == texts and not options and all(map(_is_short, given))
            if not plain or len(QUANTIFIERS.findall(CHARACTERS.sub("", given[0]))) > 1:
                return machine.unknown(f"the result of re.{name}")
            return function(*given)

        return Native(f"re.{name}", applied, plain=False)

    def unknown(name: str) -> Native:
        return Native(
            f"re.{name}", lambda *_, **__: machine.unknown(f"the result of re.{name}"), plain=False
        )

    names: dict[str, Value] = {name: known(name) for name in GIVING_TEXTS}
    names |= {name: unknown(name) for name in OTHER}
    return Namespace("re", names | {name: getattr(re, name) for name in FLAGS})


def _is_short(value: Value) -> bool:
    return isinstance(value, str) and len(value) <= LONGEST
