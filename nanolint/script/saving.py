"""``torch.save``: what a script writes to a file that it may load again.

Only sizes are kept, nothing is held: a file has no part in who holds a tensor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.script.weights import Piece
from nanolint.tensors.tensor import Tensor, empty

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script
    from nanolint.tensors.device import Device


def save(machine: Script, value: Value, path: Value = None, *_: Value, **__: Value) -> None:
    """``torch.save``."""
    if isinstance(path, str):
        machine.saved[path] = _packed(value)


def _packed(value: Value) -> dict[str, Piece] | None:
    """The state of a model; None of what has anything besides, whose size is not known."""
    state = value if isinstance(value, dict) else {}
    numbers: dict[int, int] = {}
    found: dict[str, Piece] = {}
    for name, each in state.items():
        # Of a view the whole memory is written, which is more than its shape tells.
        if not isinstance(each, Tensor) or each.storage is None or each.is_view:
            return None
        number = numbers.setdefault(id(each.storage), len(numbers))
        found[name] = Piece(number, each.device, each.shape, each.dtype, each.role)
    return found or None


def loaded(machine: Script, path: Value, device: Device | None) -> dict[str, Tensor] | None:
    """Returns the result of ``torch.load`` for a file that the script has written; None of any
    other.

    ``device`` is that of ``map_location``, None if tensors come back to their own device.
    """
    packed = machine.saved.get(path) if isinstance(path, str) else None
    if packed is None:
        return None
    made: dict[int, Tensor] = {}
    for each in packed.values():
        if each.number not in made:
            made[each.number] = empty(device or each.device, each.shape, each.dtype, each.role)
    return {name: made[each.number].detach() for name, each in packed.items()}
