"""Run before the train.py of a fork of nanoGPT: files of tokens, whatever they are called.

Packages that only make texts into tokens, or show what was trained, are empty.
"""

import builtins
import contextlib
import io
import json
import os
import pickle
import sys
import types

import numpy
import torch

TOKENS = 4_000_000
EMPTY = ("wandb", "tiktoken", "pandas", "tqdm", "yaml", "transformers", "requests")
EMPTY += ("matplotlib", "matplotlib.pyplot", "omegaconf", "torcheval", "torcheval.metrics")
EMPTY += ("torcheval.metrics.functional", "torcheval.metrics.functional.text")
EMPTY += ("torcheval.metrics.functional.text.perplexity", "torchinfo", "seaborn")
EMPTY += ("megatron", "megatron.core", "megatron.core.datasets")
EMPTY += ("megatron.core.datasets.indexed_dataset",)


def memmap(_path, dtype=numpy.uint16, **_):
    """As ``numpy.memmap``: a file that is long enough."""
    return numpy.zeros(TOKENS, dtype)


numpy.memmap = memmap


class Encoding:
    """As tiktoken's: a token for each character."""

    n_vocab = 50257

    def encode(self, text, **_):
        return [0] * len(text)

    def decode(self, _tokens):
        return ""


class Silent(types.ModuleType):
    """A package of which every name is a function that does nothing."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: Silent("nothing")

    def __iter__(self):
        """What is unpacked is a figure and its axes."""
        return iter((Silent("nothing"), Silent("nothing")))


for name in EMPTY:
    try:
        __import__(name)
    except ImportError:
        sys.modules[name] = Silent(name)
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], own, sys.modules[name])
sys.modules["tiktoken"].get_encoding = lambda _name: Encoding()
if isinstance(sys.modules["transformers"], Silent):

    class Tokenizer(Encoding):
        """As transformers' own of GPT-2."""

        eos_token = "<|endoftext|>"
        vocab_size = Encoding.n_vocab

        @classmethod
        def from_pretrained(cls, _name, **_):
            return cls()

    sys.modules["transformers"].GPT2Tokenizer = Tokenizer


class Bar:
    """As tqdm's: what it is of goes by, or nothing, and all that is told it is silent."""

    def __init__(self, values=(), *_, **__):
        self.values = values

    def __iter__(self):
        return iter(self.values)

    def __len__(self):
        return len(self.values)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def __getattr__(self, _name):
        return lambda *_, **__: None


if isinstance(sys.modules["tqdm"], Silent):
    sys.modules["tqdm"].tqdm = Bar
    sys.modules["tqdm"].trange = lambda count, **_: Bar(range(count))


class Rows:
    """As a data set of Hugging Face's: texts, all alike."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __iter__(self):
        return (self[place] for place in range(self.count))

    def __getitem__(self, key):
        return ["word " * 80] * self.count if isinstance(key, str) else {"text": "word " * 80}

    def select(self, places):
        return Rows(len(places))


try:
    import datasets
except ImportError:
    datasets = sys.modules["datasets"] = Silent("datasets")
    datasets.load_dataset = lambda *_, **__: Rows(3000)

# What a script makes sure of: on a card that computes nothing two tensors are hardly the same.
_equal = torch.equal


def equal(x, other):
    """As ``torch.equal``, with what it allocates."""
    _equal(x, other)
    return x.shape == other.shape


torch.equal = equal
# Every probability is zero on a card that computes nothing, which the real one refuses to draw from.
torch.multinomial = lambda probabilities, count=1, num_samples=None, **_: torch.zeros(
    (*probabilities.shape[:-1], num_samples or count), dtype=torch.long, device=probabilities.device
)

text = "word " * 20_000  # whatever is downloaded, but for Shakespeare
if isinstance(sys.modules["requests"], Silent):
    sys.modules["requests"].get = lambda address, *_, **__: types.SimpleNamespace(
        text=SHAKESPEARE if address.endswith("tinyshakespeare/input.txt") else text,
        raise_for_status=lambda: None,
    )

makedirs = os.makedirs


def made(path, *given, **named):
    """As ``os.makedirs``, also where nothing may be made."""
    with contextlib.suppress(OSError):
        makedirs(path, *given, **named)


os.makedirs = made

own = torch.Tensor.tolist


def tolist(tensor):
    """What lies on a card that computes nothing is no token."""
    return own(torch.zeros(tensor.shape, dtype=tensor.dtype) if tensor.is_cuda else tensor)


torch.Tensor.tolist = tolist

# Shakespeare as nanoGPT's prepare.py downloads it, as long and of as many characters, and the table
# of its characters that it writes.
CHARACTERS = "".join(map(chr, range(48, 48 + 65)))
SHAKESPEARE = CHARACTERS * 17_160
TABLE = {"vocab_size": len(CHARACTERS), "itos": dict(enumerate(CHARACTERS))}
TABLE["stoi"] = {each: place for place, each in enumerate(CHARACTERS)}
WORDS = {"vocab_size": Encoding.n_vocab}  # of one that tells no more than the tokenizer's size
# HellaSwag's: a context and four endings, of as many tokens as characters.
EXAMPLES = [{"ctx": "w" * n, "label": 0, "endings": ["w" * 9] * 4} for n in range(16, 160, 8)]
exists, opened, listed = os.path.exists, builtins.open, os.listdir


def table_of(file):
    """What the prepare.py beside it writes, where it is not here; None where that is not known."""
    prepare = os.path.join(os.path.dirname(str(file)), "prepare.py")
    if not str(file).endswith("meta.pkl") or exists(file) or not exists(prepare):
        return None
    if str(file).endswith("_char/meta.pkl"):
        return TABLE
    with opened(prepare) as lines:
        return WORDS if '"vocab_size": enc.n_vocab' in lines.read() else None


def open_or_stand_in(file, *given, **options):
    """As ``open``, and those two where they are not."""
    if str(file).endswith("input.txt") and not exists(str(file)):
        return io.StringIO(SHAKESPEARE)
    if str(file).endswith(".jsonl") and "hellaswag" in str(file) and not exists(str(file)):
        return io.StringIO("\n".join(map(json.dumps, EXAMPLES)))
    table = table_of(file)
    if table is not None:
        return io.BytesIO(pickle.dumps(table))
    return opened(file, *given, **options)


builtins.open = open_or_stand_in
TOKENS_OF = ("train.bin", "val.bin", "hellaswag_val.jsonl")
SHARDS = ["tokens_train_000001.npy", "tokens_val_000000.npy"]
os.listdir = lambda at=".": listed(at) if exists(at) else SHARDS
load = numpy.load
numpy.load = lambda file, *given, **named: (
    load(file, *given, **named) if exists(file) else numpy.zeros(TOKENS, numpy.uint16)
)
os.path.exists = lambda file: (
    table_of(file) is not None or str(file).endswith(TOKENS_OF) or exists(file)
)
