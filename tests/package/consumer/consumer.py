"""The same as consumer.c, with the Python package."""

import array

import gpumem

with gpumem.Context() as ctx:
    assert ctx.reduce(array.array("i", [1, -20, 300]), "sum") == 281
print("gpumem", gpumem.__file__)
