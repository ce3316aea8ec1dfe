"""Scripts that chance has composed of people's habits take what PyTorch takes for them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from tests.support.repository import ROOT
from validation.composed import NUMBERS, TABLE, composed
from validation.record_variations import CARD, digest_of, rows

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "docs" / "trust.md"
ROWS = rows(TABLE)
FAILED = {n for n in NUMBERS if ROWS[str(n)]["allocated"] is None}  # in PyTorch
# In doubt: checkpointed, and joins parts of sums.
NOT_SURE = {
    *(112, 164, 174, 208, 220, 226, 230, 254),
    *(308, 310, 318, 328, 330, 348, 420, 434, 488, 500, 598, 600),
    *(608, 622, 634, 638, 676, 702, 704, 734, 758, 780, 804, 816, 828, 830, 856, 890),
    *(894, 906),
}
# Compiled, and other bytes than PyTorch's, by these percents: not mended yet.
OFF = {758: -0.017}


@pytest.mark.parametrize("number", [each for each in NUMBERS if each not in FAILED])
def test_a_script_takes_what_pytorch_takes(tmp_path: Path, number: int) -> None:
    row, text = ROWS[str(number)], composed(number)
    assert row["text"] == digest_of(text)
    found = explained(tmp_path, text, card=CARD)
    sure = found.get("trust") == "read" and found.get("doubts") == found.get("left_open") == []
    assert sure is (number not in NOT_SURE)
    told, real = found["peak"]["allocated_bytes"], row["allocated"]
    assert (told == real) is (number not in OFF)
    assert 100 * (told - real) / real == pytest.approx(OFF.get(number, 0), abs=0.005)


def test_the_page_counts_them() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    sure = [each for each in NUMBERS if each not in FAILED | NOT_SURE]
    kinds = Counter(each % 2 == 0 for each in sure)
    assert f"Of {kinds[False]} that are not compiled all are equal to the byte" in page
    assert not OFF.keys() - NOT_SURE
    assert f"of {kinds[True]} that are compiled {kinds[True]} are, too" in page
    equal = len(NOT_SURE) - len(OFF)
    assert f"Of {len(NOT_SURE)} in doubt {equal} are equal, and 758 is 0.02 % too low" in page
