"""The words of the launch line, and click: commands whose options are decorators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.loop.reading.executing import known
from nanolint.memory.loop.reading.training import read_text
from nanolint.memory.model.reading.values import Namespace, Native, Unknown, silent

if TYPE_CHECKING:
    from nanolint.memory.loop.reading.machine import Script
    from nanolint.memory.model.reading.values import Value

TELL = ("echo", "secho", "clear")


def click(machine: Script, parser: Value) -> Namespace:
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


def typed(machine: Script) -> list[str] | Unknown:
    """The words of the launch line behind the script, as texts."""
    given = known(machine.around.words)
    unknown = next((value for _, value in given if isinstance(value, Unknown)), None)
    if unknown is not None:
        return unknown
    return [f"--{name.lstrip('-')}={value}" for name, value in given]


def own_words(machine: Script, given: Value) -> Value:
    """The words that a parser is given, where they are not those of the launch line; else None."""
    if given is None:
        argv = machine.library("sys").names["argv"]
        given = argv[1:] if isinstance(argv, list) else argv
    words = typed(machine)
    if isinstance(words, Unknown):
        return None if isinstance(given, Unknown) else given
    return None if given == words else given


def refuses(machine: Script, why: Value) -> Value:
    """``parser.error``: what was typed is not taken, so that nothing behind it is done."""
    said = why if isinstance(why, str) else "a text that only the run has"
    error = machine.unread(f"it takes no such launch line: {said}")
    error.decided = True
    raise error
