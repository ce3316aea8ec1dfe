"""The size of a tokenizer that only a run reads, where the project says it in another place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import names
from nanolint.files.notes import memo
from nanolint.run.terms import Given, Place, Surface
from nanolint.trainers.nanogpt.reading import read_source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_FILES = 60  # of a folder that are looked at
LEAST, MOST_BITS = 256, 32  # a tokenizer of bytes, and more than any has
_NUMBER = r"(\d[\d_]*)(?:\s*\*\*\s*(\d+))?"
_CONSTANT = re.compile(rf"^(VOCAB_SIZE)\s*(?::\s*int\s*)?=\s*{_NUMBER}", re.MULTILINE)
_FLAG = re.compile(rf"""add_argument\(\s*["'](--vocab[-_]size)["'][^)]*?default=\s*{_NUMBER}""")


@memo
def project_vocabulary(folders: tuple[Path, ...]) -> Given | None:
    """The one size that the scripts of a project give their tokenizer, None where there is none,
    or more than one."""
    found = [each for folder in folders for each in _in_folder(folder)]
    return found[0] if len({each.value for each in found}) == 1 else None


def _in_folder(folder: Path) -> Iterator[Given]:
    for name in names(folder, "*.py")[:MOST_FILES]:
        try:
            text = read_source(folder / name)
        except Unusable:
            continue
        for pattern, surface in ((_CONSTANT, Surface.CONSTANT), (_FLAG, Surface.ARGUMENT)):
            for match in pattern.finditer(text):
                size = int(match[2]) ** min(int(match[3] or 1), MOST_BITS)
                if size >= LEAST:
                    line = text.count("\n", 0, match.start(2)) + 1
                    yield Given(match[1], size, surface, Place(folder / name, line))
