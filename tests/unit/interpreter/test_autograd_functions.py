"""``torch.autograd.Function`` in a model: what its backward pass hands back has to fit."""

from __future__ import annotations

import pytest

from tests.unit.interpreter.test_programs import read, text_of, unread

ABOVE = """
class Times(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w

    @staticmethod
    def backward(ctx, grad):
        x, w = ctx.saved_tensors
        return grad @ w.t(), {gradient}
"""
INIT = "self.w = nn.Parameter(torch.zeros(32, 16))\nself.v = nn.Parameter(torch.zeros(16, 32))"
FORWARD = "x = Times.apply(x, self.w) @ self.v"
FLAT = "x.flatten(0, 1).t() @ grad.flatten(0, 1)"


@pytest.mark.parametrize("gradient", [FLAT, f"({FLAT})[None].expand(3, 32, 16)"])
def test_a_gradient_of_the_shape_or_one_sum_away_from_it_is_taken(gradient: str) -> None:
    assert read(text_of(FORWARD, INIT, ABOVE.format(gradient=gradient))).events


def test_a_gradient_of_another_shape_is_refused_as_pytorch_does() -> None:
    said = unread(text_of(FORWARD, INIT, ABOVE.format(gradient=f"({FLAT}).t()")))
    assert "Function TimesBackward returned an invalid gradient at index 1" in said
    assert "got [16, 32] but expected shape compatible with [32, 16]" in said


def test_a_backward_pass_that_fails_is_no_run() -> None:
    said = unread(text_of(FORWARD, INIT, ABOVE.format(gradient="grad @ x")))
    assert "raises ValueError" in said or "raises RuntimeError" in said


def test_a_gradient_of_none_is_none_also_where_it_is_of_the_first_parameter() -> None:
    """It has none in any micro-step, and the optimizer passes over it."""
    without = read(text_of(FORWARD, INIT, ABOVE.format(gradient="None")))
    given = read(text_of(FORWARD, INIT, ABOVE.format(gradient=FLAT)))
    assert len(without.sizes) < len(given.sizes)
    first = "super().__init__()\n        self.spare = nn.Parameter(torch.zeros(3))"
    spare = read(text_of().replace("super().__init__()", first))
    assert len(spare.sizes) == len(read(text_of()).sizes) + 1
