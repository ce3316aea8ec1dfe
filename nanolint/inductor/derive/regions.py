"""Activation checkpointing in a graph: what a region makes is made again in the backward pass.

torch/_higher_order_ops/wrap.py marks what is traced inside; the partitioner may save none of it but
what a later region reads (torch/_functorch/partitioners.py, ``cleanup_recompute_tags``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.inductor.derive.operations import DRAWS, RANDOM, Operation

if TYPE_CHECKING:
    from collections.abc import Container

    from nanolint.inductor.derive.operations import Operations

# Tagged ``nondeterministic_seeded``.
SEEDED = frozenset({"flash", "efficient", "cudnn"})


def made_again(graph: Operations) -> set[Operation]:
    """What the partitioner must compute again."""
    marked = {each for each in graph.all if each.region}
    return {
        each
        for each in marked
        if not any(user in marked and user.region > each.region for user in each.users)
    }


def seeded(
    graph: Operations, forward: Container[Operation], backward: Container[Operation], *, all: bool
) -> set[Operation]:
    """Attention that is run with a random state, to draw the same when it is made again
    (partitioners.py, ``functionalize_rng_ops``): what has dropout, or ``all``."""
    return {
        each
        for each in made_again(graph)
        if each.name in SEEDED and each in forward and each in backward
        if all or DRAWS in each.settings
    }


def share_seeds(graph: Operations) -> None:
    """Make the seeds of all random numbers at once, outside of the regions, which may draw some
    again (torch/_inductor/fx_passes/replace_random.py, ``fuse_seed_creation_pass``)."""
    seeds = [each for each in graph.all if each.name == "seed"]
    if not seeds:
        return
    first = seeds[0]
    made = Operation("seeds", RANDOM, (), (len(seeds),), (1,), first.dtype, first.role)
    graph.all.insert(graph.all.index(first), made)
    for place, each in enumerate(seeds):
        each.of, each.settings = (made,), (place,)
    graph.connect()
