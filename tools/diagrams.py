"""Diagrams of the concepts, as SVG that reads well on light and dark pages."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path

BLUE, RED, GREEN, GREY, YELLOW = "#4f6bd8", "#d1495b", "#2e9e6b", "#8a919e", "#c98a12"
FONT = "ui-sans-serif, system-ui, 'Segoe UI', 'Liberation Sans', Arial, sans-serif"


class Canvas:
    """An SVG document; sizes are in pixels, colours work on white and on black."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
            f"<title>{title}</title>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#fff" stroke="#d1d9e0"/>',
        ]

    def line(
        self, x1: float, y1: float, x2: float, y2: float, color: str = GREY, width: float = 1.5, dash: str = ""
    ) -> None:
        """A straight line."""
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        ends = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"'
        self._parts.append(f'<line {ends} stroke="{color}" stroke-width="{width}"{dashed}/>')

    def arrow(self, x1: float, y1: float, x2: float, y2: float, color: str = GREY) -> None:
        """A line with a head, to the right or down."""
        self.line(x1, y1, x2, y2, color)
        points = (
            f"{x2},{y2} {x2 - 8},{y2 - 4} {x2 - 8},{y2 + 4}"
            if abs(x2 - x1) >= abs(y2 - y1)
            else f"{x2},{y2} {x2 - 4},{y2 - 8} {x2 + 4},{y2 - 8}"
        )
        self._parts.append(f'<polygon points="{points}" fill="{color}"/>')

    def dot(self, x: float, y: float, color: str, radius: float = 4) -> None:
        """A filled circle."""
        self._parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{color}"/>')

    def bar(self, x: float, y: float, width: float, height: float, color: str) -> None:
        """A filled rectangle."""
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{color}" rx="2"/>'
        )

    def box(self, x: float, y: float, width: float, height: float, lines: Iterable[str], color: str = GREY) -> None:
        """A frame with centred lines of text, the first one bold."""
        self._parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8" fill="{color}18" stroke="{color}"/>'
        )
        lines = list(lines)
        top = y + height / 2 - 9 * (len(lines) - 1) + 5
        for number, text in enumerate(lines):
            self.text(x + width / 2, top + 18 * number, text, anchor="middle", bold=number == 0)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        color: str = "#1f2328",
        size: int = 14,
        anchor: str = "start",
        *,
        bold: bool = False,
    ) -> None:
        """A line of text; y is its baseline."""
        weight = ' font-weight="600"' if bold else ""
        safe = text.replace("&", "&amp;").replace("<", "&lt;")
        place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
        self._parts.append(
            f'<text {place} fill="{color}" font-size="{size}"{weight} font-family="{FONT}">{safe}</text>'
        )

    def save(self, path: Path) -> None:
        """Write the document."""
        path.write_text("\n".join([*self._parts, "</svg>", ""]), encoding="utf-8")


def draw_comparison(path: Path) -> None:
    """Pairs of scores, their differences, and the sums that random signs give."""
    canvas = Canvas(860, 330, "Pairs of scores, their differences, and the sums that random signs give")
    pairs = [(0.9, 0.9), (0.8, 0.5), (1.0, 1.0), (0.7, 0.4), (0.9, 0.6), (0.6, 0.7), (1.0, 0.6), (0.8, 0.8), (0.9, 0.7)]
    pairs += [(0.7, 0.5), (0.8, 0.9), (1.0, 0.8)]
    canvas.text(24, 34, "1. Pair the cases", bold=True)
    canvas.text(24, 54, "base and now, by the case's hash", GREY, 12)
    canvas.text(310, 34, "2. Take the differences", bold=True)
    canvas.text(310, 54, "now minus base, per case", GREY, 12)
    canvas.text(560, 34, "3. Flip the signs at random", bold=True)
    canvas.text(560, 54, "how often is the sum as far from 0?", GREY, 12)
    for number, (base, now) in enumerate(pairs):
        y = 82 + number * 18
        canvas.line(40 + 200 * base, y, 40 + 200 * now, y, RED if now < base else GREEN, 2)
        canvas.dot(40 + 200 * base, y, GREY)
        canvas.dot(40 + 200 * now, y, BLUE)
        width = 190 * (now - base)
        canvas.bar(
            430 + min(width, 0), y - 5, abs(width) or 1.5, 10, RED if width < 0 else GREEN if width > 0 else GREY
        )
    canvas.line(430, 72, 430, 290)
    canvas.text(40, 312, "● base", GREY, 12)
    canvas.text(100, 312, "● now", BLUE, 12)
    canvas.text(430, 312, "0", GREY, 12, "middle")
    differences = [now - base for base, now in pairs]
    generator = random.Random(7)
    sums = [sum(generator.choice((-1, 1)) * each for each in differences) for _ in range(20_000)]
    observed, step, left = sum(differences), 0.2, 590
    counts: dict[int, int] = {}
    for each in sums:
        counts[round(each / step)] = counts.get(round(each / step), 0) + 1
    most = max(counts.values())
    for place, count in counts.items():
        height = 190 * count / most
        far = abs(place * step) >= abs(observed) - 1e-9
        canvas.bar(left + 120 + place * 8.5, 290 - height, 7.5, height, RED if far else "#b9c3ee")
    x = left + 120 + observed / step * 8.5 + 4
    canvas.line(x, 84, x, 290, RED, 2, "4 3")
    canvas.text(x - 6, 96, "observed", RED, 12, "end")
    canvas.text(left + 124, 312, "0", GREY, 12, "middle")
    canvas.save(path)


