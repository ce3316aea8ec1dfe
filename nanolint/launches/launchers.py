"""The programs that start the processes of a run, Slurm among them, and how many they start."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.launches.commands import Argument
from nanolint.launches.launch import Processes
from nanolint.source.settings_text import Leaf, Mapped, NoSettings, read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nanolint.source.values import Scalar

# torchrun's options, for argparse takes any beginning that only one of them has.
_TORCHRUN_FLAGS = frozenset(
    [
        *("standalone", "use-env", "run-path", "no-python", "module"),
        *("virtual-local-rank", "help"),
    ]
)
_TORCHRUN_VALUES = frozenset(
    [
        *("nnodes", "nproc-per-node", "rdzv-backend", "rdzv-endpoint", "rdzv-id", "rdzv-conf"),
        *("max-restarts", "monitor-interval", "start-method", "event-log-handler", "role"),
        *("log-dir", "redirects", "tee", "local-ranks-filter", "node-rank", "master-addr"),
        *("master-port", "local-addr", "logs-specs", "numa-binding", "signals-to-handle"),
        *("duplicate-stdout-filters", "duplicate-stderr-filters"),
    ]
)
_ACCELERATE_FLAGS = frozenset(
    [
        *("cpu", "multi-gpu", "tpu", "ipex", "use-xpu", "use-deepspeed", "use-fsdp"),
        *("use-megatron-lm", "use-parallelism-config", "module", "no-python", "debug", "quiet"),
        *("same-network", "enable-cpu-affinity", "dynamo-use-fullgraph", "dynamo-use-dynamic"),
        *("dynamo-use-regional-compilation", "fp8-use-autocast-during-eval", "downcast-bf16"),
        *("tpu-cluster", "no-tpu-cluster", "tpu-use-sudo", "standalone", "help", "h", "m", "q"),
    ]
)
_DEEPSPEED_FLAGS = frozenset(
    [
        *("module", "no-python", "no-local-rank", "no-ssh", "force-multi"),
        *("bind-cores-to-rank", "save-pid", "elastic-training", "no-ssh-check", "help"),
        *("quiet", "q"),
    ]
)
# Of accelerate, what trains the model otherwise than the script says.
_ENGINES = ("use-deepspeed", "use-fsdp", "use-megatron-lm", "use-parallelism-config")
_COMPILER = "dynamo-backend"
_DEEPSPEED_FILES = ("deepspeed", "deepspeed_config", "ds_config")
_SRUN_SHORT = {"-n": "ntasks", "-N": "nodes"}


class Options:
    """The options in front of a script, read by ``take``; what is left are the words behind."""

    def __init__(self, words: list[Argument]) -> None:
        self._words = words
        self.values: dict[str, Argument] = {}
        self.flags: set[str] = set()

    def take(self, flags: Iterable[str], values: Iterable[str] = ()) -> Options:
        """Take options off the words up to the first that is none. Unknown ones take a value."""
        flags, known = frozenset(flags), frozenset((*flags, *values))
        while self._words and self._words[0].text.startswith("-"):
            word = self._words.pop(0)
            if word.text == "--":
                break
            name, equals, _ = word.text.lstrip("-").partition("=")
            name = _completed(name.replace("_", "-"), known)
            if equals:
                self.values[name] = _behind_equals(word)
            elif name in flags or (name == "m" and "module" in flags):
                self.flags.add("module" if name == "m" else name)
            elif self._words:
                self.values[name] = self._words.pop(0)
        return self


def _behind_equals(word: Argument) -> Argument:
    return word.since(word.text.index("=") + 1)


def unread_engines(options: Options) -> Iterator[str]:
    """What accelerate is told to train with that is not read: a line for each."""
    for name in _ENGINES:
        if name in options.flags:
            yield f"--{name.replace('-', '_')} is not modelled, and changes the memory"
    compiler = options.values.get(_COMPILER)
    if compiler is not None and compiler.text.lower() != "no":
        yield f"--dynamo_backend={compiler.text} is not modelled; it compiles the model"


def unread_files(files: Iterable[Argument], words: Sequence[Argument]) -> Iterator[str]:
    """What a launch takes from files that are not read: a line for each.

    ``files`` are a launcher's, ``words`` the script's own.
    """
    named = [each.text for each in files]
    for at, word in enumerate(words):
        name, equals, value = word.text.partition("=")
        if name.lstrip("-").replace("-", "_") in _DEEPSPEED_FILES and name.startswith("-"):
            named += [value] if equals else [each.text for each in words[at + 1 : at + 2]]
    for each in dict.fromkeys(named):
        if each.endswith((".json", ".yaml", ".yml")):
            sets = "it may set the micro-batch, the accumulation steps and the optimizer"
            yield f"nanolint reads {each} only if the script passes it to DeepSpeed; {sets}"


def _completed(name: str, known: frozenset[str]) -> str:
    """The one option that ``name`` is or begins."""
    if name in known or len(name) < 2:
        return name
    fitting = [each for each in known if each.startswith(name)]
    return fitting[0] if len(fitting) == 1 else name


def torchrun(
    words: list[Argument], environment: Mapping[str, Argument]
) -> tuple[Processes, Options]:
    """Take torchrun's options off ``words``; returns its processes and the options."""
    options = Options(words).take(_TORCHRUN_FLAGS, _TORCHRUN_VALUES)
    per_node = _count(options.values.get("nproc-per-node"), environment)
    nodes = _nodes(options.values.get("nnodes"))
    return replace(_product(per_node, nodes), ranked=True), options


