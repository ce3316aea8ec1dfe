"""nanoGPT's own model and script as texts to be read, like those of any project."""

from __future__ import annotations

from pathlib import Path

from nanolint.run.program import FromRun, ReadScript, SourceText
from nanolint.trainers.script.sources import MAIN

FOLDER = Path(__file__).parent
SCRIPT = "train.py"
# What its train.py says above the configurator's line: the names of a run's own values.
KEYS = (
    *("batch_size", "block_size", "micro_steps", "n_layer", "n_head", "n_embd", "vocab_size"),
    *("dropout", "bias", "dtype", "compile", "init_from", "attention", "grad_clip"),
    *("eval_only", "eval_iters", "eval_interval", "max_iters"),
)


def own_script() -> ReadScript:
    """nanoGPT's own project, for any run of it."""
    names = {MAIN: SCRIPT, "model": "model.py"}
    modules = (
        SourceText(module, name, (FOLDER / name).read_text(encoding="utf-8"))
        for module, name in names.items()
    )
    return ReadScript(tuple(modules), words=tuple((key, FromRun(key)) for key in KEYS))
