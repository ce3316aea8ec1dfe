"""``nanolint explain`` for people: the run, where its memory goes, and what to do about it."""
