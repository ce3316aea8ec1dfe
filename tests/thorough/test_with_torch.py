"""Traces by a real PyTorch with CUDA kernels, on a machine without a card.

They need an interpreter that has one: NANOLINT_CUDA_PYTHON names it, ``.ci/run`` makes it.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

from nanolint.recording.recording import allocated_peak
from nanolint.tape.allocator.play import play
from nanolint.tape.tape import Component, Phase
from nanolint.trace.guarded import CannotTrace
from nanolint.trace.process import PretendedCard, Request, trace
from nanolint.trace.traced import Traced, read
from tests.support.command import nanolint

HOPPER = PretendedCard("NVIDIA H100", 80 << 30, (9, 0), 132)
PYTHON = os.environ.get("NANOLINT_CUDA_PYTHON")
SCRIPT = Path(__file__).with_name("tiny.py")

BY_INDEX = """starts = torch.randint(1, (B,), device="cuda")
    x = torch.stack([torch.tensor([0] * T)[i:] for i in starts])"""
# Of tiny.py with V=50304: embedding and head, qkv's weight and bias, in whole blocks.
PARAMETERS = 4 * (2 * 50304 * 64 + 64 * 192) + 1024

pytestmark = [
    pytest.mark.cuda_torch,
    pytest.mark.skipif(
        PYTHON is None, reason="NANOLINT_CUDA_PYTHON names no interpreter with a CUDA torch"
    ),
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    shutil.copy(SCRIPT, folder / "train.py")
    return folder


def told(project: Path, cache: Path, *arguments: str, **changes: Any) -> dict[str, Any]:
    request = Request(python=PYTHON or "", argv=["train.py", *arguments], folder=project)
    return trace(
        Request(**{**{key: getattr(request, key) for key in request.__slots__}, **changes}), cache
    )


def traced(project: Path, cache: Path, *arguments: str, **changes: Any) -> Traced:
    found = read(told(project, cache, *arguments, **changes))
    assert found.failure is None, found.printed
    return found


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("compiled", [0, 1])
def test_the_tape_played_reserves_what_torch_reserved(
    project: Path, cache: Path, compiled: int
) -> None:
    found = traced(project, cache, f"--compile={compiled}", "--V=50304")
    assert play(found.tape).peak_reserved_bytes == found.reserved_bytes
    assert not found.unpadded  # every side is aligned
    gaps = found.allocated_bytes - allocated_peak(found.tape)  # what was not split off
    assert 0 <= gaps <= found.allocated_bytes // 100
    assert {phase for _, phase in found.tape.phases} >= {
        Phase.SETUP, Phase.EVAL, Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER,
    }  # fmt: skip


def test_products_whose_padding_a_card_would_time_are_named(project: Path, cache: Path) -> None:
    vocabulary = 50257  # odd, so that neither the logits nor their gradients are aligned
    found = traced(project, cache, "--compile=1", f"--V={vocabulary}")
    assert {each for sides in found.unpadded for each in sides} == {8 * 64, 64, vocabulary}
    assert not traced(project, cache, f"--V={vocabulary}").unpadded  # only torch.compile does it


def test_what_the_optimizer_holds_is_known_to_the_byte(project: Path, cache: Path) -> None:
    tape = traced(project, cache, "--V=50304").tape
    parameters = PARAMETERS
    sums = dict.fromkeys(Component, 0)
    for nbytes, component in zip(tape.sizes, tape.components, strict=True):
        sums[component] += nbytes
    assert sums[Component.PARAMETERS] == parameters
    steps = sum(phase is Phase.OPTIMIZER for _, phase in tape.phases)
    assert sums[Component.GRADIENTS] == steps * parameters
    assert 2 * parameters <= sums[Component.OPTIMIZER] <= 2 * parameters + 10_000
    assert sums[Component.WORKSPACE] == 2 * 8_519_680  # PyTorch 2.13 on an A100, two threads


def test_an_allocation_names_its_line_in_the_backward_pass_too(project: Path, cache: Path) -> None:
    tape = traced(project, cache, "--V=50304").tape
    largest = [name for name, size in zip(tape.names, tape.sizes, strict=True)
               if size >= 8 * 64 * 50304 * 2]  # fmt: skip
    assert any("self.head(x)" in name for name in largest)
    assert any("F.cross_entropy" in name for name in largest)


def test_nothing_of_the_users_is_written_and_it_says_what_would_have_been(
    project: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    (project / "log.txt").write_text("of the last real run")
    (project / "ckpt.pt").write_text("weeks of training")
    before, environment = contents(tmp_path), dict(os.environ)
    found = traced(project, cache)
    assert contents(tmp_path) == before
    assert dict(os.environ) == environment
    assert str(project / "log.txt") in found.written
    assert str(home / ".my_cache") in found.written
    assert found.skipped == ("torch.save: ckpt.pt (train.py:61)",)


def test_what_is_computed_is_finite_and_no_left_over_of_what_was_copied(
    project: Path, cache: Path
) -> None:
    script = """
