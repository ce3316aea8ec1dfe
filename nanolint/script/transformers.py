"""transformers: what models of one's own are built on, and tokenizers by their names."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from nanolint.interpreter import packages
from nanolint.interpreter.values import Namespace, Native
from nanolint.script import settings, training
from nanolint.trainers.nanogpt.keys import PRETRAINED_SIZES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

NAME = "transformers"
OUTPUTS = (
    *("ModelOutput", "BaseModelOutput", "BaseModelOutputWithPast", "MoeModelOutputWithPast"),
    *("CausalLMOutput", "CausalLMOutputWithPast", "MoeCausalLMOutputWithPast"),
)


MODULES = (
    *("configuration_utils", "modeling_utils", "generation", "activations", "modeling_outputs"),
    *("utils", "models.gpt2.configuration_gpt2", "models.gpt2"),
)


def table(machine: Script, tokenizers: Mapping[str, Value]) -> dict[str, Value]:
    """The package and its modules by their names."""
    names = (NAME, *(f"{NAME}.{each}" for each in MODULES))
    return training.later(names, lambda: _made(machine, tokenizers))


def _made(machine: Script, tokenizers: Mapping[str, Value]) -> dict[str, Namespace]:
    doubt = Native("doubt", partial(settings.doubt, machine), plain=False)
    found = training.read_text(machine, "transformers.py", NAME, {"doubt": doubt}).names
    configs = {"PretrainedConfig": found["PretrainedConfig"]}
    configs["PreTrainedConfig"] = configs["PretrainedConfig"]  # its name in transformers 5
    gpt2 = {"GPT2Config": found["GPT2Config"]}
    models = {"PreTrainedModel": found["PreTrainedModel"]}
    mixin = {"GenerationMixin": found["GenerationMixin"]}
    activations = {"ACT2FN": machine.call(found["Activations"], [])}
    outputs = {name: found[name] for name in OUTPUTS}
    utils = {"ModelOutput": outputs["ModelOutput"]}
    parts = (configs, models, mixin, activations, outputs, utils, gpt2, gpt2)
    spaces = {
        name: Namespace(f"{NAME}.{name}", dict(each))
        for name, each in zip(MODULES, parts, strict=True)
    }
    published = packages.library(machine, PRETRAINED_SIZES).names
    whole = {**tokenizers, **configs, **gpt2, **models, **mixin, **spaces, **published}
    return {
        NAME: Namespace(NAME, whole),
        **{f"{NAME}.{name}": each for name, each in spaces.items()},
    }
