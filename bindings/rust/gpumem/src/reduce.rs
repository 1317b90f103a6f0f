use crate::context::Context;
use crate::element::{Element, Float, IndexElement};
use crate::error::{Error, Result, Status};
use crate::layout::{enough, number, small_number, Array, Matrix};
use crate::queue::{run, Lent, LentMut, Queue, Run};
use crate::view::{View, ViewMut};
use gpumem_sys as sys;
use std::any::TypeId;
use std::ffi::c_void;
use std::ptr::null_mut;

/// The operation of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Op {
    /// The sum.
    Sum = sys::GPUMEM_SUM,
    /// The smallest.
    Min = sys::GPUMEM_MIN,
    /// The largest.
    Max = sys::GPUMEM_MAX,
    /// The sum of magnitudes.
    SumAbs = sys::GPUMEM_SUM_ABS,
    /// The sum of squares.
    SumSquares = sys::GPUMEM_SUM_SQUARES,
    /// The sum of cubes.
    SumCubes = sys::GPUMEM_SUM_CUBES,
    /// The largest magnitude.
    MaxAbs = sys::GPUMEM_MAX_ABS,
    /// Minimum and maximum: two results, the minimum first.
    MinMax = sys::GPUMEM_MIN_MAX,
    /// The compensated sum of `f64`, which carries the rounding errors along.
    SumCompensated = sys::GPUMEM_SUM_COMPENSATED,
    /// The product.
    Prod = sys::GPUMEM_PROD,
    /// The sum of the floating-point elements that are not NaN.
    SumValid = sys::GPUMEM_SUM_VALID,
    /// The number of floating-point elements that are not NaN.
    CountValid = sys::GPUMEM_COUNT_VALID,
    /// The smallest floating-point element that is not NaN.
    MinValid = sys::GPUMEM_MIN_VALID,
    /// The largest floating-point element that is not NaN.
    MaxValid = sys::GPUMEM_MAX_VALID,
    /// The sum of floating-point elements, with the same bits for every order of them.
    SumOrderFree = sys::GPUMEM_SUM_ORDER_FREE,
    /// The Euclidean norm of `f32` or `f64`, with the same bits for every order of the elements.
    Nrm2OrderFree = sys::GPUMEM_NRM2_ORDER_FREE,
}

impl Op {
    fn results(self) -> usize {
        1 + usize::from(self == Op::MinMax)
    }
}

/// The element that [`Context::argreduce`] finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum Extreme {
    Min = sys::GPUMEM_MIN,
    Max = sys::GPUMEM_MAX,
    MaxAbs = sys::GPUMEM_MAX_ABS,
    MinValid = sys::GPUMEM_MIN_VALID,
    MaxValid = sys::GPUMEM_MAX_VALID,
}

/// The lines of a matrix that are reduced, each to one result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Axis {
    /// One result per row.
    Rows = sys::GPUMEM_AXIS_ROWS,
    /// One result per column.
    Cols = sys::GPUMEM_AXIS_COLS,
}

/// The outcome of a reduction to several results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Several {
    /// All results are valid.
    All,
    /// Some results are missing and written as 0. The others are valid. The value is the largest of their statuses.
    Missing(Status),
}

impl Several {
    /// An error if some results are missing.
    pub fn all(self) -> Result<()> {
        match self {
            Several::All => Ok(()),
            Several::Missing(status) => Err(Error::new(status, "some of the results are missing")),
        }
    }

    fn of(ctx: &Context, status: i32, with_results: &[Status]) -> Result<Several> {
        if with_results.contains(&Status(status)) {
            return Ok(Several::Missing(Status(status)));
        }
        ctx.check(status).map(|_| Several::All)
    }
}

/// Operands of blocking and asynchronous reductions.
struct Sequence<T> {
    ptr: *const T,
    len: usize,
    stride: usize,
}

impl<T> From<View<'_, T>> for Sequence<T> {
    fn from(x: View<'_, T>) -> Self {
        Sequence { ptr: x.ptr, len: x.len, stride: x.stride }
    }
}

impl<T> From<Lent<'_, T>> for Sequence<T> {
    fn from(x: Lent<'_, T>) -> Self {
        Sequence { ptr: x.ptr, len: x.len, stride: x.stride }
    }
}

impl<T: Element> Sequence<T> {
    fn reduce(&self, at: Run<'_>, op: Op, result: *mut c_void, status: *mut i32) -> Result<i32> {
        let (n, stride) = (number(self.len)?, number(self.stride)?);
        let args = (T::DTYPE as i32, op as i32, self.ptr.cast());
        Ok(run!(at, gpumem_reduce(args.0, args.1, args.2, n, stride, result), gpumem_reduce_async(status)))
    }

    fn argreduce(&self, at: Run<'_>, end: Extreme, value: *mut c_void, index: *mut i64) -> Result<i32> {
        let (n, stride) = (number(self.len)?, number(self.stride)?);
        let args = (T::DTYPE as i32, end as i32, self.ptr.cast());
        Ok(run!(at, gpumem_argreduce(args.0, args.1, args.2, n, stride, value, index), gpumem_argreduce_async()))
    }

