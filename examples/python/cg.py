"""Conjugate gradients without a matrix: the Laplacian with seven points, on a cube with the value 0 around it.

An iteration is four calls. Its scalars stay in memory, where the next call reads them, so the host waits only to print
the bits of r.r.

usage: cg.py
"""

import sys

import gpumem
import numpy as np

N, AT_ONCE, TIMES = 32, 10, 8
INNER = np.s_[1:-1, 1:-1, 1:-1]


def main():
    i, j, k = np.ogrid[:N, :N, :N]
    source = ((i * 7 + j * 3 + k * 5 + i * j % 13) % 11 - 5).astype(np.float64)
    with gpumem.Context() as ctx, ctx.Stream() as stream:
        # Grids with one layer of zeros around them.
        grids = [ctx.array(np.zeros((N + 2, N + 2, N + 2))) for _ in range(4)]
        x, r, p, q = (grid[INNER] for grid in grids)
        above, below, left, right, back, front = (
            grids[2][1 + di : N + 1 + di, 1 + dj : N + 1 + dj, 1 + dk : N + 1 + dk]
            for di, dj, dk in ((-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1))
        )
        operator = [(6, p), (-1, above), (-1, left), (-1, back), (-1, front), (-1, right), (-1, below)]
        rr, pq = ctx.empty(AT_ONCE + 1, "f64"), ctx.empty(1, "f64")  # rr: r.r before each iteration, and after the last
        shown = ctx.empty(1, "f64", "pinned")
        ctx.lincomb([(1, source)], out=r)
        ctx.lincomb([(1, source)], out=p)
        ctx.dot(r, r, out=rr[0])

        for time in range(1, TIMES + 1):
            for k in range(AT_ONCE):
                ctx.lincomb_dot(operator, [p], out=q, results=pq, stream=stream)
                ctx.lincomb([(1, x), ((1, rr[k], pq[0]), p)], out=x, stream=stream)
                ctx.lincomb_dot([(1, r), ((-1, rr[k], pq[0]), q)], [None], out=r, results=rr[k + 1 : k + 2], stream=stream)
                ctx.lincomb([(1, r), ((1, rr[k + 1], rr[k]), p)], out=p, stream=stream)
            ctx.copy(rr[:1], rr[AT_ONCE:], stream=stream)
            ctx.copy(shown, rr[:1], stream=stream)
            stream.synchronize()
            print(f"iteration {time * AT_ONCE} r.r {np.asarray(shown).view(np.uint64).item():016X}")


if __name__ == "__main__":
    try:
        main()
    except (gpumem.Error, OSError, ValueError) as error:
        sys.exit(f"cg.py: {error}")
