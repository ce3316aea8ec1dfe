"""Each operation once: PyTorch's name for it, the words for people, and the steps in a kernel.

To add one, write a line below and pass it on: ``elementwise(dtype, ops.FLOOR, x)``. Each is a
record of its own. ``is`` tells whether two results are of one operation. Arguments that are no
tensors (an exponent, how a quotient is rounded) are no part of it.
"""

from __future__ import annotations

from enum import Enum

from nanolint.frozen import dataclass


class Kind(Enum):
    """The kinds that the partitioner, lowering and fusion of torch.compile tell apart."""

    INPUT, VIEW, POINTWISE, REDUCTION, RANDOM, CALL, GETITEM = range(7)


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """An operation. ``aten`` is its identity. ``label`` is what people read of its result, unless a
    role is given with it: several may share one.

    ``steps`` are those of a kernel of Triton's, without what it reads, as Inductor counts them
    (``inner_fn_opcount``, PyTorch 2.15); in half precision ``casts`` more. ``nodes`` are those of
    PyTorch's graph: on the shortest way through it, and all. ``times_made`` is how often a kernel
    makes what it is of. An activation has its ``gradient``.
    """

    aten: str
    label: str = ""
    kind: Kind = Kind.POINTWISE
    steps: int = 1
    casts: int = 0
    nodes: tuple[int, int] = (1, 1)
    times_made: int = 1
    gradient: Op | None = None


# Arithmetic.
ADD = Op("aten.add", "sum")
ADDCMUL = Op("aten.addcmul", "sum")
SUB = Op("aten.sub", "difference")
MUL = Op("aten.mul", "product")
DIV = Op("aten.div", "quotient")
REMAINDER = Op("aten.remainder", "remainder")
FMOD = Op("aten.fmod", "remainder")
NEG = Op("aten.neg", "negative")
MAXIMUM = Op("aten.maximum", "maximum")
MINIMUM = Op("aten.minimum", "minimum")
LERP = Op("aten.lerp", "interpolation")
FMA = Op("prims.fma")
CLAMP = Op("aten.clamp", "clamped")
POW = Op("aten.pow", "power", steps=0)  # its products are counted each

# Functions of one tensor.
ABS = Op("aten.abs", "absolute value")
SIGN = Op("aten.sign", "sign")
SQRT = Op("aten.sqrt", "square root")
RSQRT = Op("aten.rsqrt", "reciprocal square root")
RECIPROCAL = Op("aten.reciprocal", "reciprocal")
EXP = Op("aten.exp", "exponential")
EXP2 = Op("aten.exp2", "exponential")
EXPM1 = Op("aten.expm1", "exponential")
LOG = Op("aten.log", "logarithm")
LOG2 = Op("aten.log2", "logarithm")
LOG10 = Op("aten.log10", "logarithm")
LOG1P = Op("aten.log1p", "logarithm")
LOGADDEXP = Op("aten.logaddexp", "logarithm")
XLOGY = Op("aten.xlogy", "logarithm")
SIN = Op("aten.sin", "sine")
COS = Op("aten.cos", "cosine")
TAN = Op("aten.tan", "tangent")
ASIN = Op("aten.asin", "arcsine")
ACOS = Op("aten.acos", "arccosine")
ATAN = Op("aten.atan", "arctangent")
ATAN2 = Op("aten.atan2", "arctangent")
SINH = Op("aten.sinh", "hyperbolic sine")
COSH = Op("aten.cosh", "hyperbolic cosine")
ASINH = Op("aten.asinh", "inverse hyperbolic sine")
ACOSH = Op("aten.acosh", "inverse hyperbolic cosine")
ATANH = Op("aten.atanh", "inverse hyperbolic tangent")
ERF = Op("aten.erf", "error function")
ERFC = Op("aten.erfc", "complementary error function")
FLOOR = Op("aten.floor", "rounded down")
CEIL = Op("aten.ceil", "rounded up")
TRUNC = Op("aten.trunc", "rounded to zero")
ROUND = Op("aten.round", "rounded")
NAN_TO_NUM = Op("aten.nan_to_num", "finite")
LOGIT = Op("aten.logit", "logit")
LOGIT_BACKWARD = Op("aten.logit_backward", "gradient of the logit")
CONJ = Op("aten.conj_physical", "conjugate")
COMPLEX = Op("aten.complex", "complex")
POLAR = Op("aten.polar", "complex")