    fn axis(
        &self,
        at: Run<'_>,
        m: Matrix,
        axis: Axis,
        op: Op,
        out: (*mut T::Result, usize),
        status: *mut i32,
    ) -> Result<i32> {
        self.whole("x")?;
        let [rows, cols, ld, batches, batch_stride] = m.numbers(self.len, "x")?;
        let lines = if axis == Axis::Rows { m.rows } else { m.cols };
        enough(lines.checked_mul(m.batches).and_then(|n| n.checked_mul(op.results())), out.1, "out")?;
        let args = (T::DTYPE as i32, op as i32, axis as i32, self.ptr.cast(), out.0.cast());
        Ok(run!(
            at,
            gpumem_reduce_axis(args.0, args.1, args.2, args.3, rows, cols, ld, batches, batch_stride, args.4),
            gpumem_reduce_axis_async(status)
        ))
    }

    fn search_axis(
        &self,
        at: Run<'_>,
        m: Matrix,
        lines: (Axis, Extreme),
        value: (*mut T::Result, usize),
        index: (*mut i64, usize),
        status: *mut i32,
    ) -> Result<i32> {
        self.whole("x")?;
        let [rows, cols, ld, batches, batch_stride] = m.numbers(self.len, "x")?;
        let of_matrix = if lines.0 == Axis::Rows { m.rows } else { m.cols };
        enough(of_matrix.checked_mul(m.batches), value.1.min(index.1), "value or index")?;
        let args = (T::DTYPE as i32, lines.1 as i32, lines.0 as i32, self.ptr.cast(), value.0.cast(), index.0);
        Ok(run!(
            at,
            gpumem_argreduce_axis(
                args.0,
                args.1,
                args.2,
                args.3,
                rows,
                cols,
                ld,
                batches,
                batch_stride,
                args.4,
                args.5
            ),
            gpumem_argreduce_axis_async(status)
        ))
    }

    fn segments(
        &self,
        at: Run<'_>,
        ends: Sequence<i64>,
        op: Op,
        out: (*mut T::Result, usize),
        status: *mut i32,
    ) -> Result<i32> {
        self.whole("x")?;
        ends.whole("offsets")?;
        let segments = match ends.len {
            0 => return Err(Error::argument("offsets is empty; expected one more element than segments")),
            len => len - 1,
        };
        enough(segments.checked_mul(op.results()), out.1, "out")?;
        let (n, segments) = (number(self.len)?, number(segments)?);
        let args = (T::DTYPE as i32, op as i32, self.ptr.cast(), out.0.cast());
        Ok(run!(
            at,
            gpumem_reduce_segments(args.0, args.1, args.2, n, ends.ptr, segments, args.3),
            gpumem_reduce_segments_async(status)
        ))
    }

    fn by_index<I: IndexElement>(
        &self,
        at: Run<'_>,
        index: Sequence<I>,
        op: Op,
        out: (*mut T::Result, usize),
        status: *mut i32,
    ) -> Result<i32> {
        self.whole("x")?;
        if self.len != index.len {
            return Err(Error::argument(format!("x has {} elements, but index has {}", self.len, index.len)));
        }
        run_by_index(
            at,
            (T::DTYPE as i32, op as i32, self.ptr.cast()),
            index,
            (out.0.cast(), out.1 / op.results()),
            status,
        )
    }

    fn rows_by_index<I: IndexElement>(
        &self,
        at: Run<'_>,
        m: Matrix,
        index: Sequence<I>,
        op: Op,
        out: (*mut T::Result, usize),
        status: *mut i32,
    ) -> Result<i32> {
        self.whole("x")?;
        index.whole("index")?;
        let [rows, cols, ld, batches, _] = m.numbers(self.len, "x")?;
        if m.rows != index.len || batches != 1 {
            let matrices = format!("x has {} x {} rows, but index has {}", batches, rows, index.len);
            return Err(Error::argument(matrices));
        }
        let bins = number(out.1 / op.results() / m.cols.max(1))?;
        let (x, i) = ((T::DTYPE as i32, op as i32, self.ptr.cast()), (I::DTYPE as i32, index.ptr.cast()));
        Ok(run!(
            at,
            gpumem_reduce_rows_by_index(x.0, x.1, x.2, rows, cols, ld, i.0, i.1, out.0.cast(), bins),
            gpumem_reduce_rows_by_index_async(status)
        ))
    }

    /// An error for a view with a stride.
    fn whole(&self, name: &str) -> Result<()> {
        match self.stride {
            1 => Ok(()),
            stride => Err(Error::argument(format!("{} has a stride of {}; expected no stride", name, stride))),
        }
    }
}

