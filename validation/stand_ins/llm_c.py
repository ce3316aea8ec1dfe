"""Run before llm.c's train_gpt2.py, and modded-nanogpt's of 2024: shards of tokens, a tokenizer,
and no nvidia-smi."""

import subprocess
import sys
import types
from pathlib import Path

import numpy

TOKENS = 4_000_000
MAGIC, VERSION, WORDS = 20240520, 1, 256  # of the header

header = numpy.zeros(WORDS, numpy.int32)
header[:3] = MAGIC, VERSION, TOKENS
shard = header.tobytes() + numpy.zeros(TOKENS, numpy.uint16).tobytes()
for name in (
    "dev/data/tinyshakespeare/tiny_shakespeare_val.bin",
    "dev/data/fineweb10B/fineweb_train_000.bin",
    "dev/data/fineweb10B/fineweb_val_000.bin",
    "data/fineweb10B/fineweb_train_000.bin",
    "data/fineweb10B/fineweb_val_000.bin",
):
    path = Path(name)  # written into memory, as all that a traced script writes
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(shard)

encoding = types.SimpleNamespace(
    encode=lambda text: [0] * len(text.split()),
    decode=lambda _: "",
    decode_bytes=lambda _: b"",
    eot_token=0,
    max_token_value=1,
)
sys.modules["tiktoken"] = types.SimpleNamespace(get_encoding=lambda _name: encoding)

run = subprocess.run
silence = subprocess.CompletedProcess(["nvidia-smi"], 0, "", "")
subprocess.run = lambda words, *_, **options: (
    silence if words == ["nvidia-smi"] else run(words, *_, **options)
)
