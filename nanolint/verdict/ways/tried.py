"""The ways out by a script's text, each read again as it would then be."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from nanolint.recording.recording import recorded
from nanolint.run.program import ReadScript
from nanolint.trainers.nanogpt.own import own_script
from nanolint.verdict.ways.blocks import blocks_checkpointed
from nanolint.verdict.ways.edited import Edited
from nanolint.verdict.ways.logits import Deleted, logits_deleted
from nanolint.verdict.ways.loss import loss_in_chunks

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.gpus.gpu import Machine
    from nanolint.run.run import Run
    from nanolint.verdict.changes import Alternative

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
