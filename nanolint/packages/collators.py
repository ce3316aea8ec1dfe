"""Functions that make a batch of samples, which are alike: data/data_collator.py of transformers
5.24. Read, never run.

``older`` says that newer releases lack something, ``at_most`` how many tokens a text is taken for
that is cut.
"""

import torch


def default_data_collator(features, return_tensors="pt"):
    batch = {}
    for name, first in features[0].items():
        if first is None or isinstance(first, str):
            continue
        if name in ("label", "label_ids"):
            name = "labels"
        given = [first] * len(features)
        if isinstance(first, torch.Tensor):
            batch[name] = torch.stack(given)
        else:
            batch[name] = torch.tensor(given)
    return batch


def padded(features, length, multiple):
    """A batch of so many tokens, else as long as its longest sample; tokenizers add a mask of what
    is no padding."""
    first = features[0]
    if not hasattr(first, "items"):
        return {"input_ids": torch.stack([torch.tensor(first)] * len(features))}
    longest = len(first["input_ids"])
    length = longest if length is None else max(length, longest)
    if multiple:
        length = -(-length // multiple) * multiple
    batch = {name: torch.zeros((len(features), length), dtype=torch.long) for name in first.keys()}
    batch["attention_mask"] = torch.ones((len(features), length), dtype=torch.long)
    return batch


class DefaultDataCollator:
    def __init__(self, return_tensors="pt"):
        pass

    def __call__(self, features, return_tensors=None):
        return default_data_collator(features)


class DataCollatorWithPadding:
    def __init__(
        self, tokenizer, padding=True, max_length=None, pad_to_multiple_of=None,
        return_tensors="pt",
    ):  # fmt: skip
        self.tokenizer = tokenizer
        self.pad_to_multiple_of = pad_to_multiple_of
        self.length = max_length if padding == "max_length" else None

    def __call__(self, features):
        return padded(features, self.length, self.pad_to_multiple_of)


class DataCollatorForSeq2Seq(DataCollatorWithPadding):
    def __init__(
        self, tokenizer, model=None, padding=True, max_length=None, pad_to_multiple_of=None,
        label_pad_token_id=-100, return_tensors="pt",
    ):  # fmt: skip
        super().__init__(tokenizer, padding, max_length, pad_to_multiple_of)


class DataCollatorForLanguageModeling:
    def __init__(
        self, tokenizer, mlm=True, mlm_probability=0.15, mask_replace_prob=0.8,
        random_replace_prob=0.1, pad_to_multiple_of=None, tf_experimental_compile=False,
        return_tensors="pt", seed=None, whole_word_mask=False,
    ):  # fmt: skip
        self.tokenizer = tokenizer
        self.pad_to_multiple_of = pad_to_multiple_of

    def __call__(self, features):
        batch = padded(features, None, self.pad_to_multiple_of)
        batch["labels"] = batch["input_ids"].clone()
        return batch


class TextDataset(torch.utils.data.Dataset):
    """Pieces of a file, which transformers 4 has; each is as long as it says."""

    def __init__(self, tokenizer, file_path=None, block_size=None, *given, **named):
        older(type(self).__name__)
        self.block_size = block_size

    def __getitem__(self, index):
        return torch.zeros(self.block_size, dtype=torch.long)


class LineByLineTextDataset(TextDataset):
    def __getitem__(self, index):
        return {"input_ids": torch.zeros(at_most(self.block_size), dtype=torch.long)}


def set_seed(*given, **named):
    pass
