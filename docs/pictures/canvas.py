"""The style of the pictures, and their shapes.

Coordinates are pixels, and y grows downwards. A text is placed by the middle of its line. The size of a picture is the
bounding box of its shapes plus the same margin on all sides. A text over another text or an arrow is an error.
"""

import html

CELL = 30
MARGIN = 24
SIZE = 13  # of text
HEADING = 14
SMALL = 11

SANS = "Helvetica, Arial, 'Liberation Sans', sans-serif"
MONO = "SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace"

# The background is opaque, so a picture is the same on a light and on a dark page. The colours are tints of the set of
# M. Okabe and K. Ito, which colour-blind people can distinguish. Numbers in the cells repeat their meaning.
PAPER = "#fdfcf9"
FRAME = "#c9c6be"
INK = "#1f2328"
MUTED = "#57606a"
EDGE = "#8a9199"
BLANK = "#ffffff"
GAP = "#e9e7e1"  # memory that is not touched
TINTS = ["#bfdff4", "#fbdc97", "#b4e3d3", "#eecbe0", "#f2efa6", "#f6c6a8"]
DEEP = ["#0072b2", "#a86d00", "#00795a", "#a8437c", "#7a7400", "#b34a00"]
ACCENT = "#d55e00"

PICTURES = {}


def picture(name, title):
    """Registers a function that draws on a Picture. name: the name of its file."""

    def enter(draw):
        PICTURES[name] = (title, draw)
        return draw

    return enter


def render(name):
    title, draw = PICTURES[name]
    canvas = Picture(title)
    draw(canvas)
    return canvas.svg()


def width_of(text, size=SIZE, bold=False):
    """A generous estimate for Helvetica and similar fonts. `code` is between backticks."""
    em = 0.0
    for i, part in enumerate(text.split("`")):
        for char in part:
            if i % 2:
                em += 0.61
            elif char in "iljtf.,:;'|!()[]/ ":
                em += 0.31
            elif char in "mwMW…→←":
                em += 0.88
            else:
                em += 0.67 if char.isupper() else 0.56
    return em * size * (1.06 if bold else 1)


def number(value):
    return f"{value:.1f}".rstrip("0").rstrip(".")


