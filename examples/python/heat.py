"""The heat equation on a terrain, by explicit steps with fixed edges. One step is one call.

The height of the terrain is the temperature at the start.

usage: heat.py [TERRAIN.npy]    of int16 or int32; by default a small terrain from a formula
"""

import sys

import gpumem
import numpy as np

STEPS, EVERY = 500, 100


def terrain():
    if len(sys.argv) > 1:
        heights = np.load(sys.argv[1])
        if heights.ndim != 2 or min(heights.shape) < 3 or heights.dtype not in (np.int16, np.int32):
            sys.exit("heat.py: the file is not of int16 or int32 in three rows and columns or more")
        return heights
    i, j = np.ogrid[:96, :128]
    return ((i * i * 7 + j * j * 3 + i * j * 5) % 1009).astype(np.int32)


def main():
    with gpumem.Context() as ctx, ctx.Stream() as steps, ctx.Stream() as copies:
        u = ctx.convert(ctx.array(terrain()), "f64")  # converts heights to temperatures
        v = ctx.array(u)  # also the edges, which no step writes
        rows, cols = u.shape
        difference, transposed = ctx.empty(u.shape, "f64"), ctx.empty((cols, rows), "f64")
        snapshot, norm = ctx.empty((cols, rows), "f64", "pinned"), ctx.empty((), "f64", "pinned")
        turned, copied = ctx.Event(), ctx.Event()

        for step in range(1, STEPS + 1):
            up, left, right, down = u[:-2, 1:-1], u[1:-1, :-2], u[1:-1, 2:], u[2:, 1:-1]
            terms = [(0.125, up), (0.125, left), (0.5, u[1:-1, 1:-1]), (0.125, right), (0.125, down)]
            ctx.lincomb(terms, out=v[1:-1, 1:-1], stream=steps)
            u, v = v, u
            if step % EVERY != 0:
                continue

            ctx.lincomb([(1, u), (-1, v)], out=difference, stream=steps)
            ctx.nrm2(difference, out=norm, stream=steps)
            # The previous snapshot has left `transposed` before this transpose. Its copy overlaps the next steps.
            steps.wait(copied)
            ctx.transpose(u, transposed, stream=steps)
            turned.record(steps)
            copies.wait(turned)
            ctx.copy(snapshot, transposed, stream=copies)
            copied.record(copies)
            turned.synchronize()
            print(f"step {step} residual {np.asarray(norm).view(np.uint64).item():016X}")

        copied.synchronize()
        print(f"step {STEPS} centre {np.asarray(snapshot).view(np.uint64)[cols // 2, rows // 2]:016X}")


if __name__ == "__main__":
    try:
        main()
    except (gpumem.Error, OSError, ValueError) as error:
        sys.exit(f"heat.py: {error}")
