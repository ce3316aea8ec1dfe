"""What differs between releases of PyTorch, in the tapes of runs that are the same otherwise."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nanolint.gpus.abilities import has_small_shared_memory
from nanolint.inductor.derive.summing import inner_splits
from nanolint.inductor.graph import FLOAT, Buffer, Graph, column_sum_splits
from nanolint.inductor.inductor import Inductor
from nanolint.inductor.planner import Planner
from nanolint.recording.recording import allocated_peak, record
from nanolint.run.coverage import SPLIT_GRAPH, not_covered
from nanolint.run.run import Attention, Run
from nanolint.settings.torch_version import NEWEST
from nanolint.tape.tape import Component, Phase, Tape
from nanolint.tape.torch import WORKSPACE_BYTES, workspace_bytes
from nanolint.tensors.device import Card, Device
from nanolint.tensors.dtypes import FLOAT32
from nanolint.tensors.ops.attention_kernels import efficient_workspace_bytes
from nanolint.tensors.ops.linear import bmm
from nanolint.tensors.role import role
from nanolint.tensors.tensor import empty
from nanolint.units import MIB
from tests.support.runs import GPT2, card

WIDE = GPT2.having(batch_size=8, n_layer=2, gradient_accumulation_steps=2)
LOGITS = 2 * 8 * 1024 * 50304  # bytes in half precision


def live(run: Run, name: str) -> list[tuple[int, int]]:
    """From which event to which each allocation of that name lives."""
    tape = record(run)
    spans = []
    for handle, each in enumerate(tape.names):
        if each.startswith(name):
            end = tape.events.index(~handle) if ~handle in tape.events else len(tape.events)
            spans.append((tape.events.index(handle), end))
    return spans


def test_up_to_2_12_the_zeros_of_the_logits_live_through_the_compiled_backward_pass() -> None:
    old, new = (
        live(replace(WIDE, torch=torch), "zeros for gradient of the logits") for torch in OLD_NEW
    )
    assert len(old) == len(new) > 0
    for (start, end), (other_start, other_end) in zip(old, new, strict=True):
        assert end - start > other_end - other_start + 10
    peaks = [allocated_peak(record(replace(WIDE, torch=torch))) for torch in OLD_NEW]
    assert peaks[0] > peaks[1]


OLD_NEW = ((2, 12), (2, 13))


def test_up_to_2_4_the_compiled_loss_scatters_into_a_buffer_of_its_own() -> None:
    scattered = [
        allocated_peak(record(replace(WIDE, torch=torch))) for torch in ((2, 4), (2, 5), (2, 13))
    ]
    assert scattered[0] - scattered[2] == pytest.approx(2 * LOGITS, rel=0.01)
    assert scattered[1] < scattered[0]


def test_up_to_2_3_the_compiled_loss_saves_its_log_softmax() -> None:
    """At least half of the logits' bytes more than since; how much is doubted."""
    name = "log-probabilities (B*T, V)"
    assert live(replace(WIDE, torch=(2, 4)), name) == []
    assert live(replace(WIDE, torch=(2, 3)), name) != []
    saved, recomputed = (
        allocated_peak(record(replace(WIDE, torch=torch))) for torch in ((2, 3), (2, 4))
    )
    assert saved - recomputed > 0.9 * LOGITS
    assert doubts(replace(WIDE, torch=(2, 3))) != []


def test_up_to_2_8_a_freed_buffer_is_kept_for_a_later_one_even_where_that_raises_the_peak() -> None:
    def made(torch: tuple[int, int]) -> int:
        first, small, large, last = (
            Buffer(name, nbytes, FLOAT, Component.ACTIVATIONS)
            for name, nbytes in (("a", 4096), ("b", 512), ("c", 8192), ("d", 4096))
        )
        graph = Graph()
        graph.kernel((), first)
        graph.kernel((first,), small)  # and the first is freed
        graph.kernel((), large)
        graph.kernel((small,), last)
        return len(Planner(graph, weighs=Inductor.of(torch).weighs_reuse).plan().sizes)

    assert (made((2, 8)), made((2, 9))) == (3, 4)


def test_from_2_9_to_2_12_a_graph_that_hands_out_much_holds_no_freed_buffer() -> None:
    def made(torch: tuple[int, int]) -> int:
        freed, first, second, third = (
            Buffer(name, 512 * size, FLOAT, Component.ACTIVATIONS)
            for name, size in (("freed", 1), ("first", 4), ("second", 8), ("third", 1))
        )
        for each in (first, second, third):
            each.kept = True
        graph = Graph()
        graph.kernel((), freed)
        graph.kernel((freed,), first)
        graph.kernel((), second)
        graph.kernel((), third)
        facts = Inductor.of(torch)
        planner = Planner(graph, weighs=facts.weighs_reuse, takes_off=facts.takes_off_outputs)
        return len(planner.plan().sizes)

    assert [made((2, minor)) for minor in (8, 9, 12, 13)] == [3, 4, 4, 3]


