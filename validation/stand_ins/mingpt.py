"""Run before minGPT's projects/chargpt: a text, and a few steps only."""

from pathlib import Path

Path("input.txt").write_text(
    "First Citizen: Before we proceed any further, hear me speak.\n" * 5000
)
