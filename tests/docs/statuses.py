#!/usr/bin/env python3
"""Checks docs/error-cookbook.md and docs/environment.md against the header, the sources and the library.

usage: statuses.py LIBRARY            reports missing or outdated entries; exits 1 if it finds any
       statuses.py --update LIBRARY   writes today's messages into the cookbook

Every status of include/gpumem.h has a heading in the cookbook. The first text block below a heading is its example message. A message
that a host context can give is produced here and compared. Any other message must match its format string in the sources.
docs/environment.md has one row for every environment variable that the sources read.
"""

import ctypes
import os
import pathlib
import re
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COOKBOOK = ROOT / "docs/error-cookbook.md"
ENVIRONMENT = ROOT / "docs/environment.md"
READ = re.compile(r"""\b(?:secure_getenv|getenv|variable|from_environment|env::var|env::var_os|environ\.get)\(\s*(?:::)?"(\w+?)(?:\\0)?\"""")
LOOPED = re.compile(r"\bfor \(const char\* name : \{([^}]*)\}\) \{\s*std::string value = variable")
FAMILIES = "GPUMEM_VARIANT_"  # followed by the name of an operation
DEVICE_HOST, SUM, MIN, TRANSPOSE, I32 = -1, 0, 1, 2, 4  # of the header
Send = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32,
                        ctypes.POINTER(ctypes.c_void_p))
Test = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int32))
Task = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)
ParallelFor = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, Task, ctypes.c_void_p)


class CtxOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_int64), ("device", ctypes.c_int32), ("host_threads", ctypes.c_int32),
                ("non_blocking_stream", ctypes.c_int32), ("reserved0", ctypes.c_int32), ("parallel_for", ParallelFor),
                ("parallel_for_user", ctypes.c_void_p), ("stream_host_data", ctypes.c_int32), ("reserved1", ctypes.c_int32),
                ("device_memory_limit", ctypes.c_int64), ("pinned_memory_kept", ctypes.c_int64),
                ("debug_memory", ctypes.c_int32)]  # fmt: skip


class Transport(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_int64), ("user", ctypes.c_void_p), ("rank", ctypes.c_int32), ("size", ctypes.c_int32),
                ("isend", Send), ("irecv", Send), ("test", Test), ("release", ctypes.c_void_p)]  # fmt: skip


class DistOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_int64), ("contexts", ctypes.POINTER(ctypes.c_void_p)), ("members", ctypes.c_int32),
                ("reserved0", ctypes.c_int32), ("transport", ctypes.POINTER(Transport)),
                ("deadline_s", ctypes.c_double)]  # fmt: skip


class Wrong(Exception):
    pass


class Library:
    def __init__(self, path):
        self.functions = ctypes.CDLL(str(path))
        self.functions.gpumem_status_name.restype = ctypes.c_char_p

    def call(self, name, *arguments):
        """Numbers are int64_t by default."""
        passed = [ctypes.c_int64(each) if isinstance(each, int) else each for each in arguments]
        return getattr(self.functions, f"gpumem_{name}")(*passed)

    def made(self, name, *arguments):
        handle = ctypes.c_void_p()
        if self.call(name, *arguments, ctypes.byref(handle)):
            raise Wrong(f"gpumem_{name}: {self.message()}")
        return handle

    def message(self):
        text = ctypes.create_string_buffer(512)
        self.call("last_error", text, 512, None)
        return text.value.decode()

    def filled(self, struct, init):
        self.call(init, ctypes.byref(struct), ctypes.sizeof(struct))
        return struct

    def options(self, **fields):
        options = self.filled(CtxOptions(), "ctx_options_init")
        options.device = DEVICE_HOST
        for name, value in fields.items():
            setattr(options, name, value)
        return options

    def context(self, **fields):
        return self.made("ctx_create", ctypes.byref(self.options(**fields)))

    def failure(self, name, *arguments):
        status = self.call(name, *arguments)
        return self.functions.gpumem_status_name(ctypes.c_int32(status)).decode(), self.message()


# ------------------------------------------------------------------------------------------- messages of a host context


def int32(value):
    return ctypes.c_int32(value)


