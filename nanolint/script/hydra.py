"""The settings that hydra gives a function, from the project's own files."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from nanolint.interpreter.values import Function, Native
from nanolint.script import commands, files, training
from nanolint.source.hydra_files import NotComposed, composed
from nanolint.source.settings_text import NoSettings

if TYPE_CHECKING:
    from nanolint.interpreter.values import Namespace, Value
    from nanolint.script.machine import Script


MODULES = ("hydra", "hydra.utils", "hydra.core.hydra_config")


def modules(machine: Script) -> dict[str, Namespace]:
    """hydra's modules, which are one text."""
    whole = training.read_text(machine, "hydra.py", "hydra", _names(machine))
    whole.names["utils"] = whole
    return dict.fromkeys(MODULES, whole)


def _names(machine: Script) -> dict[str, Value]:
    """What the text has beside Python."""

    def settings(function: Value, folder: Value, name: Value) -> Value:
        if not isinstance(function, Function) or not isinstance(folder, str):
            return machine.unknown("hydra finds its settings by itself")
        if not isinstance(name, str):
            return machine.unknown("the settings that hydra reads")
        beside = posixpath.join(posixpath.dirname(function.module.path), folder)

        def text_at(path: str) -> str | None:
            source = machine.text_of(posixpath.join(beside, path))
            return None if source is None else source.text

        try:
            return files.valued(machine, composed(name, text_at))
        except (NotComposed, NoSettings) as error:
            return machine.unknown(str(error))

    return {
        "composed": Native("hydra", settings, plain=False),
        "typed": Native("typed", lambda: commands.typed(machine), plain=False),
        "assumed": Native("assumed", machine.doubts.append, plain=False),
        "unheard": Native("unheard", machine.unknown, plain=False),
    }
