"""meta.pkl: never executed, never more than a number, and right for benign pickles."""

from __future__ import annotations

import pickle

import atheris
from harness import run, watched

with watched():
    from nanolint.trainers.nanogpt import pickles

vocabulary = pickles._vocabulary.__wrapped__  # without the memo, which would grow


def one_input(data: bytes) -> None:
    found = vocabulary(data)
    assert found is None or (type(found) is int and found > 0)
    provider = atheris.FuzzedDataProvider(data)
    size = provider.ConsumeIntInRange(1, 2**40)
    words = {
        provider.ConsumeUnicodeNoSurrogates(4): n for n in range(provider.ConsumeIntInRange(0, 9))
    }
    meta = {"stoi": words, "itos": {n: word for word, n in words.items()}, "vocab_size": size}
    if provider.ConsumeBool():
        meta = dict(reversed(meta.items()))
    benign = pickle.dumps(meta, protocol=provider.ConsumeIntInRange(0, pickle.HIGHEST_PROTOCOL))
    assert vocabulary(benign) == size
    cut = provider.ConsumeIntInRange(0, len(benign))
    assert vocabulary(benign[:cut]) in (None, size)


if __name__ == "__main__":
    run(one_input)
