"""``torch.load``: the device of what it reads."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nanolint.interpreter.torch.calling import device_of
from nanolint.interpreter.values import Function, Unknown
from nanolint.script import chances, files, saving
from nanolint.script.weights import Stored
from nanolint.tensors.dtypes import INT32
from nanolint.tensors.tensor import empty

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script
    from nanolint.tensors.device import Device

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
        own = saving.loaded(machine, path, mapped)
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
