"""A script is nanoGPT's own only where it takes as much, as it is read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nanolint.gpus.lookup import find
from nanolint.memory.readable import own
from nanolint.run.settled import Beside, Resolution
from nanolint.run.trust import Trust
from nanolint.trainers.nanogpt.own import own_script
from nanolint.trainers.nanogpt.resolve import default_run

RUN = replace(
    default_run(), n_layer=2, n_head=2, n_embd=64, block_size=64, vocab_size=128, batch_size=4,
    gradient_accumulation_steps=2, compile=False,
)  # fmt: skip
CONTEXT = 'ctx = torch.amp.autocast(device_type="cuda", dtype=types[dtype])'
CLIPS = "    if grad_clip != 0.0:"
BEGINS = "iter_num = 0\n"


def recognised(old: str, new: str, init_from: str = "scratch") -> Resolution:
    """What is known of a recognised run whose train.py has ``new`` in the place of ``old``."""
    main, *others = own_script().modules
    assert old in main.text
    changed = replace(main, text=main.text.replace(old, new))
    program = replace(own_script(), modules=(changed, *others))
    ours, read = replace(RUN, init_from=init_from), replace(RUN, program=program)
    return own(
        Resolution(ours, {}, beside=Beside(RUN, read, Resolution(read, {}))), find("rtx-3090")
    )


def test_one_that_takes_as_much_is_nanogpts() -> None:
    found = recognised(BEGINS, f"{BEGINS}seen = []\n")
    assert (found.trust, found.run) == (Trust.EXACT, RUN)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (CONTEXT, "ctx = torch.enable_grad()"),
        ("    return x, y", "    return x, y.int()"),
        (
            "    iter_num += 1",
            "    iter_num += 1; old = [p.clone() for p in model.parameters()]",
        ),
        (CLIPS, "    if False:"),
    ],
)
def test_one_that_takes_otherwise_is_what_is_read(old: str, new: str) -> None:
    assert recognised(old, new).trust is Trust.READ


def test_one_that_goes_on_is_held_to_how_it_begins() -> None:
    assert recognised(BEGINS, f"{BEGINS}seen = []\n", "resume").trust is Trust.EXACT
    (doubt,) = recognised(CLIPS, "    if False:", "resume").doubts
    assert doubt.text.startswith("from its beginning the script takes other memory")


def test_one_that_cannot_be_read_is_in_doubt() -> None:
    found = recognised(BEGINS, f"{BEGINS}model_args['n_layer'] = int(input())\n")
    assert found.trust is Trust.DOUBTED
    assert "the script cannot be read" in found.doubts[0].text


def test_one_that_fails_is_no_run() -> None:
    found = recognised(BEGINS, "iter_num = zero\n")
    assert found.run is None
    assert "NameError" in found.unresolved[0].reason
