"""Settings that a run takes from the checkpoint that it goes on from, in the place of its flags.

The file is not opened. It is taken for one that a run of these settings saved, but a whole number
that nobody gave has no default there: it may be how large the model is.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from nanolint.interpreter.records import fields_of, made_by
from nanolint.interpreter.values import Class, Function
from nanolint.script.weights import Stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.interpreter.values import Unknown, Value
    from nanolint.script.machine import Script


def setting(machine: Script, part: Stored, own: Value) -> Value:
    """Returns the value of ``part`` of a checkpoint; the run itself has ``own`` for it."""
    key = part.key or ""
    if type(own) is int and key in machine.flags.names and key not in machine.flags.said:
        return part.asked_for()
    known = dict(machine.around.saved).get(key, own)
    if not isinstance(known, (bool, int, float, str)):
        return part
    machine.checkpoint.settle(part)
    return known


def of_flag(machine: Script, part: Stored) -> Value:
    """Returns the value of a part that has a flag's name: ``saved["args"].n_layer``."""
    own = machine.flags.names.get(part.key or "")
    return part if own is None else setting(machine, part, own)


def unpacked(machine: Script, settings: Unknown, function: Value) -> dict[str, Value]:
    """``Config(**checkpoint["config"])``, if all its sizes are flags. Raises Unread if not."""
    names = dict(_names(function))
    flags = machine.flags.names
    untold = [
        name
        for name, own in names.items()
        if name not in flags and not isinstance(own, (bool, float, str))
    ]
    if not isinstance(settings, Stored) or not names or untold:
        raise settings.unread()
    return {name: of_flag(machine, settings.part(name)) for name in names if name in flags}


def _names(function: Value) -> Iterator[tuple[str, Value]]:
    """Yields the names that take an argument, and their defaults; None if that is not known."""
    if isinstance(function, Class) and made_by(function) is not None:
        yield from fields_of(function).items()
        return
    made = function.find("__init__") if isinstance(function, Class) else function
    if isinstance(made, Function):
        spec = made.node.args
        defaults = (*made.defaults, *made.keyword_defaults)
        found = [each.arg for each in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
        untold = [None] * (len(found) - len(defaults))
        names = zip(found, (*untold, *defaults), strict=True)
        yield from islice(names, int(isinstance(function, Class)), None)  # without self


def update(machine: Script, owner: dict[Value, Value], settings: Unknown) -> None:
    """``vars(args).update(checkpoint["args"])``. Raises Unread if these are not settings."""
    plain = (bool, int, float, str, type(None))
    if not isinstance(settings, Stored) or not all(isinstance(e, plain) for e in owner.values()):
        raise settings.unread()
    for name, own in owner.items():
        if isinstance(name, str) and own is not None:
            owner[name] = setting(machine, settings.part(name), own)
