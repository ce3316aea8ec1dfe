"""The datasets of a project, and the vocabulary size that train.py would find in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.errors import Unusable
from nanolint.files.door import FOLDER, is_file, kind, names, read_bytes
from nanolint.run.settled import Layer, Origin
from nanolint.source.values import Known, Unknown
from nanolint.trainers.nanogpt.keys import PADDED_VOCABULARY, SHAKESPEARE_CHAR_VOCABULARY
from nanolint.trainers.nanogpt.pickles import vocabulary
from nanolint.trainers.nanogpt.reading import SOURCE_LIMIT

if TYPE_CHECKING:
    from pathlib import Path

    from nanolint.source.values import Value


def dataset_vocabulary(dataset: str, root: Path | None) -> tuple[Value, Origin]:
    """The vocabulary of ``data/<dataset>`` under ``root``, and which file decided it.

    Unknown where the folder's meta.pkl does not give it away, or is missing although prepare.py
    writes one. Without a folder, nanoGPT's own data sets are known.
    """
    if root is not None and "\0" not in dataset:
        folder = root / "data" / dataset
        meta = folder / "meta.pkl"
        if is_file(meta):
            return _from_pickle(meta), Origin(Layer.DATASET, meta)
        if dataset != "shakespeare_char":
            prepare = folder / "prepare.py"
            if _writes_meta(prepare):
                reason = (
                    f"data/{dataset}/meta.pkl holds it, which prepare.py writes and which is not "
                    "here; --set vocab_size=N tells it"
                )
                return Unknown(reason), Origin(Layer.DATASET, prepare)
    if dataset == "shakespeare_char":
        return Known(SHAKESPEARE_CHAR_VOCABULARY), Origin(Layer.DATASET)
    return Known(PADDED_VOCABULARY), Origin(Layer.DEFAULT)


def datasets(root: Path) -> list[str]:
    """The names of the folders in ``root``'s data folder, sorted."""
    data = root / "data"
    return [name for name in names(data) if kind(data / name) == FOLDER]


def has_dataset(root: Path, dataset: str) -> bool:
    """Whether ``root`` has the folder that train.py would read ``dataset`` from."""
    return kind(root / "data" / dataset) == FOLDER


def _from_pickle(meta: Path) -> Value:
    size = vocabulary(meta)
    if size is None:
        return Unknown(f"{meta} does not tell it without being run; --set vocab_size=N tells it")
    return Known(size)


def _writes_meta(prepare: Path) -> bool:
    try:
        content = read_bytes(prepare, SOURCE_LIMIT)
    except Unusable:
        return False
    return b"meta.pkl" in content
