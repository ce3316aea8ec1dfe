"""GPT-2, Llama, Qwen2 and Qwen3 as transformers 5.24 has them, for a causal language model.

transformers/models/gpt2/modeling_gpt2.py, models/llama/modeling_llama.py, models/qwen2 and qwen3;
cache_utils.py, masking_utils.py, integrations/sdpa_attention.py, loss/loss_utils.py. ``doubt``
takes what is not known, ``doubt_above`` what can only take less, ``refused`` ends the reading;
``published`` has the sizes of GPT-2's
checkpoints, whose state is ``kept``.
"""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint


OF_MODEL = ("dtype", "torch_dtype", "attn_implementation")
OF_LOADING = (
    *OF_MODEL, "cache_dir", "local_files_only", "revision", "token", "use_safetensors",
    "low_cpu_mem_usage", "trust_remote_code",
)  # fmt: skip


# Of a model's other attributes those that take nothing, and those whose effect is not known.
HARMLESS = (
    "add_model_tags", "can_generate", "generation_config", "get_memory_footprint",
    "hf_device_map", "main_input_name", "name_or_path", "push_to_hub", "warnings_issued",
)  # fmt: skip
OTHERS = (
    "base_model", "compute_transition_scores", "disable_input_require_grads",
    "enable_input_require_grads", "generate", "get_position_embeddings", "loss_function",
    "resize_position_embeddings", "set_attn_implementation", "set_input_embeddings",
    "set_output_embeddings", "to_bettertransformer",
)  # fmt: skip


def other(name):
    if name in OTHERS:
        doubt(f"what {name} of a model of transformers does")
    elif name not in HARMLESS:
        raise AttributeError(name)
    return unknown(f"{name} of a model of transformers")


class DynamicCache:
    __dataclass__ = {}  # torch.compile hands out what it holds

    def __init__(self):
        self.keys = {}
        self.values = {}

    def get_seq_length(self):
        return self.keys[0].shape[-2] if 0 in self.keys else 0

    def update(self, key, value, layer):
        if layer not in self.keys:
            self.keys[layer] = torch.tensor([], dtype=key.dtype, device=key.device)
            self.values[layer] = torch.tensor([], dtype=value.dtype, device=value.device)
        self.keys[layer] = torch.cat([self.keys[layer], key], dim=-2)
        self.values[layer] = torch.cat([self.values[layer], value], dim=-2)
        return self.keys[layer], self.values[layer]


def positions_of(embeds, cache):
    past = cache.get_seq_length() if cache is not None else 0
    positions = torch.arange(embeds.shape[1], device=embeds.device) + past
    return positions.unsqueeze(0)


def causal_mask(embeds, attention_mask, cache, positions):
    """None where attention is causal and nothing else; else a mask of each pair of tokens."""
    if attention_mask is None:
        if cache is None:
            rows = positions.expand(embeds.shape[0], -1)
            step = torch.diff(rows, prepend=rows[:, :1] - 1, dim=-1)
            ends = (step != 1).cumsum(-1)
            if torch.compiler.is_compiling():
                refused("a compiled model of transformers without a cache is not known")
            (ends[:, -1] == 0).all()
        return None
    if torch.compiler.is_compiling():
        refused("a mask in a compiled model of transformers is not known")
    if attention_mask.dim() == 4:
        return attention_mask
    attention_mask = attention_mask.to(device=embeds.device, dtype=torch.bool)
    length = embeds.shape[1]
    attention_mask.all()
    doubt_above("whether attention_mask leaves out tokens: if not, attention needs no mask")
    batch = torch.arange(embeds.shape[0], device=embeds.device)
    queries = torch.arange(length, device=embeds.device) + 0
    keys = torch.arange(length, device=embeds.device) + 0
    batch, queries, keys = batch[:, None, None, None], queries[:, None], keys[None, :]
    allowed = (keys <= queries)[None, None] & attention_mask[batch, keys]
    return allowed.expand(embeds.shape[0], -1, length, length)


