"""A factor is taken out of a softmax: the largest element is looked for before it is multiplied.

torch/_inductor/fx_passes/joint_graph.py, ``mul_softmax_pattern`` and ``div_softmax_pattern``. From
2.13 on rows that are not finite keep what they had, by
``_preserve_scaled_softmax_nonfinite_semantics``: then both maxima, and which rows are finite, are
kept for the backward pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nanolint.inductor.derive.operations import POINTWISE, REDUCTION, Operation
from nanolint.tensors.dtypes import BOOL

if TYPE_CHECKING:
    from nanolint.inductor.derive.operations import Operations, Setting
    from nanolint.tensors.dtypes import Dtype

FACTORS = frozenset({"product", "quotient"})
CONVERT = "convert"


class _Scaled(NamedTuple):
    """``difference`` is of ``whole`` and its largest; ``whole`` is ``linear``, or converted."""

    difference: Operation
    top: Operation
    whole: Operation
    linear: Operation
    inner: Operation
    factor: Operation | None  # None is a number


def take_out_factors(graph: Operations, *, keeps_nonfinite: bool) -> None:
    """Rewrite each scaled difference from its largest element, as Inductor does."""
    matches = [match for each in graph.all if (match := _match(each)) is not None]
    if not matches:
        return
    for found in matches:
        made = _Replacement(found, keeps_nonfinite=keeps_nonfinite)
        place = graph.all.index(found.difference)
        graph.all[place:place] = made.operations
        graph.replace({found.difference: made.result})
    graph.drop_dead()
    graph.connect()


def _match(difference: Operation) -> _Scaled | None:
    if difference.name != "difference" or len(difference.of) != 2:
        return None
    whole, top = difference.of
    if top.name != "amax" or top.of != (whole,) or len(top.users) != 1:
        return None
    linear = whole.of[0] if whole.name == CONVERT else whole
    rounds = any(isinstance(each, str) for each in linear.settings)
    if linear.name not in FACTORS or rounds or not linear.of:
        return None
    if len(linear.of) == 1:
        number_first = linear.settings and linear.settings[0] is not None
        if linear.name == "quotient" and number_first:
            return None
        return _Scaled(difference, top, whole, linear, linear.of[0], None)
    pairs = [linear.of] if linear.name == "quotient" else [linear.of, linear.of[::-1]]
    for inner, factor in pairs:
        if _is_same_in(factor, inner, top.settings[0]):
            return _Scaled(difference, top, whole, linear, inner, factor)
    return None


def _is_same_in(factor: Operation, inner: Operation, dims: Setting) -> bool:
    """``_other_is_broadcasted_in_dim``."""
    missing = len(inner.shape) - len(factor.shape)
    if missing < 0 or not isinstance(dims, tuple):
        return False
    shape = (1,) * missing + factor.shape
    return all(isinstance(dim, int) and shape[dim] == 1 for dim in dims)


class _Replacement:
    """The operations in the place of one difference, in order; ``result`` is the last."""

    def __init__(self, found: _Scaled, *, keeps_nonfinite: bool) -> None:
        self.operations: list[Operation] = []
        self._found = found
        self._region = found.difference.region
        whole, top = found.whole, found.top
        scaled = self._scaled() if keeps_nonfinite else None
        inner = found.inner
        if whole.name == CONVERT:
            inner = self._like(CONVERT, (inner,), whole.dtype, of=inner)
        number = found.linear.settings
        if found.factor is None:
            signed = self._like("product", (inner,), inner.dtype, None, 1, of=inner)
            scale: tuple[Operation, ...] = ()
        else:
            number = ()
            sign, factor = self._sign(found.factor, inner.dtype)
            signed = self._like("product", (inner, sign), inner.dtype)
            scale = (factor,)
        largest = self._largest("amax", signed, inner.dtype)
        below = self._like("difference", (signed, largest), inner.dtype)
        stable = self._like(found.linear.name, (below, *scale), whole.dtype, *number)
        if scaled is None:
            self.result = stable
            return
        original = self._like(
            "difference", (scaled, self._largest("amax", scaled, top.dtype)), whole.dtype
        )
        absolute = self._like("absolute value", (scaled,), whole.dtype)
        finite = self._like("comparison", (absolute,), BOOL, None, 0)
        known = self._like("comparison", (scaled, scaled), BOOL)
        both = self._like("product", (known, finite), BOOL)
        rest = self._largest("any", self._like("comparison", (both,), BOOL), BOOL)
        chosen = self._like("comparison", (rest,), BOOL, of=rest)
        self.result = self._like("where", (chosen, stable, original), whole.dtype)

    def _scaled(self) -> Operation:
        """What was scaled, once more."""
        found = self._found
        linear = found.linear
        again = self._like(linear.name, linear.of, linear.dtype, *linear.settings, of=linear)
        if found.whole.name != CONVERT:
            return again
        return self._like(CONVERT, (again,), found.whole.dtype)

    def _sign(self, factor: Operation, dtype: Dtype) -> tuple[Operation, Operation]:
        """The sign of a factor, and the factor times it."""
        one = self._made(Operation("full", POINTWISE, (), (), (), dtype, factor.role))
        minus = self._like("negative", (one,), dtype, of=one)
        positive = self._like("comparison", (factor,), BOOL, None, 0, of=factor)
        sign = self._like("where", (positive, one, minus), dtype, of=factor)
        return sign, self._like("product", (sign, factor), dtype, of=factor)

    def _like(
        self,
        name: str,
        sources: tuple[Operation, ...],
        dtype: Dtype,
        *settings: Setting,
        of: Operation | None = None,
    ) -> Operation:
        like = of or self._found.whole
        made = Operation(
            name, POINTWISE, sources, like.shape, like.strides, dtype, like.role, settings
        )
        made.numbers = tuple([each for each in settings if isinstance(each, (int, float))])
        return self._made(made)

    def _made(self, made: Operation) -> Operation:
        made.region = self._region
        self.operations.append(made)
        return made

    def _largest(self, name: str, source: Operation, dtype: Dtype) -> Operation:
        """A reduction over what the largest element was looked for in."""
        top = self._found.top
        made = Operation(
            name, REDUCTION, (source,), top.shape, top.strides, dtype, top.role, top.settings
        )
        return self._made(made)
