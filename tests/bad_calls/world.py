"""A context and the objects that calls on it need."""

import collections
import ctypes
import mmap
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bindings"))
import header  # noqa: E402
import table  # noqa: E402

MODEL = header.read()
STATUS = {c["name"][7:]: c["value"] for c in MODEL["constants"] if c["type"] == "gpumem_status"}
NAME = {value: name for name, value in STATUS.items()}
ENUMS = collections.defaultdict(set)
for constant in MODEL["constants"]:
    ENUMS[constant["type"]].add(constant["value"])
BLOCK = 4096
STRUCTS = {struct["name"]: struct for struct in MODEL["structs"]}


class World:
    """A context with memory of each kind, a stream and an event. Also destroyed objects, and objects of another context."""

    def __init__(self, library, device, debug):
        self.library = library
        self.device = device
        self.ctx = self.context(debug)
        other = self.context(debug)
        self.stream, self.event = self.made("gpumem_stream_create", self.ctx), self.made("gpumem_event_create", self.ctx)
        self.ok("gpumem_event_record", self.ctx, self.event, None)
        self.later = self.made("gpumem_event_create", self.ctx)
        self.ok("gpumem_event_record", self.ctx, self.later, None)
        self.ok("gpumem_ctx_synchronize", self.ctx)
        foreign = self.made("gpumem_stream_create", other)
        dead = self.made("gpumem_stream_create", self.ctx)
        self.ok("gpumem_stream_destroy", ctypes.c_void_p(dead))
        gone = self.context(debug)
        self.ok("gpumem_ctx_destroy", ctypes.c_void_p(gone))
        self.make_dist()
        garbage = [1, 0x1234, 2**63, 2**64 - 1, 0x0123456789ABCDEF, dead, gone]
        self.bad_handles = {
            "gpumem_ctx*": [*garbage, self.stream, self.event],
            "gpumem_stream*": [*garbage, self.ctx, self.event],
            "gpumem_event*": [*garbage, self.ctx, self.stream],
            "gpumem_dist*": [*garbage, self.ctx, self.plan],
            "gpumem_dist_plan*": [*garbage, self.ctx, self.dist],
        }
        self.foreign = foreign
        self.blocks = {name: self.block() for name in sorted(table.READ | table.WRITTEN | {"index", "p", "status"})}
        self.freed = None
        self.free_one()
        for name, values in {"offsets": (0, 4, 16), "index": (0x100000000, 0x300000002)}.items():
            words = (ctypes.c_int64 * len(values))(*values)
            self.ok("gpumem_copy", self.ctx, self.blocks[name], words, ctypes.c_int64(ctypes.sizeof(words)))
        self.managed = self.allocated("gpumem_alloc_managed")
        self.pattern = ctypes.create_string_buffer(64)
        self.pages = mmap.mmap(-1, 2 * BLOCK)
        self.page = ctypes.addressof(ctypes.c_char.from_buffer(self.pages))
        self.read_only = read_only_page()
        self.out = ctypes.create_string_buffer(1024)
        self.one_x, self.one_y, self.one_dst = ([self.blocks[name]] for name in ("x", "y", "dst"))
        self.two_images, self.two_results = ([self.blocks[name], self.blocks[name] + 128] for name in ("src", "dst"))
        self.contents = self.seen()

    def make_dist(self):
        """One participant with an array of 8 elements of 4 bytes, and a plan of each kind that is executed."""
        self.kept = [(ctypes.c_int64 * 1)(value) for value in (self.ctx, 8, 0, 8)]
        self.contexts, self.extents, self.lower, self.upper = map(ctypes.addressof, self.kept)
        self.dist = self.made("gpumem_dist_create", self.filled("gpumem_dist_options"))
        layout = self.filled("gpumem_dist_layout")
        self.plan, self.reduce_plan = ctypes.c_void_p(), ctypes.c_void_p()
        self.ok("gpumem_dist_plan_redistribute", self.dist, layout, layout, None, None, ctypes.byref(self.plan))
        self.ok("gpumem_dist_plan_reduce", self.dist, layout, None, ctypes.byref(self.reduce_plan))
        self.plan, self.reduce_plan = self.plan.value, self.reduce_plan.value

    def filled(self, kind, changes=()):
        """The struct of a valid call. The members that are addresses have the names of their objects."""
        members = {**table.MEMBERS.get(kind, {}), **dict(changes)}
        return filled(kind, {name: getattr(self, v) if isinstance(v, str) else v for name, v in members.items()})

    def context(self, debug):
        members = {"device": self.device, "host_threads": 2, "debug_memory": debug, "pinned_memory_kept": -1}
        return self.made("gpumem_ctx_create", filled("gpumem_ctx_options", members))

    def made(self, function, argument):
        handle = ctypes.c_void_p()
        self.ok(function, argument, ctypes.byref(handle))
        return handle.value

    def allocated(self, function):
        p = ctypes.c_void_p()
        self.ok(function, self.ctx, ctypes.c_int64(BLOCK), ctypes.byref(p))
        pattern = ctypes.c_char(0)
        self.ok("gpumem_fill", self.ctx, p, ctypes.byref(pattern), ctypes.c_int64(1), ctypes.c_int64(BLOCK))
        return p.value

    def block(self):
        return self.allocated("gpumem_alloc_device")

    def free_one(self):
        """A freed block. The library remembers the last few thousand, so each function receives its own."""
        self.freed = self.block()
        self.ok("gpumem_free", self.ctx, ctypes.c_void_p(self.freed))
        reserve(self.freed)

    def ok(self, function, *arguments):
        arguments = [ctypes.c_void_p(a) if isinstance(a, int) else a for a in arguments]
        status = getattr(self.library, function)(*arguments)
        if status != 0:
            raise SystemExit(f"{function} gave {NAME[status]}: {sentence(self.library)}")

    def seen(self):
        """All memory that calls could write to."""
        found = b""
        copy = ctypes.create_string_buffer(BLOCK)
        for p in [*self.blocks.values(), self.managed]:
            self.ok("gpumem_copy", self.ctx, copy, p, ctypes.c_int64(BLOCK))
            found += copy.raw
        return found + self.pages[:]


def read_only_page():
    """mmap.mmap gives no address of memory that is not writable."""
    system = ctypes.CDLL(None).mmap
    system.restype = ctypes.c_void_p
    return system(None, ctypes.c_size_t(BLOCK), mmap.PROT_READ, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, ctypes.c_long(0))


def reserve(address):
    """Keeps an address range that was returned to the system from being mapped again."""
    no_access, fixed_noreplace = 0, 0x100000
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | fixed_noreplace
    start = ctypes.c_void_p(address // BLOCK * BLOCK)
    ctypes.CDLL(None).mmap(start, ctypes.c_size_t(BLOCK), no_access, flags, -1, ctypes.c_long(0))


def set_member(struct, kind, name, value):
    member = next(m for m in STRUCTS[kind]["members"] if m["name"] == name)
    struct[member["offset"] : member["offset"] + member["size"]] = (value % 2 ** (8 * member["size"])).to_bytes(
        member["size"], "little"
    )


def struct_of(kind):
    name = kind.removeprefix("const ").rstrip("*")
    return name if name in STRUCTS else None


def filled(kind, members):
    struct = ctypes.create_string_buffer(STRUCTS[kind]["size"])
    for name, value in {"struct_size": len(struct), **members}.items():
        set_member(struct, kind, name, value)
    return struct


def sentence(library):
    buffer = ctypes.create_string_buffer(2048)
    library.gpumem_last_error(buffer, ctypes.c_int64(len(buffer)), None)
    return buffer.value.decode(errors="replace")
