"""What another value of a key would cost, each replayed: one step up and down, or the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.rule.case import case_of
from nanolint.run.run import Dialect
from nanolint.run.settled import Layer
from nanolint.source.values import Known
from nanolint.trainers.nanogpt.keys import KEYS, PRETRAINED_CONTEXT, PRETRAINED_SIZES
from nanolint.verdict.changes import SMALLEST_CONTEXT, Change
from nanolint.verdict.replay import peak_change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.rule.case import Case
    from nanolint.rule.context import Context
    from nanolint.run.run import Run
    from nanolint.source.values import Plain
    from nanolint.verdict.verdict import Outcome

GRID = 64  # tokens, or rows of the vocabulary: kernels like multiples of it
SOME_DROPOUT = 0.1  # what nanoGPT's train.py suggests for finetuning


@dataclass(frozen=True, slots=True)
class Step:
    """Other values, and how the run fares with them. ``outcome`` is None without a target.

    ``cost_bytes`` is what the allocated peak grows by; negative where it shrinks.
    """

    change: Change
    cost_bytes: int
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class Share:
    """What the allocated peak would lack with the least value of a key."""

    change: Change
    nbytes: int


def steps(context: Context, case: Case, key: str) -> tuple[Step, ...]:
    """The values next to that of ``key``, larger first; for a choice, the other ones.

    Empty for keys without influence on memory, and where there is nothing to choose.
    """
    run = case.run
    if run is None or not run.on_gpu or _is_forced(case, key):
        return ()
    found = []
    for change in _neighbours(run, key):
        other = _changed(context, case, change)
        if other.run is not None:
            outcome = other.verdict.outcome if other.verdict else None
            found.append(Step(change, _cost(case, other), outcome))
    return tuple(found)


def share(context: Context, case: Case, key: str) -> Share | None:
    """What ``key`` has of the peak: the peak as it is, less that with the least value.

    None for keys that are no sizes, and where the least value would save nothing.
    """
    run = case.run
    change = _least(run, key) if run is not None and run.on_gpu else None
    if change is None or _is_forced(case, key):
        return None
    least = _changed(context, case, change)
    saved = 0 if least.run is None else -_cost(case, least)
    return Share(change, saved) if saved > 0 else None


def _changed(context: Context, case: Case, change: Change) -> Case:
    """``case`` as if ``change`` stood on the command line."""
    values = ((key, Known(value)) for key, value in change.values)
    return case_of(context.config, case.target, *values)


def _cost(case: Case, other: Case) -> int:
    assert case.run is not None and other.run is not None
    return peak_change(case.run, other.run, case.target.gpu if case.target else None)


def _is_forced(case: Case, key: str) -> bool:
    """Whether the checkpoint decides ``key``, so that nothing written would change it."""
    setting = case.resolution.settings.get(key)
    return setting is not None and setting.origin.layer is Layer.CHECKPOINT


def _neighbours(run: Run, key: str) -> Iterator[Change]:
    if not run.follows(key):
        return
    heads, width, size = run.sizes.n_head, run.sizes.n_embd, run.sizes.head_size
    if key in ("batch_size", "n_layer"):
        value = run.value(key)
        yield Change(((key, value + 1),))
        if value > 1:
            yield Change(((key, value - 1),))
    elif key in ("block_size", "vocab_size"):
        yield from _on_the_grid(run, key)
    elif key == "gradient_accumulation_steps":
        least, value = _least_accumulation(run), run.gradient_accumulation_steps
        yield Change(((key, value + least),))
        if value > least:
            yield Change(((key, value - least),))
    elif key == "n_embd" and heads is not None and size is not None:
        for other in (heads + 1, heads - 1):
            if other:
                yield Change(((key, other * size), ("n_head", other)))
    elif key == "n_head" and heads is not None and width is not None:
        divisors = [count for count in range(1, width + 1) if width % count == 0]
        index = divisors.index(heads)
        yield from (Change(((key, count),)) for count in divisors[index + 1 : index + 2])
        yield from (Change(((key, count),)) for count in divisors[max(0, index - 1) : index])
    else:
        yield from (Change(((key, value),)) for value in _others(run, key))


def _on_the_grid(run: Run, key: str) -> Iterator[Change]:
    """The multiples of GRID above and below."""
    value = run.value(key)
    above, below = value // GRID * GRID + GRID, (value - 1) // GRID * GRID
    pretrained = key == "block_size" and run.sizes.init_from in PRETRAINED_SIZES
    if not (pretrained and above > PRETRAINED_CONTEXT):  # train.py only crops
        yield Change(((key, above),))
    if below:
        yield Change(((key, below),))


def _others(run: Run, key: str) -> tuple[Plain, ...]:
    if key in ("compile", "bias", "eval_only"):
        return (not run.value(key),)
    if key == "dropout":
        return (SOME_DROPOUT if run.sizes.dropout == 0 else 0.0,)
    if key == "grad_clip":
        return (1.0 if run.grad_clip == 0 else 0.0,)
    if key == "dtype":
        return tuple(dtype for dtype in KEYS[key].choices or () if dtype != run.dtype)
    return ()


def _least(run: Run, key: str) -> Change | None:
    """The least value of a size; None for other keys, and where the value is the least."""
    if not run.follows(key):
        return None
    least: dict[str, tuple[tuple[str, int], ...]] = {
        "batch_size": ((key, 1),),
        "n_layer": ((key, 1),),
        "block_size": ((key, SMALLEST_CONTEXT),),
        "vocab_size": ((key, GRID),),
        "gradient_accumulation_steps": ((key, _least_accumulation(run)),),
    }
    if run.sizes.head_size is not None:
        least["n_embd"] = ((key, run.sizes.head_size), ("n_head", 1))
    values = least.get(key)
    if values is None or run.value(key) <= values[0][1]:
        return None
    return Change(values)


def _least_accumulation(run: Run) -> int:
    """One micro-step on each GPU, in the numbers of the project's train.py."""
    return run.world_size if run.sizes.dialect is Dialect.TOTAL else 1
