"""Ways to compile whose memory is not known: none of them gives a sure number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.explained import explained
from validation.record_variations import CARD
from validation.variations import TEXTS

if TYPE_CHECKING:
    from pathlib import Path

MADE = "torch.compile(GPT().to(device))"
START = "for it in range(9):\n"
CALL = "        loss = model(x, y)\n"
INDENTED = "    with torch.autocast('cuda', dtype=torch.bfloat16):\n" + CALL
FORWARD = "        x = self.wte(idx)\n"
WAYS: dict[str, tuple[str, str]] = {
    **{
        each: (MADE, f"torch.compile(GPT().to(device), {each})")
        for each in (
            "mode='reduce-overhead'",
            "mode='max-autotune'",
            "mode='max-autotune-no-cudagraphs'",
            "dynamic=True",
            "backend='aot_eager'",
            "options={'max_autotune': True}",
        )
    },
    "forward": (MADE, "GPT().to(device)\nmodel.forward = torch.compile(model.forward)"),
    "one block": (MADE, "GPT().to(device)\nmodel.blocks[1] = torch.compile(model.blocks[1])"),
    "blocks in place": (MADE, "GPT().to(device)\nfor block in model.blocks:\n    block.compile()"),
    "class": (
        "model = torch.compile(GPT",
        "GPT.forward = torch.compile(GPT.forward)\nmodel = (GPT",
    ),
    "stance": (START, f"torch.compiler.set_stance('force_eager')\n{START}"),
    "step of the optimizer": (START, f"optimizer.step = torch.compile(optimizer.step)\n{START}"),
    "another size": (START, f"{START}    B = 5 if it % 2 else 8\n"),
    "marked dynamic": (CALL, f"        torch._dynamo.mark_dynamic(x, 0)\n{CALL}"),
    "patched settings": (
        INDENTED,
        "    with torch._inductor.config.patch(allow_buffer_reuse=False):\n"
        "        loss = model(x, y)\n",
    ),
    "patched and off": (
        INDENTED,
        "    with torch._dynamo.config.patch(disable=True):\n        loss = model(x, y)\n",
    ),
    "setattr": (START, f"setattr(torch._inductor.config, 'allow_buffer_reuse', False)\n{START}"),
    "print": (FORWARD, f"{FORWARD}        print(x.shape)\n"),
    "contents": (FORWARD, f"{FORWARD}        print(x.mean().item())\n"),
    "part that is not": (START, f"Block.forward = torch.compiler.disable(Block.forward)\n{START}"),
    "script": (MADE, "torch.jit.script(GPT().to(device))"),
    "buffer": (
        FORWARD,
        "        self.count = getattr(self, 'count', torch.zeros((), device='cuda')) + 1\n"
        + FORWARD,
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_way_to_compile_that_is_not_known_is_no_sure_number(tmp_path: Path, way: str) -> None:
    old, new = WAYS[way]
    text = TEXTS["settings: compiled"]
    assert text.count(old) == 1
    found = explained(tmp_path, text.replace(old, new), card=CARD)
    assert found["trust"] != "read" or found["doubts"]
