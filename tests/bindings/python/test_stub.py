"""The stub has what the package has: names, methods, parameters and their defaults."""

import ast
import inspect
import pathlib

import gpumem

TREE = ast.parse((pathlib.Path(gpumem.__file__).parent / "__init__.pyi").read_text(encoding="utf-8"))


def declared(body):
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield node.name, node
        elif isinstance(node, ast.AnnAssign):
            yield node.target.id, node


def parameters(node):
    args = node.args
    return [arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


def test_names():
    names = {name for name, _ in declared(TREE.body)} - {"__version__"}
    assert names == set(gpumem.__all__), names ^ set(gpumem.__all__)
    assert all(hasattr(gpumem, name) for name in gpumem.__all__)


def test_exceptions():
    for name, node in declared(TREE.body):
        kind = getattr(gpumem, name)
        if inspect.isclass(kind) and issubclass(kind, gpumem.Error):
            assert [base.id for base in node.bases] == [base.__name__ for base in kind.__bases__], name


def test_methods():
    for name in ("Array", "Context", "Event", "Stream"):
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
