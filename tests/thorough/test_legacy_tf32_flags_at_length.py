"""

These take seconds each.
"""

from __future__ import annotations

from tests.support.project_tree import SETUP, train_script
from tests.unit.rules.torch.test_legacy_tf32_flags import BENCH, FLAGS


def test_a_train_script_has_one_finding() -> None:
    assert BENCH.findings(train_script()) == []
    text = train_script(setup=FLAGS + SETUP)
    assert BENCH.marked(text) == ["torch.backends.cuda.matmul.allow_tf32"]
    (other,) = BENCH.finding(text).related
    assert text[other.span.start : other.span.end] == "torch.backends.cudnn.allow_tf32"
