"""Colours, type and size of the picture."""

from __future__ import annotations

from nanolint.tape.tape import Component

# Paul Tol's light scheme: told apart by colour-blind readers, and dark text is legible on each.
# From the bottom of the stack: what always stays first, what comes and goes on top.
REST = ("inputs, workspace", "#DDDDDD")
LAYERS = (
    (Component.PARAMETERS, "parameters", "#77AADD"),
    (Component.OPTIMIZER, "Adam's state", "#99DDFF"),
    (Component.GRADIENTS, "gradients", "#44BB99"),
    (Component.WEIGHT_COPIES, "half weight copies", "#BBCC33"),
    (Component.ACTIVATIONS, "activations", "#EEDD88"),
    (Component.LOGITS_AND_LOSS, "logits and loss", "#EE8866"),
)
INK, FAINT, ALARM = "#222222", "#777777", "#AA1133"

SIZE = (10.0, 5.4)  # inches
DOTS_PER_INCH = 160
STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.parse_math": False,  # a dollar in a file's name is a dollar
    "svg.hashsalt": "nanolint",  # the same run gives the same file
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": FAINT,
    "xtick.color": FAINT,
    "ytick.color": INK,
}
