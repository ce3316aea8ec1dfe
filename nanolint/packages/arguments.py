"""``argparse``, written as its users would: the interpreter reads this text when it is imported.

``words`` are the launch line's flags in their order, each a name and a value; the names of words
without dashes are ``alone`` and the word. ``own_words`` are those that a parser is given in their place, None if they
are the launch line's. ``is_whole``: the launch line has no other words.
``put`` are attributes and values that count more than any word. What it finds is an object of ``Arguments``.
"""


class ArgumentParser:
    def __init__(self, *args, parents=(), **kwargs):
        self.flags = {}
        self.places = []
        self.commands = None
        self.reads_files = kwargs.get("fromfile_prefix_chars") is not None
        for parent in parents:
            self.takes_all_of(parent)

    def takes_all_of(self, other):
        self.flags.update(other.flags)
        self.places.extend(other.places)

    def add_subparsers(self, dest=None, **kwargs):
        self.commands = Commands(dest)
        return self.commands

    def add_argument(self, *names, **options):
        first = names[0]
        for name in names:
            if name.startswith("--"):
                first = name
                break
        dest = options.get("dest")
        if dest is None:
            dest = first.lstrip("-").replace("-", "_")
        options["dest"] = dest
        options["title"] = "/".join(names)
        if not first.startswith("-"):
            self.places.append(options)
        for name in names:
            self.flags[name.lstrip("-").replace("-", "_")] = options
        if options.get("action") is argparse_boolean:
            self.flags["no_" + dest] = {"dest": dest, "action": "store_false"}
        return options

    def add_argument_group(self, *args, **kwargs):
        return ArgumentGroup(self)

    def add_mutually_exclusive_group(self, *args, **kwargs):
        return ArgumentGroup(self)

    def set_defaults(self, **values):
        for name, value in values.items():
            self.flags.setdefault(name, {"dest": name})["default"] = value

    def error(self, message):
        refuse(message)

    def get_default(self, dest):
        for options in self.flags.values():
            if options["dest"] == dest:
                return self.default_of(options)
        return None

    def default_of(self, options):
        default = options.get("default")
        if default is None and options.get("action") == "store_true":
            return False
        if default is None and options.get("action") == "store_false":
            return True
        return default

    def parse_args(self, args=None, namespace=None):
        return self.parse_known_args(args, namespace)[0]

    def parse_known_args(self, args=None, namespace=None, taken=()):
        found = Arguments() if namespace is None else namespace
        own = own_words(args)
        if self.commands is not None:
            parser, word = self.commands.chosen(self, words if own is None else own, taken, found)
            if parser is not None:
                return parser.parse_known_args(args, found, (*taken, word))
        every = {}
        for options in self.flags.values():
            every.setdefault(options["dest"], options)
        for options in every.values():
            default = self.default_of(options)
            kind = options.get("type")
            if isinstance(default, str) and kind is not None:
                default = kind(default)
            if default is None and self.requires(options):
                default = unheard("the required value of " + options["dest"])
            if not hasattr(found, options["dest"]):
                setattr(found, options["dest"], default)
        left, said = [], []
        places = list(self.places)
        alone_words = [each for each, _ in words if each.startswith(alone)]
        rest = [each for each in alone_words if each[len(alone) :] not in taken]
        in_order = len(rest) == len(places) and not [e for e in places if "nargs" in e]
        for name, value in words if own is None else self.words_of(own):
            options = self.flag(name)
            if name.startswith(alone):
                word = name[len(alone) :]
                if word not in taken and in_order:
                    said.append(self.put(found, places.pop(0), word))
                elif word not in taken:  # of the launch line, which fills any of them
                    for options in places:
                        setattr(found, options["dest"], value)
            elif not name:
                if places and value not in taken:
                    said.append(self.put(found, self.one(places.pop(0)), value))
            elif options is None:
                left.append("--" + name.lstrip("-") + "=" + str(value))
            else:
                said.append(self.put(found, options, value))
        for dest, value in put:
            for options in self.flags.values():
                if options["dest"] == dest:
                    if isinstance(value, str):
                        said.append(self.put(found, options, value))
                    else:
                        setattr(found, dest, value)
                        said.append(dest)
        missing = []
        for options in every.values():
            is_untold = options["dest"] not in said and options.get("default") is None
            may_be_said = words and options in self.places  # a flag of no value stands before it
            if is_untold and self.requires(options) and not may_be_said:
                missing.append(options["title"])
        asks = [name for name, _ in words if name.lstrip("-") in ("h", "help")]
        if missing and is_whole and own is None and not asks and not self.reads_files:
            self.error("the following arguments are required: " + ", ".join(missing))
        parsed(found, said)
        return found, left

    def requires(self, options):
        is_place = options in self.places and options.get("nargs") not in ("?", "*")
        return is_place or options.get("required")

    def one(self, options):
        if "nargs" in options and options["nargs"] != "?":
            assumed("assuming the first of several values of " + options["dest"])
        return options

    def words_of(self, args):
        """Names and values of the script's own words."""
        args = list(args)
        found = []
        while args:
            name, equals, value = args.pop(0).partition("=")
            if not name.startswith("-"):
                found.append(("", name + equals + value))
                continue
            options = self.flag(name)
            if options is not None:
                options = self.one(options)
            action = "" if options is None else options.get("action", "")
            if not equals and options is not None and action in ("", "store") and args:
                value = args.pop(0)
            found.append((name, value))
        return found

    def flag(self, name):
        name = name.lstrip("-").replace("-", "_")
        if not name:
            return None
        if name in self.flags:
            return self.flags[name]
        alike = [each for each in self.flags if each.startswith(name)]
        return self.flags[alike[0]] if len(alike) == 1 else None

    def put(self, found, options, value):
        action = options.get("action")
        if action == "store_true":
            value = True
        elif action == "store_false":
            value = False
        elif action is argparse_boolean:
            value = True
        elif value is None and options.get("nargs") == "?":
            value = options.get("const")
        elif options.get("type") is not None:
            value = options["type"](value)
        else:
            value = str(value)
        setattr(found, options["dest"], value)
        return options["dest"]


