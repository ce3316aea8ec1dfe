"""Variables of the environment that change what PyTorch itself allocates."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.run.flags import Flag, LaunchLine

# PyTorch's documentation has them under "CUDA Environment Variables" and "torch.compile"; the
# others are read in torch/_inductor/config.py and torch/_dynamo/config.py.
_ALLOCATOR = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")
_READ = ("PYTORCH_", "TORCHDYNAMO_", "TORCHINDUCTOR_", "TORCH_COMPILE_", "TORCH_BLAS_", "CUBLAS")
_QUIET = frozenset(  # words for people, caches, compilers' threads
    {
        *("PYTORCH_VERSION", "PYTORCH_BUILD_VERSION", "PYTORCH_JIT", "PYTORCH_KERNEL_CACHE_PATH"),
        *("PYTORCH_NVML_BASED_CUDA_CHECK", "TORCHDYNAMO_VERBOSE", "TORCHINDUCTOR_CACHE_DIR"),
        *("TORCHINDUCTOR_COMPILE_THREADS", "TORCHINDUCTOR_FX_GRAPH_CACHE"),
        *("TORCHINDUCTOR_FX_GRAPH_REMOTE_CACHE", "TORCHINDUCTOR_AUTOGRAD_CACHE"),
        *("TORCHINDUCTOR_UNIQUE_KERNEL_NAMES", "TORCHINDUCTOR_COORDINATE_DESCENT_TUNING"),
        *("TORCH_COMPILE_DEBUG", "TORCH_COMPILE_DEBUG_DIR"),
    }
)
_REPLAYED = "expandable_segments"  # by the allocator that a launch line asks for


def telling(line: LaunchLine) -> Iterator[tuple[str, str]]:
    """The variables in front of a launch line that PyTorch reads, but for what is replayed."""
    for variable in line.variables:
        text = _text(variable)
        if text is not None:
            yield variable.name, text


def _text(variable: Flag) -> str | None:
    if variable.name in _QUIET or not variable.name.startswith(_READ):
        return None
    if variable.unknown is not None:
        return f"not known: {variable.unknown}"
    value = variable.value or ""
    if variable.name in _ALLOCATOR:
        parts = (part.strip() for part in value.split(","))
        value = ",".join(part for part in parts if part and not part.startswith(_REPLAYED))
        return value or None
    return value
