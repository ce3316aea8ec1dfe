"""Arrays of numpy and what loads data: they are tensors of the host.

A file of tokens is an array that is long enough for any run. numpy's functions are torch's of the
same name, on the host and in numpy's types: 64 bits, unless something else says so.
"""

from __future__ import annotations

from itertools import chain, repeat
from math import prod
from typing import TYPE_CHECKING

from nanolint.interpreter.certain import is_certain, refusal
from nanolint.interpreter.exceptions import CATCHABLE, let_go
from nanolint.interpreter.values import (
    CONTENTS,
    Instance,
    Namespace,
    Native,
    Raised,
    Unknown,
    Unread,
)
from nanolint.interpreter.watched import Index, Real
from nanolint.script import settings
from nanolint.script.alike import until_alike
from nanolint.script.chances import DATA, of_numpy
from nanolint.script.lengths import Lengths
from nanolint.tensors import refusing
from nanolint.tensors.dtypes import (
    DTYPES,
    FLOAT64,
    FLOATING,
    INT32,
    INT64,
    INTEGER,
    OF_PYTHON,
    Dtype,
)
from nanolint.tensors.ops.conversion import to
from nanolint.tensors.ops.joining import stack
from nanolint.tensors.tensor import Rows, Tensor, empty
from nanolint.tensors.unknown import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nanolint.interpreter.values import Place, Value
    from nanolint.script.machine import Script

TOKENS = 1 << 40  # of a file: more than any run reads
OF_DATA = TOKENS >> 1  # a size above it comes of that: it is none
MOST_NUMBERS = 1_000_000
HEAD = 4096  # numbers of the head of a file, at most
LOADS = "the data of a data loader"  # of which nothing else is known


class Loaded(Unknown):
    """Data that a data loader loads; only the number of ``rows`` is known."""

    __slots__ = ("rows",)

    def __init__(self, rows: int, place: Place) -> None:
        super().__init__(LOADS, place)
        self.rows = rows

    def part(self, name: Value) -> Unknown:
        """``batch["text"]`` has as many; a row by itself is another thing."""
        return self if isinstance(name, str) else self.bare()


def numpy(machine: Script) -> Namespace:
    def tokens(
        *given: Value,
        dtype: Value = None,
        shape: Value = None,
        count: Value = None,
        **_: Value,
    ) -> Value:
        kinds = [each for each in (*given, dtype) if isinstance(each, Dtype)]
        machine.made_up.of_file |= not kinds  # it says itself what it holds
        kind = kinds[0] if kinds else INT64
        machine.teller.reads(kind)
        if type(count) is int and 0 < count <= HEAD:  # what a file begins with
            return empty(machine.host, (count,), kind, DATA)
        return empty(machine.host, _rows_of(shape), kind, DATA)

    found: dict[str, Value] = {
        each: Native(f"numpy.{each}", tokens, plain=False)
        for each in ("load", "memmap", "fromfile", "frombuffer", "fromstring")
    }
    torch = machine.library("torch").names
    found |= functions(machine)
    found |= {
        "stack": torch["stack"],
        "concatenate": torch["cat"],
        "random": of_numpy(machine),
        "split": Native("numpy.split", lambda *given: _split(machine, *given), plain=False),
        "newaxis": None,
        "dtype": Native("numpy.dtype", lambda kind: _kind(machine, kind)),
        **dict.fromkeys(("array", "asarray", "ascontiguousarray"), _made(machine)),
    }
    found |= {**NUMPY, "ndarray": Namespace("ndarray", {})}
    return Namespace("numpy", found)


def _rows_of(shape: Value) -> tuple[int, ...]:
    """The shape of a file of tokens: as many rows as any run reads, each as long as is said."""
    if isinstance(shape, tuple) and len(shape) > 1 and all(type(n) is int for n in shape[1:]):
        return (TOKENS, *shape[1:])
    return (TOKENS,)


