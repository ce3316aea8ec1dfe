"""Facts about what scripts load by name: the text of Shakespeare, and the sizes of tokenizers."""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# How the address ends that everybody takes it from; what is there has these characters, each at
# least once, and so many altogether.
SHAKESPEARE = "tinyshakespeare/input.txt"
CHARACTERS = "\n !$&',-.3:;?" + ascii_uppercase + ascii_lowercase
COUNT = 1_115_394
# Vocabularies that are not here, as they are taken to be and as they are at most: the different
# characters of a text (67 is a prime, so hardly another's number; GB 2312 has 7,445), and a
# tokenizer's tokens (GPT-2's, and Gemma 3's).
OF_TEXTS, OF_TOKENIZERS = (67, 8192), (50_257, 262_144)
ASSUMED = "assuming a vocabulary of"


# tiktoken_ext/openai_public.py: `explicit_n_vocab`, else the largest special token and one.
ENCODINGS = {
    "gpt2": 50_257,
    "r50k_base": 50_257,
    "p50k_base": 50_281,
    "p50k_edit": 50_284,
    "cl100k_base": 100_277,
    "o200k_base": 200_019,
    "o200k_harmony": 201_088,
}
# tiktoken/model.py, of its names those that scripts use.
OF_MODELS = {
    "gpt2": "gpt2",
    "gpt-2": "gpt2",
    "gpt-3.5-turbo": "cl100k_base",
    "gpt-4": "cl100k_base",
    "gpt-4o": "o200k_base",
}
# vocab_size in the config.json of each, on huggingface.co.
PRETRAINED = dict.fromkeys(
    (
        *("gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl", "distilgpt2"),
        *(f"openai-community/gpt2{each}" for each in ("", "-medium", "-large", "-xl")),
        "distilbert/distilgpt2",
    ),
    50_257,
)
CLASSES = ("AutoTokenizer", "GPT2Tokenizer", "GPT2TokenizerFast", "PreTrainedTokenizerFast")
# What makes a tokenizer's own length another one; its `vocab_size` stays.
SIZES, LENGTH = ("n_vocab", "vocab_size"), "__len__"
GROWS = frozenset({"add_tokens", "add_special_tokens"})


def vocabulary_of(function: str, arguments: Sequence[object]) -> int | None:
    """The vocabulary of what ``function``, by its full name, makes; None where it is not known.

    >>> vocabulary_of("tiktoken.get_encoding", ["gpt2"])
    50257
    """
    name = arguments[0] if arguments else None
    if not isinstance(name, str):
        return None
    if function == "tiktoken.get_encoding":
        return ENCODINGS.get(name)
    if function == "tiktoken.encoding_for_model":
        return ENCODINGS.get(OF_MODELS.get(name, ""))
    if function in {f"transformers.{each}.from_pretrained" for each in CLASSES}:
        return PRETRAINED.get(name)
    return None


def letters(count: int) -> str:
    """So many different characters."""
    return CHARACTERS[:count] + "".join(map(chr, range(0x4E00, 0x4E00 + count - len(CHARACTERS))))
