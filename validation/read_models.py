"""Models that are read, beside what PyTorch allocates for them: the same script both ways.

The script around a model is validation/models/train.py: PyTorch runs it, nanolint reads it.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from nanolint.recording.recording import record
from nanolint.run.program import ReadScript, SourceText
from nanolint.run.run import Attention, Run
from nanolint.trace.process import PretendedCard, Request, trace
from nanolint.trace.traced import Traced, read

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu
    from nanolint.tape.tape import Tape

MODELS = Path(__file__).parent / "models"
TRAIN = MODELS / "train.py"
STEPS = 3
PASSES = 2  # forward-backward passes of a step
TOLD = "json.loads(sys.argv[1])"  # where TRAIN is told what it trains


class Case(NamedTuple):
    """One run. ``arguments`` are those of ``config``, or of the class itself without one."""

    sources: tuple[SourceText, ...]  # the first has the class
    folder: Path  # where they are imported from
    cls: str
    config: str | None
    arguments: dict[str, Any]
    batch_size: int
    block_size: int
    vocab_size: int
    dtype: str
    compile: bool = False
    first: Path | None = None  # imported from before ``folder``

    def run(self, torch: tuple[int, int]) -> Run:
        """As nanolint is asked about it."""
        return Run(
            batch_size=self.batch_size,
            gradient_accumulation_steps=PASSES,
            world_size=1,
            block_size=self.block_size,
            vocab_size=self.vocab_size,
            dtype=self.dtype,
            compile=self.compile,
            device="cuda",
            attention=Attention.FLASH,
            eval_iters=2,
            eval_interval=0,
            max_iters=STEPS - 1,
            torch=torch,
            program=self.script(),
        )

    def read(self, gpu: Gpu | None, torch: tuple[int, int]) -> Tape:
        """Its events by reading."""
        return record(self.run(torch), gpu)

    def script(self) -> ReadScript:
        """TRAIN around the model, with what it is told in its text."""
        told = f"{self.said() | {'steps': STEPS}!r}"
        text = TRAIN.read_text(encoding="utf-8").replace(TOLD, told)
        return ReadScript((SourceText("__main__", TRAIN.name, text), *self.sources))

    def said(self) -> dict[str, Any]:
        """What TRAIN is told. It goes on for longer than it is traced."""
        return {
            "steps": STEPS + 1,
            "paths": [str(each) for each in (self.first, self.folder) if each],
            "module": self.sources[0].module,
            "class": self.cls,
            "config": self.config,
            "arguments": self.arguments,
            "batch_size": self.batch_size,
            "block_size": self.block_size,
            "vocab_size": self.vocab_size,
            "dtype": self.dtype,
            "passes": PASSES,
            "compile": self.compile,
        }

    def trace(self, python: str, cache: Path, card: PretendedCard) -> Traced:
        """Its events by PyTorch itself."""
        request = Request(
            python=python,
            argv=[str(TRAIN), json.dumps(self.said())],
            card=card,
            steps=STEPS,
            seconds=600,
            folder=self.folder,
        )
        return read(trace(request, cache))


def entries(tape: Tape) -> list[int | tuple[int, ...]]:
    """Each allocation's bytes, and between two of them the bytes that are released.

    In which order tensors are released together PyTorch itself leaves to a hash table.
    """
    found: list[int | tuple[int, ...]] = []
    freed: list[int] = []
    for event in tape.events:
        if event < 0:
            freed.append(tape.sizes[~event])
            continue
        if freed:
            found.append(tuple(sorted(freed)))
            freed = []
        found.append(tape.sizes[event])
    return found


def digest(tape: Tape, most: int | None = None) -> str:
    """One word for all entries, or the first so many."""
    return hashlib.sha256(json.dumps(entries(tape)[:most]).encode()).hexdigest()[:16]


def first_difference(one: Tape, other: Tape) -> str | None:
    """Where two tapes part, in words; None where they do not."""
    mine, theirs = entries(one), entries(other)
    for place, (left, right) in enumerate(zip(mine, theirs, strict=False)):
        if left != right:
            return (
                f"entry {place} of {len(theirs)}: {left} ({_name(one, mine, place)}),"
                f" not {right} ({_name(other, theirs, place)})"
            )
    return None if len(mine) == len(theirs) else f"{len(mine)} entries, not {len(theirs)}"


def _name(tape: Tape, found: list[int | tuple[int, ...]], place: int) -> str:
    """What is allocated there, or before."""
    count = sum(isinstance(each, int) for each in found[: place + 1])
    return tape.names[count - 1] if count else "nothing"
