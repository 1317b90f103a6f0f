"""Means of sea temperatures over time and over area. Places without a value, such as land, are left out.

usage: climate.py [TEMPERATURES.npy]    of int16, with the axes time, latitude and longitude; by default a year from a formula
"""

import sys

import gpumem
import numpy as np

MISSING, DEGREES = -32768, 0.01  # the value of land and ice, and the unit of the other values


def temperatures():
    if len(sys.argv) > 1:
        packed = np.load(sys.argv[1])
        if packed.ndim != 3 or packed.dtype != np.int16 or 0 in packed.shape:
            sys.exit("climate.py: the file is not of int16 with three axes")
        return packed
    month, row, column = np.ogrid[:12, :36, :72]
    north = np.abs(row - 17.5) / 17.5
    packed = (2900 - 3100 * north**2 + 300 * np.sin((month - 3) / 6 * np.pi) * (17.5 - row) / 17.5 + column % 7 * 10).astype(np.int16)
    packed[packed < -180] = MISSING  # ice
    packed[:, (row[0] * 5 + column[0] * 3) % 29 < 12 - row[0] // 4] = MISSING  # land, most of it in the north
    return packed


def means(ctx, packed):
    """The mean of each place, the mean of each time, and the difference of each value from the mean of its place.

    A mean without values is NaN.
    """
    packed = ctx.array(packed)
    times, rows, _ = packed.shape
    latitudes = np.radians(90 - (np.arange(rows) + 0.5) * 180 / rows)
    area = ctx.array(np.cos(latitudes))[:, None]  # of each row, broadcast over the longitudes
    zero = np.float64(0)

    sea = ctx.compare("not_equal", packed, np.int16(MISSING))
    values = ctx.where(sea, ctx.convert_scaled(packed, "f64", scale=DEGREES), zero)
    counts = ctx.convert(ctx.reduce(sea, axis=0), "f64")
    of_places = ctx.map("divide", ctx.reduce(values, axis=0), counts)  # 0 / 0 is NaN

    weights = ctx.where(sea, area, zero)
    weighted = ctx.multiply(values, weights)
    sums = [ctx.reduce(x.reshape(times, -1), axis=1) for x in (weighted, weights)]
    of_times = ctx.map("divide", *sums)

    return of_places, of_times, ctx.map("subtract", values, of_places)


def main():
    packed = temperatures()
    with gpumem.Context() as ctx:
        of_places, of_times, differences = means(ctx, packed)
        for time, mean in enumerate(of_times.tolist()):
            print(f"time {time}: {mean:.3f} degrees")
        there = ctx.compare("equal", of_places, of_places)  # only a NaN differs from itself
        of_sea = ctx.select(of_places.reshape(-1), there.reshape(-1))
        low, high = ctx.reduce(of_sea, "min_max")
        print(f"{of_sea.size} of {of_places.size} places have values, with means from {low:.3f} to {high:.3f} degrees")
        known = ctx.select(differences.reshape(-1), ctx.compare("equal", differences, differences).reshape(-1))
        print(f"largest difference from the mean of a place: {ctx.reduce(known, 'max_abs'):.3f} degrees")


if __name__ == "__main__":
    try:
        main()
    except (gpumem.Error, OSError, ValueError) as error:
        sys.exit(f"climate.py: {error}")
