"""Data sets of the package datasets: which columns functions of the script make, of what length.

Of their texts nothing is known, nor how many there are. What ``map`` is given is called as often as
a sample is asked for, with rows that stand for all.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.interpreter.values import Namespace, Native, Unknown
from nanolint.interpreter.watched import Index
from nanolint.script.chances import DATA
from nanolint.script.tokenizers import Encoding
from nanolint.tensors.dtypes import INT64
from nanolint.tensors.tensor import Tensor, empty

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

    Columns = dict[Value, Value]

TEXT = "the text of a data set"
ROWS = 8  # that a function is given at once: a longest sequence may be made of several
LOADED = ("load_dataset", "load_from_disk")
FROM = ("from_dict", "from_list", "from_generator", "from_pandas", "from_csv", "from_json")
# What gives other rows, or as many in another order.
ALIKE = (
    *("filter", "shuffle", "select", "sort", "skip", "take", "shard", "flatten_indices", "repeat"),
    *("cast", "cast_column", "to_iterable_dataset"),
)
TENSORS = ("torch", "pt")


class Rows(dict):  # type: ignore[type-arg]
    """Columns by their names; of others, if there are any, each is ``text``."""

    def __init__(self, known: Columns, text: Value) -> None:
        super().__init__(known)
        self.text = text

    def __missing__(self, name: Value) -> Value:
        if self.text is None:
            raise KeyError(name)
        return self.text


@dataclass(frozen=True, slots=True)
class Kind:
    """``columns`` gives those that are known, each with its value in one row; ``is_open``: there
    are others; ``is_whole``: it has several parts by their names; ``has_tensors``: what is a number
    in a row is a tensor."""

    columns: Callable[[], Columns] = dict
    is_open: bool = True
    is_whole: bool = False
    has_tensors: bool = False


class DataSet(Unknown):
    """One, or all parts of one."""

    __slots__ = ("kind",)

    def __init__(self, of: Unknown, kind: Kind) -> None:
        super().__init__(of.reason, of.place)
        self.kind = kind


def table(machine: Script) -> dict[str, Value]:
    """The package."""

    def loaded(*_: Value, split: Value = None, **__: Value) -> Value:
        if split is None or isinstance(split, str):
            return DataSet(machine.unknown(TEXT), Kind(is_whole=split is None))
        return machine.unknown(TEXT)

    def made(*_: Value, **__: Value) -> DataSet:
        return DataSet(machine.unknown(TEXT), Kind())

    names: dict[str, Value] = {name: Native(name, loaded, plain=False) for name in LOADED}
    of: dict[str, Value] = {name: Native(name, made, plain=False) for name in FROM}
    return {"datasets": Namespace("datasets", {**names, "Dataset": Namespace("Dataset", of)})}


def item(machine: Script, owner: DataSet, index: Value) -> Value:
    """``dataset["train"]``, a column, or a row."""
    kind = owner.kind
    if kind.is_whole:
        return DataSet(owner, replace(kind, is_whole=False))
    columns = {} if isinstance(index, str) else kind.columns()
    if not columns:
        return owner.bare()  # so is a whole column: nobody knows how many it has
    if not kind.has_tensors:
        return columns
    return {name: _as_tensor(machine, each) for name, each in columns.items()}


def _as_tensor(machine: Script, value: Value) -> Value:
    is_row = isinstance(value, list) and value and isinstance(value[0], (int, Index))
    return empty(machine.host, (len(value),), INT64, DATA) if is_row else value


def attribute(machine: Script, owner: DataSet, name: str) -> Value:
    """A method of a data set; what is not known of one gives nothing that is."""
    if name in ALIKE:
        return Native(name, lambda *_, **__: owner, plain=False)
    if name == "map":
        return Native(name, partial(_mapped, machine, owner), plain=False)
    if name == "remove_columns":
        return Native(name, partial(_without, owner), plain=False)
    if name == "with_format":
        return Native(name, partial(_formatted, owner), plain=False)
    if name == "set_format":

        def set_format(*given: Value, **named: Value) -> None:
            owner.kind = _formatted(owner, *given, **named).kind

        return Native(name, set_format, plain=False)
    if name == "train_test_split":
        whole = DataSet(owner, replace(owner.kind, is_whole=True))
        return Native(name, lambda *_, **__: whole, plain=False)
    return owner.bare()


def _formatted(owner: DataSet, *given: Value, columns: Value = None, **named: Value) -> DataSet:
    asked = given[0] if given else named.get("type")
    of, kind = owner.kind.columns, replace(owner.kind, has_tensors=asked in TENSORS)
    if not isinstance(columns, (list, tuple)):
        return DataSet(owner, kind)

    def chosen() -> Columns:
        found = of()
        return {name: each for name, each in found.items() if name in columns}

    return DataSet(owner, replace(kind, columns=chosen))


def _without(owner: DataSet, names: Value = None) -> DataSet:
    kind = owner.kind
    return DataSet(owner, replace(kind, columns=lambda: _rest(kind.columns(), names)))


def _rest(columns: Columns, removed: Value) -> Columns:
    """Those that are not removed: names that nobody knows are those of all columns."""
    if isinstance(removed, Unknown):
        return {}
    gone = removed if isinstance(removed, (list, tuple)) else [removed]
    return {name: each for name, each in columns.items() if name not in gone}


def _mapped(
    machine: Script,
    owner: DataSet,
    function: Value = None,
    *_: Value,
    batched: Value = False,
    remove_columns: Value = None,
    fn_kwargs: Value = None,
    with_indices: Value = False,
    **__: Value,
) -> Value:
    if function is None or isinstance(function, Unknown):
        return owner.bare()
    more = dict(fn_kwargs) if isinstance(fn_kwargs, dict) else {}
    is_batch, kind = batched is True, owner.kind

    def columns() -> Columns:
        given = kind.columns()
        text = machine.unknown(TEXT) if kind.is_open else None
        count = machine.lengths.rows(ROWS)
        rows = {name: [each] * count for name, each in given.items()} if is_batch else given
        texts = [text] * count if is_batch and text is not None else text
        indices = [[*range(count)] if is_batch else 0] if with_indices is True else []
        made = machine.call(function, [Rows(rows, texts), *indices], more)
        return {**_rest(given, remove_columns), **_made(machine, made, is_batch=is_batch)}

    is_open = kind.is_open and remove_columns is None
    return DataSet(owner, replace(kind, columns=columns, is_open=is_open))


def _made(machine: Script, made: Value, *, is_batch: bool) -> Columns:
    """The columns that a function returns, each with its value in one row."""
    if isinstance(made, Encoding):
        made = made.parts
    if not isinstance(made, dict):
        raise machine.unread("what a function makes of a data set")
    return {name: _first(machine, each) if is_batch else each for name, each in made.items()}


def _first(machine: Script, values: Value) -> Value:
    if isinstance(values, Tensor) and values.shape:
        return empty(values.device, values.shape[1:], values.dtype, DATA)
    if isinstance(values, (list, tuple)) and values:
        return values[0]
    if isinstance(values, Unknown):
        return values
    raise machine.unread("what a function makes of the rows of a data set")
