"""Shares memory between gpumem and the installed array libraries: NumPy, PyTorch, CuPy. Exit status 77 if there are none."""

import importlib
import sys

import gpumem


def with_numpy(np, ctx):
    mine = ctx.full(4, 1.5, "f64", "pinned")  # pinned memory is host memory
    theirs = np.asarray(mine)
    theirs[0] = 40
    return mine, ctx.reduce(theirs)


def with_torch(torch, ctx):
    place = "cuda" if torch.cuda.is_available() else "cpu"
    theirs = torch.full((4,), 1.5, dtype=torch.float64, device=place)
    mine = ctx.asarray(theirs)
    theirs[0] = 40
    if place == "cuda":
        torch.cuda.synchronize()  # or put everything on one stream: ctx.Stream(native=torch.cuda.current_stream())
    return mine, ctx.reduce(theirs)


def with_cupy(cupy, ctx):
    theirs = cupy.from_dlpack(ctx.full(4, 1.5, "f64"))
    theirs[0] = 40
    mine = ctx.asarray(theirs)
    return mine, ctx.reduce(theirs)


def main():
    asked = 0
    with gpumem.Context() as ctx:
        for name, exchange in (("numpy", with_numpy), ("torch", with_torch), ("cupy", with_cupy)):
            try:
                library = importlib.import_module(name)
                if name == "cupy":
                    library.cuda.runtime.getDeviceCount()
            except Exception as error:  # without a driver, CuPy raises its own error
                print(f"{name} is left out: {error}")
                continue
            mine, total = exchange(library, ctx)
            assert mine.tolist() == [40, 1.5, 1.5, 1.5] and total == 44.5, (name, mine.tolist(), total)
            print(f"{name}: {total}")
            asked += 1
    return 0 if asked else 77


if __name__ == "__main__":
    sys.exit(main())