# Comparisons, logic and choices.
EQ = Op("aten.eq", "comparison")
NE = Op("aten.ne", "comparison")
LT = Op("aten.lt", "comparison")
LE = Op("aten.le", "comparison")
GT = Op("aten.gt", "comparison")
GE = Op("aten.ge", "comparison")
ISNAN = Op("aten.isnan", "comparison")
ISNEGINF = Op("aten.isneginf", "comparison")
ISPOSINF = Op("aten.isposinf", "comparison")
LOGICAL_AND = Op("aten.logical_and", "comparison")
LOGICAL_OR = Op("aten.logical_or", "comparison")
LOGICAL_XOR = Op("aten.logical_xor", "comparison")
LOGICAL_NOT = Op("aten.logical_not", "comparison")
BITWISE_AND = Op("aten.bitwise_and", "bits")
BITWISE_OR = Op("aten.bitwise_or", "bits")
BITWISE_XOR = Op("aten.bitwise_xor", "bits")
BITWISE_NOT = Op("aten.bitwise_not", "bits")
WHERE = Op("aten.where", "choice")

# Activations (torch/_decomp/decompositions.py): some are several steps, in float32.
GELU = Op("aten.gelu", "GELU output", steps=8, casts=2, nodes=(2, 5), times_made=2,
          gradient=Op("aten.gelu_backward", steps=16, casts=3, times_made=4))  # fmt: skip
GELU_TANH = Op("aten.gelu, tanh", "GELU output", steps=13, casts=2, nodes=(2, 9), times_made=5,
               gradient=Op("aten.gelu_backward, tanh", steps=23, casts=3,
                           times_made=15))  # fmt: skip
SILU = Op("aten.silu", "SiLU output", steps=5, casts=2, nodes=(1, 4), times_made=2,
          gradient=Op("aten.silu_backward", steps=7, casts=3, times_made=3))  # fmt: skip
SOFTPLUS = Op("aten.softplus", "softplus output", steps=5, casts=2, nodes=(1, 4),
              gradient=Op("aten.softplus_backward", steps=8, casts=3))  # fmt: skip
MISH = Op("aten.mish", "Mish output", steps=7, casts=2, nodes=(1, 6),
          gradient=Op("aten.mish_backward", steps=14, casts=3))  # fmt: skip
ELU = Op("aten.elu", "ELU output", steps=4, casts=2, nodes=(1, 3), times_made=3,
         gradient=Op("aten.elu_backward", steps=5, casts=3, times_made=2))  # fmt: skip
RELU = Op("aten.relu", "ReLU output")
THRESHOLD_BACKWARD = Op("aten.threshold_backward", steps=14)
THRESHOLD = Op("aten.threshold", "clipped", gradient=THRESHOLD_BACKWARD)
LEAKY_RELU = Op("aten.leaky_relu", "leaky ReLU output",
                gradient=Op("aten.leaky_relu_backward", steps=14))  # fmt: skip
HARDTANH = Op("aten.hardtanh", "clipped", gradient=Op("aten.hardtanh_backward", steps=14))
HARDSIGMOID = Op("aten.hardsigmoid", "clipped", gradient=Op("aten.hardsigmoid_backward", steps=14))
HARDSWISH = Op("aten.hardswish", "hardswish output",
               gradient=Op("aten.hardswish_backward", steps=14))  # fmt: skip
SIGMOID = Op("aten.sigmoid", "sigmoid output", gradient=Op("aten.sigmoid_backward", steps=14))
TANH = Op("aten.tanh", "tanh output", gradient=Op("aten.tanh_backward", steps=14))
LOG_SIGMOID = Op("aten.log_sigmoid_forward", "log-sigmoid",
                 gradient=Op("aten.log_sigmoid_backward", steps=14))  # fmt: skip
PRELU = Op("aten._prelu_kernel", "PReLU output")
PRELU_BACKWARD = Op("aten._prelu_kernel_backward", steps=14)
BINARY_CROSS_ENTROPY = Op("aten.binary_cross_entropy", "loss")
MSE_LOSS = Op("aten.mse_loss", "loss")

# Made of nothing.
ARANGE = Op("prims.iota")
LIFTED = Op("aten.lift_fresh_copy")
LINSPACE = Op("aten.linspace")
EYE = Op("aten.eye")
FULL = Op("aten.full")
ZEROS_LIKE = Op("aten.zeros_like", "zeros")
SEED = Op("prims.inductor_seed", kind=Kind.RANDOM)
SEEDS = Op("prims.inductor_seeds", kind=Kind.RANDOM)
RANDOM = Op("prims.inductor_random", kind=Kind.RANDOM)

# Copies and casts; ``TO_HOST``, ``TO_CARD`` and ``MADE_ON_CARD`` are ``prims.device_put``.
CONVERT = Op("prims.convert_element_type", steps=0)
CLONE = Op("aten.clone", steps=0)
COPY = Op("aten.copy_", steps=0)
WRITTEN = Op("an operation in place")
TO_HOST = Op("prims.device_put, to the host")
TO_CARD = Op("prims.device_put, to the card")
MADE_ON_CARD = Op("prims.device_put, of what is made there")