def _split(machine: Script, data: Value, at: Value, *_: Value) -> Value:
    """``numpy.split`` of a file of tokens: each part is as long as what is read of it."""
    bounds = isinstance(at, (list, tuple))
    if not isinstance(data, Tensor) or not is_tokens(data) or not (bounds or type(at) is int):
        return machine.unknown("numpy.split")
    count = len(at) + 1 if bounds else at
    return [empty(machine.host, (TOKENS,), data.dtype, DATA) for _ in range(count)]


def _kind(machine: Script, kind: Value) -> Value:
    return kind_of(kind) or machine.unknown(f"numpy.dtype({kind!r})")


def _made(machine: Script) -> Native:
    """``numpy.array``: of what is one already, or of a list of them, or of whole numbers."""

    def array(data: Value, dtype: Value = None, **_: Value) -> Value:
        if isinstance(data, Unknown):
            return data.bare()
        if isinstance(data, Rows):
            data = stack(data)
        elif isinstance(data, (list, tuple)) and data and isinstance(data[0], Tensor):
            data = machine.call(machine.library("torch").names["stack"], [list(data)])
        if isinstance(data, list) and (size := _counted(data)) is not None:
            data = empty(machine.host, (size,), INT64, DATA)
        elif (numbers := of_list(machine, data)) is not None:
            data = numbers
        if not isinstance(data, Tensor):
            return machine.unknown("an array of numbers")
        return to(data, dtype) if isinstance(dtype, Dtype) else data

    return Native("numpy.array", array, plain=False)


def _counted(data: list[Value]) -> int | None:
    """How many whole numbers a list has, None where it has anything else."""
    if not data or len(data) > MOST_NUMBERS:
        return None
    return len(data) if all(type(each) in (int, Index) for each in data) else None


def of_numbers(machine: Script) -> Native:
    """``torch.tensor``, also of numbers that are not known: of integers, and of others if the
    type is given (of numpy's it would be another one)."""
    made = machine.library("torch").names["tensor"]

    def known(data: Value, others: type[Unknown]) -> Value:
        if isinstance(data, (list, tuple)) and len(data) <= MOST_NUMBERS:
            return [known(each, others) for each in data]
        return 0 if isinstance(data, (Index, others)) else data

    def tensor(data: Value, **options: Value) -> Value:
        numbers = Real if isinstance(options.get("dtype"), Dtype) else Index
        data = stack(data) if isinstance(data, Rows) else known(data, numbers)
        parts = data if isinstance(data, list) else [data]
        lacking = next((each for each in parts if isinstance(each, Unknown)), None)
        stays = options.get("device") is None and machine.default is machine.host
        if lacking is not None and stays:
            return lacking.bare()  # on the host: it matters where it is moved
        return machine.call(made, [data], options)

    return Native("torch.tensor", tensor, plain=False)


def listed(machine: Script, x: Tensor) -> Value:
    """``x.tolist()``: as many numbers as it has, none of them known."""
    if not x.shape or prod(x.shape) > MOST_NUMBERS:
        return machine.unknown(CONTENTS)

    def numbers(shape: tuple[int, ...]) -> Value:
        if shape:
            return [numbers(shape[1:]) for _ in range(shape[0])]
        return Index(CONTENTS, machine.place, object()) if is_whole else machine.unknown(CONTENTS)

    is_whole = x.dtype in (INT32, INT64)
    return numbers(tuple(x.shape))


def is_number(machine: Script, x: Tensor) -> bool:
    """Whether it is one whole number of the host's."""
    return x.device is machine.host and x.dtype in (INT32, INT64) and x.shape in ((), (1,))


def has_numbers(machine: Script, x: Tensor) -> bool:
    """Whether its elements are whole numbers of the host's."""
    return x.device is machine.host and len(x.shape) == 1 and x.dtype.kind == INTEGER


def is_tokens(x: Tensor) -> bool:
    """Whether it is a file of tokens, which is long enough for any run."""
    return len(x.shape) == 1 and x.shape[0] > MOST_NUMBERS


def are_numbers(x: Tensor) -> bool:
    """Whether it is a row of whole numbers: places in a file of tokens, perhaps."""
    return len(x.shape) == 1 and x.shape[0] <= MOST_NUMBERS and x.dtype.kind == INTEGER


