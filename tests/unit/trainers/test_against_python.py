"""A micro-batch that a script computes is the one that Python computes, or it is not known."""

from __future__ import annotations

import pytest

from nanolint.run.described import Role
from tests.support.python_expressions import PROGRAMS, value_of
from tests.unit.trainers.written_scripts import read, script


def micro_batch(program: str) -> int | None:
    found = read(script(f"{program}\nB = n\nT = 512\npasses = 4\n")).value(Role.MICRO_BATCH)
    return found if isinstance(found, int) else None


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_micro_batch_is_pythons_own_or_not_known(program: str) -> None:
    assert micro_batch(program) in (value_of(program), None)


def test_most_of_them_are_known() -> None:
    known = sum(micro_batch(program) is not None for program in PROGRAMS)
    assert known >= 0.45 * len(PROGRAMS)
