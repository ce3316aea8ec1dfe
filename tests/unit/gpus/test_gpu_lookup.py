"""People name cards loosely; what is meant must be found, and what is not must be said."""

from __future__ import annotations

import pickle
import re

import pytest

from nanolint.gpus import catalogue
from nanolint.gpus.lookup import (
    AmbiguousGpu,
    GpuError,
    UnknownGpu,
    UnmodelledGpu,
    find,
    other_sizes,
    search,
)

GIB = 1024**3


LOOSE = [
    ("rtx4070", "RTX 4070"),
    ("RTX 4070", "RTX 4070"),
    ("NVIDIA GeForce RTX 4070", "RTX 4070"),
    ("4070", "RTX 4070"),
    ("4070 ti super", "RTX 4070 Ti SUPER"),
    ("4070tisuper", "RTX 4070 Ti SUPER"),
    ("4090d", "RTX 4090 D"),
    ("rtx-3070-laptop", "RTX 3070 Laptop"),
    ("3070 mobile", "RTX 3070 Laptop"),
    ("gtx 1650 ti", "GTX 1650 Ti Laptop"),  # there is no desktop card of that name
    ("a100-40gb", "A100 40GB"),
    ("a100_80gb", "A100 80GB"),
    ("a100-pcie-40gb", "A100 40GB"),
    ("h100", "H100 SXM 80GB"),
    ("h100 pcie", "H100 PCIe"),
    ("h100 94gb", "H100 NVL"),
    ("t4", "T4"),
    ("tesla-t4", "T4"),
    ("p100", "P100 16GB"),
    ("v100-32gb", "V100 32GB"),
    ("titan rtx", "TITAN RTX"),
    ("a6000", "RTX A6000"),
    ("p5000", "Quadro P5000"),
    ("mi300x", "MI300X"),
    ("dgx spark", "GB10"),
    ("b300 288gb", "B300"),
    # One name for several sizes: the card that was sold first and for long.
    ("rtx 3060", "RTX 3060 12GB"),
    ("rtx-3060", "RTX 3060 12GB"),
    ("RTX 3060 12 GB", "RTX 3060 12GB"),
    ("3060 8gb", "RTX 3060 8GB"),
    ("3080", "RTX 3080 10GB"),
    ("3080-12gb", "RTX 3080 12GB"),
    ("1060", "GTX 1060 6GB"),
    ("1060 3gb", "GTX 1060 3GB"),
    ("a100", "A100 40GB"),
    ("8xa100", "8x A100 40GB"),
    ("v100", "V100 16GB"),
    ("4060 ti", "RTX 4060 Ti 8GB"),
    ("5060ti", "RTX 5060 Ti 8GB"),
    # A slice: of the sizes of a card, the one that is divided into such slices.
    ("a100 1g.5gb", "A100 40GB MIG 1g.5gb"),
    ("a100 mig-1g.10gb", "A100 80GB MIG 1g.10gb"),
    ("7x a100 3g.20gb", "7x A100 40GB MIG 3g.20gb"),
    ("4060ti16gb", "RTX 4060 Ti 16GB"),
    # A size that only the laptop's has.
    ("4090 16gb", "RTX 4090 Laptop"),
    # Several boards with the same memory: the least total.
    ("rtx pro 6000", "RTX PRO 6000 Blackwell Server"),
    ("8xA100-40GB", "8x A100 40GB"),
    ("8x a100 40gb", "8x A100 40GB"),
    ("8*H100", "8x H100 SXM 80GB"),
    ("2×RTX 3090", "2x RTX 3090"),
    ("1x4070", "1x RTX 4070"),
    ("8x12GB", "8x 12 GB card"),
]


def test_loose_names() -> None:
    for query, label in LOOSE:
        assert find(query).label == label, query


