"""Operations of a script on values: calls, tokens and numbers of the host, attributes."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from nanolint.interpreter.certain import is_certain
from nanolint.interpreter.interpreter import Interpreter
from nanolint.interpreter.torch import modules, signatures
from nanolint.interpreter.torch.modules import count_tokens, name_parameters
from nanolint.interpreter.values import (
    CONTENTS,
    Class,
    Function,
    Instance,
    Method,
    Namespace,
    Native,
    Unknown,
    silent,
)
from nanolint.interpreter.watched import ANY, Draws, Index, Real, Size, Window, worked_out
from nanolint.script import (
    arrays,
    corpora,
    datasets,
    files,
    finite,
    outside,
    passing,
    resumed,
    settings,
    tokenizers,
    training,
)
from nanolint.script.asked_card import CardName, Free
from nanolint.script.chances import Start, drawn, moved_on, start
from nanolint.script.compiling import compile_in_place, original
from nanolint.script.deciding import returned
from nanolint.script.environment import Environment
from nanolint.script.machine import Script
from nanolint.script.rates import Schedule
from nanolint.script.seen import MORE
from nanolint.script.weights import Stored
from nanolint.tensors.dtypes import INT64
from nanolint.tensors.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nanolint.inductor.inductor import Inductor
    from nanolint.interpreter.scopes import Frame
    from nanolint.interpreter.values import Unread, Value
    from nanolint.script.turns import Turns

PLAINLY = (ast.Add, ast.Sub, ast.Mult, ast.Div)  # what any number does alike to a tensor
SIZES = frozenset({"shape", "size", "numel", "nelement", "nbytes"})


class Values(Interpreter, Script):
    """The half of a script's reading that is asked what expressions are."""

    turns: Turns
    _building = False  # whether a module is being made
    _inductor: Inductor | None = None

    @property
    def builds(self) -> bool:
        return self._building

    def may_jump(self, why: Unknown) -> None:
        self.turns.may_jump(why)

    def item(self, owner: Value, index: Value) -> Value:
        if isinstance(owner, files.Pickled) and index == "vocab_size":
            return owner.vocabulary
        if isinstance(owner, files.Pickled) and index == "stoi":
            return files.Numbering(owner.reason, owner.place)
        if isinstance(owner, files.Numbering):
            return Index("a token", self.place, object())
        if isinstance(owner, corpora.Text):
            return owner.part(self.place, index)
        if isinstance(owner, arrays.Loaded):
            return owner.part(index)
        if isinstance(owner, datasets.DataSet):
            return datasets.item(self, owner, index)
        if isinstance(owner, CardName):
            return owner.bare()
        if isinstance(owner, tokenizers.Encoding) and isinstance(index, str):
            return owner.names.get(index, self.unknown("another output of a tokenizer"))
        if isinstance(owner, Stored) and isinstance(index, str):
            return self._part(owner, index)
        if isinstance(owner, Stored) and isinstance(index, Window):
            owner = corpora.tokens(self)  # of tokens, a window is as long as it says
        if type(index) is Index and isinstance(owner, Tensor) and arrays.has_numbers(self, owner):
            return drawn(self, None)
        if isinstance(index, Window) and isinstance(owner, Tensor) and corpora.are_tokens(owner):
            return super().item(owner, slice(0, index.length))
        found = super().item(owner, index)
        if type(owner) is list and type(index) is slice and index.stop in (None, -1):
            self.made_up.follow(len(found), (len(owner),))
        return found

    def iterate(self, value: Value) -> Iterator[Value]:
        if isinstance(value, corpora.Text):
            raise corpora.Endless(value)
        if isinstance(value, files.File) and (found := files.lines(self, value)) is not None:
            return iter(found)
        if isinstance(value, files.Listing):
            return value.seen(self)
        if isinstance(value, Tensor) and value.device is self.host and arrays.are_numbers(value):
            return Draws(value.shape[0], CONTENTS, self.place)
        items = super().iterate(value)
        if isinstance(value, Tensor) and value.device is self.card and value.dtype is INT64:
            return (start(self, each) for each in items)
        return items

    def passed_through(self, values: Value) -> Value:
        return corpora.passed_through(self, values)

    def unlisted(self, _node: ast.ListComp, _frame: Frame, error: Unread) -> Value:
        return corpora.numbered(self, _node, _frame, error)

    def convert(self, kind: type, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        first = arguments[0] if arguments else None
        if kind in (set, frozenset) and isinstance(first, corpora.Text):
            return kind(corpora.characters_of(self, first))
        if kind in (list, tuple) and corpora.are_in_order(first):
            return first
        if kind is int and isinstance(first, Tensor) and arrays.is_number(self, first):
            return drawn(self, None)
        if kind in (int, float) and isinstance(first, Free):
            return first.converted(kind, first)
        if kind is float and isinstance(first, Index):
            return Real(first.reason, first.place)
        if kind is bool and isinstance(first, Unknown):  # one of two numbers
            return Index(first.reason, first.place, object())
        return super().convert(kind, arguments, keywords)

    def binary(self, op: ast.operator, left: Value, right: Value) -> Value:
        if isinstance(left, Size) or isinstance(right, Size):
            one, other = (e.value if isinstance(e, Size) else e for e in (left, right))
            size = left if isinstance(left, Size) else right
            found = super().binary(op, one, other) if type(one) is type(other) is int else None
            return Size(size, found, size.assumed) if type(found) is int else size.bare()
        if isinstance(left, Index) and type(right) is int:
            if isinstance(op, (ast.Add, ast.Sub)):
                return left.shifted(right if isinstance(op, ast.Add) else -right)
            if isinstance(op, ast.Mult):
                return left.scaled(right)
        if isinstance(right, Index) and type(left) is int and isinstance(op, (ast.Add, ast.Mult)):
            return right.shifted(left) if isinstance(op, ast.Add) else right.scaled(left)
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Real) and isinstance(other, Tensor) and isinstance(op, PLAINLY):
                return super().binary(op, *(ANY if e is one else e for e in (left, right)))
        for each in (left, right):
            if isinstance(each, Free):
                return each.by(op, left, right)
            if isinstance(each, (Index, Real, CardName)):
                return worked_out(op, left, right) or each.bare()
        both = corpora.joined(self, left, right) if isinstance(op, ast.Add) else None
        return both or moved_on(left, op, right, super().binary(op, left, right))

    def bound(self, value: Value) -> Value:
        return value.offset if isinstance(value, Start) else value

    def unary(self, op: ast.unaryop, operand: Value) -> Value:
        found = super().unary(op, operand)
        is_bare = isinstance(found, (Index, Free)) or (
            isinstance(found, Real) and isinstance(op, ast.Not)
        )
        return found.bare() if is_bare else found

    def instantiate(self, cls: Class, arguments: list[Value], keywords: dict[str, Value]) -> Value:
        """A new object; a whole model gives its parameters their names."""
        is_part = self._building
        self._building = is_part or modules.is_kind_of_module(cls)
        try:
            made = super().instantiate(cls, arguments, keywords)
        finally:
            self._building = is_part
        if not is_part and isinstance(made, Instance) and modules.is_module(made):
            name_parameters(self, made)
            self.layers.look_at(made)
            self.tokens = max(self.tokens, count_tokens(made))
        elif isinstance(made, Instance) and training.is_own_optimizer(made):
            training.made(self, made)
        return made

    def call(
        self, function: Value, arguments: list[Value], keywords: dict[str, Value] | None = None
    ) -> Value:
        if isinstance(function, Unknown) and function.reason.startswith(passing.LOGGERS):
            return self._logs(function, [*arguments, *(keywords or {}).values()])
        if isinstance(function, tokenizers.Tokenizer):
            return tokenizers.encoded(self, function, *arguments, **(keywords or {}))
        if isinstance(function, Unknown):
            settings.called(self, function)
            passed = (*arguments, *(keywords or {}).values())
            schedule = self.teller.rates.makes(function, arguments, keywords or {})
            if schedule is not None:
                return schedule
            self.teller.hands_over(function.reason, passed)
            if any(isinstance(each, Instance) and modules.is_module(each) for each in passed):
                error = function.unread()  # whatever is done with a model is done on the card
                error.decided = True
                raise error
        if isinstance(function, Instance):
            given = [*arguments, *(keywords or {}).values()]
            if self.card.grad_enabled and function.attributes.get("training") is True:
                self._trains(given)
            self.seen.called(function, given, learns=self.card.grad_enabled)
        if type(function) is Method and type(function.function) is Function:
            taken = None if keywords else self.teller.rates.takes([function.owner, *arguments])
            found = super().call(function, arguments, keywords)
            if taken is not None:
                self.teller.rates.returned(found, function.function, taken)
            return found
        if type(function) is not Function:
            return super().call(function, arguments, keywords)
        asked, events = len(self.asked), len(self.card.tape.events)
        taken = None if keywords else self.teller.rates.takes(arguments)
        found = super().call(function, arguments, keywords)
        if taken is not None:
            self.teller.rates.returned(found, function, taken)
        if len(self.asked) > asked:
            returned(self, function, found, asked, events)
        return found

    def _logs(self, logger: Unknown, given: list[Value]) -> Value:
        """What is written down is copied to the host; of a model, more may be looked at."""
        takes_model = any(isinstance(each, Instance) and modules.is_module(each) for each in given)
        if takes_model and not logger.reason.startswith("logging"):
            settings.doubt(self, "nanolint does not model this logging of the model")
        return logger.bare()

    def _trains(self, given: list[Value]) -> None:
        doubt = self.seen.differs(given) if self.phases.have_settled else None
        if doubt is not None:
            self.doubts = [each for each in self.doubts if not each.startswith(MORE)]
            self.doubts.append(f"{doubt} ({self.place})")
        self.phases.trains()

    def length(self, value: Unknown) -> Value:
        known = value.length if isinstance(value, tokenizers.Tokenizer) else None
        known = value.size if isinstance(value, tokenizers.Processor) else known
        known = value.count if isinstance(value, corpora.Text) else known
        if known is None and isinstance(value, tokenizers.KINDS):
            return corpora.of_tokenizer(self, value)
        return super().length(value) if known is None else known

    def compare(self, op: ast.cmpop, left: Value, right: Value) -> Value:
        for one, other in ((left, right), (right, left)):
            contents = isinstance(one, Unknown) and one.reason == CONTENTS
            is_of_host = isinstance(other, Tensor) and other.device is self.host
            if contents and is_of_host and not other.shape:
                return self.unknown(CONTENTS)
        if isinstance(right, Environment) and isinstance(left, str):
            return (left in right) is isinstance(op, ast.In)
        if isinstance(right, CardName) and isinstance(op, (ast.In, ast.NotIn)):
            has = right.has(left)
            return has if isinstance(has, Unknown) else has is isinstance(op, ast.In)
        for each in (left, right):
            if isinstance(each, Free):
                return each.by(op, left, right)
        found = super().compare(op, left, right)
        is_of_host = isinstance(found, Tensor) and found.device is self.host and not found.shape
        if is_of_host or isinstance(found, Unknown):
            told = finite.order(op, left, right)
            if is_of_host or told is not None:
                return self.unknown(CONTENTS) if told is None else told
        return found.bare() if isinstance(found, (Index, Real)) else found

    def rows(self, x: Tensor) -> int:
        self._makes_up(x)
        return super().rows(x)

    def _makes_up(self, x: Tensor) -> None:
        """How long data of the host's are is not known."""
        if x.device is self.host and any(each >= corpora.ENDLESS for each in x.shape):
            for each in (*x.shape, x.numel):
                if each >= corpora.ENDLESS:
                    self.made_up.add(each)

    def set_attribute(self, owner: Value, name: str, value: Value) -> None:
        if isinstance(owner, (Unknown, Namespace)):
            settings.configured(self, owner, name, value)
        super().set_attribute(owner, name, value)

    def set_item(self, owner: Value, index: Value, value: Value) -> None:
        if isinstance(owner, tokenizers.Encoding):
            owner.put(index, value)
            return
        unknown = isinstance(value, Unknown) or isinstance(index, Unknown)
        if unknown and isinstance(owner, Tensor) and owner.device is self.host:
            if type(index) is int and not self.made_up.has(index):
                super().item(owner, index)  # which has it, or raises
            return  # what the host's tensors hold is not known anyway
        if isinstance(value, Unknown) and training.is_rate(owner, index):
            return  # another number, of the same meaning to memory: none
        if isinstance(owner, dict) and isinstance(value, Stored) and value.key == index:
            value = resumed.setting(self, value, owner.get(index))
        super().set_item(owner, index, value)

    def assign(self, target: ast.expr, value: Value, frame: Frame) -> None:
        if isinstance(value, Stored) and value.key is not None and isinstance(target, ast.Name):
            value = resumed.setting(self, value, frame.find(target.id))  # iter_num
        super().assign(target, value, frame)

    def _part(self, owner: Stored, name: str) -> Value:
        part = owner.part(name)
        return part if owner.key is None else resumed.of_flag(self, part)

    def attribute(self, owner: Value, name: str) -> Value:
        if isinstance(owner, Namespace):  # as most are
            return super().attribute(owner, name)
        if isinstance(owner, Instance):
            return self._of_object(owner, name)
        if isinstance(owner, Schedule):
            return self.teller.rates.attribute(owner, name)
        if isinstance(owner, files.File):
            return files.of_file(self, owner, name)
        if isinstance(owner, CardName):
            return owner.attribute(name)
        if isinstance(owner, Stored):
            return owner if name == "__dict__" else self._part(owner, name)
        if isinstance(owner, corpora.Text):
            return corpora.attribute_of(self, owner, name)
        if isinstance(owner, datasets.DataSet):
            return datasets.attribute(self, owner, name)
        if isinstance(owner, tokenizers.KINDS) and name not in corpora.ENCODERS:
            return tokenizers.attribute_of(self, owner, name)
        if isinstance(owner, Unknown) and self.around.vocabulary is not None:
            if name in outside.VOCABULARIES:
                return self.around.vocabulary
            if name == "get_vocab_size":
                return silent(name, self.around.vocabulary)
        if name == "join" and owner == "":
            return corpora.put_together(self, super().attribute(owner, name))
        if name in SIZES and isinstance(owner, Tensor):
            self._makes_up(owner)
        if isinstance(owner, (Index, Real)):
            other = owner.bare()
            return silent(name, owner) if name == "item" else other
        if name == "item" and isinstance(owner, Tensor) and arrays.is_number(self, owner):
            return silent(name, drawn(self, None))
        if name == "tolist" and isinstance(owner, Tensor) and self.card.tracer is None:
            return Native(name, lambda: arrays.listed(self, owner), plain=False)
        if isinstance(owner, Unknown) and name in corpora.ENCODERS:
            return corpora.encoder(self, owner, name)
        if isinstance(owner, Unknown) and name == "backward":
            error = owner.unread()
            error.decided = True
            raise error
        if name in ("to", "cuda") and corpora.is_much(self, owner):
            to = partial(corpora.moved, self, owner, super().attribute(owner, name), name)
            return Native(name, to, plain=False)
        if isinstance(owner, Tensor) and owner.device is self.host and name in arrays.OF_ARRAYS:
            return arrays.of_array(self, owner, name)
        try:
            return super().attribute(owner, name)
        except AttributeError as error:
            of_host = isinstance(owner, Tensor) and owner.device is self.host
            if of_host and not (is_certain(error) and signatures.arrays_have_no(name)):
                return self.unknown(str(error))  # numpy's arrays have methods of their own
            raise

    def _of_object(self, owner: Instance, name: str) -> Value:
        plain = original(owner, name)
        if plain is not None:
            return super().attribute(plain, name)
        if name == "compile" and modules.is_module(owner):
            compiles = partial(compile_in_place, self, self._inductor, owner)
            return Native("Module.compile", compiles, plain=False)
        if name == "step" and training.is_optimizer(owner):
            step = super().attribute(owner, name)
            return Native("step", lambda *a, **k: self._step(owner, step, a, k), plain=False)
        return super().attribute(owner, name)

    def _step(
        self, optimizer: Instance, step: Value, given: tuple[Value, ...], named: dict[str, Value]
    ) -> Value:
        self.phases.before_step()
        self.seen.stepped()
        out = self.call(step, list(given), named)
        self.teller.stepped(optimizer, self.seen.last)
        self.phases.after_step(optimizer, self.seen.tokens)
        self.turns.stepped()
        return out
