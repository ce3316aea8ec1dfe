"""The operations that Inductor decomposes, or calls as they are, each with its backward pass.

A formula has the name and the arguments of the eager operation (nanolint/tensors/ops).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.inductor.derive.formulas import (
    attention,
    choosing,
    elements,
    indices,
    joining,
    loss,
    normalization,
    products,
    reductions,
    variance,
    views,
)

if TYPE_CHECKING:
    from nanolint.inductor.derive.capture import Formulas

FORMULAS: Formulas = {
    **attention.FORMULAS,
    **choosing.FORMULAS,
    **elements.FORMULAS,
    **indices.FORMULAS,
    **joining.FORMULAS,
    **loss.FORMULAS,
    **normalization.FORMULAS,
    **products.FORMULAS,
    **reductions.FORMULAS,
    **variance.FORMULAS,
    **views.FORMULAS,
}
