"""A number that a model computes is the one that Python computes, or it is not known."""

from __future__ import annotations

from nanolint.interpreter.values import Unread
from tests.support.python_expressions import PROGRAMS
from tests.unit.interpreter.test_programs import read, text_of

MORE = (  # what only the interpreter of scripts knows
    "import math\nn = round(math.expm1(1) * 10) + int(math.fsum([0.5, 1.5])) +"
    " round(math.gamma(5)) + math.frexp(8.0)[1]",
    "from typing import TypeAlias\nS: TypeAlias = str | int | list['S'] | tuple['S', ...] | None\n"
    "T = str | float | None\n"
    "n = isinstance(3, int | str) + 2 * isinstance(None, int | None) + 4 * isinstance(2.0, T)",
)
TENSOR = "held = torch.zeros({}, 7, device=x.device)"


def test_most_of_them_are_known() -> None:
    known = 0
    for program in PROGRAMS:
        try:
            read(text_of(f"{program}\n{TENSOR.format('n')}"))
        except Unread:
            continue
        known += 1
    assert known >= 0.85 * len(PROGRAMS)