def draw_labels(path: Path) -> None:
    """Intervals of changes, and the label of each."""
    canvas = Canvas(860, 250, "Intervals of changes and their labels")
    rows = [
        ("better", 0.06, 0.035, GREEN, "the change is significant and at least min_effect"),
        ("worse", -0.08, 0.05, RED, "the same, in the other direction"),
        ("equivalent", 0.002, 0.012, GREEN, "certainly smaller than margin"),
        ("within noise", -0.03, 0.07, GREY, "the report shows which change could be detected"),
    ]
    middle, scale = 330, 1400
    for value in (-0.1, 0, 0.1):
        canvas.line(middle + scale * value, 40, middle + scale * value, 205, "#d1d9e0" if value else GREY)
        canvas.text(
            middle + scale * value, 228, f"{value:+.1f}".replace("-", "−") if value else "0", GREY, 12, "middle"
        )
    canvas.bar(middle - scale * 0.02, 40, scale * 0.04, 165, "#8a919e22")
    canvas.text(middle, 32, "margin", GREY, 12, "middle")
    for number, (label, change, half, color, meaning) in enumerate(rows):
        y = 66 + number * 40
        canvas.text(24, y + 5, label, color, bold=True)
        canvas.line(middle + scale * (change - half), y, middle + scale * (change + half), y, color, 2.5)
        for end in (change - half, change + half):
            canvas.line(middle + scale * end, y - 6, middle + scale * end, y + 6, color, 2.5)
        canvas.dot(middle + scale * change, y, color, 5)
        canvas.text(500, y + 5, meaning, size=13)
    canvas.save(path)


def draw_noise(path: Path) -> None:
    """Pass rates of runs of the same code, by the number of cases."""
    canvas = Canvas(860, 290, "Pass rates of forty runs of the same code, for 20, 50 and 200 cases")
    canvas.text(24, 32, "Forty runs of the same code, each case passes with a probability of 90 %", bold=True)
    generator, top, bottom = random.Random(3), 60, 240
    for value in (0.6, 0.7, 0.8, 0.9, 1.0):
        y = bottom - (value - 0.6) / 0.4 * (bottom - top)
        canvas.line(70, y, 840, y, GREY if value == 0.9 else "#d1d9e0", dash="4 3" if value == 0.9 else "")
        canvas.text(60, y + 4, f"{value:.0%}", GREY, 12, "end")
    for place, cases in enumerate((20, 50, 200)):
        left = 90 + place * 255
        for number in range(40):
            rate = sum(generator.random() < 0.9 for _ in range(cases)) / cases
            canvas.dot(left + number * 5.8, bottom - (rate - 0.6) / 0.4 * (bottom - top), BLUE, 3)
        canvas.text(left + 113, 268, f"{cases} cases", size=13, anchor="middle", bold=True)
    canvas.save(path)


def draw_baselines(path: Path) -> None:
    """Commits of the base branch with stored runs, and a pull request."""
    canvas = Canvas(860, 250, "Which run is the base of a pull request")
    canvas.line(60, 90, 640, 90, GREY, 2)
    canvas.text(60, 40, "main", bold=True)
    for number, (name, stored) in enumerate((("a1", True), ("b2", True), ("c3", False), ("d4", True))):
        x = 110 + number * 150
        canvas.dot(x, 90, GREY, 8)
        canvas.text(x, 70, name, GREY, 12, "middle")
        if stored:
            canvas.box(x - 42, 116, 84, 30, ["run"], BLUE)
        else:
            canvas.text(x, 136, "no run", GREY, 12, "middle")
    canvas.line(410, 90, 500, 200, GREY, 2)
    canvas.line(500, 200, 640, 200, GREY, 2)
    for x in (500, 640):
        canvas.dot(x, 200, BLUE, 8)
    canvas.text(570, 228, "pull request", size=13, anchor="middle", bold=True)
    canvas.text(664, 86, "d4 comes after c3, so its", size=13)
    canvas.text(664, 104, "run is the last choice.", size=13)
    canvas.text(664, 196, "Its base commit is c3.", size=13)
    canvas.text(664, 214, "The nearest run is b2's.", RED, 13, bold=True)
    canvas.save(path)


def draw_gates(path: Path) -> None:
    """How a run becomes an exit code."""
    canvas = Canvas(860, 230, "How a run becomes an exit code")
    canvas.box(24, 80, 130, 62, ["Run", "scores, errors"], BLUE)
    canvas.box(214, 80, 150, 62, ["Comparison", "rows with labels"], BLUE)
    canvas.box(424, 80, 150, 62, ["Rules", "limits, severities"], BLUE)
    canvas.arrow(154, 111, 212, 111)
    canvas.arrow(364, 111, 422, 111)
    canvas.box(214, 168, 150, 40, ["Base run"], GREY)
    canvas.line(289, 168, 289, 144, GREY)
    for number, (lines, color) in enumerate(
        (
            (["1  failed", "a gate failed"], RED),
            (["3  unmeasurable", "something is missing"], YELLOW),
            (["0  passed", "every rule holds"], GREEN),
        )
    ):
        y = 18 + number * 68
        canvas.box(650, y, 180, 56, lines, color)
        canvas.line(574, 111, 612, 111)
        canvas.line(612, 111, 612, y + 28)
        canvas.arrow(612, y + 28, 648, y + 28)
    canvas.text(740, 222, "the first that applies", GREY, 12, "middle")
    canvas.save(path)


DIAGRAMS: dict[str, Callable[[Path], None]] = {
    "images/comparison.svg": draw_comparison,
    "images/labels.svg": draw_labels,
    "images/noise.svg": draw_noise,
    "images/baselines.svg": draw_baselines,
    "images/gates.svg": draw_gates,
}
