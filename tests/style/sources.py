"""The files of the project, and C++ text without its comments and literals."""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
HIDDEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/                     # comments
      | R"(?P<mark>\w*)\(.*?\)(?P=mark)"       # raw strings
      | "(?:\\.|[^"\\\n])*"
      | (?<!\w)'(?:\\.|[^'\\\n])+'             # not the quotation mark in 1'000
    """, re.VERBOSE | re.DOTALL)


def files(*patterns):
    """The files of the project that match one of the patterns, as paths relative to its root: those under version
    control, and new ones that are not ignored."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns],
                            cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return sorted({name for name in listed.split("\0") if name and (ROOT / name).is_file()})


def read(name):
    return (ROOT / name).read_text()


def blank(text):
    """The same number of lines, and nothing in them."""
    return re.sub(r"[^\n]", " ", text)


def without_literals(text):
    """C++ text whose comments and literals are blanks, at the same lines."""
    return HIDDEN.sub(lambda each: blank(each.group()), text)


def line_of(text, position):
    return text.count("\n", 0, position) + 1
