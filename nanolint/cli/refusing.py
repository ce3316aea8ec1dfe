"""A launch line that the project's own configurator, or the script's own parser, would refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.overrides import all_overrides, override_faults
from nanolint.run.settled import Override

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.run.settled import Options


def refused_by_parser(text: str, path: Path | None, options: Options) -> str | None:
    """Why the parser of the script ``text`` does not take the launch line, in one line."""
    if path is None:
        return None
    from nanolint.trainers.script.resolve import refusals

    return "; ".join(refusals(text, path, options)) or None


def refused_by_project(
    text: str, path: Path | None, options: Options, train_script: Path | None
) -> str | None:
    """Why the configurator of the project around ``path`` does not take the launch line.

    A script that trains with values of its own, ``text``, has none.
    """
    overrides = all_overrides(options)
    if not overrides:
        return None
    from nanolint.cli.launched import is_foreign
    from nanolint.trainers.nanogpt.configurator import needs_dashes
    from nanolint.trainers.nanogpt.kind import trains
    from nanolint.trainers.nanogpt.project import find_project

    if path is not None and trains(text) and is_foreign(path):
        return None
    project = find_project(path, train_script=train_script)
    if project.tree is not None and project.configurator is not None and project.root is not None:
        words = [each for each in options.arguments if isinstance(each, Override)]
        given = next((each for each in words if each.dashed and not each.in_config), None)
        if given and not needs_dashes(project.tree.body[project.configurator], project.root):
            return f"the configurator takes {given.key}=VALUE, without dashes"
    return "; ".join(reason for _, reason in override_faults(overrides, project)) or None
