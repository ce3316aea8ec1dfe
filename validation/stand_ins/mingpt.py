"""Run before minGPT's projects/chargpt: a text of so many characters that any index is one."""

from pathlib import Path

TEXT = "O God, O God! " + "".join(map(chr, range(32, 352)))  # it samples after the first step
Path("input.txt").write_text(TEXT * 500)
