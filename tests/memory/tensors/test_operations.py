"""Each operation against what PyTorch did: allocations in order, releases between, to the byte.

``python validation/record_operations.py path/to/python`` records the table anew, with a CUDA build
of PyTorch and without a card.
"""

from __future__ import annotations

from collections import defaultdict

import pytest

from tests.memory.tensors.operations import OPERATIONS, entries, recorded_entries
from validation.operations import EXPRESSIONS, Case, generate, recorded

BLOCKS = "many elements to few: the blocks' partial sums are modelled for rows of a bias alone"
SORT = "more than 3,072 indices: the scratch memory of CUB's sort and scans is approximate"
COPIES = (
    "a product without gradients of a permuted input: PyTorch copies the input, why is not known"
)

# The cases that are not met, by name and number, and why.
MISSES = {
    ("sum", 0): BLOCKS,
    ("sum", 7): BLOCKS,
    ("mean", 2): BLOCKS,
    ("mean", 7): BLOCKS,
    ("linear without bias", 7): COPIES,
    ("embedding", 1): SORT,
    ("embedding", 7): SORT,
}


def cases() -> dict[tuple[str, int], Case]:
    """By name and number."""
    found: dict[str, list[Case]] = defaultdict(list)
    for case in recorded():
        found[case["name"]].append(case)
    return {
        (name, number): case for name, all_ in found.items() for number, case in enumerate(all_)
    }


CASES = cases()


def test_every_operation_is_recorded_and_the_records_are_of_these_cases() -> None:
    assert {name for name, _ in CASES} == set(EXPRESSIONS) == set(OPERATIONS)
    asked = [{key: case[key] for key in ("name", "mode", "inputs")} for case in generate()]
    for case in CASES.values():
        assert {key: case[key] for key in ("name", "mode", "inputs")} in asked
    assert len(CASES) > 0.95 * len(asked)  # torch refuses a few


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_it_allocates_and_releases_what_torch_does(name: str) -> None:
    wrong = [
        (key, case["mode"], case["inputs"])
        for key, case in CASES.items()
        if key[0] == name and key not in MISSES and entries(case) != recorded_entries(case)
    ]
    assert wrong == []


@pytest.mark.parametrize("key", MISSES, ids=str)
def test_what_is_not_met_is_listed_only_as_long_as_it_is_not(key: tuple[str, int]) -> None:
    assert entries(CASES[key]) != recorded_entries(CASES[key])
