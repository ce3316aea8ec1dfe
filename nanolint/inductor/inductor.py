"""Differences between releases of Inductor and AOTAutograd in the memory of a compiled run.

Each difference is a named fact with its source: a file of PyTorch's, and the first release in
which it is so. Compared with the allocations of each release (validation/recorded/releases.json).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from nanolint.tape.torch import Version

# torch/_inductor/fx_passes/fuse_attention.py: attention that is written out becomes one call,
# whatever dimension its softmax is over (issue 196468 of pytorch/pytorch). Seen in 2.11, not in
# 2.15, where it is not known of the last one.
SOFTMAX_TOLD_SINCE: Version = (2, 15)

# torch/_inductor/fx_passes/post_grad.py, optimize_scatter_upon_const_tensor: nll_loss's backward
# pass no longer scatters into a zeros tensor of its own.
SCATTER_FUSED_SINCE: Version = (2, 5)

# Before 2.10 that was so only where the graph has been cut in two: the partitioner saw a scatter.
# Now it sees a comparison (torch/_inductor/fx_passes/joint_graph.py). In 2.10, not in 2.9.
SCATTER_COMPARED_SINCE: Version = (2, 10)

# torch/_functorch/partitioners.py: the partitioner saves the loss's largest logits and sums, (B*T)
# each. Before, it saved the log-softmax; and the terms of the residual stream, which it added up
# again for all layers at once, in place of the LayerNorms' normalised inputs: that is not replayed.
STATISTICS_SAVED_SINCE: Version = (2, 4)

# In float32 the gradient of the tied embedding is added by lm_head's product, which waits for it.
# Before, the product was made at once, and (V, C) waited: seen in the allocations of 2.5 and 2.6.
ADDED_IN_PRODUCT_SINCE: Version = (2, 6)

# torch/_inductor/config.py, reorder_for_peak_memory.
REORDERED_SINCE: Version = (2, 6)

# torch/_inductor/codegen/wrapper.py, AllocateLine.should_reuse_buffer: a freed buffer is kept for a
# later one only where that does not raise the peak. Before, it always was.
REUSE_WEIGHED_SINCE: Version = (2, 9)

# torch/_inductor/memory.py, compute_size_for_scheduler_buffer: a buffer that a kernel adds to
# counts once in the estimate of the peak. Before, the kernel counted as making another.
MUTATED_COUNTED_ONCE_SINCE: Version = (2, 9)

# torch/_inductor/memory.py, estimate_peak_memory: what a graph hands out is taken off where it
# starts, and no estimate is below zero (codegen/segmented_tree.py): a forward pass that keeps much
# holds hardly any freed buffer for a later one.
OUTPUTS_TAKEN_OFF: tuple[Version, Version] = (2, 9), (2, 12)

# torch/_inductor/config.py, triton.mix_order_reduction: two sums of one tensor in one kernel.
MIXED_SUMS_SINCE: Version = (2, 10)

# torch/_inductor/scheduler.py, MixOrderReduction.can_fuse: those, too, where there are not twice as
# many rows as columns, or as many. In 2.15, not in 2.14.1.
FLAT_SUMS_MIXED_SINCE: Version = (2, 15)

# torch/_inductor/config.py, loop_ordering_after_fusion: kernels whose loops run in another order
# may be launched together. On by default in 2.10, not in 2.9.
LOOPS_REORDERED_SINCE: Version = (2, 10)

# torch/_inductor/scheduler.py, shared_data_after_reordering_loop: an order of loops that is tried
# for a pair stays, even where that is not launched together, and the largest memory that both touch
# decides it. In 2.11. From 2.13 on `_try_reorder_loops_for_candidates` takes it back.
TRIED_ORDERS_TAKEN_BACK_SINCE: Version = (2, 13)

# torch/_inductor/config.py, loop_reindexing_after_fusion: the loops of an elementwise kernel may be
# cut as those of a sum. In 2.13, not in 2.12.1.
LOOPS_CUT_SINCE: Version = (2, 13)

# torch/_inductor/sizevars.py, `_simplify_with_ranges`: a quotient of what is less than its divisor
# is known to be 0. Before, only where one loop is left in it. In 2.12.1, not in 2.11. Up to 2.9
# loops were merged before kernels were launched together, which drops it, too.
QUOTIENTS_KEPT: tuple[Version, Version] = (2, 10), (2, 11)

# torch/_inductor/fx_passes/post_grad.py, unfuse_bias_add_to_pointwise (pull request 176848): a
# product in two bytes adds its bias itself. Before, one that is only read element by element left
# it to its reader. In 2.11, from 2.12 on an option (config.py, keep_addmm_fused_for_half_dtypes);
# not in 2.9.
HALF_BIASES_KEPT_SINCE: Version = (2, 11)

# torch/_inductor/fx_passes/joint_graph.py, mul_softmax_pattern: a factor is taken out of a softmax,
# whose largest element is looked for without it. In 2.4.1, not in 2.2.2.
FACTORS_TAKEN_OUT_SINCE: Version = (2, 4)

# The same file, _preserve_scaled_softmax_nonfinite_semantics: what was there before is computed
# beside it, for rows that are not finite: another maximum and a flag for each row are kept.
NONFINITE_KEPT_SINCE: Version = (2, 13)

# torch/_inductor/choices.py, reduction_split_factor: a sum is split by the threads that a
# multiprocessor of the card holds. Before, by 2048 (ir.py in releases before 2.6).
CARDS_THREADS_SINCE: Version = (2, 12)
THREADS_BEFORE = 2048

# The same place: a sum of no more elements, side by side in memory, is one kernel's. From 2.13 on
# cards of compute capability 10.0 and up have another limit; from 2.14 on one that asks whether
# there are as many sums as multiprocessors.
WHOLE_SUM = 8192
BLACKWELL = (10, 0)
BLACKWELL_WHOLE_SUMS: tuple[tuple[Version, tuple[int, int]], ...] = (
    ((2, 14), (32768, 40960)),
    ((2, 13), (524288, 524288)),
)

# torch/_inductor/ir.py, Reduction.num_splits: where no operand is read whole, those that are
# repeated decide. Before, such a sum was not split.
REPEATED_READS_SPLIT_SINCE: Version = (2, 13)

# torch/_functorch/_aot_autograd/runtime_wrappers.py: the gradient of a result that does not lie in
# order is taken as it lies. Before, it was copied into order, which is not replayed. Seen in 2.13
# and 2.15, not in 2.9.
TANGENTS_AS_THEY_LIE_SINCE: Version = (2, 13)

# torch/_inductor/ir.py, View.create: what becomes memory and is then seen in another shape lies in
# order. Before, its rows were laid apart all the same. In 2.13 and 2.15, not in 2.9.
SEEN_IN_ORDER_SINCE: Version = (2, 13)

# torch/_inductor/lowering.py, ``cat``: a part that others read, too, is made once, where it lies in
# the whole; and ``_pad_as_cat``. In 2.13 and 2.15, not in 2.9.
SHARED_PARTS_KEPT_SINCE: Version = (2, 13)

# torch/_inductor/fx_passes/joint_graph.py, ``constant_fold_uniform_value``: what is multiplied by
# the number 1, or has 0 added, is itself. In 2.14.1, not in 2.13.
NUMBERS_DROPPED_SINCE: Version = (2, 14)

# torch/_inductor/fx_passes/post_grad.py, should_prefer_unfused_baddbmm: what batched products add
# is left to their reader, as a bias is. In 2.14.1, not in 2.13.
ADDED_APART_SINCE: Version = (2, 14)

# torch/_inductor/scheduler.py, ``_can_reindex_consumer_for_index_inversion``: a copy into order is
# launched with what makes what it copies. In 2.14.1, not in 2.13.
COPIES_FUSED_SINCE: Version = (2, 14)

# torch/_inductor/fx_passes/joint_graph.py, ``pointless_convert``: a cast to a narrower type and
# back stays. Before, it was left out, as was one of integers to a float between. In 2.13, not in
# 2.12.1.
NARROW_CASTS_KEPT_SINCE: Version = (2, 13)

# torch/_decomp/decompositions.py, one_hot: that the classes are none but those that there are is
# asserted, which cannot be fused for all that the partitioner knows. In 2.13, not in 2.9.
CLASSES_ASSERTED_SINCE: Version = (2, 13)

# torch/_inductor/utils.py, is_nonfreeable_buffers: the gradients of results do not count in the
# estimate of the peak, as weights do not. Before, they did (memory.py, get_freeable_input_buf). In
# 2.10, not in 2.9.
TANGENTS_NOT_COUNTED_SINCE: Version = (2, 10)

# torch/_inductor/lowering.py, ``expand``: what is repeated is computed wherever it is read, unless
# it takes many steps. Before, it became memory where it reads more than four others. In 2.13, not
# in 2.12.1. What is put at one index of a whole (``select_scatter``) does so again, in 2.15, not in
# 2.14.1.
REPEATED_INLINED_SINCE: Version = (2, 13)
PUT_INLINED_BEFORE: Version = (2, 15)

# codegen/simd_kernel_features.py, `tiling_scores_suggest_inner_reduction`: a sum whose launch goes
# through many more bytes along it than across is held at once. In 2.14.1, not in 2.13.
SUMS_WEIGHED_SINCE: Version = (2, 14)

# torch/_inductor/kernel/mm_common.py, _use_small_mm_pointwise: a product of few columns and as few
# results a row is computed element by element. In 2.14.1, not in 2.13.
SMALL_MULTIPLIED_SINCE: Version = (2, 14)

# torch/utils/_sympy/functions.py, ``Identity``: how far a step along what is joined leads is known,
# by which loops are ordered. Before, it counted as none (sizevars.py, ``stride_hints``). In 2.13,
# not in 2.9.
JOINED_STEPS_KNOWN_SINCE: Version = (2, 13)

# torch/_inductor/fx_passes/post_grad.py, _is_bias_like_addmm_input: a product adds what is as large
# as itself, whoever reads that. Before, not where it is read element by element. In 2.14.1, not in
# 2.13.
WHOLE_ADDED_SINCE: Version = (2, 14)

# torch/_functorch/partitioners.py, is_nonzero_dropout_sdpa: attention without dropout draws
# nothing, and needs no random state when a checkpoint makes it again. Before, it was run with one.
# In 2.14.1, not in 2.13.
STATE_ONLY_FOR_DROPOUT_SINCE: Version = (2, 14)

# torch/_functorch/partitioners.py, ``partition_key``: what the backward pass needs is not one with
# what only the forward pass does. In 2.14.1, not in 2.13.
NEEDS_TOLD_APART_SINCE: Version = (2, 14)

# runtime_wrappers.py, as above, sets `boxed_grads_call`: autograd hands the
# gradients over in a list that the compiled backward pass empties. Before, a tuple held them all.
GRADIENTS_BOXED_SINCE: Version = (2, 13)


class Inductor(NamedTuple):
    """The facts of one release of PyTorch; the newest one's by default."""

    holds_gradients: bool = False  # of the outputs, through the backward pass: sBTV for the logits
    fuses_any_softmax: bool = False  # of attention that is written out
    scatters_loss: bool = False  # the loss's backward pass makes a float32 (B*T, V) buffer
    compares_scattered: bool = True  # before it cuts the graph in two
    saves_log_softmax: bool = False  # the loss keeps (B*T, V) in the logits' type: sBTV
    adds_in_product: bool = True  # the tied embedding's gradient in float32
    reorders: bool = True  # the backward graph, for the lowest peak
    weighs_reuse: bool = True  # of a freed buffer, against the peak
    counts_mutated: bool = False  # buffers twice, in the estimate of the peak
    counts_tangents: bool = False  # in the estimate of the peak
    takes_off_outputs: bool = False  # from the estimate of the peak
    mixes_sums: bool = True  # a LayerNorm's sums over rows and over columns
    mixes_flat: bool = True  # sums of fewer than twice as many rows as columns
    reorders_loops: bool = True  # of kernels that are launched together
    keeps_tried_orders: bool = False  # of loops, whether or not kernels are then launched together
    cuts_loops: bool = True  # of elementwise kernels, as those of sums
    keeps_quotients: bool = False  # that are 0, in the places of what is seen in another shape
    keeps_half_biases: bool = True  # in the product, whoever reads it
    takes_out_factors: bool = True  # of a softmax
    keeps_nonfinite: bool = True  # rows of a softmax whose factor is taken out
    orders_tangents: bool = False  # copies gradients of results that do not lie in order
    threads_per_sm: int | None = None  # by which sums are split; None: those of the card
    whole_sum: tuple[int, int] = (WHOLE_SUM, WHOLE_SUM)  # elements; of few sums, of many
    sees_in_order: bool = True  # what is seen in another shape
    splits_repeated: bool = True  # sums of which no operand is read whole
    keeps_shared_parts: bool = True  # of what is joined
    adds_apart: bool = True  # what batched products add
    drops_numbers: bool = True  # that change nothing
    fuses_copies: bool = True  # into order, with what makes what they copy
    asserts_classes: bool = True  # of one_hot
    keeps_narrow_casts: bool = True  # between wider types
    inlines_repeated: bool = True  # what is repeated, however much it reads
    inlines_put: bool = False  # what is put at an index
    weighs_sums: bool = True  # by the bytes along them, whether to hold them at once
    multiplies_small: bool = True  # products, element by element
    steps_through_joined: bool = True  # when loops are ordered
    adds_whole: bool = True  # what is as large as a product, in the product
    tells_needs_apart: bool = True  # of two that are computed alike
    seeds_attention: bool = False  # of checkpoints, without dropout too

    @classmethod
    def of(cls, version: Version, capability: tuple[int, int] | None = None) -> Inductor:
        """The facts of a release, on a card of some compute capability."""
        is_blackwell = capability is not None and capability >= BLACKWELL
        limits = [limit for since, limit in BLACKWELL_WHOLE_SUMS if version >= since]
        return cls(
            holds_gradients=version < GRADIENTS_BOXED_SINCE,
            fuses_any_softmax=version < SOFTMAX_TOLD_SINCE,
            scatters_loss=version < SCATTER_FUSED_SINCE,
            compares_scattered=version >= SCATTER_COMPARED_SINCE,
            saves_log_softmax=version < STATISTICS_SAVED_SINCE,
            adds_in_product=version >= ADDED_IN_PRODUCT_SINCE,
            reorders=version >= REORDERED_SINCE,
            weighs_reuse=version >= REUSE_WEIGHED_SINCE,
            counts_mutated=version < MUTATED_COUNTED_ONCE_SINCE,
            counts_tangents=version < TANGENTS_NOT_COUNTED_SINCE,
            takes_off_outputs=OUTPUTS_TAKEN_OFF[0] <= version <= OUTPUTS_TAKEN_OFF[1],
            mixes_sums=version >= MIXED_SUMS_SINCE,
            mixes_flat=version >= FLAT_SUMS_MIXED_SINCE,
            reorders_loops=version >= LOOPS_REORDERED_SINCE,
            keeps_tried_orders=version < TRIED_ORDERS_TAKEN_BACK_SINCE,
            cuts_loops=version >= LOOPS_CUT_SINCE,
            keeps_quotients=QUOTIENTS_KEPT[0] <= version <= QUOTIENTS_KEPT[1],
            keeps_half_biases=version >= HALF_BIASES_KEPT_SINCE,
            takes_out_factors=version >= FACTORS_TAKEN_OUT_SINCE,
            keeps_nonfinite=version >= NONFINITE_KEPT_SINCE,
            orders_tangents=version < TANGENTS_AS_THEY_LIE_SINCE,
            threads_per_sm=None if version >= CARDS_THREADS_SINCE else THREADS_BEFORE,
            whole_sum=limits[0] if is_blackwell and limits else (WHOLE_SUM, WHOLE_SUM),
            sees_in_order=version >= SEEN_IN_ORDER_SINCE,
            splits_repeated=version >= REPEATED_READS_SPLIT_SINCE,
            keeps_shared_parts=version >= SHARED_PARTS_KEPT_SINCE,
            adds_apart=version >= ADDED_APART_SINCE,
            drops_numbers=version >= NUMBERS_DROPPED_SINCE,
            fuses_copies=version >= COPIES_FUSED_SINCE,
            asserts_classes=version >= CLASSES_ASSERTED_SINCE,
            keeps_narrow_casts=version >= NARROW_CASTS_KEPT_SINCE,
            inlines_repeated=version >= REPEATED_INLINED_SINCE,
            inlines_put=REPEATED_INLINED_SINCE <= version < PUT_INLINED_BEFORE,
            weighs_sums=version >= SUMS_WEIGHED_SINCE,
            multiplies_small=version >= SMALL_MULTIPLIED_SINCE,
            steps_through_joined=version >= JOINED_STEPS_KNOWN_SINCE,
            adds_whole=version >= WHOLE_ADDED_SINCE,
            tells_needs_apart=version >= NEEDS_TOLD_APART_SINCE,
            seeds_attention=version < STATE_ONLY_FOR_DROPOUT_SINCE,
        )
