"""What one run of nanoGPT allocates with torch.compile, phase by phase, as JSON.

    python validation/oracle_compiled/run.py path/to/nanoGPT --batch_size 12 --dtype bfloat16

Needs a CPU build of torch, triton and g++; see README.md.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import tempfile
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # the root of the repository

from validation.counting.allocator import least_limit, play
from validation.counting.card import Card
from validation.counting.config import Config, parser
from validation.counting.peaks import phase_peaks, text

ATTENTIONS = ("flash", "efficient")
PHASES = ("eval", "forward", "backward", "optimizer", "eval_late")


def main() -> None:
    """Run, print, and leave without the teardown of a CUDA that was never there."""
    arguments = parser(str(__doc__).splitlines()[0], ATTENTIONS)
    arguments.add_argument(
        "--least_limit", action="store_true", help="also the smallest card that it survives on"
    )
    options = vars(arguments.parse_args())
    nanogpt, events_file = options.pop("nanogpt"), options.pop("events")
    wants_limit = options.pop("least_limit")
    logging.disable(logging.WARNING)  # torch has much to say about such a card
    warnings.simplefilter("ignore")
    card = Card(flash=options["attention"] == "flash")

    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {
            "TORCHINDUCTOR_CACHE_DIR": folder,  # for the code that Inductor writes
            "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",  # every graph is compiled, none fetched
            "TORCHINDUCTOR_COMPILE_THREADS": "1",  # no processes for kernels left uncompiled
        }
        from training import train  # torch, which must find the card when it is imported

        train(Config(**options), nanogpt, card.phase)
    events = card.events()
    if events_file:
        events_file.write_text(text(events, card.phases))
    peaks = phase_peaks(events, card.phases)
    phases = {phase: peaks[phase] for phase in PHASES}
    played = play(events)
    told = {"phases": phases, "overall": max(phases.values())}
    told |= {"memory_allocated": played.allocated, "reserved": played.reserved}
    if wants_limit:
        told["least_limit"] = least_limit(events)
    print(json.dumps(told))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
