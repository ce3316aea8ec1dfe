"""The events of a run, written to a tape: its script is read.

This is what takes time; nobody imports it before something has to be read.

Tapes of nanoGPT's own texts are told in the words that people know: phases, parts, letters. Letters
stand for the numbers of a shape, "(B*T, V)", as in nanoGPT's code: what is named so has these very
sizes, whichever letters of the same size were meant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from nanolint.regex import lazily
from nanolint.run.program import ReadScript
from nanolint.run.run import Attention, Run
from nanolint.script.script import read_script
from nanolint.script.weights import WeightsFound
from nanolint.tape.located import Located
from nanolint.tape.tape import Component, Phase
from nanolint.tape.torch import bias_workspace_bytes, passing_bias_workspace_bytes
from nanolint.tensors.autograd import Entangled
from nanolint.tensors.device import Device
from nanolint.tensors.ops.attention import FLASH_SINCE
from nanolint.trainers.nanogpt.own import SCRIPT

if TYPE_CHECKING:
    from collections.abc import Callable

    from nanolint.gpus.gpu import Gpu
    from nanolint.recording.kernels import Kernels
    from nanolint.script.weights import Weights
    from nanolint.tape.locating import Where
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


BATCH = "batch (B, T) int64"


def as_nanogpt(tape: Tape, run: Run) -> None:
    """Call what is on ``tape`` as nanoGPT's files do."""
    names = in_letters(tape.names, run)
    # X or Y, as our text of train.py makes them; where T is 1 its letters might be others.
    made = f"tensor ({run.batch_size}, {run.block_size}) int64"
    for handle, name in enumerate(tape.names):
        if name == made:
            names[handle] = BATCH
            tape.components[handle] = Component.INPUTS
    if isinstance(tape, Located):  # of sizes that are told apart line by line
        tape.wheres = [each and _in_project(each) for each in tape.wheres]
    else:
        tape.names = names
    first = [phase for _, phase in tape.phases].index(Phase.EVAL)
    for event in tape.events[: tape.phases[first][0]]:
        if event >= 0 and tape.components[event] is Component.ACTIVATIONS:
            tape.components[event] = Component.PARAMETERS  # of the checkpoint that it resumes
    # The first estimate_loss follows as soon as all is on the card: one phase to its readers. What
    # comes behind the last step, or before a later estimate_loss, is no forward pass.
    last = max((at for at, phase in tape.phases if phase is Phase.BACKWARD), default=0)
    behind = [*(phase for _, phase in tape.phases[first + 2 :]), None]
    tape.phases = [
        (0, Phase.EVAL),
        *(
            (at, phase)
            for (at, phase), then in zip(tape.phases[first + 1 :], behind, strict=True)
            if phase is not Phase.FORWARD or (at < last and then is not Phase.EVAL_LATE)
        ),
    ]


def _in_project(where: Where) -> Where | None:
    """Without the lines of our text of train.py, which is not the project's."""
    stack = tuple([each for each in where.stack if each.path != SCRIPT])
    return where._replace(stack=stack) if stack else None


_PARAMETER = lazily(r"\.(weight|bias)\b")
_SHAPE = lazily(r"\((\d+(?:, \d+)*),?\)")


def in_letters(names: list[str], run: Run) -> list[str]:
    """The names of a tape, each shape in letters where it is one of those that nanoGPT has."""
    activations, weights = _activations(run), _weights(run)
    known: dict[str, str] = {}
    for name in dict.fromkeys(names):
        of_weight = _PARAMETER.search(name) is not None
        of = {**activations, **weights} if of_weight else {**weights, **activations}
        shape = _SHAPE.search(name)
        letters = of.get(shape[1]) if shape else None
        known[name] = name.replace(shape[0], letters) if shape and letters else name
    return [known[each] for each in names]


def _activations(run: Run) -> dict[str, str]:
    b, t, v, c, h = (
        run.batch_size,
        run.block_size,
        run.vocab_size,
        run.sizes.n_embd,
        run.sizes.n_head,
    )
    assert c is not None and h is not None  # of nanoGPT's own all are known
    found = {
        "T": (t,), "B*T": (b * t,), "B, T": (b, t), "T, C": (t, c),
        "B*T, C": (b * t, c), "B*T, 3C": (b * t, 3 * c), "B*T, 4C": (b * t, 4 * c),
        "B, H, T": (b, h, t), "B, H, T, T": (b, h, t, t), "B, H, T, D": (b, h, t, c // h),
        "B, H, D, T": (b, h, c // h, t), "B*H, T, T": (b * h, t, t),
        "B*H, T, D": (b * h, t, c // h),
        "B*H, D, T": (b * h, c // h, t), "1, 1, T, T": (1, 1, t, t), "B, T, H": (b, t, h),
        "B, T, H, D": (b, t, h, c // h), "B, T, 1": (b, t, 1), "B*T, 1": (b * t, 1),
        "B*T, V": (b * t, v),
        "B, T, C": (b, t, c), "B, T, 3C": (b, t, 3 * c), "B, T, 4C": (b, t, 4 * c),
    }  # fmt: skip
    # In three dimensions the logits are called as the loss has them.
    return {**_by_numbers(found), f"{b}, {t}, {v}": "(B*T, V)"}


def _weights(run: Run) -> dict[str, str]:
    c, v = run.sizes.n_embd, run.vocab_size
    assert c is not None
    found = {
        "3C": (3 * c,), "4C": (4 * c,), "C": (c,), "C, C": (c, c),
        "3C, C": (3 * c, c), "C, 3C": (c, 3 * c),
        "4C, C": (4 * c, c), "C, 4C": (c, 4 * c), "V, C": (v, c), "C, V": (c, v),
    }  # fmt: skip
    return _by_numbers(found)


def _by_numbers(forms: dict[str, tuple[int, ...]]) -> dict[str, str]:
    return {", ".join(map(str, shape)): f"({letters})" for letters, shape in forms.items()}