import torch
weight = torch.zeros(64, device='cuda', requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=1.0)
kept = torch.tensor(7, device='cuda')
for _ in range(5):
    x = torch.ones(4096, dtype=torch.int64).cuda()  # where a result comes to lie when it goes
    del x
    loss = weight.sum()
    assert not torch.isnan(loss) and loss.isfinite() and loss.item() == 0.0
    assert kept.item() == 7
    loss.backward()
    if torch.isfinite(torch.nn.utils.clip_grad_norm_([weight], 1.0)):
        optimizer.step()
"""
    (project / "train.py").write_text(script)
    traced(project, cache)


def test_a_file_that_is_saved_can_be_renamed(project: Path, cache: Path) -> None:
    text = SCRIPT.read_text().replace('"ckpt.pt"', '"new.pt"')
    (project / "train.py").write_text(text + '    os.replace("new.pt", "ckpt.pt")\n')
    assert traced(project, cache).steps == 2  # and nothing ended it before
    assert not (project / "ckpt.pt").exists()


def test_a_number_on_the_card_that_is_an_index_is_told(project: Path, cache: Path) -> None:
    text = SCRIPT.read_text().replace("x = torch.randint(V, (B, T))", BY_INDEX)
    (project / "train.py").write_text(text)
    (place,) = traced(project, cache).indices
    assert place.startswith("train.py:")


def test_there_is_no_network(project: Path, cache: Path) -> None:
    script = "import urllib.request\nurllib.request.urlopen('http://10.0.0.1/', timeout=5)\n"
    (project / "train.py").write_text(script)
    found = read(told(project, cache))
    assert found.failure is not None
    assert "Network is unreachable" in found.failure.message


def test_the_card_is_the_one_that_was_asked_for(project: Path, cache: Path) -> None:
    (project / "train.py").write_text(
        "import torch\np = torch.cuda.get_device_properties(0)\n"
        "print(p.name, p.major, p.minor, p.multi_processor_count, p.total_memory,"
        " torch.cuda.mem_get_info()[1])\n"
    )
    card = PretendedCard("NVIDIA GeForce RTX 4070", 12 << 30, (8, 9), 46)
    printed = read(told(project, cache, card=card)).printed
    assert printed == f"NVIDIA GeForce RTX 4070 8 9 46 {12 << 30} {12 << 30}"


def test_hopper_has_its_own_workspace(project: Path, cache: Path) -> None:
    tape = traced(project, cache, card=HOPPER).tape
    assert [size for size, component in zip(tape.sizes, tape.components, strict=True)
            if component is Component.WORKSPACE] == [32 << 20, 32 << 20]  # fmt: skip


def test_hopper_attends_by_cudnn(project: Path, cache: Path) -> None:
    (project / "train.py").write_text(
        "import torch\n"
        "q = torch.zeros(2, 4, 64, 32, device='cuda', dtype=torch.bfloat16, requires_grad=True)\n"
        "torch.nn.functional.scaled_dot_product_attention(q, q, q).sum().backward()\n"
    )
    sizes = read(told(project, cache, card=HOPPER)).tape.sizes
    assert sizes.count(4 * 2 * 4 * 64 * 32 + 4 * 2 * 4 * 64 + 512) == 1  # of cuDNN's backward pass


def test_a_card_older_than_the_kernels_is_refused(project: Path, cache: Path) -> None:
    with pytest.raises(CannotTrace, match=r"no kernels for compute capability 3\.5"):
        told(project, cache, card=PretendedCard(compute_capability=(3, 5)))


def test_one_rank_of_several_has_ddps_buckets(project: Path, cache: Path) -> None:
    alone = allocated_peak(traced(project, cache, "--V=50304").tape)
    ranked = traced(project, cache, "--V=50304", world_size=4)
    assert allocated_peak(ranked.tape) >= alone + PARAMETERS // 2


def test_a_single_process_of_torchrun_is_told_its_rank(project: Path, cache: Path) -> None:
    alone = allocated_peak(traced(project, cache, "--V=50304").tape)
    ranked = traced(project, cache, "--V=50304", ranked=True)
    assert allocated_peak(ranked.tape) >= alone + PARAMETERS // 2


def test_a_slow_trace_is_not_taken_for_processes_that_hang(project: Path, cache: Path) -> None:
    """NCCL ends the process where a collective takes longer than its group allows: ten minutes, or
    as here one second, which compiling may take, and nothing is over before a backward pass."""
    script = (project / "train.py").read_text()
    setting_up = 'torch.distributed.init_process_group("nccl")\n'
    slow = (
        "    import datetime, time\n"
        "    group = torch.distributed.new_group(timeout=datetime.timedelta(seconds=1))\n"
        '    torch.distributed.all_reduce(torch.zeros(1, device="cuda"), group=group)\n'
        "    time.sleep(3)\n"
    )
    assert setting_up in script
    (project / "train.py").write_text(script.replace(setting_up, setting_up + slow))
    assert "timeout" not in traced(project, cache, ranked=True).printed


def test_a_module_is_run_as_one(project: Path, cache: Path) -> None:
    (project / "pack").mkdir()
    (project / "pack" / "__init__.py").touch()
    (project / "pack" / "tool.py").write_text("V = 500\n")
    script = (project / "train.py").read_text()
    (project / "pack" / "train.py").write_text(f"from pack.tool import V\n{script}")
    found = traced(project, cache, argv=["pack.train", "--B=4"], module=True)
    assert str(project / "pack" / "tool.py") in found.modules


def test_spread_tensors_graphs_and_distributions_are_traced(project: Path, cache: Path) -> None:
    (project / "train.py").write_text("""
