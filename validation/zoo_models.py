"""The models of the zoo: where each is, and with what it is built."""

from __future__ import annotations

from typing import Any, NamedTuple

SIZES: dict[str, Any] = {
    "n_layer": 4,
    "n_head": 4,
    "n_embd": 64,
    "block_size": 64,
    "bias": False,
    "vocab_size": 512,
    "dropout": 0.0,
}


LLM_BASELINES: dict[str, Any] = {
    **dict.fromkeys(("moe", "parallel_block", "untied_embeds", "bias"), False),
    "vocab_size": 512,
    "sequence_length": 64,
    "n_embd": 64,
    "n_head": 4,
    "n_layer": 4,
    "dropout": 0.0,
    "init_std": 0.02,
    "multiple_of": 32,
    "rmsnorm_eps": 1e-5,
    "moe_num_experts": 4,
    "moe_num_experts_per_tok": 2,
    "moe_num_shared_experts": 0,
    "moe_aux_loss_factor": 0.01,
    "moe_z_loss_factor": 0.01,
    "moe_entropy_loss_factor": 0.01,
    "moe_routing": "standard_gating",
    "moe_softmax_order": "softmax_topk",
    "moe_router_loss": "load_balancing_z_loss",
    "capacity_factor": 1.0,
    "mlp_dim_exp_factor": 1,
}
SMALL = "vocab_size=512, block_size=64, n_layer=4, n_head=4, n_embd=64"
RASCHKA: dict[str, Any] = {
    "vocab_size": 512,
    "context_length": 64,
    "emb_dim": 64,
    "n_heads": 4,
    "n_layers": 4,
    "drop_rate": 0.1,
    "qkv_bias": False,
    "hidden_dim": 128,
}
QWEN: dict[str, Any] = {
    "head_dim": 16,
    "qk_norm": True,
    "n_kv_groups": 2,
    "rope_base": 1e6,
    "num_experts": 0,
}
RECORDS = "records/track_1_short"
TENSORBOARD = ("torch.utils.tensorboard",)


class Entry(NamedTuple):
    """A model: where it is, and with what its configuration is made beside ``SIZES``.

    ``root`` is the folder that it is imported from, that of ``path`` where it is empty. Without a
    ``config`` the class itself takes the arguments. Where that does not build it, ``built`` is the
    expression that does, and ``loss`` what is computed of ``self.model``, ``idx`` and ``targets``.
    Of what ``is_script`` only imports, functions, classes and constants are kept. ``absent`` are
    packages that are taken for not installed; ``hollow`` those that PyTorch gets an empty one of,
    because the model imports them and computes nothing with them; ``without`` those that a script
    is not let import.
    """

    repository: str
    path: str
    cls: str = "GPT"
    config: str | None = "GPTConfig"
    others: tuple[tuple[str, Any], ...] = ()
    dtype: str = "bfloat16"
    root: str = ""
    is_script: bool = False
    absent: tuple[str, ...] = ()
    hollow: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    built: str = ""
    loss: str = "model(idx), targets"


