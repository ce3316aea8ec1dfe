"""Answers about the name by which the driver calls a card: ``NVIDIA H100 80GB HBM3``.

nanolint's names are shorter, and the words around the model differ from board to board.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.regex import lazily

if TYPE_CHECKING:
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
