"""A number that a model computes is the one that Python computes, or it is not known.

These take seconds each.
"""

from __future__ import annotations

import pytest

from nanolint.interpreter.values import Unread
from tests.support.python_expressions import PROGRAMS, value_of
from tests.unit.interpreter.test_against_python import MORE, TENSOR
from tests.unit.interpreter.test_programs import read, text_of


@pytest.mark.parametrize("program", (*PROGRAMS, *MORE))
def test_a_number_is_pythons_own_or_not_known(program: str) -> None:
    same = read(text_of(TENSOR.format(value_of(program))))
    try:
        found = read(text_of(f"{program}\n{TENSOR.format('n')}"))
    except Unread:
        return
    assert found.sizes == same.sizes
