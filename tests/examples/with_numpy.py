#!/usr/bin/env python3
"""Compares the results of the examples particles.c, climate.py and loader.py with NumPy's.

usage: with_numpy.py PARTICLES FOLDER    the program, and the folder of the examples in Python; exits 77 without NumPy
"""

import re
import subprocess
import sys

try:
    import numpy as np
except ImportError:
    print("NumPy is not installed")
    sys.exit(77)
import gpumem

STEPS, PARTICLES, NX, NY = 20, 20000, 8, 4


def particles():
    """The lines that the program prints, as numbers."""
    i = np.arange(PARTICLES)
    x, y = i * 7919 % PARTICLES / PARTICLES, i * 104729 % PARTICLES / PARTICLES
    u, v = (i * 31 % 101 - 50) / 64, (i * 17 % 103 - 51) / 64
    for step in range(1, STEPS + 1):
        x, y = x + u / 64, y + v / 64
        x = np.minimum(x - np.floor(x), np.nextafter(1, 0))
        x, y, u, v = (values[np.floor(y) == 0] for values in (x, y, u, v))
        yield step, x.size
    cells = (np.floor(x * NX) + NX * np.floor(y * NY)).astype(int)
    sizes = np.bincount(cells, minlength=NX * NY)
    yield from zip(range(NX * NY), sizes, np.bincount(cells, (u * u + v * v) / 2, NX * NY))


def check_particles(program):
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    expected = list(particles())
    assert len(printed) == len(expected), f"{len(printed)} lines; expected {len(expected)}"
    for line, numbers in zip(printed, expected):
        found = [float(word) for word in re.findall(r"[0-9.]+", line)]
        assert np.allclose(found, numbers, rtol=0, atol=1e-6), f"{line}: expected {numbers}"


def check_climate():
    import climate

    packed = climate.temperatures()
    values = np.ma.masked_equal(packed, climate.MISSING) * 0.01
    rows = packed.shape[1]
    weights = np.broadcast_to(np.cos(np.radians(90 - (np.arange(rows) + 0.5) * 180 / rows))[:, None], packed.shape)
    of_places = values.mean(axis=0)
    of_times = np.ma.average(values, axis=(1, 2), weights=weights)
    sea = ~np.ma.getmaskarray(values)
    assert not sea.any(axis=0).all() and (sea.any(axis=0) & ~sea.all(axis=0)).any(), "no land, or no ice that melts"
    with gpumem.Context() as ctx:
        found = [array.numpy() for array in climate.means(ctx, packed)]
    assert np.allclose(found[0], of_places.filled(np.nan), rtol=1e-13, equal_nan=True), "means of places"
    assert np.allclose(found[1], of_times, rtol=1e-13), "means of times"
    assert np.allclose(found[2][sea], (values - of_places).data[sea], rtol=0, atol=1e-12), "differences"


def resized(image, rows, columns):
    """Bilinear, with the edges repeated, rounded to integers."""
    for axis, size in enumerate((rows, columns)):
        n = image.shape[axis]
        centre = np.clip((np.arange(size) + 0.5) * n / size - 0.5, 0, n - 1)
        low = np.minimum(centre.astype(int), max(n - 2, 0))
        weight = (centre - low).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
        image = image.take(low, axis) * (1 - weight) + image.take(np.minimum(low + 1, n - 1), axis) * weight
    return np.floor(image + 0.5)


def check_loader():
    import loader

    pictures = [*loader.pictures(), loader.made(1, 500)]
    pixels = np.stack([resized(picture, *loader.SIZE) for picture in pictures]).transpose(0, 3, 1, 2)
    with gpumem.Context() as ctx:
        for dtype, itself in (("f16", np.float16), ("f32", np.float32)):
            found = loader.Loader(ctx, loader.SIZE, dtype).batch(pictures).numpy()
            assert found.dtype == itself and found.shape == (4, 3, *loader.SIZE), f"{found.dtype} {found.shape}"
            mean, deviation = loader.MEAN[:, None, None], loader.DEVIATION[:, None, None]
            back = found * (255 * deviation) + 255 * mean  # pixels again; those of f16 are rounded
            assert abs(back - pixels).max() < 1.1, f"{dtype}: a pixel differs by {abs(back - pixels).max()}"
            near = np.rint(back)
            again = ((near - 255 * mean) * (1 / (255 * deviation))).astype(itself)
            assert (again == found).all(), f"{dtype}: {(again != found).sum()} values are not those of a pixel"


def main():
    program, folder = sys.argv[1:]
    sys.path.insert(0, folder)
    sys.argv[1:] = []  # the examples read them
    check_particles(program)
    check_climate()
    check_loader()
    print("particles, climate and loader agree with NumPy")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main()
