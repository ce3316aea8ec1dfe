"""Run before minGPT's projects/chargpt: a text in which every character of its samples' start is."""

from pathlib import Path

TEXT = "O God, O God! First Citizen: Before we proceed any further, hear me speak.\n"
Path("input.txt").write_text(TEXT * 5000)
