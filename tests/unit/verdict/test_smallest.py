"""The smallest card that would do."""

from __future__ import annotations

from dataclasses import replace

from nanolint.gpus.catalogue import load
from nanolint.gpus.gpu import Machine
from nanolint.run.run import Attention
from nanolint.verdict.ladder import NOT_FOR_SALE, smallest_card
from nanolint.verdict.verdict import is_comfortable
from tests.support.runs import GPT2, card

ANYWHERE = card("12GB")


def test_the_run_is_comfortable_on_it_and_on_no_smaller_one() -> None:
    found = smallest_card(GPT2, ANYWHERE)
    assert found is not None
    assert is_comfortable(GPT2, Machine(found))
    assert found.vendor == "nvidia"
    assert found.compute_capability is not None
    assert found.compute_capability >= (8, 0)
    assert not any(word in found.name for word in NOT_FOR_SALE)
    smaller = {gpu.nominal_bytes: gpu for gpu in load() if gpu.nominal_bytes < found.nominal_bytes}
    modern = card("rtx-3060").gpu
    for nominal, gpu in smaller.items():
        same = replace(modern, nominal_bytes=nominal, total_bytes=gpu.total_bytes)
        assert not is_comfortable(GPT2, Machine(same))


def test_there_is_none_for_what_no_card_holds() -> None:
    assert smallest_card(replace(GPT2, batch_size=4096), ANYWHERE) is None


def test_the_slow_attention_of_an_old_card_is_not_asked_of_it() -> None:
    old = replace(GPT2, attention=Attention.EFFICIENT)
    assert smallest_card(old, ANYWHERE) == smallest_card(GPT2, ANYWHERE)
