"""Packages that look at a run: the interpreter reads this text, nothing imports it.

``untold`` makes a value that is not known.
"""


class Watch:
    """Profilers and their schedules, events of a stream: they take nothing from the allocator."""

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, function):
        return function

    def __enter__(self):
        return self

    def __exit__(self, *given):
        pass

    def start(self):
        pass

    def stop(self):
        pass

    def step(self):
        pass

    def record(self, *args):
        pass

    def synchronize(self):
        pass

    def wait(self, *args):
        pass

    def export_chrome_trace(self, path):
        pass

    def key_averages(self, **options):
        return untold("the result of a profiler")

    def elapsed_time(self, other):
        return untold("a time")


class Activity:
    CPU = "cpu"
    CUDA = "cuda"
