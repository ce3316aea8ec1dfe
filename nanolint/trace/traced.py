"""What the child reports, checked and as a tape."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from nanolint.errors import UserError
from nanolint.frozen import dataclass
from nanolint.tape.tape import Component, Phase, Tape

if TYPE_CHECKING:
    from collections.abc import Mapping

NO_PLACE = "no line of Python is known"
_MOVED = re.compile(r"\.(to|cuda|pin_memory)\(|non_blocking|get_batch|next_batch|next\(")
_LOSS = re.compile(r"logits|cross_entropy|lm_head|nll_loss|loss\b")


class NotATrace(UserError):
    """What is said to be a trace is none."""


@dataclass(frozen=True, slots=True)
class Failure:
    """What ended the script before its optimizers had stepped often enough."""

    kind: str  # the exception's class: SystemExit where the script came to its end
    message: str
    place: str | None  # "train.py:120"


COMPILED = "torch.compile's code"  # as the child says it
_CALLED = re.compile(r"([A-Za-z_][\w.]*)\(")


@dataclass(frozen=True, slots=True)
class Traced:
    """One traced run. Bytes are PyTorch's own figures; the tape has the requests, rounded up."""

    tape: Tape
    requests: tuple[int, ...]  # of each allocation, not rounded
    torch: str  # "2.13.0+cu130"
    capability: tuple[int, int]
    allocated_bytes: int  # torch.cuda.max_memory_allocated
    reserved_bytes: int  # torch.cuda.max_memory_reserved
    failure: Failure | None
    steps: int  # optimizer steps that were begun
    seconds: float  # of the run, by the clock
    cpu_seconds: float  # the same with starting torch, as the processor counts them
    host_bytes: int
    modules: tuple[str, ...]  # files of the project that were imported
    opened: tuple[str, ...]  # small files in the working folder that were read besides
    written: tuple[str, ...]  # files that were written into memory, and are gone
    skipped: tuple[str, ...]  # writes that did not happen
    invented: tuple[str, ...]  # data that was missing and stood in for
    indices: tuple[str, ...]  # places where a number on the card, which is 0 there, was an index
    unpadded: tuple[tuple[int, int, int], ...]  # products that a card would time, as (M, K, N)
    doubts: tuple[str, ...]  # what else the child is not sure of
    printed: str  # the end of what the script printed

    @property
    def release(self) -> tuple[int, int]:
        """The line of PyTorch: (2, 13)."""
        major, minor, *_ = self.torch.split(".")
        return int(major), int(minor)

    @property
    def complete(self) -> bool:
        """Whether it went through an optimizer step: before that, no peak is known."""
        return any(phase is Phase.OPTIMIZER for _, phase in self.tape.phases)


def read(history: Mapping[str, Any]) -> Traced:
    """The child's message; raises NotATrace if it is not one."""
    try:
        tape = _tape(history)
        error = history["error"]
        major, minor = history["capability"]
        return Traced(
            tape=tape,
            requests=tuple(map(int, history["nbytes"])),
            torch=str(history["torch"]),
            capability=(int(major), int(minor)),
            allocated_bytes=int(history["allocated"]),
            reserved_bytes=int(history["reserved"]),
            failure=None if error is None else _failure(error),
            steps=sum(phase is Phase.OPTIMIZER for _, phase in tape.phases),
            seconds=float(history["seconds"]),
            cpu_seconds=float(history["cpu_seconds"]),
            host_bytes=int(history["host_bytes"]),
            modules=tuple(map(str, history["modules"])),
            opened=tuple(map(str, history["opened"])),
            written=tuple(map(str, history["written"])),
            skipped=tuple(map(str, history["skipped"])),
            invented=tuple(map(str, history["invented"])),
            indices=tuple(map(str, history["indices"])),
            unpadded=tuple((int(m), int(k), int(n)) for m, k, n in history["unpadded"]),
            doubts=tuple(map(str, history["doubts"])),
            printed=str(history.get("printed", "")),
        )
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as wrong:
        raise NotATrace(f"not a trace: {type(wrong).__name__}: {wrong}") from wrong


def _failure(error: Mapping[str, Any]) -> Failure:
    place = error["place"]
    where = None if place is None else f"{place[0]}:{int(place[1])}"
    return Failure(str(error["type"]), str(error["message"]), where)


def _tape(history: Mapping[str, Any]) -> Tape:
    events, nbytes = history["events"], history["nbytes"]
    tape, live = Tape(), set()
    marks = [(int(at), Phase(name)) for at, name in history["phases"]]
    components = _components(history)
    names = [_name(place) for place in history["places"]]
    for event in events:
        while marks and marks[0][0] <= len(tape.sizes) and event >= 0:
            tape.phase(marks.pop(0)[1])
        if event >= 0:
            if event != len(tape.sizes):
                raise ValueError(f"allocation {event} is out of order")
            place = history["place_of"][event]
            name = names[place] if place >= 0 else NO_PLACE
            live.add(tape.alloc(int(nbytes[event]), name, components[event]))
        else:
            live.remove(~event)
            tape.free(~event)
    return tape


def _name(place: list[Any]) -> str:
    """``model.py:104 x = self.c_fc(x)``."""
    file, line, function, code = place
    return f"{file}:{line} {code or function}"


def lasting_name(name: str) -> str:
    """The same for every micro-batch: what Inductor writes has sizes in it, and numbers of lines.

    >>> lasting_name("torch.compile's code:18 buf0 = empty_strided_cuda((8, 64), (64, 1), float32)")
    "torch.compile's code: empty_strided_cuda"
    """
    if not name.startswith(COMPILED):
        return name
    called = _CALLED.search(name)
    return f"{COMPILED}: {called[1]}" if called else COMPILED


def _components(history: Mapping[str, Any]) -> list[Component]:
    """What each allocation is for, the first that holds.

    What the optimizer updates, keeps and is handed, and cuBLAS's workspaces, are known by their
    addresses. What was there before training began and stays is counted with the parameters. A
    batch and the loss are known by the words of their source line; all else is activations.
    """
    found: list[Component | None] = [None] * len(history["nbytes"])
    for name in ("parameters", "optimizer", "workspace", "gradients"):
        for handle in history["components"][name]:
            found[handle] = found[handle] or Component(name)
    kept = set(range(len(found))) - {~event for event in history["events"] if event < 0}
    first = next((at for at, phase in history["phases"] if phase != "setup"), 0)
    steps = [at for at, phase in history["phases"] if phase == "optimizer"]
    code = [_by_words(place[3]) for place in history["places"]]
    for handle, component in enumerate(found):
        if component is None:
            place = history["place_of"][handle]
            words = code[place] if place >= 0 else None
            if handle in kept and handle < first:
                found[handle] = Component.PARAMETERS
            elif handle in kept and steps and handle >= steps[0] and words is None:
                found[handle] = Component.OPTIMIZER
            else:
                found[handle] = words or Component.ACTIVATIONS
    return [component or Component.ACTIVATIONS for component in found]


def _by_words(code: str) -> Component | None:
    if _LOSS.search(code):
        return Component.LOGITS_AND_LOSS
    return Component.INPUTS if _MOVED.search(code) else None
