"""Names of unnamed namespaces. Unity builds join sources of a part of the library, or of a tool, into one unit; which go
together depends on the compiler and the build: so two of them define no name of the same meaning, or some build breaks.

Functions may share a name if their parameters differ. Only definitions at the left margin are looked at: clang-format
indents all others.
"""
import collections
import pathlib
import re

from sources import files, line_of, read, without_literals

# The end of a namespace has a comment behind it, of which two spaces are left here; that of a function has none.
SPACE = re.compile(r"^namespace \{\n(.*?)^\}  ", re.MULTILINE | re.DOTALL)
# A definition, up to the end of its parameters.
FUNCTION = re.compile(r"^(?![#}\s])(?:template <[^\n]*>\n)?[^\n;={}()]*?\b(\w+)\(([^{};]*)\)[^(){};]*\{", re.MULTILINE)
TYPE = re.compile(r"^(?:class|struct|enum(?: class)?) (\w+)[^;{]*\{", re.MULTILINE)
CONSTANT = re.compile(r"^(?:inline |static |thread_local )*(?:constexpr|const) [^\n=({]*?\b(\w+)(?:\[\w*\])?(?: =|\{)", re.MULTILINE)


def types_of(parameters):
    """The parameters without their names and defaults."""
    text = re.sub(r"\s+", " ", re.sub(r" = [^,]*", "", parameters)).strip()
    return ", ".join(re.sub(r"([\w>:&*]) ?\b\w+$", r"\1", each.strip()) for each in text.split(","))


def names_in(name):
    text = without_literals(read(name))
    for space in SPACE.finditer(text):
        for pattern in (FUNCTION, TYPE, CONSTANT):
            for found in pattern.finditer(space.group(1)):
                what = next(each for each in found.groups() if each)
                if pattern is FUNCTION:
                    what += f"({types_of(found.group(2))})"
                yield what, line_of(text, space.start(1) + found.start())


def check():
    known = collections.defaultdict(dict)
    for name in files("recipes/*.cpp", "tools/*.cpp", "testcluster/*.cpp"):
        folders = pathlib.PurePath(name).parts[:-1]
        part = folders[:3] if folders[0] == "recipes" else folders[:2]
        for what, line in names_in(name):
            first = known[part].setdefault(what, name)
            if first != name:
                yield f"{name}:{line}: {what} is in {pathlib.PurePath(first).name}, too: a unity build may join both"
