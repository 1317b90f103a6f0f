"""Rows by index."""

from canvas import BLANK, CELL, DEEP, GAP, MUTED, TINTS, picture


@picture("gather_scatter", "gpumem_gather and gpumem_scatter: rows by index")
def gather_scatter(p):
    row_bytes, pitch, n = 3, 4, 4

    def matrix(x, y, rows, name, cells, count, right=False):
        p.cells(
            x,
            y,
            rows,
            pitch,
            lambda r, c: cells[r] and (f"{cells[r][0]}{'abc'[c]}", cells[r][1]) if c < row_bytes else None,
        )
        p.indices(x - 6, y, rows, down=True)
        p.pointer(x, y, name)
        p.span(x, x + row_bytes * CELL, y - 14, f"`row_bytes` = {row_bytes}")
        p.span(x, x + pitch * CELL, y + rows * CELL + 14, f"`{name}_pitch_bytes` = {pitch}", below=True)
        p.span_down(x + pitch * CELL + 14 if right else x - 30, y, y + rows * CELL, f"`{count}` = {rows}", right)

    def numbers(x, y, index):
        p.cells(x, y, n, 1, lambda r, _: (index[r], BLANK))
        p.text(x + CELL / 2, y - 14, "`index`", "middle")

    def moves(y, index_x, src_rows, dst_rows):
        for i, (fro, to) in enumerate(zip(src_rows, dst_rows)):
            at = y + (i + 0.5) * CELL
            p.arrow((src_x + pitch * CELL + 6, y + (fro + 0.5) * CELL), (index_x - 6, at), colour=DEEP[fro])
            p.arrow((index_x + CELL + 6, at), (dst_x - 24, y + (to + 0.5) * CELL), colour=DEEP[fro])

    y, src_x, dst_x = 98, 134, 530
    p.call(f"gpumem_gather(ctx, {row_bytes}, src, 6, {pitch}, GPUMEM_I64, index, {n}, dst, {pitch})")
    p.text(0, 24, "row i of `dst` = row `index[i]` of `src`", colour=MUTED)
    index = [4, 1, 1, 5]
    src = [(r, TINTS[r]) for r in range(6)]
    matrix(src_x, y, 6, "src", src, "src_rows")
    numbers(410, y, index)
    matrix(dst_x, y, n, "dst", [src[i] for i in index], "n", right=True)
    moves(y, 410, index, range(n))

    y = 446
    p.call(f"gpumem_scatter(ctx, {row_bytes}, src, {pitch}, GPUMEM_I64, index, {n}, dst, 6, {pitch})", y - 98)
    p.text(0, y - 74, "row `index[i]` of `dst` = row i of `src`", colour=MUTED)
    index = [4, 1, 0, 5]
    src = [(r, TINTS[r]) for r in range(n)]
    dst = [None] * 6
    for i, to in enumerate(index):
        dst[to] = src[i]
    matrix(src_x, y, n, "src", src, "n")
    numbers(310, y, index)
    matrix(dst_x, y, 6, "dst", dst, "dst_rows", right=True)
    moves(y, 310, range(n), index)
    p.legend(0, y + 6 * CELL + 28, GAP, "not touched")


@picture("sort", "gpumem_sort: sorted keys and their positions")
def sort(p):
    keys = [3, 1, 4, 1, 5, 2]
    order = sorted(range(len(keys)), key=lambda i: keys[i])
    n, x = len(keys), 150
    p.call(f"gpumem_sort(ctx, GPUMEM_I32, keys, {n}, 0, sorted, order, GPUMEM_I32)")
    p.text(0, 24, "`sorted[i]` = `keys[order[i]]`; equal keys keep their order", colour=MUTED)
    top, below, last = 78, 188, 248
    p.cells(x, top, 1, n, lambda _, i: (keys[i], TINTS[i]))
    p.cells(x, below, 1, n, lambda _, i: (keys[order[i]], TINTS[order[i]]))
    p.cells(x, last, 1, n, lambda _, i: (order[i], BLANK))
    p.indices(x, top - 8, n)
    for name, y in ("`keys`", top), ("`sorted`", below), ("`order`", last):
        p.text(x - 24, y + CELL / 2, name, "end")
    for to, fro in enumerate(order):
        p.arrow((x + (fro + 0.5) * CELL, top + CELL + 4), (x + (to + 0.5) * CELL, below - 6), colour=DEEP[fro])


@picture("select", "gpumem_select: rows by mask")
def select(p):
    row_bytes, pitch, n, room = 3, 4, 6, 4
    mask = [0, 1, 0, 1, 1, 0]
    kept = [r for r in range(n) if mask[r]]

    def matrix(x, y, rows, name, cells, count, right=False):
        p.cells(x, y, rows, pitch, lambda r, c: cells[r] and (f"{cells[r]}{'abc'[c]}", TINTS[int(cells[r])]) if c < row_bytes else None)
        p.indices(x - 6, y, rows, down=True)
        p.pointer(x, y, name)
        p.span(x, x + row_bytes * CELL, y - 14, f"`row_bytes` = {row_bytes}")
        p.span(x, x + pitch * CELL, y + rows * CELL + 14, f"`{name}_pitch_bytes` = {pitch}", below=True)
        p.span_down(x + pitch * CELL + 14 if right else x - 30, y, y + rows * CELL, f"`{count}` = {rows}", right)

    y, src_x, mask_x, dst_x = 98, 134, 330, 530
    p.call(f"gpumem_select(ctx, {row_bytes}, src, {pitch}, mask, {n}, dst, {room}, {pitch}, &kept)")
    p.text(0, 24, f"the rows of `src` whose byte of `mask` is not 0, in their order: `kept` = {len(kept)}", colour=MUTED)
    matrix(src_x, y, n, "src", [str(r) for r in range(n)], "n")
    p.cells(mask_x, y, n, 1, lambda r, _: (mask[r], BLANK))
    p.text(mask_x + CELL / 2, y - 14, "`mask`", "middle")
    matrix(dst_x, y, room, "dst", [*map(str, kept), *[None] * (room - len(kept))], "dst_rows", right=True)
    for to, fro in enumerate(kept):
        at = y + (fro + 0.5) * CELL
        p.arrow((mask_x + CELL + 6, at), (dst_x - 24, y + (to + 0.5) * CELL), colour=DEEP[fro])
    p.legend(0, y + n * CELL + 44, GAP, "not touched")
