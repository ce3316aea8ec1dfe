"""The files of a run's data: whether they are there, what they say, and the vocabulary size."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import FOLDER, MOST_BYTES, is_file, kind, names, read_bytes
from nanolint.files.notes import memo
from nanolint.regex import lazily
from nanolint.run.program import DataFile, SourceText
from nanolint.run.settled import Layer, Origin
from nanolint.run.trust import Doubt, Subject
from nanolint.source.values import Known, Unknown
from nanolint.trainers.nanogpt.keys import PADDED_VOCABULARY, SHAKESPEARE_CHAR_VOCABULARY
from nanolint.trainers.nanogpt.reading import SOURCE_LIMIT, read_source
from nanolint.trainers.script.corpora import texts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nanolint.run.settled import Project, Setting
    from nanolint.source.values import Value

META = "meta.pkl"
PREPARE = "prepare.py"
MOST_MAKERS = 20  # programs of a data set that are looked at
# What nanoGPT's own prepare.py says, in these lines.
_DOWNLOADS = lazily(rb"^[^#\n]*tinyshakespeare/input\.txt", re.MULTILINE)
_COUNTS = lazily(rb"^[ \t]*\w+[ \t]*=[ \t]*sorted\((?:list\()?set\(\w+\)", re.MULTILINE)
CHARACTERS = "shakespeare_char"
WITHOUT_META = frozenset({"openwebtext", "shakespeare"})  # nanoGPT's data sets that write none


def dataset_vocabulary(dataset: str) -> tuple[Value, Origin]:
    """The vocabulary that nanoGPT's own train.py takes for one of its own data sets."""
    if dataset == CHARACTERS:
        return Known(SHAKESPEARE_CHAR_VOCABULARY), Origin(Layer.DATASET)
    return Known(PADDED_VOCABULARY), Origin(Layer.DEFAULT)


def whether_it_exists(path: str, root: Path | None) -> tuple[Value, Doubt | None]:
    """Whether a script in ``root`` will find a file at ``path``, as far as that is known.

    A meta.pkl that is not here is found all the same where a program beside it writes one, and that
    of nanoGPT's character data set. Where its folder is not here either, there is a doubt.
    """
    if "\0" in path:
        return Known(value=False), None
    place = (root or Path()) / path
    if is_file(place):
        return Known(value=True), None
    folder = place.parent
    if place.name != META:
        return Unknown(f"nanolint cannot know before the run whether {path} exists"), None
    if folder.name == CHARACTERS:
        return Known(value=True), None
    if (maker := maker_of(folder, META)) is not None:
        return Unknown(_unwritten(path, maker)), None
    if kind(folder) == FOLDER or folder.name in WITHOUT_META:
        return Known(value=False), None
    text = f"assuming that {path} does not exist: its folder is not here"
    return Known(value=False), Doubt(Subject.VOCABULARY, text)


def pickled_vocabulary(path: str, root: Path | None) -> tuple[Value, Origin]:
    """The ``vocab_size`` in the pickle at ``path``, which is only read; and which file decided it.

    Unknown where it does not give it away, or is not here.
    """
    place = (root or Path()) / path
    if is_file(place):
        return _from_pickle(place), Origin(Layer.DATASET, place)
    if place.parent.name == CHARACTERS:
        size = _characters(place.parent)
        if size is not None:
            return Known(size), Origin(Layer.DATASET)
    maker = maker_of(place.parent, place.name) or PREPARE
    return Unknown(_unwritten(path, maker)), Origin(Layer.DATASET, place.parent / maker)


def _characters(folder: Path) -> int | None:
    """The characters of nanoGPT's data set: those of the text that its prepare.py downloads, or of
    the input.txt that it finds; None where prepare.py is another one."""
    with suppress(Unusable):
        prepare = read_bytes(folder / "prepare.py", SOURCE_LIMIT)
        if not (_DOWNLOADS.search(prepare) and _COUNTS.search(prepare)):
            return None
    try:
        text = read_bytes(folder / "input.txt", MOST_BYTES).decode("utf-8")
        return len(set(text.replace("\r\n", "\n").replace("\r", "\n")))
    except (Unusable, UnicodeDecodeError):
        return None if is_file(folder / "input.txt") else SHAKESPEARE_CHAR_VOCABULARY


