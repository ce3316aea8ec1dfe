"""Variables of the environment that change what PyTorch itself allocates.

The variable that sets PyTorch's allocator has two names, and a script may set it by either.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.regex import lazily

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nanolint.run.flags import Flag, LaunchLine

# PyTorch's documentation has them under "CUDA Environment Variables" and "torch.compile"; the
# others are read in torch/_inductor/config.py and torch/_dynamo/config.py.
_SETTINGS = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF")
# Those that the allocator reads when it begins (c10/cuda/CUDACachingAllocator.cpp).
ALLOCATOR = (*_SETTINGS, "PYTORCH_NO_CUDA_MEMORY_CACHING", "PYTORCH_NO_HIP_MEMORY_CACHING")
_OF_COMPILE = ("TORCHDYNAMO_", "TORCHINDUCTOR_", "TORCH_COMPILE_")
# Of cuBLAS's and cuDNN's workspaces and of the choice between kernels (aten/src/ATen/cuda).
_OF_KERNELS = (
    *("TORCH_BLAS_", "CUBLAS", "TORCH_CUBLAS", "DISABLE_ADDMM_CUDA_LT", "TORCH_LINEAR_FLATTEN_3D"),
    *("TORCH_CUDNN_", "CUDNN_FRONTEND_ATTN_"),
)
_READ = ("PYTORCH_", *_OF_COMPILE, *_OF_KERNELS)
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
    if variable.unknown is not None and not is_quiet(variable.name):
        return f"not known: {variable.unknown}"
    return told(variable.name, variable.value or "")


def is_quiet(name: str) -> bool:
    """Whether a variable changes nothing about what PyTorch allocates."""
    return name in _QUIET or not name.startswith(_READ)


def told(name: str, value: str) -> str | None:
    """Returns what a variable tells PyTorch that is not replayed; None if that is nothing."""
    if is_quiet(name):
        return None
    if name in _SETTINGS:
        parts = (part.strip() for part in value.split(","))
        value = ",".join(part for part in parts if part and not part.startswith(_REPLAYED))
        return value or None
    return value


OLD, NEW = "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"
_NAMES = re.compile(r"PYTORCH_(?:CUDA_)?ALLOC_CONF")
_SET = lazily(rf"""^os\.environ\[(["'])(?P<name>{_NAMES.pattern})\1\](?= *= *["'])""", re.MULTILINE)


def by_name(texts: Sequence[str], name: str) -> list[str]:
    """``texts`` of one program, in which the variable is set by this ``name``."""
    if sum(len(_NAMES.findall(text)) for text in texts) != 1:
        return list(texts)
    return [
        f"{text[: found.start('name')]}{name}{text[found.end('name') :]}" if found else text
        for text, found in ((text, _SET.search(text)) for text in texts)
    ]
