"""What happy-llm's pre-training reads: lines of texts, some shorter than a sample, some longer."""

import builtins
import io
import json
import sys
import types

DATA = "seq_monkey_datawhale.jsonl"
LINES = "".join(
    json.dumps({"text": "hello world " * (number % 400)}) + "\n" for number in range(4096)
).encode()

real_open = builtins.open


def opened(path, *given, **named):
    return io.BytesIO(LINES) if str(path).endswith(DATA) else real_open(path, *given, **named)


builtins.open = opened
for name in ("pandas", "swanlab"):
    sys.modules.setdefault(name, types.ModuleType(name))
