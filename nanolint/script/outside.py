"""Python and its packages except torch, as scripts use them: flags, arrays, processes."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from nanolint.interpreter.exceptions import leave
from nanolint.interpreter.plain import ordered
from nanolint.interpreter.torch.calling import device_of
from nanolint.interpreter.values import Namespace, Native, Unknown, silent
from nanolint.script import (
    arrays,
    chances,
    commands,
    corpora,
    datasets,
    files,
    lightning,
    loaders,
    of_torch,
    processes,
    reducer,
    settings,
    stand_ins,
    tokenizers,
    training,
    transformers,
)
from nanolint.script.asked_card import free_on, name_of
from nanolint.script.environment import environment_of
from nanolint.script.executing import known, run
from nanolint.script.printing import COMMAND, prints
from nanolint.script.processes import count_of
from nanolint.source.settings_text import read_json, read_yaml
from nanolint.source.toml_text import read_toml

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script
    from nanolint.tensors.device import Card


# What is asked of a tokenizer, or of what holds one, for its size.
VOCABULARIES = frozenset({"n_vocab", "vocab_size", "max_token_value"})


LOADERS = ("load", "safe_load", "full_load", "unsafe_load")  # of PyYAML
LOADER_CLASSES: dict[str, Value] = dict.fromkeys(("Loader", "SafeLoader", "FullLoader", "CLoader"))
# What makes a command line of a function, by the module that has it.
STARTERS = {"fire": "Fire", "tyro": "cli", "jsonargparse": "CLI"}
AMP = ("torch.amp", "torch.cuda.amp")


def table(machine: Script) -> dict[str, Value]:
    """The modules by their names."""
    packages = training.read_text(
        machine,
        "packages.py",
        "packages",
        {
            "words": known(machine.around.words),
            "scaler_pieces": Native("scaler_pieces", lambda: training.scaler_pieces(machine)),
            "reducer": Native("reducer", lambda *a: reducer.made(machine, *a), plain=False),
            "without_sync": Native("no_sync", reducer.without_sync, plain=False),
            "doubt": Native("doubt", lambda what: _doubt(machine, what), plain=False),
            "assumed": Native("assumed", machine.doubts.append, plain=False),
            "unheard": Native("unheard", machine.unknown, plain=False),
            "is_read": Native("is_read", partial(processes.is_read, []), plain=False),
        },
    ).names
    bar = packages["Progress"]
    progress = Namespace("tqdm", {"tqdm": bar, "trange": packages["trange"], "auto": bar})
    scaler, parallel = packages["GradScaler"], packages["DistributedDataParallel"]
    argparse = cache(partial(commands.argparse, machine, packages["Arguments"]))
    stored: dict[str, Value] = {
        "load": Native("load", lambda *a, **k: files.unpickled(machine, *a, **k), plain=False),
        "dump": Native("dump", lambda *a, **k: files.dumped(machine, *a, **k), plain=False),
    }
    json, yaml = files.settings(machine, read_json), files.settings(machine, read_yaml)
    around = {
        "posix": files.paths(machine),
        "opened": files.opens(machine),
        "listed": files.listed(machine),
        "unheard": Native("unheard", machine.unknown, plain=False),
    }
    numpy = arrays.numpy(machine)
    torch: Namespace = machine.library("torch")
    torch.names |= of_torch.names(machine) | {"GradScaler": scaler}
    machine.library("torch.cuda").names.update(_of_card(machine))
    machine.load("torch.nn").names["DataParallel"] = packages["DataParallel"]
    for name in AMP:
        machine.library(name).names["GradScaler"] = scaler
    processes.install(machine)
    optimizer = machine.imported[training.OPTIM].names["Optimizer"]
    given = {"Optimizer": optimizer, "doubt": packages["doubt"]}
    return tokenizers.install(machine) | {
        **{f"{name}.grad_scaler": Namespace(name, {"GradScaler": scaler}) for name in AMP},
        **_later(machine, "sharded.py", "torch.distributed.optim", given),
        **_later(machine, "yacs.py", "yacs.config", {}),
        **_later(machine, "splitting.py", "sklearn.model_selection", {}),
        **_later(
            machine,
            "omegaconf.py",
            "omegaconf",
            {
                "typed": Native("typed", lambda: commands.typed(machine), plain=False),
                "unheard": Native("unheard", machine.unknown, plain=False),
                "loaded": files.settings(machine, partial(read_yaml, floats=True)),
                "parsed": files.parsed(machine, partial(read_yaml, floats=True)),
            },
        ),
        **lightning.table(machine),
        **_later(machine, "peft.py", "peft", transformers.told(machine)),
        **training.later(stand_ins.HYDRA, partial(stand_ins.hydra, machine)),
        "os": Namespace("os", _system(machine)),
        "os.path": files.paths(machine),
        "sys": Namespace("sys", _interpreter(machine)),
        "platform": Namespace("platform", _machine(machine)),
        **_later(machine, "paths.py", "pathlib", around),
        **{name: Namespace(name, {"open": files.opens(machine)}) for name in files.PACKED},
        "importlib": Namespace("importlib", {"import_module": _importer(machine)}),
        "glob": Namespace("glob", {"glob": files.listed(machine)}),
        **training.later(["argparse"], lambda: {"argparse": argparse()}),
        "numpy": numpy,
        "numpy.random": numpy.names["random"],
        "random": chances.chance(machine),
        "pickle": Namespace("pickle", stored),
        "json": Namespace("json", stored | dict.fromkeys(("load", "loads"), json)),
        **{
            name: Namespace(
                name, dict.fromkeys(("load", "loads"), files.settings(machine, read_toml))
            )
            for name in ("tomllib", "tomli", "toml")
        },
        "yaml": Namespace("yaml", dict.fromkeys(LOADERS, yaml) | LOADER_CLASSES),
        **dict.fromkeys(("tqdm", "tqdm.auto", "tqdm.notebook"), progress),
        **{name: Namespace(name, {each: packages["start"]}) for name, each in STARTERS.items()},
        "typer": Namespace(
            "typer",
            {
                **{each: silent(each) for each in ("echo", "secho")},
                **dict.fromkeys(("Option", "Argument"), packages["typer_option"]),
                "run": packages["start"],
                "Typer": packages["Typer"],
            },
        ),
        **training.later(["click"], lambda: {"click": commands.click(machine, argparse())}),
        "gc": Namespace("gc", {each: silent(each) for each in ("collect", "disable", "freeze")}),
        "torch.nn.parallel": Namespace(
            "torch.nn.parallel",
            {"DistributedDataParallel": parallel, "DataParallel": packages["DataParallel"]},
        ),
        "torch.nn.utils.rnn": machine.library("torch.nn.utils").names.setdefault(
            "rnn", loaders.padding(machine)
        ),
        **processes.multiprocessing(machine, packages["Process"]),
        **of_torch.accelerator(machine),
        **loaders.table(machine, packages),
        **datasets.table(machine),
        **corpora.downloads(machine),
        **stand_ins.profilers(machine),
        **stand_ins.torchvision(machine),
        **stand_ins.rich(machine),
        **stand_ins.accelerate(machine),
    }


def _later(machine: Script, text: str, name: str, given: dict[str, Value]) -> dict[str, Value]:
    return training.later([name], lambda: {name: training.read_text(machine, text, name, given)})


def builtins(machine: Script) -> dict[str, Value]:
    """Python's own functions that reach outside."""

    def in_order(values: Value, **options: Value) -> Value:
        return values if isinstance(values, Unknown) else ordered(machine, values, **options)

    def through(values: Value) -> Value:
        is_known = isinstance(values, files.Listing) or not isinstance(values, Unknown)
        return iter(machine.iterate(values)) if is_known else values.bare()

    return {
        "sorted": Native("sorted", in_order, plain=False),
        "iter": Native("iter", through, plain=False),
        "open": files.opens(machine),
        "print": prints(machine),
        "compile": Native("compile", lambda text, *_, **__: text, plain=False),
        "__import__": Native("__import__", partial(_imported, machine), plain=False),
        "exec": Native("exec", lambda text, *given, **_: run(machine, text, *given), plain=False),
    }


