"""What a value does in a run, whatever a trainer calls it."""

from __future__ import annotations

from enum import Enum


class Role(str, Enum):
    """The values that decide what a run takes, as the glossary of the docs names them."""

    MICRO_BATCH = "micro-batch"  # B: sequences per forward pass and process
    ACCUMULATION = "accumulation"  # forward-backward passes per optimizer step and process
    CONTEXT = "context"  # T: tokens per sequence
    LAYERS = "layers"  # L
    HEADS = "heads"  # H
    WIDTH = "width"  # C
    VOCABULARY = "vocabulary"  # V
    DTYPE = "dtype"  # autocast's data type
    COMPILE = "compile"  # whether torch.compile runs the model
    EVALUATION = "evaluation's micro-batch"  # sequences per forward pass of an evaluation


SHAPE = (Role.LAYERS, Role.WIDTH, Role.HEADS, Role.VOCABULARY)  # of the model