/// x: the type, the operation and the elements, which are NULL for counts.
fn run_by_index<I: IndexElement>(
    at: Run<'_>,
    x: (i32, i32, *const c_void),
    index: Sequence<I>,
    bins: (*mut c_void, usize),
    status: *mut i32,
) -> Result<i32> {
    index.whole("index")?;
    let (n, count, kind, i) = (number(index.len)?, number(bins.1)?, I::DTYPE as i32, index.ptr.cast());
    Ok(run!(at, gpumem_reduce_by_index(x.0, x.1, x.2, kind, i, n, bins.0, count), gpumem_reduce_by_index_async(status)))
}

/// The type and the operation of counts, without elements.
const COUNTS: (i32, i32, *const c_void) = (sys::GPUMEM_I64, sys::GPUMEM_SUM, std::ptr::null());

pub(crate) fn is_f32<T: 'static>() -> bool {
    TypeId::of::<T>() == TypeId::of::<f32>()
}

fn dot<T: Float>(at: Run<'_>, x: Sequence<T>, y: Sequence<T>, result: *mut f64) -> Result<i32> {
    if x.len != y.len {
        return Err(Error::argument(format!("x has {} elements, but y has {}", x.len, y.len)));
    }
    let (n, i, j) = (number(x.len)?, number(x.stride)?, number(y.stride)?);
    Ok(match is_f32::<T>() {
        true => run!(at, gpumem_dot_f32(x.ptr.cast(), y.ptr.cast(), n, i, j, result), gpumem_dot_f32_async()),
        false => run!(at, gpumem_dot_f64(x.ptr.cast(), y.ptr.cast(), n, i, j, result), gpumem_dot_f64_async()),
    })
}

fn nrm2<T: Float>(at: Run<'_>, x: Sequence<T>, result: *mut f64) -> Result<i32> {
    let (n, stride) = (number(x.len)?, number(x.stride)?);
    Ok(match is_f32::<T>() {
        true => run!(at, gpumem_nrm2_f32(x.ptr.cast(), n, stride, result), gpumem_nrm2_f32_async()),
        false => run!(at, gpumem_nrm2_f64(x.ptr.cast(), n, stride, result), gpumem_nrm2_f64_async()),
    })
}

/// The arguments of a view: the number of axes, extents, strides.
struct Axes(i32, Vec<i64>, Vec<i64>);

impl<T: Element> Sequence<T> {
    fn axes(&self, layout: Array<'_>, name: &str) -> Result<Axes> {
        self.whole(name)?;
        let (extents, strides) = layout.numbers(self.len, name)?;
        Ok(Axes(small_number(extents.len())?, extents, strides))
    }

    fn reduce_view(
        &self,
        at: Run<'_>,
        layout: Array<'_>,
        op: Op,
        result: *mut c_void,
        status: *mut i32,
    ) -> Result<i32> {
        let Axes(ndim, extents, strides) = self.axes(layout, "x")?;
        let (e, s) = (extents.as_ptr(), strides.as_ptr());
        let args = (T::DTYPE as i32, op as i32, self.ptr.cast());
        Ok(run!(at, gpumem_reduce_view(args.0, args.1, ndim, e, args.2, s, result), gpumem_reduce_view_async(status)))
    }

    /// The results have any type. The library refuses those that are not for these elements.
    fn reduce_axes<R: Element>(
        &self,
        at: Run<'_>,
        layout: Array<'_>,
        reduced: &[usize],
        op: Op,
        out: (*mut R, usize),
        status: *mut i32,
    ) -> Result<i32> {
        let Axes(ndim, extents, strides) = self.axes(layout, "x")?;
        if let Some(axis) = reduced.iter().find(|&&axis| axis >= extents.len().min(31)) {
            return Err(Error::argument(format!("axes has {}, but x has {} axes", axis, ndim)));
        }
        let mask = reduced.iter().fold(0, |mask, axis| mask | 1 << axis);
        let kept = (0..extents.len()).filter(|axis| !reduced.contains(axis));
        let results = kept.map(|axis| layout.extents[axis]).try_fold(op.results(), usize::checked_mul);
        enough(results, out.1, "out")?;
        let (e, s) = (extents.as_ptr(), strides.as_ptr());
        let args = (T::DTYPE as i32, op as i32, self.ptr.cast(), out.0.cast(), R::DTYPE as i32);
        Ok(run!(
            at,
            gpumem_reduce_axes(args.0, args.1, ndim, e, args.2, s, mask, args.3, args.4),
            gpumem_reduce_axes_async(status)
        ))
    }

    fn argreduce_view(
        &self,
        at: Run<'_>,
        layout: Array<'_>,
        end: Extreme,
        value: *mut c_void,
        index: *mut i64,
    ) -> Result<i32> {
        let Axes(ndim, extents, strides) = self.axes(layout, "x")?;
        let (e, s) = (extents.as_ptr(), strides.as_ptr());
        let args = (T::DTYPE as i32, end as i32, self.ptr.cast());
        Ok(run!(
            at,
            gpumem_argreduce_view(args.0, args.1, ndim, e, args.2, s, value, index),
            gpumem_argreduce_view_async()
        ))
    }
}