def _unwritten(path: str, maker: str) -> str:
    return (
        f"{path} holds it, which {maker} writes and which is not here; give it with "
        "--set vocab_size=N"
    )


def datasets(root: Path) -> list[str]:
    """The names of the folders in ``root``'s data folder, sorted."""
    data = root / "data"
    return [name for name in names(data) if kind(data / name) == FOLDER]


def has_dataset(root: Path, dataset: str) -> bool:
    """Whether ``root`` has the folder that train.py would read ``dataset`` from."""
    return kind(root / "data" / dataset) == FOLDER


def _from_pickle(meta: Path) -> Value:
    from nanolint.trainers.nanogpt.pickles import vocabulary  # most data sets have none

    size = vocabulary(meta)
    if size is None:
        return Unknown(f"{meta} is readable only by running it; pass --set vocab_size=N")
    return Known(size)


@memo
def maker_of(folder: Path, name: str) -> str | None:
    """The program in ``folder`` that writes the file ``name`` there: prepare.py, or another."""
    programs = sorted(names(folder, "*.py"), key=lambda each: (each != PREPARE, each))
    return next((each for each in programs[:MOST_MAKERS] if _writes(folder / each, name)), None)


def _writes(program: Path, name: str) -> bool:
    """Whether the text of a program names the file."""
    try:
        content = read_bytes(program, SOURCE_LIMIT)
    except Unusable:
        return False
    return name.encode() in content


VOCABULARY = "vocab_size"
IN_JSON = "meta.json"
MOST_SETS = 50


def is_told(settings: Mapping[str, Setting], project: Project) -> bool:
    """Whether the vocabulary was given by hand, which the script itself does not take."""
    told = settings.get(VOCABULARY)
    return (
        told is not None
        and told.origin.layer is Layer.OVERRIDE
        and (VOCABULARY not in project.environment)
    )


def data_files(project: Project, settings: Mapping[str, Setting]) -> Iterator[DataFile]:
    """The description of the run's data, as far as it is known whether there is one."""
    dataset = settings.get("dataset")
    if dataset is None or not isinstance(dataset.value, Known):
        return
    folder = f"data/{dataset.value.value}"
    if is_told(settings, project):
        yield from _told(settings, folder)
        return
    yield from _pickled(project.root, f"{folder}/{META}")
    yield from _made(project.root, folder, IN_JSON)


def _told(settings: Mapping[str, Setting], folder: str) -> Iterator[DataFile]:
    """The description that says the size given by hand, whatever is there of it here."""
    told = settings[VOCABULARY].value
    if isinstance(told, Known) and isinstance(told.value, int):
        yield DataFile(f"{folder}/{META}", exists=True, vocabulary=told.value)


def data_sets(root: Path) -> Iterator[DataFile]:
    """The description of each data set of a project, and of those that never have one, as far as it
    is known whether there is one: for a script that looks for one."""
    found = datasets(root)
    for name in [*found[:MOST_SETS], *sorted(WITHOUT_META - {*found})]:
        yield from _pickled(root, f"data/{name}/{META}")


def _pickled(root: Path | None, path: str) -> Iterator[DataFile]:
    """The meta.pkl: what it says, or the program that writes it where that is here."""
    found, doubt = whether_it_exists(path, root)
    exists = found.value if isinstance(found, Known) else None
    folder = path.rpartition("/")[0]
    if exists is None:
        yield from _made(root, folder, META)
        return
    if doubt is not None and exists:
        return
    size, _ = pickled_vocabulary(path, root) if exists else (None, None)
    vocabulary = size.value if isinstance(size, Known) else None
    yield DataFile(
        path, exists=bool(exists), vocabulary=vocabulary if isinstance(vocabulary, int) else None
    )


def _made(root: Path | None, folder: str, name: str) -> Iterator[DataFile]:
    """A description that a program beside it writes, with that and the texts that it finds."""
    maker = None if root is None else maker_of(root / folder, name)
    if root is None or maker is None:
        return
    found = DataFile(f"{folder}/{name}", exists=True)
    program = root / folder / maker
    try:
        text = read_source(program)
    except Unusable:
        yield found
        return
    source = SourceText("__main__", f"{folder}/{maker}", text)
    inputs = tuple(
        replace(each, path=f"{folder}/{each.path}") for each in texts_of((source,), program.parent)
    )
    yield replace(found, maker=source, inputs=(*inputs, *texts_of((source,), root)))
