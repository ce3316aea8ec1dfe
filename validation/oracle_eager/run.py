"""What one run of nanoGPT allocates in eager mode, phase by phase, as JSON.

    python validation/oracle_eager/run.py path/to/nanoGPT --batch_size 12 --dtype bfloat16

Needs a CPU build of torch and g++; see README.md.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # the root of the repository

from validation.counting.allocator import play
from validation.counting.card import Card
from validation.counting.config import Config, parser
from validation.counting.peaks import phase_peaks, text

ATTENTIONS = ("flash", "efficient", "math")


def main() -> None:
    """Run, print, and leave without the teardown of a CUDA that was never there."""
    options = vars(parser(str(__doc__).splitlines()[0], ATTENTIONS).parse_args())
    nanogpt, events_file = options.pop("nanogpt"), options.pop("events")
    card = Card(flash=options["attention"] == "flash")

    from training import train  # torch, which must find the card when it is imported

    train(Config(**options), nanogpt, card.phase)
    events = card.events()
    if events_file:
        events_file.write_text(text(events, card.phases))
    peaks = phase_peaks(events, card.phases)
    told = {"phases": peaks, "overall": max(peaks.values()), "reserved": play(events).reserved}
    print(json.dumps(told))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
