"""Replaces what differs from run to run, so that the same scene makes the same picture: addresses, times, latencies,
connections, and the ids of transactions, sessions and nodes."""

import re

PLAIN = (" ", frozenset())
TABLE = re.compile(r"   (SERVER|zk\d:\d+) ")
# Of the table of servers: width, whether the text stands at the right, and what stands there instead.
COLUMNS = ((9, False, None), (8, False, None), (11, False, "0x10000002a"), (4, True, "4"), (10, True, "0/0.4/9"),
           (5, True, "0"), (5, True, None), (7, False, None))
VALUES = (
    (r"(?<=\d)\.\d s(?= / )", ".0 s"),
    (r"(?<=asked )\d+\.\d s", "5.0 s"),
    (r"(?<=since )\d\d:\d\d:\d\d \([^)]*\)", "11:59:51 (9.0 s)"),
    (r"(?<=token )\d+", "4294967338"),
)


def text_of(line):
    return "".join(character for character, _ in line)


def masked(lines, servers, ages):
    """`servers`: their addresses in the order of the screen. `ages`: of the events in seconds, the newest first."""
    for i, address in enumerate(servers, 1):
        lines = [replaced(line, re.escape(address), f"zk{i}:2181") for line in lines]
    for pattern, fixed in VALUES:
        lines = [replaced(line, pattern, fixed) for line in lines]
    return [table_line(line) if TABLE.match(text_of(line)) else line for line in masked_times(masked_ids(lines), ages)]


def replaced(line, pattern, fixed):
    """The characters behind what is replaced move, and the line keeps its length."""
    result, end = [], 0
    for found in re.finditer(pattern, text_of(line)):
        look = line[found.start()][1]
        result += line[end:found.start()] + [(each, look) for each in fixed]
        end = found.end()
    result += line[end:]
    return (result + [PLAIN] * len(line))[:len(line)]


def masked_times(lines, ages):
    """It is noon."""
    left = list(ages)
    result = [replaced(lines[0], r"\d\d:\d\d:\d\d", "12:00:00")]
    for line in lines[1:]:
        if re.match(r"   \d\d:\d\d:\d\d  ", text_of(line)):
            line = replaced(line, r"(?<=^   )\d\d:\d\d:\d\d", f"11:59:{60 - left.pop(0):02}")
        result.append(line)
    return result


def masked_ids(lines):
    """Sessions and nodes are counted in the order in which they appear."""
    result, count = [], 0
    for line in lines:
        text = text_of(line)
        if re.search(r"0x[0-9a-f]{15,}|_c_[0-9a-f-]{36}", text):
            count += 1
            line = replaced(line, r"0x[0-9a-f]{15,}", f"0x1000a3c41d2000{count}")
            line = replaced(line, r"(?<=_c_)[0-9a-f-]{36}", f"5f0c1a9e-7d24-4b6f-8e13-0a2b4c6d8e0{count}")
        result.append(line)
    return result


def table_line(line):
    """A line of the table of servers with columns of fixed width."""
    result = [PLAIN] * 3
    is_title = "SERVER" in text_of(line)
    cells = list(re.finditer(r"\S+(?: \S+)*", text_of(line)))
    is_whole = len(cells) == len(COLUMNS)  # a server that is down has a reason in place of values
    for found, (width, is_right, fixed) in zip(cells, COLUMNS):
        text = fixed if fixed and is_whole and not is_title else found[0]
        text = text.rjust(width) if is_right else text.ljust(width)
        result += [(each, line[found.start()][1]) for each in text] + [PLAIN] * 2
    return (result + [PLAIN] * len(line))[:len(line)]
