"""``exec``: what a script runs of texts, and of files, that its launch line names."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from nanolint.interpreter.interpreter import parsed
from nanolint.interpreter.scopes import Frame, Kind
from nanolint.interpreter.values import Namespace, Place, Unknown
from nanolint.run.program import NotKnown
from nanolint.script.corpora import Text
from nanolint.source.python import literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.interpreter.values import Value
    from nanolint.run.program import SourceText
    from nanolint.script.machine import Script
    from nanolint.source.values import Plain

CONFIGURATOR = "configurator.py"  # nanoGPT's


def run(machine: Script, text: Value, path: Value = None, *_: Value) -> None:
    """``exec``: of a text that is known its statements, those of a file of the project, and the
    configurator's.

    If nanolint put the text there, ``path`` is its file. Raises Unread of any other.
    """
    at = text.path if isinstance(text, Text) else None
    source = machine.program_at(at) if at is not None else None
    if source is not None:
        _execute(machine, source, path)
        return
    if at is not None and posixpath.basename(at) == CONFIGURATOR:
        _configure(machine)
        return
    tree, module = parsed(text) if isinstance(text, str) else None, machine.module
    if tree is None:
        error = machine.unread(f"the effect of {at or 'what exec runs'} is not known")
        error.decided = True
        raise error
    if module is not None:
        within = Namespace(module.name, module.names, path) if isinstance(path, str) else module
        machine.execute(tree.body, Frame(within, module.names, kind=Kind.MODULE))


def _execute(machine: Script, source: SourceText, given: Value) -> None:
    """The statements of a file, over the script's names or those that are given. In a function the
    names that they set are nobody else's."""
    tree, module = parsed(source.text), machine.module
    if tree is None or module is None:
        raise machine.unread(f"{source.path} is not Python that nanolint knows")
    names = given if isinstance(given, dict) else module.names
    if machine.depth and names is not given:
        names = dict(names)
    within = Namespace(module.name, names, source.path)
    machine.execute(tree.body, Frame(within, names, kind=Kind.MODULE))


def _configure(machine: Script) -> None:
    """nanoGPT's configurator and its like: the launch line's values replace globals."""
    module = machine.module
    if module is None:
        return
    for name, value in known(machine.around.words):
        key = name.lstrip("-").replace("-", "_")
        if key in module.names:
            module.names[key] = _literal(value)


def _literal(value: Value) -> Value:
    """A word of the launch line as a configurator takes it: ``depth=4`` is a number."""
    try:
        return literal(value) if isinstance(value, str) else value
    except (ValueError, SyntaxError):
        return value


def known(given: Iterable[tuple[str, Plain | NotKnown]]) -> list[tuple[str, Value]]:
    """The names with their values; one that only the run has is known to be there, and no more."""
    return [
        (name, Unknown(value.reason, Place(value.path, value.line)))
        if isinstance(value, NotKnown)
        else (name, value)
        for name, value in given
    ]
