"""rich: what it shows is no matter to a run. Read, never run."""


class Shown:
    """A console, a table, a bar: whatever is asked of it gives something to show again."""

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, *args, **kwargs):
        return Shown()

    def __getattr__(self, name):
        return Shown()

    def __enter__(self):
        return self

    def __exit__(self, *given):
        pass

    def track(self, sequence, *args, **kwargs):
        return sequence

    def input(self, *args, **kwargs):
        return unheard("typed input")


def track(sequence, *args, **kwargs):
    return sequence
