"""What else could be done about a run that does not fit, each replayed on the same target."""

from __future__ import annotations

from bisect import bisect_left
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from nanolint.cached import cached_property
from nanolint.gpus.abilities import has_bfloat16, has_triton
from nanolint.interpreter.values import Unread
from nanolint.recording.recording import recorded, state_bytes
from nanolint.run.capability import attention_kernel
from nanolint.run.program import ReadScript
from nanolint.run.run import Attention, NanoGptSizes
from nanolint.run.terms import as_written
from nanolint.trainers.nanogpt.own import own_script
from nanolint.verdict.changes import (
    Alternative,
    Change,
    Cost,
    change,
    micro_batch,
    partner,
    shorter_contexts,
    smaller_checkpoints,
)
from nanolint.verdict.search import (
    about,
    best_micro_batch,
    first_that_holds,
    is_under_floor,
    smaller_steps,
    smallest,
)
from nanolint.verdict.verdict import Outcome, comfortable_limit, judge
from nanolint.verdict.ways.blocks import blocks_checkpointed
from nanolint.verdict.ways.edited import Edited
from nanolint.verdict.ways.logits import Deleted, logits_deleted, loss_in_chunks
from nanolint.verdict.words import amount

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from nanolint.gpus.gpu import Machine
    from nanolint.run.equation import Equation
    from nanolint.run.run import Run

Found = TypeVar("Found", Edited, Deleted)


class ByText:
    """Those of one run on one target. Each raises Unread where the text that says it is not
    read."""

    _run: Run
    _target: Machine

    def _of(self, way: str, run: Run, target: Machine | None = None) -> Alternative:
        raise NotImplementedError

    def _logits_deleted(self) -> Alternative | None:
        """``del logits`` after each call of the model, which only the script can say."""
        found = self._by_text(logits_deleted)
        if found is None:
            return None
        names, paths = ", ".join(found.names), ", ".join(found.paths)
        return self._edited(f"del {names} in {paths}", found.program, self._run)

    def _blocks_checkpointed(self) -> Alternative | None:
        """The blocks through torch.utils.checkpoint: the backward pass runs each forward again.

        That is one forward pass in three, so a third more compute.
        """
        found = None if self._run.eval_only else self._by_text(blocks_checkpointed)
        way = self._eager("blocks in torch.utils.checkpoint", found)
        return None if way is None else replace(way, price="about a third more compute")

    def _loss_in_chunks(self) -> Alternative | None:
        """``F.linear_cross_entropy`` in the model: no logits, and products in float32.

        Its logits are None. torch.compile leaves it out of its graphs.
        """
        found = None if self._run.eval_only else self._by_text(loss_in_chunks)
        paths = ", ".join(found.paths) if found is not None else ""
        return self._eager(f"F.linear_cross_entropy ({paths})", found)

    def _by_text(self, way: Callable[[ReadScript], Found | None]) -> Found | None:
        """What ``way`` makes of the text that is read; of nanoGPT's own without a script."""
        program = self._run.program or own_script()
        if not isinstance(program, ReadScript) or not self._run.on_gpu:
            return None
        return way(program)

    def _eager(self, way: str, found: Edited | None) -> Alternative | None:
        """A way by the model's text without torch.compile, of which more is known then."""
        run = self._run
        if found is None:
            return None
        if run.compile and run.follows("compile"):
            way, run = f"compile = False, {way}", replace(run, compile=False)
        return self._edited(way, found.program, run)

    def _edited(self, way: str, program: ReadScript, before: Run) -> Alternative | None:
        """``before`` with another text, where that allocates otherwise and leaves no more open."""
        run, gpu = replace(before, program=program), self._target.gpu
        known, found = recorded(before, gpu).tape, recorded(run, gpu).tape
        if {*found.doubts, *found.assumed} - {*known.doubts, *known.assumed}:
            return None
        same = found.events == known.events and found.sizes == known.sizes
        return None if same else self._of(way, run)


# Times the limit: what is expected to take more, by one that takes not much less, is not read.
SURELY, NEARBY = 1.01, 1.3

# None where it is not there to take, as for a run that has no such value.
Way: TypeAlias = "Callable[[], Alternative | None]"


