"""What scripts ask of Python and its packages that is not torch: files, flags, arrays, processes.

A file of tokens is an array that is long enough; what else a file holds is not known.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from nanolint.memory.loop.reading import arrays, ddp, processes, training
from nanolint.memory.model.reading.torch.calling import device_of
from nanolint.memory.model.reading.values import (
    Generated,
    Namespace,
    Native,
    Unknown,
)
from nanolint.memory.tensors.dtypes import INT32
from nanolint.memory.tensors.tensor import empty

if TYPE_CHECKING:
    from nanolint.memory.loop.reading.machine import Script
    from nanolint.memory.model.reading.values import Place, Value
    from nanolint.run.program import DataFile


# What is asked of a tokenizer, or of what holds one, for its size.
VOCABULARIES = frozenset({"n_vocab", "vocab_size", "max_token_value"})
BYTES_OF_TOKENS = "token_bytes"  # of a file with a number for each token


class File(Unknown):
    """A file that is open; what it holds is not known."""

    __slots__ = ("path",)

    def __init__(self, path: Value, place: Place) -> None:
        super().__init__("the contents of a file", place)
        self.path = path


class Pickled(Unknown):
    """What a pickle holds, of which the size of the vocabulary is known."""

    __slots__ = ("vocabulary",)

    def __init__(self, vocabulary: int, place: Place) -> None:
        super().__init__("the contents of a file", place)
        self.vocabulary = vocabulary


def silent(name: str, value: Value = None) -> Native:
    """A function that does nothing to memory."""
    return Native(name, lambda *_, **__: value, plain=False)


def table(machine: Script) -> dict[str, Value]:
    """The modules by their names."""
    packages = training.read_text(
        machine,
        "packages.py",
        "packages",
        {
            "words": list(machine.around.words),
            "argparse_boolean": "BooleanOptionalAction",
            "scaler_pieces": Native("scaler_pieces", lambda: training.scaler_pieces(machine)),
            "reducer": Native("reducer", lambda *a: ddp.made(machine, *a), plain=False),
            "without_sync": Native("no_sync", ddp.without_sync, plain=False),
            "doubt": Native("doubt", lambda what: _doubt(machine, what), plain=False),
            "batches": Native(
                "batches", lambda *a: Generated(arrays.batches(machine, *a)), plain=False
            ),
        },
    ).names
    scaler, parallel = packages["GradScaler"], packages["DistributedDataParallel"]
    parser = packages["ArgumentParser"]
    torch: Namespace = machine.library("torch")
    torch.names |= _of_torch(machine)
    machine.library("torch.cuda").names.update(_of_card(machine))
    for name in ("torch.amp", "torch.cuda.amp"):
        machine.library(name).names["GradScaler"] = scaler
    machine.library("torch.distributed").names.update(processes.table(machine, machine.group))
    return {
        "os": Namespace("os", _system(machine)),
        "os.path": _paths(machine),
        "sys": Namespace("sys", _interpreter(machine)),
        "glob": Namespace("glob", {"glob": _unknown(machine, "which files there are")}),
        "argparse": Namespace(
            "argparse",
            {
                "ArgumentParser": parser,
                "BooleanOptionalAction": "BooleanOptionalAction",
                "ArgumentDefaultsHelpFormatter": None,
                "RawDescriptionHelpFormatter": None,
            },
        ),
        "numpy": arrays.numpy(machine),
        "pickle": Namespace(
            "pickle",
            {"load": Native("load", lambda *a, **k: _unpickled(machine, *a, **k), plain=False)},
        ),
        "gc": Namespace("gc", {each: silent(each) for each in ("collect", "disable", "freeze")}),
        "torch.nn.parallel": Namespace("torch.nn.parallel", {"DistributedDataParallel": parallel}),
        "torch.utils.data": Namespace(
            "torch.utils.data",
            {
                "DataLoader": packages["DataLoader"],
                "Dataset": packages["Arguments"],
                "IterableDataset": packages["Arguments"],
            },
        ),
    }


def builtins(machine: Script) -> dict[str, Value]:
    """Python's own functions that reach outside."""
    return {
        "open": Native("open", lambda path="", *_, **__: File(path, machine.place), plain=False),
        "exec": Native("exec", lambda *_, **__: _configure(machine), plain=False),
    }


def _unknown(machine: Script, reason: str) -> Native:
    return Native(reason, lambda *_, **__: machine.unknown(reason), plain=False)


def _configure(machine: Script) -> None:
    """nanoGPT's configurator and its like: the launch line's values replace globals."""
    module = machine.module
    if module is None:
        return
    for name, value in machine.around.words:
        key = name.lstrip("-").replace("-", "_")
        if key in module.names:
            module.names[key] = value


