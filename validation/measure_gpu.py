"""Measure what nanoGPT really allocates: run its training step on the card in this machine.

    python validation/measure_gpu.py path/to/nanoGPT --out validation/recorded/gpu/NAME.json

Needs torch with CUDA and a checkout of nanoGPT, nothing else. Each case runs in a process of its
own, so that an out-of-memory error ends one case and its message is kept. With ``--requested`` the
most bytes that are requested at once are kept, too. The results are written after every case; no
case is started once the budget is spent.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # the root of the repository
from validation.card import Runs, described, peaks, requested, seen, watch, write
from validation.cases import Case, cases

EVAL_ITERS = 2  # from the second batch on, every evaluation pass is like the one before
STEPS = 3  # Adam's state appears after the first; from the second on, every step is the same
CASE_TIMEOUT = 240  # seconds; compiling a deep model takes the longest


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("nanogpt", type=Path, help="a checkout of nanoGPT, for its model.py")
    parser.add_argument("--out", type=Path, help="the JSON file to write")
    parser.add_argument("--budget", type=float, default=540, help="seconds (default 540)")
    parser.add_argument("--together", type=int, default=1, help="cases at a time (default 1)")
    parser.add_argument("--only", default="", help="only cases whose name and mode contain this")
    parser.add_argument(
        "--requested", action="store_true", help="note the most bytes requested at once"
    )
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    arguments = parser.parse_args(argv)
    if arguments.case:
        found = measure(json.loads(arguments.case), arguments.nanogpt, watched=arguments.requested)
        print(json.dumps(found))
        return 0
    chosen = [case for case in cases() if arguments.only in mode(case)]
    if arguments.list:
        for case in chosen:
            print(json.dumps(case))
        return 0
    if not (arguments.nanogpt / "model.py").is_file():
        return _fail(f"{arguments.nanogpt} has no model.py: it must be a checkout of nanoGPT")
    try:
        import torch
    except ImportError:
        return _fail("torch is not installed")
    if not torch.cuda.is_available():
        return _fail("torch finds no CUDA device")
    if arguments.out is None:
        return _fail("--out is needed")
    more = ["--requested"] if arguments.requested else []
    runs = Runs(arguments.budget, arguments.together, CASE_TIMEOUT)
    return _run_all(chosen, arguments.nanogpt, arguments.out, runs, more)


def mode(case: Case) -> str:
    """The name of a case and whether it is compiled."""
    return f"{case['name']} {'compiled' if case['compile'] else 'eager'}"


def _fail(message: str) -> int:
    print(f"measure_gpu: {message}", file=sys.stderr)
    return 2


def _run_all(chosen: list[Case], nanogpt: Path, out: Path, runs: Runs, more: list[str]) -> int:
    kept = {json.dumps(case): case for case in chosen}
    commands = {
        each: [sys.executable, __file__, str(nanogpt), "--case", each, *more] for each in kept
    }
    results: list[dict[str, Any]] = []
    for each, found in runs.every(commands, crowded):
        case = kept[each]
        results.append({"case": case, **found})
        write(out, described(), "results", results)
        print(case["name"], case["compile"], found.get("error", "ok"), flush=True)
    return 0


def crowded(found: dict[str, Any]) -> bool:
    """Whether the card was too full for a case that has no limit: it may be the others' doing."""
    return not found.get("limited") and bool(found.get("oom") or found.get("retries"))


def measure(case: Case, nanogpt: Path, *, watched: bool = False) -> dict[str, Any]:
    """Run one case and return its peaks in bytes by phase, or the out-of-memory message."""
    import torch

    before = torch.cuda.mem_get_info()
    if case["limit_gib"] is not None:
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(case["limit_gib"] * 2**30 / total)
    if watched:
        watch()
    meter = Meter()
    try:
        Trainer(case, nanogpt, meter).train()
        oom = None
    except RuntimeError as error:  # torch.compile's own error, where it was timing a product
        if "out of memory" not in str(error):
            raise
        oom = str(error)
    meter.mark("out of memory" if oom else "end")
    overall = peaks()
    return {
        "phases": meter.phases,
        "oom": oom,
        "limited": case["limit_gib"] is not None,
        "retries": overall["retries"],
        "process_bytes": overall["process_bytes"],
        "free_bytes": [before[0], overall["free_bytes"]],
        **({"requested": requested(seen())} if watched else {}),
    }


