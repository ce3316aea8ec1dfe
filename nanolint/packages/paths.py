"""``pathlib``, written as its users would: the interpreter reads this text.

``posix`` is ``os.path``, ``opened`` is ``open``; which files there are is not known, nor what
a path gives besides.
"""


class PurePath:
    def __init__(self, *parts):
        texts = [str(each) for each in parts]
        self.text = posix.normpath(posix.join(*texts)) if texts else "."

    def __str__(self):
        return self.text

    def __repr__(self):
        return self.text

    def __fspath__(self):
        return self.text

    def __truediv__(self, other):
        return Path(self.text, other)

    def __rtruediv__(self, other):
        return Path(other, self.text)

    def __eq__(self, other):
        return isinstance(other, PurePath) and self.text == other.text

    def __hash__(self):
        return hash(self.text)

    @property
    def parent(self):
        if self.text in (".", "..") or self.text.endswith("/.."):
            return Path(self.text, "..")
        return Path(posix.dirname(self.text) or ".")

    @property
    def parents(self):
        found = []
        each = self
        for _ in range(8):
            each = each.parent
            found.append(each)
        return found

    @property
    def name(self):
        return posix.basename(self.text)

    @property
    def suffix(self):
        return posix.splitext(self.text)[1]

    @property
    def stem(self):
        return posix.splitext(posix.basename(self.text))[0]

    def with_suffix(self, suffix):
        return Path(posix.splitext(self.text)[0] + suffix)

    def with_name(self, name):
        return Path(self.parent, name)

    def joinpath(self, *others):
        return Path(self.text, *others)

    def as_posix(self):
        return self.text

    def is_absolute(self):
        return self.text.startswith("/")

    def resolve(self, *args):
        return self

    def absolute(self):
        return self

    def expanduser(self):
        return self

    def exists(self):
        return posix.exists(self.text)

    def is_file(self):
        return posix.isfile(self.text)

    def is_dir(self):
        return posix.isdir(self.text)

    @classmethod
    def cwd(cls):
        return Path(".")

    @classmethod
    def home(cls):
        return Path(posix.expanduser("~"))

    def mkdir(self, *args, **kwargs):
        pass

    def touch(self, *args, **kwargs):
        pass

    def unlink(self, *args, **kwargs):
        pass

    def open(self, *args, **kwargs):
        return opened(self.text, *args, **kwargs)

    def read_text(self, encoding=None, *args, **kwargs):
        return opened(self.text, encoding=encoding).read()

    def read_bytes(self):
        return opened(self.text, "rb").read()

    def write_text(self, *args, **kwargs):
        pass

    def write_bytes(self, *args, **kwargs):
        pass

    def glob(self, *args):
        return listed(Path)

    def rglob(self, *args):
        return listed(Path)

    def iterdir(self):
        return listed(Path)

    def __getattr__(self, name):
        return unheard("the result of Path." + name)


class Path(PurePath):
    pass


PosixPath = Path
PurePosixPath = PurePath
