"""Methods of Python's own values: strings, lists, dictionaries, sets, numbers."""

from __future__ import annotations

from collections import Counter
from functools import partial
from string import Formatter
from typing import TYPE_CHECKING

from nanolint.interpreter.certain import certain, is_taken_for_tensor
from nanolint.interpreter.counted import looked_up
from nanolint.interpreter.generators import sent
from nanolint.interpreter.libraries import METHODS as OF_QUEUE
from nanolint.interpreter.libraries import Queue
from nanolint.interpreter.torch.signatures import is_alike, tensors_have_no
from nanolint.interpreter.values import Generated, Instance, Native, Unknown, silent
from nanolint.interpreter.watched import plain as looked_at
from nanolint.tape.symbolic import as_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.interpreter.machine import Machine
    from nanolint.interpreter.values import Value

# What a program may ask of a value: none of these reaches outside of it, or grows without bound.
_FIELDS = Formatter()
TEXT = frozenset(
    {
        *("capitalize", "casefold", "count", "endswith", "find", "index", "isalnum", "isalpha"),
        *("isascii", "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric"),
        *("isprintable", "isspace", "istitle", "isupper", "lower", "lstrip", "partition"),
        *("removeprefix", "removesuffix", "rfind", "rindex", "rpartition", "rsplit", "rstrip"),
        *("split", "splitlines", "startswith", "strip", "swapcase", "title", "upper"),
    }
)
BYTES = (TEXT | {"hex"}) - {
    *("casefold", "isdecimal", "isidentifier", "isnumeric", "isprintable"),
}
METHODS: dict[type, frozenset[str]] = {
    str: TEXT,
    bytes: BYTES,
    list: frozenset(
        {"append", "clear", "copy", "count", "index", "insert", "pop", "remove", "reverse"}
    ),
    tuple: frozenset({"count", "index"}),
    Counter: frozenset({"elements", "most_common", "total"}),
    dict: frozenset(
        {
            *("clear", "copy", "items", "keys", "pop", "popitem", "setdefault", "values"),
            *("__setitem__", "__getitem__", "__contains__"),
        }
    ),
    set: frozenset(
        {
            *("add", "clear", "copy", "difference", "discard", "intersection", "isdisjoint"),
            *("issubset", "issuperset", "pop", "remove", "symmetric_difference", "union"),
        }
    ),
    frozenset: frozenset(
        {
            *("copy", "difference", "intersection", "isdisjoint", "issubset", "issuperset"),
            *("symmetric_difference", "union"),
        }
    ),
    int: frozenset({"as_integer_ratio", "bit_count", "bit_length", "conjugate", "is_integer"}),
    float: frozenset({"as_integer_ratio", "conjugate", "hex", "is_integer"}),
    complex: frozenset({"conjugate"}),
    range: frozenset({"count", "index"}),
}
UNCHANGING = (str, bytes, int, float, complex)
PYTHONS = (*UNCHANGING, list, tuple, dict, set, frozenset, range, slice, BaseException)
# What the program knows by other names.
CALLED = {"Generated": "generator", "Manager": "context manager", "Dtype": "dtype"}
CALLED |= {"TensorClass": "type", "Annotation": "type", "Queue": "deque", "Numbered": "enumerate"}
PARTS: dict[type, frozenset[str]] = {
    int: frozenset({"real", "imag", "numerator", "denominator"}),
    float: frozenset({"real", "imag"}),
    complex: frozenset({"real", "imag"}),
    range: frozenset({"start", "stop", "step"}),
    slice: frozenset({"start", "stop", "step"}),
}