ENTRIES = [
    *(
        Entry(repository, "model.py")
        for repository in (
            "karpathy/nanoGPT",
            "Andrei-Aksionov/nanoGPT-Andrej-Karpathy",
            "YpLarryWang/nanoGPT",
            "blank374/nanoGPT",
            "wolfecameron/nanoMoE",
            "danielgrittner/nanoGPT-LoRA",
            "lyh4215/nanoGPT",
            "EleutherAI/nanoGPT-mup",
            "Brukmoon/nanogpt-czech-poetry",
            "quietsmile/nanogpt",
            "sanjeevanahilan/nanoChatGPT",
            "bomxacalaka/nanoGPT",
            "lee-ny/teaching_arithmetic",
            "Liuhong99/Sophia",
            "NVIDIA/ngpt",
            "chongwei730/nanoGPT",
            "Byan13149/nanoGPT",
        )
    ),
    *(
        Entry("KellerJordan/modded-nanogpt", f"{RECORDS}/{day}/train_gpt2.py", is_script=True)
        for day in ("2024-10-09_SOAP", "2024-10-10_Muon", "2024-10-14_ModernArch")
    ),
    Entry(
        "karpathy/build-nanogpt",
        "train_gpt2.py",
        is_script=True,
        without=("hellaswag",),
        hollow=("tiktoken",),
    ),
    Entry("karpathy/llm.c", "train_gpt2.py", is_script=True, hollow=("tiktoken",)),
    Entry(
        *("karpathy/llama2.c", "model.py", "Transformer"),
        built="Transformer(ModelArgs(dim=64, n_layers=4, n_heads=4, n_kv_heads=2, vocab_size=512,"
        " multiple_of=32, max_seq_len=64))",
        loss="model(idx, targets), model.last_loss",
    ),
    Entry(
        *("karpathy/minGPT", "mingpt/model.py"),
        root=".",
        built="GPT(CN(model_type=None, n_layer=4, n_head=4, n_embd=64, vocab_size=512,"
        " block_size=64, embd_pdrop=0.1, resid_pdrop=0.1, attn_pdrop=0.1))",
        loss="model(idx, targets)",
    ),
    *(
        Entry(
            *("karpathy/makemore", "makemore.py", name, "ModelConfig"),
            others=(("n_embd2", 64),),
            is_script=True,
            without=TENSORBOARD,
        )
        for name in ("Transformer", "BoW", "MLP")
    ),
    Entry(
        *("karpathy/makemore", "makemore.py", "RNN"),
        built="RNN(ModelConfig(block_size=64, vocab_size=512, n_embd=64, n_embd2=64), 'gru')",
        loss="model(idx, targets)",
        is_script=True,
        without=TENSORBOARD,
    ),
    Entry(
        *("karpathy/nanochat", "nanochat/gpt.py"),
        others=(("sequence_len", 64), ("n_kv_head", 2)),
        dtype="float32",
        root=".",
        absent=("kernels",),
        hollow=("filelock",),
    ),
    Entry(
        *("epfml/llm-baselines", "src/models/llama.py", "Llama"),
        root="src",
        built=f"Llama(Settings(**{LLM_BASELINES}))",
        loss="model(idx, targets=targets)",
        hollow=("tiktoken",),
    ),
    Entry(
        *("epfml/llm-baselines", "src/models/base.py", "GPTBase"),
        root="src",
        built=f"GPTBase(Settings(**{LLM_BASELINES | {'moe': True}}))",
        loss="model(idx, targets=targets, moe=True)",
        hollow=("tiktoken",),
    ),
    Entry(
        *("alxndrTL/mamba.py", "mambapy/lm.py", "LM"),
        root=".",
        built="LM(MambaConfig(d_model=32, n_layers=2), 512)",
    ),
    Entry(
        *("alfredclwong/hyper-connections", "src/hyper_connections/model/gpt.py", "HCGPT"),
        root="src",
        others=(("dim", 64), ("num_heads", 4), ("num_layers", 4)),
        hollow=("huggingface_hub",),
    ),
    Entry(
        *("hannesbachmann/nanoDeepSeek", "model.py", "NanoDeepSeek", "Config"),
        others=(("n_tokens", 512), ("max_seq_len", 64)),
    ),
    Entry(
        *("harvestingmoon/nanodeepseek", "mla_model.py"),
        others=(("n_main_layers", 2), ("n_branch_layers", 1), ("d_latent", 16), ("n_experts", 4)),
    ),
    Entry(
        *("66Tracy/nanoLlama", "modeling_llama.py", "LlamaCasualModel", "LlamaConfig"),
        others=(
            *(("hidden_size", 64), ("intermediate_size", 128), ("num_hidden_layers", 4)),
            *(("num_attention_heads", 4), ("max_position_embeddings", 64), ("block_size", 64)),
            ("vocab_size", 512),
        ),
    ),
    Entry(
        *("XiaoConstantine/nanogpt-titans", "src/nanogpt_titans/model.py", "TitansGPT"),
        config="TitansConfig",
        root="src",
        others=(("segment_len", 32),),
    ),
    *(
        Entry("ShaneLiu04/nanoGPT-Modern", path, cls, root=".", built=built, loss=loss)
        for path, cls, built, loss in (
            (
                "model/baseline_gpt.py",
                "BaselineGPT",
                f"BaselineGPT(BaselineGPTConfig({SMALL}, gradient_checkpointing=True))",
                "model(idx, targets)",
            ),
            (
                "model/modern_gpt.py",
                "ModernGPT",
                f"ModernGPT(ModernGPTConfig({SMALL}, n_kv_head=2, qk_norm=True, n_future=2,"
                " gqa_broadcast='repeat'))",
                "model(idx, targets)",
            ),
        )
    ),
    *(
        Entry(
            *("KyroChi/nanoGPT-maximal-paramaterizations", path),
            built=f"GPT(GPTConfig({SMALL}, impl=standard_param_impl, n_kv_head=2{more}))",
            loss="model(idx, targets)",
        )
        for path, more in (
            ("model.py", ""),
            ("model_moe_kyle.py", ""),
        )
    ),
    *(
        Entry(
            *("rasbt/LLMs-from-scratch", f"ch04/{path}", "GPTModel"),
            built=f"GPTModel({RASCHKA | more})",
            is_script=True,
            hollow=("tiktoken",),
        )
        for path, more in (
            ("04_gqa/gpt_with_kv_gqa.py", {"n_kv_groups": 2}),
            ("05_mla/gpt_with_kv_mla.py", {"latent_dim": 16}),
            ("06_swa/gpt_with_kv_swa.py", {"sliding_window_size": 16, "sliding_window_stride": 2}),
            ("07_moe/gpt_with_kv_moe.py", {"num_experts": 4, "num_experts_per_tok": 2}),
        )
    ),
    Entry(
        *("rasbt/LLMs-from-scratch", "pkg/llms_from_scratch/qwen3.py", "Qwen3Model"),
        root="pkg",
        built=f"Qwen3Model({RASCHKA | QWEN} | {{'dtype': torch.float32}})",
        hollow=("requests",),
    ),
    Entry("SwordElucidator/nanoBackpackLM", "backpack.py", "BackpackLM", "BackpackLMConfig"),
    Entry(
        *("Hannibal046/nanoRWKV", "modeling_rwkv.py", "RWKV", "RWKVConfig"),
        others=(("use_customized_cuda_kernel", False),),
    ),
    Entry(
        "ReaLLMASIC/nanoGPT",
        "model.py",
        others=tuple(SIZES.items()),
        hollow=("rich.console", "rich.text", "rich.table"),
    ),
    Entry("timepointai/nanogpt-prism-shakespeare", "src/model.py"),
    Entry("zyushun/Adam-mini", "examples/gpt2/model.py", hollow=("algorithms",)),
    Entry("Hannibal046/nanoRWKV", "modeling_gpt.py"),
]

