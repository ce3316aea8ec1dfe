"""``torch.utils.data``: what loads batches, by the text that is read for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.memory.model.reading.values import Namespace

if TYPE_CHECKING:
    from nanolint.memory.model.reading.values import Value

SAMPLERS = ("RandomSampler", "SequentialSampler", "DistributedSampler", "SubsetRandomSampler")


def table(packages: dict[str, Value]) -> dict[str, Value]:
    """The modules by their names."""
    names = ("DataLoader", "TensorDataset", "Subset", "Sampler", "BatchSampler", "random_split")
    found = {name: packages[name] for name in names}
    found |= dict.fromkeys(SAMPLERS, packages["Sampler"])
    found |= dict.fromkeys(("Dataset", "IterableDataset"), packages["Arguments"])
    modules = ("dataset", "dataloader", "sampler", "distributed")
    of_modules = {each: Namespace(f"torch.utils.data.{each}", dict(found)) for each in modules}
    whole: dict[str, Value] = {**found, **of_modules}
    return {
        "torch.utils.data": Namespace("torch.utils.data", whole),
        **{f"torch.utils.data.{name}": each for name, each in of_modules.items()},
    }
