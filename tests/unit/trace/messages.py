"""What a child would tell, made by hand."""

from __future__ import annotations

from typing import Any

MIB = 1 << 20
WEIGHTS, BATCH, HIDDEN, LOSS, WORKSPACE, GRADIENT, MOMENT = range(7)


def message(**changes: Any) -> dict[str, Any]:
    """A run of one step: weights, a batch, activations, a loss, gradients, Adam's moment."""
    told: dict[str, Any] = {
        "torch": "2.13.0+cu130",
        "capability": [8, 9],
        "error": None,
        "allocated": 80 * MIB,
        "reserved": 100 * MIB,
        "events": [WEIGHTS, BATCH, HIDDEN, LOSS, WORKSPACE, GRADIENT, ~LOSS, ~HIDDEN, MOMENT],
        "nbytes": [10 * MIB, 100, 20 * MIB, 30 * MIB, 8 * MIB, 10 * MIB, 20 * MIB],
        "places": [
            ["train.py", 3, "<module>", "model.to(device)"],
            ["train.py", 9, "<module>", "x = x.to('cuda')"],
            ["model.py", 20, "forward", "x = self.proj(x)"],
            ["model.py", 30, "forward", "loss = F.cross_entropy(logits, targets)"],
        ],
        "place_of": [0, 1, 2, 3, 2, -1, -1],
        "phases": [[0, "setup"], [1, "forward"], [5, "backward"], [6, "optimizer"]],
        "components": {
            "parameters": [WEIGHTS],
            "optimizer": [],
            "workspace": [WORKSPACE],
            "gradients": [GRADIENT],
        },
        "opened": [],
        "cpu_seconds": 3.0,
        "modules": ["/p/train.py", "/p/model.py"],
        "skipped": ["torch.save: out/ckpt.pt (train.py:40)"],
        "invented": [],
        "indices": [],
        "unpadded": [],
        "doubts": [],
        "written": ["/p/log.txt"],
        "seconds": 1.5,
        "host_bytes": 700 * MIB,
        "printed": "step 0",
    }
    return {**told, **changes}
