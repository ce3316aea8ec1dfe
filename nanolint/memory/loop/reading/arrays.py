"""Arrays of numpy and what loads data: they are tensors of the host.

A file of tokens is an array that is long enough for any run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.model.reading.values import Instance, Namespace, Native
from nanolint.memory.tape import Component
from nanolint.memory.tensors.dtypes import DTYPES, INT16, INT32, INT64, Dtype
from nanolint.memory.tensors.ops.conversion import to
from nanolint.memory.tensors.role import role
from nanolint.memory.tensors.tensor import Tensor, empty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanolint.memory.loop.reading.machine import Script
    from nanolint.memory.model.reading.values import Value

TOKENS = 1 << 40  # of a file: more than any run reads
MOST_NUMBERS = 1_000_000
UINT16 = Dtype("uint16", 2, INT16.kind)
DATA = role("data", Component.INPUTS)


def numpy(machine: Script) -> Namespace:
    def tokens(*given: Value, dtype: Value = None, **_: Value) -> Value:
        kind = next((each for each in (*given, dtype) if isinstance(each, Dtype)), INT64)
        return empty(machine.host, (TOKENS,), kind, DATA)

    found: dict[str, Value] = {
        each: Native(f"numpy.{each}", tokens, plain=False)
        for each in ("load", "memmap", "fromfile", "frombuffer")
    }
    found |= {name: kind for name, kind in DTYPES.items() if name != "bool"}
    found |= {"uint16": UINT16, "ndarray": Namespace("ndarray", {})}
    return Namespace("numpy", found)


def is_tokens(x: Tensor) -> bool:
    """Whether it is a file of tokens, which is long enough for any run."""
    return len(x.shape) == 1 and x.shape[0] >= TOKENS // 2


def are_numbers(x: Tensor) -> bool:
    """Whether it is a row of whole numbers: places in a file of tokens, perhaps."""
    return len(x.shape) == 1 and x.shape[0] <= MOST_NUMBERS and x.dtype in (INT32, INT64)


def _astype(_machine: Script, x: Tensor, dtype: Value = INT64, **_: Value) -> Tensor:
    return to(x, dtype if isinstance(dtype, Dtype) else INT64)


def _copied(_machine: Script, x: Tensor, *_: Value, **__: Value) -> Tensor:
    return x


OF_ARRAYS: dict[str, Callable[..., Value]] = {
    "astype": _astype,
    "copy": _copied,
    "pin_memory": _copied,
}


def of_array(machine: Script, x: Tensor, name: str) -> Native:
    """A method of numpy's arrays."""
    method = OF_ARRAYS[name]
    return Native(name, lambda *given, **named: method(machine, x, *given, **named), plain=False)


def batches(machine: Script, dataset: Value, size: Value) -> Iterator[Value]:
    """What a data loader makes of a data set: its first element, as often as a batch has room."""
    if isinstance(dataset, Instance) and dataset.cls.has("__iter__"):
        elements = machine.iterate(dataset)
        while True:
            yield _collated(machine, next(elements), size)
    if isinstance(dataset, Instance) and dataset.cls.has("__getitem__"):
        while True:
            yield _collated(machine, machine.item(dataset, 0), size)
    while True:
        yield machine.unknown("what a data loader loads")


def _collated(machine: Script, element: Value, size: Value) -> Value:
    if isinstance(element, Tensor) and isinstance(size, int):
        return empty(machine.host, (size, *element.shape), element.dtype, DATA)
    if isinstance(element, tuple | list):
        return type(element)(_collated(machine, each, size) for each in element)
    return machine.unknown("what a data loader loads")
