"""Transposes. The definition in gpumem.h computes the cells of dst from src."""

from math import gcd

from canvas import ACCENT, BLANK, CELL, DEEP, GAP, MUTED, SMALL, TINTS, picture
from movement import strip


def transposed(src, rows, cols, src_ld, dst_ld):
    """dst[j*dst_ld + i] = src[i*src_ld + j]. Elements that are not written are None."""
    dst = [None] * ((cols - 1) * dst_ld + rows)
    for i in range(rows):
        for j in range(cols):
            dst[j * dst_ld + i] = src[i * src_ld + j]
    return dst


def matrix(rows, cols, ld, look):
    """The memory of a matrix with padding between its rows."""
    memory = [None] * ((rows - 1) * ld + cols)
    for i in range(rows):
        for j in range(cols):
            memory[i * ld + j] = look(i, j)
    return memory


def rows_of(p, x, y, memory, rows, ld):
    p.cells(x, y, rows, ld, lambda r, c: memory[r * ld + c] if r * ld + c < len(memory) else None)


@picture("transpose", "gpumem_transpose: row i, column j of src goes to row j, column i of dst")
def transpose(p):
    rows, cols, src_ld, dst_ld, i, j = 3, 4, 6, 5, 1, 2
    p.call(f"gpumem_transpose(ctx, 4, {rows}, {cols}, src, {src_ld}, dst, {dst_ld})")
    p.text(480, 0, "`dst[j*dst_ld + i] = src[i*src_ld + j]`", colour=MUTED)
    src = matrix(rows, cols, src_ld, lambda r, c: (r * cols + c, TINTS[r]))
    dst = transposed(src, rows, cols, src_ld, dst_ld)
    y, src_x, dst_x = 72, 96, 496
    rows_of(p, src_x, y, src, rows, src_ld)
    rows_of(p, dst_x, y, dst, cols, dst_ld)
    p.pointer(src_x, y, "src")
    p.pointer(dst_x, y, "dst")
    p.span(src_x, src_x + cols * CELL, y - 14, f"`cols` = {cols}")
    p.span_down(src_x - 20, y, y + rows * CELL, f"`rows` = {rows}")
    p.span(src_x, src_x + src_ld * CELL, y + rows * CELL + 14, f"`src_ld` = {src_ld}", below=True)
    p.span(dst_x, dst_x + rows * CELL, y - 14, f"`rows` = {rows}")
    p.span_down(dst_x - 20, y, y + cols * CELL, f"`cols` = {cols}")
    p.span(dst_x, dst_x + dst_ld * CELL, y + cols * CELL + 14, f"`dst_ld` = {dst_ld}", below=True)
    p.arrow((src_x + src_ld * CELL + 24, y + 1.5 * CELL), (dst_x - 110, y + 1.5 * CELL))
    p.mark(src_x + j * CELL, y + i * CELL)
    p.mark(dst_x + i * CELL, y + j * CELL)

    y += cols * CELL + 70
    p.text(0, y, "the same in memory", bold=True)
    x = 96
    places = []
    for label, memory, at, place in (("src", src, y + 44, i * src_ld + j), ("dst", dst, y + 134, j * dst_ld + i)):
        p.text(x - 12, at + CELL / 2, f"`{label}`", "end")
        strip(p, x, at, len(memory), lambda k: memory[k])
        p.mark(x + place * CELL, at)
        places.append(x + (place + 0.5) * CELL)
    p.arrow((places[0], y + 44 + CELL + 3), (places[1], y + 134 - 3), colour=ACCENT)
    p.text(
        x + (i * src_ld + j + 0.5) * CELL,
        y + 30,
        f"i*src_ld + j = {i}*{src_ld} + {j} = {i * src_ld + j}",
        "middle",
        SMALL,
        colour=ACCENT,
    )
    p.text(
        x + (j * dst_ld + i + 0.5) * CELL,
        y + 134 + CELL + 14,
        f"j*dst_ld + i = {j}*{dst_ld} + {i} = {j * dst_ld + i}",
        "middle",
        SMALL,
        colour=ACCENT,
    )
    p.legend(x, y + 134 + CELL + 22, GAP, "not touched")


