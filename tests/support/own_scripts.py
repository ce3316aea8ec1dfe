"""Training scripts that are their own config, their arithmetic, and a profile of their memory."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from unittest import mock

from nanolint.files import door
from nanolint.gpus.lookup import find
from nanolint.profiles.profiles import digest_of, free_keys, places_of, weights
from nanolint.run.profile import Profile
from nanolint.run.profile_file import write
from nanolint.run.settled import Options
from nanolint.tape.tape import Component, Phase, Tape
from nanolint.trace.fit import fit
from nanolint.trace.survey import Point
from nanolint.trainers.nanogpt.config import read_config
from nanolint.trainers.nanogpt.project import find_project
from nanolint.trainers.script.surroundings import told
from tests.unit.trainers.written_scripts import MODEL

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20
GPU = "rtx-4070"  # 11.7 GiB
HEAD = f"import argparse\n{MODEL}\n"
LOOP = """

model = Net(Config(seq_len=T)).to("cuda")
optimizer = torch.optim.AdamW(model.parameters())
for step in range(1000):
    for micro_step in range(passes):
        x, y = get_batch(B, T)
        with torch.autocast(device_type="cuda", dtype=torch.bfloat16):
            logits, loss = model(x, y)
            print(logits.shape)
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 100 == 0:
        with torch.no_grad():
            model(*get_batch(B, T))
"""


def own_script(arithmetic: str) -> str:
    """A script that sets B, T and passes in ``arithmetic``, and trains with them."""
    return f"{HEAD}{arithmetic}{LOOP}"


def step_of(text: str, world_size: int = 1, words: tuple[str, ...] = ()) -> tuple[int, int]:
    """What Python itself makes of a script's arithmetic: its micro-batch, the tokens of a step.

    Raises AssertionError where the script does. ``text`` is one of ours.
    """
    arithmetic = text[text.index(HEAD) + len(HEAD) : text.index(LOOP)]
    names: dict[str, Any] = {}
    with (
        mock.patch.dict(os.environ, {"WORLD_SIZE": str(world_size)}),
        mock.patch("sys.argv", ["train.py", *words]),
    ):
        exec(f"import argparse, os\n{arithmetic}", names)
    return names["B"], names["B"] * names["T"] * names["passes"] * world_size


def steps(batch: int, micro_steps: int, file: str = "train.py") -> Point:
    """500 MiB of weights and moments, and 450 MiB for each sequence: 24 fit the card, 25 do not."""
    tape, requests = Tape(), list[int]()

    def alloc(nbytes: int, name: str, component: Component) -> int:
        requests.append(nbytes)
        return tape.alloc(nbytes, name, component)

    tape.phase(Phase.SETUP)
    alloc(500 * MIB, f"{file}:1 weights", Component.PARAMETERS)
    for _ in range(micro_steps):
        tape.phase(Phase.FORWARD)
        hidden = alloc(450 * MIB * batch, f"{file}:2 y = x", Component.ACTIVATIONS)
        tape.phase(Phase.BACKWARD)
        tape.free(hidden)
    return Point(batch, micro_steps, tape, requests)


def put_profile(root: Path, script: Path, world_size: int = 1) -> None:
    """Keep a profile of the script's run beside it: ``.nanolint/a.json``."""
    text = script.read_text()
    options = Options(world_size=world_size)
    config = read_config(text, script, find_project(script), options, explicit=True)
    resolution = config.resolved(find(GPU))
    deciding = resolution.deciding
    micro_batch = deciding.get("batch_size") or "batch_size"
    accumulation = deciding.get("gradient_accumulation_steps") or "gradient_accumulation_steps"
    free = free_keys(micro_batch, accumulation)
    fitted = fit(steps, dict.fromkeys((1, 2, 4), (1, 32, 128)))
    made = Profile(
        traced="2026-11-20",
        command="python train.py",
        torch="2.13.0+cu130",
        capability=(8, 9),
        sm_count=46,
        world_size=world_size,
        ranked=world_size > 1,
        script=script.relative_to(root).as_posix(),
        files={
            script.relative_to(root).as_posix(): digest_of(
                script, None, free, places_of(resolution.described)
            )
        },
        settings=weights(resolution.settings, free, options, resolution.described, told(options)),
        micro_batch=micro_batch,
        accumulation=accumulation,
        error_per_mille=0,
        held_out=(),
        kinds=fitted.kinds,
        regimes=fitted.regimes,
    )
    (root / ".nanolint").mkdir(exist_ok=True)
    (root / ".nanolint" / "a.json").write_bytes(write(made))
    door.forget()
