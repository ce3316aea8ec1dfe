"""The words of the launch line; argparse, and click, whose options are decorators."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from nanolint.interpreter.certain import certain
from nanolint.interpreter.values import Namespace, Native, Unknown, silent
from nanolint.run.program import ALONE
from nanolint.run.stop import Cause
from nanolint.script.executing import known
from nanolint.script.training import read_text

if TYPE_CHECKING:
    from nanolint.interpreter.values import Instance, Value
    from nanolint.script.machine import Script

TELL = ("echo", "secho", "clear")
BOOLEAN = "BooleanOptionalAction"


def argparse(machine: Script, arguments: Value) -> Namespace:
    """The module; ``arguments`` is the class of what a parser finds."""
    given: dict[str, Value] = {
        "Arguments": arguments,
        "words": known(machine.around.words),
        "is_whole": machine.around.is_whole,
        "put": known(machine.around.put),
        "own_words": Native("own_words", partial(own_words, machine), plain=False),
        "alone": ALONE,
        "argparse_boolean": BOOLEAN,
        "refuse": Native("refuse", lambda why: refuses(machine, why), plain=False),
        "parsed": Native("parsed", partial(_parsed, machine), plain=False),
        "assumed": Native("assumed", machine.doubts.append, plain=False),
        "unheard": Native("unheard", machine.unknown, plain=False),
    }
    parser = read_text(machine, "arguments.py", "argparse", given).names["ArgumentParser"]
    formatters = dict.fromkeys(("ArgumentDefaultsHelpFormatter", "RawDescriptionHelpFormatter"))
    return Namespace("argparse", {"ArgumentParser": parser, BOOLEAN: BOOLEAN, **formatters})


def click(machine: Script, argparse: Namespace) -> Namespace:
    """The module, by the parser of another."""

    def unknown(name: Value) -> Value:
        return machine.unknown(f"{name} of the launch line")

    untold = Native("untold", unknown, plain=False)
    given = {"ArgumentParser": argparse.names["ArgumentParser"], "untold": untold}
    found = read_text(machine, "click.py", "click", given)
    names: dict[str, Value] = {
        each: found.names[each] for each in ("command", "option", "argument")
    }
    names |= {each: silent(each) for each in TELL}
    names |= {each: silent(each) for each in ("Path", "Choice")}
    return Namespace("click", names)


def _parsed(machine: Script, found: Instance, said: list[str]) -> None:
    """Note what a parser found; whoever starts the script may give what has no default."""
    machine.flags.parsed(found, said)
    machine.presumes |= not machine.around.is_whole and any(
        not value and not isinstance(value, Unknown) and name not in said
        for name, value in found.attributes.items()
    )


def typed(machine: Script) -> list[str] | Unknown:
    """The words of the launch line after the script, as texts."""
    flags, assigned = known(machine.around.words), known(machine.around.assigned)
    unknown = next((value for _, value in (*flags, *assigned) if isinstance(value, Unknown)), None)
    if unknown is not None:
        return unknown
    words = [f"--{name.lstrip('-')}={value}" for name, value in flags]
    return words + [f"{name}={value}" for name, value in assigned]


def own_words(machine: Script, given: Value) -> Value:
    """The words that a parser is given, if they are not those of the launch line; else None."""
    if given is None:
        argv = machine.library("sys").names["argv"]
        given = argv[1:] if isinstance(argv, list) else argv
    words = typed(machine)
    if isinstance(words, Unknown):
        return None if isinstance(given, Unknown) else given
    return None if given == words else given


def refuses(machine: Script, why: Value) -> Value:
    """``parser.error``: the words are not taken, so that nothing after it is done."""
    said = why if isinstance(why, str) else "a text that only the run has"
    if machine.around.is_whole:
        raise certain(SystemExit(f"error: {said}"), Cause.CHECK)
    error = machine.unread(f"it takes no such launch line: {said}")
    error.decided = True
    raise error
