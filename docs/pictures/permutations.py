"""Permutations of axes. The definition in gpumem.h computes the cells of dst from src."""

from canvas import ACCENT, BLANK, CELL, MUTED, SMALL, TINTS, picture
from movement import strip


def permuted(src, extents, order):
    """Axis d of dst is axis order[d] of src, both row-major without padding."""
    strides = row_major(extents)
    dst_extents = [extents[axis] for axis in order]
    dst_strides = [strides[axis] for axis in order]
    dst = []
    for place in range(len(src)):
        indices = [place // stride % extent for stride, extent in zip(row_major(dst_extents), dst_extents)]
        dst.append(src[sum(index * stride for index, stride in zip(indices, dst_strides))])
    return dst


def row_major(extents):
    strides = [1]
    for extent in reversed(extents[1:]):
        strides.insert(0, strides[0] * extent)
    return strides


def fused(extents, order, element_bytes):
    """The extents after fusion, the fastest axis of dst first, and the size of their elements.

    The same as in src/ops/permute/permute_fuse.hpp, for addresses at multiples of 16 bytes.
    """
    strides = row_major(extents)
    dst_strides = row_major([extents[axis] for axis in order])
    axes = sorted((dst_strides[d], strides[axis], extents[axis]) for d, axis in enumerate(order) if extents[axis] > 1)
    joined = []
    for dst, src, extent in axes:
        if joined and (dst, src) == (joined[-1][0] * joined[-1][2], joined[-1][1] * joined[-1][2]):
            joined[-1] = (*joined[-1][:2], joined[-1][2] * extent)
        else:
            joined.append((dst, src, extent))
    run = joined[0][2] if joined[0][:2] == (1, 1) else 1
    wide = 16 // element_bytes
    while run % wide or any(stride % wide for axis in joined[1:] for stride in axis[:2]):
        wide //= 2
    left = [extent for _, _, extent in joined]
    left[0] //= wide
    return [extent for extent in left if extent > 1], element_bytes * wide


def box(p, x, y, extents, value):
    """The front, the top and the right side of a box: axis 0 leads back, axis 1 down, axis 2 to the right."""
    deep, rows, cols = extents
    dx, dy = 20, -17

    def face(a, b, c, d, cell):
        label, fill = value(*cell)
        p.polygon(a, b, c, d, fill=fill)
        p.text((a[0] + c[0]) / 2, (a[1] + c[1]) / 2, str(label), "middle", SMALL)

    p.cells(x, y, rows, cols, lambda r, c: value(0, r, c))
    right = x + cols * CELL
    for k in range(deep):
        for c in range(cols):
            left, top = x + c * CELL + k * dx, y + k * dy
            face((left, top), (left + dx, top + dy), (left + CELL + dx, top + dy), (left + CELL, top), (k, 0, c))
        for r in range(rows):
            left, top = right + k * dx, y + r * CELL + k * dy
            face((left, top), (left + dx, top + dy), (left + dx, top + dy + CELL), (left, top + CELL), (k, r, cols - 1))
    p.text(x + cols * CELL / 2, y + rows * CELL + 14, f"axis 2: {cols}", "middle")
    p.text(x - 10, y + rows * CELL / 2, f"axis 1: {rows}", "end")
    p.text(x + deep * dx / 2 - 12, y + deep * dy / 2 - 4, f"axis 0: {deep}", "end")


@picture("permute", "gpumem_permute: axis d of dst is axis order[d] of src")
def permute(p):
    extents, order, traced = [2, 3, 4], [2, 0, 1], (1, 1, 2)
    p.call("gpumem_permute(ctx, 4, 3, extents, order, src, NULL, dst, NULL)")
    p.text(0, 24, f"`extents` = {{{', '.join(map(str, extents))}}}, `order` = {{{', '.join(map(str, order))}}}")
    strides = row_major(extents)
    count = strides[0] * extents[0]
    src = [(k, TINTS[k % extents[2]]) for k in range(count)]
    dst = permuted(src, extents, order)
    dst_extents = [extents[axis] for axis in order]
    dst_strides = row_major(dst_extents)
    y = 140
    p.text(150, y + 3 * CELL + 42, "`src`", "middle", bold=True)
    box(p, 90, y, extents, lambda *at: src[sum(i * s for i, s in zip(at, strides))])
    p.arrow((268, y + CELL), (322, y + CELL))
    box(p, 410, y, dst_extents, lambda *at: dst[sum(i * s for i, s in zip(at, dst_strides))])
    p.text(455, y + 3 * CELL + 42, "`dst`", "middle", bold=True)
    for d, axis in enumerate(order):
        p.text(592, y - 30 + 24 * d, f"axis {d} is axis `order[{d}]` = {axis}")
    p.text(592, y - 54, "of `dst`", colour=MUTED)
    p.text(592, y + 42, "of `src`", colour=MUTED)

    y += 3 * CELL + 74
    p.text(0, y, "the same in memory, row-major: the last axis is the fastest", bold=True)
    x = 46
    there = tuple(traced[axis] for axis in order)
    at = [sum(i * s for i, s in zip(index, of)) for index, of in ((traced, strides), (there, dst_strides))]
    y += 44
    for label, cells, top, place, index, note in (
        ("src", src, y, at[0], traced, y - 14),
        ("dst", dst, y + 90, at[1], there, y + 90 + CELL + 14),
    ):
        p.text(x - 10, top + CELL / 2, f"`{label}`", "end")
        strip(p, x, top, count, lambda k: cells[k])
        p.mark(x + place * CELL, top)
        p.text(
            x + (place + 0.5) * CELL, note, f"index {index[0]}, {index[1]}, {index[2]}", "middle", SMALL, colour=ACCENT
        )
    p.arrow((x + (at[0] + 0.5) * CELL, y + CELL + 3), (x + (at[1] + 0.5) * CELL, y + 87), colour=ACCENT)


@picture("permute_fuse", "Which axes are fused: those that stay neighbours, and short runs")
def permute_fuse(p):
    cases = [
        (
            "NHWC",
            [2, 2, 2, 3],
            [0, 3, 1, 2],
            "HW",
            1,
            "H and W stay neighbours: one axis. Matrices of HW x C are transposed.",
        ),
        ("ABC", [2, 3, 4], [1, 2, 0], "BC", 12, "B and C stay neighbours: one axis. A matrix of A x BC is transposed."),
        (
            "ABC",
            [3, 4, 2],
            [1, 0, 2],
            "C",
            8,
            "C stays the fastest axis, and is short: two elements of 4 bytes move as one of 8.",
        ),
    ]
    y, chip = 0, 46
    for names, extents, order, kept, of_one_colour, words in cases:
        lengths, element_bytes = fused(extents, order, 4)
        p.text(0, y, words, bold=True)
        for x, axes, label in ((46, range(len(names)), "src"), (356, order, "dst")):
            line = "".join(names[axis] for axis in axes)
            p.text(x - 10, y + 34, f"`{label}`", "end")
            for k, axis in enumerate(axes):
                p.cell(
                    x + k * chip,
                    y + 19,
                    f"{names[axis]} = {extents[axis]}",
                    TINTS[0] if names[axis] in kept else BLANK,
                    chip,
                )
            p.mark(x + line.index(kept) * chip, y + 19, len(kept) * chip)
        p.arrow((46 + len(names) * chip + 14, y + 34), (304, y + 34))
        p.text(570, y + 26, "fused, fastest of `dst` first:", colour=MUTED)
        p.text(570, y + 45, f"{' x '.join(map(str, lengths))} elements of {element_bytes} bytes")
        src = [(k, TINTS[k // of_one_colour % 3]) for k in range(24)]
        for cells, top, label in ((src, y + 66, "src"), (permuted(src, extents, order), y + 108, "dst")):
            p.text(36, top + CELL / 2, f"`{label}`", "end")
            strip(p, 46, top, 24, lambda k: cells[k])
            for k in range(0, 25 if element_bytes > 4 else 0, element_bytes // 4):
                p.line((46 + k * CELL, top - 3), (46 + k * CELL, top + CELL + 3), weight=2.5)
        y += 178
