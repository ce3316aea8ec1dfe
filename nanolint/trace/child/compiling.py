"""torch.compile without kernels: Inductor's wrappers are written and run, what they call is not.

Dynamo, AOTAutograd and Inductor run as they are. Not compiled and not run are Triton's kernels.
What Inductor computes on the card to read it again is computed on the host, and what it would
decide by timing is left as it is without: the card holds no values and knows no time.
"""

from __future__ import annotations

import types
from typing import Any

import torch


def without_kernels() -> list[tuple[int, int, int]]:
    """Prepare torch.compile; nothing if this torch has none, or no Triton.

    Returns the products that are left as they are where a card would time them with and without
    padding, as they are met: [M, K] times [K, N] as (M, K, N).
    """
    left: list[tuple[int, int, int]] = []
    try:
        import triton
        from torch._inductor.fx_passes import pad_mm
    except ImportError:
        return left
    _leave_unpadded(pad_mm, left)
    _set_driver(triton)
    _leave_uncompiled(triton)
    _fold_on_the_host()
    return left


def _leave_unpadded(pad_mm: Any, left: list[tuple[int, int, int]]) -> None:
    """Answer the last question that pad_mm asks before it times: is a product worth it."""
    worth_it = pad_mm.is_mm_compute_bound

    def no(m: int, k: int, n: int, dtype: Any) -> bool:
        sides = int(m), int(k), int(n)
        if sides not in left and worth_it(m, k, n, dtype):
            left.append(sides)
        return False

    pad_mm.is_mm_compute_bound = no


def _set_driver(triton: Any) -> None:
    major, minor = torch.cuda.get_device_capability()
    capability = 10 * major + minor
    try:
        from triton.backends.compiler import GPUTarget

        target: Any = GPUTarget("cuda", capability, 32)
    except ImportError:  # triton 2
        target = ("cuda", capability)
    count = torch.cuda.get_device_properties(0).multi_processor_count
    properties = {
        "max_shared_mem": 101376, "max_num_regs": 65536, "multiprocessor_count": count,
        "warpSize": 32, "sm_clock_rate": 1, "mem_clock_rate": 1, "mem_bus_width": 5120,
    }  # fmt: skip

    class Driver:
        binary_ext = "cubin"
        get_current_target = staticmethod(_always(target))
        get_current_device = staticmethod(_always(0))
        get_device_interface = staticmethod(_always(torch.cuda))
        get_active_torch_device = staticmethod(_always(torch.device("cuda", 0)))
        get_benchmarker = staticmethod(_always(_always(1.0)))
        get_current_stream = staticmethod(_always(0))
        get_stream = staticmethod(_always(0))
        get_device_capability = staticmethod(_always((major, minor)))
        set_current_device = staticmethod(_always(None))
        utils = types.SimpleNamespace(get_device_properties=_always(properties))

    driver = triton.runtime.driver
    if hasattr(type(driver), "set_active"):  # asked of an object, Triton 2 would build its driver
        driver.set_active(Driver())
    else:
        driver._obj = Driver()


def _leave_uncompiled(triton: Any) -> None:
    try:
        from torch._inductor.async_compile import AsyncCompile
    except ImportError:  # up to 2.3
        from torch._inductor.codecache import AsyncCompile
    nothing = types.SimpleNamespace(run=_always(None), n_regs=0, n_spills=0)
    AsyncCompile.triton = _always(nothing)
    triton.runtime.jit.JITFunction.run = _always(None)
    triton.runtime.autotuner.Autotuner.run = _always(None)


def _fold_on_the_host() -> None:
    try:
        from torch._inductor.fx_passes.joint_graph import UniformValueConstantFolder as Folder
    except ImportError:
        return
    from torch.utils._python_dispatch import TorchDispatchMode

    class OnHost(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(
            self, func: Any, _types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            moved = {key: "cpu" if key == "device" else it for key, it in (kwargs or {}).items()}
            return func(*args, **moved)

    name = "_deduce_value" if hasattr(Folder, "_deduce_value") else "run_node"
    deduce = getattr(Folder, name)

    def on_host(folder: Any, node: Any) -> Any:
        with OnHost():
            return deduce(folder, node)

    setattr(Folder, name, on_host)


def _always(answer: Any) -> Any:
    return lambda *_arguments, **_options: answer