def _imported(machine: Script, name: Value, *_: Value, **__: Value) -> Value:
    """``__import__("a.b")``, which gives ``a``."""
    if not isinstance(name, str):
        return machine.unknown("which module is imported")
    found = machine.load(name)
    first = name.partition(".")[0]
    return found if first == name else machine.load(first)


def _importer(machine: Script) -> Native:
    """``importlib.import_module``."""

    def load(name: Value, *_: Value) -> Value:
        is_known = isinstance(name, str) and not name.startswith(".")
        return machine.load(name) if is_known else machine.unknown("which module is imported")

    return Native("import_module", load, plain=False)


def _unknown(machine: Script, reason: str) -> Native:
    return Native(reason, lambda *_, **__: machine.unknown(reason), plain=False)


def _system(machine: Script) -> dict[str, Value]:
    environment = environment_of(machine)

    def get(name: Value, default: Value = None) -> Value:
        return name if isinstance(name, Unknown) else environment.get(name, default)

    return {
        "environ": environment,
        "getenv": Native("getenv", get, plain=False),
        "putenv": Native("putenv", environment.__setitem__, plain=False),
        "makedirs": silent("makedirs"),
        "remove": silent("remove"),
        "chdir": silent("chdir"),
        "listdir": files.listed(machine),
        "getcwd": _unknown(machine, "the working folder"),
        "path": files.paths(machine),
        "sep": "/",
        "name": "posix",  # what Windows keeps besides is not known
    }


