use crate::context::Context;
use crate::copies::{Dst, Src};
use crate::element::{Element, Float, IndexElement, Pixel, Plain};
use crate::error::{Error, Result};
use crate::layout::{enough, number, small_number, Array, Image, Matrix};
use crate::queue::{run, Lent, LentMut, Queue, Run};
use crate::reduce::{is_f32, Op};
use crate::view::{View, ViewMut};
use gpumem_sys as sys;
use std::ffi::c_void;
use std::mem::size_of;
use std::ptr::{null, null_mut};

/// The interpolation of [`Context::resize`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum Filter {
    Nearest = sys::GPUMEM_FILTER_NEAREST,
    Bilinear = sys::GPUMEM_FILTER_BILINEAR,
}

fn transpose<T>(at: Run<'_>, src: Src<T>, of: Matrix, dst: Dst<T>, to: Matrix) -> Result<()> {
    if (to.rows, to.cols, to.batches) != (of.cols, of.rows, of.batches) {
        return Err(Error::argument(format!("dst is {:?}; expected the transpose of {:?}", to, of)));
    }
    let ([rows, cols, ld, batches, stride], [_, _, to_ld, _, to_stride]) =
        (of.numbers(src.1, "src")?, to.numbers(dst.1, "dst")?);
    let (bytes, s, d) = (size_of::<T>() as i64, src.0.cast(), dst.0.cast());
    at.ctx.check(match of.batches {
        1 => run!(at, gpumem_transpose(bytes, rows, cols, s, ld, d, to_ld), gpumem_transpose_async()),
        _ => run!(
            at,
            gpumem_transpose_batched(bytes, rows, cols, s, ld, stride, d, to_ld, to_stride, batches),
            gpumem_transpose_batched_async()
        ),
    })
}

fn permute<T>(
    at: Run<'_>,
    order: &[usize],
    src: Src<T>,
    of: Array<'_>,
    dst: Dst<T>,
    dst_strides: Option<&[usize]>,
) -> Result<()> {
    let (extents, strides) = of.numbers(src.1, "src")?;
    let rank = extents.len();
    if order.len() != rank || order.iter().any(|&axis| axis >= rank) {
        return Err(Error::argument(format!("order is {:?}; expected each of {} axes once", order, rank)));
    }
    let of_dst: Vec<usize> = order.iter().map(|&axis| of.extents[axis]).collect();
    let to = Array { extents: &of_dst, strides: dst_strides };
    let (_, to_strides) = to.numbers(dst.1, "dst")?;
    let (bytes, rank, s, d) = (size_of::<T>() as i64, small_number(rank)?, src.0.cast(), dst.0.cast());
    let order: Vec<i32> = order.iter().map(|&axis| axis as i32).collect(); // less than the number of axes
    let lists = (extents.as_ptr(), order.as_ptr(), strides.as_ptr(), to_strides.as_ptr());
    at.ctx.check(run!(
        at,
        gpumem_permute(bytes, rank, lists.0, lists.1, s, lists.2, d, lists.3),
        gpumem_permute_async()
    ))
}