class Picture:
    def __init__(self, title):
        self.title = title
        self.shapes = []
        self.texts = []  # left, top, right, bottom, words
        self.lines = []  # x1, y1, x2, y2: arrows, which may cross no text
        self.bounds = [0, 0, 0, 0]

    def _add(self, shape, *points):
        self.shapes.append(shape)
        for x, y in points:
            left, top, right, bottom = self.bounds
            self.bounds = [min(left, x), min(top, y), max(right, x), max(bottom, y)]

    # ---------------------------------------------------------------------------------------------------- shapes

    def rect(self, x, y, width, height, fill=BLANK, stroke=EDGE, weight=1, radius=0, dashed=False):
        style = (f' rx="{radius}"' if radius else "") + (' stroke-dasharray="4 3"' if dashed else "")
        self._add(
            f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}" '
            f'fill="{fill}" stroke="{stroke}" stroke-width="{weight}"{style}/>',
            (x, y),
            (x + width, y + height),
        )

    def text(self, x, y, text, anchor="start", size=SIZE, bold=False, colour=INK):
        """`code` between backticks has the fixed-width font."""
        if not text:
            return
        width = width_of(text, size, bold)
        left = {"start": x, "middle": x - width / 2, "end": x - width}[anchor]
        self.texts.append((left, y - 0.4 * size, left + width, y + 0.4 * size, text))
        parts = [
            (
                f'<tspan font-family="{MONO}" font-size="{number(size * 0.95)}">{html.escape(part)}</tspan>'
                if i % 2
                else html.escape(part)
            )
            for i, part in enumerate(text.split("`"))
        ]
        weight = ' font-weight="bold"' if bold else ""
        self._add(
            f'<text x="{number(x)}" y="{number(y + 0.35 * size)}" font-size="{size}" fill="{colour}" '
            f'text-anchor="{anchor}"{weight}>{"".join(parts)}</text>',
            (left, y - 0.6 * size),
            (left + width, y + 0.6 * size),
        )

    def heading(self, x, y, text):
        self.text(x, y, text, size=HEADING, bold=True)

    def call(self, text, y=0):
        """Shows the picture's call as in a program."""
        self.text(0, y, f"`{text}`", size=HEADING)

    def line(self, *points, colour=MUTED, weight=1, dashed=False):
        style = ' stroke-dasharray="3 3"' if dashed else ""
        path = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self._add(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{weight}"{style}/>', *points)

    def _head(self, x1, y1, x2, y2, colour):
        length = max(((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5, 0.001)
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        corners = [(x2, y2)] + [(x2 - 8 * ux - side * uy, y2 - 8 * uy + side * ux) for side in (3.5, -3.5)]
        self._add(
            f'<polygon points="{" ".join(f"{number(x)},{number(y)}" for x, y in corners)}" fill="{colour}"/>', *corners
        )
        return x2 - 6 * ux, y2 - 6 * uy

    def arrow(self, *points, colour=MUTED, weight=1.4, both=False, dashed=False):
        points = list(points)
        self.lines += [(*a, *b) for a, b in zip(points, points[1:])]
        points[-1] = self._head(*points[-2], *points[-1], colour)
        if both:
            points[0] = self._head(*points[1], *points[0], colour)
        self.line(*points, colour=colour, weight=weight, dashed=dashed)

    def dot(self, x, y, radius=4, fill=INK, stroke="none"):
        self._add(
            f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}" fill="{fill}" stroke="{stroke}" '
            'stroke-width="1.5"/>',
            (x - radius, y - radius),
            (x + radius, y + radius),
        )

    def polygon(self, *corners, fill=BLANK, stroke=EDGE):
        path = " ".join(f"{number(x)},{number(y)}" for x, y in corners)
        self._add(f'<polygon points="{path}" fill="{fill}" stroke="{stroke}" stroke-linejoin="round"/>', *corners)

    # ----------------------------------------------------------------------------------------------------- cells

    def cell(self, x, y, label="", fill=BLANK, width=CELL, height=CELL, size=SIZE):
        self.rect(x, y, width, height, fill, EDGE if fill != GAP else FRAME)
        if label != "":
            self.text(x + width / 2, y + height / 2, str(label), "middle", size)

    def cells(self, x, y, rows, cols, look, width=CELL, height=CELL):
        """look(r, c) gives a label and a fill; None is memory that is not touched."""
        for r in range(rows):
            for c in range(cols):
                label, fill = look(r, c) or ("", GAP)
                self.cell(x + c * width, y + r * height, label, fill, width, height)

    def mark(self, x, y, width=CELL, height=CELL):
        """A frame that marks cells."""
        self.rect(x, y, width, height, "none", ACCENT, 2.5)

    def indices(self, x, y, count, prefix="", step=CELL, down=False):
        """Small numbers along a row or a column of cells."""
        for k in range(count):
            at = (k + 0.5) * step
            self.text(
                *((x, y + at) if down else (x + at, y)),
                f"{prefix}{k}",
                "end" if down else "middle",
                SMALL,
                colour=MUTED,
            )

    # ------------------------------------------------------------------------------------------------ dimensions

    def span(self, x1, x2, y, label, below=False):
        """A dimension line along x, with its label above or below."""
        for x in (x1, x2):
            self.line((x, y - 5), (x, y + 5))
        self.arrow((x1, y), (x2, y), both=True, weight=1)
        self.text((x1 + x2) / 2, y + (13 if below else -12), label, "middle")

    def span_down(self, x, y1, y2, label, right=False):
        """A dimension line along y, with its label on the left or on the right."""
        for y in (y1, y2):
            self.line((x - 5, y), (x + 5, y))
        self.arrow((x, y1), (x, y2), both=True, weight=1)
        self.text(x + (9 if right else -9), (y1 + y2) / 2, label, "start" if right else "end")

    def pointer(self, x, y, name):
        """Shows that an argument points to the upper left corner of a cell."""
        self.arrow((x - 14, y - 16), (x, y - 1), colour=ACCENT)
        self.text(x - 14, y - 23, f"`{name}`", "end", colour=ACCENT)

    def legend(self, x, y, fill, label):
        self.rect(x, y - 7, 14, 14, fill, FRAME if fill == GAP else EDGE)
        self.text(x + 22, y, label, colour=MUTED)

    # ------------------------------------------------------------------------------------------------------ file

    def _check(self):
        for i, (left, top, right, bottom, words) in enumerate(self.texts):
            for other in self.texts[i + 1 :]:
                if left < other[2] and other[0] < right and top < other[3] and other[1] < bottom:
                    raise ValueError(f"{self.title}: '{words}' lies on '{other[4]}'")
            for x1, y1, x2, y2 in self.lines:
                steps = 200
                for k in range(steps + 1):
                    x, y = x1 + (x2 - x1) * k / steps, y1 + (y2 - y1) * k / steps
                    if left < x < right and top < y < bottom:
                        raise ValueError(f"{self.title}: an arrow crosses '{words}'")

    def svg(self):
        self._check()
        left, top, right, bottom = self.bounds
        x, y = left - MARGIN, top - MARGIN
        width, height = right - left + 2 * MARGIN, bottom - top + 2 * MARGIN
        box = f'x="{number(x + 0.5)}" y="{number(y + 0.5)}" width="{number(width - 1)}" height="{number(height - 1)}"'
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" width="{number(width)}" height="{number(height)}" '
                f'viewBox="{number(x)} {number(y)} {number(width)} {number(height)}" role="img" font-family="{SANS}">',
                f"<title>{html.escape(self.title)}</title>",
                f'<rect {box} rx="10" fill="{PAPER}" stroke="{FRAME}"/>',
                *self.shapes,
                "</svg>",
                "",
            ]
        )
