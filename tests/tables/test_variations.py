"""What people change in a training script: what is read is what PyTorch takes, or in doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from tests.support.repository import ROOT
from validation.record_variations import CARD, digest, rows
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

# What is not read, or in doubt, and why it may be. All others are equal to the byte.
NOT_KNOWN: dict[str, str] = {
    "settings: lbfgs": "optimizers of other kinds are not read",
    "settings: steps behind accumulation": "no loop has a step of an optimizer",
    **dict.fromkeys(
        (
            "settings: default tensor type",
            "settings: deterministic",
            "settings: fraction",
            "settings: alloc conf split",
            "settings: autocast nocache",
        ),
        "settings of all of PyTorch that are not followed",
    ),
    **dict.fromkeys(
        (
            "settings: compiled blocks",
            "settings: compiled forward hook",
        ),
        "what is compiled so is not derived",
    ),
    **dict.fromkeys(
        (
            "settings: averaged",
            "settings: autograd grad",
            "settings: create graph",
            "settings: dataparallel",
            "settings: lstm",
            "settings: transformer layer evaluated",
            "settings: save on cpu",
            "settings: sparse embedding",
            "settings: stream",
            "settings: torch func",
            "settings: weight norm",
            "settings: patch method",
        ),
        "parts of PyTorch that are not read",
    ),
    **dict.fromkeys(
        (
            "models: moe index",
            "training: a curvature by Hutchinson",
            "training: an inner step",
            "training: gradients of two losses that do not conflict",
            "training: mixed embeddings",
            "training: a scale of the spectrum",
            "training: what a class weighs, and several tasks",
        ),
        "parts of PyTorch that are not read",
    ),
    **dict.fromkeys(
        (
            "training: layers by chance",
            "training: embeddings that are attacked",
            "training: a generator and who tells it apart",
        ),
        "what chance or the contents of tensors decide",
    ),
    "python: settings in layers": "a part of Python that is not read: ChainMap",
    **dict.fromkeys(
        (
            "loops: batch warmup",
            "loops: memory limit",
            "loops: random length",
        ),
        "batches that change or that only a run knows, a limit of the script's own",
    ),
    **dict.fromkeys(
        (
            "compiled: options",
            "compiled: dynamic",
            "compiled: aot eager",
            "compiled: forward",
            "compiled: class's forward",
            "compiled: block's forward",
            "compiled: blocks in place",
            "compiled: one block",
            "compiled: loss",
            "compiled: optimizer",
            "compiled: optimizer's method",
            "compiled: step",
            "compiled: function with the model",
            "compiled: blocks in checkpoints",
            "compiled: other size",
            "compiled: retain",
            "compiled: forward hook",
            "compiled: with a print",
            "compiled: part disabled",
            "compiled: stance",
            "compiled: dynamo off",
            "compiled: dynamic shapes assumed",
        ),
        "what is compiled so is not derived",
    ),
    **dict.fromkeys(
        (
            "mixtures: where, for each expert",
            "mixtures: a mask for each expert",
        ),
        "how many tokens an expert gets follows from values",
    ),
    **dict.fromkeys(
        (
            "mixtures: grouped products",
            "mixtures: bias by load, histc",
        ),
        "parts of PyTorch that are not read",
    ),
    "kinds: an hourglass": "parts of PyTorch that are not read",
    "kinds: a memory of the segment before": "sizes of results that come back as arguments",
    "kinds: parallel blocks, the loss in checkpoints": "joins parts of sums, in a checkpoint",
}

# Allocated and freed in another order than PyTorch's: the same bytes, more or fewer of them
# reserved, 2 or 4 MiB where no number stands.
RESERVED_OTHERWISE = {
    "kinds: latent attention, shared and routed experts",
    "kinds: masked diffusion",  # 34 MiB
    "kinds: relative buckets, z-loss, Adafactor",
    "kinds: sinks, batched experts, in bfloat16",
    "kinds: codes of what remains",
    "kinds: steps until it halts",
    "kinds: a world model",
    "kinds: variance and covariance of two views",
    "compiled: random tokens are dropped",
    "mixtures: one expert with a capacity, one_hot",
    "mixtures: sorted, in equal parts, in bfloat16",
    "training: layers that thaw",
}


# Three steps were traced of nine: what the other six keep.
LATER = {
    "settings: forward hook": (6 << 20, 6 << 20),
    "settings: x kept": (6 << 14, 0),
    "training: layers that thaw": (21_088_256, 10_485_760),  # traced over nine
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_change_is_read_or_in_doubt(tmp_path: Path, name: str) -> None:
    row = rows()[name]
    assert row["text"] == digest(name)
    found = explained(tmp_path, TEXTS[name], card=CARD)
    sure = (found.get("trust"), found.get("doubts")) == ("read", [])
    assert sure is (name not in NOT_KNOWN)
    if sure:
        more, more_reserved = LATER.get(name, (0, 0))
        assert found["peak"]["allocated_bytes"] == row["allocated"] + more
        is_reserved = found["peak"]["reserved_bytes"] == row["reserved"] + more_reserved
        assert is_reserved is (name not in RESERVED_OTHERWISE)


def test_the_page_counts_them() -> None:
    page = " ".join((ROOT / "docs" / "trust.md").read_text(encoding="utf-8").split())
    known = len(TEXTS) - len(NOT_KNOWN) - len(RESERVED_OTHERWISE)
    assert f"in {len(TEXTS)} variations" in page
    assert f"{known} are read, allocated and reserved equal to the byte" in page
    assert f"; {len(NOT_KNOWN)} are in doubt or not read" in page
