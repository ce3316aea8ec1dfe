"""What minimind's trainers load from the Hub's JSON lines: samples of a text, and of a chat."""

import datasets

TALK = ["hello", "hi there " * 500]


class Samples:
    def __len__(self):
        return 4096

    def __getitem__(self, place):
        said = [
            {"role": role, "content": text, "reasoning_content": "", "tools": "", "tool_calls": ""}
            for role, text in zip(("user", "assistant"), TALK)
        ]
        return {"text": "hello world " * 400, "conversations": said}


datasets.load_dataset = lambda *given, **named: Samples()
