"""NL104: enough memory in sum, but not in one piece."""

from __future__ import annotations

from dataclasses import replace

from nanolint.rule import Context, Findings, FixAvailability, Need, Outcome, Severity, rule
from nanolint_rules.memory._budget import FAMILY, out_of_memory

VARIABLE = "PYTORCH_CUDA_ALLOC_CONF"  # which all releases read (NL411)


@rule(
    "NL104",
    "fragmented-oom",
    Severity.ERROR,
    needs=[Need.CONFIG, Need.RUN, Need.GPU],
    fix=FixAvailability.SOMETIMES,
    family=FAMILY,
)
def fragmented_oom(context: Context) -> Findings:
    """The run fits with expandable segments, but not with PyTorch's default allocator."""
    for finding in out_of_memory(context, lambda outcome, _: outcome is Outcome.FRAGMENTED):
        way_out = f"it fits unchanged with {VARIABLE}=expandable_segments:True in the environment"
        yield replace(finding, notes=(*finding.notes, way_out))