fn copy_boxes<T>(
    at: Run<'_>,
    src: Src<T>,
    from: &[(usize, Array<'_>)],
    dst: Dst<T>,
    to: &[(usize, Array<'_>)],
) -> Result<()> {
    if from.len() != to.len() {
        return Err(Error::argument(format!("from has {} boxes, but to has {}", from.len(), to.len())));
    }
    let rank = from.first().map_or(0, |first| first.1.extents.len());
    let (mut extents, mut steps, mut to_steps) = (vec![], vec![], vec![]);
    let (mut sources, mut targets) = (vec![], vec![]);
    for (k, (&(offset, of), &(to_offset, to))) in from.iter().zip(to).enumerate() {
        if of.extents != to.extents || of.extents.len() != rank {
            let text =
                format!("to[{}] is {:?} and from[{}] {:?}; expected {} axes", k, to.extents, k, of.extents, rank);
            return Err(Error::argument(text));
        }
        let (sizes, strides) = of.numbers(src.1.saturating_sub(offset), &format!("src from from[{}] on", k))?;
        let (_, to_strides) = to.numbers(dst.1.saturating_sub(to_offset), &format!("dst from to[{}] on", k))?;
        extents.extend(sizes);
        steps.extend(strides);
        to_steps.extend(to_strides);
        sources.push(src.0.wrapping_add(offset).cast());
        targets.push(dst.0.wrapping_add(to_offset).cast());
    }
    let (bytes, rank, n) = (size_of::<T>() as i64, small_number(rank)?, number(from.len())?);
    let (e, s, p, d, q) = (extents.as_ptr(), sources.as_ptr(), steps.as_ptr(), targets.as_ptr(), to_steps.as_ptr());
    at.ctx.check(run!(at, gpumem_copy_boxes(bytes, rank, n, e, s, p, d, q), gpumem_copy_boxes_async()))
}

/// The number of rows of a matrix, their bytes and their pitch.
pub(crate) fn rows<T>(layout: Matrix, len: usize, name: &str) -> Result<[i64; 3]> {
    let [rows, cols, ld, batches, _] = layout.numbers(len, name)?;
    if batches != 1 {
        return Err(Error::argument(format!("{} is {} matrices; expected one", name, batches)));
    }
    let size = size_of::<T>() as i64;
    Ok([rows, cols.saturating_mul(size), ld.saturating_mul(size)])
}

pub(crate) fn row_bytes(src: i64, dst: i64) -> Result<i64> {
    match src == dst {
        true => Ok(src),
        false => Err(Error::argument(format!("rows of src have {} bytes, but rows of dst have {}", src, dst))),
    }
}

fn gather<T, I: IndexElement>(
    at: Run<'_>,
    src: Src<T>,
    of: Matrix,
    index: Src<I>,
    dst: Dst<T>,
    to: Matrix,
    status: *mut i32,
) -> Result<()> {
    let ([src_rows, src_row, src_pitch], [n, dst_row, dst_pitch]) =
        (rows::<T>(of, src.1, "src")?, rows::<T>(to, dst.1, "dst")?);
    if number(index.1)? != n {
        return Err(Error::argument(format!("index has {} numbers, but dst has {} rows", index.1, n)));
    }
    let (row, kind, i) = (row_bytes(src_row, dst_row)?, I::DTYPE as i32, index.0.cast());
    let (s, d) = (src.0.cast(), dst.0.cast());
    at.ctx.check(run!(
        at,
        gpumem_gather(row, s, src_rows, src_pitch, kind, i, n, d, dst_pitch),
        gpumem_gather_async(status)
    ))
}

fn scatter<T, I: IndexElement>(
    at: Run<'_>,
    src: Src<T>,
    of: Matrix,
    index: Src<I>,
    dst: Dst<T>,
    to: Matrix,
    status: *mut i32,
) -> Result<()> {
    let ([n, src_row, src_pitch], [dst_rows, dst_row, dst_pitch]) =
        (rows::<T>(of, src.1, "src")?, rows::<T>(to, dst.1, "dst")?);
    if number(index.1)? != n {
        return Err(Error::argument(format!("index has {} numbers, but src has {} rows", index.1, n)));
    }
    let (row, kind, i) = (row_bytes(src_row, dst_row)?, I::DTYPE as i32, index.0.cast());
    let (s, d) = (src.0.cast(), dst.0.cast());
    at.ctx.check(run!(
        at,
        gpumem_scatter(row, s, src_pitch, kind, i, n, d, dst_rows, dst_pitch),
        gpumem_scatter_async(status)
    ))
}

/// A source and its strides.
pub(crate) type Strided<'a, T> = (Src<T>, &'a [usize]);

/// An operand whose factor is 0 is not read. It is NULL if z is its own memory.
fn axpby<T: Float>(at: Run<'_>, alpha: T, x: Src<T>, beta: T, y: Src<T>, z: Dst<T>) -> Result<()> {
    if x.1 != z.1 || y.1 != z.1 {
        return Err(Error::argument(format!("x has {} elements, y has {}, z has {}", x.1, y.1, z.1)));
    }
    let (n, p) = (number(z.1)?, (x.0, y.0, z.0));
    let single = is_f32::<T>();
    // Both have the type that was just checked.
    let factor = |value: &T| match single {
        true => (unsafe { *(value as *const T as *const f32) }, 0.0),
        false => (0.0, unsafe { *(value as *const T as *const f64) }),
    };
    let (a, b) = (factor(&alpha), factor(&beta));
    at.ctx.check(match single {
        true => run!(at, gpumem_axpby_f32(a.0, p.0.cast(), b.0, p.1.cast(), p.2.cast(), n), gpumem_axpby_f32_async()),
        false => run!(at, gpumem_axpby_f64(a.1, p.0.cast(), b.1, p.1.cast(), p.2.cast(), n), gpumem_axpby_f64_async()),
    })
}

/// The strides of an operand with these extents, checked against the length of its memory.
pub(crate) fn strides_in(extents: &[usize], strides: &[usize], len: usize, name: &str) -> Result<Vec<i64>> {
    Ok(Array::new(extents).strides(strides).numbers(len, name)?.1)
}

/// A factor's number, and its numerator and denominator in memory. None is 1.
type Factor<T> = (T, Option<Src<f64>>, Option<Src<f64>>);

type Terms<'a, T> = [(Factor<T>, Src<T>, &'a [usize])];

/// Dot products of the result: the operands, of which `None` is the result itself, and their results.
struct Dots<'a, T> {
    w: &'a [Option<Strided<'a, T>>],
    results: Dst<f64>,
}

