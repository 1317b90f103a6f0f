"""The order of sums; axes and segments."""

from canvas import BLANK, CELL, DEEP, GAP, MUTED, SIZE, SMALL, TINTS, picture
from movement import strip

ROWS, LANES = 8, 128  # of a leaf


def leaf(p, x, y):
    wide, shown_lanes, shown_rows = 46, [0, 1, None, LANES - 1], [0, 1, None, ROWS - 1]
    p.heading(x, y, "1. A leaf: 1024 terms")
    p.text(x, y + 22, f"{ROWS} rows of {LANES} lanes; a lane adds downwards", colour=MUTED)
    x, y = x + 52, y + 76
    for c, lane in enumerate(shown_lanes):
        middle = x + (c + 0.5) * wide
        if lane is None:
            p.text(middle, y + 4.5 * CELL + 10, "…", "middle")
        else:
            p.text(middle, y - 30, f"lane {lane}", "middle", SMALL, colour=MUTED)
            p.text(middle, y - 12, "+0", "middle")
        for r, row in enumerate(shown_rows):
            label = "…" if lane is None or row is None else f"t{row * LANES + lane}"
            p.cell(x + c * wide, y + r * CELL, label, TINTS[c] if lane is not None else BLANK, wide)
        if lane is not None:
            p.arrow((middle, y + 4 * CELL + 3), (middle, y + 5 * CELL - 7))
            p.cell(x + c * wide, y + 5 * CELL - 5, f"a[{lane}]", TINTS[c], wide)
    for r, row in enumerate(shown_rows):
        p.text(x - 8, y + (r + 0.5) * CELL, f"row {row}" if row is not None else "…", "end", SMALL, colour=MUTED)


def fold(p, x, y):
    scale = 2.2
    p.heading(x, y, "2. The fold, by halves")
    p.text(x, y + 22, "the upper half is added to the lower one", colour=MUTED)
    y += 46
    lanes, left = LANES, x
    for step in range(4):
        half, last = lanes // 2, step == 3
        width = CELL if last else half * scale
        size = SMALL if step == 2 else SIZE
        p.cell(left, y, "0" if last else f"0…{half - 1}", TINTS[0], width, size=size)
        p.cell(left + width, y, "1" if last else f"{half}…{lanes - 1}", TINTS[1], width, size=size)
        p.text(x + LANES * scale + 14, y + CELL / 2, f"h = {half}: `a[j] += a[j + {half}]`")
        if step == 2:
            p.text(left + CELL, y + 46, "…", "middle")
            y, lanes = y + 64, 2
        else:
            p.arrow(
                (left + 1.5 * width, y + CELL),
                (left + 1.5 * width, y + CELL + 10),
                (left + 0.5 * width, y + CELL + 10),
                (left + 0.5 * width, y + CELL + 24),
            )
            y, lanes = y + CELL + 26, half
    p.cell(left, y, "0", TINTS[0])
    p.text(left + CELL + 10, y + CELL / 2, "`a[0]`, the sum of the leaf")


def tree(p, x, y):
    there, wide, gap = 5, 60, 26
    p.heading(x, y, "3. The tree over the leaves")
    p.text(
        x,
        y + 22,
        "neighbours in pairs; a leaf that is missing counts as +0. Here n is between 4097 and 5120: "
        f"{there} leaves.",
        colour=MUTED,
    )
    y += 48
    places = [(x + k * (wide + gap), [k]) for k in range(8)]
    while True:
        for at, leaves in places:
            some = leaves[0] < there
            label = f"s{''.join(str(q) for q in leaves if q < there)}" if some else "+0"
            p.cell(at, y, label, TINTS[2] if leaves in ([2, 3], [2], [3]) else BLANK if some else GAP, wide)
        if len(places) == 1:
            break
        joined = []
        for (a, left), (b, right) in zip(places[::2], places[1::2]):
            middle = (a + b) / 2
            for at in (a, b):
                p.line((at + wide / 2, y + CELL), (at + wide / 2, y + CELL + 10), (middle + wide / 2, y + CELL + 10))
            p.arrow((middle + wide / 2, y + CELL + 10), (middle + wide / 2, y + CELL + 25))
            joined.append((middle, left + right))
        places, y = joined, y + CELL + 27
    p.text(places[0][0] + wide + 12, y + CELL / 2, "the sum")
    p.legend(x + 460, y + 4, TINTS[2], "2^k leaves from a multiple of 2^k, here k = 1:")
    p.text(x + 482, y + 24, "a subtree, the same whoever adds it", colour=MUTED)


