"""Collectives: ``torch.distributed`` over NCCL, as one of several processes has it.

As torch/distributed/distributed_c10d.py and torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp, since
PyTorch 2.15 nccl2/ProcessGroupNCCL.cpp: which tensors a collective makes, and which it holds until
when. The other processes do the same.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from nanolint.interpreter.certain import refusal
from nanolint.interpreter.values import Function, Method, Namespace, Native, Unknown, silent
from nanolint.script.reaching import starts_training
from nanolint.tape.tape import Component
from nanolint.tape.torch import BARRIER_LETS_GO_SINCE
from nanolint.tensors.device import LeftAsItIs, NotTraced
from nanolint.tensors.dtypes import FLOAT32
from nanolint.tensors.role import role
from nanolint.tensors.tensor import Tensor, empty
from nanolint.tensors.unknown import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script
    from nanolint.script.surroundings import Group, Work

# What goes in, what comes out, and what else is held: all by the tensors that lie on the card.
Exchange: TypeAlias = "tuple[list[Tensor], list[Tensor], list[Tensor]]"

OF_ALL = "input tensor must be the same size as output size times world size"
EXCHANGED = Component.ACTIVATIONS
OPERATORS = ("AVG", "SUM", "MAX", "MIN", "PRODUCT")
# Nothing of them lies on the card, or stays there.
QUIET = ("destroy_process_group", "monitored_barrier", "set_debug_level")
NCCL = (None, "nccl", "cpu:gloo,cuda:nccl")  # the backends that are modelled


def count_of(machine: Script) -> int:
    """``device_count``: one for each process, if nobody says it."""
    machine.presumes |= machine.around.cards is None
    return machine.around.cards or machine.around.world_size


def install(machine: Script) -> None:
    """Puts it in the modules that programs import."""
    machine.library("torch.distributed").names.update(table(machine, machine.group))
    machine.library("torch").names["futures"] = futures()


def multiprocessing(machine: Script, process: Value) -> dict[str, Value]:
    """The modules that start processes: that of rank 0 is read, as a call of its function.
    ``process`` is the class of the others."""
    quiet = ("set_start_method", "set_sharing_strategy", "freeze_support")

    def spawn(fn: Value, args: Value = (), nprocs: Value = 1, **_: Value) -> None:
        if nprocs != machine.group.size:
            several = nprocs if type(nprocs) is int else "several"
            machine.assume(
                f"it starts {several} processes; nanolint models one, without DDP's buckets"
            )
        machine.call(fn, [0, *machine.iterate(args)])

    known: dict[str, Value] = {each: silent(each) for each in quiet}
    known |= {"spawn": Native("spawn", spawn, plain=False), "Process": process}
    modules = ("multiprocessing", "torch.multiprocessing")
    return {each: Namespace(each, {**known}) for each in modules}


def is_read(started: list[Value], target: Value) -> bool:
    """Whether a process is read as a call: of several that train with a function the first is."""
    function = target.function if isinstance(target, Method) else target
    if not isinstance(function, Function) or function in started:
        return False
    started.append(function)
    return starts_training(function)


def table(machine: Script, group: Group) -> dict[str, Value]:
    """The names of ``torch.distributed``."""
    collectives: dict[str, Callable[..., Exchange]] = {
        **dict.fromkeys(("all_reduce", "broadcast", "reduce"), _in_place),
        **dict.fromkeys(("all_gather_into_tensor", "_all_gather_base"), _gather_into),
        **dict.fromkeys(("reduce_scatter_tensor", "_reduce_scatter_base"), _scatter_into),
        "all_gather": _all_gather,
        "reduce_scatter": _reduce_scatter,
    }

    def call(name: str, *given: Value, **named: Value) -> Value:
        beside = named.pop("async_op", False)
        group_given = named.pop("group", None)
        for each in (beside, group_given):
            if isinstance(each, Unknown):
                raise each.unread()
        if group_given is not None:
            raise machine.unread("nanolint does not model a group of some of the processes")
        if not group.formed:
            return None
        if beside and machine.card.tracer is not None:
            # torch/_dynamo/variables/functions.py, CollectiveFunctionRewriteVariable, ends a graph
            # here; symbolic_convert.py, "graph break in a for/while loop", gives up the frame.
            why = f"a collective with async_op ({machine.place})"
            raise LeftAsItIs(why) if machine.is_in_own_loop else NotTraced(why)
        inputs, outputs, held = collectives[name](machine, *given, **named)
        if beside:
            return handle(group.run(inputs, outputs, held))
        group.run_at_once()
        return None

    def size() -> int:
        machine.presumes |= group.size == 1  # a launcher may start more
        return group.size

    names: dict[str, Value] = {
        name: Native(f"dist.{name}", partial(call, name), plain=False) for name in collectives
    }
    for name in QUIET:
        names[name] = silent(f"dist.{name}")
    names["init_process_group"] = Native(
        "init_process_group", partial(_form, machine, group), plain=False
    )
    names["barrier"] = Native(
        "dist.barrier", lambda *_, **__: _barrier(machine, group), plain=False
    )
    return names | {
        "is_initialized": Native("is_initialized", lambda: size() > 0 and group.formed),
        "is_available": Native("is_available", lambda: True),
        "is_nccl_available": Native("is_nccl_available", lambda: True),
        "is_torchelastic_launched": Native("is_torchelastic_launched", lambda: size() > 1),
        "get_rank": Native("get_rank", lambda *_, **__: _rank(group), plain=False),
        "get_world_size": Native("get_world_size", lambda *_, **__: size(), plain=False),
        "get_backend": Native("get_backend", lambda *_, **__: "nccl", plain=False),
        "ReduceOp": Namespace("ReduceOp", {each: f"ReduceOp.{each}" for each in OPERATORS}),
    }


def _rank(group: Group) -> int:
    group.is_told_rank = True
    return 0


def _form(
    machine: Script,
    group: Group,
    backend: Value = None,
    init_method: Value = None,
    timeout: Value = None,
    world_size: Value = -1,
    rank: Value = -1,
    store: Value = None,
    group_name: Value = "",
    pg_options: Value = None,
    device_id: Value = None,
    **others: Value,
) -> None:
    """``init_process_group``: from here on there is a group, even of one process."""
    del init_method, timeout, rank, store, group_name, device_id  # none of them lies on the card
    if isinstance(backend, str):
        backend = backend.lower()
    if isinstance(world_size, int) and world_size not in (-1, group.size):
        machine.assume(f"nanolint reads world_size = {world_size} as {group.size}")
    for name, value in {"pg_options": pg_options, **others}.items():
        if value is not None:
            machine.assume(f"nanolint does not model {name}= of init_process_group")
    if backend not in NCCL:
        machine.assume(f"the memory of the backend {backend!r} is not known")
    group.formed = group.is_told_rank = True


def _of_card(machine: Script, value: Value) -> Tensor:
    if isinstance(value, Unknown):
        raise value.unread()
    if not isinstance(value, Tensor) or value.device is not machine.card:
        raise machine.unread("the exchanged tensor is not on the card")
    return value


def _listed(machine: Script, values: Value) -> list[Tensor]:
    return [_of_card(machine, each) for each in machine.iterate(values)]


def _in_place(machine: Script, tensor: Value, *_: Value, **__: Value) -> Exchange:
    one = [_of_card(machine, tensor)]
    return one, one, []


def _gather_into(machine: Script, output_tensor: Value, input_tensor: Value) -> Exchange:
    return [_of_card(machine, input_tensor)], [_of_card(machine, output_tensor)], []


def _scatter_into(machine: Script, output: Value, input: Value, *_: Value, **__: Value) -> Exchange:
    whole, part = _of_card(machine, input), _of_card(machine, output)
    if whole.numel != part.numel * machine.group.size:
        raise refusal(Refused(OF_ALL, ValueError))
    return [whole], [part], []


def _all_gather(machine: Script, tensor_list: Value, tensor: Value) -> Exchange:
    """Into one tensor for all processes, which is copied to those of the list; nccl2 has none."""
    listed = _listed(machine, tensor_list)
    if machine.group.nccl2:
        return [_of_card(machine, tensor)], listed, []
    return [_of_card(machine, tensor)], [_flat(listed)], listed


def _reduce_scatter(
    machine: Script, output: Value, input_list: Value, *_: Value, **__: Value
) -> Exchange:
    """From one tensor for all processes, that those of the list are copied to; nccl2 has none."""
    listed = _listed(machine, input_list)
    if machine.group.nccl2:
        return listed, [_of_card(machine, output)], []
    return [_flat(listed)], [_of_card(machine, output)], listed


def _flat(tensors: Sequence[Tensor]) -> Tensor:
    """``newLikeFlat``: one tensor for all of a list."""
    first = tensors[0]
    kind = role("flat copy for a collective", EXCHANGED)
    return empty(first.device, (len(tensors), *first.shape), first.dtype, kind)


def _barrier(machine: Script, group: Group) -> None:
    """An all_reduce of a number, waited for by the host; one more was seen to be made."""
    if not group.formed:
        return
    kind = role("barrier", EXCHANGED)
    count = 1 if group.nccl2 and group.keeps else 2
    numbers = [empty(machine.card, (1,), FLOAT32, kind) for _ in range(count)]
    if group.nccl2 or machine.card.release < BARRIER_LETS_GO_SINCE:
        group.keeps = group.keeps or numbers.pop(0)
    group.run(numbers, numbers).wait()


def handle(work: Work) -> Namespace:
    """``Work``, by the names that scripts use."""
    names: dict[str, Value] = {
        "wait": Native("Work.wait", lambda *_, **__: work.wait(), plain=False),
        "synchronize": Native("Work.synchronize", lambda: work.wait(), plain=False),
        "is_completed": Native("Work.is_completed", lambda: True),
        "get_future": Native("Work.get_future", lambda: _future(work.future()), plain=False),
    }
    return Namespace("Work", names)


def _future(work: Work) -> Namespace:
    """``Work.get_future()``: to wait for it lets nothing more go."""
    outputs = work.outputs
    names: dict[str, Value] = {
        "wait": Native("Future.wait", lambda: list(outputs), plain=False),
        "value": Native("Future.value", lambda: list(outputs), plain=False),
        "done": Native("Future.done", lambda: True),
    }
    return Namespace("Future", names)


def futures() -> Namespace:
    """``torch.futures``: what waits for several does what each of them would."""

    def all_of(given: Value) -> Namespace:
        listed = list(given)
        wait = Native("Future.wait", lambda: listed, plain=False)
        return Namespace("Future", {"wait": wait, "value": wait})

    names: dict[str, Value] = {
        "collect_all": Native("collect_all", all_of, plain=False),
        "wait_all": Native("wait_all", lambda given: list(given), plain=False),
    }
    return Namespace("torch.futures", names)
