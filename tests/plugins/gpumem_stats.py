"""The statistics of the process's context in libgpumem.so, for the tests of the allocators."""

import ctypes
import sys

SKIPPED = 77

# The members of gpumem_memory_stats_info after struct_size, in order.
MEMBERS = """
device_bytes device_blocks device_peak_bytes pinned_bytes pinned_blocks pinned_peak_bytes
managed_bytes managed_blocks managed_peak_bytes allocations frees
device_reserved_bytes device_reserved_peak_bytes pinned_reserved_bytes pinned_reserved_peak_bytes
device_allocations pinned_allocations managed_allocations device_hits device_misses pinned_hits pinned_misses
registered_bytes registered_ranges
""".split()


class MemoryStats(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ["struct_size", *MEMBERS]]


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


class Library:
    """libgpumem.so, the same copy that the package loads."""

    def __init__(self, path):
        self.path = path
        self.functions = ctypes.CDLL(path)

    def address(self, function):
        return ctypes.cast(getattr(self.functions, function), ctypes.c_void_p).value

    def last_error(self):
        sentence = ctypes.create_string_buffer(512)
        self.functions.gpumem_last_error(sentence, ctypes.c_int64(len(sentence)), None)
        return sentence.value.decode()

    def check(self, status):
        if status != 0:
            raise RuntimeError(f"status {status}: {self.last_error()}")

    def stats(self, device=0):
        context = ctypes.c_void_p()
        self.check(self.functions.gpumem_shared_ctx(ctypes.c_int32(device), ctypes.byref(context)))
        stats = MemoryStats()
        size = ctypes.c_int64(ctypes.sizeof(stats))
        self.check(self.functions.gpumem_memory_stats_init(ctypes.byref(stats), size))
        self.check(self.functions.gpumem_memory_stats(context, ctypes.byref(stats)))
        return stats


def expect(condition, what):
    if not condition:
        sys.exit(f"failed: {what}")
