"""Whole scripts read as nanolint's users have them read: by launch line, card and PyTorch."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.cli.profile import config_of
from nanolint.cli.streams import Streams
from nanolint.files.notes import forget
from nanolint.gpus.lookup import find
from nanolint.memory.recording import record
from nanolint.rule.case import case_of
from nanolint.run.program import ReadScript

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.memory.tape import Tape


class Found(NamedTuple):
    """What reading gives: the tape, and what is in doubt."""

    tape: Tape
    doubts: tuple[str, ...]


class NotRead(Exception):
    """No tape is known of the script, and why."""


def read_whole(folder: Path, line: str, card: str, torch: tuple[int, int], *, eager: bool) -> Found:
    """The run that ``line`` starts in ``folder``; ``eager`` leaves torch.compile out."""
    options = Namespace(isolated=True, config=None, torch_version=".".join(map(str, torch)))
    with _inside(folder):
        forget()
        config = config_of(line, options, Streams(sys.stdin, sys.stdout, sys.stderr)).config
        target = find(card)
        found = case_of(config, target).resolution
        run = found.run
        if run is None or not isinstance(run.program, ReadScript):
            raise NotRead("; ".join(map(str, (*found.unresolved, *found.doubts))))
        tape = record(replace(run, compile=False) if eager else run, target.gpu)
    return Found(tape, tuple(str(each) for each in found.doubts))


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