def _astype(_machine: Script, x: Tensor, dtype: Value = INT64, **_: Value) -> Tensor:
    return to(x, kind_of(dtype) or INT64)


def _copied(_machine: Script, x: Tensor, *_: Value, **__: Value) -> Tensor:
    return x


def _numpy(_machine: Script, x: Tensor, *_: Value, **__: Value) -> Tensor:
    refusing.without_gradient(x)
    return x


def _bytes(machine: Script, _x: Tensor, *_: Value, **__: Value) -> Value:
    return machine.unknown(CONTENTS)


OF_ARRAYS: dict[str, Callable[..., Value]] = {
    "astype": _astype,
    "copy": _copied,
    "numpy": _numpy,
    "pin_memory": _copied,
    "tobytes": _bytes,
}


def of_array(machine: Script, x: Tensor, name: str) -> Native:
    """A method of numpy's arrays."""
    method = OF_ARRAYS[name]
    return Native(name, lambda *given, **named: method(machine, x, *given, **named), plain=False)


def batches(
    machine: Script,
    dataset: Value,
    size: Value,
    collate: Value = None,
    drop_last: Value = False,
    sampler: Value = None,
) -> Iterator[Value]:
    """Yields the batches of a data loader: the first element of its data set, as often as a batch
    has room.

    If the number of samples is known, it ends after the last batch, which may be smaller.
    """
    elements, count = _elements(machine, dataset), count_of(machine, dataset)
    loaded = iter(lambda: _loaded(machine, elements, size, collate), elements)
    if type(size) is not int or count is None:
        return until_alike(machine, loaded)
    size = max(1, min(size, count))
    number, rest = divmod(count, size)
    most = number + (rest > 0)
    if sampler is not None or dataset.cls.has("__iter__"):
        return until_alike(machine, loaded, most)
    last = (rest,) if rest and drop_last is not True else ()
    sizes = chain(repeat(size, number), last)
    return until_alike(machine, (_loaded(machine, elements, each, collate) for each in sizes), most)


def count_of(machine: Script, dataset: Value) -> int | None:
    """How many samples a data set has, where that is known."""
    if not isinstance(dataset, Instance) or not dataset.cls.has("__len__"):
        return None
    try:
        count = machine.call(machine.attribute(dataset, "__len__"), [])
    except (Unread, Raised, *CATCHABLE) as error:
        let_go(error)
        return None
    return count if type(count) is int and count > 0 else None


def _loaded(machine: Script, elements: Iterator[Value], size: Value, collate: Value) -> Value:
    """The next batch; not known where the data set's own code cannot be read."""
    before = machine.card.tape.mark()
    outside, lengths = machine.lengths, Lengths()
    machine.lengths = lengths
    printed = machine.printed.mark()
    try:
        batch = _batch(machine, elements, size, collate)
        if lengths.were_asked:
            shapes = _shapes(batch)
            lengths.are_halved = lengths.are_fewer = True
            if _shapes(_batch(machine, elements, size, collate)) != shapes:
                lengths.are_halved = False
                fewer = _shapes(_batch(machine, elements, size, collate))
                if not lengths.are_bounded or fewer != shapes:
                    raise machine.unread("how long a sequence is")
                settings.doubt(machine, "assuming that a text is as long as its limit")
        return batch
    except (Unread, Raised, *CATCHABLE) as error:
        if machine.card.tape.mark() != before or is_certain(error):
            raise
        let_go(error)
        why = error.reason if isinstance(error, Unread) else f"{type(error).__name__}: {error}"
        return machine.unknown(why if why.startswith(LOADS) else f"{LOADS} ({why})")
    finally:
        machine.lengths = outside
        machine.printed.forget(printed)  # it may be read twice, and by other processes


def _shapes(batch: Value) -> Value:
    """The shapes of the tensors of a batch."""
    if isinstance(batch, Tensor):
        return batch.shape
    if isinstance(batch, dict):
        return {name: _shapes(each) for name, each in batch.items()}
    return [_shapes(each) for each in batch] if isinstance(batch, (list, tuple)) else None