def attend(module, query, key, value, mask, dropout, scaling):
    implementation = module.config._attn_implementation
    groups = getattr(module, "groups", 1)
    if implementation not in ("sdpa", "eager"):
        refused(f"attention by {implementation} in a model of transformers is not known")
    if implementation == "eager":
        doubt("what eager attention of transformers takes")
    grouped = {}
    if groups > 1:
        if mask is None and key.shape[-1] <= 256:
            grouped = {"enable_gqa": True}
        else:
            key, value = repeat_kv(key, groups), repeat_kv(value, groups)
    length = query.shape[2]
    causal = length > 1 and mask is None
    output = F.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=mask,
        dropout_p=dropout,
        scale=scaling,
        is_causal=causal,
        **grouped,
    )
    output = output.reshape(output.shape[0], -1, length, value.shape[-1])
    return output.transpose(1, 2).contiguous()


def repeat_kv(states, groups):
    batch, heads, length, width = states.shape
    states = states[:, :, None, :, :].expand(batch, heads, groups, length, width)
    return states.reshape(batch, heads * groups, length, width)


def causal_loss(logits, labels, vocab_size):
    logits = logits.float()
    labels = F.pad(labels, (0, 1), value=-100)
    shifted = labels[..., 1:].contiguous()
    logits = logits.view(-1, vocab_size)
    shifted = shifted.view(-1)
    shifted = shifted.to(logits.device)
    return F.cross_entropy(logits, shifted, ignore_index=-100)


class Layer(nn.Module):
    gradient_checkpointing = False

    def forward(self, *args, **kwargs):
        if self.gradient_checkpointing and self.training and torch.is_grad_enabled():
            return checkpoint(self.once, *args, use_reentrant=False, **kwargs)
        return self.once(*args, **kwargs)


