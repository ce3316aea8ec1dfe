"""Each operation against what PyTorch did: allocations in order, releases between, to the byte.

``python validation/record_operations.py path/to/python`` records the table anew, with a CUDA build
of PyTorch and without a card.
"""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from tests.support.rows import each_row
from tests.tables.operations import entries, entries_of, recorded_entries
from validation.operations import EXPRESSIONS, Case, generate, recorded
from validation.record_operations import ASKED, of_releases

# The cases that are not met, by name and number. The gradient of a product takes scans that are not
# modelled; values that lie permuted, or whose index is of one element, are copied once more or
# once less.
MISSES: dict[str, tuple[int, ...]] = {
    "prod": (
        0,
        1,
        2,
        3,
        4,
    ),
    "index by a tensor": (3,),
    "hard gumbel softmax": (5,),
    "differences": (0,),
    "index put what learns": (7,),
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
    assert {name for name, _ in CASES} == set(EXPRESSIONS)
    asked = [{key: case[key] for key in ("name", "mode", "inputs")} for case in generate()]
    for case in CASES.values():
        assert {key: case[key] for key in ("name", "mode", "inputs")} in asked
    assert len(CASES) > 0.9 * len(asked)  # torch refuses a few


@each_row("operations", EXPRESSIONS)
def test_it_allocates_and_releases_what_torch_does(name: str) -> None:
    wrong = [
        (key, case["mode"], case["inputs"])
        for key, case in CASES.items()
        if key[0] == name
        and key[1] not in MISSES.get(name, ())
        and entries(case) != recorded_entries(case)
    ]
    assert wrong == [], "recorded by: python validation/record_operations.py PYTHON"


def test_what_is_not_met_is_listed_only_as_long_as_it_is_not() -> None:
    for name, numbers in MISSES.items():
        for number in numbers:
            case = CASES[name, number]
            assert allocated(case) != recorded_entries(case), (name, number)


def allocated(case: Case) -> object:
    """What the pretend tensors allocate; the error where they refuse."""
    try:
        return entries(case)
    except (AttributeError, TypeError, ValueError) as error:
        return error


# Cases of other releases that are not met, by name: how many. Sums over what was repeated reach a
# parameter with one copy more in 2.8; a product in a checkpoint that is stopped has no workspace.
EARLIER = {"prod": 1}
LATER = {"checkpoint of a product with a bias": 1, **EARLIER}
MISSES_OF = {
    "2.8": {
        "attention of one query": 1, "attention under an odd mask": 1, "einsum batched weight": 1,
        "einsum of what is in one": 1, "expand and flatten": 1, "grouped keys": 1, "last kept": 1,
        **EARLIER,
    },
    "2.9": LATER,
    "2.10": LATER,
    "2.12": EARLIER,
    "2.15": {"prod": 1},
}  # fmt: skip


def test_other_releases_are_asked_for_what_differs() -> None:
    assert MISSES_OF.keys() == of_releases().keys()
    for rows in of_releases().values():
        assert len(rows) == len(recorded()[::ASKED])
        assert any(each != "same" for each in rows)


@pytest.mark.parametrize("release", MISSES_OF)
def test_each_release_allocates_by_its_facts(release: str) -> None:
    major, minor = map(int, release.split("."))
    missed = Counter(
        case["name"]
        for case, own in zip(recorded()[::ASKED], of_releases()[release], strict=True)
        if own is not None
        and entries_of(case, (major, minor))
        != recorded_entries(case if own == "same" else {**case, "events": own})
    )
    assert missed == MISSES_OF[release]