fn lincomb<T: Float>(
    at: Run<'_>,
    extents: &[usize],
    terms: &Terms<T>,
    z: Dst<T>,
    z_strides: &[usize],
    dots: Option<Dots<T>>,
) -> Result<()> {
    let shape = extents.iter().map(|&extent| number(extent)).collect::<Result<Vec<_>>>()?;
    let (rank, count) = (small_number(extents.len())?, small_number(terms.len())?);
    let factors: Vec<T> = terms.iter().map(|term| term.0 .0).collect();
    let one = |x: Option<Src<f64>>| match x {
        None => Ok(null()),
        Some((p, 1)) => Ok(p),
        Some((_, len)) => Err(Error::argument(format!("a numerator or denominator has {} elements", len))),
    };
    let above = terms.iter().map(|term| one(term.0 .1)).collect::<Result<Vec<_>>>()?;
    let below = terms.iter().map(|term| one(term.0 .2)).collect::<Result<Vec<_>>>()?;
    let sources: Vec<*const T> = terms.iter().map(|term| term.1 .0).collect();
    let mut strides = Vec::new();
    for (k, (_, x, own)) in terms.iter().enumerate() {
        strides.extend(strides_in(extents, own, x.1, &format!("x[{}]", k))?);
    }
    let to = strides_in(extents, z_strides, z.1, "z")?;
    let (e, f, x, s, t) = (shape.as_ptr(), factors.as_ptr(), sources.as_ptr(), strides.as_ptr(), to.as_ptr());
    let (n, d) = (above.as_ptr(), below.as_ptr());
    if let Some(dots) = dots {
        let mut w_strides = Vec::new();
        for w in dots.w {
            w_strides.extend(match w {
                None => to.clone(),
                Some((x, own)) => strides_in(extents, own, x.1, "w")?,
            });
        }
        enough(Some(dots.w.len()), dots.results.1, "results")?;
        let w: Vec<*const T> = dots.w.iter().map(|w| w.map_or(null(), |w| w.0 .0)).collect();
        let (k, w, ws, r) = (small_number(w.len())?, w.as_ptr(), w_strides.as_ptr(), dots.results.0);
        return at.ctx.check(match is_f32::<T>() {
            true => run!(
                at,
                gpumem_lincomb_dot_f32(rank, e, count, f.cast(), n, d, x.cast(), s, z.0.cast(), t, k, w.cast(), ws, r),
                gpumem_lincomb_dot_f32_async()
            ),
            false => run!(
                at,
                gpumem_lincomb_dot_f64(rank, e, count, f.cast(), n, d, x.cast(), s, z.0.cast(), t, k, w.cast(), ws, r),
                gpumem_lincomb_dot_f64_async()
            ),
        });
    }
    let in_memory = above.iter().chain(&below).any(|p| !p.is_null());
    at.ctx.check(match (is_f32::<T>(), in_memory) {
        (true, false) => run!(
            at,
            gpumem_lincomb_f32(rank, e, count, f.cast(), x.cast(), s, z.0.cast(), t),
            gpumem_lincomb_f32_async()
        ),
        (false, false) => run!(
            at,
            gpumem_lincomb_f64(rank, e, count, f.cast(), x.cast(), s, z.0.cast(), t),
            gpumem_lincomb_f64_async()
        ),
        (true, true) => run!(
            at,
            gpumem_lincomb_at_f32(rank, e, count, f.cast(), n, d, x.cast(), s, z.0.cast(), t),
            gpumem_lincomb_at_f32_async()
        ),
        (false, true) => run!(
            at,
            gpumem_lincomb_at_f64(rank, e, count, f.cast(), n, d, x.cast(), s, z.0.cast(), t),
            gpumem_lincomb_at_f64_async()
        ),
    })
}

fn multiply<T: Float>(
    at: Run<'_>,
    extents: &[usize],
    x: Strided<T>,
    y: Strided<T>,
    z: (Dst<T>, &[usize]),
) -> Result<()> {
    let shape = extents.iter().map(|&extent| number(extent)).collect::<Result<Vec<_>>>()?;
    let (i, j) = (strides_in(extents, x.1, x.0 .1, "x")?, strides_in(extents, y.1, y.0 .1, "y")?);
    let k = strides_in(extents, z.1, z.0 .1, "z")?;
    let (rank, e, i, j, k) = (small_number(extents.len())?, shape.as_ptr(), i.as_ptr(), j.as_ptr(), k.as_ptr());
    let (p, q, to) = (x.0 .0, y.0 .0, z.0 .0);
    at.ctx.check(match is_f32::<T>() {
        true => {
            run!(at, gpumem_multiply_f32(rank, e, p.cast(), i, q.cast(), j, to.cast(), k), gpumem_multiply_f32_async())
        }
        false => {
            run!(at, gpumem_multiply_f64(rank, e, p.cast(), i, q.cast(), j, to.cast(), k), gpumem_multiply_f64_async())
        }
    })
}

fn convert<S: Element, D: Element>(at: Run<'_>, src: Src<S>, dst: Dst<D>) -> Result<()> {
    if src.1 != dst.1 {
        return Err(Error::argument(format!("src has {} elements, but dst has {}", src.1, dst.1)));
    }
    let (n, from, to) = (number(src.1)?, S::DTYPE as i32, D::DTYPE as i32);
    at.ctx.check(run!(at, gpumem_convert(from, src.0.cast(), to, dst.0.cast(), n), gpumem_convert_async()))
}

/// The outputs of a sort, as the library takes them.
fn sort_outputs<T, I>(
    keys: Src<T>,
    sorted: Option<Dst<T>>,
    order: Option<Dst<I>>,
) -> Result<(*mut c_void, *mut c_void)> {
    let lengths = [("sorted", sorted.map(|to| to.1)), ("order", order.map(|to| to.1))];
    for (name, length) in lengths {
        if length.map_or(false, |length| length != keys.1) {
            return Err(Error::argument(format!("keys have {} elements, but {} has {:?}", keys.1, name, length)));
        }
    }
    Ok((sorted.map_or(null_mut(), |to| to.0.cast()), order.map_or(null_mut(), |to| to.0.cast())))
}

