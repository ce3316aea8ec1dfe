"""Operations whose formulas no recorded expression holds: they are doubted where they are compiled.

Each by the name of its formula, or of what it makes of elements, with the name that a doubt says.
``validation/recorded/compiled_operations.json`` has what PyTorch allocates for single expressions;
tests/tables/test_known_operations.py holds this list to it.
"""

from __future__ import annotations

UNVERIFIED: dict[str, str] = {
    "multinomial": "multinomial",
    "padded_heads": "attention of heads that are padded",
}