REPORTED = [
    ("NVIDIA GeForce RTX 4070 Laptop GPU", "RTX 4070 Laptop"),
    ("GeForce RTX 2080 Super with Max-Q Design", "RTX 2080 SUPER Laptop"),
    ("NVIDIA TITAN X (Pascal)", "TITAN X Pascal"),
    ("NVIDIA GeForce GTX TITAN X", "GTX TITAN X"),
    ("Tesla V100-SXM2-16GB", "V100 16GB"),
    ("Tesla P100-PCIE-16GB", "P100 16GB"),
    ("NVIDIA A100-SXM4-40GB", "A100 40GB"),
    ("NVIDIA A100 80GB PCIe", "A100 80GB"),
    ("NVIDIA A100-SXM4-80GB MIG 1g.10gb", "A100 80GB MIG 1g.10gb"),
    ("NVIDIA A100-SXM4-40GB MIG 1g.5gb", "A100 40GB MIG 1g.5gb"),
    ("NVIDIA A100-SXM4-80GB MIG 3g.40gb", "A100 80GB MIG 3g.40gb"),
    ("NVIDIA H100 80GB HBM3 MIG 1g.10gb+me", "H100 SXM 80GB MIG 1g.10gb"),
    ("NVIDIA A30 MIG 1g.6gb", "A30 MIG 1g.6gb"),
    ("NVIDIA H100 80GB HBM3", "H100 SXM 80GB"),
    ("NVIDIA H100 NVL", "H100 NVL"),
    ("NVIDIA GH200 480GB", "GH200 96GB"),
    ("NVIDIA B300 SXM6 AC", "B300"),
    ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"),
    ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "RTX PRO 6000 Blackwell Workstation"),
    ("Quadro RTX 8000", "Quadro RTX 8000"),
    ("AMD Instinct MI300X", "MI300X"),
]


def test_names_as_drivers_report_them() -> None:
    for name, card in REPORTED:
        assert find(name).gpu.name == card, name


def test_every_listed_name_finds_its_card() -> None:
    for gpu in catalogue.load():
        assert find(gpu.name).gpu is gpu
        assert find(gpu.name.replace(" ", "").lower()).gpu is gpu


@pytest.mark.parametrize(
    ("query", "candidates"),
    [
        ("rtx 6000", ("Quadro RTX 6000", "RTX 6000 Ada")),
    ],
)
def test_a_name_that_cards_share_is_ambiguous(query: str, candidates: tuple[str, ...]) -> None:
    with pytest.raises(AmbiguousGpu) as error:
        find(query)
    assert error.value.candidates == candidates
    assert str(error.value) == f"ambiguous GPU {query!r}: {' or '.join(candidates)}?"


def test_a_typo_brings_suggestions_on_one_line() -> None:
    with pytest.raises(UnknownGpu) as error:
        find("rtx4071")
    assert "RTX 4070" in error.value.suggestions
    assert str(error.value).startswith("unknown GPU 'rtx4071'; did you mean RTX 40")
    assert "\n" not in str(error.value)


def test_nothing_alike_says_what_would_do() -> None:
    with pytest.raises(UnknownGpu, match=r"`nanolint gpus` lists, or a size such as 12GB"):
        find("voodoo")


@pytest.mark.parametrize(
    "query",
    [
        "",
        " ",
        "0x",
        "8x",
        "x",
        "0xA100",
        "10000xH100",
        "9" * 70 + "xH100",
        "-1GB",
        "0GB",
        "99999GB",
        "1e999GB",
        "nan",
        "inf",
        "GB",
        "GiB",
        "titan",
        "1.2.3GiB",
        "\x00",
        "٣GB",
        "ᴬ100",
        "rtx " * 19,
        "x" * 10**6,
        "8x" * 10**5,
        "9" * 10**6,
        "a100-" * 10**5,
        "1g.5gb" * 10**5,
    ],
)
def test_absurd_input_is_unknown_at_once(query: str) -> None:
    with pytest.raises(UnknownGpu) as error:
        find(query)
    assert len(str(error.value)) < 300


def test_errors_survive_the_way_back_from_a_worker_process() -> None:
    for error in (
        UnknownGpu("a", ("b",)),
        AmbiguousGpu("a", ("b", "c")),
        UnmodelledGpu("a", "b"),
    ):
        copy = pickle.loads(pickle.dumps(error))
        assert isinstance(copy, GpuError)
        assert str(copy) == str(error)


def test_a_size_in_gb_is_the_least_usable_card_sold_with_it() -> None:
    gpu = find("12GB").gpu
    sold = [card for card in catalogue.load() if card.nominal_bytes == 12 * GIB]
    assert gpu.total_bytes == min(card.total_bytes for card in sold)
    assert (gpu.name, gpu.sm_count, gpu.compute_capability) == ("12 GB card", None, None)
    assert find("12 gb").gpu == gpu
    assert find("16GB").gpu.total_bytes == find("t4").gpu.total_bytes


def test_a_size_that_no_card_has_is_an_estimate() -> None:
    gpu = find("13GB").gpu
    assert gpu.estimated
    assert gpu.total_bytes == int(13 * GIB * 0.975)


