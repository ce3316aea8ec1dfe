"""What several processes exchange, and until when it is held."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nanolint.recording.recording import allocated_peak
from nanolint.script.processes import handle
from nanolint.script.reducer import bucketed
from nanolint.script.surroundings import Group
from nanolint.tape.tape import Component, Tape
from nanolint.tensors.device import Device
from nanolint.tensors.dtypes import BFLOAT16, FLOAT32
from nanolint.tensors.role import role
from nanolint.tensors.tensor import Tensor, empty
from validation.read_scripts import read_whole
from validation.record_scripts import SCRIPTS

if TYPE_CHECKING:
    from pathlib import Path

KIND = role("sent", Component.ACTIVATIONS)


def made(device: Device, numel: int = 1000) -> Tensor:
    return empty(device, (numel,), FLOAT32, KIND)


def live(tape: Tape) -> int:
    return sum(tape.sizes[each] if each >= 0 else -tape.sizes[~each] for each in tape.events)


def test_a_collective_that_is_waited_for_lets_go_at_once() -> None:
    device = Device(Tape())
    group, tensor = Group(2, (2, 13)), made(device)
    work = group.run([tensor], [tensor])
    work.wait()
    del tensor, work
    assert live(device.tape) == 0


def test_one_whose_future_alone_is_waited_for_holds_until_the_next_step() -> None:
    device = Device(Tape())
    group, tensor = Group(2, (2, 13)), made(device)
    work = handle(group.run([tensor], [tensor]))
    work.names["get_future"].function().names["wait"].function()
    del tensor, work
    group.run_at_once()
    assert live(device.tape) == 4096  # the watchdog has not seen its end
    group.settle()
    assert live(device.tape) == 4096  # nor has another collective begun
    group.run_at_once()
    assert live(device.tape) == 0


def test_before_pytorch_2_8_nothing_is_held() -> None:
    device = Device(Tape())
    group, tensor = Group(2, (2, 7)), made(device)
    group.run([tensor], [tensor])
    del tensor
    assert live(device.tape) == 0


def test_buckets_close_when_they_are_full_and_are_of_one_type() -> None:
    device = Device(Tape())
    floats = [made(device) for _ in range(3)]
    halves = [empty(device, (1000,), BFLOAT16, KIND)]
    tensors = [floats[0], *halves, *floats[1:]]
    assert bucketed(tensors, [4000, 8000]) == [[0], [1], [2, 3]]
    assert bucketed(tensors, [4000, 4000], in_order=True) == [[0], [2], [3], [1]]


@pytest.mark.parametrize(("flag", "more"), [("", True), (" --waits", False)])
def test_what_an_optimizer_does_not_wait_for_lives_through_the_next_step(
    flag: str, more: bool
) -> None:
    line = f"torchrun --nproc_per_node=4 sharded.py{flag}"
    after = allocated_peak(read_whole(SCRIPTS, line, "a100-80gb", (2, 13), eager=True).tape)
    before = allocated_peak(read_whole(SCRIPTS, line, "a100-80gb", (2, 7), eager=True).tape)
    assert (after - before > 1 << 20) is more


def test_options_of_ddp_that_are_not_known_are_doubted(tmp_path: Path) -> None:
    text = (SCRIPTS / "buckets.py").read_text(encoding="utf-8")
    script = text.replace('"bucket_cap_mb": args.cap', '"init_sync": False')
    (tmp_path / "buckets.py").write_text(script, encoding="utf-8")
    line = "torchrun --nproc_per_node=2 buckets.py"
    found = read_whole(tmp_path, line, "a100-80gb", (2, 13), eager=True)
    assert any("init_sync is not known" in each for each in found.doubts)


def test_a_parameter_without_a_gradient_is_a_doubt_where_the_graph_is_said_to_stay(
    tmp_path: Path,
) -> None:
    text = (SCRIPTS / "unused.py").read_text(encoding="utf-8")
    script = text.replace("self.head(x)", "self.head(x.detach())")
    (tmp_path / "unused.py").write_text(script, encoding="utf-8")
    for flag, count in (("--static", 1), ("--views", 0)):
        line = f"torchrun --nproc_per_node=2 unused.py {flag}"
        found = read_whole(tmp_path, line, "a100-80gb", (2, 13), eager=True)
        assert sum("if a parameter has no gradient" in each for each in found.doubts) == count
