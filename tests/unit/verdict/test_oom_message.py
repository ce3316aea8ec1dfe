"""PyTorch's out-of-memory errors as people paste them, and texts that are none."""

from __future__ import annotations

import codecs
import re
from dataclasses import replace

import pytest

from nanolint.units import GIB, MIB
from nanolint.verdict.measured import NotAnOomMessage, OomMessage, decode_log, parse_oom_message
from nanolint.verdict.replay import message

TODAY = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 6.14 GiB. GPU 0 has a total "
    "capacity of 11.69 GiB of which 2.68 GiB is free. Process 4321 has 224.90 MiB memory in use. "
    "Including non-PyTorch memory, this process has 7.04 GiB memory in use. Of the allocated "
    "memory 6.78 GiB is allocated by PyTorch, and 38.50 MiB is reserved by PyTorch but "
    "unallocated. If reserved but unallocated memory is large try setting "
    "PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
)
BEFORE_2_1 = (
    "RuntimeError: CUDA out of memory. Tried to allocate 6.14 GiB (GPU 0; 15.78 GiB total "
    "capacity; 10.16 GiB already allocated; 4.50 GiB free; 10.21 GiB reserved in total by PyTorch) "
    "If reserved memory is >> allocated memory try setting max_split_size_mb."
)
BEFORE_1_5 = (
    "RuntimeError: CUDA out of memory. Tried to allocate 1024.00 KiB (GPU 1; 11.17 GiB total "
    "capacity; 10.50 GiB already allocated; 0 bytes free; 30.96 MiB cached)"
)
MISSPELLED = TODAY.replace("capacity", "capacty")
WITH_PRIVATE_POOLS = TODAY.replace(
    "is allocated by PyTorch, and",
    "is allocated by PyTorch, with 20.00 MiB allocated in private pools (e.g., CUDA Graphs), and",
)


ALLOWED = TODAY.replace("Of the allocated", "7.01 GiB allowed; Of the allocated")


def gib(number: float) -> int:
    return round(number * GIB)


@pytest.mark.parametrize("text", [TODAY, MISSPELLED, WITH_PRIVATE_POOLS])
def test_the_wording_since_2_1(text: str) -> None:
    assert parse_oom_message(text) == OomMessage(
        requested_bytes=gib(6.14),
        total_bytes=gib(11.69),
        free_bytes=gib(2.68),
        allocated_bytes=gib(6.78),
        reserved_bytes=gib(6.78) + round(38.5 * MIB),
        process_bytes=gib(7.04),
    )


def test_the_wording_before_2_1() -> None:
    assert parse_oom_message(BEFORE_2_1) == OomMessage(
        gib(6.14), gib(15.78), gib(4.5), gib(10.16), gib(10.21)
    )


def test_the_wording_before_1_5_counts_the_cache_apart() -> None:
    found = parse_oom_message(BEFORE_1_5)
    assert (found.requested_bytes, found.free_bytes) == (MIB, 0)
    assert found.reserved_bytes == gib(10.5) + round(30.96 * MIB)


def test_a_whole_log_around_it_wrapped_by_a_terminal() -> None:
    log = "step 0\nTraceback:\n" + TODAY.replace(" ", "\n") + "\nERROR conda.cli\n"
    assert parse_oom_message(log) == parse_oom_message(TODAY)


def test_of_several_the_last_counts() -> None:
    earlier = TODAY.replace("6.14 GiB", "1.00 GiB")
    assert parse_oom_message(f"{earlier}\n{TODAY}").requested_bytes == gib(6.14)


def test_what_nanolint_predicts_reads_back() -> None:
    predicted = message(
        requested=gib(1.54), allocated=gib(9.5), reserved=gib(10.5), free=gib(0.8), total=gib(11.5)
    )
    found = parse_oom_message(predicted)
    assert found.requested_bytes == gib(1.54)
    assert found.reserved_bytes == gib(10.5)