# The second zoo. GitHub's repositories called "nanogpt", those with most files first, that are not
# among the above; of each the first file, by its path, in which a dataclass GPTConfig is the only
# argument of a class whose forward takes idx and targets; the first ten of these. They were run
# once, when the code was done, and nothing was changed because of them.
SECOND = [
    Entry("klei22/nanoGPT", "exutorch/model.py"),
    Entry("xinyixuu/nanoGPT", "exutorch/model.py"),
    Entry(
        "CalculatedContent/nanogpt-experiments",
        "experiment_2/src/experiment_2/model.py",
        root="experiment_2/src",
    ),
    Entry(
        "Akashsinghbhadoriya/nanoGPT-learning",
        "experimentation/KVCache/model_KVcache.py",
        hollow=("transformers",),
    ),
    Entry("adeelmahmood/nanogpt-to-chat", "gpt.py", "GPTModel", hollow=("tiktoken",)),
    Entry("fredpengpkuphy/nanogpt-observable-library", "model.py"),
    Entry("Kebedeb/nanoGPT-Tool-Use-", "model.py"),
    Entry("manyids2/nanoGPT-deepdive", "nanogpt_deepdive/models/gpt.py", root="."),
    Entry("f4t1i/nanoGPT-Ockham", "model.py"),
    Entry("vinyesm/nanoGPT-for-image", "model.py"),
]
