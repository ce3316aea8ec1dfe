"""What is known of the files of a run's data: whether they are there, and what they say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.run.program import DataFile, SourceText
from nanolint.run.settled import Layer
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.reading import read_source
from nanolint.trainers.nanogpt.vocabulary import (
    META,
    WITHOUT_META,
    datasets,
    maker_of,
    pickled_vocabulary,
    whether_it_exists,
)
from nanolint.trainers.script.corpora import texts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from nanolint.run.settled import Project, Setting

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