class TestOtherPrograms:
    def test_are_what_neither_is_free_nor_held_by_the_process(self) -> None:
        others = parse_oom_message(TODAY).others_bytes(context_bytes=0)
        assert others == pytest.approx(gib(11.69 - 2.68 - 7.04), abs=2)

    def test_count_the_context_where_the_message_leaves_it_out(self) -> None:
        others = parse_oom_message(BEFORE_2_1).others_bytes(context_bytes=500 * MIB)
        assert others == pytest.approx(gib(15.78 - 4.5 - 10.21) - 500 * MIB, abs=2)

    def test_in_a_container_the_process_is_listed_under_a_number(self) -> None:
        text = TODAY.replace("Including non-PyTorch memory, this process", "Process 77")
        assert parse_oom_message(text) == parse_oom_message(TODAY)

    def test_are_never_less_than_nothing(self) -> None:
        assert parse_oom_message(BEFORE_1_5).others_bytes(context_bytes=GIB) == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no PyTorch out-of-memory error"),
        ("CUDA error: device-side assert triggered", "no PyTorch out-of-memory error"),
        ("Killed (out of memory)", "no PyTorch out-of-memory error"),
        ("CUDA out of memory. Tried to allocate a lot", "how much it tried to allocate"),
        ("CUDA out of memory. Tried to allocate 2.00 GiB", "total capacity"),
        (TODAY.replace("6.14 GiB", "-6.14 GiB"), "how much it tried to allocate"),
        (TODAY.replace("6.14 GiB", "inf GiB"), "how much it tried to allocate"),
        (TODAY.replace("6.14 GiB", f"{'9' * 400} GiB"), "how much it tried to allocate"),
        (TODAY.replace("6.14 GiB", "999999999 GiB"), "no GPU has 999999999 GiB"),
        (TODAY.replace("2.68 GiB is free", "12.68 GiB is free"), "contradict each other"),
        (TODAY.replace("6.78 GiB", "66.78 GiB"), "contradict each other"),
        (TODAY.replace("11.69 GiB", "0 bytes"), "contradict each other"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_line(text: str, reason: str) -> None:
    with pytest.raises(NotAnOomMessage, match=reason) as caught:
        parse_oom_message(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "piece", ["CUDA out of memory. Tried to allocate ", "9", " ", "GiB ", "\0"]
)
def test_megabytes_of_anything_are_read_at_once(piece: str) -> None:
    with pytest.raises(NotAnOomMessage):
        parse_oom_message(piece * (4_000_000 // len(piece)))


@pytest.mark.parametrize(
    ("figure", "what"),
    [
        ("Tried to allocate 6.14 GiB", "how much it tried to allocate"),
        ("total capacity of 11.69 GiB", "the total capacity of the GPU"),
        ("2.68 GiB is free", "how much was free"),
        ("6.78 GiB is allocated by PyTorch", "how much PyTorch had allocated"),
    ],
)
def test_a_figure_that_is_missing_is_named(figure: str, what: str) -> None:
    text = TODAY.replace(figure, figure.replace("GiB", "XiB"))
    with pytest.raises(NotAnOomMessage, match=f"does not say {what}$"):
        parse_oom_message(text)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("total capacity of 11.69 GiB", "total capacity of 0 bytes"),
        ("2.68 GiB is free", "11.74 GiB is free"),
        ("2.68 GiB is free", "4.75 GiB is free"),
        ("this process has 7.04 GiB", "this process has 11.75 GiB"),
        ("6.78 GiB is allocated", "9.07 GiB is allocated"),
        ("38.50 MiB is reserved", "4.90 GiB is reserved"),
    ],
)
def test_more_than_the_gpu_has_is_a_contradiction(before: str, after: str) -> None:
    with pytest.raises(NotAnOomMessage, match="contradict each other"):
        parse_oom_message(TODAY.replace(before, after))


def test_figures_may_exceed_the_gpu_by_what_rounding_hides() -> None:
    found = parse_oom_message(TODAY.replace("2.68 GiB is free", "4.66 GiB is free"))
    assert found.free_bytes == gib(4.66)


def painted(text: str) -> str:
    """As rich's tracebacks print it: every figure in bold cyan."""
    return re.sub(r"(\d+\.\d+)", "\x1b[1;36m\\1\x1b[0m", text)


def test_colours_inside_the_message_are_no_part_of_it() -> None:
    assert parse_oom_message(painted(TODAY)) == parse_oom_message(TODAY)


def test_what_the_process_allows_itself_is_read() -> None:
    found = parse_oom_message(ALLOWED)
    assert found == replace(parse_oom_message(TODAY), allowed_bytes=gib(7.01))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_log_may_be_what_powershell_writes(encoding: str) -> None:
    mark = {"utf-16-le": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}.get(encoding, b"")
    raw = mark + f"Schritt ü\r\n{TODAY}".encode(encoding)
    assert parse_oom_message(decode_log(raw)) == parse_oom_message(TODAY)