def attribute(machine: Machine, owner: Value, name: str) -> Value:
    """``owner.name`` of a plain value. Raises AttributeError if it has none that is known."""
    own = _own(machine, owner, name)
    if own is not None:
        return Native(f"{type(owner).__name__}.{name}", own, plain=False)
    for kind, names in METHODS.items():
        if isinstance(owner, kind) and name in names:
            method = getattr(owner, name)
            if kind is dict or kind is set:
                method = partial(_with_keys, method)
            return Native(f"{kind.__name__}.{name}", method, plain=kind in UNCHANGING)
    for kind, names in PARTS.items():
        if isinstance(owner, kind) and name in names:
            return getattr(owner, name)
    if isinstance(owner, BaseException) and name == "args":
        return owner.args
    if isinstance(owner, type) and name in ("__name__", "__qualname__"):
        return owner.__name__
    if owner is object and name == "__setattr__":
        return Native("object.__setattr__", partial(_set, machine), plain=False)
    if (owner is object or owner is tuple) and name == "__init__":
        return silent(f"{owner.__name__}.__init__")
    if owner is dict and name == "fromkeys":
        return Native(
            "dict.fromkeys",
            lambda keys, value=None: dict.fromkeys(map(as_key, machine.iterate(keys)), value),
        )
    if name == "__class__":
        return looked_at(owner).__class__
    if isinstance(owner, PYTHONS) and hasattr(owner, name):
        raise machine.unread(f"{type(owner).__name__}.{name} is not known")
    called = CALLED.get(type(owner).__name__, type(owner).__name__)
    error = AttributeError(f"'{called}' object has no attribute '{name}'")
    is_slip = type(owner) in METHODS and tensors_have_no(name) and is_alike(name, dir(owner))
    raise certain(error) if is_slip or is_taken_for_tensor(owner, name) else error


def _with_keys(method: Callable[..., Value], *given: Value) -> Value:
    return method(*map(as_key, given))


def _set(machine: Machine, owner: Value, name: str, value: Value) -> None:
    """``object.__setattr__(owner, name, value)``: past what its class says of assignments."""
    if isinstance(owner, Instance):
        machine.bind(owner.attributes, name, value)
    else:
        machine.set_attribute(owner, name, value)


def _own(machine: Machine, owner: Value, name: str) -> Callable[..., Value] | None:
    """A method that takes what only the interpreter can read, or that is bounded."""
    known: dict[str, Callable[..., Value]] = {}
    if isinstance(owner, str):
        known = OF_TEXT
    elif isinstance(owner, bytes):
        known = {"decode": _decoded}
    elif isinstance(owner, Queue):
        known = OF_QUEUE
    elif isinstance(owner, list):
        known = {"extend": _extend, "sort": _sort}
    elif isinstance(owner, Counter):
        known = {"get": _get, "update": _count}
    elif isinstance(owner, dict):
        known = {"get": _get, "update": _update, "fromkeys": _from_keys}
    elif isinstance(owner, set):
        known = OF_SET
    elif isinstance(owner, Generated):
        known = {"send": sent, "__next__": sent}
    method = known.get(name)
    return None if method is None else partial(method, machine, owner)


def _count(machine: Machine, owner: Counter[Value], values: Value = ()) -> None:
    """``Counter.update``, which counts on."""
    listed = values if isinstance(values, dict) else list(map(as_key, machine.iterate(values)))
    if any(isinstance(each, Unknown) for each in listed):
        raise machine.unread("how often something occurs")
    owner.update(listed)


def _join(machine: Machine, owner: str, parts: Value) -> Value:
    if isinstance(parts, Unknown):
        return parts
    found = list(machine.iterate(parts))
    for each in found:
        if isinstance(each, Unknown):
            return each
    machine.bounded(sum(map(len, found)) + len(owner) * len(found))
    return owner.join(found)


def _replace(machine: Machine, owner: str, old: str, new: str, count: int = -1) -> Value:
    for each in (old, new):
        if isinstance(each, Unknown):
            return each
    machine.bounded(len(owner) + (owner.count(old) if old else len(owner)) * len(new))
    return owner.replace(old, new, count)


def _format(machine: Machine, owner: str, *given: Value, **named: Value) -> Value:
    """``"{:.2f}M of {name}".format(...)``, of numbers and texts."""
    fields = [each[1:] for each in _FIELDS.parse(owner) if each[1] is not None]
    simple = all(
        (not name or name.isalnum()) and len(style or "") < 8 and "{" not in (style or "")
        for name, style, _ in fields
    )
    if not simple or not all(map(machine.made_up.writes, (*given, *named.values()))):
        return machine.unknown("a formatted text")
    return owner.format(*given, **named)


def _encoded(machine: Machine, _owner: str, *_: Value, **__: Value) -> Value:
    return machine.unknown("an encoded text")


