"""A number that memory does not follow is typed without the run being read again.

These take seconds each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

from tests.unit.lsp.test_watched_numbers import Editor, assert_takes_more, editor


@pytest.mark.parametrize(
    "more",
    [
        "width = int(f'{{weight_decay:.1f}}'[-1])",
        "width = round(10 * weight_decay)",
        "width = math.floor(10 * weight_decay)",
        "width = {{0.1: 1, 0.3: 3}}[weight_decay]",
        "width = 1 if weight_decay in (0.1, 0.2) else 3",
        "width = int(10 * weight_decay)",
        "width = int(10 * float(weight_decay))",
        "width = int(str(weight_decay)[-1])",
        "width = int('%s' % weight_decay[-1:]) if isinstance(weight_decay, str) else "
        "int(repr(weight_decay)[-1])",
        "width = max(weight_decay, 0.2) > 0.2 and 3 or 1",
        "width = int(sorted([weight_decay, 0.2])[0] * 10)",
        "width = int(sum([weight_decay, 0.0]) * 10)",
        "width = int(math.sqrt(weight_decay * weight_decay) * 10 + 0.5)",
        "width = int(abs(-weight_decay) / 0.1 // 1)",
        "width = 3 if weight_decay.is_integer() or weight_decay.real > 0.2 else 1",
        "width = int(-(-weight_decay) % 1 * 10)",
        "width = 1 if [0.1] == [weight_decay] else 3",
        "width = math.prod([10, weight_decay]) > 2 and 3 or 1",
    ],
)
def test_nothing_that_looks_at_a_number_gives_an_old_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: str
) -> None:
    more = f"{more.replace('{{', '{').replace('}}', '}')}\nkept = torch.zeros(width, 2**20).cuda()"
    editor = Editor(tmp_path, monkeypatch, more=more)
    assert_takes_more(editor, "weight_decay = 0.1", "weight_decay = 0.3")


__all__ = ["editor"]  # fixtures