fn dot_view<T: Float>(
    at: Run<'_>,
    x: (Sequence<T>, Array<'_>),
    y: (Sequence<T>, Array<'_>),
    result: *mut f64,
) -> Result<i32> {
    if x.1.extents != y.1.extents {
        return Err(Error::argument(format!("x has the extents {:?}, but y has {:?}", x.1.extents, y.1.extents)));
    }
    let (Axes(ndim, extents, i), Axes(_, _, j)) = (x.0.axes(x.1, "x")?, y.0.axes(y.1, "y")?);
    let (e, i, j, p, q) = (extents.as_ptr(), i.as_ptr(), j.as_ptr(), x.0.ptr, y.0.ptr);
    Ok(match is_f32::<T>() {
        true => run!(at, gpumem_dot_view_f32(ndim, e, p.cast(), i, q.cast(), j, result), gpumem_dot_view_f32_async()),
        false => run!(at, gpumem_dot_view_f64(ndim, e, p.cast(), i, q.cast(), j, result), gpumem_dot_view_f64_async()),
    })
}

fn dot_order_free<T: Float>(at: Run<'_>, x: Sequence<T>, y: Sequence<T>, result: *mut f64) -> Result<i32> {
    if x.len != y.len {
        return Err(Error::argument(format!("x has {} elements, but y has {}", x.len, y.len)));
    }
    let (n, i, j) = (number(x.len)?, number(x.stride)?, number(y.stride)?);
    let (dtype, p, q) = (T::DTYPE as i32, x.ptr.cast(), y.ptr.cast());
    Ok(run!(at, gpumem_dot_order_free(dtype, 1, &n, p, &i, q, &j, result), gpumem_dot_order_free_async()))
}

fn nrm2_view<T: Float>(at: Run<'_>, x: Sequence<T>, layout: Array<'_>, result: *mut f64) -> Result<i32> {
    let Axes(ndim, extents, strides) = x.axes(layout, "x")?;
    let (e, s, p) = (extents.as_ptr(), strides.as_ptr(), x.ptr);
    Ok(match is_f32::<T>() {
        true => run!(at, gpumem_nrm2_view_f32(ndim, e, p.cast(), s, result), gpumem_nrm2_view_f32_async()),
        false => run!(at, gpumem_nrm2_view_f64(ndim, e, p.cast(), s, result), gpumem_nrm2_view_f64_async()),
    })
}

const OF_LINES: [Status; 1] = [Status::OVERFLOW];
const OF_SEGMENTS: [Status; 3] = [Status::EMPTY, Status::OVERFLOW, Status::OUT_OF_RANGE];
const OF_BINS: [Status; 2] = [Status::EMPTY, Status::OVERFLOW];

impl Context {
    pub(crate) fn now(&self) -> Run<'_> {
        Run { ctx: self, stream: None }
    }

    /// The reduction of all elements to one number. `gpumem_reduce()`.
    pub fn reduce<'a, T: Element>(&self, x: impl Into<View<'a, T>>, op: Op) -> Result<T::Result> {
        if op == Op::MinMax {
            return Err(Error::argument("MinMax has two results; use min_max()"));
        }
        let mut result = T::Result::default();
        let p = &mut result as *mut T::Result;
        self.check(Sequence::from(x.into()).reduce(self.now(), op, p.cast(), null_mut())?)?;
        Ok(result)
    }

    /// The minimum and the maximum, in one pass. `gpumem_reduce()`.
    pub fn min_max<'a, T: Element>(&self, x: impl Into<View<'a, T>>) -> Result<(T::Result, T::Result)> {
        let mut ends = [T::Result::default(); 2];
        let p = ends.as_mut_ptr().cast();
        self.check(Sequence::from(x.into()).reduce(self.now(), Op::MinMax, p, null_mut())?)?;
        Ok((ends[0], ends[1]))
    }

    /// The minimum, the maximum or the largest magnitude, and its index. `gpumem_argreduce()`.
    pub fn argreduce<'a, T: Element>(&self, x: impl Into<View<'a, T>>, end: Extreme) -> Result<(T::Result, usize)> {
        let (mut value, mut index) = (T::Result::default(), 0);
        let p = &mut value as *mut T::Result;
        self.check(Sequence::from(x.into()).argreduce(self.now(), end, p.cast(), &mut index)?)?;
        Ok((value, index as usize))
    }

    /// The sum of `x[i] * y[i]`. `gpumem_dot_f32()`, `gpumem_dot_f64()`.
    pub fn dot<'a, 'b, T: Float>(&self, x: impl Into<View<'a, T>>, y: impl Into<View<'b, T>>) -> Result<f64> {
        let mut result = 0.0;
        self.check(dot(self.now(), Sequence::from(x.into()), Sequence::from(y.into()), &mut result)?)?;
        Ok(result)
    }

    /// As [`Context::dot`], with the same bits for every order of the elements. `gpumem_dot_order_free()`.
    pub fn dot_order_free<'a, 'b, T: Float>(
        &self,
        x: impl Into<View<'a, T>>,
        y: impl Into<View<'b, T>>,
    ) -> Result<f64> {
        let mut result = 0.0;
        self.check(dot_order_free(self.now(), Sequence::from(x.into()), Sequence::from(y.into()), &mut result)?)?;
        Ok(result)
    }

    /// The Euclidean norm. `gpumem_nrm2_f32()`, `gpumem_nrm2_f64()`.
    pub fn nrm2<'a, T: Float>(&self, x: impl Into<View<'a, T>>) -> Result<f64> {
        let mut result = 0.0;
        self.check(nrm2(self.now(), Sequence::from(x.into()), &mut result)?)?;
        Ok(result)
    }

    /// As [`Context::reduce`], of the elements of an array with strides, in row-major order. `gpumem_reduce_view()`.
    pub fn reduce_view<'a, T: Element>(
        &self,
        x: impl Into<View<'a, T>>,
        layout: Array<'_>,
        op: Op,
    ) -> Result<T::Result> {
        if op == Op::MinMax {
            return Err(Error::argument("MinMax has two results; expected Min or Max"));
        }
        let mut result = T::Result::default();
        let p = &mut result as *mut T::Result;
        self.check(Sequence::from(x.into()).reduce_view(self.now(), layout, op, p.cast(), null_mut())?)?;
        Ok(result)
    }

    /// As [`Context::argreduce`], with the place in row-major order. `gpumem_argreduce_view()`.
    pub fn argreduce_view<'a, T: Element>(
        &self,
        x: impl Into<View<'a, T>>,
        layout: Array<'_>,
        end: Extreme,
    ) -> Result<(T::Result, usize)> {
        let (mut value, mut index) = (T::Result::default(), 0);
        let p = &mut value as *mut T::Result;
        self.check(Sequence::from(x.into()).argreduce_view(self.now(), layout, end, p.cast(), &mut index)?)?;
        Ok((value, index as usize))
    }

    /// As [`Context::dot`], of arrays with equal extents. `gpumem_dot_view_f32()`, `gpumem_dot_view_f64()`.
    pub fn dot_view<'a, 'b, T: Float>(
        &self,
        x: impl Into<View<'a, T>>,
        x_layout: Array<'_>,
        y: impl Into<View<'b, T>>,
        y_layout: Array<'_>,
    ) -> Result<f64> {
        let mut result = 0.0;
        let (x, y) = ((Sequence::from(x.into()), x_layout), (Sequence::from(y.into()), y_layout));
        self.check(dot_view(self.now(), x, y, &mut result)?)?;
        Ok(result)
    }

    /// As [`Context::nrm2`]. `gpumem_nrm2_view_f32()`, `gpumem_nrm2_view_f64()`.
    pub fn nrm2_view<'a, T: Float>(&self, x: impl Into<View<'a, T>>, layout: Array<'_>) -> Result<f64> {
        let mut result = 0.0;
        self.check(nrm2_view(self.now(), Sequence::from(x.into()), layout, &mut result)?)?;
        Ok(result)
    }

    /// One result per row or column of matrices, matrix by matrix. `gpumem_reduce_axis()`.
    pub fn reduce_axis<'a, 'b, T: Element>(
        &self,
        x: impl Into<View<'a, T>>,
        layout: Matrix,
        axis: Axis,
        op: Op,
        out: impl Into<ViewMut<'b, T::Result>>,
    ) -> Result<Several> {
        let out = out.into();
        let status = Sequence::from(x.into()).axis(self.now(), layout, axis, op, (out.ptr, out.len), null_mut())?;
        Several::of(self, status, &OF_LINES)
    }

    /// One result per index of the axes that are not in `axes`, in row-major order. `R` is `T::Result`, or `T` if it is a
    /// floating-point type. `gpumem_reduce_axes()`.
    pub fn reduce_axes<'a, 'b, T: Element, R: Element>(
        &self,
        x: impl Into<View<'a, T>>,
        layout: Array<'_>,
        axes: &[usize],
        op: Op,
        out: impl Into<ViewMut<'b, R>>,
    ) -> Result<Several> {
        let out = out.into();
        let status =
            Sequence::from(x.into()).reduce_axes(self.now(), layout, axes, op, (out.ptr, out.len), null_mut())?;
        Several::of(self, status, &OF_LINES)
    }

    /// The minimum, the maximum or the largest magnitude of each row or column, and its index there, matrix by matrix.
    /// `gpumem_argreduce_axis()`.
    pub fn argreduce_axis<'a, 'b, 'c, T: Element>(
        &self,
        x: impl Into<View<'a, T>>,
        layout: Matrix,
        axis: Axis,
        end: Extreme,
        value: impl Into<ViewMut<'b, T::Result>>,
        index: impl Into<ViewMut<'c, i64>>,
    ) -> Result<Several> {
        let (value, index, x) = (value.into(), index.into(), Sequence::from(x.into()));
        let (value, index) = ((value.ptr, value.len), (index.ptr, index.len));
        let status = x.search_axis(self.now(), layout, (axis, end), value, index, null_mut())?;
        Several::of(self, status, &OF_LINES)
    }

    /// One result for each `x[offsets[s]..offsets[s + 1]]`. `gpumem_reduce_segments()`.
    pub fn reduce_segments<'a, 'b, 'c, T: Element>(
        &self,
        x: impl Into<View<'a, T>>,
        offsets: impl Into<View<'b, i64>>,
        op: Op,
        out: impl Into<ViewMut<'c, T::Result>>,
    ) -> Result<Several> {
        let (out, ends) = (out.into(), Sequence::from(offsets.into()));
        let status = Sequence::from(x.into()).segments(self.now(), ends, op, (out.ptr, out.len), null_mut())?;
        Several::of(self, status, &OF_SEGMENTS)
    }

    /// One result for the elements of each bin: `out[b]` is for those with `index[i] == b`. If an index is out of range,
    /// nothing is written. `gpumem_reduce_by_index()`.
    pub fn reduce_by_index<'a, 'b, 'c, T: Element, I: IndexElement>(
        &self,
        x: impl Into<View<'a, T>>,
        index: impl Into<View<'b, I>>,
        op: Op,
        out: impl Into<ViewMut<'c, T::Result>>,
    ) -> Result<Several> {
        let (out, index) = (out.into(), Sequence::from(index.into()));
        let status = Sequence::from(x.into()).by_index(self.now(), index, op, (out.ptr, out.len), null_mut())?;
        Several::of(self, status, &OF_BINS)
    }

    /// One result for each bin and column of the rows of `x`: `out[b * cols + c]` is for the elements `c` of those with
    /// `index[i] == b`. `gpumem_reduce_rows_by_index()`.
    pub fn reduce_rows_by_index<'a, 'b, 'c, T: Element, I: IndexElement>(
        &self,
        x: impl Into<View<'a, T>>,
        layout: Matrix,
        index: impl Into<View<'b, I>>,
        op: Op,
        out: impl Into<ViewMut<'c, T::Result>>,
    ) -> Result<Several> {
        let (out, index, x) = (out.into(), Sequence::from(index.into()), Sequence::from(x.into()));
        let status = x.rows_by_index(self.now(), layout, index, op, (out.ptr, out.len), null_mut())?;
        Several::of(self, status, &OF_BINS)
    }

    /// `out[b]` is the number of indices `b`. `gpumem_reduce_by_index()`.
    pub fn count_by_index<'a, 'b, I: IndexElement>(
        &self,
        index: impl Into<View<'a, I>>,
        out: impl Into<ViewMut<'b, i64>>,
    ) -> Result<()> {
        let (out, index) = (out.into(), Sequence::from(index.into()));
        self.check(run_by_index(self.now(), COUNTS, index, (out.ptr.cast(), out.len), null_mut())?)
    }
}