def of_arguments(library, ctx, x, y):
    out = ctypes.c_double()
    wide = (ctypes.c_int64 * 2)(2**62, 2**62)
    total = ctypes.c_int64()
    yield library.failure("reduce_f64", ctx, int32(SUM), x, -100, 1, ctypes.byref(out))
    yield library.failure("reduce_f64", ctx, int32(MIN), x, 0, 1, ctypes.byref(out))
    yield library.failure("reduce_i64", ctx, int32(SUM), wide, 2, 1, ctypes.byref(total))
    yield library.failure("transpose", ctx, 4, 100, 50, x, 50, x, 101)
    yield library.failure("variant_force", ctx, int32(TRANSPOSE), b"fastest")
    yield library.failure("alloc_pinned", ctx, 2**60, ctypes.byref(ctypes.c_void_p()))
    yield library.failure("tuning_load", ctx, b"/no/such/file", None, None)
    index = (ctypes.c_int32 * 3)(0, 1, 7)
    yield library.failure("gather", ctx, 8, x, 5, 8, int32(I32), index, 3, y, 8)


def of_handles_and_memory(library, ctx):
    p = library.made("alloc_pinned", ctx, 4096)
    library.call("free", ctx, p)
    yield library.failure("free", ctx, p)
    stream = library.made("stream_create", ctx)
    yield library.failure("ctx_destroy", ctx)
    library.call("stream_destroy", stream)
    yield library.failure("stream_synchronize", ctx, stream)
    debugged = library.context(debug_memory=1)
    p = library.made("alloc_pinned", debugged, 4000)
    library.call("memory_label", debugged, p, b"pressure")
    ctypes.memset(p.value + 4000, 0, 8)
    yield library.failure("free", debugged, p)
    library.call("ctx_destroy", debugged)


def of_running_work(library, x, y):
    """A pool that waits for a request keeps the stream busy."""
    asked = threading.Event()

    @ParallelFor
    def waits(_, tasks, task, state):
        asked.wait()
        for i in range(tasks):
            task(state, i)

    ctx = library.context(parallel_for=waits)
    start, end = library.made("event_create", ctx), library.made("event_create", ctx)
    large = (ctypes.c_char * (64 << 20))()
    library.call("fill_async", ctx, large, b"abcd", 4, len(large) // 4, None)
    library.call("event_record", ctx, start, None)
    library.call("event_record", ctx, end, None)
    yield library.failure("event_elapsed", start, end, ctypes.byref(ctypes.c_double()))
    asked.set()
    library.call("ctx_synchronize", ctx)
    for event in (start, end):
        library.call("event_destroy", event)
    library.call("ctx_destroy", ctx)


def of_a_child(library, ctx):
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, "\n".join(library.failure("ctx_synchronize", ctx)).encode())
        os._exit(0)
    os.wait()
    yield tuple(os.read(read, 4096).decode().split("\n"))


def dist_of(library, ctx, transport=None, deadline=60.0):
    options = library.filled(DistOptions(), "dist_options_init")
    contexts = (ctypes.c_void_p * 1)(ctx.value)
    options.contexts, options.members, options.deadline_s = contexts, 1, deadline
    if transport is not None:
        options.transport = ctypes.pointer(transport)
    return options, contexts


class Layout(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_int64), ("element_bytes", ctypes.c_int64), ("rank", ctypes.c_int32),
                ("reserved0", ctypes.c_int32), ("extents", ctypes.c_void_p), ("boxes", ctypes.c_int64),
                ("members", ctypes.c_void_p), ("lower", ctypes.c_void_p), ("upper", ctypes.c_void_p),
                ("offsets", ctypes.c_void_p), ("strides", ctypes.c_void_p)]  # fmt: skip


def of_processes(library, ctx):
    options, _ = dist_of(library, ctx)
    dist = library.made("dist_create", ctypes.byref(options))
    layout = library.filled(Layout(), "dist_layout_init")
    ends = (ctypes.c_int64 * 2)(0, 8)
    at = ctypes.addressof(ends)
    layout.element_bytes, layout.rank, layout.boxes = 8, 1, 1
    layout.extents, layout.lower, layout.upper = at + 8, at, at + 8
    library.call("dist_abort", dist)
    plan = ctypes.c_void_p()
    yield library.failure("dist_plan_reduce", dist, ctypes.byref(layout), None, ctypes.byref(plan))
    library.call("dist_destroy", dist)

    begin = Send(lambda *_: 0)
    transport = library.filled(Transport(), "dist_transport_init")
    transport.rank, transport.size = 0, 2
    transport.isend, transport.irecv, transport.test = begin, begin, Test(lambda *_: 0)  # nothing ever ends
    options, _ = dist_of(library, ctx, transport, 0.2)
    yield library.failure("dist_create", ctypes.byref(options), ctypes.byref(ctypes.c_void_p()))


