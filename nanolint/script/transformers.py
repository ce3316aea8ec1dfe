"""The package transformers: its modules, and what its texts are given.

transformers.py has what models of one's own are built on, the others the models that it brings.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from nanolint.interpreter import records
from nanolint.interpreter.attention_packages import Weights
from nanolint.interpreter.values import Function, Method, Namespace, Native, Unknown
from nanolint.script import settings, training
from nanolint.script.arrays import count_of
from nanolint.script.checkpoints import published

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

NAME = "transformers"
OUTPUTS = (
    *("ModelOutput", "BaseModelOutput", "BaseModelOutputWithPast", "MoeModelOutputWithPast"),
    *("CausalLMOutput", "CausalLMOutputWithPast", "MoeCausalLMOutputWithPast"),
)
GPT2, LLAMA, QWEN2, QWEN3 = "models.gpt2", "models.llama", "models.qwen2", "models.qwen3"
CALLBACKS = (
    *("TrainerCallback", "TrainerState", "TrainerControl", "EarlyStoppingCallback"),
    *("DefaultFlowCallback", "PrinterCallback", "ProgressCallback"),
)
COLLATORS = (
    *("default_data_collator", "DefaultDataCollator", "DataCollatorWithPadding"),
    *("DataCollatorForLanguageModeling", "DataCollatorForSeq2Seq"),
)
# The modules with the names that scripts take from each.
MODULES = {
    "configuration_utils": ("PretrainedConfig", "PreTrainedConfig"),
    "modeling_utils": ("PreTrainedModel",),
    "generation": ("GenerationMixin",),
    "activations": ("ACT2FN",),
    "modeling_outputs": OUTPUTS,
    "utils": ("ModelOutput",),
    GPT2: ("GPT2Config", "GPT2Model", "GPT2LMHeadModel"),
    f"{GPT2}.configuration_gpt2": ("GPT2Config",),
    f"{GPT2}.modeling_gpt2": ("GPT2Model", "GPT2LMHeadModel"),
    LLAMA: ("LlamaConfig", "LlamaModel", "LlamaForCausalLM"),
    QWEN2: ("Qwen2Config", "Qwen2ForCausalLM"),
    QWEN3: ("Qwen3Config", "Qwen3ForCausalLM"),
    "trainer": ("Trainer",),
    "training_args": ("TrainingArguments",),
    "trainer_callback": CALLBACKS,
    "trainer_utils": ("set_seed",),
    "hf_argparser": ("HfArgumentParser",),
    "data.datasets.language_modeling": ("TextDataset", "LineByLineTextDataset"),
    "data": COLLATORS,
    "data.data_collator": COLLATORS,
}
# Each is given what those before it have.
TEXTS = (
    *("causal_models.py", "gpt2.py", "llama.py"),
    *("trainer_arguments.py", "collators.py", "trainer.py"),
)
OF_ALL = ("AdamW", "AutoConfig", "AutoModelForCausalLM")


def table(machine: Script, tokenizers: Mapping[str, Value]) -> dict[str, Value]:
    """The package and its modules by their names."""
    names = (NAME, *(f"{NAME}.{each}" for each in MODULES))
    return training.later(names, lambda: _made(machine, tokenizers))


def told(machine: Script) -> dict[str, Value]:
    """Returns the functions by which the texts of loops ask the reading."""

    def refused(why: str) -> None:
        raise machine.unread(why)

    def demanded(value: Value) -> Value:
        if isinstance(value, Unknown):
            raise value.unread()
        return value

    return {
        "cards": Native("cards", lambda: machine.around.cards or 1, plain=False),
        "counted": Native("counted", lambda values: count_of(machine, values), plain=False),
        "demanded": Native("demanded", demanded, plain=False),
        "doubt": Native("doubt", partial(settings.doubt, machine), plain=False),
        "known": Native("known", lambda value: not isinstance(value, Unknown), plain=False),
        "refused": Native("refused", refused, plain=False),
        "unknown": Native("unknown", machine.unknown, plain=False),
    }


def _made(machine: Script, tokenizers: Mapping[str, Value]) -> dict[str, Namespace]:
    def takes_any(function: Value) -> bool:
        target = function.function if isinstance(function, Method) else function
        return isinstance(target, Function) and target.node.args.kwarg is not None

    def with_fields(fields: Value) -> Native:
        def made(cls: Value) -> Value:
            cls.names |= {"__annotations__": dict.fromkeys(fields, "Any"), **fields}
            records.decorate(machine, cls, {})
            return cls

        return Native("with_fields", made, plain=False)

    def used() -> None:
        older = machine.around.older_transformers
        if older is not None:
            settings.doubt(machine, f"{older}: it keeps other tensors than 5.24")

    given = told(machine) | {
        "at_most": Native("at_most", lambda count: machine.lengths.at_most(count), plain=False),
        "takes_any": Native("takes_any", takes_any, plain=False),
        "used": Native("used", used, plain=False),
        "with_fields": Native("with_fields", with_fields, plain=False),
        "doubt_above": Native("doubt_above", machine.card.tape.doubt_above, plain=False),
        "published": Native("published", published, plain=False),
    }
    found = training.read_text(machine, "transformers.py", NAME, dict(given)).names
    found["PreTrainedConfig"] = found["PretrainedConfig"]  # its name in transformers 5
    found["ACT2FN"] = machine.call(found["Activations"], [])
    found["kept"] = Native("kept", Weights, plain=False)
    models = found
    for text in TEXTS:
        models = training.read_text(machine, text, NAME, models).names
    made = {
        f"{NAME}.{module}": Namespace(f"{NAME}.{module}", {each: models[each] for each in names})
        for module, names in MODULES.items()
    }
    whole = {name: each for space in made.values() for name, each in space.names.items()}
    whole |= {name.removeprefix(f"{NAME}."): each for name, each in made.items()}
    whole |= {name: models[name] for name in OF_ALL} | dict(tokenizers)
    return {NAME: Namespace(NAME, whole), **made}
