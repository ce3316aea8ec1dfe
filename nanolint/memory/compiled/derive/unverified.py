"""Operations whose formulas no recorded expression holds: they are doubted where they are compiled.

Each by the name of its formula, or of what it makes of elements, with the name that a doubt says.
``validation/recorded/compiled_operations.json`` has what PyTorch allocates for single expressions;
tests/memory/compiled/test_known_operations.py holds this list to it.
"""

from __future__ import annotations

UNVERIFIED: dict[str, str] = {
    "arctangent": "atan",
    "clipped": "hardtanh",
    "hyperbolic function": "sinh or cosh",
    "index_add": "index_add",
    "leaky ReLU output": "leaky_relu",
    "multinomial": "multinomial",
    "padded_heads": "attention of heads that are padded",
    "preserved": "clone",
    "put": "index_put",
    "safe_softmax": "a softmax of rows that are masked whole",
    "scatter": "scatter",
    "scatter_add": "scatter_add",
    "taken": "the gradient of index_put",
}
