"""What else could be done about a run that does not fit, each replayed on the same target."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from nanolint.frozen import dataclass
from nanolint.gpus.abilities import has_triton
from nanolint.memory.verdict.search import best_micro_batch
from nanolint.memory.verdict.verdict import Outcome, judge
from nanolint.run.run import Attention
from nanolint.trainers.nanogpt.keys import PRETRAINED_SIZES
from nanolint.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nanolint.gpus.gpu import Machine
    from nanolint.memory.verdict.verdict import Verdict
    from nanolint.run.run import Run

T = TypeVar("T")

SMALLEST_BLOCK = 64  # tokens


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to go on: what to write or do, and how the run would then fare."""

    change: str
    verdict: Verdict


class Alternatives:
    """The alternatives to one run on one target, as the advice that circulates ranks them:
    first what keeps the run, then what changes it, then what lies outside the config."""

    def __init__(self, run: Run, target: Machine) -> None:
        self._run = run
        self._target = target

    def __iter__(self) -> Iterator[Alternative]:
        for alternative in (
            self._micro_batch(),
            self._half_the_batch(),
            self._shorter_block(),
            self._compile_either_way(),
            self._fewer_layers(),
            self._narrower(),
            self._smaller_checkpoint(),
            self._logits_deleted(),
            self._expandable_segments(),
            self._other_programs_closed(),
        ):
            if alternative is not None:
                yield alternative

    def _of(self, change: str, run: Run, target: Machine | None = None) -> Alternative:
        return Alternative(change, judge(run, target or self._target))

    def _micro_batch(self) -> Alternative | None:
        """The largest micro-batch that is comfortable; accumulation makes up for it."""
        run = self._run
        found = best_micro_batch([(run, self._target)])
        if found is None:
            return None
        batch, steps = found.batch_size, found.gradient_accumulation_steps
        changed = replace(run, batch_size=batch, gradient_accumulation_steps=steps)
        if found.eval_iters is None:
            return self._of(f"batch_size = {batch}, gradient_accumulation_steps = {steps}", changed)
        changed = replace(changed, eval_iters=found.eval_iters)
        return self._of(f"batch_size = {batch}, eval_iters = {found.eval_iters}", changed)

    def _half_the_batch(self) -> Alternative | None:
        run = self._run
        if run.batch_size < 2 or run.eval_only:
            return None
        half = replace(run, batch_size=run.batch_size // 2)
        effect = f"effective batch {half.effective_batch_size:,}"
        return self._of(f"batch_size = {half.batch_size} ({effect})", half)

    def _shorter_block(self) -> Alternative | None:
        """Half the context, or as many times half as it takes."""
        halves = []
        block = self._run.block_size
        while block % 2 == 0 and block // 2 >= SMALLEST_BLOCK:
            block //= 2
            halves.append(block)
        return self._largest(
            halves,
            lambda size: replace(self._run, block_size=size),
            lambda size: f"block_size = {size}",
        )

    def _compile_either_way(self) -> Alternative | None:
        run = self._run
        if run.compile:
            return self._of("compile = False", replace(run, compile=False))
        if not has_triton(self._target.gpu) or run.attention is Attention.MATH:
            return None
        return self._of("compile = True", replace(run, compile=True))

    def _fewer_layers(self) -> Alternative | None:
        if self._run.init_from != "scratch":
            return None
        return self._largest(
            range(self._run.n_layer - 1, 0, -1),
            lambda layers: replace(self._run, n_layer=layers),
            lambda layers: f"n_layer = {layers}",
        )

    def _narrower(self) -> Alternative | None:
        """Fewer heads of the same size, so that n_head divides n_embd."""
        run = self._run
        if run.init_from != "scratch":
            return None
        head_size = run.n_embd // run.n_head
        return self._largest(
            range(run.n_head - 1, 0, -1),
            lambda heads: replace(run, n_head=heads, n_embd=heads * head_size),
            lambda heads: f"n_embd = {heads * head_size}, n_head = {heads}",
        )

    def _smaller_checkpoint(self) -> Alternative | None:
        names = list(PRETRAINED_SIZES)
        if self._run.init_from not in names:
            return None

        def pretrained(name: str) -> Run:
            layers, heads, width = PRETRAINED_SIZES[name]
            return replace(self._run, init_from=name, n_layer=layers, n_head=heads, n_embd=width)

        smaller = names[: names.index(self._run.init_from)]
        return self._largest(smaller[::-1], pretrained, lambda name: f"init_from = {name!r}")

    def _logits_deleted(self) -> Alternative | None:
        """``del logits`` after each call of the model, which only train.py can say."""
        run = replace(self._run, training_deletes_logits=True, evaluation_deletes_logits=True)
        return None if run == self._run else self._of("del logits in train.py", run)

    def _expandable_segments(self) -> Alternative | None:
        if self._target.expandable:
            return None
        change = "expandable_segments:True in the environment"
        return self._of(change, self._run, replace(self._target, allocator="expandable"))

    def _other_programs_closed(self) -> Alternative | None:
        held = self._target.in_use_bytes
        if not held:
            return None
        alone = replace(self._target, in_use_bytes=0)
        change = f"other programs closed (frees {format_bytes(held)})"
        return self._of(change, self._run, alone)

    def _largest(
        self,
        values: Sequence[T],
        changed: Callable[[T], Run],
        told: Callable[[T], str],
    ) -> Alternative | None:
        """The first of ``values``, which fall, that is comfortable; the last where none is."""
        if not values:
            return None
        low, high = 0, len(values) - 1
        while low < high:
            middle = (low + high) // 2
            tried = self._of("", changed(values[middle]))
            if tried.verdict.outcome is Outcome.COMFORTABLE:
                high = middle
            else:
                low = middle + 1
        return self._of(told(values[low]), changed(values[low]))