import torch
from torch.distributed.fsdp import fully_shard
torch.distributed.init_process_group("nccl")
model = fully_shard(torch.nn.Linear(64, 64).cuda())
optimizer = torch.optim.AdamW(model.parameters())
x = torch.zeros(4, 64, device="cuda")
with torch.cuda.graph(torch.cuda.CUDAGraph()):
    y = x * 2
while True:
    chosen = torch.distributions.Categorical(torch.softmax(model(x), -1))
    chosen.log_prob(chosen.sample()).mean().backward()
    optimizer.step()
""")
    found = traced(project, cache, world_size=2)
    own = zip(found.tape.sizes, found.tape.components, strict=True)
    assert (4 * 32 * 64, Component.OPTIMIZER) in own  # Adam's, for half of the weight
    assert "CUDA graphs" in found.doubts[0]
    assert "torch.distributions" in found.invented[0]


def test_before_stands_in_for_what_is_missing(project: Path, cache: Path, tmp_path: Path) -> None:
    script = (project / "train.py").read_text()
    (project / "train.py").write_text(f"import downloads\ndownloads.get()\n{script}")
    assert read(told(project, cache)).failure is not None
    before = tmp_path / "before.py"
    stub = "types.SimpleNamespace(get=lambda: None)"
    before.write_text(f"import sys, types\nsys.modules['downloads'] = {stub}\n")
    assert traced(project, cache, before=before).complete


def test_a_file_of_tokens_that_is_missing_is_stood_in_for(project: Path, cache: Path) -> None:
    script = (project / "train.py").read_text()
    reading = "import numpy\nprint(len(numpy.memmap('data/train.bin', numpy.uint16, mode='r')))\n"
    (project / "train.py").write_text(reading + script)
    found = traced(project, cache)
    assert found.invented == ("data/train.bin: 16,777,216 zeros as uint16",)


def test_a_script_that_takes_too_long_is_stopped(project: Path, cache: Path) -> None:
    (project / "train.py").write_text("while True: pass\n")
    with pytest.raises(CannotTrace, match="--timeout"):
        told(project, cache, seconds=1)


def test_a_script_that_takes_too_much_memory_is_stopped(project: Path, cache: Path) -> None:
    (project / "train.py").write_text("kept = []\nwhile True: kept.append(bytearray(1 << 20))\n")
    with pytest.raises(CannotTrace, match="--host-memory"):
        told(project, cache, host_bytes=1 << 30)


def test_the_command_from_end_to_end(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.chdir(project)
    snapshot = tmp_path / "memory.pickle"
    outcome = nanolint(
        "trace", "--yes", "--gpu=rtx-4070", f"--python={PYTHON}", "--format=json",
        f"--snapshot={snapshot}", "--", "python", "train.py", "--V=50304",
    )  # fmt: skip
    assert outcome.status == 0, outcome.err
    found = json.loads(outcome.out)
    assert found["trust"] == "traced" and found["fits"] and found["doubts"] == []
    assert found["gpu"]["name"] == "RTX 4070"
    assert found["peak"]["reserved_bytes"] == found["max_memory_reserved"]
    assert "train.py:" in found["peak"]["at"]
    assert pickle.loads(snapshot.read_bytes())["device_traces"]


CONSTANTS = """\
import torch, torch.nn as nn, torch.nn.functional as F
from torch.nn.functional import cross_entropy

