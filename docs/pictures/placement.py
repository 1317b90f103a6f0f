"""Where operands may lie, and where work runs."""

from canvas import BLANK, CELL, DEEP, MUTED, TINTS, picture

# what; operands in host memory and in memory of the device, from the border between them outwards; where it runs; which
# operand is copied between it and there
CASES = [
    ("one operand", ["x"], [], "host", None),
    ("one operand", [], ["x"], "device", None),
    ("`src` and `dst`, one side", ["dst", "src"], [], "host", None),
    ("`src` and `dst`, one side", [], ["src", "dst"], "device", None),
    ("`src` and `dst`, two sides", ["src"], ["dst"], "device", "src"),
    ("`src` and `dst`, two sides", ["dst"], ["src"], "host", "src"),
    ("`gpumem_transpose*`, two sides", ["src"], ["dst"], "device", "src"),
    ("`gpumem_transpose*`, two sides", ["dst"], ["src"], "device", "dst"),
    ("`gpumem_axpby_*`: where `z` lies", ["x"], ["y", "z"], "device", "x"),
    ("`gpumem_dot_*`: where `x` lies", ["x"], ["y"], "host", "y"),
    ("`gpumem_copy*`", ["src"], ["dst"], "driver", None),
]


@picture("placement", "Where work runs on a context with a GPU: where the data lies")
def placement(p):
    boxes = {"host": 222, "device": 506}
    kinds = {"host": "pageable or pinned memory", "device": "device or managed memory"}
    wide, chip, step = 252, 40, 46
    tint, deep = {"host": TINTS[0], "device": TINTS[1]}, {"host": DEEP[0], "device": DEEP[1]}

    for side, x in boxes.items():
        p.rect(x, 0, wide, 66 + 40 * len(CASES), BLANK, deep[side], 1.5, radius=8)
        p.heading(x + 14, 20, side)
        p.text(x + 14, 42, kinds[side], colour=MUTED)
    y = 64
    for words, host, device, runs, moved in CASES:
        p.text(boxes["host"] - 14, y + CELL / 2, words, "end")
        there = {"host": list(host), "device": list(device)}
        if moved:
            there[runs].insert(0, moved)  # the copy, next to the border
        inner = {"host": boxes["host"] + wide - 14, "device": boxes["device"] + 14}
        for side, outward in (("host", -1), ("device", 1)):
            names = there[side]
            for k, name in enumerate(names):
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
            ends = [(inner["host"] + 3, y + CELL / 2), (inner["device"] - 3, y + CELL / 2)]
            leaves = runs == "host" or moved == "dst"
            p.arrow(*(ends[::-1] if leaves else ends), colour=MUTED)
        if runs == "driver":
            p.text(boxes["device"] + wide - 14, y + CELL / 2, "the driver copies", "end")
        y += 40
    y += 24
    p.rect(0, y - 9, 30, 18, BLANK, MUTED, 1.2, dashed=True)
    p.text(40, y, "a copy, for `gpumem_transpose*` of a piece at a time; in these rows the `_async` forms give `GPUMEM_UNSUPPORTED`", colour=MUTED)
