"""A child's message as a tape, and the account of it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest

from nanolint.gpus.lookup import find
from nanolint.report import traced as report
from nanolint.report.printer import Printer
from nanolint.tape.tape import Component, Phase
from nanolint.trace.failures import explained
from nanolint.trace.traced import NotATrace, Traced, read
from nanolint.trace.verdict import TracedVerdict
from nanolint.verdict.verdict import Outcome
from tests.unit.trace.messages import MIB, message

if TYPE_CHECKING:
    from nanolint.gpus.gpu import Machine

LINE = "python train.py config/x.py"


def machine(size: str) -> Machine:
    return find(size)


def text(traced: Traced, *verdicts: TracedVerdict) -> str:
    out = io.StringIO()
    report.render(LINE, traced, verdicts, 1, Printer(out))
    return out.getvalue()


class TestTheTape:
    def test_it_has_the_events_with_their_places_and_phases(self) -> None:
        tape = read(message()).tape
        assert tape.sizes[:2] == [10 * MIB, 512]
        assert tape.names[3] == "model.py:30 loss = F.cross_entropy(logits, targets)"
        assert tape.names[5] == "no line of Python is known"
        assert tape.phases == [
            (0, Phase.SETUP), (1, Phase.FORWARD), (5, Phase.BACKWARD), (8, Phase.OPTIMIZER),
        ]  # fmt: skip

    def test_each_allocation_has_what_it_is_for(self) -> None:
        assert read(message()).tape.components == [
            Component.PARAMETERS, Component.INPUTS, Component.ACTIVATIONS,
            Component.LOGITS_AND_LOSS, Component.WORKSPACE, Component.GRADIENTS,
            Component.OPTIMIZER,
        ]  # fmt: skip

    @pytest.mark.parametrize(
        "changes",
        [
            {"events": [0, 2]},  # out of order
            {"events": [0, ~0, ~0]},  # released twice
            {"events": [0, ~1]},  # released before it is there
            {"nbytes": []},
            {"phases": [[0, "lunch"]]},
            {"capability": [8]},
            {"places": "train.py"},
        ],
    )
    def test_what_is_no_trace_is_refused(self, changes: dict[str, Any]) -> None:
        with pytest.raises(NotATrace):
            read(message(**changes))

    def test_a_message_without_its_parts_is_refused(self) -> None:
        told = message()
        del told["torch"]
        with pytest.raises(NotATrace, match="torch"):
            read(told)


class TestTheVerdict:
    @pytest.mark.parametrize(
        ("size", "outcome"), [("24GiB", Outcome.COMFORTABLE), ("0.2GiB", Outcome.OUT_OF_MEMORY)]
    )
    def test_it_follows_from_the_tape_and_the_card(self, size: str, outcome: Outcome) -> None:
        verdict = TracedVerdict(read(message()), machine(size))
        assert verdict.outcome is outcome
        assert verdict.fits is (verdict.oom is None)

    def test_what_spares_the_largest_context_is_comfortable_and_a_little_less_is_thin(self) -> None:
        traced = read(message())
        outcomes = [
            TracedVerdict(traced, machine(f"{0.3 + step / 200:.3f}GiB")).outcome
            for step in range(60)
        ]
        order = [Outcome.OUT_OF_MEMORY, Outcome.FRAGMENTED, Outcome.THIN, Outcome.COMFORTABLE]
        assert outcomes == sorted(outcomes, key=order.index)
        assert {Outcome.THIN, Outcome.COMFORTABLE} <= set(outcomes)


class TestTheReport:
    def test_it_tells_of_the_trace_the_peak_and_the_card(self) -> None:
        traced = read(message())
        told = text(traced, TracedVerdict(traced, machine("24GiB")))
        assert "Traced with torch 2.13.0+cu130" in told
        assert "at: train.py" not in told and "At the peak, in the backward pass" in told
        assert "not written: torch.save: out/ckpt.pt (train.py:40)" in told
        assert "thrown away: /p/log.txt" in told
        assert f"{machine('24GiB').label}: fits" in told

    def test_one_step_is_a_doubt_since_the_state_comes_with_it(self) -> None:
        assert "not certain: no second optimizer step" in text(read(message()))

    def test_a_product_that_a_card_would_time_is_a_doubt_with_its_bytes(self) -> None:
        told = text(read(message(unpadded=[[512, 64, 50257], [64, 512, 50257]])))
        assert "the product [512, 64] x [64, 50,257] and 1 more" in told
        assert "up to 336.00 MiB more" in told  # 2 x (30 + 10) + 256

    def test_a_number_on_the_card_that_is_an_index_is_a_doubt_with_its_line(self) -> None:
        told = text(read(message(indices=["data.py:58"])))
        assert "not certain: an index depends on a value" in told
        assert "(data.py:58)" in told

    def test_without_a_target_it_asks_for_one(self) -> None:
        assert "No target GPU" in text(read(message()))

    def test_other_values_are_told_with_their_verdicts(self) -> None:
        traced, out = read(message()), io.StringIO()
        rows = [
            ("--B=8", traced, TracedVerdict(traced, machine("0.2GiB"))),
            ("--B=4", traced, TracedVerdict(traced, machine("24GiB"))),
        ]
        report.tried(rows, Printer(out))
        first, second = out.getvalue().splitlines()[-2:]
        assert first.endswith("out of memory") and second.endswith("fits")

    def test_json_sums_to_the_peak(self) -> None:
        traced = read(message())
        found = report.as_json(LINE, traced, TracedVerdict(traced, machine("24GiB")))
        assert sum(found["components"].values()) == found["peak"]["allocated_bytes"]
        assert found["trust"] == "traced" and found["fits"] is True and found["oom"] is None


class TestWhatStopsIt:
    @pytest.mark.parametrize(
        ("error", "told"),
        [
            (("ModuleNotFoundError", "No module named 'tiktoken'"), "install it there"),
            (("FileNotFoundError", "no such file: 'data/train.bin'"), "prepare it"),
            (("gaierror", "[Errno -3]"), "needs the network"),
            (("OSError", "offline mode is enabled"), "needs the network"),
            (("OSError", "[Errno 75] Value too large: 'out/log'"), "another owner or group"),
            (("SystemExit", "0"), "is it the one that trains?"),
            (("SystemExit", "2"), "exited with status 2"),
            (("ValueError", "B is wrong\nsecond line"), "train.py:5: ValueError: B is wrong"),
        ],
    )
    def test_it_is_told_in_a_line(self, error: tuple[str, str], told: str) -> None:
        place = None if error[0] == "SystemExit" else ["train.py", 5]
        failure = {"type": error[0], "message": error[1], "place": place}
        traced = read(message(error=failure, phases=[[0, "setup"]]))
        assert not traced.complete
        first, last = explained(traced, "python3").splitlines()
        assert told in first
        assert last.strip() == "step 0"  # the end of what the script printed

    def test_an_allocator_that_gave_nothing_is_no_optimizer_that_does_not_step(self) -> None:
        nothing: dict[str, Any] = {"events": [], "nbytes": [], "place_of": []}
        nothing["components"] = {key: [] for key in message()["components"]}
        traced = read(message(**nothing, phases=[[0, "setup"]], allocated=0, reserved=0))
        assert "PYTORCH_NO_CUDA_MEMORY_CACHING" in explained(traced, "python3")
        seen = read(message(phases=[[0, "setup"]]))
        assert "did not step" in explained(seen, "python3")
