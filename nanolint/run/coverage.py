"""What the replay was compared with; a run outside of that is doubted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.gpus.abilities import compiles, has_small_shared_memory
from nanolint.run.program import Profiled, ReadScript
from nanolint.run.run import Attention
from nanolint.run.trust import Doubt, Subject
from nanolint.settings.torch_version import NEWEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.gpus.gpu import Gpu
    from nanolint.run.run import Run

# The oldest releases that the replay allocates as (docs/memory-model.md).
OLDEST = (2, 2)
# Before, torch/_functorch/_aot_autograd/runtime_wrappers.py (AOTDedupeWrapper) takes a weight that
# two modules share for two inputs, and autograd adds their gradients: up to 5.1 % less is reserved.
# Public runs that were traced with 2.4 took up to 18 % more.
OLDEST_COMPILED = (2, 5)
BOUND = "traces took 5 % less to 18 % more"
# Before, memory-efficient attention of these heads stages gradients of keys and values where shared
# memory is small: 12.6 MB where the replay has 1.6 (traced with 2.2.2 on an RTX 3060).
OLDEST_WIDE_HEADS = (2, 4)
WIDE_HEADS = range(65, 129)
# c10/cuda/CUDACachingAllocator.cpp: this release's set of free blocks is ordered by size and by a
# number that each block gets when it is made (BlockComparatorRegistrationCounter in its library);
# 2.10 (BlockComparatorSize) and 2.13 (BlockComparatorSizeCounterAddress) compare addresses. Which
# block of autocast's copies is the oldest depends on the order of a table of pointers
# (aten/src/ATen/autocast_mode.cpp, clear_cache).
OLDEST_BLOCK_FIRST = (2, 12)
# torch/_dynamo/backends/distributed.py, DDPOptimizer: a graph for each bucket of gradients. A step
# of nanoGPT's own model takes as much as in one graph (0.2 % more at most, traced with two
# processes); an evaluation up to a quarter more.
SPLIT_GRAPH = (
    "under DDP torch.compile splits the graph; nanolint models one graph, so the number may be off "
    "by -10 to +25 %"
)

# torch/_inductor/fx_passes/pad_mm.py: a product whose sides are no multiples of these is timed with
# and without padding. Padded, the step of llm.c's d12 (8 sequences, 2.13) takes 13 % more.
ALIGNED = {2: 8, 4: 4}  # by the bytes of an element
TIMED = "torch.compile may pad"
NARROW = 1024  # columns whose padding is within any margin


def not_covered(run: Run, gpu: Gpu | None) -> Iterator[Doubt]:
    """What nobody has compared the replay of ``run`` with."""
    if run.torch > NEWEST:
        newest = f"newer than {_number(NEWEST)}, the newest that nanolint was compared with"
        yield Doubt(Subject.TORCH, f"torch {_number(run.torch)} is {newest}")
    compiled = run.compile and compiles(gpu, run.dtype)
    oldest, what = (OLDEST_COMPILED, "compiled runs") if compiled else (OLDEST, "runs")
    if run.torch < oldest:
        text = (
            f"nanolint models {what} of torch {_number(oldest)} and newer, not {_number(run.torch)}"
        )
        bound = f": {BOUND}" if compiled else ""
        yield Doubt(Subject.TORCH, f"{text}{bound}")
    if run.torch == OLDEST_BLOCK_FIRST and run.on_gpu and not compiled and run.dtype != "float32":
        text = f"torch {_number(run.torch)} reuses the oldest free block, and the age of autocast's"
        yield Doubt(Subject.TORCH, f"{text} copies is not known")
    efficient = run.attention is Attention.EFFICIENT and has_small_shared_memory(gpu)
    head = run.sizes.head_size
    if efficient and run.torch < OLDEST_WIDE_HEADS and head in WIDE_HEADS:
        text = f"memory-efficient attention of torch {_number(run.torch)} has other kernels"
        yield Doubt(Subject.PIECE, f"{text} for heads of {head} on this card")
    if compiled and run.attention is Attention.MATH:
        text = "hand-written attention is counted as if torch.compile did not change it"
        yield Doubt(Subject.PIECE, text)
    yield from timed_products(run, gpu)
    if splits_graphs(run, gpu) and (run.eval_only or run.program is not None):
        yield Doubt(Subject.PIECE, SPLIT_GRAPH)


def splits_graphs(run: Run, gpu: Gpu | None) -> bool:
    """Whether DDP's buckets split the graphs of ``run``, which is replayed as if they did not.

    A script that is read says itself what it has wrapped, and a trace has what the run made.
    """
    told = isinstance(run.program, (ReadScript, Profiled))
    return run.world_size > 1 and run.compile and not told and compiles(gpu, run.dtype)


def timed_products(run: Run, gpu: Gpu | None) -> Iterator[Doubt]:
    """What torch.compile decides by a clock, of the product that makes the logits."""
    if (
        run.compile
        and compiles(gpu, run.dtype)
        and is_timed(run.vocab_size, 4 if run.dtype == "float32" else 2)
    ):
        yield Doubt(Subject.PIECE, of_timed(run.vocab_size))


def is_timed(side: int, itemsize: int) -> bool:
    """Whether torch.compile may pad a product with such a side."""
    aligned = ALIGNED.get(itemsize)
    return aligned is not None and side > NARROW and side % aligned != 0


def of_timed(side: int) -> str:
    """The doubt about it."""
    return f"{TIMED} the {side:,}-column matmuls"


def _number(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