@picture("transpose_in_place", "gpumem_transpose in place: a square swaps, any other matrix is permuted")
def transpose_in_place(p):
    n, ld = 4, 5
    p.call(f"gpumem_transpose(ctx, 8, {n}, {n}, m, {ld}, m, {ld})")
    p.text(480, 0, "square, any leading dimension", colour=MUTED)
    y, after_x = 56, 300
    before = matrix(n, n, ld, lambda r, c: (r * n + c, TINTS[r]))
    rows_of(p, 0, y, before, n, ld)
    rows_of(p, after_x, y, transposed(before, n, n, ld, ld), n, ld)
    p.arrow((ld * CELL + 30, y + n * CELL / 2), (after_x - 30, y + n * CELL / 2))
    half = n // 2 * CELL
    for x, upper, lower in ((0, ACCENT, DEEP[0]), (after_x, DEEP[0], ACCENT)):
        p.rect(x + half, y, half, half, "none", upper, 3)
        p.rect(x, y + half, half, half, "none", lower, 3)
    p.text(480, y + half - 10, "a tile and the one across the diagonal")
    p.text(480, y + half + 10, "change places, each transposed")

    y += n * CELL + 50
    rows, cols = 3, 5
    last = rows * cols - 1
    p.call(f"gpumem_transpose(ctx, 8, {rows}, {cols}, m, {cols}, m, {rows})", y)
    p.text(480, y, "not square: without padding", colour=MUTED)
    y += 56
    cycles = cycles_of(rows, cols)
    fills = {k: TINTS[i] for i, cycle in enumerate(cycles) for k in cycle}
    before = [(k, fills.get(k, BLANK)) for k in range(rows * cols)]
    after = transposed(before, rows, cols, cols, rows)
    p.text(0, y - 14, f"before: {rows} rows of {cols}")
    rows_of(p, 0, y, before, rows, cols)
    p.text(after_x, y - 14, f"after: {cols} rows of {rows}")
    rows_of(p, after_x, y, after, cols, rows)
    p.arrow((cols * CELL + 30, y + rows * CELL / 2), (after_x - 30, y + rows * CELL / 2))
    p.text(480, y + 14, f"place k moves to place {rows} k mod {last}")
    p.text(480, y + 38, f"places 0, {last // 2} and {last} stay")

    y += cols * CELL + 40
    step = 2 * CELL
    p.text(480, y + CELL + 6, f"the others move along {len(cycles)} cycles of places")
    for cycle, fill in zip(cycles, TINTS):
        for at, k in enumerate(cycle):
            p.cell(at * step, y, k, fill)
            if at + 1 < len(cycle):
                p.arrow((at * step + CELL + 4, y + CELL / 2), ((at + 1) * step - 4, y + CELL / 2))
        end = (len(cycle) - 1) * step + CELL / 2
        p.arrow((end, y + CELL + 3), (end, y + CELL + 16), (CELL / 2, y + CELL + 16), (CELL / 2, y + CELL + 3))
        y += 2 * CELL + 6


def cycles_of(rows, cols):
    """The cycles along which a transpose in place moves elements, without elements that stay."""
    left, cycles = set(range(rows * cols)), []
    while left:
        k, cycle = min(left), []
        while k in left:
            left.remove(k)
            cycle.append(k)
            k = k % cols * rows + k // cols
        if len(cycle) > 1:
            cycles.append(cycle)
    assert all(b == a * rows % (rows * cols - 1) for cycle in cycles for a, b in zip(cycle, cycle[1:]))
    return cycles