# Elements by index, in parts and in wholes.
EMBEDDING = Op("aten.embedding", steps=0)
GATHER = Op("aten.gather", steps=0)
INDEX = Op("aten.index", steps=0)
INDEX_PUT = Op("aten.index_put_", kind=Kind.CALL)
INDEX_PUT_NEW = Op("aten.index_put_, into zeros", kind=Kind.CALL)
INDEX_ADD = Op("aten.index_add", kind=Kind.CALL)
SCATTER = Op("aten.scatter", steps=5)
SCATTER_PART = Op("aten.slice_scatter", steps=0)  # and ``select_scatter``
CAT = Op("aten.cat")
PAD = Op("aten.constant_pad_nd")
FLIP = Op("aten.flip", steps=0)
REPEAT = Op("aten.repeat", steps=0)
REPEAT_PARTS = Op("aten.repeat, of what has more elements", steps=0)

# Views.
VIEW = Op("aten.view", kind=Kind.VIEW)
PERMUTE = Op("aten.permute", kind=Kind.VIEW)
EXPAND = Op("aten.expand", kind=Kind.VIEW)
SLICE = Op("aten.slice", kind=Kind.VIEW)
SELECT = Op("aten.select", kind=Kind.VIEW)
AS_STRIDED = Op("aten.as_strided", kind=Kind.VIEW)
DIAGONAL = Op("aten.diagonal", kind=Kind.VIEW)
UNFOLD = Op("aten.unfold", kind=Kind.VIEW)
SPLIT = Op("aten.split_with_sizes", kind=Kind.VIEW)
UNBIND = Op("aten.unbind", kind=Kind.VIEW)

# Reductions and scans: a variance is more than a sum by what it is divided.
SUM = Op("aten.sum", "sum", Kind.REDUCTION)
MEAN = Op("aten.mean", "mean", Kind.REDUCTION, steps=2)
PROD = Op("aten.prod", "product of elements", Kind.REDUCTION)
AMAX = Op("aten.amax", "amax", Kind.REDUCTION)
AMIN = Op("aten.amin", "amin", Kind.REDUCTION)
ARGMAX = Op("aten.argmax", "argmax", Kind.REDUCTION)
ARGMIN = Op("aten.argmin", "argmin", Kind.REDUCTION)
ANY = Op("aten.any", "any", Kind.REDUCTION)
ALL = Op("aten.all", "all", Kind.REDUCTION)
VAR = Op("aten.var", "variance", Kind.REDUCTION, steps=6)
VAR_MEAN = Op("aten.var_mean", kind=Kind.REDUCTION, steps=5)
CUMSUM = Op("aten.cumsum", kind=Kind.REDUCTION)

# Library calls.
MM = Op("aten.mm", kind=Kind.CALL)
BMM = Op("aten.bmm", kind=Kind.CALL)
ADDMM = Op("aten.addmm", kind=Kind.CALL)
BADDBMM = Op("aten.baddbmm", kind=Kind.CALL)
SCALED_MM = Op("aten._scaled_mm", kind=Kind.CALL)
CONVOLUTION = Op("aten.convolution", kind=Kind.CALL)
CONVOLUTION_BACKWARD = Op("aten.convolution_backward", kind=Kind.CALL)
FLASH_BACKWARD = Op("aten._scaled_dot_product_flash_attention_backward", kind=Kind.CALL)
FLASH = Op("aten._scaled_dot_product_flash_attention", kind=Kind.CALL, gradient=FLASH_BACKWARD)
EFFICIENT_BACKWARD = Op("aten._scaled_dot_product_efficient_attention_backward", kind=Kind.CALL)
EFFICIENT = Op("aten._scaled_dot_product_efficient_attention", kind=Kind.CALL,
               gradient=EFFICIENT_BACKWARD)  # fmt: skip
CUDNN_BACKWARD = Op("aten._scaled_dot_product_cudnn_attention_backward", kind=Kind.CALL)
CUDNN = Op("aten._scaled_dot_product_cudnn_attention", kind=Kind.CALL, gradient=CUDNN_BACKWARD)
FLASH_THREE_BACKWARD = Op("flash_attn_3.bwd", kind=Kind.CALL)
FLASH_THREE = Op("flash_attn_3.fwd", kind=Kind.CALL, gradient=FLASH_THREE_BACKWARD)
TOPK = Op("aten.topk", kind=Kind.CALL)
SORT = Op("aten.sort", kind=Kind.CALL)
MULTINOMIAL = Op("aten.multinomial", kind=Kind.CALL)
RANDPERM = Op("aten.randperm", kind=Kind.CALL)
ASSERT = Op("aten._assert_async", kind=Kind.CALL)

# What a graph has besides.
INPUT = Op("placeholder", kind=Kind.INPUT)
GETITEM = Op("getitem", kind=Kind.GETITEM)
