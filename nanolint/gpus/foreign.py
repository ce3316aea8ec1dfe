"""Accelerators that people train on and whose memory nanolint does not model, each with its reason.

Without this a chip of Apple's would be told that NVIDIA's M10 looks alike.
"""

from __future__ import annotations

import re

from nanolint.regex import lazily

# Whose it is, and what torch calls its way to it.
_MAKERS = (
    (lazily(r"(apple )?m[1-9]( ?(pro|max|ultra))?( gpu)?|apple.*|mps|metal"), "Apple's", "MPS"),
    (lazily(r"(amd )?(rx|vega|ryzen|firepro)\b.*|.*radeon.*|rocm"), "AMD's", "ROCm"),
    (lazily(r"(arc|iris|gaudi|data center gpu max)\b.*|intel.*|xpu"), "Intel's", "XPU"),
    (lazily(r"(google )?(cloud )?tpu\b.*"), "Google's", "XLA"),
)
_JETSON = lazily(r".*\b(jetson|orin|xavier|thor)\b.*")


def why_unmodelled(name: str) -> str | None:
    """Why no verdict can be given on what is called ``name``; None for what nobody knows."""
    bare = " ".join(re.split(r"[\s_-]+", name.lower())).strip()
    for pattern, whose, backend in _MAKERS:
        if pattern.fullmatch(bare):
            return f"it is {whose}; nanolint models the memory of CUDA, not of {backend}"
    if _JETSON.fullmatch(bare):
        return (
            "a Jetson shares its memory with the system; "
            "give the part that a run may use as a size, such as 12GiB"
        )
    return None