fn sort<T: Element, I: IndexElement>(
    at: Run<'_>,
    keys: Src<T>,
    sorted: Option<Dst<T>>,
    order: Option<Dst<I>>,
    descending: bool,
) -> Result<()> {
    let (to, places) = sort_outputs(keys, sorted, order)?;
    let (n, down, kind, of_order) = (number(keys.1)?, descending as i32, T::DTYPE as i32, I::DTYPE as i32);
    at.ctx.check(run!(at, gpumem_sort(kind, keys.0.cast(), n, down, to, places, of_order), gpumem_sort_async()))
}

fn sort_segments<T: Element, I: IndexElement>(
    at: Run<'_>,
    keys: Src<T>,
    offsets: Src<i64>,
    (sorted, order): (Option<Dst<T>>, Option<Dst<I>>),
    descending: bool,
    status: *mut i32,
) -> Result<()> {
    let (to, places) = sort_outputs(keys, sorted, order)?;
    let segments = match offsets.1 {
        0 => return Err(Error::argument("offsets is empty; expected one more element than segments")),
        length => number(length - 1)?,
    };
    let (n, down, kind, of_order) = (number(keys.1)?, descending as i32, T::DTYPE as i32, I::DTYPE as i32);
    at.ctx.check(run!(
        at,
        gpumem_sort_segments(kind, keys.0.cast(), n, offsets.0, segments, down, to, places, of_order),
        gpumem_sort_segments_async(status)
    ))
}

fn scan<S: Element, D: Element>(
    at: Run<'_>,
    op: Op,
    exclusive: bool,
    x: Src<S>,
    result: Dst<D>,
    status: *mut i32,
) -> Result<()> {
    if x.1 != result.1 {
        return Err(Error::argument(format!("x has {} elements, but result has {}", x.1, result.1)));
    }
    let (n, from, to) = (number(x.1)?, S::DTYPE as i32, D::DTYPE as i32);
    let (op, exclusive) = (op as i32, exclusive as i32);
    at.ctx.check(run!(
        at,
        gpumem_scan(from, op, exclusive, x.0.cast(), n, result.0.cast(), to),
        gpumem_scan_async(status)
    ))
}

fn scan_axis<S: Element, D: Element>(
    at: Run<'_>,
    how: (Op, bool, usize),
    x: Src<S>,
    of: Array<'_>,
    result: Dst<D>,
    to: Array<'_>,
    status: *mut i32,
) -> Result<()> {
    if of.extents != to.extents {
        return Err(Error::argument(format!("x has the extents {:?}, but result has {:?}", of.extents, to.extents)));
    }
    let ((extents, strides), (_, to_strides)) = (of.numbers(x.1, "x")?, to.numbers(result.1, "result")?);
    let (op, exclusive, axis) = (how.0 as i32, how.1 as i32, small_number(how.2)?);
    let (rank, from, to) = (small_number(extents.len())?, S::DTYPE as i32, D::DTYPE as i32);
    let (e, s, t) = (extents.as_ptr(), strides.as_ptr(), to_strides.as_ptr());
    let (p, q) = (x.0.cast(), result.0.cast());
    at.ctx.check(run!(
        at,
        gpumem_scan_axis(from, op, exclusive, rank, e, axis, p, s, q, t, to),
        gpumem_scan_axis_async(status)
    ))
}

fn scan_segments<S: Element, D: Element>(
    at: Run<'_>,
    how: (Op, bool),
    x: Src<S>,
    offsets: Src<i64>,
    result: Dst<D>,
    status: *mut i32,
) -> Result<()> {
    if x.1 != result.1 {
        return Err(Error::argument(format!("x has {} elements, but result has {}", x.1, result.1)));
    }
    if offsets.1 == 0 {
        return Err(Error::argument("offsets is empty; expected one more element than segments"));
    }
    let (n, segments, from, to) = (number(x.1)?, number(offsets.1 - 1)?, S::DTYPE as i32, D::DTYPE as i32);
    let (op, exclusive) = (how.0 as i32, how.1 as i32);
    at.ctx.check(run!(
        at,
        gpumem_scan_segments(from, op, exclusive, x.0.cast(), n, offsets.0, segments, result.0.cast(), to),
        gpumem_scan_segments_async(status)
    ))
}

fn resize<T: Pixel>(at: Run<'_>, filter: Filter, src: Src<T>, of: Image, dst: Dst<T>, to: Image) -> Result<()> {
    if of.channels != to.channels {
        return Err(Error::argument(format!("src has {} channels, but dst has {}", of.channels, to.channels)));
    }
    let ([rows, cols, pitch], [to_rows, to_cols, to_pitch]) =
        (of.numbers::<T>(src.1, "src")?, to.numbers::<T>(dst.1, "dst")?);
    let (kind, channels) = (T::DTYPE as i32, of.channels.min(i32::MAX as usize) as i32);
    let (f, s, d) = (filter as i32, src.0.cast(), dst.0.cast());
    at.ctx.check(run!(
        at,
        gpumem_resize_2d(f, kind, channels, s, rows, cols, pitch, d, to_rows, to_cols, to_pitch),
        gpumem_resize_2d_async()
    ))
}

