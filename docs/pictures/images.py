"""Resizes. Places and pixels are computed from the definition in gpumem.h."""

from fractions import Fraction

from canvas import ACCENT, BLANK, CELL, DEEP, GAP, MUTED, PAPER, SMALL, TINTS, picture


def centre(i, src, dst):
    """The centre of element i of dst, in elements of src."""
    return (i + Fraction(1, 2)) * src / dst - Fraction(1, 2)


def nearest(i, src, dst):
    return (2 * i + 1) * src // (2 * dst)


def taps(i, src, dst):
    """The two elements of src around the centre, and the weight of the second. Past an edge, both are the element at the edge."""
    at = min(max(centre(i, src, dst), 0), src - 1)
    first = int(at)
    return first, min(first + 1, src - 1), at - first


@picture("resize_centres", "gpumem_resize_2d along one axis: centres of pixels, nearest and bilinear")
def resize_centres(p):
    values, dst = [0, 60, 120, 240], 6
    src = len(values)
    x, long = 96, 660
    src_wide, dst_wide = long / src, long / dst
    p.text(
        0,
        0,
        f"A row of {src} pixels becomes one of {dst} of the same length. The centre of pixel i of `dst` lies at",
        colour=MUTED,
    )
    p.text(0, 24, "`(i + 0.5) * src_cols / dst_cols - 0.5`  of `src`, whose centres are at 0, 1, 2 …")
    y = 78
    p.text(x - 12, y + 22, "`src`", "end")
    for k, value in enumerate(values):
        left = x + k * src_wide
        p.rect(left, y, src_wide, 44, TINTS[k])
        p.text(left + src_wide / 2 + 10, y + 12, str(value))
        p.text(left + src_wide / 2, y - 12, str(k), "middle", SMALL, colour=MUTED)
        p.dot(left + src_wide / 2, y + 28, 4)
    dst_y, near_y, line_y = y + 116, y + 196, y + 276
    for name, top in (("`dst`", dst_y), ("nearest", near_y), ("bilinear", line_y)):
        p.text(x - 12, top + CELL / 2, name, "end")
    for i in range(dst):
        at = centre(i, src, dst)
        middle = x + (i + 0.5) * dst_wide
        p.rect(x + i * dst_wide, dst_y, dst_wide, CELL, BLANK)
        p.text(middle + 10, dst_y + CELL / 2, f"i = {i}")
        p.line((middle, dst_y + CELL / 2), (middle, y + 28), colour=ACCENT, dashed=True)
        p.dot(middle, dst_y + CELL / 2, 4, ACCENT)
        p.dot(middle, y + 28, 4, PAPER, ACCENT)
        p.text(middle, dst_y + CELL + 14, f"{at}", "middle", SMALL, colour=ACCENT)
        of = nearest(i, src, dst)
        p.cell(x + i * dst_wide, near_y, values[of], TINTS[of], dst_wide)
        p.text(middle, near_y + CELL + 12, f"pixel {of}", "middle", SMALL, colour=MUTED)
        first, second, weight = taps(i, src, dst)
        value = values[first] + weight * (values[second] - values[first])
        p.cell(x + i * dst_wide, line_y, int(value + Fraction(1, 2)), BLANK, dst_wide)
        words = f"{values[first]} + {weight} * {values[second] - values[first]}" if weight else "the edge's"
        p.text(middle, line_y + CELL + 12, words, "middle", SMALL, colour=MUTED)
    p.text(
        x, line_y + CELL + 40, "Past the centre of the first or last pixel, the value is that pixel's.", colour=MUTED
    )
    p.text(
        x,
        line_y + CELL + 60,
        "Nearest takes the second of two pixels whose border the centre hits, as at 1/2 and 5/2.",
        colour=MUTED,
    )


