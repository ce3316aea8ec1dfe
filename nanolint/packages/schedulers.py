"""``torch.optim.lr_scheduler``: of its schedules one has an end, and refuses to step any further.

``rate`` and ``told`` are handed in: here no learning rate is worked out.
"""


class OneCycleLR:
    def __init__(
        self,
        optimizer,
        max_lr,
        total_steps=None,
        epochs=None,
        steps_per_epoch=None,
        pct_start=0.3,
        anneal_strategy="cos",
        cycle_momentum=True,
        base_momentum=0.85,
        max_momentum=0.95,
        div_factor=25.0,
        final_div_factor=1e4,
        three_phase=False,
        last_epoch=-1,
    ):
        self.optimizer = optimizer
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        self.total_steps = epochs * steps_per_epoch if total_steps is None else total_steps
        self.last_epoch = last_epoch + 1
        given = total_steps, epochs, steps_per_epoch, pct_start, anneal_strategy
        factors = dict(div_factor=div_factor, final_div_factor=final_div_factor)
        more = dict(three_phase=three_phase, last_epoch=last_epoch)
        self.told = told(optimizer, max_lr, *given, **factors, **more)

    def step(self, epoch=None):
        self.last_epoch += 1
        self.told.step()
        if self.last_epoch > self.total_steps:
            raise ValueError(
                f"Tried to step {self.last_epoch} times. "
                f"The specified number of total steps is {self.total_steps}"
            )

    def get_last_lr(self):
        return [rate() for _ in self.optimizer.param_groups]

    def state_dict(self):
        return {"total_steps": self.total_steps, "last_epoch": self.last_epoch}

    def load_state_dict(self, state_dict):
        self.last_epoch = self.total_steps = rate()
