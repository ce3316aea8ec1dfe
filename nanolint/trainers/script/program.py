"""The model that a script builds, to be read from its own source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.equation import NotKnown
from nanolint.run.program import FromRun, ReadModel
from nanolint.trainers.nanogpt.read import CONTEXT, modules_of

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.run.described import Described
    from nanolint.source.values import Plain


def program_of(described: Described, context: int) -> ReadModel | None:
    """The model of a script; None where what it is built with is not known.

    An argument that is the run's ``context`` by its name and value follows the run.
    """
    built = described.model
    if isinstance(built, NotKnown) or built.path is None:
        return None
    arguments: list[tuple[str, Plain | FromRun]] = []
    for key, term in built.arguments.items():
        if isinstance(term, NotKnown):
            return None
        follows = key == CONTEXT and term.value == context
        arguments.append((key, FromRun(key) if follows else term.value))
    module = _module(built.path, described.script)
    modules = () if module is None else modules_of(described.script, module, built.class_name)
    if not modules or not arguments:
        return None
    return ReadModel(modules, built.class_name, tuple(arguments), built.config_class)


def _module(path: Path, script: Path) -> str | None:
    """The dotted name of the file at ``path`` as the script imports it; empty for the script."""
    if path == script:
        return ""
    for folder in (script.parent, script.parent.parent):
        if path.is_relative_to(folder):
            return ".".join(path.relative_to(folder).with_suffix("").parts)
    return None
