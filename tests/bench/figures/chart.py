"""Bar charts as SVG, drawn by gnuplot."""

import re
import subprocess

COLOURS = {"ours": "#1f6feb", "Curator": "#d98200", "kazoo": "#2f9e68", "bare C": "#7d8590"}
NAMES = {"ours": "zkrecipes"}

WIDTH = 860
KEY, EDGE, AXIS = 38, 8, 56  # room above for the key, or without one, and below for the axis, in pixels
ROW = 13  # height of a bar with its gap, in pixels
LEAST_GROUP = 1.6  # height of a group with one bar, in bars: there must be room for its label
GAP = 0.6  # between two groups, in bars

# White, not transparent: the page around it may be light or dark.
HEAD = """
set terminal svg size {width},{height} dynamic noenhanced font "sans-serif,13" background rgb "white"
set encoding utf8
set border 1 linecolor rgb "#8c959f"
set tics textcolor rgb "#24292f"
set xtics nomirror out scale 0.5
set ytics nomirror scale 0
set grid xtics linecolor rgb "#d0d7de" linetype 1 linewidth 1
set lmargin {margin}
set rmargin 6
set bmargin at screen {bottom:.4f}
set tmargin at screen {top:.4f}
set xlabel "{axis}" offset 0,0.4 textcolor rgb "#24292f"
set key at screen 0.5, screen 0.985 center top horizontal maxrows 1 Left reverse samplen 1 width 2
set key textcolor rgb "#24292f"
set style fill solid 1.0 noborder
"""


class Chart:
    """Horizontal bars in groups: a group for each label, in it a bar for each series that has a value."""

    def __init__(self, axis, labels, series, reference=None, logarithmic=False):
        self._axis = axis
        self._labels = labels
        self._series = series  # (name, values); None: there is no such operation
        self._reference = reference  # a vertical line, at the value with which the bars are compared
        self._logarithmic = logarithmic

    def draw(self, path):
        done = subprocess.run(["gnuplot"], input=self._script(), capture_output=True, text=True, check=False)
        if done.returncode != 0 or not done.stdout:
            raise RuntimeError(f"gnuplot: {done.stderr.strip()}")
        path.write_text(without_version(done.stdout))

    def _script(self):
        bars, ticks, end = self._place()
        has_key = len(self._series) > 1
        margin = max(len(each) for each in self._labels) * 0.92 + 3
        above = KEY if has_key else EDGE
        height = int(end * ROW) + above + AXIS
        lines = [HEAD.format(width=WIDTH, height=height, margin=f"{margin:.1f}", bottom=AXIS / height, top=1 - above / height,
                             axis=self._axis)]
        if not has_key:
            lines.append("unset key")
        lines.append("set ytics (" + ", ".join(f'"{label}" {y:.2f}' for label, y in ticks) + ")")
        lines.append(f"set yrange [{end:.2f}:0]")
        lines.append(f"set xrange [{self._low():g}:{self._high():g}]")
        if self._logarithmic:
            powers = ", ".join(f'"{2.0**n:g}" {2.0**n:g}' for n in range(-6, 11))
            lines += ["set logscale x", f"set xtics ({powers})"]
        if self._reference is not None:
            lines.append(f"set arrow from {self._reference:g}, graph 0 to {self._reference:g}, graph 1 nohead front "
                         'linecolor rgb "#24292f" dashtype 2')
        plots = []
        origin = 1 if self._logarithmic else 0  # on a logarithmic axis the bars show ratios: 1 is "the same"
        for number, (name, _) in enumerate(self._series):
            lines.append(f"$bars{number} << END")
            lines += [f"{value:.4g} {y:.2f} {text(value)}" for value, y in bars[name]]
            lines.append("END")
            colour = COLOURS[name]
            plots.append(f"$bars{number} using 1:2:({origin}):1:($2-0.42):($2+0.42) "
                         f'with boxxyerror linecolor rgb "{colour}" title "{NAMES.get(name, name)}"')
            plots.append(f"$bars{number} using ($1 > {origin} ? $1 : {origin}):2:3 with labels left offset 0.6,0 "
                         'font ",11" textcolor rgb "#24292f" notitle')
        lines.append("plot " + ", \\\n  ".join(plots))
        return "\n".join(lines) + "\n"

    def _place(self):
        """The bars of each series, the position of each label, and where the last group ends."""
        bars = {name: [] for name, _ in self._series}
        ticks = []
        y = GAP / 2
        for i, label in enumerate(self._labels):
            present = [(name, values[i]) for name, values in self._series if values[i] is not None]
            group = max(len(present), LEAST_GROUP)
            ticks.append((label, y + group / 2))
            for place, (name, value) in enumerate(present):
                bars[name].append((value, y + (group - len(present)) / 2 + place + 0.5))
            y += group + GAP
        return bars, ticks, y - GAP / 2

    def _values(self):
        return [each for _, values in self._series for each in values if each is not None]

    def _low(self):
        return min(0.8, *self._values()) / 1.25 if self._logarithmic else 0

    def _high(self):
        return max(1, *self._values()) * (1.6 if self._logarithmic else 1.08)


def text(value):
    """A value as it stands beside its bar and in a table."""
    if value >= 100 or value == int(value):
        return f"{value:.0f}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def without_version(svg):
    """Without gnuplot's version, so that the same figures make the same file anywhere, and in few bytes."""
    svg = re.sub(r"<title>.*?</title>\s*|<desc>.*?</desc>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE)
    return re.sub(r"\n{2,}", "\n", svg)
