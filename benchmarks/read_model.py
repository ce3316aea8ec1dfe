"""A project whose model is not nanoGPT's, so that it is read: its feed-forward layers are gated."""

from __future__ import annotations

from nanolint.trainers.nanogpt.own import FOLDER
from tests.support.model_text import FUSED_ADAMW
from tests.support.project_tree import SETUP, train_script

OWN = (FOLDER / "model.py").read_text(encoding="utf-8") + FUSED_ADAMW
MODEL = OWN.replace("x = self.gelu(x)", "x = self.gelu(x) * x")
CONTEXT = """
types = {'float32': torch.float32, 'bfloat16': torch.bfloat16, 'float16': torch.float16}
ctx = torch.amp.autocast(device_type='cuda', dtype=types[dtype])
"""
LOADER = """
def get_batch(part):
    data = np.memmap(os.path.join('data', dataset, part + '.bin'), dtype=np.uint16, mode='r')
    starts = torch.randint(len(data) - block_size, (batch_size,))
    x = torch.stack([torch.from_numpy(data[i : i + block_size].astype(np.int64)) for i in starts])
    y = torch.stack(
        [torch.from_numpy(data[i + 1 : i + 1 + block_size].astype(np.int64)) for i in starts]
    )
    return x.pin_memory().to(device), y.pin_memory().to(device)
"""
FILES = {"model.py": MODEL, "train.py": train_script(loader=LOADER, setup=CONTEXT + SETUP)}
