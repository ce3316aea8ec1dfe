"""The events of a run, written to a tape: its script is read.

This is what takes time; nobody imports it before something has to be read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.run.program import ReadScript
from nanolint.run.run import Attention, Run
from nanolint.script.script import read_script
from nanolint.script.weights import WeightsFound
from nanolint.tape.torch import bias_workspace_bytes, passing_bias_workspace_bytes
from nanolint.tensors.autograd import Entangled
from nanolint.tensors.device import Device
from nanolint.tensors.ops.attention import FLASH_SINCE

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.gpus.gpu import Gpu
    from nanolint.recording.kernels import Kernels
    from nanolint.script.weights import Weights
    from nanolint.tape.tape import Tape
    from nanolint.tensors.device import Asked

BEFORE_FLASH = (7, 5)  # a compute capability without FlashAttention


def write_script(
    program: ReadScript,
    run: Run,
    kernels: Kernels,
    asked: Asked,
    tape: Tape,
    *,
    compiled: bool,
    gpu: Gpu | None,
) -> None:
    """Write the events of a script that is read whole. Raises Unread."""
    inductor = kernels.inductor if compiled else None
    weights: Weights = {}

    def read(device: Device) -> None:
        read_script(program, run, gpu, device, inductor=inductor, weights=weights)

    def finds_more() -> bool:
        try:
            _on_card(read, run, kernels, asked, tape)
        except WeightsFound as found:
            tape.clear()
            weights[found.load] = found.held
            return True
        return False

    while finds_more():
        pass


def _on_card(
    read: Callable[[Device], None],
    run: Run,
    kernels: Kernels,
    asked: Asked,
    tape: Tape,
) -> None:
    """Read what runs on a card; once more, each layer, where those that are alike are not."""
    try:
        read(device_of(run, kernels, asked, tape))
    except Entangled:
        tape.clear()
        device = device_of(run, kernels, asked, tape)
        device.copies_layers = False
        read(device)


def write_own(
    run: Run,
    kernels: Kernels,
    asked: Asked,
    tape: Tape,
    *,
    compiled: bool,
    whole: bool = False,
) -> None:
    """Write the events of a run of nanoGPT's own to ``tape``, by reading its texts, or what its
    program has made of them; ``whole`` reads every turn of their loops."""
    from nanolint.recording.own_tape import as_nanogpt
    from nanolint.trainers.nanogpt.own import own_script

    program = run.program if isinstance(run.program, ReadScript) else own_script()
    run = replace(run, program=program)

    def read(device: Device) -> None:
        inductor = kernels.inductor if compiled else None
        read_script(program, run, None, device, inductor=inductor, whole=whole)

    _on_card(read, run, kernels, asked, tape)
    as_nanogpt(tape, run)


def device_of(run: Run, kernels: Kernels, asked: Asked, tape: Tape) -> Device:
    """The card of ``run``, which writes to ``tape``."""
    return Device(
        tape,
        asked=asked,
        workspace_bytes=kernels.workspace_bytes,
        first_bias_bytes=bias_workspace_bytes(run.torch),
        keeps_workspace=kernels.keeps_workspace,
        passing_bias_bytes=passing_bias_workspace_bytes(run.torch),
        capability=FLASH_SINCE if run.attention is Attention.FLASH else BEFORE_FLASH,
        fuses_bfloat16=run.attention is not Attention.MATH,
        release=run.torch,
    )