fn resize_batch<T: Pixel>(
    at: Run<'_>,
    filter: Filter,
    images: &[(Src<T>, Image)],
    dst: Dst<T>,
    to: Image,
    stride: usize,
) -> Result<()> {
    let (mut sources, mut rows, mut cols, mut pitches) = (vec![], vec![], vec![], vec![]);
    for (k, (src, of)) in images.iter().enumerate() {
        if of.channels != to.channels {
            let text = format!("images[{}] has {} channels, but dst has {}", k, of.channels, to.channels);
            return Err(Error::argument(text));
        }
        let numbers = of.numbers::<T>(src.1, &format!("images[{}]", k))?;
        sources.push(src.0.cast());
        rows.push(numbers[0]);
        cols.push(numbers[1]);
        pitches.push(numbers[2]);
    }
    let ([to_rows, to_cols, to_pitch], stride) = to.batch_numbers::<T>(images.len(), stride, dst.1, "dst")?;
    let (kind, channels) = (T::DTYPE as i32, to.channels.min(i32::MAX as usize) as i32);
    let (f, n, d) = (filter as i32, number(images.len())?, dst.0.cast());
    let (s, r, c, p) = (sources.as_ptr(), rows.as_ptr(), cols.as_ptr(), pitches.as_ptr());
    at.ctx.check(run!(
        at,
        gpumem_resize_2d_batch(f, kind, channels, n, s, r, c, p, d, to_rows, to_cols, to_pitch, stride),
        gpumem_resize_2d_batch_async()
    ))
}

