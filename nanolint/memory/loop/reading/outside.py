"""What scripts ask of Python and its packages that is not torch: flags, arrays, processes."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from nanolint.memory.loop.reading import (
    arrays,
    chances,
    commands,
    ddp,
    files,
    loaders,
    loading,
    processes,
    saving,
    settings,
    tokenizers,
    training,
    watching,
)
from nanolint.memory.loop.reading.environment import environment_of
from nanolint.memory.loop.reading.executing import known, run
from nanolint.memory.loop.reading.printing import COMMAND, CUDA, prints
from nanolint.memory.model.reading.plain import ordered
from nanolint.memory.model.reading.torch.calling import device_of
from nanolint.memory.model.reading.values import (
    Namespace,
    Native,
    Unknown,
    silent,
)
from nanolint.memory.tensors.dtypes import FLOAT32
from nanolint.memory.tensors.tensor import empty
from nanolint.source.settings_text import read_json, read_yaml
from nanolint.source.toml_text import read_toml

if TYPE_CHECKING:
    from nanolint.memory.loop.reading.machine import Script
    from nanolint.memory.model.reading.values import Value
    from nanolint.memory.tensors.asked import Card


# What is asked of a tokenizer, or of what holds one, for its size.
VOCABULARIES = frozenset({"n_vocab", "vocab_size", "max_token_value"})


LOADERS = ("load", "safe_load", "full_load", "unsafe_load")  # of PyYAML
LOADER_CLASSES: dict[str, Value] = dict.fromkeys(("Loader", "SafeLoader", "FullLoader", "CLoader"))
# What makes a command line of a function, by the module that has it.
STARTERS = {"fire": "Fire", "tyro": "cli", "jsonargparse": "CLI", "typer": "run"}


def table(machine: Script) -> dict[str, Value]:
    """The modules by their names."""
    packages = training.read_text(
        machine,
        "packages.py",
        "packages",
        {
            "words": known(machine.around.words),
            "scaler_pieces": Native("scaler_pieces", lambda: training.scaler_pieces(machine)),
            "reducer": Native("reducer", lambda *a: ddp.made(machine, *a), plain=False),
            "without_sync": Native("no_sync", ddp.without_sync, plain=False),
            "doubt": Native("doubt", lambda what: _doubt(machine, what), plain=False),
            "assumed": Native("assumed", machine.doubts.append, plain=False),
            "unheard": Native("unheard", machine.unknown, plain=False),
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
        "opened": Native("open", lambda path: files.File(path, machine.place), plain=False),
        "listed": files.listed(machine),
        "unheard": Native("unheard", machine.unknown, plain=False),
    }
    numpy = arrays.numpy(machine)
    torch: Namespace = machine.library("torch")
    torch.names |= _of_torch(machine)
    machine.library("torch.cuda").names.update(_of_card(machine))
    machine.load("torch.nn").names["DataParallel"] = packages["DataParallel"]
    for name in ("torch.amp", "torch.cuda.amp"):
        machine.library(name).names["GradScaler"] = scaler
    processes.install(machine)
    optimizer = machine.imported[training.OPTIM].names["Optimizer"]
    given = {"Optimizer": optimizer, "doubt": packages["doubt"]}
    return tokenizers.install(machine) | {
        **_later(machine, "sharded.py", "torch.distributed.optim", given),
        "os": Namespace("os", _system(machine)),
        "os.path": files.paths(machine),
        "sys": Namespace("sys", _interpreter(machine)),
        "platform": Namespace("platform", _machine(machine)),
        **_later(machine, "paths.py", "pathlib", around),
        **{name: Namespace(name, {"open": files.opens(machine)}) for name in files.PACKED},
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
        **training.later(["click"], lambda: {"click": commands.click(machine, argparse())}),
        "gc": Namespace("gc", {each: silent(each) for each in ("collect", "disable", "freeze")}),
        "torch.nn.parallel": Namespace(
            "torch.nn.parallel",
            {"DistributedDataParallel": parallel, "DataParallel": packages["DataParallel"]},
        ),
        "torch.nn.utils.rnn": machine.library("torch.nn.utils").names.setdefault(
            "rnn", loaders.padding(machine)
        ),
        **loaders.table(machine, packages),
        **watching.table(machine),
    }


def _later(machine: Script, text: str, name: str, given: dict[str, Value]) -> dict[str, Value]:
    return training.later([name], lambda: {name: training.read_text(machine, text, name, given)})


def builtins(machine: Script) -> dict[str, Value]:
    """Python's own functions that reach outside."""

    def in_order(values: Value, **options: Value) -> Value:
        return values if isinstance(values, Unknown) else ordered(machine, values, **options)

    return {
        "sorted": Native("sorted", in_order, plain=False),
        "open": files.opens(machine),
        "print": prints(machine),
        "compile": Native("compile", lambda text, *_, **__: text, plain=False),
        "exec": Native("exec", lambda text, *given, **_: run(machine, text, *given), plain=False),
    }


