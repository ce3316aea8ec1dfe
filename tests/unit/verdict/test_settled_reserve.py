"""Reserved bytes grow into the third step, and no further."""

from __future__ import annotations

from dataclasses import replace

from nanolint.gpus.lookup import find
from nanolint.trainers.nanogpt.resolve import default_run
from nanolint.verdict.replay import replay

# Reserved by PyTorch 2.15, for three steps as for six: nanolint trace --gpu rtx-3090 -- python
# train.py --batch_size=16 --gradient_accumulation_steps=8 --compile=False --eval_iters=4
# --eval_interval=3 --max_iters=20, of karpathy/nanoGPT@3adf61e.
TRACED = 24_224_202_752


def test_an_eager_run_of_eight_passes_reserves_what_pytorch_does() -> None:
    run = replace(
        default_run(), batch_size=16, gradient_accumulation_steps=8, compile=False, torch=(2, 15),
        vocab_size=50_304, eval_iters=4, eval_interval=3, max_iters=20,
    )  # fmt: skip
    assert replay(run, find("rtx-3090").gpu).peak.reserved_bytes == TRACED
