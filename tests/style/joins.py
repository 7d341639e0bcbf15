"""What a join of files leaves behind: a namespace that is closed and opened again, and a using line that stands twice."""
import re

from sources import files, line_of, read

REOPENED = re.compile(r"^\}  // namespace ?([\w:]*)\n(?:[ \t]*\n|//[^\n]*\n)*namespace ?\1 \{$", re.MULTILINE)
MENTION = re.compile(r"namespace\b.*\{$|\}  // namespace|(?:using (?:namespace )?[\w:]+|namespace \w+ = [\w:]+);$")


def repeated(text):
    """The lines that repeat one of their namespace or of one around it, with their numbers."""
    known = [set()]
    for number, line in enumerate(text.split("\n"), 1):
        if not MENTION.match(line):
            continue
        if line.endswith("{"):
            known.append(set())
        elif line.startswith("}"):
            known = known[:-1] or [set()]
        elif any(line in each for each in known):
            yield number, line
        else:
            known[-1].add(line)


def check():
    for name in files("*.cpp", "*.hpp"):
        text = read(name)
        for each in REOPENED.finditer(text):
            yield f"{name}:{line_of(text, each.start())}: the namespace is closed and opened again"
        for number, line in repeated(text):
            yield f"{name}:{number}: stands above already: {line}"
