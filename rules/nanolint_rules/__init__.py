"""nanolint's built-in rules: one module and one page each, by topic."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nanolint.rule import Rule

_MODULES = {
    "reading": (
        "syntax_error",
        "unused_suppression",
        "unknown_suppression",
        "unresolvable_value",
        "doubted_run",
        "unexecutable_config",
    ),
    "memory": (
        "predicted_oom",
        "oversized_logits",
        "thin_margin",
        "fragmented_oom",
        "idle_memory",
    ),
    "gpu": (
        "compile_on_small_gpu",
        "compile_on_old_gpu",
        "bfloat16_on_old_gpu",
        "float32_on_tensor_cores",
        "compile_on_mps",
        "ignored_dtype",
    ),
    "config": (
        "unknown_key",
        "drifting_type",
        "indivisible_heads",
        "indivisible_accumulation",
        "duplicate_assignment",
        "ignored_model_key",
        "context_beyond_checkpoint",
        "schedule_mismatch",
        "endless_warmup",
        "rising_learning_rate",
        "unsaved_tail",
        "inherited_accumulation",
        "stale_arithmetic",
        "invalid_choice",
        "unaligned_head_size",
        "unaligned_vocabulary",
        "missing_dataset",
    ),
    "running": (
        "operands_do_not_fit",
        "index_beyond_size",
        "unusable_graph",
        "refused_argument",
        "failing_check",
        "failing_name",
        "failing_import",
    ),
    "training": (
        "eval_without_no_grad",
        "memory_leak",
        "accumulated_loss_not_divided",
        "gradients_never_zeroed",
        "clip_before_unscale",
        "dropout_in_eval",
        "stuck_in_eval",
        "fp16_without_scaler",
        "checkpoint_cannot_resume",
        "sampler_never_told_epoch",
        "scaler_with_bf16",
        "tokens_do_not_fit_dtype",
        "softmax_before_cross_entropy",
        "step_in_micro_loop",
    ),
    "torch": (
        "deprecated_grad_scaler",
        "deprecated_cuda_autocast",
        "deprecated_custom_fwd_bwd",
        "deprecated_sdp_kernel",
        "legacy_tf32_flags",
        "unchecked_checkpoint_load",
        "implicit_reentrant_checkpoint",
        "emulated_bfloat16_check",
        "retained_logits",
        "suppressed_compile_errors",
        "renamed_allocator_variable",
        "unmodelled_compile_mode",
        "late_gradient_sync",
        "float32_rms_norm",
        "optimizer_floor",
        "masked_window",
        "indivisible_total",
        "rounded_accumulation",
    ),
}


def _load(topic: str, name: str) -> Rule:
    """The one rule of a module: a function called like the module, decorated with ``@rule``."""
    module = import_module(f"{__name__}.{topic}.{name}")
    loaded: Rule = getattr(module, name)
    return loaded


RULES: tuple[Rule, ...] = tuple(
    _load(topic, name) for topic, names in _MODULES.items() for name in names
)
