#!/usr/bin/env python3
"""The time that each fuzzer has on record: a file with a line for each run, and the table of a page with the sums.
  tests/fuzz/record.py FILE PAGE           renews the table of the page
  tests/fuzz/record.py FILE PAGE --check   exit status 1 if it is not that of the file"""
import collections
import datetime
import pathlib
import re
import sys

Run = collections.namedtuple("Run", "target seconds executions features findings")
Sum = collections.namedtuple("Sum", "seconds executions features findings last")

HEAD = "# date\ttarget\tseconds\texecutions\tfeatures\tfindings\n"
BLOCK = re.compile(r"(<!-- fuzzing -->\n).*?(<!-- end -->)", re.DOTALL)


def append(file, run):
    """One write of one line, so that a run that is interrupted leaves whole lines."""
    path = pathlib.Path(file)
    line = "\t".join(str(each) for each in (datetime.date.today().isoformat(), *run)) + "\n"
    with path.open("a") as out:
        out.write((HEAD if out.tell() == 0 else "") + line)


def sums(file):
    """By target. A file that is not there has none."""
    path = pathlib.Path(file)
    all_sums = {}
    for number, line in enumerate(path.read_text().splitlines() if path.exists() else [], 1):
        if line.startswith("#"):
            continue
        try:
            date, target, *numbers = line.split("\t")
            seconds, executions, features, findings = (int(each) for each in numbers)
        except ValueError:
            sys.exit(f"{file}:{number}: expected {HEAD[2:].strip()}")
        before = all_sums.get(target, Sum(0, 0, 0, 0, ""))
        all_sums[target] = Sum(before.seconds + seconds, before.executions + executions, features,
                               before.findings + findings, max(before.last, date))
    return all_sums


def spaced(number):
    return f"{number:,}".replace(",", " ")


def table(all_sums):
    lines = ["| target | seconds | executions | features | findings | last run |", "|---|---|---|---|---|---|"]
    for target, one in sorted(all_sums.items()):
        lines.append(f"| `{target}` | {spaced(one.seconds)} | {spaced(one.executions)} | {spaced(one.features)} | "
                     f"{one.findings} | {one.last} |")
    total = [sum(getattr(one, each) for one in all_sums.values()) for each in ("seconds", "executions", "findings")]
    lines.append(f"| all {len(all_sums)} | {spaced(total[0])} | {spaced(total[1])} | | {total[2]} | |")
    return "\n".join(lines) + "\n"


def main():
    if {"-h", "--help"} & {*sys.argv[1:]}:
        print(__doc__)
        return 0
    file, page, *options = sys.argv[1:]
    path = pathlib.Path(page)
    before = path.read_text()
    if not BLOCK.search(before):
        sys.exit(f"{page}: there is no block <!-- fuzzing --> ... <!-- end -->")
    after = BLOCK.sub(lambda each: each[1] + table(sums(file)) + each[2], before)
    if options == ["--check"]:
        return 0 if after == before else f"{page}: the table of the fuzzers is not that of {file}: docs/renew_fuzzing --table"
    path.write_text(after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