class Commands:
    """Parsers of which the launch line chooses one by a word without dashes."""

    def __init__(self, dest):
        self.dest = dest
        self.parsers = {}

    def add_parser(self, name, aliases=(), **options):
        made = ArgumentParser(**options)
        for each in (name, *aliases):
            self.parsers[each] = made
        return made

    def chosen(self, around, given, taken, found):
        """The parser of the command and of all around it, and the word; without one, what the
        commands may find is not known."""
        for each in given:
            word = each if isinstance(each, str) else each[0].removeprefix(alone)
            if word in self.parsers and word not in taken:
                made = ArgumentParser(parents=[around, self.parsers[word]])
                made.commands = self.parsers[word].commands
                if self.dest is not None:
                    setattr(found, self.dest, word)
                return made, word
        why = unheard("which command of the script is started")
        if self.dest is not None:
            setattr(found, self.dest, why)
        for parser in self.parsers.values():
            for options in parser.flags.values():
                if options not in around.flags.values():
                    setattr(found, options["dest"], why)
        return None, None


class ArgumentGroup:
    """Some of a parser's arguments, which a script may ask for."""

    def __init__(self, parser):
        self.parser = parser
        self._group_actions = []

    def add_argument(self, *names, **options):
        added = self.parser.add_argument(*names, **options)
        action = Action(added["dest"], added.get("default"))
        self._group_actions.append(action)
        return action

    def add_argument_group(self, *args, **kwargs):
        return ArgumentGroup(self.parser)

    def add_mutually_exclusive_group(self, *args, **kwargs):
        return ArgumentGroup(self.parser)


class Action:
    def __init__(self, dest, default):
        self.dest = dest
        self.default = default