def _elements(machine: Script, dataset: Value) -> Iterator[Value]:
    if isinstance(dataset, Instance) and dataset.cls.has("__iter__"):
        yield from machine.iterate(dataset)
    indexed = isinstance(dataset, list) and dataset
    if indexed or (isinstance(dataset, Instance) and dataset.cls.has("__getitem__")):
        while True:
            yield machine.item(dataset, 0)
    while True:
        element = machine.item(dataset, 0) if isinstance(dataset, Unknown) else None
        yield machine.unknown(LOADS) if element is None or isinstance(element, Unknown) else element


def _batch(machine: Script, elements: Iterator[Value], size: Value, collate: Value) -> Value:
    doubts = len(machine.doubts)
    element = next(elements)
    if size is None:  # the data set makes batches by itself
        return element
    if not isinstance(size, int):
        return machine.unknown(LOADS)
    if _lies_on_card(machine, element):
        if len(machine.doubts) > doubts:  # a sample was taken for a batch
            del machine.doubts[doubts:]
            raise machine.unread("a sample on the card")
        # The data set puts each of them there; all are, until the batch is made of them.
        samples = [element, *(next(elements) for _ in range(size - 1))]
        del element
        return machine.call(collate, [samples]) if collate else _stacked(machine, samples)
    if collate is not None:
        return machine.call(collate, [[element] * size])
    return _collated(machine, element, size)


def _lies_on_card(machine: Script, element: Value) -> bool:
    if isinstance(element, (tuple, list)):
        return any(_lies_on_card(machine, each) for each in element)
    if isinstance(element, dict):
        return _lies_on_card(machine, list(element.values()))
    return isinstance(element, Tensor) and element.device is machine.card


def _stacked(machine: Script, samples: list[Value]) -> Value:
    """``default_collate`` of samples on the card."""
    first = samples[0]
    if isinstance(first, (tuple, list)):
        return type(first)(_stacked(machine, list(each)) for each in zip(*samples, strict=True))
    if isinstance(first, dict):
        return {name: _stacked(machine, [each[name] for each in samples]) for name in first}
    if isinstance(first, Tensor) and first.device is machine.card:
        return machine.call(machine.library("torch").names["stack"], [samples])
    return _collated(machine, first, len(samples))


def _collated(machine: Script, element: Value, size: int) -> Value:
    """``default_collate`` (torch/utils/data/_utils/collate.py)."""
    if isinstance(element, Tensor):
        return empty(machine.host, (size, *element.shape), element.dtype, DATA)
    if isinstance(element, (tuple, list)):
        return type(element)(_collated(machine, each, size) for each in element)
    if isinstance(element, dict):
        return {name: _collated(machine, each, size) for name, each in element.items()}
    if isinstance(element, (int, float)) and not isinstance(element, bool):
        kind = INT64 if isinstance(element, int) else FLOAT64
        return empty(machine.host, (size,), kind, DATA)
    if element is None:
        raise refusal(Refused(f"{OTHER}<class 'NoneType'>", TypeError))
    return Loaded(size, machine.place)


OTHER = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found "
UINT16, UINT32, UINT64 = (Dtype(f"uint{8 * size}", size, INTEGER) for size in (2, 4, 8))
UNSIGNED = {each.name: each for each in (UINT16, UINT32, UINT64)}
# numpy's types by all of their names (numpy/_core/numerictypes.py); some of torch's it lacks.
OWN = {
    **{name: each for name, each in DTYPES.items() if not name.startswith(("bfloat", "float8"))},
    **UNSIGNED,
}
ALSO = {"bool_": "bool", "byte": "int8", "ubyte": "uint8", "short": "int16", "ushort": "uint16"}
ALSO |= {"intc": "int32", "uintc": "uint32", "half": "float16", "single": "float32"}
ALSO |= {"csingle": "complex64", "cdouble": "complex128", "complex_": "complex128"}
ALSO |= {
    **dict.fromkeys(("long", "longlong", "int_", "intp"), "int64"),
    **dict.fromkeys(("ulong", "ulonglong", "uint", "uintp"), "uint64"),
    **dict.fromkeys(("double", "float_"), "float64"),
}
NUMPY = OWN | {name: OWN[other] for name, other in ALSO.items()}
BY_NAME = {**NUMPY, "float": FLOAT64, "int": INT64, "complex": NUMPY["cdouble"]}
# ``"<u2"``: a letter and how many bytes an element has.
LETTERS = {"i": "int", "u": "uint", "f": "float", "c": "complex"}
MADE = ("zeros", "ones", "empty")
ALIKE = ("maximum", "minimum", "tril", "triu", "where", "outer", "abs", "clip", "full", "arange")
FRACTIONS = ("sin", "cos", "tanh", "exp", "log", "sqrt")


