"""How fast copies between heap memory and the device are, from the measured curve."""

import csv
import math
import pathlib

from canvas import BLANK, DEEP, FRAME, MUTED, SMALL, picture

CURVE = pathlib.Path(__file__).resolve().parents[2] / "bench" / "results" / "nvidia-h200-heap-copy.csv"
LINES = [
    ("pinned_gbs", "pinned memory", DEEP[2]),
    ("gpumem_heap_gbs", "heap memory, `gpumem_copy`", DEEP[0]),
    ("cudaMemcpy_heap_gbs", "heap memory, `cudaMemcpy`", DEEP[5]),
]
WIDE, HIGH, MOST = 420, 260, 60  # pixels, pixels, GB/s
SIZES = {10: "1 KiB", 14: "16 KiB", 18: "256 KiB", 22: "4 MiB", 26: "64 MiB", 30: "1 GiB"}


def panel(p, left, heading, rows):
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


@picture("heap_copy", "Copies between host and device by size: heap memory by gpumem and by cudaMemcpy, and pinned memory")
def heap_copy(p):
    with CURVE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for left, heading, direction in ((0, "to the device, GB/s", "to_device"), (WIDE + 60, "to the host, GB/s", "from_device")):
        panel(p, left, heading, [row for row in rows if row["direction"] == direction])
    x = 0
    for _, words, colour in LINES:
        p.line((x, HIGH + 44), (x + 28, HIGH + 44), colour=colour, weight=2)
        p.text(x + 36, HIGH + 44, words)
        x += 270