def _system(machine: Script) -> dict[str, Value]:
    environment: dict[str, Value] = dict(machine.around.variables)
    if machine.around.world_size > 1:
        world = str(machine.around.world_size)
        environment |= {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": world}

    def get(name: Value, default: Value = None) -> Value:
        return name if isinstance(name, Unknown) else environment.get(name, default)

    return {
        "environ": environment,
        "getenv": Native("getenv", get, plain=False),
        "makedirs": silent("makedirs"),
        "remove": silent("remove"),
        "chdir": silent("chdir"),
        "listdir": _unknown(machine, "which files there are"),
        "getcwd": _unknown(machine, "the working folder"),
        "path": _paths(machine),
        "sep": "/",
    }


def _paths(machine: Script) -> Namespace:
    def join(*parts: Value) -> Value:
        unknown = next((each for each in parts if isinstance(each, Unknown)), None)
        return posixpath.join(*parts) if unknown is None else unknown

    def exists(path: Value) -> Value:
        known = _known_file(machine, path)
        return machine.unknown("whether a file exists") if known is None else known.exists

    known = ("basename", "dirname", "splitext", "normpath", "expanduser")
    names: dict[str, Value] = {
        name: Native(name, getattr(posixpath, name)) for name in known if name != "expanduser"
    }
    names |= {
        "join": Native("join", join, plain=False),
        "expanduser": Native("expanduser", lambda path: path),
        "abspath": Native("abspath", lambda path: path),
        "exists": Native("exists", exists, plain=False),
        "isfile": Native("isfile", exists, plain=False),
        "isdir": _unknown(machine, "whether a folder exists"),
    }
    return Namespace("os.path", names)


def _known_file(machine: Script, path: Value) -> DataFile | None:
    """What is known of a file of the run's data."""
    if not isinstance(path, str):
        return None
    plain = posixpath.normpath(path)
    return next((each for each in machine.around.files if each.path == plain), None)


def _unpickled(machine: Script, file: Value, *_: Value, **__: Value) -> Value:
    known = _known_file(machine, file.path) if isinstance(file, File) else None
    if known is None or known.vocabulary is None:
        return machine.unknown("the contents of a file")
    return Pickled(known.vocabulary, machine.place)


def _interpreter(machine: Script) -> dict[str, Value]:
    words = [f"--{name.lstrip('-')}={value}" for name, value in machine.around.words]
    return {
        "argv": ["script.py", *words],
        "path": [],
        "exit": Native("exit", lambda *_: _ends(machine), plain=False),
        "executable": "python",
    }


def _ends(machine: Script) -> Value:
    raise machine.unread("the program ends here")


def _of_torch(machine: Script) -> dict[str, Value]:
    def same(x: Value, *_: Value, **__: Value) -> Value:
        return x

    return {
        "from_numpy": Native("from_numpy", same),
        "save": silent("save"),
        "is_complex": silent("is_complex", value=False),
        "load": Native("load", lambda *a, **k: _loaded(machine, *a, **k), plain=False),
        "set_default_device": silent("set_default_device"),
        "set_default_dtype": silent("set_default_dtype"),
        "manual_seed": silent("manual_seed"),
        "device": Native("torch.device", lambda name, *_: _named(machine, name), plain=False),
        "version": Namespace("torch.version", {"cuda": "13.0", "hip": None}),
    }


def _loaded(
    machine: Script, file: Value, *_: Value, map_location: Value = None, **__: Value
) -> Value:
    """``torch.load``: of files only a table with a number for each token is known."""
    path = file.path if isinstance(file, File) else file
    if isinstance(path, str) and BYTES_OF_TOKENS in path and machine.around.vocabulary is not None:
        device = device_of(machine, map_location) or machine.host
        return empty(device, (machine.around.vocabulary,), INT32, arrays.DATA)
    return machine.unknown("the contents of a file")


def _named(machine: Script, name: Value) -> Value:
    if isinstance(name, str) and name.startswith("meta"):
        return machine.meta
    return device_of(machine, name)


def _of_card(machine: Script) -> dict[str, Value]:
    around = machine.around
    major, minor = around.capability
    properties = Namespace(
        "properties",
        {
            "total_memory": around.total_bytes,
            "major": major,
            "minor": minor,
            "multi_processor_count": around.sm_count,
            "name": machine.unknown("the name of the card"),
        },
    )
    quiet = ("synchronize", "set_device", "reset_peak_memory_stats", "empty_cache", "manual_seed")
    known = {name: silent(name) for name in (*quiet, "manual_seed_all", "init")}
    return known | {
        "device_count": silent("device_count", around.world_size),
        "current_device": silent("current_device", 0),
        "get_device_properties": silent("get_device_properties", properties),
        "get_device_capability": silent("get_device_capability", around.capability),
        "get_device_name": _unknown(machine, "the name of the card"),
        "is_bf16_supported": silent("is_bf16_supported", around.has_bfloat16),
        "max_memory_allocated": _unknown(machine, "the memory of a run"),
        "memory_allocated": _unknown(machine, "the memory of a run"),
    }


def _doubt(machine: Script, what: str) -> None:
    if machine.group.size > 1:
        machine.doubts.append(f"{what} is not known ({machine.place})")
