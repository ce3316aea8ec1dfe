"""torchvision's data sets and transforms, as far as the sizes of pictures go. Read, never run.

``unheard`` and ``assumed`` are handed in.
"""

import torch


class Picture:
    """One of PIL's; a side that is not known is None."""

    def __init__(self, channels, height, width):
        self.channels = channels
        self.height = height
        self.width = width
        self.size = (width, height)
        self.mode = "L" if channels == 1 else "RGB"

    def convert(self, mode):
        return Picture(1 if mode == "L" else 3, self.height, self.width)

    def resize(self, size, *args, **kwargs):
        return Picture(self.channels, size[1], size[0])


def sides(picture):
    if isinstance(picture, Picture):
        return picture.height, picture.width
    return picture.shape[-2], picture.shape[-1]


def sized(picture, height, width):
    """A picture, or a tensor, of other sides."""
    if isinstance(picture, Picture):
        return Picture(picture.channels, height, width)
    if height is None or width is None:
        return unheard("how large a picture is")
    return torch.empty((*picture.shape[:-2], height, width), dtype=picture.dtype)


def pair(size):
    """(height, width) of a size, which may be one number."""
    if isinstance(size, (tuple, list)):
        return (size[0], size[0]) if len(size) == 1 else (size[0], size[1])
    return size, size


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, picture):
        for each in self.transforms:
            picture = each(picture)
        return picture


class ToTensor:
    dtype = torch.float32

    def __call__(self, picture):
        if not isinstance(picture, Picture):
            return unheard("a tensor of something that is not a picture")
        if picture.height is None or picture.width is None:
            return unheard("how large a picture is")
        return torch.empty((picture.channels, picture.height, picture.width), dtype=self.dtype)


class PILToTensor(ToTensor):
    dtype = torch.uint8


class ToPILImage:
    def __init__(self, mode=None):
        pass

    def __call__(self, picture):
        if isinstance(picture, Picture):
            return picture
        return unheard("a picture of a tensor")


class Lambda:
    def __init__(self, lambd):
        self.lambd = lambd

    def __call__(self, picture):
        return self.lambd(picture)


class Same:
    """A transform that changes no size."""

    def __init__(self, *args, **kwargs):
        pass

    def __call__(self, picture):
        return picture


class ConvertImageDtype:
    def __init__(self, dtype=torch.float32):
        self.dtype = dtype

    def __call__(self, picture):
        return picture.to(self.dtype)


class Resize:
    def __init__(self, size, interpolation=None, max_size=None, antialias=None):
        self.size = size

    def __call__(self, picture):
        if isinstance(self.size, (tuple, list)) and len(self.size) == 2:
            return sized(picture, self.size[0], self.size[1])
        least, _ = pair(self.size)
        height, width = sides(picture)
        if height is None or width is None:
            return sized(picture, None, None)
        if height <= width:
            return sized(picture, least, int(least * width / height))
        return sized(picture, int(least * height / width), least)


class CenterCrop:
    def __init__(self, size, *args, **kwargs):
        self.size = size

    def __call__(self, picture):
        height, width = pair(self.size)
        return sized(picture, height, width)


class RandomCrop(CenterCrop):
    pass


class RandomResizedCrop(CenterCrop):
    pass


class Pad:
    def __init__(self, padding, fill=0, padding_mode="constant"):
        self.padding = padding

    def __call__(self, picture):
        given = self.padding
        if not isinstance(given, (tuple, list)):
            given = (given,)
        left = given[0]
        top = given[1] if len(given) > 1 else left
        right = given[2] if len(given) > 2 else left
        bottom = given[3] if len(given) > 2 else top
        height, width = sides(picture)
        if height is None or width is None:
            return sized(picture, None, None)
        return sized(picture, height + top + bottom, width + left + right)


class Grayscale:
    def __init__(self, num_output_channels=1):
        self.channels = num_output_channels

    def __call__(self, picture):
        height, width = sides(picture)
        if isinstance(picture, Picture):
            return Picture(self.channels, height, width)
        return torch.empty((self.channels, height, width), dtype=picture.dtype)


class InterpolationMode:
    NEAREST = "nearest"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"
    LANCZOS = "lanczos"


class AutoAugmentPolicy:
    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


class VisionDataset:
    """``sides`` are of the pictures, ``counts`` how many there are to train with and to test."""

    sides = (None, None, None)
    counts = (None, None)
    kinds = None

    def __init__(
        self, root=None, train=True, transform=None, target_transform=None, download=False
    ):
        self.root = root
        self.train = train
        self.transform = transform
        self.target_transform = target_transform
        self.data = unheard("the pictures of a data set")
        self.targets = unheard("the labels of a data set")
        self.classes = unheard("the classes of a data set")
        self.class_to_idx = unheard("the classes of a data set")
        if self.kinds is not None:
            self.classes = [str(each) for each in range(self.kinds)]
            self.class_to_idx = {str(each): each for each in range(self.kinds)}

    def __len__(self):
        count = self.counts[0] if self.train else self.counts[1]
        return unheard("how many pictures a data set has") if count is None else count

    def __getitem__(self, index):
        picture, label = Picture(*self.sides), 0
        if self.transform is not None:
            picture = self.transform(picture)
        if self.target_transform is not None:
            label = self.target_transform(label)
        return picture, label


class MNIST(VisionDataset):
    sides = (1, 28, 28)
    counts = (60000, 10000)
    kinds = 10


class FashionMNIST(MNIST):
    pass


class KMNIST(MNIST):
    pass


class CIFAR10(VisionDataset):
    sides = (3, 32, 32)
    counts = (50000, 10000)
    kinds = 10


class CIFAR100(CIFAR10):
    kinds = 100


class OfSplits(VisionDataset):
    """A data set of which ``split`` says the part."""

    def __init__(
        self, root=None, split="train", transform=None, target_transform=None, download=False
    ):
        super().__init__(root, split == "train", transform, target_transform)
        self.split = split


class SVHN(OfSplits):
    sides = (3, 32, 32)
    counts = (73257, 26032)
    kinds = 10


class STL10(OfSplits):
    sides = (3, 96, 96)
    counts = (5000, 8000)
    kinds = 10

    def __len__(self):
        if self.split == "unlabeled":
            return 100000
        return 105000 if "+" in self.split else super().__len__()


class ImageFolder(VisionDataset):
    sides = (3, None, None)

    def __init__(self, root=None, transform=None, target_transform=None, loader=None, **kwargs):
        super().__init__(root, True, transform, target_transform)
        self.samples = unheard("the files of a data set")
        self.imgs = self.samples


def make_grid(tensor, *args, **kwargs):
    assumed("nanolint does not count the pictures of torchvision.utils")
    return unheard("a picture of several")


def save_image(tensor, *args, **kwargs):
    assumed("nanolint does not count the pictures of torchvision.utils")
