"""The texts that a script trains on: which characters they have, where a file tells."""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import MOST_BYTES, is_file, read_bytes
from nanolint.run.program import DataFile
from nanolint.trainers.nanogpt.keys import SHAKESPEARE_CHAR_VOCABULARY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from nanolint.run.program import SourceText

MOST_TEXTS = 20
_TEXT = re.compile(r"""["']([^"'\n]{1,200}\.txt)["']""")
_SHAKESPEARE = re.compile(r"tinyshakespeare/input\.txt")
# Of what is downloaded the number of characters is known, and they are as good as any others.
_DOWNLOADED = "".join(map(chr, range(32, 32 + SHAKESPEARE_CHAR_VOCABULARY)))


def texts_of(sources: Iterable[SourceText], folder: Path) -> Iterator[DataFile]:
    """The text files that the sources name and that are in ``folder``, where the script runs.

    An input.txt that is not there is tiny Shakespeare where a source says that it is downloaded.
    """
    listed = list(sources)
    names = dict.fromkeys(name for each in listed for name in _TEXT.findall(each.text))
    downloads = any(_SHAKESPEARE.search(each.text) for each in listed)
    for name in list(names)[:MOST_TEXTS]:
        path = posixpath.normpath(name)
        if is_file(folder / path):
            characters = _characters(folder / path)
            yield DataFile(path, exists=True, characters=characters)
        elif downloads and posixpath.basename(path) == "input.txt":
            yield DataFile(path, exists=True, characters=_DOWNLOADED)


def _characters(path: Path) -> str | None:
    """Those that the text has as Python reads it; None where it is no text."""
    try:
        return _of_bytes(read_bytes(path, MOST_BYTES))
    except (Unusable, UnicodeDecodeError):
        return None


@lru_cache(maxsize=4)
def _of_bytes(content: bytes) -> str:
    text = content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    return "".join(sorted(set(text)))