B = 4
T = 64
TOTAL = 512
steps = TOTAL // (B * T)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(500, 64)
        self.head = nn.Linear(64, 500)

    def forward(self, x, y):
        logits = self.head(self.wte(x))
        return cross_entropy(logits.view(-1, 500), y.view(-1))

model = Net()
model.to("cuda")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(10):
    for micro_step in range(steps):
        x = torch.randint(500, (B, T)).to("cuda")
        loss = model(x, x)
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
"""


def test_a_profile_of_constants_is_made_without_touching_them_and_judges_the_script(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    script = project / "train.py"
    script.write_text(CONSTANTS)
    (project / ".git").mkdir()
    line = ("--yes", f"--python={PYTHON}", "--gpu=rtx-4090", "--", "python", "train.py")
    outcome = nanolint("trace", "--profile", "--most-traces=16", *line)
    assert outcome.status == 0, outcome.err
    assert "held out, each exact to the byte" in outcome.out
    assert script.read_text() == CONSTANTS
    for batch in (4, 2):  # as it was traced, and with a constant that the profile leaves free
        script.write_text(CONSTANTS.replace("B = 4", f"B = {batch}"))
        told = nanolint("explain", "--gpu=rtx-4090", "--format=json", "train.py")
        found = json.loads(told.out)
        assert found["trust"] == "traced", (told.err, found["doubts"])
        assert found["components"]["logits_and_loss"] >= 4 * batch * 64 * 500
