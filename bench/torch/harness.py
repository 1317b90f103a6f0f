"""Shared by the scripts of this folder: the library through ctypes, and a timer that compares calls.

A CUDA graph has ten copies of one call. A sample replays it for some milliseconds. Samples of the calls alternate, and the
median of each call counts.
"""

import ctypes
import statistics

import torch

I32, I64, PTR = ctypes.c_int32, ctypes.c_int64, ctypes.c_void_p
CALLS = 10


class Library:
    """libgpumem, a context, and a PyTorch stream that both use. call("reduce_async", ...) raises if the call fails."""

    def __init__(self, path, signatures):
        self.lib = ctypes.CDLL(path)
        for name, types in signatures.items():
            getattr(self.lib, "gpumem_" + name).argtypes = types
        self.lib.gpumem_stream_wrap.argtypes = [PTR, PTR, PTR]
        self.lib.gpumem_last_error.argtypes = [ctypes.c_char_p, I64, PTR]
        self.ctx = PTR()
        self.check(self.lib.gpumem_ctx_create(None, ctypes.byref(self.ctx)))
        self.stream = torch.cuda.Stream()
        self.wrapped = PTR()
        self.check(self.lib.gpumem_stream_wrap(self.ctx, self.stream.cuda_stream, ctypes.byref(self.wrapped)))

    def check(self, status):
        if status == 0:
            return
        text = ctypes.create_string_buffer(1024)
        self.lib.gpumem_last_error(text, 1024, None)
        raise RuntimeError(f"status {status}: {text.value.decode()}")

    def call(self, name, *arguments):
        self.check(getattr(self.lib, "gpumem_" + name)(self.ctx, *arguments))


def graph_of(stream, call):
    with torch.cuda.stream(stream):
        call()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(CALLS):
                call()
    return graph


def sample(stream, run, times):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(stream):
        start.record(stream)
        for _ in range(times):
            run()
        end.record(stream)
    end.synchronize()
    return start.elapsed_time(end) * 1e3 / (times * CALLS)


def several(call):
    """As a graph does, without one: for a call that waits for the device."""
    def run():
        for _ in range(CALLS):
            call()
    return run


def timed(stream, calls, samples, captured=True):
    """The median microseconds of each call. Samples of the calls alternate."""
    runs = [graph_of(stream, call).replay if captured else several(call) for call in calls]
    replays = []
    for run in runs:
        sample(stream, run, 1)
        replays.append(max(1, min(200, int(4e3 / (CALLS * sample(stream, run, 1))))))
    taken = [[] for _ in runs]
    for _ in range(samples):
        for i, run in enumerate(runs):
            taken[i].append(sample(stream, run, replays[i]))
    return [statistics.median(t) for t in taken]