def passes(rows, cols):
    """The matrix before and after each pass of kernels/transpose/c2r.hpp; rows <= cols."""
    c = gcd(rows, cols)
    a, b = rows // c, cols // c
    start = [[i * cols + j for j in range(cols)] for i in range(rows)]
    rotated = [[start[(i + j // b) % rows][j] for j in range(cols)] for i in range(rows)]
    in_rows = [[None] * cols for _ in range(rows)]
    for i in range(rows):
        for j in range(cols):
            in_rows[i][((i + j // b) % rows + j * rows) % cols] = rotated[i][j]
    in_columns = [[in_rows[(j + i * cols - i // a) % rows][j] for j in range(cols)] for i in range(rows)]
    memory = [value for row in in_columns for value in row]
    assert memory == transposed(range(rows * cols), rows, cols, cols, rows)
    return start, rotated, in_rows, in_columns


@picture("transpose_passes", "in_place_c2r: a transposition in place as passes over columns and rows")
def transpose_passes(p):
    rows, cols = 4, 6
    p.call(f"gpumem_transpose(ctx, 8, {rows}, {cols}, m, {cols}, m, {rows})")
    p.text(480, 0, "as `in_place_c2r` does it, drawn small", colour=MUTED)
    states = passes(rows, cols)
    c = gcd(rows, cols)
    a, b = rows // c, cols // c
    p.text(0, 26, f"c = gcd({rows}, {cols}) = {c}, a = {rows}/c = {a}, b = {cols}/c = {b}; quotients are rounded down", colour=MUTED)
    words = [
        ("before: x", f"{rows} rows of {cols}, one colour per row", f"x[i][j] = {cols} i + j"),
        ("1. columns are rotated: y", "elements of a row now go to different columns", f"y[i][j] = x[(i + j/b) mod {rows}][j]"),
        (
            "2. rows are permuted: z",
            "each element is now in its column",
            f"z[i][((i + j/b) mod {rows} + {rows} j) mod {cols}] = y[i][j]",
        ),
        ("3. columns are permuted: t", "each element is now in its place", f"t[i][j] = z[(j + {cols} i - i/a) mod {rows}][j]"),
    ]
    y, apart, down = 72, 390, 224

    def panel(x, y, name, what, formula, rows, cols, values):
        p.heading(x, y, name)
        p.text(x, y + 20, what, colour=MUTED)
        p.text(x, y + 40, f"`{formula}`" if formula else "")
        p.cells(
            x, y + 58, rows, cols, lambda r, c: (values[r * cols + c], TINTS[values[r * cols + c] // len(states[0][0])])
        )

    for k, (state, (name, what, formula)) in enumerate(zip(states, words)):
        x, top = k % 2 * apart, y + k // 2 * down
        panel(x, top, name, what, formula, rows, cols, [value for row in state for value in row])
        if k % 2 == 0:
            p.arrow((x + cols * CELL + 20, top + 118), (x + apart - 20, top + 118))
    p.arrow((apart + cols * CELL + 20, y + down + 118), (2 * apart - 40, y + down + 118))
    panel(
        2 * apart - 20,
        y + down,
        "the same memory",
        f"{cols} rows of {rows}",
        "",
        cols,
        rows,
        [value for row in states[-1] for value in row],
    )


@picture("transpose_batched", "gpumem_transpose_batched: many matrices of one shape")
def transpose_batched(p):
    rows, cols, batches, src_stride, dst_stride = 2, 3, 3, 8, 6

    def batch(y, stride, distance):
        p.call(
            f"gpumem_transpose_batched(ctx, 4, {rows}, {cols}, src, {cols}, {stride}, dst, {rows}, {distance}, "
            f"{batches})",
            y,
        )
        x, src_y, dst_y = 48, y + 66, y + 166
        length = (batches - 1) * stride + rows * cols
        src = [
            ((at, TINTS[at // stride if stride else 0]) if not stride or at % stride < rows * cols else None)
            for at in range(length)
        ]
        dst = [None] * ((batches - 1) * distance + rows * cols)
        for b in range(batches):
            for k, value in enumerate(transposed(src[b * stride :], rows, cols, cols, rows)):
                dst[b * distance + k] = value
        strip(p, x, src_y, len(src), lambda k: src[k])
        strip(p, x, dst_y, len(dst), lambda k: dst[k])
        p.text(x - 12, src_y + CELL / 2, "`src`", "end")
        p.text(x - 12, dst_y + CELL / 2, "`dst`", "end")
        for b in range(batches):
            colour = DEEP[b if stride else 0]
            p.arrow(
                (x + (b * stride + rows * cols / 2) * CELL, src_y + CELL + 3),
                (x + (b * distance + rows * cols / 2) * CELL, dst_y - 3),
                colour=colour,
            )
            p.text(
                x + (b * distance + rows * cols / 2) * CELL,
                dst_y + CELL + 12,
                f"matrix {b}",
                "middle",
                SMALL,
                colour=MUTED,
            )
        for b in range(1, batches):
            p.line((x + b * distance * CELL, dst_y - 4), (x + b * distance * CELL, dst_y + CELL + 4), weight=2.5)
        if stride:
            p.span(x, x + stride * CELL, src_y - 14, f"`src_batch_stride` = {stride}")
        else:
            p.text(x, src_y - 16, "`src_batch_stride` = 0: the same matrix again")
        p.span(x, x + distance * CELL, dst_y + CELL + 28, f"`dst_batch_stride` = {distance}", below=True)
        return x

    x = batch(0, src_stride, dst_stride)
    p.text(x + 19 * CELL, 182, f"each {rows} x {cols} to {cols} x {rows}", colour=MUTED)
    p.legend(x + 19 * CELL, 206, GAP, "not read")
    batch(292, 0, dst_stride)


@picture("transpose_narrow", "structures and planes: the transposition of a narrow matrix")
def transpose_narrow(p):
    n, members = 5, "xyz"
    width = len(members)
    src = matrix(n, width, width, lambda i, j: (f"{members[j]}{i}", TINTS[j]))
    dst = transposed(src, n, width, width, n)
    x, y = 150, 68
    p.call(f"gpumem_transpose(ctx, 4, n, {width}, structures, {width}, planes, n)")
    p.text(x + n * width * CELL - 30, 0, f"`n` = {n}", colour=MUTED)
    strip(p, x, y, n * width, lambda k: src[k])
    strip(p, x, y + 130, n * width, lambda k: dst[k])
    p.text(x - 12, y + CELL / 2, "structures", "end")
    p.text(x - 12, y + 130 + CELL / 2, "planes", "end")
    for k, value in enumerate(src):
        p.arrow(
            (x + (k + 0.5) * CELL, y + CELL + 2),
            (x + (dst.index(value) + 0.5) * CELL, y + 128),
            both=True,
            colour=DEEP[k % width],
        )
    for k in range(0, n * width + 1, width):
        p.line((x + k * CELL, y - 4), (x + k * CELL, y + CELL + 4), weight=2.5)
    for k in range(0, n * width + 1, n):
        p.line((x + k * CELL, y + 126), (x + k * CELL, y + 134 + CELL), weight=2.5)
    p.span(x, x + width * CELL, y - 14, f"`cols` = {width}, a structure")
    p.span(x, x + n * CELL, y + 130 + CELL + 16, "`rows` = n, a plane", below=True)
    p.call(f"gpumem_transpose(ctx, 4, {width}, n, planes, n, structures, {width})", y + 228)
    p.text(x + n * width * CELL - 30, y + 228, "and back", colour=MUTED)
