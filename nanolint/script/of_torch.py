"""torch outside of a model: files, random numbers, devices.

Of a file that a script writes and may load again only sizes are kept, nothing is held: a file has
no part in who holds a tensor.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from nanolint.interpreter.certain import refusal
from nanolint.interpreter.torch.calling import device_of
from nanolint.interpreter.values import Function, Namespace, Native, Unknown, silent
from nanolint.script import arrays, chances, files, settings
from nanolint.script.arrays import UNSIGNED
from nanolint.script.printing import CUDA
from nanolint.script.processes import count_of
from nanolint.script.weights import Piece, Stored
from nanolint.tensors import held
from nanolint.tensors.dtypes import FLOAT32, INT16, INT32, INT64
from nanolint.tensors.tensor import Tensor, empty
from nanolint.tensors.unknown import Refused

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script
    from nanolint.tensors.device import Device


def save(machine: Script, value: Value, path: Value = None, *_: Value, **__: Value) -> None:
    """``torch.save``."""
    machine.teller.saves(value)
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


ACCELERATOR, ACCELERATOR_SINCE = "torch.accelerator", (2, 6)
WHOLE = (*UNSIGNED.values(), INT16, INT32, INT64)  # the types of tokens


def names(machine: Script) -> dict[str, Value]:
    """The functions by their names."""

    def same(x: Value, *_: Value, **__: Value) -> Value:
        return x

    refused = machine.around.refuses_float8
    without = {} if refused is None else {"_scaled_mm": _refused(machine, refused)}
    return without | {
        "from_numpy": Native("from_numpy", same),
        "from_file": Native("from_file", partial(_of_file, machine), plain=False),
        "empty": _of_any_length(machine),
        **{name: _of_any_texts(machine, name) for name in ("zeros", "ones", "full")},
        **UNSIGNED,
        "randint": _without_bounds(machine),
        "tensor": arrays.of_numbers(machine),
        "save": Native("save", partial(save, machine), plain=False),
        "is_complex": silent("is_complex", value=False),
        "load": Native("load", partial(load, machine), plain=False),
        **settings.table(machine),
        "manual_seed": silent("manual_seed"),
        "device": Native("torch.device", partial(_named, machine), plain=False),
        "version": Namespace("torch.version", {"cuda": CUDA, "hip": None}),
    }


def accelerator(machine: Script) -> dict[str, Value]:
    """``torch.accelerator``, if this release has it: the card, by no name of its own."""
    if machine.version < ACCELERATOR_SINCE:
        return {}
    known: dict[str, Value] = {
        "is_available": silent("is_available", value=True),
        "current_accelerator": silent("current_accelerator", machine.card),
        "current_device_index": silent("current_device_index", 0),
        "device_count": Native("device_count", lambda: count_of(machine), plain=False),
        **{each: silent(each) for each in ("set_device_index", "synchronize")},
    }
    return {ACCELERATOR: Namespace(ACCELERATOR, known)}


def _of_file(
    machine: Script,
    _file: Value,
    _shared: Value = None,
    size: Value = 0,
    *,
    dtype: Value = FLOAT32,
    **_: Value,
) -> Value:
    """``torch.from_file``: numbers of the host's."""
    return empty(machine.host, (size,), dtype, chances.DATA)


def _of_any_length(machine: Script) -> Native:
    """``torch.empty``; one that a file's own words say the length of is as long as a file is."""
    made = machine.library("torch").names["empty"]

    def array(*size: Value, **options: Value) -> Value:
        dtype, on_host = options.get("dtype"), options.get("device") is None
        if len(size) == 1 and isinstance(size[0], Unknown) and on_host and dtype in WHOLE:
            return empty(machine.host, (arrays.TOKENS,), dtype, chances.DATA)
        return machine.call(made, list(size), options)

    return Native("torch.empty", array, plain=False)


def _of_any_texts(machine: Script, name: str) -> Native:
    """``torch.zeros((4, longest))`` for the tokens of texts that are evaluated, whose longest only
    the run has: it is taken for as long as the model's context, which is more than most are."""
    made = machine.library("torch").names[name]

    def rows(*given: Value, **options: Value) -> Value:
        listed = isinstance(given[0], (tuple, list)) if given else False
        if name == "full" and isinstance(given[-1], Unknown) and "dtype" in options:
            given = (*given[:-1], 0)  # what fills it means nothing to memory
        sizes = tuple(given[0]) if listed else given[:2]
        longest = sizes[1] if len(sizes) == 2 else None
        _, context = machine.around.shape
        is_evaluated = machine.phases.evaluates and context and options.get("device") is None
        if (
            not isinstance(longest, Unknown)
            or not is_evaluated
            or options.get("dtype") not in WHOLE
        ):
            return machine.call(made, list(given), options)
        machine.made_up.add(context)
        taken = f"assuming that evaluated texts have {context:,} tokens ({machine.place})"
        machine.at_most.append((taken, len(machine.card.tape.events)))
        rest = given[1:] if listed else given[2:]
        return machine.call(made, [(sizes[0], context), *rest], options)

    return Native(f"torch.{name}", rows, plain=False)


def _refused(machine: Script, why: str) -> Native:
    """An operation that ends the run."""

    def ends(*_: Value, **__: Value) -> Value:
        raise machine.unread(why)

    return Native(why, ends, plain=False)


def _without_bounds(machine: Script) -> Native:
    """``torch.randint``, whose bounds mean nothing to memory."""
    made = machine.library("torch").names["randint"]

    def randint(*given: Value, **options: Value) -> Value:
        sizes = () if "size" in options else given[-1:]
        bounds = [1 for _ in given[: len(given) - len(sizes)]]
        named = {name: each for name, each in options.items() if name not in ("low", "high")}
        found = machine.call(made, [*bounds, *sizes], named)
        low, high = options.get("low", 0), options.get("high")
        if bounds:
            high = given[len(bounds) - 1]
            low = given[0] if len(bounds) == 2 else low
        if not any(map(machine.made_up.has, (low, high))):
            if type(low) is int and type(high) is int and low >= high:
                words = f"expects 'from' to be less than 'to', but got from={low} >= to={high}"
                raise refusal(Refused(f"random_ {words}"))
            found.held = held.drawn(low, high)
        return chances.start(machine, found)

    return Native("randint", randint, plain=False)


def _named(machine: Script, name: Value, number: Value = None) -> Value:
    if isinstance(name, str) and name.startswith("meta"):
        return machine.meta
    try:
        return device_of(machine, name, number)
    except RuntimeError as error:  # which PyTorch raises once a tensor is put there
        return machine.unknown(str(error))
