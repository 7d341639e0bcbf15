"""A terminal of fixed size, which tmux keeps, with a program in it."""

import re
import subprocess
import tempfile
import time
from pathlib import Path

WIDTH, HEIGHT = 100, 24
PATIENCE_SECONDS = 60


class Terminal:
    """Runs the command until the end of the `with`."""

    def __init__(self, command, height=HEIGHT):
        self._command = command
        self._height = str(height)

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        self._tmux("-f", "/dev/null", "-u", "new-session", "-d", "-x", str(WIDTH), "-y", self._height, *self._command,
                   ";", "set", "status", "off", ";", "resize-window", "-x", str(WIDTH), "-y", self._height)
        return self

    def __exit__(self, *_):
        try:
            self._tmux("kill-server")
        except subprocess.CalledProcessError:
            pass  # the command has ended, and tmux with it
        self._folder.cleanup()

    def resize(self, height):
        self._tmux("resize-window", "-x", str(WIDTH), "-y", str(height))

    def type(self, *keys):
        self._tmux("send-keys", *keys)

    def text(self):
        return self._tmux("capture-pane", "-p")

    def cells(self):
        """The lines; each is a list of (character, look). A look is a set of SGR numbers, the colour among them."""
        return [parse(line) for line in parse_ready(self._tmux("capture-pane", "-p", "-e", "-N"))]

    def wait_for(self, *patterns):
        """Waits until all regular expressions are found on the screen."""
        give_up = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < give_up:
            shown = self.text()
            if all(re.search(each, shown) for each in patterns):
                return
            time.sleep(0.05)
        raise TimeoutError(f"not on the screen: {patterns}\n{shown}")

    def _tmux(self, *words):
        socket = Path(self._folder.name) / "tmux"
        return subprocess.run(["tmux", "-S", socket, *words], check=True, capture_output=True, text=True).stdout


def parse_ready(text):
    """Looks go on over the end of a line: each line begins with those that are on."""
    on = ""
    for line in text.splitlines():
        yield on + line
        on = "".join(f"\x1b[{each}m" for each in re.findall(r"\x1b\[([\d;]*)m", on + line))


def parse(line):
    cells, on, colour = [], set(), None
    for escape, character in re.findall(r"\x1b\[([\d;]*)m|(.)", line):
        if character:
            cells.append((character, frozenset(on | ({colour} if colour else set()))))
            continue
        for number in (int(each or 0) for each in escape.split(";")):
            if number == 0:
                on, colour = set(), None
            elif number == 39:
                colour = None
            elif 31 <= number <= 37:
                colour = number
            elif number in (1, 2, 4, 7):
                on.add(number)
    return cells + [(" ", frozenset())] * (WIDTH - len(cells))
