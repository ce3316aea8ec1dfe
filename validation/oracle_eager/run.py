"""What one run of nanoGPT allocates in eager mode, phase by phase, as JSON.

    python validation/oracle_eager/run.py path/to/nanoGPT --batch_size 12 --dtype bfloat16

Needs a CPU build of torch and g++; see README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from allocator import peak_reserved
from card import Card, Event, Kind, rounded

DTYPES = ("bfloat16", "float16", "float32")
ATTENTIONS = ("flash", "efficient", "math")


def main() -> None:
    """Run, print, and leave without the teardown of a CUDA that was never there."""
    options = vars(_parser().parse_args())
    nanogpt, events_file = options.pop("nanogpt"), options.pop("events")
    if not (nanogpt / "model.py").is_file():
        raise SystemExit(f"{nanogpt} has no model.py: it must be a checkout of nanoGPT")
    card = Card(flash=options["attention"] == "flash")

    from training import Config, train  # torch, which must find the card when it is imported

    train(Config(**options), nanogpt, card.phase)
    events = card.events()
    if events_file:
        events_file.write_text("".join(_line(event, card.phases) for event in events))
    peaks = phase_peaks(events, card.phases)
    told = {"phases": peaks, "overall": max(peaks.values()), "reserved": peak_reserved(events)}
    print(json.dumps(told))
    sys.stdout.flush()
    os._exit(0)


def phase_peaks(events: list[Event], phases: list[str]) -> dict[str, int]:
    """The most bytes live after any allocation of each phase."""
    peaks: dict[str, int] = {}
    live: dict[int, int] = {}
    total, phase = 0, ""
    for event in events:
        if event.kind is Kind.PHASE:
            phase = phases[event.number]
        elif event.kind is Kind.ALLOCATION:
            live[event.number] = rounded(event.bytes)
            total += live[event.number]
            peaks[phase] = max(peaks.get(phase, 0), total)
        else:
            total -= live.pop(event.number)
    return peaks


def _line(event: Event, phases: list[str]) -> str:
    if event.kind is Kind.PHASE:
        return f"# {phases[event.number]}\n"
    if event.kind is Kind.ALLOCATION:
        return f"+{event.number} {event.bytes}\n"
    return f"-{event.number}\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("nanogpt", type=Path, help="a checkout of nanoGPT, for its model.py")
    for name, default in (
        ("batch_size", 12),
        ("block_size", 1024),
        ("n_layer", 12),
        ("n_head", 12),
        ("n_embd", 768),
        ("vocab_size", 50304),
        ("grad_accum", 2),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"default {default}")
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--bias", action="store_true")
    parser.add_argument("--dtype", choices=DTYPES, default="bfloat16")
    parser.add_argument("--attention", choices=ATTENTIONS, default="flash")
    parser.add_argument("--events", type=Path, help="write every allocation and release here")
    return parser


if __name__ == "__main__":
    main()