def functions(machine: Script) -> dict[str, Value]:
    """numpy's, by their names."""
    torch = machine.library("torch").names
    found: dict[str, Value] = {name: _function(machine, name, torch[name]) for name in MADE}
    found |= {name: _alike(machine, name, torch[name]) for name in ALIKE}
    found |= {name: _fractions(machine, name, torch[name]) for name in FRACTIONS}
    return found


def kind_of(dtype: Value) -> Dtype | None:
    """The type that numpy makes of ``float``, of a name, or of one of its own."""
    if isinstance(dtype, str):
        kind, size = LETTERS.get(dtype.lstrip("<=|")[:1]), dtype.lstrip("<=|")[1:]
        if kind is not None and size.isdigit():
            return BY_NAME.get(f"{kind}{8 * int(size)}")
        return BY_NAME.get(dtype)
    if isinstance(dtype, Dtype):
        return dtype
    return OF_PYTHON.get(dtype) if isinstance(dtype, type) else None


def _function(machine: Script, name: str, function: Value) -> Native:
    def made(shape: Value, dtype: Value = float, *_: Value, **__: Value) -> Value:
        kind = kind_of(dtype)
        if kind is None:
            return machine.unknown(f"the type of numpy.{name}")
        return machine.call(function, [shape], {"dtype": kind})

    return Native(f"numpy.{name}", made, plain=False)


def _alike(machine: Script, name: str, function: Value) -> Native:
    """One of the same types as its operands, but for numbers with a point, which are long."""

    def computed(*given: Value, dtype: Value = None, **named: Value) -> Value:
        if any(isinstance(each, Unknown) for each in given):
            return machine.unknown(f"the result of numpy.{name}")
        if "k" in named:
            named["diagonal"] = named.pop("k")
        found = machine.call(function, list(given), named)
        kind = kind_of(dtype)
        if not isinstance(found, Tensor):
            return found
        if kind is not None:
            return to(found, kind)
        from_arrays = any(isinstance(each, Tensor) for each in given)
        is_short = found.dtype.kind == FLOATING and not from_arrays
        return to(found, FLOAT64) if is_short else found

    return Native(f"numpy.{name}", computed, plain=False)


def _fractions(machine: Script, name: str, function: Value) -> Native:
    """Of whole numbers it makes long ones with a point."""

    def computed(x: Value, *_: Value, **__: Value) -> Value:
        if not isinstance(x, Tensor):
            return machine.unknown(f"the result of numpy.{name}")
        is_whole = x.dtype.kind < FLOATING
        return machine.call(function, [to(x, FLOAT64) if is_whole else x])

    return Native(f"numpy.{name}", computed, plain=False)


def of_list(machine: Script, data: Value) -> Tensor | None:
    """An array of numbers in lists; None of anything else, and of rows that differ."""
    shape, kinds, rest = list[int](), set[type](), data
    while isinstance(rest, (list, tuple)) and rest:
        shape.append(len(rest))
        rest = rest[0]
    if not shape or not _fits(data, shape, kinds) or bool in kinds:
        return None
    return empty(machine.host, tuple(shape), FLOAT64 if float in kinds else INT64, DATA)


def _fits(data: Value, shape: list[int], kinds: set[type]) -> bool:
    """Whether lists are as long as ``shape`` says, and hold numbers, of such ``kinds``."""
    if not shape:
        kinds.add(type(data))
        return type(data) in (int, float, bool)
    if not isinstance(data, (list, tuple)) or len(data) != shape[0]:
        return False
    return all(_fits(each, shape[1:], kinds) for each in data)
