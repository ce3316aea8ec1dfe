"""Whole training scripts, read, against what PyTorch takes for them on a CUDA without a card.

Composed scripts are made of people's habits, by chance; variations each change one thing that
people change in a training script.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.support.explained import explained
from tests.support.rows import assert_row, each_row
from tests.tables import known_scripts as known
from validation import composed, record_variations
from validation.record_variations import CARD, digest_of, rows
from validation.variations import TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Script:
    """A traced script; ``reserved`` is None if it is not compared."""

    text: str
    row: dict[str, Any]
    anew: str
    card: str = CARD
    words: tuple[str, ...] = ()
    doubted: bool = False
    within: float = 0.0
    later: tuple[int, int] = (0, 0)
    reserved: bool = False
    open_is_doubted: bool = False


def composed_scripts() -> Iterator[tuple[str, Script]]:
    anew = "python validation/composed.py --python PYTHON NUMBER"
    table = rows(composed.TABLE)
    for number in composed.NUMBERS:
        row = table[str(number)]
        if row["allocated"] is not None:  # else it failed in PyTorch
            doubted = number in known.COMPOSED_IN_DOUBT
            off = known.COMPOSED_OFF.get(str(number), 0)
            text = composed.composed(number)
            within = abs(1.1 * off)
            yield (
                str(number),
                Script(text, row, anew, doubted=doubted, within=within, open_is_doubted=True),
            )
    for key, row in rows(composed.ELSEWHERE).items():
        release, number_ = key.split(": ")
        doubted = int(number_) in known.COMPOSED_ELSEWHERE_IN_DOUBT
        off = known.COMPOSED_OFF.get(key, 0)
        words = ("--torch-version", release)
        text = composed.composed(int(number_))
        within = abs(1.1 * off)
        yield (
            key,
            Script(text, row, anew, CARD, words, doubted, within, open_is_doubted=True),
        )


def variations() -> Iterator[tuple[str, Script]]:
    anew = "python validation/record_variations.py --python PYTHON NAME"
    table = rows()
    for name, text in TEXTS.items():
        yield (
            name,
            Script(
                text,
                table[name],
                anew,
                doubted=name in known.VARIATIONS_IN_DOUBT,
                later=known.KEPT_LATER.get(name, (0, 0)),
                reserved=name not in known.VARIATIONS_RESERVED_OTHERWISE,
            ),
        )
    for key, row in rows(record_variations.ELSEWHERE).items():
        where, name = key.split(": ", 1)
        release, card = where.split()
        reserved = key not in known.ELSEWHERE_RESERVED_OTHERWISE
        words = ("--torch-version", release)
        yield key, Script(TEXTS[name], row, anew, card, words, reserved=reserved)


COMPOSED = dict(composed_scripts())
VARIATIONS = dict(variations())


def assert_read(folder: Path, name: str, script: Script) -> dict[str, Any]:
    """The script is of its row, and doubted exactly if that is known; returns what is said."""
    assert script.row["text"] == digest_of(script.text), f"{name}: not the script that was traced"
    found = explained(folder, script.text, *script.words, card=script.card)
    said = found.get("doubts", []) + (found.get("left_open", []) if script.open_is_doubted else [])
    sure = found.get("trust") == "read" and not said
    assert sure is not script.doubted, (name, found.get("trust"), said)
    return found


@each_row("composed", COMPOSED)
def test_a_composed_script_takes_what_pytorch_takes(tmp_path: Path, name: str) -> None:
    script = COMPOSED[name]
    found = assert_read(tmp_path, name, script)
    told, recorded = found["peak"]["allocated_bytes"], script.row["allocated"]
    assert_row(name, script.anew, {"allocated": (told, recorded, script.within)})


@each_row("variations", VARIATIONS)
def test_a_variation_takes_what_pytorch_takes_or_is_doubted(tmp_path: Path, name: str) -> None:
    script = VARIATIONS[name]
    found = assert_read(tmp_path, name, script)
    if not script.doubted:
        peak, (later, later_reserved) = found["peak"], script.later
        figures = {"allocated": (peak["allocated_bytes"], script.row["allocated"] + later, 0.0)}
        if script.reserved:
            reserved = script.row["reserved"] + later_reserved
            figures["reserved"] = (peak["reserved_bytes"], reserved, 0)
        assert_row(name, script.anew, figures)
