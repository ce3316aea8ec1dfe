"""``torch.utils.data``: what loads batches, by the text that is read for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.values import Function, Generated, Instance, Namespace, Native, Numbered
from nanolint.script import arrays, training
from nanolint.script.chances import DATA
from nanolint.tensors.tensor import Tensor, empty

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

NAMES = (
    *("DataLoader", "TensorDataset", "Subset", "Sampler", "BatchSampler", "DistributedSampler"),
    "random_split",
)
SAMPLERS = ("RandomSampler", "SequentialSampler", "SubsetRandomSampler")


NAME, MODULES = "torch.utils.data", ("dataset", "dataloader", "sampler", "distributed")


def table(machine: Script, packages: dict[str, Value]) -> dict[str, Value]:
    """The modules by their names."""
    names = (NAME, *(f"{NAME}.{each}" for each in MODULES))
    return training.later(names, lambda: _made(machine, packages))


def _made(machine: Script, packages: dict[str, Value]) -> dict[str, Namespace]:
    given = {
        "batches": Native(
            "batches", lambda *a: Generated(arrays.batches(machine, *a)), plain=False
        ),
        "sampled": Native("sampled", machine.teller.samples, plain=False),
        "world_size": Native("world_size", lambda: machine.group.size, plain=False),
    }
    made = training.read_text(machine, "data.py", NAME, given).names
    found = {name: made[name] for name in NAMES}
    found |= dict.fromkeys(SAMPLERS, made["Sampler"])
    found |= dict.fromkeys(("Dataset", "IterableDataset"), packages["Arguments"])
    of_modules = {each: Namespace(f"{NAME}.{each}", dict(found)) for each in MODULES}
    whole: dict[str, Value] = {**found, **of_modules}
    return {
        NAME: Namespace(NAME, whole),
        **{f"{NAME}.{name}": each for name, each in of_modules.items()},
    }


def turns_over(machine: Script, values: Value) -> int | None:
    """Returns the number of turns of a loop over ``values``; None if it is not known."""
    if isinstance(values, Numbered):
        return turns_over(machine, values.of)
    if isinstance(values, (list, tuple, range)) and not isinstance(values, Generated):
        return len(values)
    if not isinstance(values, Instance):
        return None
    methods = [values.cls.find(name) for name in ("__len__", "__iter__")]
    if any(not isinstance(each, Function) or each.module.path for each in methods):
        return None  # the project's own may say anything
    return arrays.count_of(machine, values)


def padding(machine: Script) -> Namespace:
    """``torch.nn.utils.rnn``."""

    def pad_sequence(sequences: Value, batch_first: Value = False, *_: Value, **__: Value) -> Value:
        listed = [each for each in machine.iterate(sequences) if isinstance(each, Tensor)]
        if not listed or len(listed) < len(list(machine.iterate(sequences))):
            raise machine.unread("how long a sequence is")
        first, longest = listed[0], max(each.shape[0] for each in listed)
        both = (len(listed), longest) if batch_first is True else (longest, len(listed))
        return empty(first.device, (*both, *first.shape[1:]), first.dtype, DATA)

    name = "torch.nn.utils.rnn"
    return Namespace(name, {"pad_sequence": Native(f"{name}.pad_sequence", pad_sequence)})
