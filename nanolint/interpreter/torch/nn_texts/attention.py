"""Attention of ``torch.nn``, written as its users would: the interpreter reads this text.

As torch/nn/modules/activation.py and transformer.py, and ``F.multi_head_attention_forward``. What
they do without gradients and without autocast is a kernel of its own (their fast path), which is
refused. ``lets_go`` is handed in: whether this release lets go of queries, keys and values before
they are multiplied out.
"""

import copy
import math

import torch
from torch.nn import Dropout, LayerNorm, Linear, ModuleList
from torch.nn import functional as F


def canonical(mask, dtype):
    if mask is not None and not mask.is_floating_point():
        mask = torch.zeros_like(mask, dtype=dtype).masked_fill_(mask, float("-inf"))
    return mask


def is_fast(module, *masks):
    """Whether a fast path may be taken: nothing learns, and nothing is cast."""
    if module.training or torch.is_autocast_enabled():
        return False
    if torch.is_grad_enabled() and any(p.requires_grad for p in module.parameters()):
        return False
    return not any(each is not None and each.is_floating_point() for each in masks)


def projected(q, k, v, w, b):
    """``_in_projection_packed``."""
    E = q.size(-1)
    if k is v:
        if q is k:
            proj = F.linear(q, w, b)
            proj = proj.unflatten(-1, (3, E)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
            return proj[0], proj[1], proj[2]
        w_q, w_kv = w.split([E, E * 2])
        b_q, b_kv = (None, None) if b is None else b.split([E, E * 2])
        q_proj = F.linear(q, w_q, b_q)
        kv_proj = F.linear(k, w_kv, b_kv)
        kv_proj = (
            kv_proj.unflatten(-1, (2, E)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
        )
        return q_proj, kv_proj[0], kv_proj[1]
    w_q, w_k, w_v = w.chunk(3)
    b_q, b_k, b_v = (None, None, None) if b is None else b.chunk(3)
    return F.linear(q, w_q, b_q), F.linear(k, w_k, b_k), F.linear(v, w_v, b_v)


def attended(
    query,
    key,
    value,
    module,
    key_padding_mask,
    need_weights,
    attn_mask,
    average_attn_weights,
    is_causal,
):
    """``F.multi_head_attention_forward``."""
    num_heads = module.num_heads
    tgt_len, bsz, embed_dim = query.shape
    src_len = key.shape[0]
    key_padding_mask = canonical(key_padding_mask, query.dtype)
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = canonical(attn_mask, query.dtype)
        if key_padding_mask is not None:
            is_causal = False
    head_dim = embed_dim // num_heads
    q, k, v = projected(query, key, value, module.in_proj_weight, module.in_proj_bias)
    if attn_mask is not None and attn_mask.dim() == 2:
        attn_mask = attn_mask.unsqueeze(0)
    q = q.view(tgt_len, bsz * num_heads, head_dim).transpose(0, 1)
    k = k.view(k.shape[0], bsz * num_heads, head_dim).transpose(0, 1)
    v = v.view(v.shape[0], bsz * num_heads, head_dim).transpose(0, 1)
    if key_padding_mask is not None:
        key_padding_mask = (
            key_padding_mask.view(bsz, 1, 1, src_len)
            .expand(-1, num_heads, -1, -1)
            .reshape(bsz * num_heads, 1, src_len)
        )
        attn_mask = key_padding_mask if attn_mask is None else attn_mask + key_padding_mask
    dropout_p = module.dropout if module.training else 0.0
    if need_weights:
        q_scaled = q * math.sqrt(1.0 / float(head_dim))
        if attn_mask is not None:
            attn_output_weights = torch.baddbmm(attn_mask, q_scaled, k.transpose(-2, -1))
        else:
            attn_output_weights = torch.bmm(q_scaled, k.transpose(-2, -1))
        if lets_go:
            del q_scaled, k
        attn_output_weights = F.softmax(attn_output_weights, dim=-1)
        if dropout_p > 0.0:
            attn_output_weights = F.dropout(attn_output_weights, p=dropout_p)
        attn_output = torch.bmm(attn_output_weights, v)
        if lets_go:
            del v
        attn_output = attn_output.transpose(0, 1).reshape(tgt_len * bsz, embed_dim)
        attn_output = F.linear(attn_output, module.out_proj.weight, module.out_proj.bias)
        attn_output = attn_output.view(tgt_len, bsz, attn_output.size(1))
        attn_output_weights = attn_output_weights.view(bsz, num_heads, tgt_len, src_len)
        if average_attn_weights:
            attn_output_weights = attn_output_weights.mean(dim=1)
        return attn_output, attn_output_weights
    if attn_mask is not None:
        if attn_mask.size(0) == 1 and attn_mask.dim() == 3:
            attn_mask = attn_mask.unsqueeze(0)
        else:
            attn_mask = attn_mask.view(bsz, num_heads, -1, src_len)
    q = q.view(bsz, num_heads, tgt_len, head_dim)
    k = k.view(bsz, num_heads, src_len, head_dim)
    v = v.view(bsz, num_heads, src_len, head_dim)
    attn_output = F.scaled_dot_product_attention(q, k, v, attn_mask, dropout_p, is_causal)
    if lets_go:
        del q, k, v
    attn_output = attn_output.permute(2, 0, 1, 3).reshape(bsz * tgt_len, embed_dim)
    attn_output = F.linear(attn_output, module.out_proj.weight, module.out_proj.bias)
    return attn_output.view(tgt_len, bsz, attn_output.size(1)), None


class MultiheadAttention(Module):
    def __init__(
        self,
        embed_dim,
        num_heads,
        dropout=0.0,
        bias=True,
        add_bias_kv=False,
        add_zero_attn=False,
        kdim=None,
        vdim=None,
        batch_first=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        if add_bias_kv or add_zero_attn or {kdim, vdim} - {None, embed_dim}:
            raise NotImplementedError("nn.MultiheadAttention with keys of their own")
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        self.in_proj_weight = Parameter(
            torch.empty((3 * embed_dim, embed_dim), device=device, dtype=dtype)
        )
        if bias:
            self.in_proj_bias = Parameter(torch.empty(3 * embed_dim, device=device, dtype=dtype))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = Linear(embed_dim, embed_dim, bias=bias, device=device, dtype=dtype)

    def forward(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
        is_causal=False,
    ):
        if query.dim() != 3:
            raise NotImplementedError("nn.MultiheadAttention of an input without a batch")
        is_own = query is key and key is value
        plain = self.batch_first and self.num_heads % 2 == 0
        if is_own and plain and is_fast(self, attn_mask, key_padding_mask):
            if query.dtype == self.in_proj_weight.dtype:
                raise NotImplementedError("the fast path of nn.MultiheadAttention")
        key_padding_mask = canonical(key_padding_mask, query.dtype)
        attn_mask = canonical(attn_mask, query.dtype)
        if self.batch_first:
            if is_own:
                query = key = value = query.transpose(1, 0)
            elif key is value:
                query, key = query.transpose(1, 0), key.transpose(1, 0)
                value = key
            else:
                query, key, value = (x.transpose(1, 0) for x in (query, key, value))
        settings = key_padding_mask, need_weights, attn_mask, average_attn_weights, is_causal
        attn_output, attn_output_weights = attended(query, key, value, self, *settings)
        if self.batch_first:
            return attn_output.transpose(1, 0), attn_output_weights
        return attn_output, attn_output_weights


class TransformerEncoderLayer(Module):
    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation=F.relu,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        made = dict(bias=bias, device=device, dtype=dtype)
        self.self_attn = MultiheadAttention(
            d_model, nhead, dropout=dropout, batch_first=batch_first, **made
        )
        self.linear1 = Linear(d_model, dim_feedforward, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **made)
        self.norm_first = norm_first
        self.norm1 = LayerNorm(d_model, eps=layer_norm_eps, **made)
        self.norm2 = LayerNorm(d_model, eps=layer_norm_eps, **made)
        self.dropout1 = Dropout(dropout)
        self.dropout2 = Dropout(dropout)
        if isinstance(activation, str):
            activation = {"relu": F.relu, "gelu": F.gelu}[activation]
        self.activation = activation

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        if self.self_attn.batch_first and is_fast(self):
            raise NotImplementedError("the fast path of nn.TransformerEncoderLayer")
        src_key_padding_mask = canonical(src_key_padding_mask, src.dtype)
        src_mask = canonical(src_mask, src.dtype)
        x = src
        masks = src_mask, src_key_padding_mask
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *masks, is_causal)
            x = x + self._ff_block(self.norm2(x))
        else:
            x = self.norm1(x + self._sa_block(x, *masks, is_causal))
            x = self.norm2(x + self._ff_block(x))
        return x

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal):
        masks = dict(attn_mask=attn_mask, key_padding_mask=key_padding_mask)
        x = self.self_attn(x, x, x, **masks, need_weights=False, is_causal=is_causal)[0]
        return self.dropout1(x)

    def _ff_block(self, x):
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        return self.dropout2(x)


class TransformerEncoder(Module):
    def __init__(
        self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True
    ):
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(encoder_layer) for i in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        if is_causal is None and mask is not None:
            raise NotImplementedError("whether a mask of nn.TransformerEncoder is the causal one")
        if src_key_padding_mask is not None and is_fast(self):
            raise NotImplementedError("the fast path of nn.TransformerEncoder")
        src_key_padding_mask = canonical(src_key_padding_mask, src.dtype)
        mask = canonical(mask, src.dtype)
        output = src
        for mod in self.layers:
            output = mod(
                output,
                src_mask=mask,
                is_causal=is_causal is True,
                src_key_padding_mask=src_key_padding_mask,
            )
        if self.norm is not None:
            output = self.norm(output)
        return output


class Transformer(Module):
    def __init__(self, *args, **kwargs):
        raise NotImplementedError("nn.Transformer")

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        mask = torch.full((sz, sz), float("-inf"), dtype=dtype, device=device)
        return torch.triu(mask, diagonal=1)
