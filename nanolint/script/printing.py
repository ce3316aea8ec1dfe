"""``print``: what a script tells before it trains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.values import Formed, Native
from nanolint.tape.symbolic import Symbolic, shown

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

CUDA, COMMAND = "13.0", "script.py"  # stand for what only a run knows


def prints(machine: Script) -> Native:
    """``print``, whose lines are kept until the script goes backward."""
    # What the reading takes for a release and a command, of which a run knows more.
    guessed = (f"{'.'.join(map(str, machine.version))}.0", CUDA, COMMAND)

    def put(
        *values: Value, sep: Value = " ", end: Value = "\n", file: Value = None, **_: Value
    ) -> None:
        machine.breaks("print")
        if machine.printed.is_over or machine.made_up.is_lost:
            return
        if machine.card.tracer is not None or file is not None:
            return
        parts = [_text(machine, each) for each in values]
        between = " " if sep is None else _text(machine, sep)
        text = None
        if between is not None and None not in parts:
            text = between.join(each for each in parts if each is not None)
        if text is not None and any(each in text for each in guessed):
            text = None
        machine.printed.put(text, "\n" if end is None else _text(machine, end))

    return Native("print", put, plain=False)


def _text(machine: Script, value: Value) -> str | None:
    """None where it is not known how Python writes it: a shape, an object, what a run tells."""
    if type(value) is Symbolic:
        return shown(value)
    if type(value) is Formed:
        return value.text
    return str(value) if machine.made_up.writes(value) else None
