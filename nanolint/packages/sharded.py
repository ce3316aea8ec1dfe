"""``torch.distributed.optim``, written as its users would: the interpreter reads this text.

As torch/distributed/optim/zero_redundancy_optimizer.py: each process updates the parameters that
are its own, and sends them to the others. ``Optimizer`` and ``doubt`` are handed in.
"""

import torch
import torch.distributed as dist


class ZeroRedundancyOptimizer(Optimizer):
    def __init__(
        self,
        params,
        optimizer_class,
        process_group=None,
        parameters_as_bucket_view=False,
        overlap_with_ddp=False,
        **defaults,
    ):
        if process_group is not None or parameters_as_bucket_view or overlap_with_ddp:
            doubt("the effect of ZeroRedundancyOptimizer's options")
        self.optim = None
        self.shares = [[] for _ in range(dist.get_world_size())]
        self.sizes = [0 for _ in self.shares]
        super().__init__(params, defaults)
        self.optim = optimizer_class(self.shares[dist.get_rank()], **defaults)

    def add_param_group(self, group):
        super().add_param_group(group)
        share = self.partition(group)
        if self.optim is not None:
            self.optim.add_param_group(share)

    def partition(self, group):
        parts = [[] for _ in self.shares]
        for p in sorted(group["params"], key=lambda p: p.numel(), reverse=True):
            rank = self.sizes.index(min(self.sizes))
            parts[rank].append(p)
            self.sizes[rank] += p.numel()
        for rank, part in enumerate(parts):
            self.shares[rank].append({**group, "params": part})
        return self.shares[dist.get_rank()][-1]

    @torch.no_grad()
    def step(self, closure=None):
        rank = self.sizes.index(max(self.sizes))
        if rank != dist.get_rank():
            doubt(f"this is rank {dist.get_rank()}; rank {rank}, which keeps more state,")
        self.optim.step()
        handles = []
        for rank, groups in enumerate(self.shares):
            for group in groups:
                for p in group["params"]:
                    handles.append(dist.broadcast(p.data, src=rank, async_op=True))
        for handle in handles:
            handle.wait()
