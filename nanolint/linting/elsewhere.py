"""Other files that fixes of one file edit: a settings file, a module that a value is imported from.

Their new texts stand for them while the file is judged with its fixes.
"""

from __future__ import annotations

from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from nanolint.files.door import instead, read_bytes
from nanolint.files.notes import noting
from nanolint.frozen import dataclass
from nanolint.source.edits import apply_edits
from nanolint.source.text import decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from nanolint.diagnostics import Diagnostic, Edit
    from nanolint.linting.engine import Report


@dataclass(frozen=True, slots=True)
class OtherText:
    """The decoded text of another file, as it is and as fixes make it."""

    before: str
    text: str


Others: TypeAlias = "Mapping[Path, OtherText]"
NO_OTHERS: Others = MappingProxyType({})


def edited_others(others: Others, fixes: Iterable[Diagnostic]) -> Others:
    """``others`` with the edits of ``fixes``, which are of their texts, applied."""
    edits: dict[Path, dict[Edit, None]] = {}
    before = {path: other.before for path, other in others.items()}
    texts = {path: other.text for path, other in others.items()}
    for fix in (each.fix for each in fixes if each.fix):
        for file in fix.elsewhere:
            edits.setdefault(file.path, {}).update(dict.fromkeys(file.edits))
            before.setdefault(file.path, file.text)
            texts.setdefault(file.path, file.text)
    for path, each in edits.items():
        texts[path] = apply_edits(texts[path], each)
    return {path: OtherText(before[path], text) for path, text in texts.items()}


def linted(lint: Callable[[str], Report], text: str, others: Others) -> Report:
    """What ``lint`` says of ``text`` where ``others`` are as the fixes make them."""
    with shown(others):
        return lint(text)


@contextmanager
def shown(others: Others) -> Iterator[None]:
    """Let the new texts stand for their files. What is read within is no note of what is there."""
    if not others:
        yield
        return
    contents = {path: encoded(path, other) for path, other in others.items()}
    with noting(apart=True), instead(contents):
        yield


def encoded(path: Path, other: OtherText) -> bytes:
    """The bytes of the new text, as the file is encoded."""
    return encode(decode(read_bytes(path)), other.text)