class CausalModel(PreTrainedModel):
    """What the four have in common: a trunk and a head, by the names that each gives them."""

    is_published = False

    def __getattr__(self, name):
        return other(name)

    @classmethod
    def from_config(cls, config, **named):
        return cls._from_config(config, **named)

    @classmethod
    def _from_config(cls, config, dtype=None, torch_dtype=None, attn_implementation=None, **named):
        if attn_implementation is not None:
            config._attn_implementation = attn_implementation
        made = cls(config)
        kind = dtype if dtype is not None else torch_dtype
        return made if kind is None or kind == "auto" else made.to(kind)

    @classmethod
    def from_pretrained(cls, name, *others, **named):
        sizes = published(name)
        is_plain = not others and all(each in OF_LOADING for each in named)
        if sizes is None or not is_plain or cls.base_model_prefix != "transformer":
            return unknown(f"the checkpoint {name!r}")
        config = GPT2Config.from_pretrained(name)
        of_model = {each: named[each] for each in named if each in OF_MODEL}
        made = cls._from_config(config, **of_model).eval()
        made.is_published = True
        return made

    def state_dict(self, *args, **kwargs):
        found = super().state_dict(*args, **kwargs)
        return kept(found) if self.is_published else found

    @property
    def trunk(self):
        return getattr(self, self.base_model_prefix)

    def get_input_embeddings(self):
        return self.trunk.embedding()

    def get_output_embeddings(self):
        return self.lm_head

    def tie_weights(self):
        if self.config.tie_word_embeddings:
            self.lm_head.weight = self.get_input_embeddings().weight

    def resize_token_embeddings(self, new_num_tokens=None, pad_to_multiple_of=None, **named):
        old = self.get_input_embeddings().weight
        size = old.shape[0] if new_num_tokens is None else new_num_tokens
        if pad_to_multiple_of is not None:
            size = -(-size // pad_to_multiple_of) * pad_to_multiple_of
        if size != old.shape[0]:
            if old.is_cuda:
                doubt("what an embedding that is resized on the card takes")
            alike = {"device": old.device, "dtype": old.dtype}
            self.trunk.embed(nn.Embedding(size, old.shape[1], **alike))
            self.lm_head = nn.Linear(old.shape[1], size, bias=False, **alike)
        self.config.vocab_size = size
        self.tie_weights()
        return self.get_input_embeddings()

    def gradient_checkpointing_enable(self, gradient_checkpointing_kwargs=None, **named):
        if gradient_checkpointing_kwargs is not None and gradient_checkpointing_kwargs.get(
            "use_reentrant"
        ):
            doubt("what reentrant checkpointing of transformers keeps")
        for each in self.modules():
            if hasattr(each, "gradient_checkpointing"):
                each.gradient_checkpointing = True

    def gradient_checkpointing_disable(self):
        for each in self.modules():
            if hasattr(each, "gradient_checkpointing"):
                each.gradient_checkpointing = False

    def forward(
        self,
        input_ids=None,
        attention_mask=None,
        position_ids=None,
        inputs_embeds=None,
        labels=None,
        use_cache=None,
        return_dict=None,
        **named,
    ):
        if named:
            doubt(f"what {sorted(named)[0]} does in a model of transformers")
        outputs = self.trunk(
            input_ids=input_ids,
            attention_mask=attention_mask,
            position_ids=position_ids,
            inputs_embeds=inputs_embeds,
            use_cache=use_cache,
        )
        hidden_states = outputs.last_hidden_state
        hidden_states = hidden_states[:, slice(0, None), :]
        logits = self.lm_head(hidden_states)
        loss = None
        if labels is not None:
            loss = causal_loss(logits, labels, self.config.vocab_size)
        made = CausalLMOutputWithPast(
            loss=loss, logits=logits, past_key_values=outputs.past_key_values
        )
        return made if return_dict is not False else made.to_tuple()


class Trunk(PreTrainedModel):
    gradient_checkpointing = False

    def __getattr__(self, name):
        return other(name)

    def caches(self, use_cache):
        use_cache = self.config.use_cache if use_cache is None else use_cache
        checkpointed = self.gradient_checkpointing and self.training and torch.is_grad_enabled()
        return use_cache and not checkpointed


class Conv1D(nn.Module):
    def __init__(self, nf, nx):
        super().__init__()
        self.nf = nf
        self.weight = nn.Parameter(torch.empty(nx, nf))
        self.bias = nn.Parameter(torch.zeros(nf))

    def forward(self, x):
        size_out = x.size()[:-1] + (self.nf,)
        x = torch.addmm(self.bias, x.view(-1, x.size(-1)), self.weight)
        x = x.view(size_out)
        return x


class GPT2Attention(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.config = config
        self.embed_dim = config.hidden_size
        self.num_heads = config.num_attention_heads
        self.head_dim = self.embed_dim // self.num_heads
        if self.head_dim * self.num_heads != self.embed_dim:
            raise ValueError(
                f"`embed_dim` must be divisible by num_heads (got `embed_dim`: {self.embed_dim} "
                f"and `num_heads`: {self.num_heads})."
            )
        self.layer_idx = layer_idx
        self.scaling = self.head_dim**-0.5 if config.scale_attn_weights else 1.0
        self.c_attn = Conv1D(3 * self.embed_dim, self.embed_dim)
        self.c_proj = Conv1D(self.embed_dim, self.embed_dim)
        self.attn_dropout = nn.Dropout(config.attn_pdrop)
        self.resid_dropout = nn.Dropout(config.resid_pdrop)

    def forward(self, hidden_states, cache=None, attention_mask=None):
        query, key, value = self.c_attn(hidden_states).split(self.embed_dim, dim=2)
        shape = (*key.shape[:-1], -1, self.head_dim)
        key = key.view(shape).transpose(1, 2)
        value = value.view(shape).transpose(1, 2)
        query = query.view(shape).transpose(1, 2)
        if cache is not None:
            key, value = cache.update(key, value, self.layer_idx)
        dropout = self.attn_dropout.p if self.training else 0.0
        output = attend(self, query, key, value, attention_mask, dropout, self.scaling)
        output = output.reshape(*output.shape[:-2], -1).contiguous()
        output = self.c_proj(output)
        output = self.resid_dropout(output)
        return output


class GPT2MLP(nn.Module):
    def __init__(self, inner, config):
        super().__init__()
        self.c_fc = Conv1D(inner, config.hidden_size)
        self.c_proj = Conv1D(config.hidden_size, inner)
        self.act = ACT2FN[config.activation_function]
        self.dropout = nn.Dropout(config.resid_pdrop)

    def forward(self, hidden_states):
        hidden_states = self.c_fc(hidden_states)
        hidden_states = self.act(hidden_states)
        hidden_states = self.c_proj(hidden_states)
        hidden_states = self.dropout(hidden_states)
        return hidden_states


class GPT2Block(Layer):
    def __init__(self, config, layer_idx):
        super().__init__()
        width = config.hidden_size
        self.ln_1 = nn.LayerNorm(width, eps=config.layer_norm_epsilon)
        self.attn = GPT2Attention(config, layer_idx)
        self.ln_2 = nn.LayerNorm(width, eps=config.layer_norm_epsilon)
        self.mlp = GPT2MLP(config.n_inner if config.n_inner is not None else 4 * width, config)

    def once(self, hidden_states, cache=None, attention_mask=None):
        residual = hidden_states
        hidden_states = self.ln_1(hidden_states)
        attn_output = self.attn(hidden_states, cache=cache, attention_mask=attention_mask)
        hidden_states = attn_output + residual
        residual = hidden_states
        hidden_states = self.ln_2(hidden_states)
        feed_forward_hidden_states = self.mlp(hidden_states)
        hidden_states = residual + feed_forward_hidden_states
        return hidden_states


class GPT2Model(Trunk):
    def __init__(self, config):
        super().__init__(config)
        self.embed_dim = config.hidden_size
        self.wte = nn.Embedding(config.vocab_size, self.embed_dim)
        self.wpe = nn.Embedding(config.max_position_embeddings, self.embed_dim)
        self.drop = nn.Dropout(config.embd_pdrop)
        self.h = nn.ModuleList(
            [GPT2Block(config, layer_idx=i) for i in range(config.num_hidden_layers)]
        )
        self.ln_f = nn.LayerNorm(self.embed_dim, eps=config.layer_norm_epsilon)

    def embedding(self):
        return self.wte

    def embed(self, embedding):
        self.wte = embedding

    def forward(
        self,
        input_ids=None,
        attention_mask=None,
        position_ids=None,
        inputs_embeds=None,
        use_cache=None,
    ):
        cache = DynamicCache() if self.caches(use_cache) else None
        if inputs_embeds is None:
            input_shape = input_ids.size()
            input_ids = input_ids.view(-1, input_shape[-1])
            inputs_embeds = self.wte(input_ids)
        if position_ids is None:
            position_ids = positions_of(inputs_embeds, cache)
        position_embeds = self.wpe(position_ids)
        hidden_states = inputs_embeds + position_embeds.to(inputs_embeds.device)
        mask = causal_mask(inputs_embeds, attention_mask, cache, position_ids)
        hidden_states = self.drop(hidden_states)
        for block in self.h:
            hidden_states = block(hidden_states, cache, mask)
        hidden_states = self.ln_f(hidden_states)
        hidden_states = hidden_states.view(-1, *inputs_embeds.shape[1:])
        return BaseModelOutputWithPast(last_hidden_state=hidden_states, past_key_values=cache)


class GPT2LMHeadModel(CausalModel):
    base_model_prefix = "transformer"

    def __init__(self, config):
        super().__init__(config)
        self.transformer = GPT2Model(config)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        self.post_init()


class LlamaRMSNorm(nn.Module):
    def __init__(self, hidden_size, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden_size))
        self.variance_epsilon = eps

    def forward(self, hidden_states):
        input_dtype = hidden_states.dtype
        hidden_states = hidden_states.to(torch.float32)
        variance = hidden_states.pow(2).mean(-1, keepdim=True)
        hidden_states = hidden_states * torch.rsqrt(variance + self.variance_epsilon)
        return self.weight * hidden_states.to(input_dtype)


class LlamaRotaryEmbedding(nn.Module):
    def __init__(self, config):
        super().__init__()
        dim = config.head_dim
        rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None)
        if rope and rope.get("rope_type", "default") in ("dynamic", "longrope"):
            refused("rotary embeddings that change with the length are not known")
        inv_freq = 1.0 / (10000.0 ** (torch.arange(0, dim, 2, dtype=torch.float) / dim))
        self.register_buffer("inv_freq", inv_freq, persistent=False)
        self.register_buffer("original_inv_freq", inv_freq.clone(), persistent=False)

    def forward(self, x, position_ids):
        freqs = position_ids[..., None].float() * self.inv_freq.to(
            device=x.device, dtype=torch.float
        )
        emb = torch.cat((freqs, freqs), dim=-1)
        cos = emb.cos() * 1.0
        sin = emb.sin() * 1.0
        return cos.to(dtype=x.dtype), sin.to(dtype=x.dtype)


