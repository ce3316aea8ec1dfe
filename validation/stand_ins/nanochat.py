"""Run before nanochat's scripts.base_train: its tokenizer, data and loggers."""

import sys
import types

import torch

DOCUMENTS = [list(range(700))] * 128  # token ids; their values are not looked at
VOCABULARY = 32768
MISSING = ("wandb", "pyarrow", "pyarrow.parquet", "rustbpe", "tiktoken", "requests", "yaml",
           "tokenizers", "psutil", "datasets")  # fmt: skip

for name in MISSING:
    sys.modules[name] = types.ModuleType(name)
sys.modules["pyarrow"].parquet = sys.modules["pyarrow.parquet"]


class Tokenizer:
    get_vocab_size = staticmethod(lambda: VOCABULARY)
    get_bos_token_id = staticmethod(lambda: 0)
    encode = staticmethod(lambda texts, *_, **__: [list(text) for text in texts])


tokenizer = types.ModuleType("nanochat.tokenizer")
tokenizer.get_tokenizer = Tokenizer
tokenizer.get_token_bytes = lambda device="cpu": torch.ones(
    VOCABULARY, dtype=torch.int32, device=device
)
sys.modules["nanochat.tokenizer"] = tokenizer

evaluation = types.ModuleType("scripts.base_eval")
evaluation.evaluate_core = lambda *_, **__: {"core_metric": 0.0}
sys.modules["scripts.base_eval"] = evaluation

sys.path.insert(0, ".")
import nanochat.dataloader  # noqa: E402
import nanochat.loss_eval  # noqa: E402

FEW = 4  # batches of an evaluation; more repeat the same, and take two minutes
evaluate_bpb = nanochat.loss_eval.evaluate_bpb
nanochat.loss_eval.evaluate_bpb = lambda model, batches, steps, token_bytes: evaluate_bpb(
    model, batches, min(steps, FEW), token_bytes
)


def _batches(*_):
    while True:
        yield DOCUMENTS, (0, 0, 1)


nanochat.dataloader._document_batches = _batches
