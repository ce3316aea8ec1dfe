"""Answers about what the driver says of a card: its name, ``NVIDIA H100 80GB HBM3``, and what of it
is free.

nanolint's names are shorter, and the words around the model differ from board to board. What is
free lies between two numbers.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from nanolint.regex import lazily

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.gpus.gpu import Gpu

UNKNOWN = "the name of the card"
_OF_BOARDS = lazily(r"\b(?:\d+ ?GB|SXM\d?|PCIe|NVL|Laptop|Workstation|Server|Max-Q|MIG.*)\b")
_MODEL = lazily(r"[A-Za-z]+\d+[A-Za-z]*|(?:RTX |GTX )?\d{4}(?: [A-Z][A-Za-z]*)?|RTX|GTX|rtx|gtx")


def model_of(gpu: Gpu | None) -> str:
    """The part of a card's name that the driver has, too; empty if it is not known.

    >>> from nanolint.gpus.lookup import find
    >>> model_of(find("h100").gpu), model_of(find("rtx-4090").gpu)
    ('H100', 'RTX 4090')
    """
    if gpu is None or gpu.vendor != "nvidia":
        return ""
    return " ".join(_OF_BOARDS.sub("", gpu.name).split())


def says(model: str, text: str) -> bool | None:
    """Whether the driver's name of a card has ``text`` in it; None if the model does not tell.

    >>> says("RTX 4090", "4090"), says("RTX 4090", "H100"), says("RTX 4090", "Laptop")
    (True, False, None)
    """
    if text and text in model:
        return True
    if not model or _OF_BOARDS.search(text) or not _MODEL.fullmatch(text):
        return None
    return False


LEAST_FREE_PERCENT = 90  # of a card that nobody else uses: the process's context takes the rest


class Between(NamedTuple):
    """A number that is no less than one and no more than the other."""

    least: Any
    most: Any


def free_of(total_bytes: int) -> Between:
    """Returns the free bytes of a card before a run allocates, if the run is alone on it."""
    return Between(total_bytes * LEAST_FREE_PERCENT // 100, total_bytes)


def between(how: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Returns ``how(*arguments)``; some arguments are ``Between``, and ``how`` rises or falls
    with each: a value if it is the same for all of them; None if it is one of two, or fails.

    >>> from operator import ge, floordiv, sub
    >>> between(ge, (Between(22, 24), 20)), between(ge, (Between(22, 24), 23))
    (True, None)
    >>> between(floordiv, (Between(22, 24), 10)), between(sub, (100, Between(22, 24)))
    (2, Between(least=76, most=78))
    """
    try:
        ends = product(*(each if isinstance(each, Between) else (each,) for each in arguments))
        found = [how(*each) for each in ends]
    except (ArithmeticError, TypeError, ValueError):
        return None
    if all(each == found[0] for each in found):
        return found[0]
    return None if isinstance(found[0], bool) else Between(min(found), max(found))
