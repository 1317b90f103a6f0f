"""The stub has the package's names, methods, parameters and defaults."""

import ast
import enum
import inspect
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import gpumem
from support import run_python

TREE = ast.parse((pathlib.Path(gpumem.__file__).parent / "__init__.pyi").read_text(encoding="utf-8"))


def declared(body):
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield node.name, node
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id, node
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield from ((alias.asname, node) for alias in node.names)


def parameters(node):
    args = node.args
    return [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


def test_names():
    names = {name for name, _ in declared(TREE.body) if not name.startswith("_")}
    assert names == set(gpumem.__all__), names ^ set(gpumem.__all__)
    assert all(hasattr(gpumem, name) for name in gpumem.__all__)
    for name, node in declared(TREE.body):
        if isinstance(getattr(gpumem, name, None), enum.EnumMeta):
            assert isinstance(node, ast.ImportFrom), f"{name} has no members"


def test_exceptions():
    for name, node in declared(TREE.body):
        kind = getattr(gpumem, name, None)
        if inspect.isclass(kind) and issubclass(kind, gpumem.Error):
            assert [base.id for base in node.bases] == [base.__name__ for base in kind.__bases__], name


def test_methods():
    for name in ("Array", "Context", "Dist", "DistLayout", "DistPlan", "Event", "Stream"):
        kind = getattr(gpumem, name)
        body = dict(declared(dict(declared(TREE.body))[name].body))
        public = {key for key in dir(kind) if not key.startswith("_")}
        internal = {"core", "kept", "chunks", "borrowed", "own", "dtype_code", "kind_code", "sequence_stride", "owner", "handle"}
        assert public - internal <= set(body), (name, public - internal - set(body))
        for key, node in body.items():
            member = inspect.getattr_static(kind, key, None)
            if isinstance(member, classmethod):
                member = member.__func__
            if inspect.isfunction(member) and key != "reshape":
                found = [p.name for p in inspect.signature(member).parameters.values()
                         if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]  # fmt: skip
                assert parameters(node)[: len(found)] == found, (name, key, found)


def test_no_method_hides_a_type():
    """In the rest of the class, a checker resolves the name of a method to the method."""
    for name, node in declared(TREE.body):
        methods = {key for key, _ in declared(node.body)} if isinstance(node, ast.ClassDef) else set()
        for key, method in declared(node.body) if methods else ():
            notes = [*(arg.annotation for arg in ast.walk(method) if isinstance(arg, ast.arg)), getattr(method, "returns", None)]
            used = {part.id for note in notes if note for part in ast.walk(note) if isinstance(part, ast.Name)}
            assert not used & methods, (name, key, used & methods)


PROGRAM = """
import gpumem

x = bytearray(8)
with gpumem.Context("host", host_threads=2) as ctx:
    d = ctx.array(x)
    s: gpumem.Stream = ctx.Stream()
    e: gpumem.Event = ctx.Event().record(s)
    ctx.copy(d, x, stream=s)
    d[1:] = (d < 3).astype("u8")[1:] + 1
    parts: list[gpumem.Array] = [-d, d.copy(), d[0], d.T, d.reshape(2, 4), d.reshape((4, 2)), *d]
    s.wait(e)
    try:
        ctx.force(gpumem.Family.REDUCE, None)
    except gpumem.OutOfRange as error:
        print(error.status is gpumem.Status.OUT_OF_RANGE, error.result)
    layout = gpumem.DistLayout((8,), [slice(0, 4), ((4,), (8,))], "u8")
    with gpumem.Dist([ctx, ctx]) as dist, dist.plan_reduce(layout) as plan:
        print(plan.reduce([d[:4], d[4:]], "sum"), plan.argreduce([d[:4], d[4:]])[1], dist.query().size)
    print(ctx.reduce(d, gpumem.Op.SUM), d.kind is gpumem.Kind.DEVICE, gpumem.DEVICE_HOST)
"""


def test_by_a_checker():
    try:
        import mypy  # noqa: F401
    except ImportError:
        raise unittest.SkipTest("mypy is not installed") from None
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder, "-c", PROGRAM], capture_output=True, text=True,
                              env={**os.environ, "MYPYPATH": str(pathlib.Path(gpumem.__file__).parent.parent)})  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    print(run_python(PROGRAM))
