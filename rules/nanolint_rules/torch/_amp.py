"""What lived in torch.cuda.amp and torch.cpu.amp, and takes the device as an argument now."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from nanolint.rule import Context, Finding, Findings, Fix
from nanolint_rules.torch._moving import groups
from nanolint_rules.torch._names import names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nanolint_rules.torch._names import Names, Use

    Fixer: TypeAlias = Callable[[Context, Names, list[Use]], Fix | None]


def moved(
    context: Context,
    devices: Mapping[str, str],
    modern: str,
    fix: Fixer,
    notes: tuple[str, ...] = (),
) -> Findings:
    """The calls of the functions in ``devices``, which names the device of each.

    Those that an import falls back on when ``modern`` is missing are meant for old releases.
    """
    resolved = names(context)
    uses = [use for use in resolved.uses(devices) if not resolved.is_fallback(use, modern)]
    name = modern.rpartition(".")[2]
    for group in groups(uses):
        edits = fix(context, resolved, group)
        spans = context.spans([use.call.func for use in group])
        for use in group:
            device = devices[use.qualified]
            yield Finding(
                message=(
                    f"torch.{device}.amp.{name}(...) is deprecated since PyTorch 2.4; "
                    f"use {modern}('{device}', ...)"
                ),
                span=spans[use.call.func],
                fix=edits,
                notes=notes,
            )