/// Defines functions for both Context and Queue, which differ only in their operands.
macro_rules! operations {
    ($on:ty, $input:ident, $output:ident, $run:ident, $in:expr, $out:expr, $status:expr, [$($words:ident: $word:ty)?]) => {
        impl $on {
            /// Transposes matrices. `dst_layout` is the layout of the transpose. `gpumem_transpose()`,
            /// `gpumem_transpose_batched()`.
            pub fn transpose<'a, 'b, T: Plain>(
                &self,
                src: impl Into<$input<'a, T>>,
                layout: Matrix,
                dst: impl Into<$output<'b, T>>,
                dst_layout: Matrix,
            ) -> Result<()> {
                transpose(self.$run(), $in(self, src.into(), "src")?, layout, $out(self, dst.into(), "dst")?, dst_layout)
            }

            /// Transposes matrices in place. They are square or have no padding. `gpumem_transpose()`.
            pub fn transpose_in_place<'a, T: Plain>(&self, x: impl Into<$output<'a, T>>, layout: Matrix) -> Result<()> {
                let x = $out(self, x.into(), "x")?;
                let square = layout.rows == layout.cols;
                let ld = if square { layout.ld } else { layout.rows };
                let turned = Matrix { rows: layout.cols, cols: layout.rows, ld, ..layout };
                transpose(self.$run(), (x.0 as *const T, x.1), layout, x, turned)
            }

            /// Writes the axes of an array in another order: axis d of dst is axis `order[d]` of src. Without
            /// `dst_strides`, dst has no padding. `gpumem_permute()`.
            pub fn permute<'a, 'b, T: Plain>(
                &self,
                order: &[usize],
                src: impl Into<$input<'a, T>>,
                layout: Array<'_>,
                dst: impl Into<$output<'b, T>>,
                dst_strides: Option<&[usize]>,
            ) -> Result<()> {
                let (src, dst) = ($in(self, src.into(), "src")?, $out(self, dst.into(), "dst")?);
                permute(self.$run(), order, src, layout, dst, dst_strides)
            }

            /// Copies boxes of src to boxes of dst in one call. A box begins at an offset in elements. Box k of `from` has
            /// the extents of box k of `to`. `gpumem_copy_boxes()`.
            pub fn copy_boxes<'a, 'b, T: Plain>(
                &self,
                src: impl Into<$input<'a, T>>,
                from: &[(usize, Array<'_>)],
                dst: impl Into<$output<'b, T>>,
                to: &[(usize, Array<'_>)],
            ) -> Result<()> {
                let (src, dst) = ($in(self, src.into(), "src")?, $out(self, dst.into(), "dst")?);
                copy_boxes(self.$run(), src, from, dst, to)
            }

            /// Row i of dst is row `index[i]` of src. If an index is out of range, nothing is written.
            /// `gpumem_gather()`.
            #[allow(clippy::too_many_arguments)]
            pub fn gather<'a, 'b, 'c, T: Plain, I: IndexElement>(
                &self,
                src: impl Into<$input<'a, T>>,
                layout: Matrix,
                index: impl Into<$input<'b, I>>,
                dst: impl Into<$output<'c, T>>,
                dst_layout: Matrix,
                $($words: $word,)?
            ) -> Result<()> {
                let (src, index) = ($in(self, src.into(), "src")?, $in(self, index.into(), "index")?);
                let dst = $out(self, dst.into(), "dst")?;
                gather(self.$run(), src, layout, index, dst, dst_layout, $status(self $(, $words)?)?)
            }

            /// Row `index[i]` of dst is row i of src. If an index is out of range, nothing is written.
            /// `gpumem_scatter()`.
            #[allow(clippy::too_many_arguments)]
            pub fn scatter<'a, 'b, 'c, T: Plain, I: IndexElement>(
                &self,
                src: impl Into<$input<'a, T>>,
                layout: Matrix,
                index: impl Into<$input<'b, I>>,
                dst: impl Into<$output<'c, T>>,
                dst_layout: Matrix,
                $($words: $word,)?
            ) -> Result<()> {
                let (src, index) = ($in(self, src.into(), "src")?, $in(self, index.into(), "index")?);
                let dst = $out(self, dst.into(), "dst")?;
                scatter(self.$run(), src, layout, index, dst, dst_layout, $status(self $(, $words)?)?)
            }

            /// Resizes an image. `gpumem_resize_2d()`.
            pub fn resize<'a, 'b, T: Pixel>(
                &self,
                filter: Filter,
                src: impl Into<$input<'a, T>>,
                layout: Image,
                dst: impl Into<$output<'b, T>>,
                dst_layout: Image,
            ) -> Result<()> {
                let (src, dst) = ($in(self, src.into(), "src")?, $out(self, dst.into(), "dst")?);
                resize(self.$run(), filter, src, layout, dst, dst_layout)
            }

            /// Resizes images to one size. Results begin `dst_stride` elements apart. `gpumem_resize_2d_batch()`.
            pub fn resize_batch<'a, 'b, T: Pixel>(
                &self,
                filter: Filter,
                images: &[($input<'a, T>, Image)],
                dst: impl Into<$output<'b, T>>,
                dst_layout: Image,
                dst_stride: usize,
            ) -> Result<()> {
                let source = |&(src, layout): &($input<'a, T>, Image)| Ok(($in(self, src, "src")?, layout));
                let images = images.iter().map(source).collect::<Result<Vec<_>>>()?;
                resize_batch(self.$run(), filter, &images, $out(self, dst.into(), "dst")?, dst_layout, dst_stride)
            }

            /// Writes the elements of src as another type, rounded once or saturated. `gpumem_convert()`.
            pub fn convert<'a, 'b, S: Element, D: Element>(
                &self,
                src: impl Into<$input<'a, S>>,
                dst: impl Into<$output<'b, D>>,
            ) -> Result<()> {
                let src = $in(self, src.into(), "src")?;
                convert(self.$run(), src, $out(self, dst.into(), "dst")?)
            }

            /// The keys in ascending or descending order. The sort is stable. `gpumem_sort()`.
            pub fn sort<'a, 'b, T: Element>(
                &self,
                keys: impl Into<$input<'a, T>>,
                sorted: impl Into<$output<'b, T>>,
                descending: bool,
            ) -> Result<()> {
                let (keys, to) = ($in(self, keys.into(), "keys")?, $out(self, sorted.into(), "sorted")?);
                sort::<T, i64>(self.$run(), keys, Some(to), None, descending)
            }

            /// The same, in place. `gpumem_sort()`.
            pub fn sort_in_place<'a, T: Element>(&self, x: impl Into<$output<'a, T>>, descending: bool) -> Result<()> {
                let x = $out(self, x.into(), "x")?;
                sort::<T, i64>(self.$run(), (x.0 as *const T, x.1), Some(x), None, descending)
            }

            /// The positions of the sorted keys, counted from 0. `gpumem_sort()`.
            pub fn argsort<'a, 'b, T: Element, I: IndexElement>(
                &self,
                keys: impl Into<$input<'a, T>>,
                order: impl Into<$output<'b, I>>,
                descending: bool,
            ) -> Result<()> {
                let (keys, to) = ($in(self, keys.into(), "keys")?, $out(self, order.into(), "order")?);
                sort::<T, I>(self.$run(), keys, None, Some(to), descending)
            }

            /// The sorted keys and their positions. `gpumem_sort()`.
            pub fn sort_with_order<'a, 'b, 'c, T: Element, I: IndexElement>(
                &self,
                keys: impl Into<$input<'a, T>>,
                sorted: impl Into<$output<'b, T>>,
                order: impl Into<$output<'c, I>>,
                descending: bool,
            ) -> Result<()> {
                let (keys, to) = ($in(self, keys.into(), "keys")?, $out(self, sorted.into(), "sorted")?);
                sort(self.$run(), keys, Some(to), Some($out(self, order.into(), "order")?), descending)
            }

            /// Sorts each `keys[offsets[s]..offsets[s + 1]]` alone. If the offsets are not in order, or exceed the keys,
            /// nothing is written. `gpumem_sort_segments()`.
            pub fn sort_segments<'a, 'b, 'c, T: Element>(
                &self,
                keys: impl Into<$input<'a, T>>,
                offsets: impl Into<$input<'b, i64>>,
                sorted: impl Into<$output<'c, T>>,
                descending: bool,
                $($words: $word,)?
            ) -> Result<()> {
                let (keys, ends) = ($in(self, keys.into(), "keys")?, $in(self, offsets.into(), "offsets")?);
                let to: (_, Option<Dst<i64>>) = (Some($out(self, sorted.into(), "sorted")?), None);
                sort_segments(self.$run(), keys, ends, to, descending, $status(self $(, $words)?)?)
            }

            /// The positions of the sorted keys of each segment, counted from 0 in `keys`. `gpumem_sort_segments()`.
            pub fn argsort_segments<'a, 'b, 'c, T: Element, I: IndexElement>(
                &self,
                keys: impl Into<$input<'a, T>>,
                offsets: impl Into<$input<'b, i64>>,
                order: impl Into<$output<'c, I>>,
                descending: bool,
                $($words: $word,)?
            ) -> Result<()> {
                let (keys, ends) = ($in(self, keys.into(), "keys")?, $in(self, offsets.into(), "offsets")?);
                let to = (None, Some($out(self, order.into(), "order")?));
                sort_segments(self.$run(), keys, ends, to, descending, $status(self $(, $words)?)?)
            }

            /// Element i of result is the reduction of the first i + 1 elements of x, or of the first i if `exclusive`. The
            /// type of result is that of x, or [`Element::Result`]. `gpumem_scan()`.
            pub fn scan<'a, 'b, S: Element, D: Element>(
                &self,
                op: Op,
                exclusive: bool,
                x: impl Into<$input<'a, S>>,
                result: impl Into<$output<'b, D>>,
                $($words: $word,)?
            ) -> Result<()> {
                let x = $in(self, x.into(), "x")?;
                let result = $out(self, result.into(), "result")?;
                scan(self.$run(), op, exclusive, x, result, $status(self $(, $words)?)?)
            }

            /// Scans along one axis: each line of the elements that differ only in their index of this axis. Both
            /// layouts have the same extents. `gpumem_scan_axis()`.
            #[allow(clippy::too_many_arguments)]
            pub fn scan_axis<'a, 'b, S: Element, D: Element>(
                &self,
                op: Op,
                exclusive: bool,
                x: impl Into<$input<'a, S>>,
                layout: Array<'_>,
                axis: usize,
                result: impl Into<$output<'b, D>>,
                result_layout: Array<'_>,
                $($words: $word,)?
            ) -> Result<()> {
                let x = $in(self, x.into(), "x")?;
                let result = $out(self, result.into(), "result")?;
                let how = (op, exclusive, axis);
                scan_axis(self.$run(), how, x, layout, result, result_layout, $status(self $(, $words)?)?)
            }

            /// Scans each `x[offsets[s]..offsets[s + 1]]`. Results of elements in no segment are not written.
            /// `gpumem_scan_segments()`.
            pub fn scan_segments<'a, 'b, 'c, S: Element, D: Element>(
                &self,
                op: Op,
                exclusive: bool,
                x: impl Into<$input<'a, S>>,
                offsets: impl Into<$input<'b, i64>>,
                result: impl Into<$output<'c, D>>,
                $($words: $word,)?
            ) -> Result<()> {
                let (x, offsets) = ($in(self, x.into(), "x")?, $in(self, offsets.into(), "offsets")?);
                let result = $out(self, result.into(), "result")?;
                scan_segments(self.$run(), (op, exclusive), x, offsets, result, $status(self $(, $words)?)?)
            }

            /// z = alpha * x + beta * y. `gpumem_axpby_f32()`, `gpumem_axpby_f64()`.
            pub fn axpby<'a, 'b, 'c, T: Float>(
                &self,
                alpha: T,
                x: impl Into<$input<'a, T>>,
                beta: T,
                y: impl Into<$input<'b, T>>,
                z: impl Into<$output<'c, T>>,
            ) -> Result<()> {
                let (x, y) = ($in(self, x.into(), "x")?, $in(self, y.into(), "y")?);
                axpby(self.$run(), alpha, x, beta, y, $out(self, z.into(), "z")?)
            }

            /// z = alpha * x + beta * z, in place. `gpumem_axpby_f32()`, `gpumem_axpby_f64()`.
            pub fn axpby_in_place<'a, 'b, T: Float>(
                &self,
                alpha: T,
                x: impl Into<$input<'a, T>>,
                beta: T,
                z: impl Into<$output<'b, T>>,
            ) -> Result<()> {
                let (x, z) = ($in(self, x.into(), "x")?, $out(self, z.into(), "z")?);
                axpby(self.$run(), alpha, x, beta, (z.0 as *const T, z.1), z)
            }

            /// z = the sum of factor * x over up to 16 terms (factor, x, strides of x). All arrays have the same
            /// `extents`, up to eight axes, and their own strides in elements. A stride of 0 repeats elements. Parts of
            /// one array, such as `View::from(&u).slice(1..)`, make a stencil. In a variable, the strides must be slices,
            /// such as `&strides[..]`. `gpumem_lincomb_f32()`, `gpumem_lincomb_f64()`.
            pub fn lincomb<'a, 'b, T: Float>(
                &self,
                extents: &[usize],
                terms: &[(T, $input<'a, T>, &[usize])],
                z: impl Into<$output<'b, T>>,
                z_strides: &[usize],
            ) -> Result<()> {
                let source = |&(factor, x, strides): &(T, $input<'a, T>, _)| {
                    Ok(((factor, None, None), $in(self, x, "x")?, strides))
                };
                let terms = terms.iter().map(source).collect::<Result<Vec<_>>>()?;
                lincomb(self.$run(), extents, &terms, $out(self, z.into(), "z")?, z_strides, None)
            }

            /// `lincomb` with factors in memory. A factor is (number, numerator, denominator): the number times the one
            /// element of the numerator, divided by that of the denominator. `None` is 1. The work reads them when it
            /// runs. `gpumem_lincomb_at_f32()`, `gpumem_lincomb_at_f64()`.
            #[allow(clippy::type_complexity)]
            pub fn lincomb_at<'a, 'b, T: Float>(
                &self,
                extents: &[usize],
                terms: &[((T, Option<$input<'a, f64>>, Option<$input<'a, f64>>), $input<'a, T>, &[usize])],
                z: impl Into<$output<'b, T>>,
                z_strides: &[usize],
            ) -> Result<()> {
                let mut sources = Vec::new();
                for &((factor, above, below), x, strides) in terms {
                    let above = above.map(|x| $in(self, x, "numerator")).transpose()?;
                    let below = below.map(|x| $in(self, x, "denominator")).transpose()?;
                    sources.push(((factor, above, below), $in(self, x, "x")?, strides));
                }
                lincomb(self.$run(), extents, &sources, $out(self, z.into(), "z")?, z_strides, None)
            }

            /// `lincomb_at`, and in the same pass `results[k]` = the dot product of the new z and the view `w[k]`, for one
            /// to three of them. `None` is z itself. `gpumem_lincomb_dot_f32()`, `gpumem_lincomb_dot_f64()`.
            #[allow(clippy::type_complexity)]
            pub fn lincomb_dot<'a, 'b, 'c, T: Float>(
                &self,
                extents: &[usize],
                terms: &[((T, Option<$input<'a, f64>>, Option<$input<'a, f64>>), $input<'a, T>, &[usize])],
                z: impl Into<$output<'b, T>>,
                z_strides: &[usize],
                w: &[Option<($input<'a, T>, &[usize])>],
                results: impl Into<$output<'c, f64>>,
            ) -> Result<()> {
                let mut sources = Vec::new();
                for &((factor, above, below), x, strides) in terms {
                    let above = above.map(|x| $in(self, x, "numerator")).transpose()?;
                    let below = below.map(|x| $in(self, x, "denominator")).transpose()?;
                    sources.push(((factor, above, below), $in(self, x, "x")?, strides));
                }
                let operand = |w: &Option<($input<'a, T>, _)>| w.map(|(x, own)| Ok(($in(self, x, "w")?, own))).transpose();
                let w = w.iter().map(operand).collect::<Result<Vec<_>>>()?;
                let dots = Dots { w: &w, results: $out(self, results.into(), "results")? };
                lincomb(self.$run(), extents, &sources, $out(self, z.into(), "z")?, z_strides, Some(dots))
            }

            /// z = x * y, element by element, with operands as for `lincomb`. `gpumem_multiply_f32()`,
            /// `gpumem_multiply_f64()`.
            #[allow(clippy::too_many_arguments)]
            pub fn multiply<'a, 'b, 'c, T: Float>(
                &self,
                extents: &[usize],
                x: impl Into<$input<'a, T>>,
                x_strides: &[usize],
                y: impl Into<$input<'b, T>>,
                y_strides: &[usize],
                z: impl Into<$output<'c, T>>,
                z_strides: &[usize],
            ) -> Result<()> {
                let (x, y) = ($in(self, x.into(), "x")?, $in(self, y.into(), "y")?);
                let z = $out(self, z.into(), "z")?;
                multiply(self.$run(), extents, (x, x_strides), (y, y_strides), (z, z_strides))
            }
        }
    };
}

pub(crate) fn view<T>(_: &Context, x: View<'_, T>, name: &str) -> Result<Src<T>> {
    x.whole(name)
}
pub(crate) fn view_mut<T>(_: &Context, x: ViewMut<'_, T>, _: &str) -> Result<Dst<T>> {
    Ok((x.ptr, x.len))
}
pub(crate) fn no_status(_: &Context) -> Result<*mut i32> {
    Ok(null_mut())
}
operations!(Context, View, ViewMut, now, view, view_mut, no_status, []);

pub(crate) fn lent<T: Plain>(queue: &Queue, x: Lent<'_, T>, name: &str) -> Result<Src<T>> {
    queue.input(x, name)?.whole(name)
}
pub(crate) fn lent_mut<T: Plain>(queue: &Queue, x: LentMut<'_, T>, name: &str) -> Result<Dst<T>> {
    queue.output(x, name).map(|x| (x.ptr, x.len))
}
operations!(Queue, Lent, LentMut, run, lent, lent_mut, Queue::status, [status: Option<LentMut<'_, i32>>]);

impl Context {
    /// z = alpha * x, without a second operand. `gpumem_axpby_f32()`, `gpumem_axpby_f64()`.
    pub fn scale<'a, 'b, T: Float + Default>(
        &self,
        alpha: T,
        x: impl Into<View<'a, T>>,
        z: impl Into<ViewMut<'b, T>>,
    ) -> Result<()> {
        let (x, z) = (x.into().whole("x")?, z.into());
        axpby(self.now(), alpha, x, T::default(), (null(), z.len), (z.ptr, z.len))
    }
}
