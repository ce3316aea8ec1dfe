"""What a batch script's header asks Slurm for, and what Slurm then sets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nanolint.launches.commands import Argument
from nanolint.launches.launchers import slurm_options

if TYPE_CHECKING:
    from collections.abc import Mapping

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