@pytest.mark.parametrize(
    ("query", "name", "total"),
    [
        ("11.69GiB", "11.69 GiB card", 1169 * GIB // 100),
        ("11970MiB", "11970 MiB card", 11970 * 1024**2),
        ("12 GiB", "12 GiB card", 12 * GIB),
        ("11970mb", "11970 MB card", 11970 * 10**6),
    ],
)
def test_a_size_in_any_other_unit_is_exactly_that_total(query: str, name: str, total: int) -> None:
    gpu = find(query).gpu
    assert (gpu.name, gpu.total_bytes, gpu.estimated) == (name, total, False)


def test_search_lists_what_holds_every_word() -> None:
    assert search("") == list(catalogue.load())
    assert {gpu.name for gpu in search("4070 laptop")} == {"RTX 4070 Laptop"}
    assert {gpu.name for gpu in search("a100")} >= {"A100 40GB", "A100 80GB"}
    assert {gpu.name for gpu in search("rtx 3080 12gb")} == {"RTX 3080 12GB", "RTX 3080 Ti"}
    assert {gpu.nominal_bytes for gpu in search("12GB")} == {12 * GIB}
    assert {gpu.name for gpu in search("spark")} == {"GB10"}
    assert search("voodoo") == []


def test_every_name_without_its_size_means_one_of_its_sizes_and_tells_the_others() -> None:
    families: dict[str, list[str]] = {}
    for gpu in catalogue.load():
        families.setdefault(re.sub(r" \d+GB$", "", gpu.name), []).append(gpu.name)
    shared = {name: cards for name, cards in families.items() if len(cards) > 1}
    assert {"A100", "V100", "P100", "RTX 3060", "RTX 3080", "GTX 1060", "H100 SXM"} <= shared.keys()
    for name, cards in shared.items():
        taken = find(name).gpu.name
        assert {taken, *other_sizes(name)} == set(cards), name


@pytest.mark.parametrize("query", ["rtx 3060 12gb", "rtx-4070", "12GB", "8xH200", "a100 1g.5gb"])
def test_a_name_that_leaves_nothing_open_has_no_other_sizes(query: str) -> None:
    assert other_sizes(query) == ()


def test_a_slice_has_the_memory_and_the_multiprocessors_of_its_profile() -> None:
    gpu = find("NVIDIA A100-SXM4-80GB MIG 3g.40gb").gpu
    assert (gpu.nominal_bytes, gpu.sm_count, gpu.compute_capability) == (40 * GIB, 42, (8, 0))
    assert gpu.estimated
    assert 0.9 * 40 * GIB < gpu.total_bytes < 40 * GIB


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("MIG 1g.5gb", "also name the card, such as 'A100 40GB MIG 1g.5gb'"),
        ("rtx 3090 1g.3gb", "RTX 3090 has no MIG slice 1g.3gb"),
        ("a100 40gb 4g.10gb", "A100 40GB has no MIG slice 4g.10gb"),
        ("M1", "it is Apple's; nanolint models the memory of CUDA, not of MPS"),
        ("M2 Max", "it is Apple's; nanolint models the memory of CUDA, not of MPS"),
        ("RX 7900 XTX", "it is AMD's; nanolint models the memory of CUDA, not of ROCm"),
        ("AMD Radeon RX 6800", "it is AMD's; nanolint models the memory of CUDA, not of ROCm"),
        ("Jetson AGX Orin 64GB", "a Jetson shares its memory with the system"),
        ("Intel Arc A770", "it is Intel's; nanolint models the memory of CUDA, not of XPU"),
    ],
)
def test_what_cannot_be_judged_is_told_with_its_reason(query: str, why: str) -> None:
    with pytest.raises(UnmodelledGpu) as error:
        find(query)
    assert str(error.value).startswith(f"no verdict for {query!r}: {why}")
    assert "\n" not in str(error.value)


def test_a_card_of_nvidias_is_not_taken_for_another_makers() -> None:
    assert [find(name).gpu.name for name in ("M4", "M10", "MI300X")] == ["M4", "M10", "MI300X"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("rtx-4700", "RTX 4070"),
        ("4090x8", "8x RTX 4090"),
        ("12", "12GB"),
        ("colab", "T4"),
        ("kaggle", "2xT4"),
    ],
)
def test_what_was_meant_is_offered_first(typed: str, meant: str) -> None:
    with pytest.raises(UnknownGpu) as caught:
        find(typed)
    assert caught.value.suggestions[0] == meant
    find(meant)
