"""How fast copies between pageable memory and the device are, from the measured curve."""

import csv
import math
import pathlib

from canvas import BLANK, DEEP, FRAME, MUTED, SMALL, picture

CURVE = pathlib.Path(__file__).resolve().parents[2] / "bench" / "results" / "nvidia-h200-heap-copy.csv"
LINES = [
    ("pinned_gbs", "pinned memory", DEEP[2]),
    ("gpumem_heap_gbs", "pageable memory, `gpumem_copy`", DEEP[0]),
    ("cudaMemcpy_heap_gbs", "pageable memory, `cudaMemcpy`", DEEP[5]),
]
WIDE, HIGH, MOST = 420, 260, 60  # pixels, pixels, GB/s
SIZES = {10: "1 KiB", 14: "16 KiB", 18: "256 KiB", 22: "4 MiB", 26: "64 MiB", 30: "1 GiB"}


# Bends of the curves: direction, size, column, and whether the mark is above the curve.
MARKS = [
    ("1", "to_device", 27, "gpumem_heap_gbs", False),
    ("1", "to_device", 27, "cudaMemcpy_heap_gbs", True),
    ("2", "from_device", 20, "gpumem_heap_gbs", True),
]
NOTES = [
    ("1", "A large source no longer fits in the host's caches, so it is read from memory."),
    ("2", "Up to 512 KiB, `gpumem_copy` moves one piece; from 1 MiB on, it moves several by several threads."),
]


def panel(p, left, heading, rows, direction):
    def place(size, rate):
        return left + (math.log2(size) - 10) / 20 * WIDE, HIGH - rate / MOST * HIGH

    p.rect(left, 0, WIDE, HIGH, BLANK, FRAME)
    p.heading(left, -20, heading)
    for rate in range(0, MOST + 1, 10):
        y = place(1024, rate)[1]
        if 0 < rate < MOST:
            p.line((left, y), (left + WIDE, y), colour=FRAME)
        p.text(left - 8, y, str(rate), "end", SMALL, colour=MUTED)
    for power, name in SIZES.items():
        p.text(place(1 << power, 0)[0], HIGH + 14, name, "middle", SMALL, colour=MUTED)
    for column, _, colour in LINES:
        points = [place(int(row["bytes"]), float(row[column])) for row in rows]
        p.line(*points, colour=colour, weight=2)
        for x, y in points:
            p.dot(x, y, 2, colour)
    for mark, where, power, column, above in MARKS:
        if where == direction:
            rate = next(float(row[column]) for row in rows if int(row["bytes"]) == 1 << power)
            x, y = place(1 << power, rate)
            p.text(x, y + (-13 if above else 14), mark, "middle", bold=True)


@picture("heap_copy", "Copies between host and device by size: pageable memory by gpumem and by cudaMemcpy, and pinned memory")
def heap_copy(p):
    with CURVE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for left, heading, direction in ((0, "to the device, GB/s", "to_device"), (WIDE + 60, "to the host, GB/s", "from_device")):
        panel(p, left, heading, [row for row in rows if row["direction"] == direction], direction)
    x = 0
    for _, words, colour in LINES:
        p.line((x, HIGH + 44), (x + 28, HIGH + 44), colour=colour, weight=2)
        p.text(x + 36, HIGH + 44, words)
        x += 270
    for at, (mark, words) in enumerate(NOTES):
        p.text(0, HIGH + 74 + 22 * at, mark, bold=True)
        p.text(20, HIGH + 74 + 22 * at, words, colour=MUTED)