def _interpreter(machine: Script) -> dict[str, Value]:
    words = commands.typed(machine)
    return {
        "argv": words if isinstance(words, Unknown) else [COMMAND, *words],
        "path": [],
        "modules": machine.imported,
        "exit": Native("exit", partial(leave, machine), plain=False),
        "executable": "python",
        "platform": "linux",
    }


def _machine(machine: Script) -> dict[str, Value]:
    """``platform``: a Linux, of which no more is known."""
    names = (
        *("architecture", "freedesktop_os_release", "libc_ver", "machine", "node", "platform"),
        *("processor", "python_build", "python_compiler", "python_revision", "python_version"),
        *("python_version_tuple", "release", "uname", "version"),
    )
    known = {name: _unknown(machine, f"the result of platform.{name}") for name in names}
    return known | {
        "system": silent("system", "Linux"),
        "python_implementation": silent("python_implementation", "CPython"),
    }


def _of_card(machine: Script) -> dict[str, Value]:
    around = machine.around
    quiet = ("synchronize", "reset_peak_memory_stats", "empty_cache", "manual_seed")
    known = {name: silent(name) for name in (*quiet, "manual_seed_all", "init")}
    looks = ("_record_memory_history", "_dump_snapshot", "memory_summary", "empty_cache")
    return known | {
        "memory": Namespace("torch.cuda.memory", {name: silent(name) for name in looks}),
        "device_count": Native("device_count", lambda: count_of(machine), plain=False),
        "set_device": Native("set_device", lambda name: _choose(machine, name), plain=False),
        "set_per_process_memory_fraction": Native(
            "set_per_process_memory_fraction", lambda *_: _fraction(machine), plain=False
        ),
        "current_device": Native("current_device", lambda: machine.cards.current, plain=False),
        "get_device_properties": Native(
            "get_device_properties", lambda *_, **__: _properties(machine), plain=False
        ),
        "get_device_capability": silent("get_device_capability", around.capability),
        "get_device_name": Native("name", lambda *_, **__: name_of(machine), plain=False),
        "mem_get_info": Native("mem_get_info", lambda *_: _memory(machine), plain=False),
        "is_bf16_supported": silent("is_bf16_supported", around.has_bfloat16),
        "max_memory_allocated": _unknown(machine, "the memory of a run"),
        "memory_allocated": _unknown(machine, "the memory of a run"),
    }


def _choose(machine: Script, name: Value) -> None:
    """``torch.cuda.set_device``, of a number or of what names a device."""
    if isinstance(name, int):
        machine.cards.choose(name)
    elif device_of(machine, name) is machine.card:
        machine.cards.choose(machine.cards.last)


def _memory(machine: Script) -> Value:
    """Returns the free and the total bytes of the card."""
    total = machine.around.asked.ask(_all_of_it).total_bytes
    machine.made_up.add(total)
    return free_on(machine), total


def _properties(machine: Script) -> Namespace:
    major, minor = machine.around.capability
    card = machine.around.asked.ask(_all_of_it)
    machine.made_up.add(card.total_bytes)
    return Namespace(
        "properties",
        {
            "total_memory": card.total_bytes,
            "major": major,
            "minor": minor,
            "multi_processor_count": card.multiprocessors,
            "name": name_of(machine),
        },
    )


def _all_of_it(card: Card) -> Card:
    return card


def _fraction(machine: Script) -> None:
    settings.doubt(machine, "set_per_process_memory_fraction leaves less than the card has")


def _doubt(machine: Script, what: str) -> None:
    if machine.group.formed:
        machine.doubts.append(f"{what} is not known ({machine.place})")
