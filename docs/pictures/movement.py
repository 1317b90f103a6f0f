"""Copies and fills."""

from canvas import ACCENT, BLANK, CELL, DEEP, GAP, MUTED, TINTS, picture


def strip(p, x, y, count, look):
    """Consecutive memory. look(place) is as for Picture.cells()."""
    p.cells(x, y, 1, count, lambda _, place: look(place))


@picture("copy", "gpumem_copy: a range of bytes to another place")
def copy(p):
    count, before = 8, 3
    p.call(f"gpumem_copy(ctx, dst, src, {count})")

    def memory(y, ahead, behind):
        left = (before - ahead) * CELL
        strip(
            p, left, y, ahead + count + behind, lambda at: (at - ahead, TINTS[0]) if 0 <= at - ahead < count else None
        )

    x, src_y, dst_y = before * CELL, 72, 160
    memory(src_y, 3, 5)
    memory(dst_y, 1, 2)
    p.pointer(x, src_y, "src")
    p.span(x, x + count * CELL, src_y - 14, f"`bytes` = {count}")
    for k in range(count):
        p.arrow((x + (k + 0.5) * CELL, src_y + CELL + 3), (x + (k + 0.5) * CELL, dst_y - 3))
    p.pointer(x, dst_y, "dst")
    p.legend(x, dst_y + CELL + 22, GAP, "not touched")
    p.text(520, src_y + CELL / 2, "any kind of memory", colour=MUTED)
    p.text(520, dst_y + CELL / 2, "any kind of memory", colour=MUTED)


