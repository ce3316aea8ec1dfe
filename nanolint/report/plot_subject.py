"""What a picture shows: a replay of all events, and the card's limit on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from nanolint.frozen import dataclass
from nanolint.recording.recording import runs_compiled
from nanolint.report.printer import printable
from nanolint.verdict.replay import replay, replay_tape

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine
    from nanolint.rule.case import Case
    from nanolint.tape.tape import Tape
    from nanolint.verdict.replay import OutOfMemory, Replay

LONGEST_NAME = 48  # characters of the name in the title


class Judged(Protocol):
    """A verdict, of a run that was read or of one that was traced."""

    @property
    def target(self) -> Machine: ...
    @property
    def usable_bytes(self) -> int: ...
    @property
    def oom(self) -> OutOfMemory | None: ...


@dataclass(frozen=True, slots=True)
class Subject:
    """What is drawn: a replay of all events; with ``verdict``, the card's limit on it.

    ``failed_at`` is how many events there are until an allocation fails, None where none does.
    """

    title: str
    whole: Replay
    verdict: Judged | None = None
    failed_at: int | None = None


def subject_of(case: Case, name: str) -> Subject:
    """The run of ``case``, which is known, under the name of its file."""
    run, verdict = case.run, case.verdict
    assert run is not None  # the command refuses a run that is not known
    gpu = case.target.gpu if case.target else None
    expandable = case.target is not None and case.target.expandable
    failed_at = None
    if verdict is not None and verdict.oom is not None:
        limited = replay(
            run, gpu, limit_bytes=verdict.usable_bytes, expandable=expandable, trace=True
        )
        failed_at = len(limited.events)
    size = f", {run.parameters_reported / 1e6:.1f}M parameters" if run.program is None else ""
    title = (
        f"{_shortened(name)}: batch_size {run.batch_size}, block_size {run.block_size}"
        f"{size}, {run.dtype}, {'compiled' if runs_compiled(run, gpu) else 'eager'}"
    )
    whole = replay(run, gpu, expandable=expandable, trace=True)
    return Subject(title, whole, verdict, failed_at)


def subject_of_tape(tape: Tape, name: str, verdict: Judged | None) -> Subject:
    """A run that was traced, under the command that it was started with."""
    expandable = verdict is not None and verdict.target.expandable
    failed_at = None
    if verdict is not None and verdict.oom is not None:
        limit = verdict.usable_bytes
        limited = replay_tape(tape, limit_bytes=limit, expandable=expandable, trace=True)
        failed_at = len(limited.events)
    whole = replay_tape(tape, expandable=expandable, trace=True)
    return Subject(_shortened(name), whole, verdict, failed_at)


def _shortened(name: str) -> str:
    name = printable(name)
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 3]}..."