def produced(library):
    """The first message of each status that a host context gives."""
    for variable in [name for name in os.environ if name.startswith("GPUMEM_")]:
        del os.environ[variable]
    found = {}
    ctx = library.context()
    x, y = (ctypes.c_double * 10000)(), (ctypes.c_double * 10000)()
    for each in (of_arguments(library, ctx, x, y), of_handles_and_memory(library, ctx), of_running_work(library, x, y),
                 of_a_child(library, ctx), of_processes(library, ctx)):  # fmt: skip
        for status, message in each:
            found.setdefault(status, message)
    library.call("ctx_destroy", ctx)
    return found


# ------------------------------------------------------------------------------------------------------------- the pages


def sections(text):
    """Status: its part of the page."""
    parts = re.split(r"^#{2,3} `?(GPUMEM_\w+)`?.*$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def statuses():
    header = (ROOT / "include/gpumem.h").read_text(encoding="utf-8")
    block = re.search(r"typedef int32_t gpumem_status;\nenum \{(.*?)\};", header, re.S)[1]
    return re.findall(r"^  (GPUMEM_\w+) = ", block, re.M)


def example(part):
    match = re.search(r"^```text\n(.*?)\n```$", part, re.M | re.S)
    return match[1] if match else None


def comparable(message):
    """Addresses, and how much memory a machine has, differ."""
    return re.sub(r"\d+ are available", "N are available", re.sub(r"0x[0-9a-f]+", "0x", message))


def fixed_parts(format_string):
    return [part for part in re.split(r"%(?:\.\*|\.\d+)?(?:ll|z)?[dpusx]", format_string) if part.strip()]


def literals(text):
    """String literals of C++, with neighbours joined."""
    for run in re.findall(r'(?:"(?:[^"\\\n]|\\.)*"\s*)+', text):
        yield "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', run))


def is_in_sources(message, file):
    """Whether the message has all fixed parts of one format string of that file, the longest of at least 15 characters."""
    for literal in literals((ROOT / file).read_text(encoding="utf-8")):
        parts = fixed_parts(literal)
        if parts and max(map(len, parts)) >= 15 and all(part in message for part in parts):
            return True
    return False


def of_cookbook(library, update):
    text = COOKBOOK.read_text(encoding="utf-8")
    of, messages = sections(text), produced(library)
    for status in statuses():
        if status not in of:
            yield f"{status} has no heading in docs/error-cookbook.md"
            continue
        shown = example(of[status])
        source = re.search(r"From `(src/[^`]+)`", of[status])
        if status in messages:
            if shown is None or comparable(shown) != comparable(messages[status]):
                if update and shown is not None:
                    text = text.replace(of[status], of[status].replace(shown, messages[status], 1))
                else:
                    yield f"{status}: the library says '{messages[status]}', the cookbook '{shown}'"
        elif shown is not None and (source is None or not is_in_sources(shown, source[1])):
            yield f"{status}: no message of {source[1] if source else 'any named source'} is '{shown}'"
    for status in of.keys() - set(statuses()):
        yield f"docs/error-cookbook.md has a heading for {status}, and the header has no such status"
    if update:
        COOKBOOK.write_text(text, encoding="utf-8")


def variables_read():
    listed = subprocess.run(["git", "ls-files", "src", "bindings", "tools"], cwd=ROOT, capture_output=True, text=True)
    names = listed.stdout.split() or [str(path.relative_to(ROOT)) for folder in ("src", "bindings", "tools")
                                      for path in (ROOT / folder).rglob("*")]  # fmt: skip
    for name in names:
        path = ROOT / name
        if path.suffix not in (".cpp", ".hpp", ".c", ".h", ".py", ".rs", ".f90") or "/tests/" in f"/{name}":
            continue
        text = path.read_text(encoding="utf-8", errors="ignore")
        yield from READ.findall(text)
        for loop in LOOPED.findall(text):
            yield from re.findall(r'"(\w+)"', loop)
        if re.search(rf'= "{FAMILIES}"', text):
            yield FAMILIES + "<OPERATION>"


def of_environment():
    rows = [line for line in ENVIRONMENT.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    known = {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])}
    read = set(variables_read())
    if len(read) < 10:
        yield f"only {len(read)} variables were found in the sources: the search is wrong"
    yield from (f"{name} is read by the sources, and has no row in docs/environment.md" for name in sorted(read - known))
    yield from (f"docs/environment.md has {name}, and the sources read no such variable" for name in sorted(known - read))


def main():
    update = sys.argv[1:2] == ["--update"]
    library = Library(pathlib.Path(sys.argv[-1]).resolve())
    found = [*of_cookbook(library, update), *of_environment()]
    for finding in found:
        print(finding)
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main())
