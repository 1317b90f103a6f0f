"""A wrong argument is refused by a message that names it, and not by a message of Python about the value."""

import array
import os
import re
import tempfile

import gpumem
from gpumem.errors import in_python
from support import host

WRONG = (None, 1.5, "3", b"3", [1.5], [None], {}, 2j, object(), 1 << 80)
# Words that identify an argument in messages without its name.
WORDS = {"dtype": "dtype|element type", "boxes": "box", "size": "size|shape", "op": "operation", "kind": "kind of memory", "advice": "advice", "family": "family", "filter": "filter",
         "format": "format", "key": "index", "x": "x|out|p is", "y": "y|x",
         "array": "array|p is"}  # fmt: skip


def calls(ctx, dist):
    """Pairs of an argument's name and a call that lacks only this argument."""
    f = gpumem.DistLayout
    x, i, m = array.array("d", [1, 2, 3, 4]), array.array("i", [0, 1]), ctx.zeros((2, 2), "f32")
    ends, stream, event, layout = array.array("q", [0, 4]), ctx.Stream(), ctx.Event(), f((4,), [slice(0, 4)])
    plan, half = dist.plan_reduce(layout), dist.plan_halo(layout, (0,), (0,), (1,))
    for name in "reduce", "argreduce", "nrm2", "transpose", "convert", "array":
        yield "stream", lambda w, call=getattr(ctx, name): call(m, stream=w, **({"dtype": "f64"} if name == "convert" else {}))
    yield from [
        ("device", lambda w: gpumem.Context(w)), ("device", gpumem.device_query), ("log", lambda w: gpumem.Context("host", log=w)),
        ("parallel_for", lambda w: gpumem.Context("host", parallel_for=w)), ("host_threads", lambda w: gpumem.Context("host", host_threads=w)),
        ("context", gpumem.Event), ("context", gpumem.Stream), ("family", gpumem.variants), ("native", lambda w: ctx.Stream(w)),
        ("shape", ctx.empty), ("shape", lambda w: ctx.empty((2, w))), ("dtype", lambda w: ctx.empty(3, w)), ("kind", lambda w: ctx.empty(3, "f32", w)),
        ("alignment", lambda w: ctx.empty(3, alignment=w, stream=stream)), ("stream", lambda w: ctx.empty(3, stream=w)),
        ("value", lambda w: ctx.full(3, w)), ("value", lambda w: ctx.fill(m, w)), ("dst", lambda w: ctx.fill(w, 1)),
        ("x", ctx.array), ("x", ctx.asarray), ("array", lambda w: ctx.used_on(w, stream)), ("stream", lambda w: ctx.used_on(m, w)),
        ("array", lambda w: ctx.label(w, "a")), ("label", lambda w: ctx.label(m, w)), ("x", ctx.register), ("x", ctx.unregister), ("x", ctx.pointer),
        ("keep_bytes", ctx.memory_trim), ("path", ctx.memory_trace), ("most_records", ctx.profile_begin), ("path", ctx.profile_write),
        ("line", ctx.tune), ("budget_s", lambda w: ctx.tune("reduce dtype=i32 op=sum n=4", w)), ("path", ctx.tuning_load), ("path", ctx.tuning_save),
        ("x", ctx.prefetch), ("device", lambda w: ctx.prefetch(m, w)), ("advice", lambda w: ctx.advise(m, w)), ("x", ctx.managed),
        ("dst", lambda w: ctx.copy(w, x)), ("src", lambda w: ctx.copy(x, w)), ("family", lambda w: ctx.force(w, None)),
        ("name", lambda w: ctx.force("reduce", w)), ("line", ctx.explain), ("format", lambda w: ctx.explain("reduce dtype=i32 op=sum n=4", w)),
        ("x", ctx.reduce), ("op", lambda w: ctx.reduce(x, w)), ("axis", lambda w: ctx.reduce(m, axis=w)), ("out", lambda w: ctx.reduce(x, out=w)),
        ("status", lambda w: ctx.reduce(x, status=w, stream=stream)), ("x", lambda w: ctx.reduce_segments(w, ends)),
        ("offsets", lambda w: ctx.reduce_segments(x, w)),
        ("axis", lambda w: ctx.scan(m, axis=w)), ("out", lambda w: ctx.scan(m, axis=0, out=w)), ("x", lambda w: ctx.scan_segments(w, ends)),
        ("offsets", lambda w: ctx.scan_segments(x, w)),
        ("index", lambda w: ctx.reduce_by_index(x, w, 4)), ("out", lambda w: ctx.reduce_by_index(None, i, 4, out=w)),
        ("x", ctx.argreduce), ("op", lambda w: ctx.argreduce(x, w)),
        ("out", lambda w: ctx.argreduce(x, out=w)), ("x", lambda w: ctx.dot(w, x)), ("y", lambda w: ctx.dot(x, w)), ("out", lambda w: ctx.dot(x, x, out=w)),
        ("x", ctx.nrm2), ("src", ctx.transpose), ("out", lambda w: ctx.transpose(m, w)), ("src", lambda w: ctx.permute(w, (1, 0))),
        ("order", lambda w: ctx.permute(m, w)), ("order", lambda w: ctx.permute(m, (0, w))), ("src", lambda w: ctx.gather(w, i)),
        ("index", lambda w: ctx.gather(m, w)), ("src", lambda w: ctx.scatter(w, i, m)), ("index", lambda w: ctx.scatter(m, w, m)),
        ("dst", lambda w: ctx.scatter(m, i, w)), ("alpha", lambda w: ctx.axpby(w, x)), ("beta", lambda w: ctx.axpby(1, x, w, x)),
        ("x", lambda w: ctx.axpby(1, w, out=x)), ("y", lambda w: ctx.axpby(1, x, 1, w)), ("out", lambda w: ctx.axpby(1, x, out=w)),
        ("terms", ctx.lincomb), ("terms", lambda w: ctx.lincomb([w])), ("terms", lambda w: ctx.lincomb([(w, x)])), ("x", lambda w: ctx.lincomb([(1, w)])),
        ("out", lambda w: ctx.lincomb([(1, x)], w)), ("x", lambda w: ctx.multiply(w, x)), ("y", lambda w: ctx.multiply(x, w)),
        ("src", lambda w: ctx.convert(w, "f32")), ("dtype", lambda w: ctx.convert(x, w)), ("out", lambda w: ctx.convert(x, out=w)),
        ("keys", ctx.sort), ("out", lambda w: ctx.sort(x, w)), ("order", lambda w: ctx.sort(x, order=w)), ("keys", ctx.argsort),
        ("out", lambda w: ctx.argsort(x, w)), ("dtype", lambda w: ctx.argsort(x, dtype=w)),
        ("keys", lambda w: ctx.sort_segments(w, ends)), ("offsets", lambda w: ctx.sort_segments(x, w)),
        ("out", lambda w: ctx.sort_segments(x, ends, w)), ("order", lambda w: ctx.sort_segments(x, ends, order=w)),
        ("src", lambda w: ctx.resize(w, (1, 1))), ("size", lambda w: ctx.resize(m, w)), ("size", lambda w: ctx.resize(m, (1, w))),
        ("filter", lambda w: ctx.resize(m, (1, 1), w)), ("stream", event.record), ("start", event.seconds_since), ("event", stream.wait),
        ("shape", m.reshape), ("dtype", m.view), ("key", lambda w: m[w]), ("key", lambda w: m[0, w]),
        ("shape", f), ("boxes", lambda w: f((4,), w)), ("box", lambda w: f((4,), [w])), ("box", lambda w: f((4,), [slice(w, 4)])),
        ("box", lambda w: f((4,), [((w,), (4,))])), ("dtype", lambda w: f((4,), [], w)), ("element_bytes", lambda w: f((4,), element_bytes=w)),
        ("members", lambda w: f((4,), [slice(0, 4)], members=w)), ("offsets", lambda w: f((4,), [slice(0, 4)], offsets=w)),
        ("strides", lambda w: f((4,), [slice(0, 4)], strides=w)), ("strides", lambda w: f((4,), [slice(0, 4)], strides=[w])), ("member", layout.size),
        ("contexts", gpumem.Dist), ("contexts", lambda w: gpumem.Dist([ctx, w])), ("transport", lambda w: gpumem.Dist([ctx], w)),
        ("deadline_s", lambda w: gpumem.Dist([ctx], deadline_s=w)), ("src", lambda w: dist.plan_redistribute(w, layout)),
        ("dst", lambda w: dist.plan_redistribute(layout, w)), ("order", lambda w: dist.plan_redistribute(layout, layout, w)),
        ("layout", lambda w: dist.plan_halo(w, (0,), (0,), (1,))), ("low", lambda w: dist.plan_halo(layout, w, (0,), (1,))),
        ("high", lambda w: dist.plan_halo(layout, (0,), w, (1,))), ("periodic", lambda w: dist.plan_halo(layout, (0,), (0,), w)),
        ("layout", dist.plan_reduce), ("workspace_bytes", lambda w: dist.plan_reduce(layout, workspace_bytes=w)),
        ("x", plan.reduce), ("x", lambda w: plan.reduce([w])), ("op", lambda w: plan.reduce(x, w)), ("src", half.execute),
        ("streams", lambda w: half.execute(x, streams=w)), ("streams", lambda w: half.execute(x, streams=[w])), ("format", plan.explain),
    ]  # fmt: skip


def test_errors_name_the_argument():
    nameless, here = [], os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # for calls that accept a path
        try:
            try_all(nameless)
        finally:
            os.chdir(here)
    assert not nameless, "\n".join(nameless)


def try_all(nameless):
    with host() as ctx, gpumem.Dist([ctx]) as dist:
        for name, call in calls(ctx, dist):
            for wrong in WRONG:
                try:
                    call(wrong)
                except gpumem.Error:
                    pass  # the library's error message
                except (TypeError, ValueError, OverflowError, IndexError) as error:
                    if not re.search(rf"\b({WORDS.get(name, name)})", str(error)):
                        nameless.append(f"line {call.__code__.co_firstlineno if hasattr(call, '__code__') else call}, {name}={wrong!r}: {error!r}")
                except Exception as error:
                    nameless.append(f"{name}={wrong!r}: {error!r}")


def test_numbers_of_types_in_messages():
    assert in_python("result_type is 6; expected f64") == "dtype is i64; expected f64"
    assert in_python("result_type is 77; expected f64") == "dtype is 77; expected f64"  # a type of a newer library
