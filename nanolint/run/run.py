"""The resolved training run: plain numbers, no source text."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from nanolint.frozen import dataclass
from nanolint.run.program import Profiled, ReadScript
from nanolint.settings.torch_version import NEWEST

if TYPE_CHECKING:
    from nanolint.run.program import Program


class Dialect(str, Enum):
    """How train.py reads gradient_accumulation_steps."""

    TOTAL = "total"  # today's nanoGPT: the sum over all GPUs; divided by the world size
    PER_GPU = "per-gpu"  # early-2023 forks: every GPU accumulates that many


class Attention(str, Enum):
    """Which attention kernel PyTorch picks."""

    FLASH = "flash"
    EFFICIENT = "efficient"
    MATH = "math"


@dataclass(frozen=True, slots=True)
class NanoGptSizes:
    """What only a script of nanoGPT's kind has: its keys for the model, None for what nobody knows
    of it, and how it reads the accumulation."""

    n_layer: int | None = None  # L
    n_head: int | None = None  # H
    n_embd: int | None = None  # C
    dropout: float | None = None
    bias: bool | None = None
    init_from: str | None = None  # "scratch" | "resume" | "gpt2*"
    dialect: Dialect = Dialect.TOTAL
    simulated_gpus: int = 1  # what train.py multiplies the accumulation by, on one GPU

    @property
    def head_size(self) -> int | None:
        """Columns of one head."""
        if self.n_embd is None or self.n_head is None:
            return None
        return self.n_embd // self.n_head


MODEL = frozenset(("n_layer", "n_head", "n_embd", "dropout", "bias"))
SIZES = MODEL | {"init_from", "dialect", "simulated_gpus"}


@dataclass(frozen=True, slots=True)
class Run:
    """One training run. Symbols as in the docs: B, T, C, H, L, V.

    It is nanoGPT's own model and loop, whose sizes are all known, or those of ``program``: only a
    script of nanoGPT's kind has some of its keys in ``sizes``.
    """

    batch_size: int  # B: micro-batch, sequences per forward pass and GPU
    gradient_accumulation_steps: int  # as the config says it, before train.py changes it
    world_size: int
    block_size: int  # T
    vocab_size: int  # V
    dtype: str  # "float32" | "bfloat16" | "float16"
    compile: bool
    device: str
    attention: Attention
    eval_only: bool = False
    eval_iters: int = 200
    max_iters: int = 600_000
    eval_interval: int = 2000
    grad_clip: float = 1.0
    torch: tuple[int, int] = NEWEST  # the release that it is judged for
    micro_batches: tuple[int, ...] | None = None  # that the script allows, None: every divisor
    program: Program | None = None  # what stands for nanoGPT's own model and loop
    sizes: NanoGptSizes = NanoGptSizes()

    @property
    def micro_steps(self) -> int:
        """Forward-backward passes per optimizer step on one GPU.

        At least 1, also where the world size exceeds the total, which train.py refuses.
        """
        if self.sizes.dialect is Dialect.TOTAL:
            steps = max(1, self.gradient_accumulation_steps // self.world_size)
        else:
            steps = self.gradient_accumulation_steps
        return steps * self.sizes.simulated_gpus

    @property
    def effective_batch_size(self) -> int:
        """Sequences per optimizer step over all GPUs."""
        passes = self.gradient_accumulation_steps * self.sizes.simulated_gpus
        if self.sizes.dialect is Dialect.PER_GPU:
            passes *= self.world_size
        return self.batch_size * passes

    @property
    def tokens_per_iter(self) -> int:
        """Tokens per optimizer step over all GPUs."""
        return self.effective_batch_size * self.block_size

    @property
    def logits_bytes(self) -> int:
        """The (B*T, V) logits in the dtype of the products."""
        itemsize = 4 if self.dtype == "float32" else 2
        return self.batch_size * self.block_size * self.vocab_size * itemsize

    @property
    def has_sizes(self) -> bool:
        """Whether all sizes are known that the parameters of nanoGPT's own model follow from."""
        known = min(self.block_size, self.vocab_size) > 0
        return known and None not in (self.sizes.n_layer, self.sizes.n_embd, self.sizes.bias)

    @property
    def parameters(self) -> int:
        """Parameters of nanoGPT's own model, the tied embedding counted once (its model.py).

        Only of a run that ``has_sizes``.
        """
        layers, c, bias = self.sizes.n_layer, self.sizes.n_embd, self.sizes.bias
        assert layers is not None and c is not None and bias is not None
        block = 12 * c * c + 2 * c + 11 * c * bias
        return (self.vocab_size + self.block_size) * c + layers * block + c * (1 + bias)

    @property
    def parameters_reported(self) -> int:
        """The number nanoGPT prints: without position embeddings. Only if it ``has_sizes``."""
        return self.parameters - self.block_size * (self.sizes.n_embd or 0)

    def value(self, key: str) -> Any:
        """The value of a field, or of one of ``sizes``."""
        return getattr(self.sizes if key in SIZES else self, key)

    def having(self, **values: Any) -> Run:
        """The run with other values of fields, and of ``sizes``."""
        sizes = {key: values.pop(key) for key in SIZES.intersection(values)}
        return replace(self, sizes=replace(self.sizes, **sizes), **values)

    def follows(self, *keys: str) -> bool:
        """Whether its memory is known for other values of these fields, too."""
        return self.program is None or self.program.follows.issuperset(keys)

    @property
    def is_known(self) -> bool:
        """Whether there is a tape of it: of some micro-batches a profile, or a script, has none."""
        program = self.program
        if isinstance(program, ReadScript):  # it ends where it is given what it refuses
            return self.micro_batches is None or self.batch_size in self.micro_batches
        return not isinstance(program, Profiled) or program.covers(
            self.batch_size, self.micro_steps
        )

    @property
    def on_gpu(self) -> bool:
        """Whether the run touches a CUDA device at all."""
        return "cuda" in self.device
