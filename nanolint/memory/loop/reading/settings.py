"""PyTorch's own settings: those that are followed, and those whose effect is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.model.reading.torch.calling import device_of
from nanolint.memory.model.reading.values import Native, Unknown
from nanolint.memory.tensors.dtypes import FLOAT32

if TYPE_CHECKING:
    from nanolint.memory.loop.reading.machine import Script
    from nanolint.memory.model.reading.values import Value

# Functions of torch's that only look, or that memory does not follow.
_QUIET = (
    *("torch.cuda.memory_", "torch.cuda.max_memory_", "torch.cuda.reset_", "torch.cuda.nvtx"),
    *("torch.cuda.mem_get_info", "torch.cuda.get_", "torch.cuda.profiler", "torch.profiler"),
    *(
        "torch.cuda.Event",
        "torch.cuda.ipc_collect",
        "torch.cuda.list_gpu",
        "torch.cuda.utilization",
    ),
    *("torch.autograd.profiler", "torch.autograd.set_detect_anomaly", "torch._logging"),
    *(
        "torch.autograd.detect_anomaly",
        "torch.set_num_",
        "torch.get_num_",
        "torch.set_printoptions",
    ),
    *("torch.utils.data", "torch.utils.tensorboard", "torch.utils.benchmark", "torch.hub"),
    *("torch.multiprocessing", "torch.distributed", "torch.random", "torch.serialization"),
    *("torch.backends.cudnn", "torch.backends.cuda.matmul", "torch._dynamo", "torch.optim"),
    *("torch.nn", "torch.ops", "torch.library", "torch.export", "torch.onnx", "torch.jit"),
    *("torch.testing", "torch.fx", "torch.package", "torch.version", "torch.cuda.manual"),
)
# Of torch.compile's own settings those that choose kernels and caches, not what is kept.
_OF_COMPILE = ("torch._inductor", "torch._functorch")
_TUNING = frozenset(
    {
        *("coordinate_descent_tuning", "unique_kernel_names", "fx_graph_cache", "compile_threads"),
        *("fx_graph_remote_cache", "enable_autograd_cache", "benchmark_kernel"),
    }
)
_ALLOCATOR = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")


def table(machine: Script) -> dict[str, Value]:
    """Names of ``torch``."""
    return {
        "set_default_device": Native(
            "set_default_device", lambda device: _device(machine, device), plain=False
        ),
        "set_default_dtype": Native(
            "set_default_dtype", lambda dtype: _dtype(machine, dtype), plain=False
        ),
        "set_default_tensor_type": Native(
            "set_default_tensor_type",
            lambda *_: _decided(machine, "a default tensor type"),
            plain=False,
        ),
    }


def _device(machine: Script, device: Value) -> None:
    found = device_of(machine, device)
    machine.default = machine.host if found is None else found


def _dtype(machine: Script, dtype: Value) -> None:
    if dtype is not FLOAT32:
        _decided(machine, "a default type other than float32")


def _decided(machine: Script, what: str) -> None:
    error = machine.unread(what)
    error.decided = True  # all memory follows it
    raise error


def called(machine: Script, function: Unknown) -> None:
    """A doubt of a function of torch's that is not known: it may be a setting of all of it."""
    name = function.reason.removesuffix(" is not known")
    if name.startswith("torch.") and name != function.reason and not name.startswith(_QUIET):
        doubt(machine, function.reason)


def configured(machine: Script, owner: Unknown, name: str) -> None:
    """A doubt of a setting of torch.compile's that may change what a graph keeps."""
    compiles = machine.around.compiles and owner.reason.startswith(_OF_COMPILE)
    if compiles and name not in _TUNING:
        doubt(machine, f"what torch.compile makes with the setting {name} is not known")


def put(machine: Script, name: Value, value: Value) -> None:
    """A doubt of what the script tells PyTorch's allocator, but for what only saves memory."""
    if name in _ALLOCATOR and value != "expandable_segments:True":
        doubt(machine, f"what the script's {name} makes of the allocator is not known")


def doubt(machine: Script, what: str) -> None:
    """A doubt with its place, once."""
    placed = f"{what} ({machine.place})"
    if placed not in machine.doubts:
        machine.doubts.append(placed)
