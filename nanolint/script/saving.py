"""``torch.save`` and ``torch.load``: what a script writes to a file that it may load again.

Only sizes are kept, nothing is held: a file has no part in who holds a tensor.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.interpreter.torch.calling import device_of
from nanolint.interpreter.values import Function, Unknown
from nanolint.script import chances, files
from nanolint.script.weights import Piece, Stored
from nanolint.tensors.dtypes import INT32
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


BYTES_OF_TOKENS = "token_bytes"  # of a file with a number for each token


def load(machine: Script, file: Value, map_location: Value = None, *_: Value, **__: Value) -> Value:
    """``torch.load``."""
    path = file.path if isinstance(file, files.File) else file
    path = path.tail if isinstance(path, files.Somewhere) else path
    if isinstance(path, str) and BYTES_OF_TOKENS in path and machine.around.vocabulary is not None:
        device = device_of(machine, map_location) or machine.host
        return empty(device, (machine.around.vocabulary,), INT32, chances.DATA)
    mapped = _mapped(machine, map_location)
    if mapped is machine.host:
        machine.presumes = True
        return Stored(machine.place)
    if mapped is not None or map_location is None:
        own = loaded(machine, path, mapped)
        if own is not None:
            return own
    machine.presumes = True
    return machine.checkpoint.load(machine.place, is_placed=mapped is not None)


def _mapped(machine: Script, location: Value) -> Device | None:
    """Where ``map_location`` has them; None where that is not known."""
    if isinstance(location, (Unknown, dict)) or location is None:
        return None
    if isinstance(location, Function):
        return machine.host if _keeps_storage(location.node) else None
    return device_of(machine, location)


def _keeps_storage(node: ast.AST) -> bool:
    """``lambda storage, location: storage``: it is given what the host has read."""
    if not isinstance(node, ast.Lambda) or not isinstance(node.body, ast.Name):
        return False
    return bool(node.args.args) and node.body.id == node.args.args[0].arg
