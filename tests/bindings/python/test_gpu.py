"""Tests with a GPU, and with arrays of PyTorch and CuPy if they are installed. Run by name. Without a GPU, all are skipped."""

import unittest

import gpumem


def cuda(**options):
    try:
        return gpumem.Context("cuda", **options)
    except gpumem.Error as error:
        raise unittest.SkipTest(f"no CUDA context: {error}") from None


def module(name):
    try:
        return __import__(name)
    except ImportError:
        raise unittest.SkipTest(f"{name} is not installed") from None


def test_memory_of_the_device():
    with cuda() as ctx:
        a = ctx.full((1000, 1000), 0.5, "f32")
        assert ctx.reduce(a) == 500000 and a.on_device and a.device == ctx.device.device
        assert ctx.transpose(a[:10]).tolist() == [[0.5] * 10] * 1000
        s = ctx.Stream()
        b = ctx.axpby(2, a, 1, a, stream=s)
        total = ctx.reduce(b, stream=s)
        s.synchronize()
        assert total.tolist() == 1500000 and b[999, 999].item() == 1.5
        m = ctx.full(1000, 3, "i64", "managed")
        assert ctx.reduce(m) == 3000 and memoryview(m)[999] == 3
        assert gpumem.variants("reduce")


def test_callbacks_of_the_device():
    messages = []
    with cuda(log=lambda level, text: messages.append(text)) as ctx:
        import array

        x = array.array("d", range(100000))
        s = ctx.Stream()
        total = ctx.reduce(x, stream=s)  # by a host function in the stream's order
        s.synchronize()
        assert total.item() == sum(x)


def torch_and_context():
    torch = module("torch")
    if not torch.cuda.is_available():
        raise unittest.SkipTest("PyTorch finds no GPU")
    return torch, cuda()


def test_tensors_in():
    torch, ctx = torch_and_context()
    with ctx:
        for dtype, expected in ((torch.int32, 45), (torch.float32, 45.0), (torch.bfloat16, 45.0), (torch.float16, 45.0)):
            for device in ("cuda", "cpu"):
                x = torch.arange(10, device=device).to(dtype)
                assert ctx.reduce(x) == expected, (dtype, device)
                assert ctx.asarray(x).address == x.data_ptr()
                assert ctx.asarray(x).tolist() == list(range(10))
        m = torch.arange(6.0, device="cuda").reshape(2, 3)
        out = torch.zeros(3, 2, device="cuda")
        assert ctx.transpose(m, out) is out and torch.equal(out, m.T)
        assert ctx.reduce(m.T, axis=0).tolist() == [3, 12]
        assert ctx.reduce(m.T) == 15


def test_tensors_out():
    torch, ctx = torch_and_context()
    with ctx:
        for kind in ("device", "managed", "pinned"):
            a = ctx.full((3, 4), 2.5, "f32", kind)
            t = torch.from_dlpack(a)
            assert t.shape == (3, 4) and t.data_ptr() == a.address and float(t.sum()) == 30, kind
            assert t.device.type == ("cpu" if kind == "pinned" else "cuda")
            t += 1
            torch.cuda.synchronize()
            assert ctx.reduce(a) == 42
        b = ctx.full(4, 1.5, "bf16")
        assert torch.from_dlpack(b).dtype == torch.bfloat16
        assert torch.as_tensor(a.memory and ctx.full(3, 2, "i32"), device="cuda").sum() == 6  # by the CUDA array interface
        assert torch.from_dlpack(ctx.array(torch.arange(4.0))[1:]).tolist() == [1, 2, 3]


def test_order_with_streams_of_pytorch():
    torch, ctx = torch_and_context()
    with ctx:
        n = 1 << 26
        side = torch.cuda.Stream()
        for _ in range(3):
            with torch.cuda.stream(side):
                x = torch.zeros(n, device="cuda")
                for _ in range(20):
                    x += 1
                assert ctx.reduce(x) == 20.0 * n  # DLPack orders the context's stream behind the side stream
            s = ctx.Stream()
            a = ctx.zeros(n, "f32", stream=s)
            for _ in range(20):
                ctx.axpby(1, a, 0, None, a, stream=s)
            ctx.fill(a, 3, stream=s)
            with torch.cuda.stream(side):
                assert float(torch.from_dlpack(a).sum(dtype=torch.float64)) == 3.0 * n
            wrapped = ctx.Stream(native=side)
            with torch.cuda.stream(side):
                y = torch.full((n,), 2.0, device="cuda")
                total = ctx.reduce(y, stream=wrapped)
                z = torch.from_dlpack(ctx.axpby(2, y, stream=wrapped)) + 1
            wrapped.synchronize()
            assert total.tolist() == 2.0 * n and float(z[-1]) == 5
        non_blocking = cuda(non_blocking_stream=True)
        with torch.cuda.stream(side):
            x.fill_(1)
            assert non_blocking.reduce(x) == n


