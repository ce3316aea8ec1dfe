"""Containers of ``torch.nn``, written as its users would.

``module_items`` and ``parameter_values`` are handed in.
"""


class Sequential(Module):
    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], dict):
            for key, module in args[0].items():
                self.add_module(key, module)
        else:
            for idx, module in enumerate(args):
                self.add_module(str(idx), module)

    def __iter__(self):
        return iter(module_items(self).values())

    def __len__(self):
        return len(module_items(self))

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return Sequential(*list(module_items(self).values())[idx])
        return list(module_items(self).values())[idx]

    def __setitem__(self, idx, module):
        self.add_module(list(module_items(self))[idx], module)

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def forward(self, input):
        for module in module_items(self).values():
            input = module(input)
        return input


class ModuleList(Module):
    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def append(self, module):
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self

    def __iter__(self):
        return iter(list(module_items(self).values()))

    def __len__(self):
        return len(list(module_items(self).values()))

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return ModuleList(list(module_items(self).values())[idx])
        return list(module_items(self).values())[idx]

    def __setitem__(self, idx, module):
        self.add_module(str(idx if idx >= 0 else len(self) + idx), module)


class ModuleDict(Module):
    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def update(self, modules):
        for key, module in modules.items():
            self.add_module(key, module)

    def keys(self):
        return module_items(self).keys()

    def values(self):
        return module_items(self).values()

    def items(self):
        return module_items(self).items()

    def __iter__(self):
        return iter(module_items(self))

    def __len__(self):
        return len(module_items(self))

    def __contains__(self, key):
        return key in module_items(self)

    def __getitem__(self, key):
        return module_items(self)[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def pop(self, key):
        found = module_items(self)[key]
        delattr(self, key)
        return found


class ParameterList(Module):
    def __init__(self, values=None):
        super().__init__()
        for value in values or ():
            self.append(value)

    def append(self, value):
        setattr(self, str(len(self)), value)
        return self

    def __len__(self):
        return len(parameter_values(self))

    def __iter__(self):
        return iter(parameter_values(self))

    def __getitem__(self, idx):
        return parameter_values(self)[idx]


class ParameterDict(Module):
    def __init__(self, parameters=None):
        super().__init__()
        for key, value in (parameters or {}).items():
            setattr(self, key, value)

    def __getitem__(self, key):
        return getattr(self, key)

    def __setitem__(self, key, value):
        setattr(self, key, value)
