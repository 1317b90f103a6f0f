"""Where operands are, and where the work runs: the four cases of the README and of docs/concepts/placement.md."""

from canvas import BLANK, CELL, DEEP, MUTED, TINTS, picture

# A case has a name, its operands in host and in device memory (from the border outwards), the side of the work, and the
# operand that is copied to that side first.
CASES = [
    ("all on the host", ["dst", "src"], [], "host", None),
    ("all on the device", [], ["src", "dst"], "device", None),
    ("mixed", ["src"], ["dst"], "device", "src"),
    ("a copy", ["src"], ["dst"], "driver", None),
]


@picture("placement", "Where work runs on a context with a GPU")
def placement(p):
    boxes = {"host": 136, "device": 420}
    kinds = {"host": "pageable or pinned memory", "device": "device or managed memory"}
    wide, chip, step, pitch = 252, 40, 46, 46
    tint, deep = {"host": TINTS[0], "device": TINTS[1]}, {"host": DEEP[0], "device": DEEP[1]}

    for side, x in boxes.items():
        p.rect(x, 0, wide, 66 + pitch * len(CASES), BLANK, deep[side], 1.5, radius=8)
        p.heading(x + 14, 20, side)
        p.text(x + 14, 42, kinds[side], colour=MUTED)
    y = 66
    for words, host, device, runs, moved in CASES:
        p.text(boxes["host"] - 14, y + CELL / 2, words, "end")
        there = {"host": list(host), "device": list(device)}
        if moved:
            there[runs].insert(0, moved)  # the temporary copy, next to the border
        inner = {"host": boxes["host"] + wide - 14, "device": boxes["device"] + 14}
        for side, outward in (("host", -1), ("device", 1)):
            for k, name in enumerate(there[side]):
                left = inner[side] + outward * k * step - (chip if side == "host" else 0)
                if side == runs and name == moved:
                    p.rect(left, y, chip, CELL, BLANK, deep[side], 1.2, dashed=True)
                    p.text(left + chip / 2, y + CELL / 2, name, "middle")
                else:
                    p.cell(left, y, name, tint[side], chip)
            if runs == side:
                left = boxes[side] + 12 if side == "host" else boxes[side] + wide - 12 - 72
                p.rect(left, y + 3, 72, CELL - 6, deep[side], "none", radius=12)
                p.text(left + 36, y + CELL / 2, "runs here", "middle", 12, True, BLANK)
        if moved or runs == "driver":
            p.arrow((inner["host"] + 3, y + CELL / 2), (inner["device"] - 3, y + CELL / 2), colour=MUTED)
        if runs == "driver":
            p.text(boxes["device"] + wide - 14, y + CELL / 2, "the driver copies", "end")
        y += pitch
    y += 22
    p.rect(boxes["host"], y - 9, 30, 18, BLANK, MUTED, 1.2, dashed=True)
    p.text(boxes["host"] + 40, y, "a temporary copy of `src`: the work runs where `dst` is", colour=MUTED)