@pytest.mark.parametrize("torch", [(2, 2), (2, 6), (2, 12)])
def test_eager_runs_of_all_releases_allocate_the_same(torch: tuple[int, int]) -> None:
    run = replace(WIDE, compile=False, attention=Attention.MATH)
    assert record(replace(run, torch=torch)).events == record(replace(run, torch=(2, 13))).events


@pytest.mark.parametrize(
    ("torch", "capability", "mib"),
    [
        ((2, 11), (9, 0), 32),
        ((2, 11), (12, 0), None),
        ((2, 12), (12, 0), 32),
        ((2, 13), (10, 0), 32),
        ((2, 13), (11, 0), None),
        ((2, 14), (11, 0), 32),
        ((2, 13), (8, 9), None),
    ],
)
def test_the_cards_that_get_the_large_workspace_of_cublas(
    torch: tuple[int, int], capability: tuple[int, int], mib: int | None
) -> None:
    gpu = replace(card("rtx-4090").gpu, compute_capability=capability)
    assert workspace_bytes(torch, gpu) == (WORKSPACE_BYTES if mib is None else mib * MIB)


@pytest.mark.parametrize("compiled", [False, True])
def test_from_2_15_on_no_workspace_of_cublas_is_kept(compiled: bool) -> None:
    """Each product takes one and gives it back: as torch 2.15.0's own allocator records it."""
    kept, given_back = (
        record(replace(WIDE, compile=compiled, torch=torch)) for torch in ((2, 14), (2, 15))
    )
    workspaces = [n for n, part in enumerate(kept.components) if part is Component.WORKSPACE]
    assert len(workspaces) == 2  # one for each thread that multiplies
    assert not any(~handle in kept.events for handle in workspaces)
    workspaces = [n for n, part in enumerate(given_back.components) if part is Component.WORKSPACE]
    assert len(workspaces) > 50
    assert all(~handle in given_back.events for handle in workspaces)
    places = [given_back.events.index(handle) for handle in workspaces]
    assert all(given_back.events[at + 1] == ~given_back.events[at] for at in places)


def test_from_2_15_on_every_product_of_every_layer_takes_a_workspace() -> None:
    """Four in a layer's forward pass, and eight in its backward pass; one and two at the head."""
    layers = 4
    run = GPT2.having(batch_size=2, n_layer=layers, compile=False, torch=(2, 15))
    tape = record(run)
    starts = [start for start, _ in tape.phases]
    for (start, phase), end in zip(tape.phases, [*starts[1:], len(tape.events)], strict=True):
        made = [tape.names[event] for event in tape.events[start:end] if event >= 0]
        found = made.count("cuBLAS workspace")
        if phase is Phase.FORWARD:
            assert found == 4 * layers + 1
        elif phase is Phase.BACKWARD:
            assert found == 8 * layers + 2


@pytest.mark.parametrize("torch", [(2, 2), (2, 8), (2, 15)])
def test_up_to_2_8_and_from_2_15_on_each_product_with_a_bias_makes_cublaslt_s_workspace(
    torch: tuple[int, int],
) -> None:
    def made(*, bias: bool) -> int:
        run = GPT2.having(batch_size=2, n_layer=4, compile=False, torch=torch, bias=bias)
        tape = record(run)
        phases = [phase for _, phase in tape.phases]
        start = tape.phases[phases.index(Phase.FORWARD)][0]
        events = tape.events[start : tape.phases[phases.index(Phase.BACKWARD)][0]]
        places = [at for at, e in enumerate(events) if e >= 0 and "Lt" in tape.names[e]]
        assert all(events[at + 1] == ~events[at] for at in places)
        return len(places)

    assert made(bias=True) == 4 * 4
    assert made(bias=False) == 0


def test_up_to_2_5_the_embedding_s_gradient_from_lm_head_waits_in_float32() -> None:
    run = replace(WIDE, dtype="float32", attention=Attention.EFFICIENT)
    waiting, added = (
        live(replace(run, torch=torch), "gradient of wte.weight (V, C)")
        for torch in ((2, 5), (2, 6))
    )
    assert len(waiting) == len(added)
    for (start, end), (later, other_end) in zip(waiting[:1], added[1:2], strict=True):
        assert end == other_end
        assert later > start + 10
    peaks = [allocated_peak(record(replace(run, torch=torch))) for torch in ((2, 5), (2, 6))]
    assert peaks[0] > peaks[1]


