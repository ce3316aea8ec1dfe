"""Calls of operations: settings come in PyTorch's words, and what is not known has a place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nanolint.interpreter.certain import certain, refusal
from nanolint.interpreter.counted import COUNTED, pinned
from nanolint.interpreter.counted import plain as unnoted
from nanolint.interpreter.listening import TOLD
from nanolint.interpreter.torch.signatures import is_misspelt
from nanolint.interpreter.values import Native, Unknown
from nanolint.interpreter.watched import ANY, Real, Size
from nanolint.run.stop import Cause
from nanolint.tensors import held, refusing
from nanolint.tensors.autograd import write
from nanolint.tensors.device import Device, NotTraced
from nanolint.tensors.dtypes import Dtype
from nanolint.tensors.names import call
from nanolint.tensors.parameter import LeafTensor
from nanolint.tensors.tensor import Tensor
from nanolint.tensors.unknown import DataDependent, NotModelled, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value


# Operations that a number takes part in, whatever it is, without and with an underscore.
WITH_NUMBERS = frozenset({"add", "sub", "mul", "div", "multiply", "divide", "true_divide", "lerp"})
SCALES = frozenset({"alpha", "beta", "value"})  # options that a tensor is multiplied with
OF_ANY_VALUE = frozenset({"ignore_index"})  # numbers that no memory hangs on; each has a default


# Those that a whole number says no size to.
OF_VALUES = frozenset(
    {
        *("clamp", "clip", "full", "fill", "tensor", "as_tensor", "pow", "manual_seed", "floordiv"),
        *("mod", "truediv", "eq", "ne", "lt", "le", "gt", "ge", "getitem", "setitem", "item"),
        *("iadd", "isub", "imul", "itruediv", "radd", "rsub", "rmul", "rtruediv", "rpow"),
        *("randint", "addcmul", "addcdiv", "select"),
    }
)
# Operators that write into their first operand.
IN_PLACE = frozenset({f"__{each}__" for each in ("iadd", "isub", "imul", "itruediv", "setitem")})
SIZES = frozenset({tuple, list, slice, *COUNTED})


# What takes tensors of several devices: copies, indices, shapes and values of others. An embedding
# says itself what it refuses.
OF_SEVERAL_DEVICES = frozenset(
    {
        *("__getitem__", "__setitem__", "copy_", "index_put_", "to", "type_as", "data"),
        *("expand_as", "view_as", "reshape_as", "tensor", "as_tensor", "new_tensor", "embedding"),
    }
)


def native(machine: Machine, name: str, function: Callable[..., Any]) -> Native:
    """An operation as a value of the program."""
    return Native(
        name,
        lambda *arguments, **options: operation(machine, name, function, arguments, options),
        plain=False,
    )


def operation(
    machine: Machine,
    name: str,
    function: Callable[..., Any],
    arguments: tuple[Value, ...],
    options: dict[str, Value],
) -> Value:
    """Returns the result of an operation. Raises Unread if it is not known."""
    for each in filter(is_misspelt, options):
        words = f"{name.rpartition('.')[2]}() got an unexpected keyword argument '{each}'"
        raise certain(TypeError(words), Cause.ARGUMENT)
    arguments = _without_turns(name, arguments)
    for key, each in options.items():
        if type(each) in SIZES:
            options[key] = (
                unnoted(each) if key in SCALES and type(each) in COUNTED else _sized(each)
            )
        elif key in SCALES and isinstance(each, Real):
            options[key] = ANY
    for number in OF_ANY_VALUE & options.keys():
        if isinstance(options[number], Unknown):
            del options[number]
    if name.rpartition(".")[2].removesuffix("_") in WITH_NUMBERS:
        arguments = tuple(ANY if isinstance(each, Real) else each for each in arguments)
    for each in (*arguments, *options.values()):
        for part in each if isinstance(each, (tuple, list)) else (each,):
            if isinstance(part, Size):
                options = {key: taken(machine, one) for key, one in options.items()}
                arguments = tuple(taken(machine, one) for one in arguments)
                return operation(machine, name, function, arguments, options)
            if isinstance(part, Unknown):
                raise part.unread()
    _on_one_device(machine, name, (*arguments, *options.values()))
    if "device" in options:
        options["device"] = device_of(machine, options["device"])
    short = name.rpartition(".")[2]
    writes = short in IN_PLACE or (short[-1] == "_" and short[:2] != "__")
    if writes and isinstance(arguments[0], Tensor):
        arguments[0].held = None
        if arguments[0].storage is not None:
            arguments[0].storage.changed = True
        if machine.card.tracer is None:
            write(arguments[0], machine.place)
        machine.listener.writes(arguments[0], short)
    options.pop("out", None)
    options.pop("generator", None)
    learns = options.pop("requires_grad", False)
    try:
        if short in refusing.OF_FRACTIONS and arguments and isinstance(arguments[0], Tensor):
            typed = any(isinstance(each, Dtype) for each in (*arguments, *options.values()))
            if arguments[0].device is machine.card and not typed:
                refusing.of_fractions(short, arguments[0])
        found = call(function, arguments, options, machine.default)
        if short in held.LOOKS_UP:
            held.look_up(short, arguments, options)
        if short in held.FOLLOWED and not any(map(machine.made_up.has, arguments)):
            held.follow(short, found, arguments, options)
        is_number = isinstance(found, Tensor) and not found.shape and found.requires_grad
        if is_number or short in TOLD:
            machine.listener.made(short, arguments, options, found)
        return _leaf(machine, found) if learns else found
    except held.Beyond as error:
        raise refusal(error.refused(machine.host)) from error
    except Refused as error:
        raise refusal(error, arguments) from error
    except DataDependent as error:
        raise machine.unread(f"{name}: {error} depends on values") from error
    except NotModelled as error:
        raise machine.unread(f"{name}: {error} is not known") from error
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        text = str(error).partition("\n")[0]
        raise machine.unread(f"{name} is not known for these arguments: {text}") from error


def taken(machine: Machine, value: Value) -> Value:
    """The value with numbers that stand for its sizes, from here on among the assumptions."""
    if type(value) is tuple or type(value) is list:
        return type(value)(taken(machine, each) for each in value)
    if isinstance(value, Size):
        machine.card.tape.assume(value.assumed)
        machine.made_up.numbers.add(value.value)
        return value.value
    return value


def _without_turns(name: str, arguments: tuple[Value, ...]) -> tuple[Value, ...]:
    """Arguments without the formulas of turns, which decide sizes, but for numbers that a tensor is
    multiplied with, filled with or looked up by."""
    if not any(type(each) in SIZES for each in arguments):
        return arguments
    short = name.rpartition(".")[2].strip("_")
    is_value = short in WITH_NUMBERS or short in OF_VALUES
    found = []
    for each in arguments:
        is_one = type(each) in COUNTED
        found.append(unnoted(each) if is_one and is_value else _sized(each))
    return tuple(found)


def _sized(value: Value) -> Value:
    """A size, a shape, or a slice; one that begins and ends by the turn is taken for as long in
    each."""
    kind = type(value)
    if kind is tuple or kind is list:
        return kind(map(_sized, value)) if any(type(each) in SIZES for each in value) else value
    if kind is slice:
        bounds = value.start, value.stop, value.step
        counted = sum(type(each) in COUNTED for each in bounds)
        return slice(*map(pinned if counted == 1 else unnoted, bounds)) if counted else value
    return pinned(value)


def _on_one_device(machine: Machine, name: str, given: tuple[Value, ...]) -> None:
    """Raises RuntimeError if some tensors are on the host and others are not; one without
    dimensions may lie on the host."""
    host, elsewhere = False, False
    for each in given:
        for part in each if isinstance(each, (tuple, list)) else (each,):
            if isinstance(part, Tensor):
                if part.device is not machine.host:
                    elsewhere = True
                elif part.shape:
                    host = True
    if host and elsewhere and name.rpartition(".")[2] not in OF_SEVERAL_DEVICES:
        raise refusal(
            Refused(
                "Expected all tensors to be on the same device, but found at least two devices, "
                "cuda:0 and cpu!"
            )
        )


def _leaf(machine: Machine, made: Tensor) -> Value:
    """A tensor that was made with ``requires_grad=True``; one of the host's may go unused."""
    if made.device is machine.host:
        return machine.unknown("a tensor that learns outside of the card")
    if machine.card.tracer is not None:
        raise NotTraced("a tensor that learns and is made inside")
    return LeafTensor(made)


def card_of(machine: Machine, named: Value) -> Device | None:
    """The device of ``.cuda(named)``: the current card if none is named."""
    return device_of(machine, "cuda" if named is None or isinstance(named, bool) else named)


def device_of(machine: Machine, named: Value, number: Value = None) -> Device | None:
    """The device of ``torch.device``, a name or a number; ``number`` is that of a bare name."""
    if isinstance(named, Unknown):
        raise named.unread()
    if named is None or isinstance(named, Device):
        return named
    if isinstance(named, Tensor):
        return named.device
    if isinstance(named, int):
        return machine.numbered(named)
    if isinstance(named, str):
        kind, _, index = named.partition(":")
        given = int(index) if index.isdecimal() else number
        own = given if isinstance(given, int) else None
        return machine.numbered(own) if kind == "cuda" else machine.host
    raise machine.unread(f"the device {named!r} is not known")
