"""A class of recipes, tools and testcluster has one responsibility. What can be counted of that:

1. A definition at namespace scope is judged, also if it stands in a .cpp. One that is nested in another, or that stands
   in an unnamed namespace, is private to its user and is not judged.
2. It has at most MOST functions: names of members that are declared with parameters. Overloads count once; constructors,
   the destructor and operators do not count.
3. The bodies of its members stand in its header and in one source.
4. A name is defined once in a part. Where two files define one name in one namespace, the linker takes the inline members
   of either for both, and says nothing: the destructor of one is then never called.
"""
import collections
import pathlib
import re

from sources import blank, files, line_of, read, without_literals

MOST = 25
# Where the same name of a class can mean different classes.
PARTS = ("recipes", "tools/zkadmin", "tools/demonstration", "tools/guardian", "testcluster")
# Classes that are larger than that, with their functions, or stand in several sources: they may only become smaller.
LARGE = {
    "amqp_client": 44,  # the machine of one protocol: each method of AMQP that we speak is a function, without I/O
    "json_object": 27,  # a getter and a setter for each type that a field of a record has
    "session": 26,  # the handle of users: one function for each request that ZooKeeper has
    "spool_file": 44,  # one database and its log: opening, writing and repair change the same state under one thread
    "spool_state": 65,  # calls, writes and sends of one spool are one machine: each step moves all three on
}

NAMESPACE = re.compile(r"\bnamespace\b\s*([\w:]*)\s*$")
CLASS = re.compile(r"(?<!enum )\b(class|struct)\s+(?:\[\[[^\]]*\]\]\s*|alignas\([^()]*\)\s*)*([A-Za-z_][\w:]*)\s*(?:final\s*)?"
                   r"(?::(?!:)[^;]*)?$")
MEMBER = re.compile(r"\b((?:[A-Za-z_]\w*::)+)(?:~?[A-Za-z_]\w*|operator[^\w\s(]+)\s*\(")

Definition = collections.namedtuple("Definition", "file line name functions")
Body = collections.namedtuple("Body", "file line owners")


def functions_of(body, name):
    """The names of the functions that the text of a class declares at its own level."""
    depth, level = 0, []
    for each in body:
        if each == "}":
            depth -= 1
            if depth == 0:
                level.append(";")
                continue
        if depth == 0:
            level.append(each)
        if each == "{":
            depth += 1
    found = set()
    for statement in "".join(level).split(";"):
        statement = re.sub(r"\b(?:public|private|protected)\s*:|\[\[[^\]]*\]\]|->", " ", statement)
        # A type such as std::function<void(int)> has parentheses, too.
        while (shorter := re.sub(r"<[^<>]*>", " ", statement)) != statement:
            statement = shorter
        statement = re.sub(r"^\s*(?:template\b|requires\s+[\w:]+\s|requires\s*\([^()]*\))+", "", statement)
        head = statement.split("(")[0]
        if "(" not in statement or re.match(r"\s*(?:using|friend|static_assert|enum|struct|class|typedef)\b", head):
            continue
        if "=" in head or "operator" in head or "~" in head:  # a member with an initializer, or no function of the count
            continue
        match = re.search(r"(\w+)\s*$", head)
        if match and match.group(1) != name and re.search(r"\w\W+\w+\s*$", head):
            found.add(match.group(1))
    return found


def scan(name):
    """What a file defines at the scope of a named namespace: classes and structs, and bodies of members."""
    text = without_literals(read(name))
    text = re.sub(r"^[ \t]*#.*(?:\\\n.*)*", lambda each: blank(each.group()), text, flags=re.MULTILINE)
    scopes = []  # True: a named namespace
    definition = None  # the definition that we are in: its depth, place, name, begin
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
                    definition = (len(scopes), line, found.group(2), at)
                elif "(" in head:
                    found = MEMBER.search(head)
                    if found:
                        yield Body(name, line_of(text, start + found.start()), found.group(1).rstrip(":").split("::"))
            scopes.append(bool(space and space.group(1)))
        elif sign == "}" and scopes:
            scopes.pop()
            if definition and definition[0] == len(scopes):
                _, line, defined, opened = definition
                yield Definition(name, line, defined, functions_of(text[opened + 1:at], defined.split("::")[-1]))
                definition = None
        start = at + 1


def check_part(part):
    found = [each for name in files(f"{part}/*.hpp", f"{part}/*.cpp") for each in scan(name)]
    definitions = {}
    for each in found:
        if isinstance(each, Definition) and "::" not in each.name:
            if each.name in definitions:
                yield each.file, each.line, f"{each.name} is also defined in {definitions[each.name].file}", each.name, None
            definitions.setdefault(each.name, each)
            if len(each.functions) > MOST:
                yield each.file, each.line, f"class {each.name} has {len(each.functions)} functions", each.name, len(each.functions)
    sources = collections.defaultdict(dict)
    for each in found:
        if isinstance(each, Body) and not each.file.endswith(".hpp"):
            owner = next((owner for owner in each.owners if owner in definitions), None)
            if owner and definitions[owner].file != each.file:
                sources[owner].setdefault(each.file, each.line)
    for owner, there in sources.items():
        for file in sorted(there)[1:]:
            yield file, there[file], f"members of class {owner} in a further source", owner, 1


def check():
    for part in PARTS:
        for file, line, what, name, count in check_part(part):
            if count is None or count > LARGE.get(name, 0):
                yield f"{file}:{line}: {what}"
