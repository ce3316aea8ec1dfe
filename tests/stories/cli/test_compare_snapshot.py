"""``explain --compare``: a real memory snapshot beside the prediction."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import nanolint
from tests.support.sizes import MODEL

CONFIG = "batch_size = 4\ngradient_accumulation_steps = 32\nblock_size = 1024\n" + MODEL
MIB = 1 << 20


@pytest.fixture(autouse=True)
def config() -> None:
    Path("config.py").write_text(CONFIG, encoding="utf-8")


def compared(snapshot: object, *options: str) -> str:
    Path("real.pickle").write_bytes(pickle.dumps(snapshot))
    outcome = nanolint("explain", "config.py", "--gpu=a100-40gb", "--compare=real.pickle", *options)
    assert outcome.status == 0, outcome.err
    return outcome.out


def entry(action: str, address: int, size: int, *frames: tuple[str, int, str]) -> dict[str, Any]:
    stack = [{"filename": file, "line": line, "name": name} for file, line, name in frames]
    return {"action": action, "addr": address, "size": size, "frames": stack}


def of_trace(*trace: dict[str, Any], blocks: tuple[tuple[int, int], ...] = ()) -> dict[str, Any]:
    segment = {
        "device": 0,
        "total_size": 4096 * MIB,
        "blocks": [
            {"address": address, "size": size, "state": "active_allocated", "frames": []}
            for address, size in blocks
        ],
    }
    return {"segments": [segment], "device_traces": [list(trace)]}


def test_a_tensor_that_nobody_predicted_is_told_with_its_line() -> None:
    told = compared(
        of_trace(
            entry(
                "alloc", 0, 700 * MIB,
                ("/env/site-packages/torch/nn/functional.py", 9, "softmax"),
                ("/home/me/model.py", 71, "forward"),
            )
        )
    )  # fmt: skip
    assert "Only in the real run: 700.00 MiB" in told
    assert "1 x 700.00 MiB  model.py:71 forward" in told
    assert "Only predicted" in told


def test_what_was_there_before_the_history_counts() -> None:
    told = compared(
        of_trace(
            entry("alloc", MIB * 512, 100 * MIB),
            entry("free_requested", 0, 300 * MIB),
            entry("free_completed", 0, 300 * MIB),
            blocks=((MIB * 512, 100 * MIB), (MIB * 1024, 50 * MIB)),
        )
    )
    assert "0.44 GiB" in told  # 300 released later, 50 never, 100 on top of both


class Dangerous:
    def __reduce__(self) -> tuple[Any, tuple[str, ...]]:
        return (Path.touch, (Path("executed"),))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not a pickle, or a damaged one"),
        (b"not a pickle", "not a pickle, or a damaged one"),
        (pickle.dumps([1, 2]), "not what torch.cuda.memory._dump_snapshot writes"),
        (pickle.dumps({"segments": [], "device_traces": []}), "not what torch"),
        (pickle.dumps({"segments": [], "device_traces": [[]]}), "it has no history"),
        (pickle.dumps(Dangerous()), "a snapshot is plain data"),
        (b"\x80\x04cos\nsystem\n(S'touch executed'\ntR.", "it names os.system"),
        (b"\x80\x04]r\xff\xff\xff\x7f.", "a damaged one"),
        (b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f", "a damaged one"),
    ],
)
def test_other_files_are_refused_in_a_line_and_nothing_of_them_runs(
    content: bytes, why: str
) -> None:
    Path("real.pickle").write_bytes(content)
    outcome = nanolint("explain", "config.py", "--gpu=a100-40gb", "--compare=real.pickle")
    assert outcome.status == 2
    assert why in outcome.err
    assert len(outcome.err.splitlines()) == 1
    assert not Path("executed").exists()


def test_a_missing_file_is_one_line() -> None:
    outcome = nanolint("explain", "config.py", "--gpu=a100-40gb", "--compare=none.pickle")
    assert (outcome.status, len(outcome.err.splitlines())) == (2, 1)
