"""nanoGPT's own model and script as texts to be read, like those of any project."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from nanolint.run.program import FromRun, ReadModel, ReadScript, SourceText
from nanolint.trainers.script.whole import MAIN

FOLDER = Path(__file__).parent
SCRIPT = "train.py"
# What its train.py says above the configurator's line: the names of a run's own values.
KEYS = (
    *("batch_size", "block_size", "micro_steps", "n_layer", "n_head", "n_embd", "vocab_size"),
    *("dropout", "bias", "dtype", "compile", "init_from", "attention", "grad_clip"),
    *("eval_only", "eval_iters", "eval_interval", "max_iters"),
)


_IMPORT = "from model import GPT, GPTConfig"
_ARGUMENTS = "GPTConfig(**model_args)"


@lru_cache(maxsize=16)
def own_script(model: ReadModel | None = None) -> ReadScript:
    """nanoGPT's own project, for any run of it; with ``model``, the project's own text of the model
    in the place of ours, built with plain arguments."""
    names = {MAIN: SCRIPT, "model": "model.py"}
    main, ours = (
        SourceText(module, name, (FOLDER / name).read_text(encoding="utf-8"))
        for module, name in names.items()
    )
    words = tuple((key, FromRun(key)) for key in KEYS)
    if model is None:
        return ReadScript((main, ours), words=words)
    arguments = ", ".join(f"{name}={value!r}" for name, value in model.arguments)
    config = model.config_class
    imported = model.class_name if config is None else f"{model.class_name}, {config}"
    built = f"{config}({arguments})" if config is not None else arguments
    text = main.text.replace(_IMPORT, f"from {model.modules[0].module} import {imported}")
    text = text.replace(f"GPT({_ARGUMENTS})", f"{model.class_name}({built})")
    text = text.replace("GPT.from_pretrained", f"{model.class_name}.from_pretrained")
    return ReadScript((SourceText(MAIN, main.path, text), *model.modules), words=words)