def accelerate(words: list[Argument]) -> tuple[Processes, Options]:
    """Take the options of ``accelerate launch`` off ``words``."""
    options = Options(words).take(_ACCELERATE_FLAGS)
    given = options.values.get("num-processes") or options.values.get("n")
    if given is not None:
        return _of_one(_plain_count(given), options.values.get("num-machines")), options
    if "config-file" in options.values:
        return Processes(
            None, f"{options.values['config-file'].text} contains their number"
        ), options
    return Processes(None, "accelerate reads their number from its own configuration"), options


def deepspeed(words: list[Argument]) -> tuple[Processes, Options]:
    """Take deepspeed's options off ``words``."""
    options = Options(words).take(_DEEPSPEED_FLAGS)
    values = options.values
    if "include" in values or "i" in values:
        listed = values.get("include") or values["i"]
        slots = re.fullmatch(r"[\w.-]+:([\d,]+)", listed.text)
        if slots is not None and listed.unknown is None:
            count = len(slots[1].strip(",").split(","))
            return Processes(count, local=count), options
        return Processes(None, f"deepspeed reads them from {listed.text}"), options
    gpus, nodes = values.get("num-gpus"), values.get("num-nodes")
    if gpus is None:
        here = "hostfile" not in values and "H" not in values and nodes is None
        why = "deepspeed starts one for each GPU that it finds"
        return Processes(None, why, every_card=here), options
    each = _plain_count(gpus)
    if nodes is None and not ("hostfile" in values or "H" in values):
        return _product(each, Processes(1)), options
    if nodes is None:
        return Processes(
            None, "the number of machines stands in the host file of deepspeed"
        ), options
    return _product(each, _plain_count(nodes)), options


def mpi(words: Sequence[Argument]) -> Processes:
    """The processes of mpirun and its kind, from the words in front of the program."""
    for name in ("-np", "--np", "-n", "--n", "-c"):
        for at, word in enumerate(words):
            if word.text == name and at + 1 < len(words):
                return _plain_count(words[at + 1])
            if word.text.startswith(f"{name}="):
                return _plain_count(_behind_equals(word))
    return Processes(None, "mpirun reads their number from its hosts")


def mpi_variables(tasks: Processes) -> dict[str, Argument]:
    """Returns the variables that Open MPI sets for the first process."""
    size = Argument(str(tasks.count or ""), None if tasks.count else tasks.why)
    ranks = ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK")
    return {"OMPI_COMM_WORLD_SIZE": size, **dict.fromkeys(ranks, Argument("0"))}


