"""The files of the project, and C++ text without its comments and literals."""
import fnmatch
import functools
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
HIDDEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/                     # comments
      | R"(?P<mark>\w*)\(.*?\)(?P=mark)"       # raw strings
      | "(?:\\.|[^"\\\n])*"
      | (?<!\w)'(?:\\.|[^'\\\n])+'             # not the quotation mark in 1'000
    """, re.VERBOSE | re.DOTALL)


@functools.cache
def all_files(*which):
    """The files of the project, as paths relative to its root: those under version control and new ones that are not
    ignored, or `which` of git. Without git or its folder, everything but the build folders."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", *(which or ("--cached", "--others", "--exclude-standard"))]
    if (ROOT / ".git").exists() and shutil.which("git"):
        listed = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.split("\0")
    else:
        listed = [str(each.relative_to(ROOT)) for folder in ROOT.iterdir() if folder.name not in ("build", ".git")
                  for each in ([folder] if folder.is_file() else folder.rglob("*"))]
    return sorted({name for name in listed if name and (ROOT / name).is_file()})


def files(*patterns):
    """Those whose path matches one of the patterns, in which * stands for folders, too."""
    return [name for name in all_files() if any(fnmatch.fnmatchcase(name, each) for each in patterns)]


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
