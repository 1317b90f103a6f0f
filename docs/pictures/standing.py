"""Speed compared with other libraries, from the summary of the measured results."""

import csv
import math
import pathlib

from canvas import BLANK, DEEP, FRAME, INK, MUTED, SMALL, picture

SUMMARY = pathlib.Path(__file__).resolve().parents[2] / "bench" / "results" / "summary.csv"
LEAST, MOST, OCTAVE = -3, 5, 54  # powers of two at the ends, pixels per power
LINE, STEP = 20, 8  # pixels per row, and per device within a row
LEFT, WIDE = 470, (MOST - LEAST) * OCTAVE
COLUMN = 46  # pixels per column of medians
TICKS = {-3: "⅛", -2: "¼", -1: "½", 0: "1", 1: "2", 2: "4", 3: "8", 4: "16", 5: "32"}
HOST = "host: Intel(R) Xeon(R) Processor, 16 threads"
NAMES = {"NVIDIA H100 80GB HBM3": "H100", "NVIDIA H200": "H200", HOST: "Intel Xeon, 16 threads"}
COLOURS = dict(zip(NAMES, DEEP))
REARRANGING = {"transpose", "transpose_across", "permute", "convert", "gather", "scatter", "resize"}
BOUNDS = {"measured peak", "NCCL send and receive of the same bytes", "cudaMemcpyAsync from or to pinned memory"}


def is_bound(r):
    """Whether the baseline moves the same bytes but does less."""
    return r["baseline"] in BOUNDS or (r["baseline"] == "cudaMemcpyAsync" and r["operation"] in REARRANGING)


def is_drawn(r):
    return (r["device"] in NAMES and r["median"] and r["operation"] != "reduce_stream"
            and not r["baseline"].startswith(("gpumem", "theoretical")))


def panels():
    """Heading, devices and {(operation, baseline): {device: row}} of each part of the chart."""
    with SUMMARY.open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if is_drawn(r)]
    for heading, here in (
        ("GPU: compared with other libraries", [r for r in rows if r["host"] == "0" and not is_bound(r)]),
        ("GPU: compared with a bound, which moves the same bytes and does less", [r for r in rows if r["host"] == "0" and is_bound(r)]),
        ("Host: compared with other libraries and with loops in C", [r for r in rows if r["host"] == "1"]),
    ):
        found = {}
        for r in here:
            found.setdefault((r["words"], r["baseline"]), {})[r["device"]] = r
        if found:
            yield heading, [d for d in NAMES if any(d in by for by in found.values())], found


def place(ratio):
    return LEFT + (min(max(math.log2(ratio), LEAST), MOST) - LEAST) * OCTAVE


def cut(p, ratio, y, colour):
    """An arrowhead at the edge of the frame if the ratio is beyond it."""
    if math.log2(ratio) < LEAST:
        p.polygon((LEFT + 1, y), (LEFT + 8, y - 4), (LEFT + 8, y + 4), fill=colour, stroke=colour)
    elif math.log2(ratio) > MOST:
        p.polygon((LEFT + WIDE - 1, y), (LEFT + WIDE - 8, y - 4), (LEFT + WIDE - 8, y + 4), fill=colour, stroke=colour)


def frame(p, heading, top, height, devices):
    p.heading(0, top - 34, heading)
    p.rect(LEFT, top, WIDE, height, BLANK, FRAME)
    for power, name in TICKS.items():
        x = place(2.0**power)
        if LEAST < power < MOST:
            p.line((x, top), (x, top + height), colour=INK if power == 0 else FRAME, weight=1.5 if power == 0 else 1)
        p.text(x, top + height + 12, name, "middle", SMALL, colour=MUTED)
    p.text(place(0.5), top - 10, "gpumem is slower", "middle", SMALL, colour=MUTED)
    p.text(place(4), top - 10, "gpumem is faster", "middle", SMALL, colour=MUTED)
    p.text(0, top - 12, "operation", size=SMALL, colour=MUTED)
    p.text(LEFT - 12, top - 12, "baseline", "end", SMALL, colour=MUTED)
    x = LEFT + WIDE + 12
    for device in devices:
        p.dot(x + 4, top - 12, 4, COLOURS[device])
        p.text(x + 12, top - 12, NAMES[device], size=SMALL)
        x += COLUMN + 6


def row(p, y, words, baseline, by_device, devices):
    p.text(0, y, words)
    p.text(LEFT - 12, y, baseline, "end", SMALL, colour=MUTED)
    for i, device in enumerate(devices):
        if device not in by_device:
            continue
        median, least, most = (float(by_device[device][name]) for name in ("median", "least", "greatest"))
        at = y + (i - (len(devices) - 1) / 2) * STEP
        p.line((place(least), at), (place(most), at), colour=COLOURS[device], weight=2)
        cut(p, least, at, COLOURS[device])
        cut(p, most, at, COLOURS[device])
        p.dot(place(median), at, 4, COLOURS[device])
        p.text(LEFT + WIDE + 46 + (COLUMN + 6) * i, y, f"{median:.2f}", "end", SMALL, colour=COLOURS[device])


@picture("performance", "Speed compared with other libraries, a line for each operation and baseline: the median ratio of times, and the worst and the best case")
def performance(p):
    top = 0
    for heading, devices, found in panels():
        line = LINE + (len(devices) - 1) * STEP
        frame(p, heading, top, len(found) * line + 8, devices)
        before = None
        for k, ((words, baseline), by_device) in enumerate(found.items()):
            row(p, top + 4 + (k + 0.5) * line, words if words != before else "", baseline, by_device, devices)
            before = words
        top += len(found) * line + 8 + 92
    middle = LEFT + WIDE / 2
    p.text(middle, top - 58, "time of the baseline divided by the time of gpumem", "middle", SMALL, colour=MUTED)
    p.text(middle, top - 42, "dot and figure: median of the cases; line: worst to best case", "middle", SMALL, colour=MUTED)
    p.text(middle, top - 26, "arrowhead: the line goes on beyond the frame", "middle", SMALL, colour=MUTED)