def _unknown(machine: Script, reason: str) -> Native:
    return Native(reason, lambda *_, **__: machine.unknown(reason), plain=False)


def _system(machine: Script) -> dict[str, Value]:
    environment = environment_of(machine)

    def get(name: Value, default: Value = None) -> Value:
        return name if isinstance(name, Unknown) else environment.get(name, default)

    return {
        "environ": environment,
        "getenv": Native("getenv", get, plain=False),
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
        "exit": Native("exit", lambda *_: _ends(machine), plain=False),
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
    known = {name: _unknown(machine, f"what platform.{name} gives") for name in names}
    return known | {
        "system": silent("system", "Linux"),
        "python_implementation": silent("python_implementation", "CPython"),
    }


def _ends(machine: Script) -> Value:
    raise machine.unread("the program ends here")


def _of_torch(machine: Script) -> dict[str, Value]:
    def same(x: Value, *_: Value, **__: Value) -> Value:
        return x

    refused = machine.around.refuses_float8
    without = {} if refused is None else {"_scaled_mm": _refused(machine, refused)}
    return without | {
        "from_numpy": Native("from_numpy", same),
        "from_file": Native("from_file", partial(_of_file, machine), plain=False),
        "randint": _without_bounds(machine),
        "tensor": arrays.of_numbers(machine),
        "save": Native("save", partial(saving.save, machine), plain=False),
        "is_complex": silent("is_complex", value=False),
        "load": Native("load", partial(loading.load, machine), plain=False),
        **settings.table(machine),
        "manual_seed": silent("manual_seed"),
        "device": Native("torch.device", lambda name, *_: _named(machine, name), plain=False),
        "version": Namespace("torch.version", {"cuda": CUDA, "hip": None}),
    }


def _of_file(
    machine: Script,
    _file: Value,
    _shared: Value = None,
    size: Value = 0,
    *,
    dtype: Value = FLOAT32,
    **_: Value,
) -> Value:
    """``torch.from_file``: numbers of the host's."""
    return empty(machine.host, (size,), dtype, chances.DATA)


def _refused(machine: Script, why: str) -> Native:
    """An operation that ends the run."""

    def ends(*_: Value, **__: Value) -> Value:
        raise machine.unread(why)

    return Native(why, ends, plain=False)


def _without_bounds(machine: Script) -> Native:
    """``torch.randint``, whose bounds mean nothing to memory."""
    made = machine.library("torch").names["randint"]

    def randint(*given: Value, **options: Value) -> Value:
        sizes = () if "size" in options else given[-1:]
        bounds = [1 for _ in given[: len(given) - len(sizes)]]
        named = {name: each for name, each in options.items() if name not in ("low", "high")}
        return chances.start(machine, machine.call(made, [*bounds, *sizes], named))

    return Native("randint", randint, plain=False)


def _named(machine: Script, name: Value) -> Value:
    if isinstance(name, str) and name.startswith("meta"):
        return machine.meta
    return device_of(machine, name)


def _of_card(machine: Script) -> dict[str, Value]:
    around = machine.around
    quiet = ("synchronize", "set_device", "reset_peak_memory_stats", "empty_cache", "manual_seed")
    known = {name: silent(name) for name in (*quiet, "manual_seed_all", "init")}
    looks = ("_record_memory_history", "_dump_snapshot", "memory_summary", "empty_cache")
    return known | {
        "memory": Namespace("torch.cuda.memory", {name: silent(name) for name in looks}),
        "device_count": silent("device_count", around.world_size),
        "set_per_process_memory_fraction": Native(
            "set_per_process_memory_fraction", lambda *_: _fraction(machine), plain=False
        ),
        "current_device": silent("current_device", 0),
        "get_device_properties": Native(
            "get_device_properties", lambda *_, **__: _properties(machine), plain=False
        ),
        "get_device_capability": silent("get_device_capability", around.capability),
        "get_device_name": _unknown(machine, "the name of the card"),
        "is_bf16_supported": silent("is_bf16_supported", around.has_bfloat16),
        "max_memory_allocated": _unknown(machine, "the memory of a run"),
        "memory_allocated": _unknown(machine, "the memory of a run"),
    }


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
            "name": machine.unknown("the name of the card"),
        },
    )


def _all_of_it(card: Card) -> Card:
    return card


def _fraction(machine: Script) -> None:
    settings.doubt(machine, "set_per_process_memory_fraction leaves less than the card has")


def _doubt(machine: Script, what: str) -> None:
    if machine.group.size > 1:
        machine.doubts.append(f"{what} is not known ({machine.place})")
