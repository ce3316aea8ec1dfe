"""PyTorch's own settings: those that are followed, and those whose effect is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.inductor.derive.program import MOST_GRAPHS
from nanolint.interpreter.torch.calling import device_of
from nanolint.interpreter.torch.names import DYNAMO
from nanolint.interpreter.values import Namespace, Native, Unknown
from nanolint.run.variables import ALLOCATOR, told
from nanolint.tensors.dtypes import FLOATING, Dtype

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

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
# Of Dynamo's those that only tell, or matter where a run is in doubt anyway: for sizes that change,
# for numbers that are asked of the card, for DDP.
_TELLING = frozenset(
    {
        *("verbose", "log_level", "suppress_errors", "error_on_recompile", "cprofile"),
        *("fail_on_recompile_limit_hit", "fail_on_cache_limit_hit", "guard_nn_modules"),
        *("automatic_dynamic_shapes", "capture_scalar_outputs", "optimize_ddp"),
        *("capture_dynamic_output_shape_ops", "allow_unspec_int_on_nn_module"),
    }
)
_LIMITS = frozenset(
    {
        *("cache_size_limit", "recompile_limit"),
        *("accumulated_cache_size_limit", "accumulated_recompile_limit"),
    }
)
# The variables that torch.compile reads (torch/_dynamo/config.py, torch/_inductor/config.py,
# torch/_functorch/config.py), and those of them that choose caches, threads and what is told.
_VARIABLES = (
    "TORCHDYNAMO_",
    "TORCH_DYNAMO_",
    "TORCHINDUCTOR_",
    "TORCH_COMPILE_",
    "TORCH_COMPILER_",
)
_HARMLESS_VARIABLES = frozenset(
    {
        *("TORCHDYNAMO_VERBOSE", "TORCHDYNAMO_SUPPRESS_ERRORS", "TORCH_COMPILE_DEBUG"),
        *("TORCHDYNAMO_CAPTURE_SCALAR_OUTPUTS", "TORCHINDUCTOR_CACHE_DIR"),
        *("TORCHINDUCTOR_COMPILE_THREADS", "TORCHINDUCTOR_FX_GRAPH_CACHE"),
        *("TORCHINDUCTOR_AUTOGRAD_CACHE", "TORCHINDUCTOR_FORCE_DISABLE_CACHES"),
        *("TORCHINDUCTOR_COORDINATE_DESCENT_TUNING", "TORCHINDUCTOR_UNIQUE_KERNEL_NAMES"),
        *("TORCHINDUCTOR_BENCHMARK_KERNEL", "TORCHINDUCTOR_FX_GRAPH_REMOTE_CACHE"),
    }
)
# What products of float32 may compute in; the second name is that of PyTorch 2.9 and later.
_BACKENDS = ("torch.backends.cuda.matmul is", "torch.backends is")
_PRECISIONS = ("allow_tf32", "fp32_precision")
DETERMINISTIC = "torch.use_deterministic_algorithms"


def table(machine: Script) -> dict[str, Value]:
    """Names of ``torch``."""
    return {
        "set_default_device": Native(
            "set_default_device", lambda device: _device(machine, device), plain=False
        ),
        "set_default_dtype": Native("set_default_dtype", lambda d: _dtype(machine, d), plain=False),
        "get_default_dtype": Native("get_default_dtype", lambda: machine.card.floats),
        "use_deterministic_algorithms": Native(
            DETERMINISTIC, lambda mode=None, **_: _deterministic(machine, mode), plain=False
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
    if not isinstance(dtype, Dtype) or dtype.kind != FLOATING:
        _decided(machine, "which default type is set")
    for each in (machine.card, machine.host, machine.meta):
        each.floats = dtype


def _deterministic(machine: Script, mode: Value) -> None:
    """Which kernels are taken instead is not known."""
    if mode is not False:
        doubt(machine, f"{DETERMINISTIC} is not known")


def _decided(machine: Script, what: str) -> None:
    error = machine.unread(what)
    error.decided = True  # all memory follows it
    raise error


def called(machine: Script, function: Unknown) -> None:
    """A doubt of a function of torch's that is not known: it may be a setting of all of it."""
    name = function.reason.removesuffix(" is not known")
    if name.startswith("torch.") and name != function.reason and not name.startswith(_QUIET):
        doubt(machine, function.reason)


def configured(machine: Script, owner: Value, name: str, value: Value) -> None:
    """A doubt of a setting of torch.compile's that may change what a graph keeps."""
    if name in _PRECISIONS and isinstance(owner, Unknown) and owner.reason.startswith(_BACKENDS):
        machine.card.allows_tf32 = value is True or value == "tf32"
    if not machine.around.compiles:
        return
    if isinstance(owner, Namespace) and owner.name == DYNAMO:
        harmless = name in _TELLING or (name in _LIMITS and _is_enough(value))
    elif isinstance(owner, Unknown) and owner.reason.startswith(_OF_COMPILE):
        harmless = name in _TUNING
    else:
        return
    if not harmless:
        doubt(machine, f"nanolint does not model the setting {name} of torch.compile")


def _is_enough(graphs: Value) -> bool:
    """Whether no fewer graphs are allowed for a function than PyTorch's own limit."""
    return isinstance(graphs, int) and graphs >= MOST_GRAPHS


def most_graphs(machine: Script) -> int:
    """How many graphs a function may have, by its newer name or the older."""
    told = machine.library(DYNAMO).names
    for name in ("recompile_limit", "cache_size_limit"):
        value = told.get(name)
        if isinstance(value, int):
            return value
    return MOST_GRAPHS


def put(machine: Script, name: Value, value: Value) -> None:
    """A doubt of what the script's environment tells PyTorch, except what only saves memory.

    The allocator reads its variables once, before the first tensor is on the card.
    """
    if not isinstance(name, str) or (name in ALLOCATOR and machine.card.tape.events):
        return
    if name.startswith(_VARIABLES):
        if machine.around.compiles:
            _tell(machine, name)
    elif told(name, value if isinstance(value, str) else "not known") is not None:
        doubt(machine, f"the effect of the script's {name} on PyTorch is not known")


def of_launch(machine: Script) -> None:
    """A doubt of the variables of torch.compile's that the launch line sets."""
    for name, _ in machine.around.variables:
        _tell(machine, name)


def _tell(machine: Script, name: Value) -> None:
    if isinstance(name, str) and name.startswith(_VARIABLES) and name not in _HARMLESS_VARIABLES:
        doubt(machine, f"nanolint does not model torch.compile with {name}")


def doubt(machine: Script, what: str) -> None:
    """A doubt with its place, once."""
    placed = f"{what} ({machine.place})"
    if placed not in machine.doubts:
        machine.doubts.append(placed)
