"""How the families stand beside their peers, from the summary of the measured results."""

import csv
import math
import pathlib

from canvas import BLANK, DEEP, FRAME, INK, MUTED, SMALL, picture

SUMMARY = pathlib.Path(__file__).resolve().parents[2] / "bench" / "results" / "summary.csv"
LEAST, MOST, OCTAVE = -2, 4, 72  # powers of two at the ends, pixels from one to the next
LINE, STEP = 20, 8  # pixels from row to row, and from device to device within one
LEFT, WIDE = 440, (MOST - LEAST) * OCTAVE
TICKS = {-2: "¼", -1: "½", 0: "1", 1: "2", 2: "4", 3: "8", 4: "16"}


def rows_of(host):
    """What has bars to meet beside somebody else, as {(words, peer): {device: row}}, and the devices."""
    with SUMMARY.open(encoding="utf-8", newline="") as file:
        here = [r for r in csv.DictReader(file) if r["host"] == host]
    found = {}
    for r in here:
        if int(r["bars"]) and r["mean"] and not r["peer"].startswith(("gpumem", "one thread", "what the")):
            found.setdefault((r["words"], r["peer"]), {})[r["device"]] = r
    return found, sorted({r["device"] for r in here})


def place(ratio):
    return LEFT + (min(max(math.log2(ratio), LEAST), MOST) - LEAST) * OCTAVE


def frame(p, top, height, devices):
    p.rect(LEFT, top, WIDE, height, BLANK, FRAME)
    for power, name in TICKS.items():
        x = place(2.0**power)
        if LEAST < power < MOST:
            p.line((x, top), (x, top + height), colour=INK if power == 0 else FRAME, weight=1.5 if power == 0 else 1)
        p.text(x, top + height + 12, name, "middle", SMALL, colour=MUTED)
    x = 0
    for colour, device in zip(DEEP, devices):
        p.dot(x + 4, top - 16, 4, colour)
        p.text(x + 16, top - 16, device, bold=True)
        x += 420


def row(p, y, words, peer, by_device, devices):
    p.text(0, y, words)
    p.text(LEFT - 12, y, peer, "end", SMALL, colour=MUTED)
    for i, device in enumerate(devices):
        if device not in by_device:
            continue
        mean, least, most = (float(by_device[device][name]) for name in ("mean", "least", "greatest"))
        at = y + (i - (len(devices) - 1) / 2) * STEP
        p.line((place(least), at), (place(most), at), colour=DEEP[i], weight=2)
        p.dot(place(mean), at, 4, DEEP[i])
        p.text(LEFT + WIDE + 44 + 44 * i, y, f"{mean:.2f}", "end", SMALL, colour=DEEP[i])


@picture("performance", "Speed beside other libraries, a line for each operation and peer: the mean ratio of times, and the worst and the best case")
def performance(p):
    top = 0
    for host in ("0", "1"):
        found, devices = rows_of(host)
        if not found:
            continue
        line = LINE + (len(devices) - 1) * STEP
        frame(p, top, len(found) * line + 8, devices)
        before = None
        for k, ((words, peer), by_device) in enumerate(found.items()):
            row(p, top + 4 + (k + 0.5) * line, words if words != before else "", peer, by_device, devices)
            before = words
        top += len(found) * line + 8 + 64
    p.text(LEFT + WIDE / 2, top - 28, "peer's time / our time: right of 1, gpumem is faster", "middle", SMALL, colour=MUTED)
    p.text(LEFT + WIDE / 2, top - 12, "dot and figure: geometric mean; line: worst to best case, cut off at the frame", "middle", SMALL, colour=MUTED)
