"""What is known of the scripts that were traced: which are doubted, and what differs.

All others are read without a doubt and equal to PyTorch's bytes.
"""

from __future__ import annotations

# What is not read, or in doubt, and why it may be. All others are equal to the byte.
VARIATIONS_IN_DOUBT: dict[str, str] = {
    "settings: lbfgs": "optimizers of other kinds are not read",
    "settings: steps behind accumulation": "no loop has a step of an optimizer",
    **dict.fromkeys(
        (
            "settings: default tensor type",
            "settings: deterministic",
            "settings: fraction",
            "settings: alloc conf split",
        ),
        "settings of all of PyTorch that are not followed",
    ),
    **dict.fromkeys(
        (
            "settings: compiled blocks",
            "settings: compiled forward hook",
        ),
        "what is compiled so is not derived",
    ),
    **dict.fromkeys(
        (
            "settings: averaged",
            "settings: autograd grad",
            "settings: create graph",
            "settings: dataparallel",
            "settings: lstm",
            "settings: transformer layer evaluated",
            "settings: save on cpu",
            "settings: sparse embedding",
            "settings: stream",
            "settings: torch func",
            "settings: weight norm",
            "settings: patch method",
        ),
        "parts of PyTorch that are not read",
    ),
    **dict.fromkeys(
        (
            "models: moe index",
            "training: a curvature by Hutchinson",
            "training: an inner step",
            "training: gradients of two losses that do not conflict",
            "training: mixed embeddings",
            "training: a scale of the spectrum",
            "training: what a class weighs, and several tasks",
        ),
        "parts of PyTorch that are not read",
    ),
    **dict.fromkeys(
        (
            "training: layers by chance",
            "training: embeddings that are attacked",
            "training: a generator and who tells it apart",
        ),
        "what chance or the contents of tensors decide",
    ),
    "python: settings in layers": "a part of Python that is not read: ChainMap",
    **dict.fromkeys(
        (
            "loops: batch warmup",
            "loops: memory limit",
            "loops: random length",
        ),
        "batches that change or that only a run knows, a limit of the script's own",
    ),
    **dict.fromkeys(
        (
            "compiled: options",
            "compiled: dynamic",
            "compiled: aot eager",
            "compiled: forward",
            "compiled: class's forward",
            "compiled: block's forward",
            "compiled: blocks in place",
            "compiled: one block",
            "compiled: loss",
            "compiled: optimizer",
            "compiled: optimizer's method",
            "compiled: step",
            "compiled: function with the model",
            "compiled: blocks in checkpoints",
            "compiled: other size",
            "compiled: retain",
            "compiled: forward hook",
            "compiled: with a print",
            "compiled: part disabled",
            "compiled: stance",
            "compiled: dynamo off",
            "compiled: dynamic shapes assumed",
        ),
        "what is compiled so is not derived",
    ),
    **dict.fromkeys(
        (
            "mixtures: where, for each expert",
            "mixtures: a mask for each expert",
        ),
        "how many tokens an expert gets follows from values",
    ),
    **dict.fromkeys(
        (
            "mixtures: grouped products",
            "mixtures: bias by load, histc",
        ),
        "parts of PyTorch that are not read",
    ),
    "kinds: an hourglass": "parts of PyTorch that are not read",
    "kinds: a memory of the segment before": "sizes of results that come back as arguments",
    "kinds: parallel blocks, the loss in checkpoints": "joins parts of sums, in a checkpoint",
}

# Allocated and freed in another order than PyTorch's: the same bytes, more or fewer of them
# reserved, 2 or 4 MiB where no number stands.
VARIATIONS_RESERVED_OTHERWISE = {
    "kinds: latent attention, shared and routed experts",
    "kinds: masked diffusion",  # 34 MiB
    "kinds: relative buckets, z-loss, Adafactor",
    "kinds: sinks, batched experts, in bfloat16",
    "kinds: codes of what remains",
    "kinds: steps until it halts",
    "kinds: a world model",
    "kinds: variance and covariance of two views",
    "compiled: random tokens are dropped",
    "mixtures: one expert with a capacity, one_hot",
    "mixtures: sorted, in equal parts, in bfloat16",
    "training: layers that thaw",
}


# Three steps were traced of nine: what the other six keep.
KEPT_LATER = {
    "settings: forward hook": (6 << 20, 6 << 20),
    "settings: x kept": (6 << 14, 0),
    "training: layers that thaw": (21_088_256, 10_485_760),  # traced over nine
}

# On other releases and cards.
ELSEWHERE_RESERVED_OTHERWISE = {
    "2.13 h100-sxm-80gb: kinds: masked diffusion",  # 34 MiB, as elsewhere
    "2.13 h100-sxm-80gb: kinds: relative buckets, z-loss, Adafactor",  # 2 MiB
    "2.13 rtx-4090: kinds: steps until it halts",  # 2 MiB
}

# Composed scripts that are doubted: checkpointed, and joins parts of sums.
COMPOSED_IN_DOUBT = {
    *(112, 164, 174, 208, 220, 226, 230, 254),
    *(308, 310, 318, 328, 330, 348, 420, 434, 488, 500, 598, 600),
    *(608, 622, 634, 638, 676, 702, 704, 734, 758, 780, 804, 816, 828, 830, 856, 890),
    *(894, 906),
}
COMPOSED_ELSEWHERE_IN_DOUBT = {544, 574, 598, 600, 608, 622, 634, 638, 676, 702, 704, 830}
# Compiled, doubted, and other bytes than PyTorch's, by these shares.
COMPOSED_OFF = {"758": -0.00017, "2.9: 710": 0.0006}