def cupy_and_context():
    cupy = module("cupy")
    return cupy, cuda()


def test_arrays_of_cupy_in():
    cupy, ctx = cupy_and_context()
    with ctx:
        for dtype in ("int8", "uint16", "int32", "uint64", "float16", "float32", "float64"):
            x = cupy.arange(10).astype(dtype)
            assert ctx.reduce(x) == 45 and ctx.asarray(x).address == x.data.ptr
        m = cupy.arange(24.0).reshape(2, 3, 4)
        assert cupy.array_equal(cupy.asarray(ctx.permute(m, (2, 0, 1))), m.transpose(2, 0, 1))

        class InterfaceAlone:
            __cuda_array_interface__ = cupy.arange(5).__cuda_array_interface__
            kept = cupy.arange(5)

        InterfaceAlone.__cuda_array_interface__ = InterfaceAlone.kept.__cuda_array_interface__
        assert ctx.reduce(InterfaceAlone()) == 10


def test_arrays_of_cupy_out():
    cupy, ctx = cupy_and_context()
    with ctx:
        for kind in ("device", "managed"):
            a = ctx.full((3, 4), 2, "i32", kind)
            for seen in (cupy.from_dlpack(a), cupy.asarray(a)):
                assert seen.data.ptr == a.address and int(seen.sum()) == 24, kind
            part = a[:, ::2]
            assert cupy.asarray(part).shape == (3, 2) and int(cupy.from_dlpack(part).sum()) == 12
        pinned = ctx.full(5, 3, "i32", "pinned")
        assert int(cupy.asarray(pinned.numpy()).sum()) == 15


def test_order_with_streams_of_cupy():
    cupy, ctx = cupy_and_context()
    with ctx:
        n = 1 << 26
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            x = cupy.zeros(n, cupy.float32)
            for _ in range(20):
                x += 1
            assert ctx.reduce(x) == 20.0 * n
            total = ctx.reduce(x, stream=ctx.Stream(native=stream))
        stream.synchronize()
        assert total.tolist() == 20.0 * n
        a = ctx.zeros(n, "f32")
        ctx.fill(a, 7, stream=ctx.Stream())
        with stream:
            assert float(cupy.from_dlpack(a).sum(dtype=cupy.float64)) == 7.0 * n


def test_allocators():
    cupy, ctx = cupy_and_context()
    before = gpumem.Context.process_wide(0).memory_stats().device_allocations
    cupy.cuda.set_allocator(gpumem.cupy_allocator())
    try:
        x = cupy.arange(1000)
        assert int(x.sum()) == 499500
        assert gpumem.Context.process_wide(0).memory_stats().device_allocations > before
        del x
    finally:
        cupy.cuda.set_allocator(cupy.get_default_memory_pool().malloc)


def test_graph_memory():
    cupy, ctx = cupy_and_context()
    stream = cupy.cuda.Stream(non_blocking=True)
    memory = gpumem.GraphMemory()
    cupy.cuda.set_allocator(gpumem.cupy_allocator(stream.ptr))
    try:
        with stream:
            x = cupy.arange(100000)
            result = x * 3 + 1  # compiles the kernels
            stream.synchronize()
            with memory:
                stream.begin_capture()
                cupy.copyto(result, x * 3 + 1)
                graph = stream.end_capture()
            for i in range(3):
                x += 1
                other = cupy.full(100000, -1)
                graph.launch(stream)
                assert int(result[0]) == 3 * (i + 1) + 1
                assert int(other.max()) == -1
            del graph, x, result, other
        stream.synchronize()
        memory.release()
        memory.release()
    finally:
        cupy.cuda.set_allocator(cupy.get_default_memory_pool().malloc)


def test_memory_of_a_stream_under_capture():
    cupy, ctx = cupy_and_context()
    stream = cupy.cuda.Stream(non_blocking=True)
    a, b = (ctx.empty(1000, "f32", stream=ctx.Stream(stream)) for _ in range(2))
    blocks = ctx.memory_stats().device_blocks
    del a  # on its stream
    with stream:
        stream.begin_capture()
        del b  # on the context's own
        stream.end_capture()
    assert ctx.memory_stats().device_blocks == blocks - 2