@picture(
    "resize_bilinear", "gpumem_resize_2d: the centres of dst over the pixels of src, and the four around one of them"
)
def resize_bilinear(p):
    src_rows, src_cols, dst_rows, dst_cols, pixel = 3, 4, 4, 6, 72
    x, y = 92, 44
    p.text(
        x + src_cols * pixel / 2,
        0,
        f"`src_rows` x `src_cols` = {src_rows} x {src_cols}, " f"`dst_rows` x `dst_cols` = {dst_rows} x {dst_cols}",
        "middle",
    )
    for r in range(src_rows):
        for c in range(src_cols):
            p.rect(x + c * pixel, y + r * pixel, pixel, pixel, TINTS[0] if (r + c) % 2 else BLANK)
            p.dot(x + (c + 0.5) * pixel, y + (r + 0.5) * pixel, 4)
    p.indices(x, y - 12, src_cols, step=pixel)
    p.indices(x - 8, y, src_rows, step=pixel, down=True)
    for i in range(dst_rows):
        for j in range(dst_cols):
            at = (
                x + float(centre(j, src_cols, dst_cols) + Fraction(1, 2)) * pixel,
                y + float(centre(i, src_rows, dst_rows) + Fraction(1, 2)) * pixel,
            )
            p.dot(*at, 4, ACCENT if (i, j) == (2, 2) else PAPER, ACCENT)
    bottom = y + src_rows * pixel
    p.dot(x + 5, bottom + 20, 4)
    p.text(x + 18, bottom + 20, "centre in `src`", colour=MUTED)
    p.dot(x + 145, bottom + 20, 4, PAPER, ACCENT)
    p.text(x + 158, bottom + 20, "centre of `dst`", colour=MUTED)

    (r0, r1, down), (c0, c1, across) = taps(2, src_rows, dst_rows), taps(2, src_cols, dst_cols)
    assert (r0, r1, c0, c1) == (1, 2, 1, 2)
    p.rect(x + 1.5 * pixel, y + 1.5 * pixel, pixel, pixel, "none", ACCENT, 2)

    values = {(1, 1): 24, (1, 2): 60, (2, 1): 72, (2, 2): 60}
    above = values[1, 1] + across * (values[1, 2] - values[1, 1])
    below = values[2, 1] + across * (values[2, 2] - values[2, 1])
    result = above + down * (below - above)
    left, top, side = 516, y + 8, 180
    p.text(left + side / 2, 0, "row 2, column 2 of `dst`", "middle")
    at_x, at_y = left + float(across) * side, top + float(down) * side
    p.rect(left, top, side, side, BLANK, ACCENT, 2)
    for r, line_y, value in ((1, top, above), (2, top + side, below)):
        for c, corner in ((1, left), (2, left + side)):
            p.dot(corner, line_y, 5)
            p.text(corner + (-12 if c == 1 else 12), line_y, str(values[r, c]), "end" if c == 1 else "start", bold=True)
        p.dot(at_x, line_y, 5, TINTS[0], DEEP[0])
        p.text(at_x + 10, line_y + (14 if r == 1 else -14), str(value), bold=True, colour=DEEP[0])
    p.arrow((at_x, top + 8), (at_x, at_y - 7), colour=DEEP[0])
    p.arrow((at_x, top + side - 8), (at_x, at_y + 7), colour=DEEP[0])
    p.dot(at_x, at_y, 6, ACCENT)
    p.text(at_x + 12, at_y, str(result), bold=True, colour=ACCENT)
    p.span(left, at_x, top - 18, f"{across}")
    p.span_down(left - 44, top, at_y, f"{down}")
    p.text(left - 34, top + side + 32, f"along rows first: {above} and {below};", colour=MUTED)
    p.text(left - 34, top + side + 52, f"then down the column: {above} + {down} * ({below} - {above})", colour=MUTED)


@picture("resize_part", "gpumem_resize_2d on a part of an image: the pitch of the whole")
def resize_part(p):
    rows, cols, channels, pitch = 4, 4, 3, 15
    first_row, first_col, part_rows, part_cols = 1, 1, 2, 2
    wide = 24
    p.text(
        0,
        0,
        "A part of an image has the pitch of the whole; a pixel is `channels` elements side by side.",
        colour=MUTED,
    )
    x, y = 110, 62

    def look(r, c):
        if c >= cols * channels:
            return None
        inside = first_row <= r < first_row + part_rows and first_col <= c // channels < first_col + part_cols
        return ("RGB"[c % channels], TINTS[0] if inside else BLANK)

    p.cells(x, y, rows, pitch, look, wide)
    left, top = x + first_col * channels * wide, y + first_row * CELL
    p.mark(left, top, part_cols * channels * wide, part_rows * CELL)
    p.span(left, left + part_cols * channels * wide, y - 14, f"`src_cols` = {part_cols}")
    p.span_down(x - 16, top, top + part_rows * CELL, f"`src_rows` = {part_rows}")
    p.span(x, x + pitch * wide, y + rows * CELL + 14, f"`src_pitch_bytes` = {pitch}, u8", below=True)
    p.text(x + pitch * wide + 20, y + CELL / 2, "`src` points here:", colour=ACCENT)
    p.text(
        x + pitch * wide + 20,
        y + CELL / 2 + 20,
        f"1 row and 1 pixel in, at `picture` + {pitch} + {channels}",
        colour=ACCENT,
    )
    p.dot(left + 5, top + 5, 4, ACCENT)
    p.legend(x + pitch * wide + 20, y + 3 * CELL, GAP, "between the rows")


@picture("resize_batch", "gpumem_resize_2d_batch: images of three sizes become results of one size in one array")
def resize_batch(p):
    sizes, side, unit = [(3, 5), (4, 3), (2, 4)], 2, 24
    p.text(0, 0, "Each image has its own address, rows, columns and pitch. All results have one size.", colour=MUTED)
    x, y, step = 60, 62, 190
    tall = max(rows for rows, _ in sizes) * unit
    for k, (rows, cols) in enumerate(sizes):
        left, top = x + k * step, y + tall - rows * unit
        p.text(left, top - 14, f"`src[{k}]`: {rows} x {cols}")
        for r in range(rows):
            for c in range(cols):
                p.rect(left + c * unit, top + r * unit, unit, unit, TINTS[k])
    below = y + tall + 70
    for k in range(len(sizes)):
        left = x + k * step
        for r in range(side):
            for c in range(side):
                p.rect(left + c * unit, below + r * unit, unit, unit, TINTS[k])
        p.arrow((left + unit, y + tall + 6), (left + unit, below - 6))
    p.text(x - 12, below + unit, "`dst`", "end")
    p.span(x, x + step, below + side * unit + 14, "`dst_image_stride_bytes`", below=True)
    p.text(x + 3 * step, below + unit, f"`dst_rows` x `dst_cols` = {side} x {side}")
