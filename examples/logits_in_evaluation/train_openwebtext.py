# GPT-2 (124M) on a local copy of OpenWebText, one desktop GPU
out_dir = 'out-openwebtext'
eval_interval = 1000
eval_iters = 200
log_interval = 100

dataset = 'openwebtext'
batch_size = 64    # as many as possible: the card should not idle
block_size = 1024
gradient_accumulation_steps = 8

n_layer = 12
n_head = 12
n_embd = 768
dropout = 0.0

max_iters = 20000
lr_decay_iters = 20000  # equal to max_iters
warmup_iters = 200
dtype = 'bfloat16'
compile = True
