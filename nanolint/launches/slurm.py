"""What Slurm is asked for by a batch script's header and then sets, and what ``accelerate launch``
reads of its configuration.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.frozen import dataclass
from nanolint.launches.commands import Argument
from nanolint.launches.launchers import slurm_options
from nanolint.source.settings_text import Leaf, Mapped, NoSettings, read_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanolint.launches.launch import Processes
    from nanolint.source.values import Scalar

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
_ENGINES = (
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
    engine = next((each for each in _ENGINES if isinstance(entries.get(each), Mapped)), None)
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