def srun(words: Sequence[Argument], batch: Mapping[str, str]) -> Processes:
    """The tasks of srun, from its own options, else from those of the batch script."""
    given = {name: text for name, text in batch.items() if name in ("ntasks", "nodes")}
    given |= {"ntasks-per-node": batch["ntasks-per-node"]} if "ntasks-per-node" in batch else {}
    own = slurm_options(words)
    if own.keys() & {"ntasks", "ntasks-per-node"}:
        given = {name: text for name, text in given.items() if name == "nodes"}
    given |= own
    counts = {name: _integer(text.partition("-")[0]) for name, text in given.items()}
    for name in ("ntasks", "nodes", "ntasks-per-node"):
        if name in given and not counts[name]:
            return Processes(None, f"--{name}={given[name]} is known only at run time")
    per_node, nodes = counts.get("ntasks-per-node"), counts.get("nodes")
    if counts.get("ntasks"):
        return Processes(counts["ntasks"], local=counts["ntasks"] if nodes == 1 else per_node)
    return Processes((per_node or 1) * (nodes or 1), local=per_node)


def slurm_options(words: Sequence[Argument]) -> dict[str, str]:
    """The options of srun and sbatch that say how much is asked for, by their long names."""
    found: dict[str, str] = {}
    for at, word in enumerate(words):
        name, equals, value = word.text.partition("=")
        short = _SRUN_SHORT.get(name[:2])
        if short is not None:
            name, value = f"--{short}", name[2:] or value
        if not name.startswith("--"):
            continue
        if not value and not equals and at + 1 < len(words):
            value = words[at + 1].text
        found.setdefault(name.removeprefix("--"), value)
    return found


def visible_cards(environment: Mapping[str, Argument]) -> Processes:
    """The cards that CUDA_VISIBLE_DEVICES leaves; CUDA reads it up to the first that is none."""
    listed = environment.get("CUDA_VISIBLE_DEVICES")
    if listed is None:
        return Processes(None, "it is the number of GPUs in the machine", every_card=True)
    if listed.unknown is not None:
        return Processes(None, listed.unknown)
    count = 0
    for device in listed.text.split(","):
        if not re.fullmatch(r"\d+|(GPU|MIG)-[\w/-]+", device.strip()):
            break
        count += 1
    if count:
        return Processes(count)
    return Processes(None, f"CUDA_VISIBLE_DEVICES={listed.text} leaves no GPU")


def _nodes(given: Argument | None) -> Processes:
    if given is None:
        return Processes(1)
    least, colon, most = given.text.partition(":")
    if colon and least != most and given.unknown is None and _integer(least):
        why = f"--nnodes={given.text} allows {least} to {most} machines; assuming {least}"
        return Processes(_integer(least), why)
    return _plain_count(given) if not colon else Processes(_integer(least))


def _count(given: Argument | None, environment: Mapping[str, Argument]) -> Processes:
    if given is not None and given.text in ("gpu", "auto"):
        return visible_cards(environment)
    return _plain_count(given) if given is not None else Processes(1)


def _plain_count(given: Argument) -> Processes:
    count = _integer(given.text)
    if count is None:
        return Processes(None, given.unknown or f"{given.text} is not a number of processes")
    return Processes(count)


