# a 30M model that leaves room for other things on a 12 GB card
out_dir = 'out-30m'
dataset = 'openwebtext'
eval_interval = 500
eval_iters = 200

batch_size = 16
block_size = 512
gradient_accumulation_steps = 4

n_layer = 6
n_head = 6
n_embd = 384

learning_rate = 1e-3
min_lr = 1e-4
max_iters = 20000
lr_decay_iters = 20000
dtype = 'float16'
