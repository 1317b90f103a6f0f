"""Makes a batch for a neural network from pictures of any size: resized, in planes, and normalised to f16 or f32.

usage: loader.py f16|f32 [PICTURE.npy ...]    of uint8 with the axes row, column and channel; by default three from a formula
"""

import sys

import gpumem
import numpy as np

SIZE = 224, 224
MEAN, DEVIATION = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])  # of the pictures of ImageNet, from 0 to 1


def pictures():
    if len(sys.argv) > 2:
        read = [np.load(path) for path in sys.argv[2:]]
        if any(picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8 for picture in read):
            sys.exit("loader.py: a file is not of uint8 with three channels")
        return read
    return [made(rows, columns) for rows, columns in ((240, 320), (300, 200), (224, 224))]


def made(rows, columns):
    row, column, channel = np.ogrid[:rows, :columns, :3]
    return ((row * (channel + 1) + column * (3 - channel)) // 4 % 256).astype(np.uint8)


class Loader:
    """Makes batches of one size and type."""

    def __init__(self, ctx, size, dtype):
        self.ctx, self.size, self.dtype = ctx, size, dtype
        # (pixel / 255 - mean) / deviation as (pixel + offset) * scale, for each channel
        self.scale = ctx.array(1 / (255 * DEVIATION[:, None, None]))
        self.offset = ctx.array(-255 * MEAN[:, None, None])

    def batch(self, pictures):
        """A device array with the axes picture, channel, row and column."""
        copies = [self.ctx.array(picture) for picture in pictures]
        resized = self.ctx.resize(copies, self.size, "bilinear")
        planes = self.ctx.permute(resized, (0, 3, 1, 2))
        return self.ctx.convert_scaled(planes, self.dtype, scale=self.scale, offset=self.offset)


def main():
    dtype = sys.argv[1] if len(sys.argv) > 1 else "f32"
    with gpumem.Context() as ctx:
        batch = Loader(ctx, SIZE, dtype).batch(pictures())
        count, channels, rows, columns = batch.shape
        sums = ctx.reduce(batch.reshape(count * channels, rows * columns), axis=1)
        means = np.array(sums.tolist()).reshape(count, channels) / (rows * columns)
        print(f"{batch.shape} of {batch.dtype}")
        for picture, mean in enumerate(means):
            print(f"picture {picture}: means of the channels", *(f"{value:.3f}" for value in mean))


if __name__ == "__main__":
    try:
        main()
    except (gpumem.Error, OSError, ValueError) as error:
        sys.exit(f"loader.py: {error}")
