"""What the command that picks a card was told."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from nanolint.gpus.lookup import find
from nanolint.lsp.choosing import USUAL, Choice, NoChoice, choice, listed


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], None),
        ([None], Choice(None)),
        (["rtx-4070"], Choice("rtx-4070")),
        (["8xA100-40GB"], Choice("8xA100-40GB")),
        (["11.69GiB"], Choice("11.69GiB")),
        ([{"gpu": None}], Choice(None)),
        ([{"gpu": "4070", "scope": "settings"}], Choice("4070", True)),
        (
            [{"gpu": "4070", "scope": "session", "uri": "file:///x.py"}],
            Choice("4070", uri="file:///x.py"),
        ),
    ],
)
def test_a_card_is_chosen_by_name_or_by_an_object(
    arguments: list[object], expected: Choice | None
) -> None:
    assert choice(arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["rtx-9999"], "unknown GPU 'rtx-9999'"),
        (["rtx 6000"], "ambiguous GPU 'rtx 6000'"),
        (['rtx"4070'], "not the name of a GPU"),
        (["rtx\n4070"], "not the name of a GPU"),
        ([4070], "expected the name of a GPU"),
        (["a", "b"], "expected one argument, found 2"),
        ([{"gpu": "4070", "scope": "world"}], "scope must be"),
        ([{"gpu": 4070}], "gpu must be a string"),
        ([{"card": "4070"}], "expected gpu, scope and uri, found card"),
        ([{"gpu": "4070", "uri": 1}], "uri must be a string"),
        ([{"scope": "settings"}], "name the card"),
    ],
)
def test_what_chooses_no_card_is_refused_in_one_line(arguments: list[object], told: str) -> None:
    with pytest.raises(NoChoice, match=told) as raised:
        choice(arguments)
    assert "\n" not in str(raised.value)


def test_an_object_with_attributes_is_taken_for_its_fields() -> None:
    told = SimpleNamespace(_asdict=lambda: {"gpu": "4070"})
    assert choice([told]) == Choice("4070")


def test_what_is_offered_can_be_chosen() -> None:
    assert all(choice([name]) == Choice(name) for name in USUAL)
    assert len(listed()) > 200
    assert all(find(gpu.name).gpu.total_bytes <= gpu.total_bytes for gpu in listed())
