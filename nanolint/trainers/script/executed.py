"""A file of the project that a script runs with ``exec(open("config/small.py").read())``: what it
sets is set where that stands. One that reads the launch line is a configurator, and so is nanoGPT's
where it is not here; any other file or text that is not known may set anything."""

from __future__ import annotations

import ast
import posixpath
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.run.terms import Given, Surface
from nanolint.source.any_name import set_by_name
from nanolint.trainers.nanogpt.configurator import WORDS
from nanolint.trainers.nanogpt.reading import syntax_tree
from nanolint.trainers.script.forgetting import forget
from nanolint.trainers.script.modules import find_module
from nanolint.trainers.script.operations import scalar
from nanolint.trainers.script.settings_files import path_of
from nanolint.trainers.script.sources import PROGRAM, is_inside, module_at, text_of
from nanolint.trainers.script.things import NONE, External, Table, Thing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nanolint.run.terms import Place
    from nanolint.trainers.script.core import Core
    from nanolint.trainers.script.things import Scope

CONFIGURATOR = "configurator.py"
EXEC, COMPILE = External("exec"), External("compile")


def executed(core: Core, node: ast.Call, arguments: Sequence[Thing], scope: Scope) -> Thing | None:
    """``exec`` of a text, or of a file whose path is known; None for a configurator."""
    place = scope.source.at(node)
    given = arguments[0] if arguments else NONE
    path = path_of(given)
    into = arguments[1] if len(arguments) > 1 else None
    names = into.entries if isinstance(into, Table) else scope.outermost.names
    if path is None or not path.endswith(PROGRAM):
        if path is None and any(CONFIGURATOR in ast.unparse(each) for each in node.args[:1]):
            return None
        if into is not None or scope is scope.outermost or not isinstance(scalar(given), str):
            _run_text(core, scalar(given), names, place)
        return NONE
    if into is None and scope is not scope.outermost:
        return NONE  # it sets names of its own
    found = find_module(module_at(path), core.state.roots, None) if is_inside(path) else None
    text = text_of(found)
    if found is None or text is None:
        if posixpath.basename(path) == CONFIGURATOR:
            return None
        forget(core, names, core.unknown(f"the values of {path}, which is not here", place))
        return NONE
    if WORDS in text:
        return None
    inner = core.module(found, module_at(path))
    for key, value in (inner.names if inner is not None else {}).items():
        core.state.journal.write(names, key, value)
    return NONE


def _run_text(core: Core, text: object, names: dict[object, Thing], place: Place) -> None:
    """What a text sets: no place that could be rewritten has its values."""
    tree = _parsed(text) if isinstance(text, str) else None
    if tree is None:
        forget(core, names, core.unknown("exec may set any value", place))
        return
    why = core.unknown("exec sets a value", place)
    write = core.state.journal.write
    for statement in tree.body:
        value = _plain(statement)
        for each in ast.walk(statement):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                given = Given(each.id, value, Surface.CONSTANT, place)
                write(names, each.id, why if value is None else given)
                if value is not None:
                    core.state.given[given] = None
        if set_by_name(statement):
            forget(core, names, why)


def _plain(statement: ast.stmt) -> float | str | None:
    """The number or text of ``B = 2``; None of any other statement."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    value = getattr(statement, "value", None)
    if not targets or not all(isinstance(each, ast.Name) for each in targets):
        return None
    found = value.value if isinstance(value, ast.Constant) else None
    return found if isinstance(found, (int, float, str)) else None


def _parsed(text: str) -> ast.Module | None:
    try:
        return syntax_tree(text)
    except (Unusable, RecursionError):
        return None
