"""Reasons why the way of Python's own statements keeps a value from being known, as it is followed.

How long a list gets, what a generator gives, which branch is taken: the reading of the whole script
tells. A value that only the run has (words, files, what ``exec`` runs) no reading tells, and its
reason is none of these.
"""

from __future__ import annotations

NO_CALL = "no call of a model was found before backward()"
SHAPE = "the shape of the input of the model"
DIMENSIONS = "the dimensions of the input of the model"
COUNTS_NOTHING = "the loop around backward() counts nothing"
COUNTS_ELSE = "the loop around backward() counts something else"
OF_BATCH = "a dimension of the batch"
OF_ARRAY = "a dimension of an array"
OF_TENSOR = "a dimension of a tensor"
LENGTH = "a length"
SEQUENCE = "how long a sequence is"
SAMPLE = "how long a sample of Trainer is"
FILLED_LENGTH = "how long a list gets that a loop fills"
IN_SAMPLE = "how many are in a sample"
BATCHED = "how many samples are batched"
MUCH = "how much there is"
IN_FILE = "how many numbers a file has"
LEFT = "the rest of a tensor"
ITEM = "an item"
ITEM_OF_LIST = "an item of a list"
ONE_ITEM = "one of the items of a list"
FILLED = "a list that a loop fills"
GENERATED = "the items of a generator"
FILLED_AT_RUN = "a list that is filled at run time"
FILTERED = "a comprehension with a condition"
SEVERAL_LISTS = "a comprehension over several lists"
CHANGES = "changes with each turn of a loop"
CONDITION = "a condition at run time"
ITERATED = "the items of a loop"
LOADED = "the batches of a DataLoader"
COLLATED = "the samples that a DataLoader collates"
CHECKPOINT = "the contents of a checkpoint"
# The script was followed for as long as anything is.
TOO_LONG = "nanolint stops before it trains: it takes too many steps to read"
_ALL = frozenset(
    {
        *(NO_CALL, SHAPE, DIMENSIONS, COUNTS_NOTHING, COUNTS_ELSE, OF_BATCH, OF_ARRAY),
        *(OF_TENSOR, LENGTH, SEQUENCE, SAMPLE, FILLED_LENGTH, IN_SAMPLE, BATCHED, MUCH, IN_FILE),
        *(LEFT, ITEM, ITEM_OF_LIST, ONE_ITEM, FILLED, GENERATED, FILLED_AT_RUN, FILTERED),
        *(SEVERAL_LISTS, CHANGES, CONDITION, ITERATED, LOADED, COLLATED, CHECKPOINT, TOO_LONG),
    }
)
_OF_TENSOR, _YIELDS = " of a tensor at run time", "() yields"  # how those with a name end


def called_of_tensor(method: str) -> str:
    """The reason of what a method of a tensor gives."""
    return f"calls {method}{_OF_TENSOR}"


def yielded_by(function: str) -> str:
    """The reason of what a generator of the project's gives."""
    return f"what {function}{_YIELDS}"


def is_walk(reason: str) -> bool:
    """Whether a reason is one of these."""
    return reason in _ALL or reason.endswith((_OF_TENSOR, _YIELDS))
