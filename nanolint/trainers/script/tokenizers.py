"""How many tokens the tokenizers of a project know, by their files or by what it says elsewhere."""

from __future__ import annotations

import json
import posixpath
import re
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nanolint.errors import Unusable
from nanolint.files.door import FOLDER, MOST_BYTES, is_file, kind, names, read_bytes
from nanolint.files.notes import memo
from nanolint.regex import lazily
from nanolint.run.program import DataFile
from nanolint.run.terms import Given, Place, Surface
from nanolint.trainers.nanogpt.reading import read_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from nanolint.run.program import SourceText

NAME, SETTINGS = "tokenizer.json", ("tokenizer_config.json", "special_tokens_map.json")
MOST_NAMED = 200  # texts of a program that may name one
_TEXT = lazily(r"""["']([\w./-]{1,100})["']""")
_OTHER_TOKENS = "additional_special_tokens"


def tokenizers_from(sources: Iterable[SourceText], folders: Sequence[Path]) -> Iterator[DataFile]:
    """The tokenizers that the sources name, by their file or its folder, from one of ``folders``.

    ``vocabulary`` is their own size, ``count`` that with the tokens that were added. The script
    lies in the first folder: what lies above it goes by its way from there, too.
    """
    named = dict.fromkeys(
        posixpath.normpath(name) for each in sources for name in _TEXT.findall(each.text)
    )
    names = list(named)[:MOST_NAMED]
    near = [
        each for each in names if "/" not in each and any(kind(f / each) == FOLDER for f in folders)
    ]
    names += [f"{place}/{each}" for place in near for each in names if each != place]
    for name in names[: 2 * MOST_NAMED]:
        found = [each for folder in folders if (each := _named(folder, name)) is not None]
        yield from found[:1]
        for folder in folders[1:]:
            each = _named(folder, name)
            way = posixpath.relpath((folder / name).as_posix(), folders[0].as_posix())
            if each is not None and way.startswith("../"):
                yield replace(each, path=way)


def _named(folder: Path, name: str) -> DataFile | None:
    """The tokenizer of that name in a folder."""
    whole = name.endswith(".json") and is_file(folder / name)
    place = (folder / name).parent if whole else folder / name
    path = folder / name if whole else place / NAME
    sizes = _sizes(path, place) if is_file(path) else None
    if sizes is None:
        return None
    return DataFile(name, exists=True, vocabulary=sizes[0], count=sizes[1])


@memo
def _sizes(path: Path, folder: Path) -> tuple[int, int] | None:
    """How many tokens one has by itself, and with all that its settings add; None of any other
    file."""
    saved = _read(path)
    model = saved.get("model")
    own = model.get("vocab") if isinstance(model, dict) else None
    if not isinstance(own, (dict, list)):
        return None
    tokens = {each[0] if isinstance(each, list) else each for each in own}
    size = len(tokens)
    tokens.update(_texts(saved.get("added_tokens")))
    for name in SETTINGS:
        settings = _read(folder / name)
        added = settings.get("added_tokens_decoder")
        tokens.update(_texts(list(added.values()) if isinstance(added, dict) else None))
        tokens.update(_texts(settings.get(_OTHER_TOKENS)))
        special = (value for key, value in settings.items() if key.endswith("_token"))
        tokens.update(_texts([each for each in special if isinstance(each, (str, dict))]))
    return size, len(tokens)


def _texts(listed: Any) -> Iterator[str]:
    """The tokens of a list: texts, or tables that have one as their content."""
    for each in listed if isinstance(listed, list) else ():
        text = each.get("content") if isinstance(each, dict) else each
        if isinstance(text, str):
            yield text


def _read(path: Path) -> dict[str, Any]:
    """The table of a JSON file; an empty one where it is none."""
    found: Any = None
    with suppress(Unusable, ValueError, RecursionError):
        found = json.loads(read_bytes(path, MOST_BYTES)) if is_file(path) else None
    return found if isinstance(found, dict) else {}


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
