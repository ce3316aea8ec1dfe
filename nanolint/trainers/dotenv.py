"""The ``.env`` of a project whose script calls ``load_dotenv``: variables of its environment."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import exists
from nanolint.regex import lazily
from nanolint.run.flags import Flag
from nanolint.trainers.nanogpt.reading import read_source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nanolint.run.settled import Options

_LINE = lazily(
    r"""^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=[ \t]*(?:"([^"\n]*)"|'([^'\n]*)'|([^#\n]*))""",
    re.MULTILINE,
)
NAME = ".env"


def with_dotenv(options: Options, script: Path, text: str) -> Options:
    """``options`` with what ``.env`` sets; what the launch line sets counts more."""
    if "load_dotenv" not in text:
        return options
    line = options.line
    taken = {each.name for each in line.variables}
    more = tuple(each for each in _variables(script) if each.name not in taken)
    return replace(options, line=replace(line, variables=(*more, *line.variables)))


def _variables(script: Path) -> Iterator[Flag]:
    """The variables of the file that is found first, from the script's folder up."""
    for folder in script.absolute().parents:
        if exists(folder / NAME):
            try:
                content = read_source(folder / NAME)
            except Unusable:
                return
            for name, *values in _LINE.findall(content):
                yield Flag(name, "".join(values).strip())
            return
        if exists(folder / ".git"):
            return