def rotate_half(x):
    x1 = x[..., : x.shape[-1] // 2]
    x2 = x[..., x.shape[-1] // 2 :]
    return torch.cat((-x2, x1), dim=-1)


def apply_rotary_pos_emb(q, k, cos, sin):
    cos = cos.unsqueeze(1)
    sin = sin.unsqueeze(1)
    q_embed = (q * cos) + (rotate_half(q) * sin)
    k_embed = (k * cos) + (rotate_half(k) * sin)
    return q_embed, k_embed


class LlamaMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, inner, bias = config.hidden_size, config.intermediate_size, config.mlp_bias
        self.gate_proj = nn.Linear(width, inner, bias=bias)
        self.up_proj = nn.Linear(width, inner, bias=bias)
        self.down_proj = nn.Linear(inner, width, bias=bias)
        self.act_fn = ACT2FN[config.hidden_act]

    def forward(self, x):
        down_proj = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))
        return down_proj


class LlamaAttention(nn.Module):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.config = config
        self.layer_idx = layer_idx
        self.head_dim = config.head_dim
        self.groups = config.num_attention_heads // config.num_key_value_heads
        self.scaling = self.head_dim**-0.5
        queries = config.num_attention_heads * self.head_dim
        keys = config.num_key_value_heads * self.head_dim
        self.q_proj = nn.Linear(config.hidden_size, queries, bias=config.attention_bias)
        self.k_proj = nn.Linear(config.hidden_size, keys, bias=config.attention_bias)
        self.v_proj = nn.Linear(config.hidden_size, keys, bias=config.attention_bias)
        self.o_proj = nn.Linear(queries, config.hidden_size, bias=config.output_bias)
        if config.norms_heads:
            self.q_norm = LlamaRMSNorm(self.head_dim, eps=config.rms_norm_eps)
            self.k_norm = LlamaRMSNorm(self.head_dim, eps=config.rms_norm_eps)

    def forward(self, hidden_states, position_embeddings=None, attention_mask=None, cache=None):
        input_shape = hidden_states.shape[:-1]
        hidden_shape = (*input_shape, -1, self.head_dim)
        if self.config.norms_heads:
            query = self.q_norm(self.q_proj(hidden_states).view(hidden_shape)).transpose(1, 2)
            key = self.k_norm(self.k_proj(hidden_states).view(hidden_shape)).transpose(1, 2)
        else:
            query = self.q_proj(hidden_states).view(hidden_shape).transpose(1, 2)
            key = self.k_proj(hidden_states).view(hidden_shape).transpose(1, 2)
        value = self.v_proj(hidden_states).view(hidden_shape).transpose(1, 2)
        cos, sin = position_embeddings
        query, key = apply_rotary_pos_emb(query, key, cos, sin)
        if cache is not None:
            key, value = cache.update(key, value, self.layer_idx)
        dropout = 0.0 if not self.training else self.config.attention_dropout
        output = attend(self, query, key, value, attention_mask, dropout, self.scaling)
        output = output.reshape(*input_shape, -1).contiguous()
        output = self.o_proj(output)
        return output


