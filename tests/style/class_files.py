"""Each class of the product has its own file. The rule, for recipes, tools and testcluster:

1. A definition at namespace scope is judged, also if it stands in a .cpp. One that is nested in another, or that stands
   in an unnamed namespace, is private to its user and is not judged.
2. It counts as a class if it is introduced by `class`, has a `private:` or `protected:` part, or has a member function
   whose body stands outside of it. Any other struct is an aggregate; aggregates may stand together, and beside a class.
3. A file defines one class at most.
4. The file that defines class `foo` is foo.hpp or foo.cpp. The folder may stand for the beginning of the name: in
   `queue`, core.hpp may define `queue_core`.
5. Bodies of members of `foo`, and definitions of what is nested in it, stand in foo.hpp, foo.cpp or foo_*.{hpp,cpp}.
6. A name is defined once in a part. Where two files define one name in one namespace, the linker takes the inline members
   of either for both, and says nothing: the destructor of one is then never called.
"""
import collections
import pathlib
import re

from sources import blank, files, line_of, read, without_literals

# Where the same name of a class can mean different classes.
PARTS = ("recipes", "tools/zkadmin", "tools/demonstration", "tools/guardian", "testcluster")
# file: reason. Best empty.
EXCEPTIONS = {}

NAMESPACE = re.compile(r"\bnamespace\b\s*([\w:]*)\s*$")
CLASS = re.compile(r"(?<!enum )\b(class|struct)\s+(?:\[\[[^\]]*\]\]\s*|alignas\([^()]*\)\s*)*([A-Za-z_][\w:]*)\s*(?:final\s*)?"
                   r"(?::(?!:)[^;]*)?$")
MEMBER = re.compile(r"\b((?:[A-Za-z_]\w*::)+)(?:~?[A-Za-z_]\w*|operator[^\w\s(]+)\s*\(")
HIDDEN_PART = re.compile(r"\b(private|protected)\s*:")

Definition = collections.namedtuple("Definition", "file line name by_keyword hides")
Body = collections.namedtuple("Body", "file line owners")


def scan(name):
    """What a file defines at the scope of a named namespace: classes and structs, and bodies of members."""
    text = without_literals(read(name))
    text = re.sub(r"^[ \t]*#.*(?:\\\n.*)*", lambda each: blank(each.group()), text, flags=re.MULTILINE)
    scopes = []  # True: a named namespace
    definition = None  # the definition that we are in: its depth, place, keyword, name
    start = 0
    for token in re.finditer(r"[{};]", text):
        at, sign = token.start(), token.group()
        if sign == "{":
            head = text[start:at]
            space = NAMESPACE.search(head)
            if all(scopes) and not space:
                found = CLASS.search(re.sub(r"\btemplate\s*<[^{};]*?>\s*(?=class|struct)", "", head))
                if found:
                    line = line_of(text, start + len(head) - len(head.lstrip()))
                    definition = (len(scopes), line, found.group(1), found.group(2), at)
                elif "(" in head:
                    yield from bodies(name, text, start, head)
            scopes.append(bool(space and space.group(1)))
        elif sign == "}" and scopes:
            scopes.pop()
            if definition and definition[0] == len(scopes):
                _, line, keyword, defined, opened = definition
                yield Definition(name, line, defined, keyword == "class", bool(HIDDEN_PART.search(text[opened:at])))
                definition = None
        start = at + 1


def bodies(name, text, start, head):
    found = MEMBER.search(head)
    if found:
        yield Body(name, line_of(text, start + found.start()), found.group(1).rstrip(":").split("::"))


def names_of(file, defined):
    """The beginnings of file names that suit a class that is defined in this file, and whether this file does."""
    path = pathlib.PurePath(file)
    short = defined.removeprefix(path.parent.name + "_")
    return {defined, short}, path.stem in (defined, short)


def suits(file, names):
    stem = pathlib.PurePath(file).stem
    return any(stem == each or stem.startswith(each + "_") for each in names)


def defined_again(definitions):
    first = {}
    for each in definitions:
        if first.setdefault(each.name, each) is not each:
            yield each.file, each.line, f"{each.name} is also defined in {first[each.name].file}"


def check_part(part):
    found = [each for name in files(f"{part}/*.hpp", f"{part}/*.cpp") for each in scan(name)]
    definitions = [each for each in found if isinstance(each, Definition)]
    nested = [Body(each.file, each.line, each.name.split("::")[:-1]) for each in definitions if "::" in each.name]
    definitions = [each for each in definitions if "::" not in each.name]
    yield from defined_again(definitions)
    known = {each.name for each in definitions}
    members = []  # bodies outside of their class, with the name of the class
    for each in [*nested, *(each for each in found if isinstance(each, Body))]:
        owner = next((owner for owner in each.owners if owner in known), None)
        if owner:
            members.append((owner, each))
    with_bodies = {owner for owner, each in members}

    classes = collections.defaultdict(list)
    for each in definitions:
        if each.by_keyword or each.hides or each.name in with_bodies:
            classes[each.file].append(each)
    beginnings = collections.defaultdict(set)
    for file, there in classes.items():
        for each in there[1:]:
            yield file, each.line, f"class {each.name} beside class {there[0].name}: a file of its own"
        for each in there:
            names, suitable = names_of(file, each.name)
            beginnings[each.name] |= names
            if not suitable:
                yield file, each.line, f"class {each.name} in a file of another name"
    reported = set()
    for owner, body in members:
        if not suits(body.file, beginnings[owner]) and (body.file, owner) not in reported:
            reported.add((body.file, owner))
            yield body.file, body.line, f"members of class {owner} in a file of another name"


def check():
    for part in PARTS:
        for file, line, what in check_part(part):
            if file not in EXCEPTIONS:
                yield f"{file}:{line}: {what}"
