# the "125M" model, an effective batch of 512 sequences
# 16 batch size * 32 gradaccum = 512
out_dir = 'out-gpt2-125m'
dataset = 'openwebtext'

batch_size = 16                     # micro-batch: sequences per forward pass
gradient_accumulation_steps = 32    # 16 * 32 = 512
block_size = 1024

n_layer = 12
n_head = 12
n_embd = 768

learning_rate = 6e-4
min_lr = 6e-5  # learning_rate / 10
dtype = 'bfloat16'
