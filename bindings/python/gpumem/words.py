"""Converts names of types, operations, kinds of memory and other arguments to the header's numbers."""

import operator
import os
import reprlib
import struct

from .names import CompareOp, Dtype, Family, Filter, Format, Kind, MapOp, Op

LONG_NAMES = {"int": "i", "uint": "u", "float": "f", "bfloat": "bf"}
# Names without a number of bits, and NumPy's names with bytes that can't be mistaken for gpumem's names with bits.
WORDS = {"float": "f64", "double": "f64", "int": "i64", "longlong": "i64", "ulonglong": "u64", "f2": "f16", "f4": "f32", "f8": "f64",
         "i1": "i8", "u1": "u8"}  # fmt: skip
BOOLS = {"bool", "bool_", "?", "|b1"}  # not an element type: bytes of 0 or 1 that can only be moved

NAMES = [dtype.name.lower() for dtype in Dtype]
SIZES = [1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8]
FORMATS = ["b", "B", "h", "H", "i", "I", "q", "Q", "e", "", "f", "d"]
# Type strings of the array interfaces, which have none for bf16.
TYPESTRS = ["|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<V2", "<f4", "<f8"]
LONG = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64"]
CODES = {word: code for words in (NAMES, TYPESTRS, LONG) for code, word in enumerate(words) if word != "<V2"}
RESULTS = [Dtype.I64, Dtype.U64] * 4 + [Dtype.F64] * 4


def unfit(name, value, expected):
    """A TypeError with the argument's name, its value, and the expected value."""
    kind = type(value).__name__
    return TypeError(f"{name} is {f'a {kind}' if hasattr(value, 'shape') else reprlib.repr(value)}; expected {expected}")


def integer(value, name):
    try:
        return operator.index(value)
    except TypeError:
        raise unfit(name, value, "an integer") from None


def integers(values, name, expected="integers, one per axis"):
    try:
        return tuple(map(operator.index, values))
    except TypeError:
        raise unfit(name, values, expected) from None


def real(value, name):
    if not hasattr(value, "__float__") and not hasattr(value, "__index__"):
        raise unfit(name, value, "a number")
    if getattr(value, "size", None) == 1:  # an array of NumPy, which converts only arrays without axes
        value = value.item()
    return float(value)


def path_bytes(path):
    try:
        return os.fsencode(path)
    except TypeError:
        raise unfit("path", path, "the path of a file") from None


def codes(members, what):
    """A function that converts a member of an enumeration, its number or its name to the number."""
    known = {member.name.lower(): int(member) for member in members}
    known.update({int(member): int(member) for member in members})

    def code(word):
        try:
            return known[word.lower() if isinstance(word, str) else word]
        except (KeyError, TypeError):
            names = ", ".join(member.name.lower() for member in members)
            raise ValueError(f"{reprlib.repr(word)} is not a valid {what}; expected one of {names}") from None

    return code


OTHER_OPS = (Op.ARG_MIN, Op.ARG_MAX, Op.ARG_MAX_ABS, Op.ARG_MIN_VALID, Op.ARG_MAX_VALID, Op.DOT, Op.NRM2,
             Op.DOT_ORDER_FREE)
REDUCE_OPS = [op for op in Op if op not in OTHER_OPS]
op_code = codes(REDUCE_OPS, "operation of reduce()")
scan_code = codes([Op.SUM, Op.MIN, Op.MAX, Op.PROD], "operation of scan()")
arg_code = codes([Op.MIN, Op.MAX, Op.MAX_ABS, Op.MIN_VALID, Op.MAX_VALID], "operation of argreduce()")
map_code = codes(MapOp, "function of map()")
compare_code = codes(CompareOp, "comparison")
kind_code = codes(Kind, "kind of memory")
family_code = codes(Family, "family")
filter_code = codes(Filter, "filter")
format_code = codes(Format, "format")


def type_word(dtype):
    word = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    return word.rpartition(".")[2].lower() if getattr(dtype, "byteorder", "=") != ">" else ""


def dtype_code(dtype):
    """The code of "f32", "float32", "<f4", float, gpumem.Dtype.F32, or an element type of NumPy, CuPy or PyTorch."""
    if type(dtype) is str and dtype in CODES:
        return CODES[dtype]
    if isinstance(dtype, int) and 0 <= dtype < len(NAMES):
        return int(dtype)
    word = type_word(dtype)
    if word in BOOLS:
        raise ValueError('bool can only be moved; expected "u8", with arrays of bool as .view("u1")')
    stem = word.rstrip("0123456789")
    word = WORDS.get(word) or LONG_NAMES.get(stem, stem) + word[len(stem):]  # fmt: skip
    if word not in NAMES:
        shown = reprlib.repr(dtype) if isinstance(dtype, str | type) or not hasattr(dtype, "shape") else f"a {type(dtype).__name__}"
        raise ValueError(f"{shown} is not an element type; expected one of {', '.join(NAMES)}, or a type or name of NumPy, such as '<i4'")
    return NAMES.index(word)


def element_of(dtype):
    """The code, item size and format of a type, for a View. bool has no code, so its code is -1."""
    code = CODES.get(dtype) if type(dtype) is str else None
    if code is None:  # another name, a bool or an object
        if type_word(dtype) in BOOLS:
            return -1, 1, "?"
        code = dtype_code(dtype)
    return code, SIZES[code], FORMATS[code]


def pattern_of(view, value):
    """The bytes of one element with this value."""
    if isinstance(value, (bytes, bytearray)):
        if len(value) != view.itemsize:
            raise ValueError(f"the value has {len(value)} bytes; expected the bytes of an element, {view.itemsize}")
        return bytes(value)
    if view.format == "?":
        return bool_byte(value)
    if view.dtype_code < 0:
        raise TypeError(f"elements of format '{view.format}' are filled with bytes, not with the value {reprlib.repr(value)}")
    try:
        return bf16_bytes(value) if view.dtype_code == Dtype.BF16 else struct.pack("=" + FORMATS[view.dtype_code], value)
    except (struct.error, OverflowError):
        raise ValueError(f"the value {reprlib.repr(value)} is not a value of {NAMES[view.dtype_code]}") from None


def bool_byte(value):
    try:
        if value in (0, 1):
            return b"\1" if value else b"\0"
    except (TypeError, ValueError):  # an array of several elements
        pass
    raise ValueError(f"the value {reprlib.repr(value)} is not a bool")


def bf16_bytes(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if value != value:
        return b"\xc0\x7f"
    return struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)  # rounds to nearest, ties to even
