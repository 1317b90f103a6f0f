#!/usr/bin/env python3
"""CuPy on gpumem's pool. Results are the same as with CuPy's own pool, the memory comes from gpumem, and all of it is freed.

usage: cupy_test.py LIBGPUMEM_SO
"""

import gc
import hashlib
import sys

from gpumem_stats import Library, expect, skip

STREAMS = 3
ROUNDS = 20
LEGACY_STREAM = 1  # cudaStreamLegacy


def work(cupy, streams):
    """Elementwise work, each round on the next stream. Returns the bytes of the results."""
    digest = hashlib.sha256()
    results = []
    for round_ in range(ROUNDS):
        with streams[round_ % len(streams)]:
            x = cupy.arange(257 * (257 + round_), dtype=cupy.int64).reshape(257, -1)
            y = cupy.ascontiguousarray((x * 3 + round_).T)
            results.append((y * y - 7) % 1000003)
        del x, y
    for stream in streams:
        stream.synchronize()
    for result in results:
        digest.update(cupy.asnumpy(result).tobytes())
    return digest.hexdigest()


def run(cupy, library, param, streams, expected):
    """The work with one kind of allocator. param: 0 for every stream, or one stream's number."""
    before = library.stats()
    allocator = cupy.cuda.memory.CFunctionAllocator(
        param, library.address("gpumem_cupy_malloc"), library.address("gpumem_cupy_free"), library)
    cupy.cuda.set_allocator(allocator.malloc)
    block = cupy.zeros(1 << 20, dtype=cupy.uint8)
    during = library.stats()
    expect(during.device_bytes >= before.device_bytes + (1 << 20), "an array's memory is not gpumem's")
    expect(cupy.empty(0).size == 0, "an array of no elements can't be made")
    del block
    for _ in range(3):
        found = work(cupy, streams)
        expect(found == expected, f"the results differ from those of CuPy's own pool: {found}, not {expected}")
    gc.collect()
    cupy.cuda.set_allocator(cupy.get_default_memory_pool().malloc)
    after = library.stats()
    expect(after.device_blocks == before.device_blocks, f"{after.device_blocks} blocks were not given back")
    expect(after.device_allocations > during.device_allocations, "gpumem was not asked for the arrays' memory")
    print(f"param {param}: {after.device_allocations - before.device_allocations} allocations, "
          f"{after.device_hits - before.device_hits} without new memory")


def main():
    try:
        import cupy
    except ImportError as error:
        skip(f"CuPy can't be imported: {error}")
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        skip(f"CuPy finds no GPU: {error}")
    if count == 0:
        skip("CuPy finds no GPU")
    library = Library(sys.argv[1])
    default = [cupy.cuda.Stream.null]
    several = [cupy.cuda.Stream(non_blocking=True) for _ in range(STREAMS)]
    expected = work(cupy, default)
    run(cupy, library, 0, several, expected)
    run(cupy, library, LEGACY_STREAM, default, expected)
    with several[0] as own:
        run(cupy, library, own.ptr, [own], expected)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
