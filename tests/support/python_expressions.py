"""Whole numbers as people compute them in training scripts and models, for Python to check."""

from __future__ import annotations

# Statements that end with a value called ``n``, between 1 and some hundreds.
PROGRAMS = (
    "n = 3 + 4 * 2 - 1",
    "n = 7 // 2 + 7 % 4 + 2 ** 3 - -1",
    "n = (6 & 3) | (1 << 3) ^ 5",
    "n = ~-5 + (64 >> 2)",
    "n = int(7.9) + round(2.6) + abs(-3)",
    "n = round(2.5) + round(3.5) + round(2.467, 1).__int__()",
    "n = min(4, 9) * max(1, 3, 2)",
    "n = max([3, 1, 2]) + min((5, 4), key=lambda k: -k)",
    "n = sum([1, 2, 3]) + sum(k * k for k in range(4))",
    "n = len('batch') + len([1, 2]) + len({'a': 1}) + len((1,)) + len(range(2, 9, 3))",
    "from collections import deque\n"
    "q = deque([1, 2, 3], maxlen=4)\nq.extend([4, 5])\nq.appendleft(7)\nq.rotate(1)\n"
    "n = q.popleft() * 10 + q.pop() + len(q)",
    "n = divmod(17, 5)[0] * 10 + divmod(17, 5)[1]",
    "n = pow(3, 2) + pow(3, 4, 5)",
    "n = int('12') + int('0x1f', 16) + int(True)",
    "n = ord('a') - ord('A') + len(chr(66))",
    "n = [1, 2, 3][-1] + [4, 5, 6][1:][0] + (7, 8)[0]",
    "n = {'a': 3, 'b': {'c': 4}}['b']['c']",
    "d = dict(a=1, b=2)\nd['c'] = 5\nd.update(a=3)\nn = sum(d.values()) + len(d.keys())",
    "d = {'a': 1}\nn = d.get('a', 9) + d.get('z', 4) + d.setdefault('y', 2) + d.pop('a')",
    "n = sum(v for k, v in {'a': 1, 'b': 2}.items() if k != 'a') + 1",
    "n = len({1, 2, 2, 3} | {4}) + len({1, 2} & {2, 3}) + len({1, 2} - {2})",
    "n = len(set('hello')) + len(frozenset([1, 1]))",
    "xs = []\nxs.append(3)\nxs.extend([4, 5])\nxs.insert(0, 1)\n"
    "n = xs.pop() + len(xs) + xs.index(4)",
    "xs = [3, 1, 2]\nxs.sort()\nn = xs[0] * 100 + xs[1] * 10 + sorted(xs, reverse=True)[0]",
    "n = [*reversed([1, 2, 3])][0] + list(enumerate([5, 6]))[1][0] + list(zip([1], [9]))[0][1]",
    "n = sum(map(lambda k: k * 2, [1, 2])) + len(list(filter(None, [0, 1, 2])))",
    "n = int(any([0, 1])) * 10 + int(all([1, 1])) + int(not all([]) or 3 in [3])",
    "n = [k for k in range(10) if k % 3 == 0][-1] + len({k: 1 for k in 'aab'})",
    "n = sum(a * b for a in (1, 2) for b in (3, 4) if a < b)",
    "xs = [1, 2, 3]\nxs = (k for k in xs if k > 1)\nn = sum(k * 2 for k in xs)",
    "xs = [1, 2]\nys = (k * m for k in xs for m in xs)\nxs = [5]\nn = sum(ys)",
    "n = 'gpt2-xl'.count('g') + 'a,b,c'.split(',').index('c') + len('x'.join(['a', 'b']))",
    "n = len(' a '.strip()) + len('ab'.upper().replace('A', 'xyz')) + 'abc'.find('c')",
    "n = int('12'.zfill(4)) + int('a'.startswith('a')) + int('b'.endswith(('a', 'b')))",
    "n = len(f'{3:>5}') + len(f'{2.5:.2f}') + len('%d-%s' % (1, 'x')) + len('{}{}'.format(1, 23))",
    "n = len('ab'.ljust(9)) + len('ab'.rjust(5, '-')) + len('b'.center(6)) + int('7'.zfill(3))",
    "n = 'abca'.rfind('a') + 'abca'.rindex('b') + int(' '.isspace()) + len('aB'.swapcase())",
    "n = 5 if 3 > 2 > 1 else 6",
    "n = (None or 4) + (0 and 5) + (3 or 9)",
    "n = 1\nfor k in range(5):\n    if k == 3:\n        break\n    n += k\nelse:\n    n = 99",
    "n = 0\nwhile True:\n    n += 2\n    if n > 6:\n        break",
    "n = 1\nfor i, (a, b) in enumerate([(1, 2), (3, 4)]):\n    n += i * a + b",
    "def f(a, b=2, *args, c=3, **kw):\n    return a + b + sum(args) + c + len(kw)\n"
    "n = f(1, 5, 6, c=1, z=0)",
    "def f(k):\n    return 1 if k <= 1 else k * f(k - 1)\nn = f(5)",
    "def make(k):\n    def add(m):\n        return k + m\n    return add\nn = make(3)(4)",
    "class A:\n    size = 3\n    def __init__(self, k):\n        self.k = k\n"
    "    def twice(self):\n        return 2 * self.k + self.size\nn = A(4).twice()",
    "class A:\n    def f(self):\n        return 3\nclass B(A):\n    def f(self):\n"
    "        return super().f() + 4\nn = B().f() + int(isinstance(B(), A))",
    "class A:\n    @property\n    def p(self):\n        return 6\n    @staticmethod\n"
    "    def s(k):\n"
    "        return k + 1\n    @classmethod\n    def c(cls):\n        return cls.s(1)\n"
    "n = A().p + A.s(2) + A.c()",
    "from dataclasses import dataclass, field\n@dataclass\nclass C:\n    a: int = 3\n"
    "    b: int = 4\n"
    "    def total(self):\n        return self.a + self.b\nc = C(b=7)\nc.a = 5\nn = c.total()",
    "from enum import Enum\nclass E(Enum):\n    A = 2\n    B = 5\nn = E.B.value + int(E.A is E.A)",
    "from types import SimpleNamespace\ns = SimpleNamespace(a=3)\ns.b = 4\nn = s.a + s.b",
    "a, *rest, b = [1, 2, 3, 4]\nn = a + sum(rest) * b",
    "a = b = 3\na += 1\nb *= 2\nn = a * 10 + b",
    "x = {'a': [1, 2]}\nx['a'][0] += 6\nn = x['a'][0]",
    "try:\n    n = int('x')\nexcept ValueError:\n    n = 8\nfinally:\n    n += 1",
    "try:\n    n = {}['a']\nexcept (KeyError, IndexError) as e:\n    n = len(e.args)",
    "n = getattr(object(), 'missing', 7) + int(hasattr('', 'upper'))",
    "n = (lambda a, b=2: a * b)(3) + (lambda *k: len(k))(1, 2)",
    "import math\nn = math.ceil(7 / 2) + math.floor(3.9) + math.gcd(12, 18) + math.prod([2, 3])",
    "import math\nn = int(math.sqrt(49)) + int(math.log2(64)) + math.isqrt(30) +"
    " int(math.pow(2, 3))",
    "import math\nn = round(math.exp(1) * 10) + round(math.cos(0) * 5) +"
    " int(math.log10(1000)) + math.comb(5, 2)",
    "n = 64 * ((8 * 64 + 127) // 64) // 8",
    "n = 2 ** round(6.6)",
    "n = int(8 / 3 * 64) // 8 * 8",
    "n = (5, 6) < (5, 7) and 4 or 3",
    "n = len(str(12345)) + int(str(7)) + len(repr('ab')) + bool('x')",
    "k = 3\nif k > 5:\n    n = 1\nelif k > 2:\n    n = 2\nelse:\n    n = 3",
    "assert 3 > 2, 'no'\nn = 4\ndel n\nn = 6",
    "n = 0\nfor k in reversed(range(0, 10, 4)):\n    if k == 4:\n        continue\n"
    "    n = n * 10 + k",
    "it = iter([4, 5])\nn = next(it) * 10 + next(it) + next(it, 1)",
    "def g():\n    yield 1\n    yield 2\nn = sum(g()) + 1",
    "from functools import partial, reduce\n"
    "n = partial(pow, 2)(5) + reduce(lambda a, b: a * b, [1, 2, 3])",
    "import itertools\nn = len(list(itertools.product([1, 2], [3, 4]))) +"
    " sum(itertools.chain([1], [2]))",
    "def f():\n    global total\n    total = 9\ntotal = 1\nf()\nn = total",
    "n = (y := 5) + y",
    "n = 1_000 // 0x10 + 0b11 + int(1e1)",
    "match = {'gpt2': (12, 768), 'gpt2-xl': (48, 1600)}['gpt2']\nn = match[0]",
    "n = sum([[1, 2], [3]], [])[-1] + ([0] * 3).count(0) + ('ab' * 2).count('b')",
    "import string\nn = len(string.ascii_letters + string.punctuation) + len(bin(9))",
    "import contextlib, io\nwith contextlib.redirect_stdout(None):\n    n = len(hex(255) + oct(8))",
    "n = int(3 != 4) + int(None is None) + int('a' not in 'bc') + int(3 <= 3)",
)


def value_of(program: str) -> int:
    """What Python makes of ``n``."""
    names: dict[str, object] = {}
    exec(program, names)
    value = names["n"]
    assert isinstance(value, int)
    return int(value)