/// Reductions. Results and deferred statuses are in device, pinned or managed memory.
impl Queue {
    /// As [`Context::reduce`], with one result, or [`Context::min_max`], with two. `status` is the deferred status: the
    /// work writes a [`Status::code`] there. On a GPU, both are device, pinned or managed memory. `gpumem_reduce_async()`.
    pub fn reduce<'a, 'b, T: Element>(
        &self,
        x: impl Into<Lent<'a, T>>,
        op: Op,
        result: impl Into<LentMut<'b, T::Result>>,
        status: Option<LentMut<'_, i32>>,
    ) -> Result<()> {
        let (x, result, status) = (self.input(x, "x")?, self.output(result, "result")?, self.status(status)?);
        enough(Some(op.results()), result.len, "result")?;
        self.ctx.check(Sequence::from(x).reduce(self.run(), op, result.ptr.cast(), status)?)
    }

    /// As [`Context::argreduce`]. `gpumem_argreduce_async()`.
    pub fn argreduce<'a, 'b, 'c, T: Element>(
        &self,
        x: impl Into<Lent<'a, T>>,
        end: Extreme,
        value: impl Into<LentMut<'b, T::Result>>,
        index: impl Into<LentMut<'c, i64>>,
    ) -> Result<()> {
        let (x, value, index) = (self.input(x, "x")?, self.output(value, "value")?, self.output(index, "index")?);
        enough(Some(1), value.len.min(index.len), "value or index")?;
        self.ctx.check(Sequence::from(x).argreduce(self.run(), end, value.ptr.cast(), index.ptr)?)
    }

    /// As [`Context::dot`]. `gpumem_dot_f32_async()`, `gpumem_dot_f64_async()`.
    pub fn dot<'a, 'b, 'c, T: Float>(
        &self,
        x: impl Into<Lent<'a, T>>,
        y: impl Into<Lent<'b, T>>,
        result: impl Into<LentMut<'c, f64>>,
    ) -> Result<()> {
        let (x, y, result) = (self.input(x, "x")?, self.input(y, "y")?, self.output(result, "result")?);
        enough(Some(1), result.len, "result")?;
        self.ctx.check(dot(self.run(), Sequence::from(x), Sequence::from(y), result.ptr)?)
    }

    /// As [`Context::dot_order_free`]. `gpumem_dot_order_free_async()`.
    pub fn dot_order_free<'a, 'b, 'c, T: Float>(
        &self,
        x: impl Into<Lent<'a, T>>,
        y: impl Into<Lent<'b, T>>,
        result: impl Into<LentMut<'c, f64>>,
    ) -> Result<()> {
        let (x, y, result) = (self.input(x, "x")?, self.input(y, "y")?, self.output(result, "result")?);
        enough(Some(1), result.len, "result")?;
        self.ctx.check(dot_order_free(self.run(), Sequence::from(x), Sequence::from(y), result.ptr)?)
    }

    /// As [`Context::nrm2`]. `gpumem_nrm2_f32_async()`, `gpumem_nrm2_f64_async()`.
    pub fn nrm2<'a, 'b, T: Float>(&self, x: impl Into<Lent<'a, T>>, result: impl Into<LentMut<'b, f64>>) -> Result<()> {
        let (x, result) = (self.input(x, "x")?, self.output(result, "result")?);
        enough(Some(1), result.len, "result")?;
        self.ctx.check(nrm2(self.run(), Sequence::from(x), result.ptr)?)
    }

    /// As [`Context::reduce_view`], and [`Queue::reduce`]. `gpumem_reduce_view_async()`.
    pub fn reduce_view<'a, 'b, T: Element>(
        &self,
        x: impl Into<Lent<'a, T>>,
        layout: Array<'_>,
        op: Op,
        result: impl Into<LentMut<'b, T::Result>>,
        status: Option<LentMut<'_, i32>>,
    ) -> Result<()> {
        let (x, result, status) = (self.input(x, "x")?, self.output(result, "result")?, self.status(status)?);
        enough(Some(op.results()), result.len, "result")?;
        self.ctx.check(Sequence::from(x).reduce_view(self.run(), layout, op, result.ptr.cast(), status)?)
    }

    /// As [`Context::argreduce_view`]. `gpumem_argreduce_view_async()`.
    pub fn argreduce_view<'a, 'b, 'c, T: Element>(
        &self,
        x: impl Into<Lent<'a, T>>,
        layout: Array<'_>,
        end: Extreme,
        value: impl Into<LentMut<'b, T::Result>>,
        index: impl Into<LentMut<'c, i64>>,
    ) -> Result<()> {
        let (x, value, index) = (self.input(x, "x")?, self.output(value, "value")?, self.output(index, "index")?);
        enough(Some(1), value.len.min(index.len), "value or index")?;
        self.ctx.check(Sequence::from(x).argreduce_view(self.run(), layout, end, value.ptr.cast(), index.ptr)?)
    }

    /// As [`Context::dot_view`]. `gpumem_dot_view_f32_async()`, `gpumem_dot_view_f64_async()`.
    pub fn dot_view<'a, 'b, 'c, T: Float>(
        &self,
        x: impl Into<Lent<'a, T>>,
        x_layout: Array<'_>,
        y: impl Into<Lent<'b, T>>,
        y_layout: Array<'_>,
        result: impl Into<LentMut<'c, f64>>,
    ) -> Result<()> {
        let (x, y, result) = (self.input(x, "x")?, self.input(y, "y")?, self.output(result, "result")?);
        enough(Some(1), result.len, "result")?;
        let (x, y) = ((Sequence::from(x), x_layout), (Sequence::from(y), y_layout));
        self.ctx.check(dot_view(self.run(), x, y, result.ptr)?)
    }

    /// As [`Context::nrm2_view`]. `gpumem_nrm2_view_f32_async()`, `gpumem_nrm2_view_f64_async()`.
    pub fn nrm2_view<'a, 'b, T: Float>(
        &self,
        x: impl Into<Lent<'a, T>>,
        layout: Array<'_>,
        result: impl Into<LentMut<'b, f64>>,
    ) -> Result<()> {
        let (x, result) = (self.input(x, "x")?, self.output(result, "result")?);
        enough(Some(1), result.len, "result")?;
        self.ctx.check(nrm2_view(self.run(), Sequence::from(x), layout, result.ptr)?)
    }

    /// As [`Context::reduce_axis`]. `gpumem_reduce_axis_async()`.
    pub fn reduce_axis<'a, 'b, T: Element>(
        &self,
        x: impl Into<Lent<'a, T>>,
        layout: Matrix,
        axis: Axis,
        op: Op,
        out: impl Into<LentMut<'b, T::Result>>,
        status: Option<LentMut<'_, i32>>,
    ) -> Result<()> {
        let (x, out, status) = (self.input(x, "x")?, self.output(out, "out")?, self.status(status)?);
        self.ctx.check(Sequence::from(x).axis(self.run(), layout, axis, op, (out.ptr, out.len), status)?)
    }

    /// As [`Context::reduce_axes`]. `gpumem_reduce_axes_async()`.
    pub fn reduce_axes<'a, 'b, T: Element, R: Element>(
        &self,
        x: impl Into<Lent<'a, T>>,
        layout: Array<'_>,
        axes: &[usize],
        op: Op,
        out: impl Into<LentMut<'b, R>>,
        status: Option<LentMut<'_, i32>>,
    ) -> Result<()> {
        let (x, out, status) = (self.input(x, "x")?, self.output(out, "out")?, self.status(status)?);
        self.ctx.check(Sequence::from(x).reduce_axes(self.run(), layout, axes, op, (out.ptr, out.len), status)?)
    }

    /// As [`Context::argreduce_axis`]. `gpumem_argreduce_axis_async()`.
    #[allow(clippy::too_many_arguments)]
    pub fn argreduce_axis<'a, 'b, 'c, T: Element>(
        &self,
        x: impl Into<Lent<'a, T>>,
        layout: Matrix,
        axis: Axis,
        end: Extreme,
        value: impl Into<LentMut<'b, T::Result>>,
        index: impl Into<LentMut<'c, i64>>,
        status: Option<LentMut<'_, i32>>,
    ) -> Result<()> {
        let (x, value, index) = (self.input(x, "x")?, self.output(value, "value")?, self.output(index, "index")?);
        let (value, index, status) = ((value.ptr, value.len), (index.ptr, index.len), self.status(status)?);
        self.ctx.check(Sequence::from(x).search_axis(self.run(), layout, (axis, end), value, index, status)?)
    }

    /// As [`Context::reduce_segments`]. `gpumem_reduce_segments_async()`.
    pub fn reduce_segments<'a, 'b, 'c, T: Element>(
        &self,
        x: impl Into<Lent<'a, T>>,
        offsets: impl Into<Lent<'b, i64>>,
        op: Op,
        out: impl Into<LentMut<'c, T::Result>>,
        status: Option<LentMut<'_, i32>>,
    ) -> Result<()> {
        let (x, ends) = (self.input(x, "x")?, self.input(offsets, "offsets")?);
        let (out, status) = (self.output(out, "out")?, self.status(status)?);
        let ends = Sequence::from(ends);
        self.ctx.check(Sequence::from(x).segments(self.run(), ends, op, (out.ptr, out.len), status)?)
    }

    /// As [`Context::reduce_by_index`]. `gpumem_reduce_by_index_async()`.
    pub fn reduce_by_index<'a, 'b, 'c, T: Element, I: IndexElement>(
        &self,
        x: impl Into<Lent<'a, T>>,
        index: impl Into<Lent<'b, I>>,
        op: Op,
        out: impl Into<LentMut<'c, T::Result>>,
        status: Option<LentMut<'_, i32>>,
    ) -> Result<()> {
        let (x, index) = (self.input(x, "x")?, Sequence::from(self.input(index, "index")?));
        let (out, status) = (self.output(out, "out")?, self.status(status)?);
        self.ctx.check(Sequence::from(x).by_index(self.run(), index, op, (out.ptr, out.len), status)?)
    }

    /// As [`Context::reduce_rows_by_index`]. `gpumem_reduce_rows_by_index_async()`.
    pub fn reduce_rows_by_index<'a, 'b, 'c, T: Element, I: IndexElement>(
        &self,
        x: impl Into<Lent<'a, T>>,
        layout: Matrix,
        index: impl Into<Lent<'b, I>>,
        op: Op,
        out: impl Into<LentMut<'c, T::Result>>,
        status: Option<LentMut<'_, i32>>,
    ) -> Result<()> {
        let (x, index) = (self.input(x, "x")?, Sequence::from(self.input(index, "index")?));
        let (out, status) = (self.output(out, "out")?, self.status(status)?);
        self.ctx.check(Sequence::from(x).rows_by_index(self.run(), layout, index, op, (out.ptr, out.len), status)?)
    }

    /// As [`Context::count_by_index`]. `gpumem_reduce_by_index_async()`.
    pub fn count_by_index<'a, 'b, I: IndexElement>(
        &self,
        index: impl Into<Lent<'a, I>>,
        out: impl Into<LentMut<'b, i64>>,
        status: Option<LentMut<'_, i32>>,
    ) -> Result<()> {
        let index = Sequence::from(self.input(index, "index")?);
        let (out, status) = (self.output(out, "out")?, self.status(status)?);
        self.ctx.check(run_by_index(self.run(), COUNTS, index, (out.ptr.cast(), out.len), status)?)
    }
}
