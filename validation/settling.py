"""What the reading leaves out on purpose, and what that is worth on the recorded configurations.

    python validation/settling.py

Whether the micro-steps that are read are enough for reserved bytes to settle: of each configuration
all are read, too, and so are those of others that are drawn. And what counting whole blocks, as
torch.cuda.memory_allocated does, adds to the sum of the requests.
"""

from __future__ import annotations

import random
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))
from accuracy import recorded, tape_of  # a script's neighbour

from nanolint.gpus.lookup import find
from nanolint.recording.events import write_own
from nanolint.recording.kernels import Kernels
from nanolint.recording.recording import card_of, runs_compiled
from nanolint.script.played import representative
from nanolint.tape.allocator.play import play
from nanolint.tape.tape import Tape
from nanolint.tensors.device import Asked
from nanolint.trainers.nanogpt.resolve import default_run

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Gpu
    from nanolint.run.run import Run

ACCUMULATION = 40
STEPS = 6  # of a run that is drawn


def settling(name: str) -> str:
    """How reserved bytes change in a longer run, in a line."""
    changes = []
    for row in recorded(name):
        run = {"gradient_accumulation_steps": ACCUMULATION, "max_iters": 2}
        short = play(tape_of(row, name, **run)).peak_reserved_bytes
        longer = play(tape_of(row, name, whole=True, **run)).peak_reserved_bytes
        changes.append(longer / short - 1)
    worst = max(changes, key=abs)
    differing = sum(map(bool, changes))
    return f"{name}: {differing} of {len(changes)} reserve another amount, the worst {worst:+.1%}"


def drawn(count: int, seed: int) -> str:
    """The same of runs of other shapes, batches and types."""
    draw, gpu = random.Random(seed).choice, find("rtx-3090").gpu
    changes = []
    for _ in range(count):
        heads = draw((6, 8, 12))
        run = default_run().having(
            n_layer=draw((4, 6, 8, 12)), n_head=heads, n_embd=64 * heads,
            batch_size=draw((4, 6, 8, 12, 16, 20, 24, 32)), block_size=draw((256, 512, 1024)),
            gradient_accumulation_steps=draw((1, 2, 3, 5, 8, 16, 33)),
            vocab_size=draw((65, 50_304)),
            dropout=draw((0.0, 0.1)), bias=draw((True, False)), compile=draw((True, False)),
            dtype=draw(("bfloat16", "float16", "float32")), eval_interval=draw((3, 0)),
            max_iters=STEPS,
        )  # fmt: skip
        short, longer = (_reserved(run, gpu, whole=whole) for whole in (False, True))
        changes.append(longer / short - 1)
    differing = sum(map(bool, changes))
    return f"{differing} of {count} that are drawn, the worst {max(changes, key=abs):+.1%}"


def _reserved(run: Run, gpu: Gpu, *, whole: bool) -> int:
    """The bytes that a run reserves at most; ``whole`` reads all of its turns."""
    tape, kernels = Tape(), Kernels.of(run, gpu)
    read, compiled = run if whole else representative(run), runs_compiled(run, gpu)
    write_own(read, kernels, Asked(card_of(gpu)), tape, compiled=compiled, whole=whole)
    return play(tape).peak_reserved_bytes


def main() -> int:
    """Print a line for each figure."""
    print(settling("eager"))
    print(settling("compiled"))
    print(drawn(120, 1))
    rests = [row["memory_allocated"] / row["overall"] - 1 for row in recorded("compiled")]
    print(
        f"whole blocks add {statistics.median(rests):.1%} in the median, {max(rests):.1%} at most"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
