"""Recorded runs: the profile that holds for a run; ``recorded/`` has those that come along."""
