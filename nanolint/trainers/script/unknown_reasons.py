"""Reasons why a value is not known as a script is followed; the reading of all of it may tell."""

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


def called_of_tensor(method: str) -> str:
    """The reason of what a method of a tensor gives."""
    return f"calls {method} of a tensor at run time"


def yielded_by(function: str) -> str:
    """The reason of what a generator of the project's gives."""
    return f"what {function}() yields"
