"""What a rule is written with: the public surface of rule packs, and all that built-in rules use.

A rule is a function from a Context to findings, with its metadata above it::

    @rule("NL303", "indivisible-heads", Severity.ERROR, needs=[Need.CONFIG])
    def indivisible_heads(context: Context) -> Findings:
        heads, width = context.value("n_head"), context.value("n_embd")
        if isinstance(heads, int) and isinstance(width, int) and width % heads:
            yield Finding("...", context.span("n_head", "n_embd"))

``Context`` is the file at hand: its text, its assignments, its project, and a ``Case`` for each
target GPU, which has the resolved run and the verdict on it. Edits of the text are made by
``replace_value`` and its like. What is not named in ``__all__`` may change with any release.
"""

from nanolint.diagnostics import Edit, FileEdits, Fix, FlagSpan, Related, Safety, Severity, Span
from nanolint.gpus import abilities
from nanolint.gpus.gpu import Gpu, Machine
from nanolint.recording.recording import allocated_bytes, allocates, runs_compiled, state_bytes
from nanolint.rule.api import NO_TARGET, Finding, Findings, FixAvailability, Need, Once, Rule, rule
from nanolint.rule.case import Case
from nanolint.rule.context import Context
from nanolint.rule.placing import (
    elsewhere,
    holders,
    is_here,
    other_trainer,
    quoted,
    span_of,
    text_of,
    told,
    trainers_of,
)
from nanolint.rule.rewrite import (
    insert_assignment,
    is_arithmetic,
    keeps_shape,
    replace_integer,
    replace_value,
)
from nanolint.rule.spelling import meant_code
from nanolint.rule.stopping import stops
from nanolint.run.capability import attention_kernel
from nanolint.run.equation import Equation, Rounding, remainders
from nanolint.run.run import Dialect, Run
from nanolint.run.settled import MEMORY, Layer, Unresolved
from nanolint.run.stop import Cause, Line
from nanolint.run.story import Fact, Told
from nanolint.run.terms import Given, Operation, Place, Surface, Term, as_written, describe
from nanolint.run.trust import Subject, in_short, ordered, way_out
from nanolint.source.assignments import EVERY, Assignment, Comment
from nanolint.source.python import expression_tree, nodes, python_tree
from nanolint.source.suppressions import SuppressedCode, Suppression
from nanolint.source.values import Known, Scalar
from nanolint.tape.tape import Phase
from nanolint.trainers.nanogpt.config import config_runs
from nanolint.trainers.nanogpt.configurator import obstacle
from nanolint.trainers.nanogpt.data_files import datasets, has_dataset
from nanolint.trainers.nanogpt.keys import KEYS, PRETRAINED_CONTEXT, PRETRAINED_SIZES
from nanolint.trainers.nanogpt.resolve import resolve
from nanolint.units import format_bytes
from nanolint.verdict import changes
from nanolint.verdict.changes import Change
from nanolint.verdict.ladder import smallest_card
from nanolint.verdict.replay import OutOfMemory
from nanolint.verdict.search import (
    best_micro_batch,
    best_smaller_step,
    is_under_floor,
    step_floor_bytes,
)
from nanolint.verdict.verdict import Outcome, Verdict, is_comfortable, judge
from nanolint.verdict.words import amount, brief, headline, probably

__all__ = [
    "EVERY",
    "KEYS",
    "MEMORY",
    "NO_TARGET",
    "PRETRAINED_CONTEXT",
    "PRETRAINED_SIZES",
    "Assignment",
    "Case",
    "Cause",
    "Change",
    "Comment",
    "Context",
    "Dialect",
    "Edit",
    "Equation",
    "Fact",
    "FileEdits",
    "Finding",
    "Findings",
    "Fix",
    "FixAvailability",
    "FlagSpan",
    "Given",
    "Gpu",
    "Known",
    "Layer",
    "Line",
    "Machine",
    "Need",
    "Once",
    "Operation",
    "OutOfMemory",
    "Outcome",
    "Phase",
    "Place",
    "Related",
    "Rounding",
    "Rule",
    "Run",
    "Safety",
    "Scalar",
    "Severity",
    "Span",
    "Subject",
    "SuppressedCode",
    "Suppression",
    "Surface",
    "Term",
    "Told",
    "Unresolved",
    "Verdict",
    "abilities",
    "allocated_bytes",
    "allocates",
    "amount",
    "as_written",
    "attention_kernel",
    "best_micro_batch",
    "best_smaller_step",
    "brief",
    "changes",
    "config_runs",
    "datasets",
    "describe",
    "elsewhere",
    "expression_tree",
    "format_bytes",
    "has_dataset",
    "headline",
    "holders",
    "in_short",
    "insert_assignment",
    "is_arithmetic",
    "is_comfortable",
    "is_here",
    "is_under_floor",
    "judge",
    "keeps_shape",
    "meant_code",
    "nodes",
    "obstacle",
    "ordered",
    "other_trainer",
    "probably",
    "python_tree",
    "quoted",
    "remainders",
    "replace_integer",
    "replace_value",
    "resolve",
    "rule",
    "runs_compiled",
    "smallest_card",
    "span_of",
    "state_bytes",
    "step_floor_bytes",
    "stops",
    "text_of",
    "told",
    "trainers_of",
    "way_out",
]
