"""A model.py of nanoGPT's kind: what a project of a test builds."""

from __future__ import annotations

from validation.read_models import MODELS

# The same model as it is compared with PyTorch's own, which nothing in it trains or begins with.
GPT = (MODELS / "gpt.py").read_text(encoding="utf-8")
PRETRAINED = """
    def crop_block_size(self, block_size):
        self.config.block_size = block_size
        self.transformer.wpe.weight = nn.Parameter(self.transformer.wpe.weight[:block_size])

    @classmethod
    def from_pretrained(cls, kind, override):
        sizes = {'gpt2': (12, 12, 768), 'gpt2-medium': (24, 16, 1024),
                 'gpt2-large': (36, 20, 1280), 'gpt2-xl': (48, 25, 1600)}
        n_layer, n_head, n_embd = sizes[kind]
        dropout = override.get('dropout', 0.0)
        return cls(GPTConfig(1024, 50257, n_layer, n_head, n_embd, dropout, True))
"""
FUSED_ADAMW = """
    def configure_optimizers(self, weight_decay, learning_rate, betas, device_type):
        import inspect
        params = [p for p in self.parameters() if p.requires_grad]
        groups = [
            {'params': [p for p in params if p.dim() >= 2], 'weight_decay': weight_decay},
            {'params': [p for p in params if p.dim() < 2], 'weight_decay': 0.0},
        ]
        fused = 'fused' in inspect.signature(torch.optim.AdamW).parameters
        extra = dict(fused=True) if fused and device_type == 'cuda' else dict()
        return torch.optim.AdamW(groups, lr=learning_rate, betas=betas, **extra)
"""
MODEL = GPT + PRETRAINED + FUSED_ADAMW
