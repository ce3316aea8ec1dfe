"""From a run to its tape, and what is kept of tapes."""
