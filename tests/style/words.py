"""How sentences of comments and of pages begin: the subject comes first, and a short comment names it."""
import re

from sources import HIDDEN, all_files, blank, line_of, read

SENTENCE = re.compile(r"(?:^|[.!?:]\s+|\|\s*|\(\s*)(?:[-*]\s+|\d+\.\s+)?[*_\"'(\[]*(Who|Whoever|Whose|Whatever|Of|What\s+is)\b(?!-)",
                      re.MULTILINE)
COMMENT = re.compile(r"(?:^[ \t]*//[^\n]*\n)+|//[^\n]*", re.MULTILINE)  # full lines in a row, or the end of a line
RIDDLE = re.compile(r"(Those|That of|So many|The same)\b")
SHORTEST_REFERENCE = 8  # words; a longer comment says what it refers to
SCRIPTS = re.compile(r"^#!.*\b(bash|sh|python3)\b")


def comments_only(text):
    """The text with blanks instead of all C++ code."""
    shown = list(blank(text))
    for each in HIDDEN.finditer(text):
        if each.group().startswith(("//", "/*")):
            shown[each.start():each.end()] = each.group()
    return "".join(shown)


def comments_of_cpp(text):
    """The same without the marks of comments."""
    return re.sub(r"//[/!]*<?|/\*+|\*/|^\s*\*(?= )", lambda mark: " " * len(mark.group()), comments_only(text),
                  flags=re.MULTILINE)


def riddles(text):
    """Comments of C++ that are short, and refer to something else instead of naming it."""
    for each in COMMENT.finditer(comments_only(text)):
        words = re.sub(r"^\s*//[/!]*<?", " ", each.group(), flags=re.MULTILINE).split()
        begin = RIDDLE.match(" ".join(words))
        if begin and len(words) < SHORTEST_REFERENCE:
            yield each.start() + len(each.group()) - len(each.group().lstrip()), begin.group(1)


def comments_of_script(text):
    """Comments that begin with #, and the documentation strings of Python."""
    lines = []
    within = None  # "documentation", "string" or neither
    for line in text.split("\n"):
        begins_documentation = not within and line.lstrip().startswith('"""')
        comment = re.search(r"(?:^|\s)#+(?!!)\s(.*)", line)
        if within == "documentation" or begins_documentation:
            lines.append(line.replace('"""', " "))
        else:
            lines.append(comment.group(1) if comment and not within else "")
        if line.count('"""') % 2 == 1:
            within = None if within else "documentation" if begins_documentation else "string"
    return "\n".join(lines)


def sentences_of_page(text):
    """Without headings and without what is quoted as code."""
    text = re.sub(r"^```.*?^```", lambda each: blank(each.group()), text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^#.*", "", text, flags=re.MULTILINE)


def extractor(name, text):
    if name.endswith((".cpp", ".hpp", ".java")):
        return comments_of_cpp
    if name.endswith(".md"):
        return sentences_of_page
    if name.endswith((".py", ".cmake", "CMakeLists.txt", ".yml", ".yaml")) or SCRIPTS.match(text):
        return comments_of_script
    return None


def check():
    for name in all_files():
        try:
            text = read(name)
        except UnicodeDecodeError:
            continue  # not a text
        extract = extractor(name, text)
        if not extract:
            continue
        shown = "\n".join(line.strip() for line in extract(text).split("\n"))
        for each in SENTENCE.finditer(shown):
            word = " ".join(each.group(1).split())
            yield f"{name}:{line_of(shown, each.start(1))}: a sentence begins with \"{word}\""
        for place, word in riddles(text) if name.endswith((".cpp", ".hpp")) else ():
            yield f"{name}:{line_of(text, place)}: a short comment begins with \"{word}\": name the thing"