class LlamaDecoderLayer(Layer):
    def __init__(self, config, layer_idx):
        super().__init__()
        self.self_attn = LlamaAttention(config, layer_idx)
        self.mlp = LlamaMLP(config)
        self.input_layernorm = LlamaRMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.post_attention_layernorm = LlamaRMSNorm(config.hidden_size, eps=config.rms_norm_eps)

    def once(
        self,
        hidden_states,
        attention_mask=None,
        position_ids=None,
        cache=None,
        position_embeddings=None,
    ):
        residual = hidden_states
        hidden_states = self.input_layernorm(hidden_states)
        hidden_states = self.self_attn(
            hidden_states=hidden_states,
            attention_mask=attention_mask,
            cache=cache,
            position_embeddings=position_embeddings,
        )
        hidden_states = residual + hidden_states
        residual = hidden_states
        hidden_states = self.post_attention_layernorm(hidden_states)
        hidden_states = self.mlp(hidden_states)
        hidden_states = residual + hidden_states
        return hidden_states


class LlamaModel(Trunk):
    def __init__(self, config):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size, config.pad_token_id)
        self.layers = nn.ModuleList(
            [LlamaDecoderLayer(config, i) for i in range(config.num_hidden_layers)]
        )
        self.norm = LlamaRMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.rotary_emb = LlamaRotaryEmbedding(config)

    def embedding(self):
        return self.embed_tokens

    def embed(self, embedding):
        self.embed_tokens = embedding

    def forward(
        self,
        input_ids=None,
        attention_mask=None,
        position_ids=None,
        inputs_embeds=None,
        use_cache=None,
    ):
        if inputs_embeds is None:
            inputs_embeds = self.embed_tokens(input_ids)
        cache = DynamicCache() if self.caches(use_cache) else None
        if position_ids is None:
            position_ids = positions_of(inputs_embeds, cache)
        mask = causal_mask(inputs_embeds, attention_mask, cache, position_ids)
        hidden_states = inputs_embeds
        position_embeddings = self.rotary_emb(hidden_states, position_ids=position_ids)
        for decoder_layer in self.layers:
            hidden_states = decoder_layer(
                hidden_states,
                attention_mask=mask,
                position_embeddings=position_embeddings,
                position_ids=position_ids,
                cache=cache,
            )
        hidden_states = self.norm(hidden_states)
        return BaseModelOutputWithPast(last_hidden_state=hidden_states, past_key_values=cache)


class LlamaForCausalLM(CausalModel):
    base_model_prefix = "model"

    def __init__(self, config):
        super().__init__(config)
        self.model = LlamaModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()


class Qwen2ForCausalLM(LlamaForCausalLM):
    pass


class Qwen3ForCausalLM(LlamaForCausalLM):
    pass


MODELS = {
    "gpt2": GPT2LMHeadModel,
    "llama": LlamaForCausalLM,
    "qwen2": Qwen2ForCausalLM,
    "qwen3": Qwen3ForCausalLM,
}


class AutoConfig:
    @staticmethod
    def from_pretrained(name, *others, **named):
        return GPT2Config.from_pretrained(name, *others, **named)


class AutoModelForCausalLM:
    @staticmethod
    def from_config(config, **named):
        if config.model_type not in MODELS:
            refused(f"the model {config.model_type} of transformers is not known")
        return MODELS[config.model_type]._from_config(config, **named)

    @staticmethod
    def from_pretrained(name, *others, **named):
        return GPT2LMHeadModel.from_pretrained(name, *others, **named)