def _integer(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 10 and int(text) > 0 else None


def _of_one(all_of_them: Processes, machines: Argument | None) -> Processes:
    """``all_of_them``, with how many one machine has if there is one."""
    alone = machines is not None and machines.text == "1"
    return replace(all_of_them, local=all_of_them.count if alone else None)


def _product(first: Processes, second: Processes) -> Processes:
    """``first`` of each of ``second`` machines."""
    why = first.why or second.why
    if first.count is None or second.count is None:
        unknown, other = (first, second) if first.count is None else (second, first)
        every_card = unknown.every_card and other.count == 1
        return Processes(None, unknown.why, every_card=every_card, local=first.count)
    return Processes(first.count * second.count, why, local=first.count)


_HEADER = re.compile(r"#SBATCH\s+(.*)")
_CARDS = re.compile(r"(?:gpu:)?(?:[A-Za-z][\w.-]*:)?(\d+)")


def read_header(text: str) -> dict[str, str]:
    """The ``#SBATCH`` options at the head of a batch script, by their long names."""
    options: dict[str, str] = {}
    for line in text.split("\n"):
        line = line.strip()
        if line and not line.startswith("#"):
            break
        match = _HEADER.fullmatch(line)
        if match is not None:
            words = [Argument(word) for word in match[1].partition(" #")[0].split()]
            options |= slurm_options(words)
    return options


_ONLY_SLURM = (
    *("SLURM_JOB_ID", "SLURM_JOBID", "SLURM_JOB_NAME", "SLURM_JOB_NODELIST", "SLURM_NODELIST"),
    *("SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE", "SLURM_GPUS_ON_NODE"),
)


def task_variables(
    batch: Mapping[str, str], words: Sequence[Argument], tasks: Processes
) -> dict[str, Argument]:
    """Returns the variables that srun sets for the first of its tasks, as torchrun sets RANK."""
    options = {"nodes": "1", **batch, **slurm_options(words)}
    found = {name: Argument("", f"only Slurm knows {name}") for name in _ONLY_SLURM}
    found |= {name: Argument(value) for name, value in slurm_variables(options).items()}
    count = Argument(str(tasks.count or ""), None if tasks.count else tasks.why)
    found |= dict.fromkeys(("SLURM_NTASKS", "SLURM_NPROCS"), count)
    ranks = ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID")
    return found | dict.fromkeys(ranks, Argument("0"))


def slurm_variables(batch: Mapping[str, str]) -> dict[str, str]:
    """What Slurm sets for a script with these options."""
    nodes, tasks = batch.get("nodes", "1"), batch.get("ntasks")
    per_node = batch.get("ntasks-per-node")
    if not batch or not nodes.isdecimal():
        return {}
    found = {"SLURM_NNODES": nodes, "SLURM_JOB_NUM_NODES": nodes}
    if per_node is not None:
        found["SLURM_NTASKS_PER_NODE"] = per_node
    if tasks is None and per_node is not None and per_node.isdecimal():
        tasks = str(int(per_node) * int(nodes))
    if tasks is not None:
        found["SLURM_NTASKS"] = found["SLURM_NPROCS"] = tasks
    for name in ("gpus-per-node", "gres"):
        cards = _CARDS.fullmatch(batch.get(name, ""))
        if cards is not None:
            found["SLURM_GPUS_ON_NODE"] = cards[1]
    if "gpus-per-node" in batch and "SLURM_GPUS_ON_NODE" in found:
        found["SLURM_GPUS_PER_NODE"] = found["SLURM_GPUS_ON_NODE"]
    return found


# accelerate/commands/launch.py
PRECISION_VARIABLE = "ACCELERATE_MIXED_PRECISION"
_ACCELERATE_ENGINES = (
    *("deepspeed_config", "fsdp_config", "megatron_lm_config", "fp8_config"),
    *("parallelism_config", "dynamo_config"),
)


@dataclass(frozen=True, slots=True)
class Configured:
    """``processes`` and ``precision`` are None where the file does not say; ``engine`` is the entry
    of one that takes more from it: DeepSpeed's."""

    processes: int | None = None
    precision: str | None = None
    engine: str | None = None


def read(text: str) -> Configured | None:
    """What the text of a configuration says; None where it is none."""
    try:
        node = read_yaml(text)
    except NoSettings:
        return None
    if not isinstance(node, Mapped):
        return None
    entries = dict(node.entries)
    values: dict[object, Scalar] = {
        key: each.value for key, each in entries.items() if isinstance(each, Leaf)
    }
    count, precision = values.get("num_processes"), values.get("mixed_precision")
    engine = next(
        (each for each in _ACCELERATE_ENGINES if isinstance(entries.get(each), Mapped)), None
    )
    if engine is not None and not dict(getattr(entries[engine], "entries", ())):
        engine = None  # {}, as accelerate writes it where there is none
    if precision is False:  # YAML's reading of a bare no
        precision = "no"
    if precision is None and values.get("fp16") is True:  # as it was written at first
        precision = "fp16"
    if values.get("distributed_type") in ("NO", False):
        count = 1
    return Configured(
        count if type(count) is int and count > 0 else None,
        precision if isinstance(precision, str) else None,
        engine,
    )