class Alternatives(ByText):
    """The alternatives to one run on one target, in the order of what they cost.

    ``equation`` is that of a script which calls its values otherwise than nanoGPT does.
    """

    def __init__(self, run: Run, target: Machine, equation: Equation | None = None) -> None:
        self._run = run
        self._target = target
        self._equation = equation

    def __iter__(self) -> Iterator[Alternative]:
        """Those that keep the model and its batch first; one that changes either is tried where
        none of them leaves room.

        Where no micro-batch does, all others are tried with the smallest. Where the optimizer step
        alone is too much, what does not lower it is not tried.
        """
        if self.is_under_floor:
            yield from self._tried(self._in_floor())
            return
        same = list(self._tried([(Cost.SAME, self._micro_batch)]))
        smallest = None if same else self._smallest_micro_batch()
        if smallest is None:
            yield from same
            yield from self._tried(self._others(), found=bool(same))
            return
        if smallest.verdict.fits:
            yield smallest
        with_it = copy(self)
        with_it._run = smallest.verdict.run
        for each in with_it._tried(with_it._others()):
            yield replace(each, beside=smallest.change)

    def _tried(
        self, ways: Iterable[tuple[Cost, Way]], *, found: bool = False
    ) -> Iterator[Alternative]:
        """``found``: there is one already that keeps the model and its batch."""
        for cost, way in ways:
            keeps = cost not in (Cost.BATCH, Cost.MODEL)
            if found and not keeps:
                return
            try:
                alternative = way()
            except Unread:  # of which nothing is known
                continue
            if alternative is not None:
                found |= keeps and alternative.verdict.outcome is Outcome.COMFORTABLE
                yield replace(alternative, cost=cost)

    def _smallest_micro_batch(self) -> Alternative | None:
        """The same effective batch in the smallest micro-batches, where they are smaller."""
        run = self._run
        if run.batch_size < 2 or not run.follows("batch_size", partner(run)):
            return None
        least = smallest(run)
        if least is None or least.batch_size >= run.batch_size:
            return None
        if self._equation is None:
            written = str(micro_batch(run, least.batch_size, getattr(least, partner(run))))
        else:
            written = as_written(self._equation.changes_for(least.batch_size) or {})
        return self._of(written, least) if written else None

    @cached_property
    def is_under_floor(self) -> bool:
        """Whether the card has less than the optimizer step takes with any micro-batch."""
        return is_under_floor(judge(self._run, self._target))

    def _others(self) -> Iterator[tuple[Cost, Way]]:
        """All but another micro-batch."""
        yield Cost.SAME, self._expandable_segments
        yield Cost.SAME, self._other_programs_closed
        yield Cost.SAME, self._logits_deleted
        yield Cost.SLOWER if self._run.compile else Cost.SAME, self._compile_either_way
        yield Cost.SLOWER, self._blocks_checkpointed
        yield Cost.NUMERICS, self._loss_in_chunks
        yield Cost.NUMERICS, self._half_precision
        yield Cost.BATCH, self._half_the_batch
        yield Cost.MODEL, self._shorter_block
        yield Cost.MODEL, self._fewer_layers
        yield Cost.MODEL, self._narrower
        yield Cost.MODEL, self._smaller
        yield Cost.MODEL, self._smaller_checkpoint

    def _in_floor(self) -> Iterator[tuple[Cost, Way]]:
        """Those that lower it, and more room."""
        yield Cost.SAME, self._other_programs_closed
        yield Cost.MODEL, self._fewer_layers
        yield Cost.MODEL, self._narrower
        yield Cost.MODEL, self._smaller
        yield Cost.MODEL, self._smaller_checkpoint

    def _of(self, way: str, run: Run, target: Machine | None = None) -> Alternative:
        return Alternative(way, judge(run, target or self._target))

    def _micro_batch(self) -> Alternative | None:
        """The largest micro-batch that is comfortable; accumulation makes up for it."""
        found = best_micro_batch([(self._run, self._target)])
        if found is None or self._equation is None:
            return None if found is None else self._with(found)
        written = self._equation.changes_for(found.counts["batch_size"])
        return self._of(as_written(written), found.applied(self._run)) if written else None

    def _half_the_batch(self) -> Alternative | None:
        run = self._run
        if run.batch_size < 2 or run.eval_only or not run.follows("batch_size"):
            return None
        if self._equation is not None:
            return self._smaller_batch(self._equation)
        half = replace(run, batch_size=run.batch_size // 2)
        if not half.is_known:
            return None
        effect = f"effective batch {half.effective_batch_size:,}"
        return self._of(f"batch_size = {half.batch_size} ({effect})", half)

    def _smaller_batch(self, equation: Equation) -> Alternative | None:
        found = self._largest(smaller_steps(self._run, equation))
        if found is None or equation.factor is None:
            return None
        run = found.verdict.run
        way = as_written({equation.factor: run.batch_size})
        return replace(found, change=f"{way} (effective batch {run.effective_batch_size:,})")

    def _shorter_block(self) -> Alternative | None:
        """Half the context, or as many times half as it takes."""
        if not self._run.follows("block_size"):
            return None
        return self._largest(list(shorter_contexts(self._run)))

    def _compile_either_way(self) -> Alternative | None:
        run = self._run
        cannot = not has_triton(self._target.gpu) or run.attention is Attention.MATH
        if (not run.compile and cannot) or not run.follows("compile"):
            return None
        return self._with(change(compile=not run.compile))

    def _half_precision(self) -> Alternative | None:
        """Two bytes a number instead of four, in the half precision that the card has."""
        run, gpu = self._run, self._target.gpu
        if run.dtype != "float32" or not run.follows("dtype") or not run.on_gpu:
            return None
        half = "bfloat16" if has_bfloat16(gpu) else "float16"
        kernel = attention_kernel(
            gpu, dtype=half, head_size=run.sizes.head_size, dropout=bool(run.sizes.dropout)
        )
        if run.attention is Attention.MATH:
            kernel = Attention.MATH
        other = Change((("dtype", half),), (("attention", kernel),))
        return self._with(other)

    def _sizes(self, *keys: str) -> NanoGptSizes:
        """Those of the model if these keys may have other values; none else."""
        sizes = self._run.sizes
        is_free = sizes.init_from == "scratch" and self._run.follows(*keys)
        return sizes if is_free else NanoGptSizes()

    def _fewer_layers(self) -> Alternative | None:
        layers = self._sizes("n_layer").n_layer
        if layers is None:
            return None
        fewer = range(layers - 1, (layers - 1) // 2, -1)
        return self._comfortable([change(n_layer=layers) for layers in fewer])

    def _narrower(self) -> Alternative | None:
        """Fewer heads of the same size, so that n_head divides n_embd."""
        sizes = self._sizes("n_embd", "n_head")
        heads, size = sizes.n_head, sizes.head_size
        if heads is None or size is None:
            return None
        fewer = range(heads - 1, (heads - 1) // 2, -1)
        return self._comfortable([change(n_embd=each * size, n_head=each) for each in fewer])

    def _smaller(self) -> Alternative | None:
        """Fewer layers and heads alike, down to a quarter, if half of either is too much."""
        sizes = self._sizes("n_layer", "n_embd", "n_head")
        layers, heads, size = sizes.n_layer, sizes.n_head, sizes.head_size
        if layers is None or heads is None or size is None:
            return None
        if self._fewer_layers() is not None or self._narrower() is not None:
            return None
        shapes = [
            change(n_layer=fewer, n_embd=each * size, n_head=each)
            for each in range(heads - 1, heads // 4, -1)
            if (fewer := layers * each // heads)
        ]
        return self._comfortable(shapes)

    def _smaller_checkpoint(self) -> Alternative | None:
        return self._largest(list(smaller_checkpoints(self._run)))

    def _expandable_segments(self) -> Alternative | None:
        if self._target.expandable:
            return None
        way = "expandable_segments:True in the environment"
        return self._of(way, self._run, replace(self._target, allocator="expandable"))

    def _other_programs_closed(self) -> Alternative | None:
        held = self._target.in_use_bytes
        if not held:
            return None
        alone = replace(self._target, in_use_bytes=0)
        way = f"other programs closed (frees {amount(held)})"
        return self._of(way, self._run, alone)

    def _comfortable(self, changes: Sequence[Change]) -> Alternative | None:
        """The first of ``changes`` that is comfortable; None if none is."""
        found = self._largest(changes)
        comfortable = found is not None and found.verdict.outcome is Outcome.COMFORTABLE
        return found if comfortable else None

    def _with(self, other: Change) -> Alternative:
        return self._of(str(other), other.applied(self._run))

    def _largest(self, changes: Sequence[Change]) -> Alternative | None:
        """The first of ``changes``, which take ever less, that is comfortable; or the last.

        What is read of one tells whether the next larger one is worth a reading.
        """
        if not changes:
            return None
        run, gpu = self._run, self._target.gpu
        limit = comfortable_limit(run, self._target)
        sizes = [about(run, each.applied(run), gpu) for each in changes] if _scales(run) else []
        read: dict[int, int] = {}  # what those take that were

        def fits(at: int) -> bool:
            if state_bytes(changes[at].applied(run)) > limit:
                return False
            own = run.program is None  # of another model it is a guess where to begin
            if own and at + 1 in read and sizes and sizes[at] < sizes[at + 1] * NEARBY:
                expected = read[at + 1] * sizes[at] / sizes[at + 1]
                if expected > limit * SURELY:
                    return False
            found = self._with(changes[at]).verdict
            read[at] = found.replay.peak.reserved_bytes
            return found.outcome is Outcome.COMFORTABLE

        start = bisect_left(sizes, True, key=lambda size: size <= limit) if sizes else 0
        start = start if sizes else (len(changes) - 1) // 2
        at = first_that_holds(range(len(changes)), fits, start)
        return self._with(changes[min(at, len(changes) - 1)])


def _scales(run: Run) -> bool:
    """Whether it is about known what it takes with other sizes: they are nanoGPT's."""
    return run.batch_size > 0 and run.has_sizes and run.on_gpu and not run.eval_only
