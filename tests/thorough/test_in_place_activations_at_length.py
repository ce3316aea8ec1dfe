"""Activations and dropout that write into what they are given.

The figures are of PyTorch 2.13, traced (``nanolint trace --gpu rtx-4070``).

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
from tests.unit.interpreter.test_in_place_activations import BASE, COMPILED, GELU, peaks


def test_an_activation_in_place_that_is_compiled(tmp_path: Path) -> None:
    compiled = BASE.replace("model = GPT().to(device)\n", COMPILED)
    for activation in ("elu", "relu", "leaky_relu"):
        text = compiled.replace(GELU, f"F.{activation}(self.up(x), inplace=True)")
        assert peaks(tmp_path, text) == (55_755_264, 69_206_016)