@picture("copy_2d", "gpumem_copy_2d: rows of bytes, with a pitch on each side")
def copy_2d(p):
    rows, row_bytes, src_pitch, dst_pitch, left = 3, 4, 8, 5, 2
    p.call(f"gpumem_copy_2d(ctx, dst, {dst_pitch}, src, {src_pitch}, {row_bytes}, {rows})")
    y = 72

    def number(r, c):
        return r * row_bytes + c, TINTS[r]

    def from_src(r, c):
        return number(r, c - left) if 0 <= c - left < row_bytes else None

    def to_dst(r, c):
        return number(r, c) if c < row_bytes else None

    src_x, dst_x = 96, 500
    p.cells(src_x, y, rows, src_pitch, from_src)
    p.cells(dst_x, y, rows, dst_pitch, to_dst)
    block = src_x + left * CELL
    p.pointer(block, y, "src")
    p.pointer(dst_x, y, "dst")
    p.span(block, block + row_bytes * CELL, y - 14, f"`row_bytes` = {row_bytes}")
    p.span_down(src_x - 20, y, y + rows * CELL, f"`rows` = {rows}")
    p.span(src_x, src_x + src_pitch * CELL, y + rows * CELL + 14, f"`src_pitch_bytes` = {src_pitch}", below=True)
    p.span(dst_x, dst_x + dst_pitch * CELL, y + rows * CELL + 14, f"`dst_pitch_bytes` = {dst_pitch}", below=True)
    p.arrow((src_x + src_pitch * CELL + 24, y + 1.5 * CELL), (dst_x - 24, y + 1.5 * CELL))

    y += rows * CELL + 66
    p.text(0, y, "the same in memory, one cell per byte", bold=True)
    y += 24
    for label, pitch in (("src", src_pitch), ("dst", dst_pitch)):
        length = (rows - 1) * pitch + row_bytes
        p.text(86, y + CELL / 2, f"`{label}`", "end")
        strip(p, 96, y, length, lambda at: number(at // pitch, at % pitch) if at % pitch < row_bytes else None)
        y += 2 * CELL
    p.legend(96 + 16 * CELL, y - 1.5 * CELL, GAP, "not touched")


@picture("copy_3d", "gpumem_copy_3d: slices of rows, here two columns of every plane of a grid")
def copy_3d(p):
    nz, ny, nx, halo, first = 2, 3, 6, 2, 1
    p.text(
        0,
        0,
        f"`double grid[nz][ny][nx]`, `double halo[nz][ny][2]`, with `nz` = {nz}, `ny` = {ny}, `nx` = {nx}",
        colour=MUTED,
    )
    p.call("gpumem_copy_3d(ctx, halo, 2 * 8, ny * 2 * 8, grid + 1, nx * 8, ny * nx * 8, 2 * 8, ny, nz)", 24)
    y, src_x, dst_x = 98, 128, 516

    def number(r, c):
        return r * halo + c, TINTS[r // ny]

    for x, cols, begin in ((src_x, nx, first), (dst_x, halo, 0)):
        p.cells(x, y, nz * ny, cols, lambda r, c: number(r, c - begin) if 0 <= c - begin < halo else None)
        p.line((x, y + ny * CELL), (x + cols * CELL, y + ny * CELL), weight=2.5)
    p.pointer(src_x + first * CELL, y, "src")
    p.pointer(dst_x, y, "dst")
    p.span(src_x + CELL, src_x + 3 * CELL, y - 14, "")
    p.text(src_x + 3 * CELL + 10, y - 14, "`row_bytes` = 2 * 8")
    for s in range(nz):
        p.text(src_x - 12, y + (s + 0.5) * ny * CELL, f"slice {s}, `rows` = ny", "end")
    bottom = y + nz * ny * CELL
    p.span(src_x, src_x + nx * CELL, bottom + 14, "`src_pitch_bytes` = nx * 8", below=True)
    p.span(dst_x, dst_x + halo * CELL, bottom + 14, "`dst_pitch_bytes` = 2 * 8", below=True)
    for x, side, length in ((src_x + nx * CELL, "src", "nx"), (dst_x + halo * CELL, "dst", "2")):
        p.span_down(x + 14, y, y + ny * CELL, f"`{side}_slice_bytes`", right=True)
        p.text(x + 23, y + ny * CELL / 2 + 18, f"= ny * {length} * 8")
    middle = y + 1.5 * ny * CELL
    p.arrow((src_x + nx * CELL + 24, middle), (dst_x - 24, middle))
    p.text((src_x + nx * CELL + dst_x) / 2, middle - 12, "`slices` = nz", "middle")
    p.legend(dst_x + halo * CELL + 24, middle, GAP, "not read; a cell is a double")


@picture("copy_boxes", "gpumem_copy_boxes: boxes of an array to a buffer, in one call")
def copy_boxes(p):
    rows, cols = 4, 6
    boxes = [(0, 1, 2, 3), (0, 5, 3, 1)]  # first row, first column, extents
    p.call("gpumem_copy_boxes(ctx, 8, 2, 2, extents, src, src_strides, dst, NULL)")
    y, src_x, dst_x = 84, 60, 380
    names = {}
    packed = []
    for k, (row, col, n, m) in enumerate(boxes):
        for i in range(n * m):
            names[row + i // m, col + i % m] = (f"{'ab'[k]}{i}", TINTS[k])
            packed.append((f"{'ab'[k]}{i}", TINTS[k]))
    p.cells(src_x, y, rows, cols, lambda r, c: names.get((r, c)))
    p.cells(dst_x, y, 1, len(packed), lambda _, c: packed[c])
    p.pointer(src_x + CELL, y, "src[0]")
    p.pointer(src_x + 5 * CELL, y, "src[1]")
    p.pointer(dst_x, y, "dst[0]")
    p.pointer(dst_x + 6 * CELL, y, "dst[1]")
    p.text(dst_x, y + 2 * CELL, "`extents` = {2, 3, 3, 1}")
    p.text(dst_x, y + 2.8 * CELL, "`src_strides` = {6, 1, 6, 1}")
    p.legend(dst_x, y + 3.6 * CELL, GAP, "not read")


@picture("lattice_move", "A move of a lattice Boltzmann program: each population to the next cell, across the edge to the other side")
def lattice_move(p):
    rows, cols, cell = 3, 6, 46
    middle, edge = (1, 2), (1, 5)
    around = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]

    def population(x, row, col, down, right, colour):
        x, y = x + (col + 0.5) * cell, 30 + (row + 0.5) * cell
        p.arrow((x + 4 * right, y + 4 * down), (x + 19 * right, y + 19 * down), colour=colour)

    for x, name in ((0, "before the move"), (cols * cell + 70, "after the move")):
        p.text(x + cols * cell / 2, 6, name, "middle", bold=True)
        p.cells(x, 30, rows, cols, lambda r, c: ("", BLANK), cell, cell)
        for (row, col), colour in ((middle, DEEP[0]), (edge, ACCENT)):
            moved = x > 0
            p.dot(x + (col + 0.5) * cell, 30 + (row + 0.5) * cell, 3, colour)
            for down, right in around:
                at = (row + down, (col + right) % cols) if moved else (row, col)
                population(x, *at, down, right, colour)
    p.arrow((cols * cell + 20, 30 + rows * cell / 2), (cols * cell + 50, 30 + rows * cell / 2))


@picture("fill", "gpumem_fill and gpumem_fill_2d: a pattern, repeated")
def fill(p):
    pattern, count, cols, rows, pitch = "ABCD", 5, 2, 3, 10
    width = len(pattern)

    def byte(place):
        return pattern[place % width], TINTS[place // width % 2]

    p.call(f"gpumem_fill(ctx, dst, pattern, {width}, {count})")
    y = 60
    strip(p, 0, y, width, lambda at: (pattern[at], TINTS[3]))
    p.span(0, width * CELL, y + CELL + 12, f"`pattern_bytes` = {width}", below=True)
    p.text(width * CELL / 2, y - 12, "`pattern`", "middle")
    p.arrow((width * CELL + 12, y + CELL / 2), (176, y + CELL / 2))
    x = 188
    strip(p, x, y, count * width, byte)
    p.pointer(x, y, "dst")
    p.span(x, x + count * width * CELL, y + CELL + 12, f"`count` = {count} patterns, back to back", below=True)

    y = 166
    p.call(f"gpumem_fill_2d(ctx, dst, {pitch}, pattern, {width}, {cols}, {rows})", y)
    y += 72
    p.cells(x, y, rows, pitch, lambda r, c: byte(c) if c < cols * width else None)
    p.pointer(x, y, "dst")
    p.span(x, x + cols * width * CELL, y - 14, f"`cols` = {cols} patterns")
    p.span_down(x - 20, y, y + rows * CELL, f"`rows` = {rows}")
    p.span(x, x + pitch * CELL, y + rows * CELL + 14, f"`dst_pitch_bytes` = {pitch}", below=True)
    p.legend(x + pitch * CELL + 24, y + CELL / 2, GAP, "not touched")