@pytest.mark.parametrize(
    ("name", "width", "dropout", "nbytes"),
    [  # of 8 heads and 256 tokens each; as traced with PyTorch 2.15
        ("a100-80gb", 96, 0.0, 131_104),
        ("a100-80gb", 128, 0.1, 131_104),
        ("rtx-4070", 96, 0.0, 131_136),
        ("rtx-4070", 96, 0.1, 393_344),
        ("rtx-4070", 128, 0.0, 393_344),
    ],
)
def test_wide_heads_take_more_for_their_gradients_on_cards_with_little_shared_memory(
    name: str, width: int, dropout: float, nbytes: int
) -> None:
    small = has_small_shared_memory(card(name).gpu)
    found = efficient_workspace_bytes(8, 256, width, half=True, small=small, dropout=dropout > 0)
    assert found == 8 * nbytes


def doubts(run: Run, name: str = "rtx-4090") -> list[str]:
    return [doubt.text for doubt in not_covered(run, card(name).gpu)]


def test_what_several_processes_evaluate_compiled_is_doubted_and_their_training_is_not() -> None:
    several = replace(GPT2, world_size=2)
    assert doubts(several) == []
    assert doubts(replace(several, eval_only=True)) == [SPLIT_GRAPH]
    assert doubts(replace(several, eval_only=True, compile=False)) == []
    assert doubts(replace(GPT2, eval_only=True)) == []


def test_a_release_that_nobody_compared_is_doubted() -> None:
    assert doubts(GPT2) == []
    newer = (NEWEST[0], NEWEST[1] + 1)
    assert doubts(replace(GPT2, torch=newer)) == [
        f"torch {newer[0]}.{newer[1]} is newer than {NEWEST[0]}.{NEWEST[1]}, "
        "the newest that nanolint was compared with"
    ]
    assert doubts(replace(GPT2, torch=(2, 5))) == []
    assert doubts(replace(GPT2, torch=(2, 4))) == [
        "nanolint models compiled runs of torch 2.5 and newer, not 2.4: "
        "traces took 5 % less to 18 % more"
    ]
    eager = replace(GPT2, compile=False)
    assert doubts(replace(eager, torch=(2, 2))) == []
    assert doubts(replace(eager, torch=(2, 1))) == [
        "nanolint models runs of torch 2.2 and newer, not 2.1"
    ]


def test_wide_heads_of_2_2_are_doubted_where_shared_memory_is_small() -> None:
    wide = GPT2.having(n_head=8, compile=False, attention=Attention.EFFICIENT, torch=(2, 2))
    (text,) = doubts(wide)
    assert "for heads of 96" in text
    assert doubts(wide, "a100-80gb") == doubts(replace(wide, torch=(2, 4))) == []
    assert doubts(wide.having(n_head=12)) == []


def test_slow_attention_is_doubted_where_it_would_be_compiled() -> None:
    slow = replace(GPT2, attention=Attention.MATH, dtype="float16")
    (text,) = doubts(slow)
    assert "attention" in text
    assert doubts(replace(slow, compile=False)) == []
    assert doubts(slow, "gtx-1080-ti") == []  # Triton refuses it


def test_sums_are_split_by_the_cards_threads_from_2_12_on() -> None:
    cards = [Inductor.of((2, minor)).threads_per_sm for minor in (10, 12)]
    assert cards == [2048, None]
    assert (
        column_sum_splits(Card(108, 1536), 73728, 384, 2048) == 288
    )  # traced: torch.outer's gradient
    assert column_sum_splits(Card(108, 1536), 73728, 384, None) == 192


@pytest.mark.parametrize(
    ("torch", "capability", "splits"),
    [
        ((2, 13), (9, 0), [(40000, 1, 5), (8192, 1, 1)]),
        ((2, 12), (12, 0), [(40000, 1, 5)]),
        ((2, 13), (12, 0), [(524288, 1, 1), (524289, 1, 65)]),
        ((2, 14), (10, 0), [(32768, 1, 1), (32769, 1, 5), (40960, 108, 1), (40961, 108, 6)]),
    ],
)
def test_how_long_a_sum_may_be_for_one_kernel_depends_on_release_and_card(
    torch: tuple[int, int], capability: tuple[int, int], splits: list[tuple[int, int, int]]
) -> None:
    whole = Inductor.of(torch, capability).whole_sum
    card = Card(108, 2048)
    found = [(*each[:2], inner_splits(card, each[0], each[1], None, whole)) for each in splits]
    assert found == splits


@pytest.mark.parametrize(("release", "workspaces"), [((2, 12), 2), ((2, 15), 1)])
def test_a_batched_product_of_columns_and_rows_takes_no_workspace(
    release: tuple[int, int], workspaces: int
) -> None:
    device = Device(Tape(), workspace_bytes=MIB, keeps_workspace=False, release=release)
    kind = role("factor", Component.ACTIVATIONS)
    column, row = (empty(device, shape, FLOAT32, kind) for shape in ((4, 8, 1), (4, 1, 8)))
    bmm(bmm(column, row), column)
    assert device.tape.names.count("cuBLAS workspace") == workspaces