def _decoded(machine: Machine, owner: bytes, encoding: Value = "utf-8", *_: Value) -> Value:
    if encoding in ("utf-8", "utf8", "ascii"):
        return owner.decode(encoding)
    return machine.unknown("a decoded text")


def _mapped(machine: Machine, _owner: str, *_: Value) -> Value:
    return machine.unknown("a text whose letters are replaced")


def _filled(how: str) -> Callable[..., Value]:
    """A method that makes a text as wide as is said: ``ljust``."""

    def wide(machine: Machine, owner: str, width: Value, *fill: Value) -> Value:
        for each in (width, *fill):
            if isinstance(each, Unknown):
                return each
        machine.bounded(width if isinstance(width, int) else 0)
        return getattr(owner, how)(width, *fill)

    return wide


def _with_spaces(machine: Machine, owner: str, tabsize: Value = 8) -> Value:
    if isinstance(tabsize, Unknown):
        return tabsize
    machine.bounded(len(owner) * (tabsize if isinstance(tabsize, int) else 1))
    return owner.expandtabs(tabsize)


OF_TEXT: dict[str, Callable[..., Value]] = {
    "join": _join,
    "replace": _replace,
    **dict.fromkeys(("format", "format_map"), _format),
    "encode": _encoded,
    **dict.fromkeys(("translate", "maketrans"), _mapped),
    **{each: _filled(each) for each in ("center", "ljust", "rjust", "zfill")},
    "expandtabs": _with_spaces,
}


def _extend(machine: Machine, owner: list[Value], more: Value) -> None:
    found = list(machine.iterate(more))
    machine.bounded(len(owner) + len(found))
    owner += found


def _sort(machine: Machine, owner: list[Value], key: Value = None, reverse: bool = False) -> None:
    owner[:] = ordered(machine, owner, key, reverse)


def ordered(
    machine: Machine, values: Value, key: Value = None, reverse: bool = False
) -> list[Value]:
    """``sorted``. Raises Unread if the order is not known."""
    found = list(machine.iterate(values))
    keys = [each if key is None else machine.call(key, [each]) for each in found]
    for each in keys:
        if isinstance(each, Unknown):
            raise each.unread()
    order = sorted(range(len(found)), key=keys.__getitem__, reverse=reverse)
    return [found[place] for place in order]


def _get(_machine: Machine, owner: dict[Value, Value], key: Value, default: Value = None) -> Value:
    return key if isinstance(key, Unknown) else owner.get(as_key(looked_up(owner, key)), default)


def _update(machine: Machine, owner: dict[Value, Value], *more: Value, **named: Value) -> None:
    for each in more:
        if isinstance(each, Unknown):
            if machine.module is not None and owner is machine.module.names:
                error = each.unread()
                error.decided = True  # the program's own names: nothing behind it is known
                raise error
            machine.updated(owner, each)
        elif isinstance(each, Instance) and isinstance(each.native, dict):
            owner.update(each.native)
        elif isinstance(each, dict):
            owner.update(each)
        else:
            owner.update(dict(map(tuple, machine.iterate(each))))
    owner.update(named)


def _from_keys(
    machine: Machine, _owner: dict[Value, Value], keys: Value, value: Value = None
) -> Value:
    return dict.fromkeys(map(as_key, machine.iterate(keys)), value)


def _add_all(machine: Machine, owner: set[Value], *more: Value) -> None:
    for each in more:
        owner.update(map(as_key, machine.iterate(each)))


def _keep_common(machine: Machine, owner: set[Value], *more: Value) -> None:
    for each in more:
        owner.intersection_update(list(map(as_key, machine.iterate(each))))


def _take_out(machine: Machine, owner: set[Value], *more: Value) -> None:
    for each in more:
        owner.difference_update(list(map(as_key, machine.iterate(each))))


def _keep_unshared(machine: Machine, owner: set[Value], more: Value) -> None:
    owner.symmetric_difference_update(list(map(as_key, machine.iterate(more))))


OF_SET: dict[str, Callable[..., Value]] = {
    "update": _add_all,
    "intersection_update": _keep_common,
    "difference_update": _take_out,
    "symmetric_difference_update": _keep_unshared,
}
