"""What a tensor is called is what it is: the shape and the type in its name make up its bytes.

These take seconds each.
"""

from __future__ import annotations

import pytest

from nanolint.tape.tape import rounded
from tests.unit.recording.test_names import ITEM_BYTES, SHAPE, numel, tapes


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_the_shape_in_a_name_makes_up_the_bytes(compiled: bool) -> None:
    wrong: set[object] = set()
    right: set[object] = set()
    for run, tape in tapes():
        if run.compile is not compiled:
            continue
        for name, nbytes in zip(tape.names, tape.sizes, strict=True):
            shape = SHAPE.search(name)
            if shape is None or "rows" in shape[1]:
                continue
            items = [ITEM_BYTES[shape[2]]] if shape[2] else ITEM_BYTES.values()
            fits = nbytes in {rounded(size * numel(shape[1], run)) for size in items}
            (right if fits else wrong).add((name, run.dtype, run.attention))
    assert wrong == set()
    assert len(right) > 50
