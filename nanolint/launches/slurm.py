"""What a batch script's header asks Slurm for, and what Slurm then sets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.launches.commands import Argument
from nanolint.launches.launchers import slurm_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nanolint.launches.launch import Processes

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
