"""What instances, classes and what they derive from have under a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nanolint.run.terms import Number
from nanolint.trainers.script import settings_files
from nanolint.trainers.script.built_model import weight
from nanolint.trainers.script.operations import scalar
from nanolint.trainers.script.things import REST, Class, External, Function, Instance, Table, Thing

if TYPE_CHECKING:
    from nanolint.run.terms import Place
    from nanolint.trainers.script.core import Core


def bound_to(function: Function, instance: Thing) -> Function:
    """A function as a method of ``instance``."""
    return Function(
        function.node,
        function.scope,
        instance,
        function.decorators,
        function.defaults,
        function.owner,
    )


def attribute(core: Core, owner: Instance, name: str, place: Place) -> Thing | None:
    """An attribute of an instance of a class of the project, None where nothing sets it."""
    found = owner.fields.get(name)
    if found is None and name == "__dict__":
        return Table(owner.fields)
    if found is None and name == "weight":
        found = weight(owner)
    if found is None and isinstance(owner.of, External) and owner.of.last == "ModuleDict":
        held = owner.arguments[0] if owner.arguments else None
        found = held.entries.get(name) if isinstance(held, Table) else None
    if found is None and isinstance(owner.of, External) and owner.of.name == "torch.device":
        found = _of_device(owner, name)
    found = found or settings_files.part_of_path(owner, name)
    if found is not None or not isinstance(owner.of, Class):
        return found
    found = from_class(core, owner.of, owner, name, place)
    return found if isinstance(found, Function) else owner.fields.get(REST, found)


def _of_device(device: Instance, name: str) -> Thing | None:
    """``torch.device("cuda:0").type``."""
    named = scalar(device.argument(0, "type"))
    return Number(named.partition(":")[0]) if name == "type" and isinstance(named, str) else None


def from_class(
    core: Core, of: Class, owner: Instance | Class, name: str, place: Place
) -> Thing | None:
    """What a class has under ``name``, as seen from ``owner``."""
    found = of.find(name)
    if found is None and name in ("__dataclass_fields__", "__annotations__", "model_fields"):
        return Table({each: Number(each) for each in of.all_declared})
    if not isinstance(found, Function):
        if isinstance(found, Instance) and "default" in found.named and _is_field(found):
            return found.named["default"]
        return found
    decorators = {each.last for each in found.decorators if isinstance(each, External)}
    if "staticmethod" in decorators:
        return found
    if "classmethod" in decorators:
        return bound_to(found, owner.of if isinstance(owner, Instance) else owner)
    if isinstance(owner, Class):
        return found
    if decorators & {"property", "cached_property"}:
        return core.call(bound_to(found, owner), [], {}, place)
    return bound_to(found, owner)


def _is_field(instance: Instance) -> bool:
    return isinstance(instance.of, External) and instance.of.last == "field"


def from_super(of: Class, instance: Thing, name: str) -> Thing:
    """A method of what a class derives from."""
    for base in of.bases:
        if isinstance(base, Class):
            found = base.find(name)
            if isinstance(found, Function):
                return bound_to(found, instance)
    return External(f"object.{name}")
