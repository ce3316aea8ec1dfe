"""What torch.compile needs of a card, where the counting one and a CPU build have no answer.

Dynamo, AOTAutograd and Inductor run as they are, up to and including the code that Inductor writes,
which is loaded and called. Only Triton's kernels are not compiled: calling one does nothing.
"""

from __future__ import annotations

import types
from typing import Any

import torch

# An RTX 4070, as far as Inductor's choices in default mode read it: how it splits reductions and
# which it fuses, and so which temporaries there are. Without a figure it assumes another card.
CARD = types.SimpleNamespace(
    name="a card that only counts",
    major=8,
    minor=9,
    multi_processor_count=46,
    warp_size=32,
    regs_per_multiprocessor=65536,
    max_threads_per_block=1024,
    max_threads_per_multi_processor=1536,
)


def accept_the_card() -> None:
    """Make torch.compile work on the card. Call it before anything is compiled."""
    _answer_for_cuda()
    _keep_kernels_uncompiled()
    _fold_constants_on_the_host()


def _answer_for_cuda() -> None:
    cuda = torch.cuda
    torch.version.cuda = "13.0"  # neither a CPU build nor ROCm
    # Dynamo's interface to the device copies these when it is imported: they come first.
    answers: dict[str, Any] = {
        "is_available": True,
        "device_count": 1,
        "set_device": None,
        "_exchange_device": 0,
        "_maybe_exchange_device": 0,
        "get_device_properties": CARD,
    }
    for name, answer in answers.items():
        setattr(cuda, name, _always(answer))
    for module in (cuda, cuda.random):  # Dynamo saves the state around a trace
        module.get_rng_state = _always(torch.empty(16, dtype=torch.uint8))
    torch._C._cuda_getDevice = _always(0)
    torch._C._cuda_getCurrentRawStream = _always(0)
    torch._C._dynamo.guards._empty_strided_cuda = lambda size, stride, dtype: torch.empty_strided(
        size, stride, dtype=dtype, device="cuda"
    )


def _keep_kernels_uncompiled() -> None:
    import torch._inductor.config as inductor
    import triton
    from torch._inductor.async_compile import AsyncCompile
    from triton.backends.compiler import GPUTarget

    target = GPUTarget("cuda", 10 * CARD.major + CARD.minor, CARD.warp_size)
    triton.runtime.driver.set_active(
        types.SimpleNamespace(get_current_target=_always(target))  # ends up in the kernels' hash
    )
    AsyncCompile.triton = _always(types.SimpleNamespace(run=_always(None)))
    inductor.shape_padding = False  # whether it pays would be timed on the card


def _fold_constants_on_the_host() -> None:
    """Inductor computes constants where they live and reads them; the card holds no values."""
    from torch._inductor.fx_passes.joint_graph import UniformValueConstantFolder
    from torch.utils._python_dispatch import TorchDispatchMode

    class OnHost(TorchDispatchMode):
        def __torch_dispatch__(
            self, func: Any, _types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            moved = {key: "cpu" if key == "device" else it for key, it in (kwargs or {}).items()}
            return func(*args, **moved)

    deduce = UniformValueConstantFolder._deduce_value

    def deduce_on_host(folder: Any, node: Any) -> Any:
        with OnHost():
            return deduce(folder, node)

    UniformValueConstantFolder._deduce_value = deduce_on_host


def _always(answer: Any) -> Any:
    return lambda *_args, **_kwargs: answer
