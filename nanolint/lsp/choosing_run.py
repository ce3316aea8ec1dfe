"""Which run a model is shown for: that of the config that was looked at last, else train.py's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.linting.engine import Report, read
from nanolint.lsp.model_lines import Chosen, path_in
from nanolint.trainers.nanogpt.kind import FileKind
from nanolint.trainers.nanogpt.project import find_project
from nanolint.trainers.nanogpt.reading import read_source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nanolint.lsp.session import Document, Session
    from nanolint.rule.case import Case


def chosen_run(session: Session, document: Document) -> Chosen | None:
    """The run for which the lines of ``document`` are told; None where it is no run's model."""
    if document.path is None or not document.is_python:
        return None
    posix = document.path.absolute().as_posix()
    for name, cases in _candidates(session, document):
        for case in cases:
            path = path_in(case, posix, document.text)
            if path is not None:
                return Chosen(case, name, path, document.text)
    return None


def _candidates(session: Session, document: Document) -> Iterable[tuple[str, Iterable[Case]]]:
    """Open configs, the one that was touched last first; then the script's own defaults."""
    for each in sorted(session.documents, key=lambda one: -one.touched):
        context = each.context if each.is_python else None
        if context is not None and each.path is not None and context.kind is not FileKind.SCRIPT:
            yield each.path.name, context.cases
    if document.path is None:
        return
    script = find_project(document.path).train_script
    plan = session.plan_for(script) if script is not None else None
    if script is None or plan is None:
        return
    try:
        found = read(read_source(script), script, plan.setup(script))
    except Unusable:
        return
    if not isinstance(found, Report):
        yield f"{script.name} (no config is open)", found.cases