class Meter:
    """The allocator's peaks since the last mark, by phase."""

    def __init__(self) -> None:
        self.phases: list[dict[str, Any]] = []

    def mark(self, phase: str) -> None:
        """End a phase: note its peaks in bytes and start the next."""
        import torch

        torch.cuda.synchronize()
        self.phases.append(
            {
                "phase": phase,
                "allocated": torch.cuda.max_memory_allocated(),
                "reserved": torch.cuda.max_memory_reserved(),
                "allocated_at_end": torch.cuda.memory_allocated(),
            }
        )
        torch.cuda.reset_peak_memory_stats()


class Trainer:
    """nanoGPT's train.py, down to the names that keep tensors alive."""

    def __init__(self, case: Case, nanogpt: Path, meter: Meter) -> None:
        import torch

        sys.path.insert(0, str(nanogpt))
        from model import GPT, GPTConfig

        self.case, self.meter, self.torch = case, meter, torch
        torch.manual_seed(1337)
        keys = ("block_size", "vocab_size", "n_layer", "n_head", "n_embd", "dropout", "bias")
        sizes: dict[str, Any] = {**case}
        self.model = GPT(GPTConfig(**{key: sizes[key] for key in keys}))
        self.model.to("cuda")
        half = case["dtype"] == "float16"
        self.scaler = torch.amp.GradScaler("cuda", enabled=half)
        self.optimizer = self.model.configure_optimizers(0.1, 6e-4, (0.9, 0.95), "cuda")
        dtype = getattr(torch, case["dtype"])
        self.context = torch.amp.autocast(device_type="cuda", dtype=dtype)
        self.compiled = torch.compile(self.model) if case["compile"] else self.model
        meter.mark("init")

    def batch(self) -> tuple[Any, Any]:
        """A random batch, moved as train.py moves it: (B, T) int64 twice."""
        shape = (self.case["batch_size"], self.case["block_size"])
        x, y = (self.torch.randint(self.case["vocab_size"], shape).pin_memory() for _ in range(2))
        return x.to("cuda", non_blocking=True), y.to("cuda", non_blocking=True)

    def estimate_loss(self) -> None:
        """train.py's function of that name: its last logits live until it returns."""
        with self.torch.no_grad():
            self.compiled.eval()
            for _split in range(2):
                for _ in range(EVAL_ITERS):
                    X, Y = self.batch()  # noqa: N806
                    with self.context:
                        logits, loss = self.compiled(X, Y)
                    loss.item()
            del logits
            self.compiled.train()

    def train(self) -> None:
        """The training loop with an evaluation before it and one after it."""
        accumulation = self.case["gradient_accumulation_steps"]
        X, Y = self.batch()  # noqa: N806
        self.estimate_loss()
        self.meter.mark("eval")
        for _ in range(STEPS):
            for _ in range(accumulation):
                with self.context:
                    logits, loss = self.compiled(X, Y)
                    loss = loss / accumulation
                self.meter.mark("forward")
                X, Y = self.batch()  # noqa: N806
                self.scaler.scale(loss).backward()
                self.meter.mark("backward")
            self.scaler.unscale_(self.optimizer)
            self.torch.nn.utils.clip_grad_norm_(self.compiled.parameters(), 1.0)
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad(set_to_none=True)
            self.meter.mark("optimizer")
        self.estimate_loss()
        self.meter.mark("eval_late")
        del logits


if __name__ == "__main__":
    sys.exit(main())
