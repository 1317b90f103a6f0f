"""A valid call of a function, and every mistake in it."""

import collections
import ctypes
import itertools
import re

import table
from world import BLOCK, ENUMS, MODEL, STRUCTS, struct_of

# The classes of refusals.
ARGUMENT = {"INVALID_ARGUMENT"}
HANDLE = {"INVALID_HANDLE"}
POINTER = {"INVALID_POINTER", "OUT_OF_RANGE", "INVALID_ARGUMENT"}
SIZE = {"INVALID_ARGUMENT", "OUT_OF_RANGE"}
ALLOCATION = {"OUT_OF_MEMORY", "INVALID_ARGUMENT"}

# The changed parameters with their values, the permitted statuses, and the names. The error message has one of the names.
Bad = collections.namedtuple("Bad", "changes statuses names")


def around(*powers):
    return [2**power + d for power in powers for d in (-1, 0, 1) if 2**power + d <= table.INT64_MAX]


NEGATIVE = [-1, -2, -(2**31), -(2**31) - 1, -(2**32), -(2**62), -(2**63) + 1, -(2**63)]
LARGE = around(31, 32, 33, 47, 60, 61, 62, 63) + [table.INT64_MAX // k for k in (2, 3, 4, 8, 12, 16, 4096)]
NOWHERE = [1, 8, 64, 2**47, 2**48, 2**63, 2**63 - 8, 2**64 - 1, 2**64 - 8, 2**64 - 4096]


def nullable(function, parameter):
    return any(function.startswith(of) and parameter in names for of, names in table.NULLABLE.items())


def is_handle(kind):
    return kind.rstrip("*") in MODEL["handles"] and kind.count("*") == 1


def is_index_output(function, parameter):
    return parameter == "index" and "argreduce" in function


def is_operand(function, parameter):
    if function.startswith("gpumem_dist"):  # has arrays of them, and results of the host
        return False
    if parameter == "status":
        return function.endswith("_async")
    if parameter == "pattern" or (parameter == "x" and "lincomb" in function):
        return False
    if parameter == "src" and function.startswith("gpumem_resize_2d_batch"):
        return False
    if parameter in ("src", "dst") and function.startswith("gpumem_copy_boxes"):
        return False
    if parameter == "p":
        return not re.search("alloc|malloc", function)
    if parameter == "index":
        return "variant" not in function
    return parameter in table.READ | table.WRITTEN


class Function:
    """A function's parameters, the arguments of a valid call, and all bad arguments."""

    def __init__(self, world, model):
        self.world = world
        self.name = model["name"]
        self.types = {p["name"]: p["type"] for p in model["parameters"]}
        self.returns = model["returns"]
        self.sound = {name: self.sound_value(name, kind) for name, kind in self.types.items()}

    def sound_value(self, name, kind):
        world = self.world
        for of, values in table.SOUND_OF.items():
            if self.name.startswith(of) and name in values and not kind.endswith("**"):
                value = values[name]
                return getattr(world, value) if isinstance(value, str) else value
        if is_handle(kind):
            return {"gpumem_ctx*": world.ctx, "gpumem_stream*": world.stream}.get(
                kind, world.later if name == "end" else world.event
            )
        if name == "pattern":
            return ctypes.addressof(world.pattern)
        if name == "w" and "lincomb" in self.name:
            return [world.blocks["y"], world.blocks["x"]]
        if name in table.NUMBERS:
            return [world.blocks["x"], 0]
        if name == "x" and "lincomb" in self.name:
            return [world.blocks["x"], world.blocks["y"]]
        if is_operand(self.name, name):
            return world.blocks[name]
        if name == "device" and self.name.startswith(("gpumem_torch", "gpumem_cupy", "gpumem_shared", "gpumem_managed")):
            return -1 if world.device == -1 else 0
        if struct_of(kind):
            return world.filled(struct_of(kind))
        if name == "size":
            return STRUCTS[next(iter(self.types.values())).rstrip("*")]["size"]
        if name in table.SOUND and (not kind.endswith("*") or (kind.startswith("const") and kind != "const char**")
                                    or table.SOUND[name] is None and kind in ("void*", "gpumem_log_fn") or name == "label"):
            return table.SOUND[name]
        return world.out

    def argument(self, name, value):
        kind = self.types[name]
        kind = MODEL["types"].get(kind, kind)
        if kind in ("float", "double"):
            return ctypes.c_float(value) if kind == "float" else ctypes.c_double(value)
        if kind == "int32_t":
            return ctypes.c_int32(value)
        if kind == "int64_t":
            return ctypes.c_int64(value)
        if isinstance(value, list):
            of = {"const float*": ctypes.c_float, "const double*": ctypes.c_double, "const int32_t*": ctypes.c_int32,
                  "const int64_t*": ctypes.c_int64}.get(kind, ctypes.c_uint64)  # fmt: skip
            return (of * len(value))(*value)
        return ctypes.c_void_p(value) if isinstance(value, int) or value is None else value

    def call(self, changes):
        values = {**self.sound, **changes}
        function = getattr(self.world.library, self.name)
        function.restype = ctypes.c_void_p if self.returns == "void*" else ctypes.c_int32
        return function(*[self.argument(name, value) for name, value in values.items()])

    def sizes(self):
        return [n for n, kind in self.types.items() if kind == "int64_t" and n != "size" and not self.any_size(n)]

    def any_size(self, name):
        if name == "dst_rows" and "select" in self.name:  # only rows that are kept are written
            return True
        return name in table.ANY_SIZE or (name == "count" and isinstance(self.sound.get("src"), list))

    def bad(self):
        """Each mistake separately, in an order that depends on the function."""
        for name, kind in self.types.items():
            yield from self.bad_values(name, kind)
        for a, b in itertools.combinations(self.sizes(), 2) if self.name not in table.FROM_MEMORY else ():
            for power in (31, 32, 61, 62, 63):
                for first in range(2, power - 1, 7):
                    for d, e in itertools.product((-1, 0, 1), repeat=2):
                        yield Bad({a: 2**first + d, b: 2 ** (power - first) + e}, SIZE | {"INVALID_POINTER"}, self.sizes_named())
        yield from self.overlaps()

    def sizes_named(self):
        return [n for n in self.types if n != "ctx"]

    def bad_values(self, name, kind):
        world = self.world
        if is_handle(kind):
            if not nullable(self.name, name):
                yield Bad({name: None}, ARGUMENT, [name])
            foreign = {"gpumem_stream*": [world.foreign]}.get(kind, []) if "ctx" in self.types else []
            for value in world.bad_handles[kind] + foreign:
                yield Bad({name: value}, HANDLE | (ARGUMENT if value in foreign else set()), [name])
        elif is_operand(self.name, name):
            yield from self.bad_operands(name)
        elif isinstance(self.sound[name], list):
            yield from self.bad_arrays(name)
        elif kind in ENUMS and kind:
            for value in (-1, -2, max(ENUMS[kind]) + 1, 99, 2**31 - 1, -(2**31), 2**16, 256):
                yield Bad({name: value}, ARGUMENT | {"UNSUPPORTED"}, [name])
        elif kind == "int64_t":
            yield from self.bad_sizes(name)
        elif name == "device":
            for value in (-2, -3, -4, -5, 128, 9999, 2**31 - 1, -(2**31)):
                if value < -3 or not re.search("query", self.name):
                    yield Bad({name: value}, ARGUMENT | {"NOT_FOUND", "UNSUPPORTED", "NOT_BUILT", "NO_DRIVER"}, [name])
        elif kind == "int32_t":
            for value in (-1, -2, 99, 2**31 - 1, -(2**31)):
                yield Bad({name: value}, ARGUMENT | {"UNSUPPORTED", "NOT_FOUND"}, [name])
        elif struct_of(kind):
            yield from self.bad_structs(name, struct_of(kind))
        elif name in ("line", "name", "path") and kind == "const char*":
            yield from self.bad_strings(name)
        elif kind.endswith("*") and not nullable(self.name, name) and name != "buf":
            yield Bad({name: None}, ARGUMENT, [name])

    def bad_operands(self, name):
        world, p = self.world, self.sound[name]
        if not nullable(self.name, name):
            yield Bad({name: None}, POINTER, [name])
        ends = [p + BLOCK + d for d in (-1, -3, -7)] if not re.search("query|alloc|free|label|used|register", self.name) else []
        for value in [*NOWHERE, world.freed, world.freed + 64, *ends]:
            yield Bad({name: value}, POINTER, [name])
        if name in table.WRITTEN or name == "status" or is_index_output(self.name, name):
            yield Bad({name: world.read_only}, POINTER | {"UNSUPPORTED"}, [name])

    def bad_arrays(self, name):
        if not nullable(self.name, name):
            yield Bad({name: None}, ARGUMENT, [name])
        sound = self.sound[name]
        addresses = name in table.READ | table.WRITTEN | table.NUMBERS
        values = NOWHERE if addresses else [-1, 2, 2**31 - 1, -(2**31)] if name in ("order", "periodic") else NEGATIVE + LARGE
        for place, value in itertools.product(range(len(sound)) if name != "factors" else [], values):
            changed = list(sound)
            changed[place] = value
            names = [name] if addresses or name == "order" or value < 0 else self.sizes_named()
            too_many = {"UNSUPPORTED"} if "order_free" in self.name and value >= 2**41 else set()
            yield Bad({name: changed}, POINTER | too_many, names)

    def bad_sizes(self, name):
        for value in NEGATIVE if name not in table.ANY_VALUE else ():
            if name == "bytes" and re.search("_free", self.name):
                continue
            yield Bad({name: value}, ARGUMENT, [name])
        if self.any_size(name) or name == "size" or re.search("_free", self.name):
            return
        for value in LARGE:
            if self.name in table.FROM_MEMORY and name == "bytes":
                if value >= 2**60:
                    yield Bad({name: value}, ALLOCATION, [name])
            else:
                yield Bad({name: value}, SIZE | {"INVALID_POINTER"}, self.sizes_named())

    def bad_structs(self, name, kind):
        if not nullable(self.name, name):
            yield Bad({name: None}, ARGUMENT, [name])
        if self.name.endswith("_init"):
            return
        changes = table.BAD_MEMBERS.get(kind, {})
        for member, value in [("struct_size", v) for v in (0, 1, 7, -1, -8, -(2**63))] + [
            (member, value) for member, values in changes.items() for value in values
        ]:
            yield Bad({name: self.world.filled(kind, {member: value})}, ARGUMENT | {"UNSUPPORTED"}, [member])

    def bad_strings(self, name):
        words = [b"\xff\xfe", b"no_such", b"a" * 5000, b"%s%n%p", b"\n", b"reduce", b"reduce dtype="]
        if name == "line":
            words += [b"reduce dtype=i32 op=sum x=pinned n=%d" % n for n in (2**63, 2**64, 10**40, *NEGATIVE)]
            words += [b"transpose bytes=16 rows=%d cols=%d src=device dst=device" % (a, a) for a in LARGE if a > 2**31]
        for word in words if name != "path" else [b"", b"/", b"/nonexistent/trace", b"/dev/full", b"a" * 5000]:
            statuses = {"line": ARGUMENT, "name": {"NOT_FOUND"}, "path": ARGUMENT | {"FILE_ERROR"}}[name]
            yield Bad({name: word}, statuses, [])
        if not nullable(self.name, name):
            yield Bad({name: None}, ARGUMENT, [name])

    def overlaps(self):
        outputs = [n for n in self.types if n in table.WRITTEN or is_index_output(self.name, n)]
        inputs = [n for n in self.types if n in {"x", "y", "src", "keys", "offsets", "index"} - set(outputs) and is_operand(self.name, n)]
        for output, read in itertools.product(outputs, inputs):
            # Eight bytes on could be the padding of a strided operand, where an output may be.
            distance = 9 if output in ("dst", "z") else 16
            yield Bad({output: self.sound[read] + distance}, ARGUMENT, [output, read])
