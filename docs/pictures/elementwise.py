"""axpby."""

from canvas import CELL, DEEP, GAP, MUTED, TINTS, picture
from movement import strip


@picture("axpby", "gpumem_axpby: z[i] = alpha x[i] + beta y[i]")
def axpby(p):
    x_values, y_values, alpha, beta = [1, 2, 3, 4, 5, 6], [9, 8, 7, 6, 5, 4], 2, 3
    n = len(x_values)
    half = 408

    def operands(left, y, x_of, y_of, alpha, beta):
        for name, values, at in (("x", x_of, y), ("y", y_of, y + CELL + 14)):
            p.text(left + 34, at + CELL / 2, f"`{name}`", "end")
            strip(p, left + 44, at, n, lambda k: (values[k], TINTS[0 if name == "x" else 1]) if values else None)
        p.text(left + 44 + n * CELL + 14, y + CELL / 2, f"`alpha` = {alpha}")
        p.text(left + 44 + n * CELL + 14, y + CELL * 1.5 + 14, f"`beta` = {beta}")

    def result(left, y, values, name):
        p.text(left + 34, y + CELL / 2, f"`{name}`", "end")
        strip(p, left + 44, y, n, lambda k: (values[k], TINTS[2]))
        for k in range(n):
            p.arrow((left + 44 + (k + 0.5) * CELL, y - 26), (left + 44 + (k + 0.5) * CELL, y - 3), colour=DEEP[2])

    p.call(f"gpumem_axpby_f32(ctx, {alpha}, x, {beta}, y, z, {n})")
    operands(0, 32, x_values, y_values, alpha, beta)
    result(0, 136, [alpha * a + beta * b for a, b in zip(x_values, y_values)], "z")
    p.text(
        44,
        186,
        f"{alpha} * {x_values[2]} + {beta} * {y_values[2]} = {alpha * x_values[2] + beta * y_values[2]}: "
        "both products and the sum",
        colour=MUTED,
    )
    p.text(44, 206, "are rounded once each, never fused", colour=MUTED)
    p.mark(44 + 2 * CELL, 32)
    p.mark(44 + 2 * CELL, 32 + CELL + 14)
    p.mark(44 + 2 * CELL, 136)

    p.text(half, 0, f"`gpumem_axpby_f32(ctx, 10, x, 0, NULL, x, {n})`", size=14)
    operands(half, 32, x_values, None, 10, 0)
    result(half, 136, [10 * a for a in x_values], "x")
    p.text(half + 44, 186, "in place: `z` is `x`", colour=MUTED)
    p.legend(half + 44, 208, GAP, "a factor of 0: not read, may be NULL")
