"""torchvision's modules, of one text that is read when the first of them is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.interpreter.values import Namespace, Native
from nanolint.script import settings, training

if TYPE_CHECKING:
    from nanolint.interpreter.values import Value
    from nanolint.script.machine import Script

DATASETS = "MNIST FashionMNIST KMNIST CIFAR10 CIFAR100 SVHN STL10 ImageFolder VisionDataset"
TRANSFORMS = """Compose ToTensor PILToTensor ToPILImage Lambda ConvertImageDtype Resize CenterCrop
RandomCrop RandomResizedCrop Pad Grayscale InterpolationMode AutoAugmentPolicy"""
# These change no size.
SAME = """Normalize RandomHorizontalFlip RandomVerticalFlip RandomRotation RandomAffine ColorJitter
RandAugment AutoAugment TrivialAugmentWide AugMix RandomErasing GaussianBlur RandomGrayscale
RandomPerspective RandomInvert RandomAdjustSharpness RandomAutocontrast RandomEqualize"""
UTILS = "make_grid save_image"
NAMES = ("torchvision", "torchvision.datasets", "torchvision.transforms", "torchvision.utils")


def table(machine: Script) -> dict[str, Value]:
    """The modules by their names."""
    return training.later(NAMES, lambda: _read(machine))


def _read(machine: Script) -> dict[str, Namespace]:
    given: dict[str, Value] = {
        "unheard": Native("unheard", machine.unknown, plain=False),
        "assumed": Native("assumed", lambda what: settings.doubt(machine, what), plain=False),
    }
    text = training.read_text(machine, "torchvision.py", "torchvision", given).names
    same = text["Same"]
    made = {
        "datasets": {name: text[name] for name in DATASETS.split()},
        "transforms": {name: text[name] for name in TRANSFORMS.split()}
        | dict.fromkeys(SAME.split(), same),
        "utils": {name: text[name] for name in UTILS.split()},
    }
    found = {
        f"torchvision.{name}": Namespace(f"torchvision.{name}", names)
        for name, names in made.items()
    }
    parts: dict[str, Value] = {name: found[f"torchvision.{name}"] for name in made}
    return {"torchvision": Namespace("torchvision", parts), **found}
