"""nanoGPT's configuration keys: what train.py sets above its configurator line."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.run.described import Role
from nanolint.source.values import Known, Unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nanolint.source.values import Plain, Scalar, Value

# What train.py's conditional default of dtype can become, best first.
DTYPE_BY_GPU = Unknown("depends on the GPU", ("bfloat16", "float16"))


@dataclass(frozen=True, slots=True)
class Key:
    """A key with nanoGPT's default. ``choices`` are all legal values where they are few."""

    name: str
    default: Value
    meaning: str
    choices: tuple[Scalar, ...] | None = None
    decides_memory: bool = False  # the replay needs its value


def _key(
    name: str,
    default: Plain | Unknown,
    meaning: str,
    *,
    choices: tuple[Scalar, ...] | None = None,
    memory: bool = False,
) -> Key:
    value = default if isinstance(default, Unknown) else Known(default)
    return Key(name, value, meaning, choices, memory)


# The sizes that init_from forces: layers, heads, width.
PRETRAINED_SIZES: Mapping[str, tuple[int, int, int]] = MappingProxyType(
    {
        "gpt2": (12, 12, 768),
        "gpt2-medium": (24, 16, 1024),
        "gpt2-large": (36, 20, 1280),
        "gpt2-xl": (48, 25, 1600),
    }
)
PRETRAINED_VOCABULARY = 50_257  # of every gpt2* checkpoint
PRETRAINED_CONTEXT = 1024  # block_size of every gpt2* checkpoint; train.py crops it to the config's
PADDED_VOCABULARY = 50_304  # train.py's choice for a dataset without meta.pkl
SHAKESPEARE_CHAR_VOCABULARY = 65  # the characters of the data set that its prepare.py downloads

# In train.py's order.
_KEYS = (
    _key("out_dir", "out", "folder for checkpoints"),
    _key("eval_interval", 2000, "iterations between two evaluations", memory=True),
    _key("log_interval", 1, "iterations between two log lines"),
    _key("eval_iters", 200, "batches per split in one evaluation", memory=True),
    _key("eval_only", False, "stop after the first evaluation", memory=True),
    _key("always_save_checkpoint", True, "save after every evaluation, improved or not"),
    _key(
        "init_from",
        "scratch",
        "where the weights come from",
        choices=("scratch", "resume", *PRETRAINED_SIZES),
        memory=True,
    ),
    _key("wandb_log", False, "log to Weights & Biases"),
    _key("wandb_project", "owt", "Weights & Biases project"),
    _key("wandb_run_name", "gpt2", "Weights & Biases run name"),
    _key("dataset", "openwebtext", "folder under data/", memory=True),
    _key(
        "gradient_accumulation_steps",
        5 * 8,
        "micro-batches per optimizer step, over all GPUs",
        memory=True,
    ),
    _key("batch_size", 12, "micro-batch: sequences per forward pass and GPU", memory=True),
    _key("block_size", 1024, "context length in tokens", memory=True),
    _key("n_layer", 12, "transformer blocks", memory=True),
    _key("n_head", 12, "attention heads per block", memory=True),
    _key("n_embd", 768, "width of the model", memory=True),
    _key("dropout", 0.0, "dropout probability", memory=True),
    _key("bias", False, "biases in Linear and LayerNorm", memory=True),
    _key("learning_rate", 6e-4, "highest learning rate"),
    _key("max_iters", 600_000, "optimizer steps in the whole run", memory=True),
    _key("weight_decay", 1e-1, "AdamW weight decay"),
    _key("beta1", 0.9, "AdamW beta1"),
    _key("beta2", 0.95, "AdamW beta2"),
    _key("grad_clip", 1.0, "clip the gradient norm at this value; 0.0 disables", memory=True),
    _key("decay_lr", True, "decay the learning rate"),
    _key("warmup_iters", 2000, "iterations of learning-rate warm-up"),
    _key("lr_decay_iters", 600_000, "iteration at which the decay ends"),
    _key("min_lr", 6e-5, "learning rate after the decay"),
    _key(
        "backend",
        "nccl",
        "torch.distributed backend",
        choices=("nccl", "gloo", "mpi", "ucc"),
    ),
    _key("device", "cuda", "where to train: 'cuda', 'cuda:1', 'cpu', 'mps'", memory=True),
    _key(
        "dtype",
        DTYPE_BY_GPU,
        "autocast's data type",
        choices=("float32", "bfloat16", "float16"),
        memory=True,
    ),
    _key("compile", True, "torch.compile the model", memory=True),
)

KEYS: Mapping[str, Key] = MappingProxyType({key.name: key for key in _KEYS})

# Which of them plays which part in a run.
ROLES: Mapping[Role, str] = MappingProxyType(
    {
        Role.MICRO_BATCH: "batch_size",
        Role.ACCUMULATION: "gradient_accumulation_steps",
        Role.CONTEXT: "block_size",
        Role.LAYERS: "n_layer",
        Role.HEADS: "n_head",
        Role.WIDTH: "n_embd",
        Role.VOCABULARY: "vocab_size",
        Role.DTYPE: "dtype",
        Role.COMPILE: "compile",
    }
)

# What sample.py and bench.py let a config set beyond train.py's keys, and what each means.
OTHER_SCRIPTS_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "start": "the prompt of sample.py; FILE:prompt.txt reads one",
        "num_samples": "samples that sample.py draws",
        "max_new_tokens": "tokens in each sample",
        "temperature": "1.0 samples as trained; lower is less random",
        "top_k": "sample among that many of the likeliest tokens",
        "seed": "random seed of sample.py and bench.py",
        "real_data": "bench.py reads the dataset, not random tokens",
        "profile": "bench.py runs PyTorch's profiler",
    }
)
OTHER_SCRIPTS_KEYS = frozenset(OTHER_SCRIPTS_MEANINGS)

_VOCABULARY_MEANING = "tokens in the vocabulary: rows of the embedding and of the logits"


def meaning(key: str) -> str | None:
    """What ``key`` stands for in nanoGPT, in a few words; None for a key that it does not have."""
    if key in KEYS:
        return KEYS[key].meaning
    if key == "vocab_size":
        return _VOCABULARY_MEANING
    return OTHER_SCRIPTS_MEANINGS.get(key)
