"""What one run leaves on the disk for the next: the JSON beside the weights of a checkpoint."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass

if TYPE_CHECKING:
    from nanolint.run.terms import Place
    from nanolint.source.settings_text import Node

ANY = "*"  # what stands in a path for what only a run tells


@dataclass(frozen=True, slots=True)
class Saved:
    """What a script writes to ``name``, in which ``*`` stands for what is not known.

    ``by`` says for people which run writes it, and ``place`` where that is told: its launch line.
    """

    name: str
    contents: Node
    place: Place | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the call in ``line`` of the file ``path`` reads."""

    path: str
    line: int
    contents: Node


def meet(one: str, other: str) -> bool:
    """Whether two paths may be one: ``*/base/*/meta_*.json``, ``out/base/d12/meta_*.json``.

    A leading ``*`` is any folder, however deep.
    """
    left, right = one.split("/"), other.split("/")
    while left and right:
        first, second = left.pop(), right.pop()
        if (first == ANY and not left) or (second == ANY and not right):
            return True
        if not (fnmatchcase(first, second) or fnmatchcase(second, first)):
            return False
    return left == right == []
