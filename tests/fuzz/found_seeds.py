"""Takes the inputs of a corpus that reach more than the seeds do into the file of seeds."""
import os
import pathlib
import subprocess
import tempfile


def escaped(data):
    """A line of a file of seeds, as target.cpp reads it."""
    line = ""
    for byte in data:
        sign = chr(byte)
        if sign == "\n":
            line += "\\n"
        elif sign == "\\":
            line += "\\\\"
        elif 0x20 <= byte < 0x7f and not (sign == "#" and not line):
            line += sign
        else:
            line += f"\\x{byte:02x}"
    return line


def merged(program, target, seeds, corpus, into):
    """The inputs of the corpus that are not in the seeds, and add to what these reach."""
    plain = {key: value for key, value in os.environ.items() if key != "ZKRECIPES_FUZZ_TARGET"}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}
    subprocess.run([program, target, seeds, into, "-runs=0"], env=plain, **quiet)
    before = {each.name for each in into.iterdir()}
    subprocess.run([program, "-merge=1", "-timeout=10", "-rss_limit_mb=2048", into, corpus],
                   env={**plain, "ZKRECIPES_FUZZ_TARGET": target}, **quiet)
    return [each.read_bytes() for each in into.iterdir() if each.name not in before]


def keep(program, target, seeds, folder, most_bytes):
    """Adds them to the file, the shortest first, while it has at most so many bytes. Returns how many there were."""
    corpus = folder / target
    if not corpus.is_dir():
        return 0
    with tempfile.TemporaryDirectory() as into:
        found = merged(program, target, seeds, corpus, pathlib.Path(into))
    text = seeds.read_text()
    added = 0
    for line in sorted((escaped(each) for each in found), key=lambda each: (len(each), each)):
        if len(text) + len(line) + 1 > most_bytes:
            break
        text += line + "\n"
        added += 1
    if added:
        seeds.write_text(text)
    return added
