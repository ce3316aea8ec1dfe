"""Published checkpoints of language models: what their config.json says of sizes and type."""

from __future__ import annotations

from nanolint.trainers.nanogpt.keys import PRETRAINED_SIZES

ORGANIZATION = "openai-community/"  # on the hub, where GPT-2's have been since 2024
OF_SAME_SIZES = ("Qwen/Qwen2-", "Qwen/Qwen2.5-Coder-", "Qwen/Qwen2.5-Math-")
TUNED = ("-Instruct", "-Base", "-chat-hf")  # of the same sizes
BFLOAT16, FLOAT16, FLOAT32 = "bfloat16", "float16", "float32"

_OF_GPT2 = {
    **PRETRAINED_SIZES,
    **dict.fromkeys(("distilgpt2", "distilbert/distilgpt2"), (6, 12, 768)),
}
# Width, inner width, layers, heads, heads of keys, vocabulary; whether the head is the embedding.
_SIZES = {
    "Qwen/Qwen2.5-0.5B": ("qwen2", 896, 4864, 24, 14, 2, 151936, True, BFLOAT16),
    "Qwen/Qwen2.5-1.5B": ("qwen2", 1536, 8960, 28, 12, 2, 151936, True, BFLOAT16),
    "Qwen/Qwen2.5-3B": ("qwen2", 2048, 11008, 36, 16, 2, 151936, True, BFLOAT16),
    "Qwen/Qwen2.5-7B": ("qwen2", 3584, 18944, 28, 28, 4, 152064, False, BFLOAT16),
    "Qwen/Qwen3-0.6B": ("qwen3", 1024, 3072, 28, 16, 8, 151936, True, BFLOAT16),
    "Qwen/Qwen3-1.7B": ("qwen3", 2048, 6144, 28, 16, 8, 151936, True, BFLOAT16),
    "Qwen/Qwen3-4B": ("qwen3", 2560, 9728, 36, 32, 8, 151936, True, BFLOAT16),
    "Qwen/Qwen3-8B": ("qwen3", 4096, 12288, 36, 32, 8, 151936, False, BFLOAT16),
    "TinyLlama/TinyLlama-1.1B-Chat-v1.0": ("llama", 2048, 5632, 22, 32, 4, 32000, False, BFLOAT16),
    "meta-llama/Llama-2-7b-hf": ("llama", 4096, 11008, 32, 32, 32, 32000, False, FLOAT16),
    "meta-llama/Meta-Llama-3-8B": ("llama", 4096, 14336, 32, 32, 8, 128256, False, BFLOAT16),
    "meta-llama/Llama-3.1-8B": ("llama", 4096, 14336, 32, 32, 8, 128256, False, BFLOAT16),
    "meta-llama/Llama-3.2-1B": ("llama", 2048, 8192, 16, 32, 8, 128256, True, BFLOAT16),
    "meta-llama/Llama-3.2-3B": ("llama", 3072, 8192, 28, 24, 8, 128256, True, BFLOAT16),
    "HuggingFaceTB/SmolLM2-135M": ("llama", 576, 1536, 30, 9, 3, 49152, True, BFLOAT16),
    "HuggingFaceTB/SmolLM2-360M": ("llama", 960, 2560, 32, 15, 5, 49152, True, BFLOAT16),
    "HuggingFaceTB/SmolLM2-1.7B": ("llama", 2048, 8192, 24, 32, 32, 49152, True, BFLOAT16),
}


def published(name: object) -> tuple[str, dict[str, object]] | None:
    """The type of a checkpoint's model and its settings by their names in transformers; None of one
    that is not known.

    >>> published("openai-community/gpt2")
    ('gpt2', {'n_layer': 12, 'n_head': 12, 'n_embd': 768, 'dtype': 'float32'})
    """
    if not isinstance(name, str):
        return None
    of_gpt2 = _OF_GPT2.get(name.removeprefix(ORGANIZATION))
    if of_gpt2 is not None:
        layers, heads, width = of_gpt2
        return "gpt2", {"n_layer": layers, "n_head": heads, "n_embd": width, "dtype": FLOAT32}
    for each in OF_SAME_SIZES:
        name = name.replace(each, "Qwen/Qwen2.5-")
    plain = next((name.removesuffix(each) for each in TUNED if name.endswith(each)), name)
    sizes = _SIZES.get(name) or _SIZES.get(plain) or _SIZES.get(f"{plain}-hf")
    if sizes is None:
        return None
    kind, width, inner, layers, heads, of_keys, vocabulary, tied, dtype = sizes
    return kind, {
        "hidden_size": width,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": of_keys,
        "vocab_size": vocabulary,
        "tie_word_embeddings": tied,
        "dtype": dtype,
    }
