"""A screen as SVG: a grid of characters of the same width, with their looks."""

from xml.sax.saxutils import escape

ADVANCE, LINE, SIZE, MARGIN = 8.4, 19, 14, 14
BAR = 26  # height of the window's title
BACKGROUND, FRAME, TEXT = "#161b22", "#6e7681", "#d1d7e0"
COLOURS = {31: "#ff7b72", 32: "#56d364", 33: "#e3b341", 36: "#76c7e8"}
DIM = "#8b949e"

HEAD = """<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}"
 viewBox="0 0 {width:g} {height:g}" role="img">
<title>{title}</title>
<rect x=".5" y=".5" width="{inner_width:g}" height="{inner_height:g}" rx="8" fill="{background}" stroke="{frame}"/>
<g font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="{size}" fill="{text}">
"""
LINES, SHADES = "─", {"█": 1, "░": 0.3}


def number(value):
    return f"{value:.1f}".rstrip("0").rstrip(".")


def picture(lines, title):
    width = len(lines[0]) * ADVANCE + 2 * MARGIN
    height = len(lines) * LINE + BAR + MARGIN
    parts = [HEAD.format(width=width, height=height, title=escape(title), size=SIZE, text=TEXT, background=BACKGROUND,
                         frame=FRAME, inner_width=width - 1, inner_height=height - 1)]
    for i in range(3):
        parts.append(f'<circle cx="{18 + 16 * i}" cy="14" r="4.5" fill="{FRAME}"/>\n')
    for y, line in enumerate(lines):
        for x, text, look in runs(line):
            parts.append(run(MARGIN + x * ADVANCE, BAR + y * LINE, text, look))
    return "".join(parts) + "</g>\n</svg>\n"


def runs(line):
    """Neighbours that are drawn together: with one look, and all of them text, or the same block or line."""
    kind = lambda cell: (cell[1], cell[0] if cell[0] in SHADES or cell[0] in LINES else "")
    start = 0
    for x in range(1, len(line) + 1):
        if x < len(line) and kind(line[x]) == kind(line[start]):
            continue
        text = "".join(character for character, _ in line[start:x])
        look = line[start][1]
        if text.strip() or 7 in look:
            yield start, text, look
        start = x


def run(x, y, text, look):
    colour = next((COLOURS[each] for each in sorted(look) if each in COLOURS), TEXT)
    if 2 in look:
        colour = DIM
    width = len(text) * ADVANCE
    if text[0] in SHADES:
        return (f'<rect x="{number(x)}" y="{y + 3}" width="{number(width)}" height="{LINE - 6}" fill="{colour}" '
                f'opacity="{SHADES[text[0]]}"/>\n')
    if text[0] in LINES:
        return f'<path d="M{number(x)} {y + LINE / 2}h{number(width)}" stroke="{colour}" opacity=".6"/>\n'
    back = ""
    if 7 in look:
        back = f'<rect x="{number(x)}" y="{y}" width="{number(width)}" height="{LINE}" fill="{colour}"/>\n'
        colour = BACKGROUND
    return back + "".join(words(x, y, text, colour, 1 in look))


def words(x, y, text, colour, is_bold):
    """Each column by itself at its place, so that a font of another width does not shift the columns to its right."""
    attributes = ("" if colour == TEXT else f' fill="{colour}"') + (' font-weight="bold"' if is_bold else "")
    start = 0
    while start < len(text):
        end = text.find("  ", start)
        end = len(text) if end < 0 else end
        piece = text[start:end]
        if piece.strip():
            at = start + len(piece) - len(piece.lstrip())
            piece = piece.strip()
            yield (f'<text x="{number(x + at * ADVANCE)}" y="{y + 14}" textLength="{number(len(piece) * ADVANCE)}"'
                   f'{attributes}>{escape(piece)}</text>\n')
        start = max(end, start + 1)
        while start < len(text) and text[start] == " ":
            start += 1