@picture("reduce_order", "The order of a floating-point sum: leaves of 8 rows and 128 lanes, a fold by halves, a tree")
def reduce_order(p):
    leaf(p, 0, 0)
    fold(p, 302, 0)
    tree(p, 0, 340)


@picture("reduce_axis", "gpumem_reduce_axis: one result per row or per column, matrix after matrix")
def reduce_axis(p):
    rows, cols, ld, batches, stride = 3, 4, 5, 2, 17
    value = [[[(7 * b + 3 * r + 2 * c) % 9 for c in range(cols)] for r in range(rows)] for b in range(batches)]
    p.call(
        f"gpumem_reduce_axis(ctx, GPUMEM_I32, GPUMEM_SUM, axis, x, {rows}, {cols}, {ld}, {batches}, {stride}, result)"
    )
    y = 72
    for b in range(batches):
        x = 96 + b * 370
        p.cells(x, y, rows, ld, lambda r, c: (value[b][r][c], TINTS[b]) if c < cols else None)
        p.pointer(x, y, "x" if b == 0 else f"x + {stride}")
        p.span(x, x + cols * CELL, y - 14, f"`cols` = {cols}")
        p.span_down(x - 20, y, y + rows * CELL, f"`rows` = {rows}")
        for r in range(rows):
            p.arrow(
                (x + ld * CELL + 4, y + (r + 0.5) * CELL), (x + ld * CELL + 30, y + (r + 0.5) * CELL), colour=DEEP[0]
            )
            p.cell(x + ld * CELL + 34, y + r * CELL, sum(value[b][r]), BLANK)
        for c in range(cols):
            p.arrow(
                (x + (c + 0.5) * CELL, y + rows * CELL + 4),
                (x + (c + 0.5) * CELL, y + rows * CELL + 30),
                colour=DEEP[1],
            )
            p.cell(x + c * CELL, y + rows * CELL + 34, sum(row[c] for row in value[b]), BLANK)
        p.span(x, x + ld * CELL, y + rows * CELL + 80, f"`ld` = {ld}", below=True)
    y += rows * CELL + 130
    x = 210
    p.text(0, y, "the results in memory", bold=True)
    for name, count, of, colour in (
        ("ROWS", rows, lambda b, r: sum(value[b][r]), DEEP[0]),
        ("COLS", cols, lambda b, c: sum(row[c] for row in value[b]), DEEP[1]),
    ):
        y += 26 if name == "ROWS" else 48
        p.text(x - 14, y + CELL / 2, f"`GPUMEM_AXIS_{name}`", "end", colour=colour)
        strip(p, x, y, batches * count, lambda k: (of(k // count, k % count), TINTS[k // count]))
        p.text(x + 8 * CELL + 16, y + CELL / 2, f"`batches * {name.lower()}` = {batches * count} results", colour=MUTED)
    p.legend(x + 8 * CELL + 16, y - 74, GAP, "not read")


@picture("reduce_windows", "gpumem_reduce_axis over windows that overlap: a batch stride of 1")
def reduce_windows(p):
    x_values, w = [3, 1, 4, 1, 5, 9, 2, 6], 3
    n = len(x_values)
    p.call("gpumem_reduce_axis(ctx, GPUMEM_F64, GPUMEM_MAX, GPUMEM_AXIS_ROWS,")
    p.text(161, 22, "`x, 1, w, w, n - w + 1, 1, maxima)`", size=14)
    x, y = 24, 54
    p.text(x - 12, y + CELL / 2, "`x`", "end")
    strip(p, x, y, n, lambda k: (x_values[k], TINTS[0]))
    p.text(x + n * CELL + 24, y + CELL / 2, f"`n` = {n}, `w` = {w}, so `batches` = {n - w + 1}", colour=MUTED)
    y += 48
    for b in range(n - w + 1):
        at = y + b * 24
        p.span(x + b * CELL, x + (b + w) * CELL, at, "")
        p.line((x + (b + w) * CELL + 6, at), (x + n * CELL + 24, at), dashed=True)
        p.cell(x + n * CELL + 30, at - 12, max(x_values[b : b + w]), TINTS[1], height=24)
    p.text(x + n * CELL + 74, y + (n - w) * 12, "`maxima`")
    p.text(
        x,
        y + (n - w + 1) * 24 + 6,
        "`batch_stride` = 1: each window begins one element after the one before it",
        colour=MUTED,
    )


@picture("reduce_by_index", "gpumem_reduce_by_index: the index says which bin each element belongs to")
def reduce_by_index(p):
    values, index, bins = [3, 1, 4, 1, 5, 9], [2, 0, 2, 3, 0, 2], 4
    p.call(f"gpumem_reduce_by_index(ctx, GPUMEM_I32, GPUMEM_SUM, x, GPUMEM_I32, index, {len(values)}, result, {bins})")
    wide, x, y = 64, 96, 62
    index_y, result_y = y + CELL + 10, y + 190
    p.text(x - 12, y + CELL / 2, "`x`", "end")
    p.cells(x, y, 1, len(values), lambda _, k: (values[k], TINTS[index[k]]), wide)
    p.text(x - 12, index_y + CELL / 2, "`index`", "end")
    p.cells(x, index_y, 1, len(values), lambda _, k: (index[k], BLANK), wide)
    p.text(x - 12, result_y + CELL / 2, "`result`", "end")
    p.cells(x + wide, result_y, 1, bins, lambda _, b: (sum(v for v, i in zip(values, index) if i == b), TINTS[b]), wide)
    for b in range(bins):
        p.text(x + (b + 1.5) * wide, result_y + CELL + 12, f"b = {b}", "middle", SMALL, colour=MUTED)
    for k, b in enumerate(index):
        at = [i for i in range(len(index)) if index[i] == b]
        shift = (at.index(k) - (len(at) - 1) / 2) * 12
        p.arrow((x + (k + 0.5) * wide, index_y + CELL + 3), (x + (b + 1.5) * wide + shift, result_y - 3), colour=DEEP[b])
    p.text(x + (bins + 1) * wide + 20, result_y + CELL / 2, "bin 1 has no elements: its sum is 0", colour=MUTED)


@picture("reduce_segments", "gpumem_reduce_segments: offsets say where each segment begins")
def reduce_segments(p):
    values, offsets = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3], [0, 2, 5, 5, 9, 10]
    segments = len(offsets) - 1
    p.call(f"gpumem_reduce_segments(ctx, GPUMEM_I32, GPUMEM_SUM, x, {len(values)}, offsets, {segments}, result)")
    wide, x, y = 56, 96, 62
    of = [max(s for s in range(segments) if offsets[s] <= k) for k in range(len(values))]
    p.text(x - 12, y + CELL / 2, "`offsets`", "end")
    p.cells(x, y, 1, segments + 1, lambda _, s: (offsets[s], TINTS[s % 5] if s < segments else BLANK), wide)
    p.span(x, x + (segments + 1) * wide, y - 14, f"`segments` + 1 = {segments + 1}")
    x_y, result_y = y + 108, y + 216
    p.text(x - 12, x_y + CELL / 2, "`x`", "end")
    p.cells(x, x_y, 1, len(values), lambda _, k: (values[k], TINTS[of[k]]), wide)
    p.indices(x, x_y + CELL + 10, len(values), step=wide)
    for s, offset in enumerate(offsets):
        shift = 4 if s + 1 < len(offsets) and offsets[s + 1] == offset else -4 if s and offsets[s - 1] == offset else 0
        p.arrow(
            (x + (s + 0.5) * wide, y + CELL + 3),
            (x + offset * wide - shift, x_y - 3),
            colour=DEEP[s % 5] if s < segments else MUTED,
        )
    p.text(x - 12, result_y + CELL / 2, "`result`", "end")
    p.cells(x, result_y, 1, segments, lambda _, s: (sum(values[offsets[s] : offsets[s + 1]]), TINTS[s]), wide)
    for s in range(segments):
        p.text(x + (s + 0.5) * wide, result_y + CELL + 12, f"s = {s}", "middle", SMALL, colour=MUTED)
        first, last = offsets[s], offsets[s + 1]
        if first < last:
            p.arrow(
                (x + (first + last) / 2 * wide, x_y + CELL + 20), (x + (s + 0.5) * wide, result_y - 3), colour=DEEP[s]
            )
    p.text(x + segments * wide + 20, result_y + CELL / 2, "segment 2 is empty: its sum is 0", colour=MUTED)
