"""A type of tensors with DLPack's table of C functions, as the tensors of PyTorch have it."""

import ctypes

CHECK = ctypes.pythonapi
CHECK.PyCapsule_New.restype = ctypes.py_object
CHECK.PyCapsule_New.argtypes = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p
CHECK.PyCapsule_GetPointer.restype = ctypes.c_void_p
CHECK.PyCapsule_GetPointer.argtypes = ctypes.py_object, ctypes.c_char_p
CHECK.PyCapsule_SetName.argtypes = ctypes.py_object, ctypes.c_char_p
USED, NAME = b"used_dltensor_versioned", b"dlpack_exchange_api"  # capsules keep their addresses
FROM_OBJECT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.c_void_p))
STREAM = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class Table(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p), ("allocate", ctypes.c_void_p),
                ("managed", FROM_OBJECT), ("to_object", ctypes.c_void_p), ("plain", ctypes.c_void_p), ("stream", STREAM)]  # fmt: skip


@FROM_OBJECT
def managed(tensor, out):
    tensor.taken += 1
    if tensor.refuses:
        return -1
    capsule = tensor.x.__dlpack__(max_version=(1, 0), **tensor.words)
    out[0] = CHECK.PyCapsule_GetPointer(capsule, b"dltensor_versioned")
    return CHECK.PyCapsule_SetName(capsule, USED)


@STREAM
def stream(device_type, device, out):
    Tensor.asked += 1
    out[0] = Tensor.current
    return 0


TABLE = Table(1, 3, None, None, managed, None, None, stream)
NEWER = Table(2, 0, ctypes.addressof(TABLE), None, managed, None, None, stream)


class Own:
    """gpumem's own table, whose functions keep the interpreter's lock."""

    POINTER = ctypes.POINTER(ctypes.c_void_p)
    SET_ERROR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)

    def __init__(self, of):
        table = Table.from_address(CHECK.PyCapsule_GetPointer(of.__dlpack_c_exchange_api__, NAME))
        address = lambda member: ctypes.c_void_p.from_address(ctypes.addressof(table) + getattr(Table, member).offset).value  # noqa: E731
        self.version, self.tensor_from_object = (table.major, table.minor), table.plain
        self.from_object = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, self.POINTER)(address("managed"))
        self.to_object = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, self.POINTER)(address("to_object"))
        self.new = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, self.POINTER, ctypes.c_void_p, self.SET_ERROR)(address("allocate"))
        self.stream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, self.POINTER)(address("stream"))

    def lend(self, x):
        """The address of a managed tensor."""
        managed = ctypes.c_void_p()
        assert self.from_object(x, managed) == 0 and managed.value
        return managed.value

    def take(self, managed):
        """The object of a managed tensor."""
        found = ctypes.c_void_p()
        assert self.to_object(managed, found) == 0
        x = ctypes.cast(found, ctypes.py_object).value
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(x))
        return x

    def allocate(self, prototype):
        """A new managed tensor, or the kind and the message of the error."""
        managed, errors = ctypes.c_void_p(), []
        outcome = self.new(ctypes.addressof(prototype), managed, None, self.SET_ERROR(lambda _, kind, text: errors.append((kind, text))))
        assert (outcome == 0) is (not errors)
        return errors[0] if errors else managed.value


class Prototype(ctypes.Structure):
    """A DLTensor."""

    _fields_ = [("data", ctypes.c_void_p), ("place", ctypes.c_int32), ("device", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64)]  # fmt: skip


def capsule_of(table):
    return CHECK.PyCapsule_New(ctypes.addressof(table), NAME, None)


class Tensor:
    """A tensor with the memory of a gpumem.Array, which another library could have computed on the stream `current`."""

    __dlpack_c_exchange_api__ = capsule_of(TABLE)
    asked, current = 0, None
    requires_grad = False

    def __init__(self, x, **words):
        self.x, self.words, self.taken, self.refuses, self.exported = x, words, 0, False, 0

    def __getitem__(self, key):
        return Tensor(self.x[key])

    def __repr__(self):
        return "Tensor"

    def __dlpack_device__(self):
        return self.x.__dlpack_device__()

    def __dlpack__(self, **words):
        self.exported += 1
        if self.requires_grad:
            raise BufferError("the tensor needs gradients")
        return self.x.__dlpack__(**words)
