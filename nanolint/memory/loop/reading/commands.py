"""click: commands whose options are decorators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.loop.reading.training import read_text
from nanolint.memory.model.reading.values import Namespace, Native, silent

if TYPE_CHECKING:
    from nanolint.memory.loop.reading.machine import Script
    from nanolint.memory.model.reading.values import Value

TELL = ("echo", "secho", "clear")


def table(machine: Script, parser: Value) -> Namespace:
    """The module; ``parser`` is ArgumentParser."""

    def unknown(name: Value) -> Value:
        return machine.unknown(f"{name} of the launch line")

    untold = Native("untold", unknown, plain=False)
    found = read_text(machine, "click.py", "click", {"ArgumentParser": parser, "untold": untold})
    names: dict[str, Value] = {
        each: found.names[each] for each in ("command", "option", "argument")
    }
    names |= {each: silent(each) for each in TELL}
    names |= {each: silent(each) for each in ("Path", "Choice")}
    return Namespace("click", names)


def refuses(machine: Script, why: Value) -> Value:
    """``parser.error``: what was typed is not taken, so that nothing behind it is done."""
    said = why if isinstance(why, str) else "a text that only the run has"
    error = machine.unread(f"it takes no such launch line: {said}")
    error.decided = True
    raise error
