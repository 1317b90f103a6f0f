//! Functions, comparisons, choices and scaled conversions, element by element.
use crate::context::Context;
use crate::copies::Dst;
use crate::element::{Element, Plain};
use crate::error::Result;
use crate::layout::{number, small_number};
use crate::operations::{lent, lent_mut, no_status, strides_in, view, view_mut, Strided};
use crate::queue::{run, Lent, LentMut, Queue, Run};
use crate::view::{View, ViewMut};
use gpumem_sys as sys;
use std::mem::size_of;
use std::ptr::{null, null_mut};

/// A function of one operand, for [`Context::map_unary`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Unary {
    /// -x.
    Negate = sys::GPUMEM_MAP_NEGATE,
    /// The magnitude.
    Absolute = sys::GPUMEM_MAP_ABSOLUTE,
    /// 1 / x, for floating-point types.
    Reciprocal = sys::GPUMEM_MAP_RECIPROCAL,
    /// The square root, for floating-point types.
    SquareRoot = sys::GPUMEM_MAP_SQUARE_ROOT,
    /// Rounds down.
    Floor = sys::GPUMEM_MAP_FLOOR,
    /// Rounds up.
    Ceil = sys::GPUMEM_MAP_CEIL,
    /// Rounds toward 0.
    Truncate = sys::GPUMEM_MAP_TRUNCATE,
    /// Rounds to the nearest integer, ties to even.
    Round = sys::GPUMEM_MAP_ROUND,
    /// Inverts the bits of an integer.
    Not = sys::GPUMEM_MAP_NOT,
}

/// A function of two operands, for [`Context::map_binary`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Binary {
    /// x + y.
    Add = sys::GPUMEM_MAP_ADD,
    /// x - y.
    Subtract = sys::GPUMEM_MAP_SUBTRACT,
    /// x * y.
    Multiply = sys::GPUMEM_MAP_MULTIPLY,
    /// x / y. The quotient of integers is truncated toward 0.
    Divide = sys::GPUMEM_MAP_DIVIDE,
    /// The remainder of integers, with the sign of x.
    Remainder = sys::GPUMEM_MAP_REMAINDER,
    /// The smaller one. A NaN is propagated.
    Minimum = sys::GPUMEM_MAP_MINIMUM,
    /// The larger one. A NaN is propagated.
    Maximum = sys::GPUMEM_MAP_MAXIMUM,
    /// x with the sign of y, for floating-point types.
    CopySign = sys::GPUMEM_MAP_COPY_SIGN,
    /// The bits that are set in both integers.
    And = sys::GPUMEM_MAP_AND,
    /// The bits that are set in one of the integers or in both.
    Or = sys::GPUMEM_MAP_OR,
    /// The bits that are set in only one of the integers.
    Xor = sys::GPUMEM_MAP_XOR,
    /// x << y, for integers.
    ShiftLeft = sys::GPUMEM_MAP_SHIFT_LEFT,
    /// x >> y, for integers. Signed types keep the sign.
    ShiftRight = sys::GPUMEM_MAP_SHIFT_RIGHT,
}

/// A comparison, for [`Context::compare`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum Comparison {
    Less = sys::GPUMEM_LESS,
    LessEqual = sys::GPUMEM_LESS_EQUAL,
    Equal = sys::GPUMEM_EQUAL,
    NotEqual = sys::GPUMEM_NOT_EQUAL,
    GreaterEqual = sys::GPUMEM_GREATER_EQUAL,
    Greater = sys::GPUMEM_GREATER,
}

/// A result and its strides.
type StridedMut<'a, T> = (Dst<T>, &'a [usize]);

fn shape_of(extents: &[usize]) -> Result<(i32, Vec<i64>)> {
    let shape = extents.iter().map(|&extent| number(extent)).collect::<Result<Vec<_>>>()?;
    Ok((small_number(extents.len())?, shape))
}

/// Without a second operand, op is a function of one.
fn map<T: Element>(
    at: Run<'_>,
    op: i32,
    extents: &[usize],
    x: Strided<T>,
    y: Option<Strided<T>>,
    z: StridedMut<T>,
    status: *mut i32,
) -> Result<()> {
    let (rank, shape) = shape_of(extents)?;
    let (i, k) = (strides_in(extents, x.1, x.0 .1, "x")?, strides_in(extents, z.1, z.0 .1, "z")?);
    let j = y.map_or(Ok(vec![]), |y| strides_in(extents, y.1, y.0 .1, "y"))?;
    let second = y.map_or(null(), |y| y.0 .0);
    let (kind, e, i, j, k) = (T::DTYPE as i32, shape.as_ptr(), i.as_ptr(), j.as_ptr(), k.as_ptr());
    let (p, q, to) = (x.0 .0.cast(), second.cast(), z.0 .0.cast());
    at.ctx.check(run!(at, gpumem_map(op, kind, rank, e, p, i, q, j, to, k), gpumem_map_async(status)))
}

fn compare<T: Element>(
    at: Run<'_>,
    op: Comparison,
    extents: &[usize],
    x: Strided<T>,
    y: Strided<T>,
    mask: StridedMut<u8>,
) -> Result<()> {
    let (rank, shape) = shape_of(extents)?;
    let (i, j) = (strides_in(extents, x.1, x.0 .1, "x")?, strides_in(extents, y.1, y.0 .1, "y")?);
    let k = strides_in(extents, mask.1, mask.0 .1, "mask")?;
    let (op, kind, e, i, j, k) = (op as i32, T::DTYPE as i32, shape.as_ptr(), i.as_ptr(), j.as_ptr(), k.as_ptr());
    let (p, q, to) = (x.0 .0.cast(), y.0 .0.cast(), mask.0 .0);
    at.ctx.check(run!(at, gpumem_compare(op, kind, rank, e, p, i, q, j, to, k), gpumem_compare_async()))
}

fn where_mask<T>(
    at: Run<'_>,
    extents: &[usize],
    mask: Strided<u8>,
    x: Strided<T>,
    y: Strided<T>,
    z: StridedMut<T>,
) -> Result<()> {
    let (rank, shape) = shape_of(extents)?;
    let (i, j) = (strides_in(extents, x.1, x.0 .1, "x")?, strides_in(extents, y.1, y.0 .1, "y")?);
    let (h, k) = (strides_in(extents, mask.1, mask.0 .1, "mask")?, strides_in(extents, z.1, z.0 .1, "z")?);
    let (bytes, e) = (size_of::<T>() as i64, shape.as_ptr());
    let (h, i, j, k) = (h.as_ptr(), i.as_ptr(), j.as_ptr(), k.as_ptr());
    let (m, p, q, to) = (mask.0 .0, x.0 .0.cast(), y.0 .0.cast(), z.0 .0.cast());
    at.ctx.check(run!(at, gpumem_where(bytes, rank, e, m, h, p, i, q, j, to, k), gpumem_where_async()))
}

/// The address of a coefficient, NULL without one, and its strides. Empty strides repeat its first number.
fn coefficient(extents: &[usize], x: Option<Strided<f64>>, name: &str) -> Result<(*const f64, Vec<i64>)> {
    let zeros = vec![0; extents.len()];
    let ((address, len), strides) = x.unwrap_or(((null(), usize::MAX), &zeros));
    let strides = if strides.is_empty() { &zeros } else { strides };
    Ok((address, strides_in(extents, strides, len, name)?))
}

fn convert_scaled<S: Element, D: Element>(
    at: Run<'_>,
    extents: &[usize],
    src: Strided<S>,
    scale: Option<Strided<f64>>,
    offset: Option<Strided<f64>>,
    nan_value: f64,
    dst: StridedMut<D>,
) -> Result<()> {
    let (rank, shape) = shape_of(extents)?;
    let (i, k) = (strides_in(extents, src.1, src.0 .1, "src")?, strides_in(extents, dst.1, dst.0 .1, "dst")?);
    let (scale, offset) = (coefficient(extents, scale, "scale")?, coefficient(extents, offset, "offset")?);
    let (e, i, k, from, to) = (shape.as_ptr(), i.as_ptr(), k.as_ptr(), S::DTYPE as i32, D::DTYPE as i32);
    let ((f, g), (a, b)) = ((scale.0, scale.1.as_ptr()), (offset.0, offset.1.as_ptr()));
    let (s, d) = (src.0 .0.cast(), dst.0 .0.cast());
    at.ctx.check(run!(
        at,
        gpumem_convert_scaled(rank, e, from, s, i, f, g, a, b, nan_value, to, d, k),
        gpumem_convert_scaled_async()
    ))
}

/// Defines functions for both Context and Queue, which differ only in their operands.
macro_rules! elementwise {
    ($on:ty, $input:ident, $output:ident, $run:ident, $in:expr, $out:expr, $status:expr, [$($words:ident: $word:ty)?]) => {
        /// Element by element. All operands have the same `extents`, up to eight axes, and their own strides in elements.
        /// A stride of 0 repeats elements. If all strides are 0, one number is repeated.
        impl $on {
            /// z = op(x). `gpumem_map()`.
            pub fn map_unary<'a, 'b, T: Element>(
                &self,
                op: Unary,
                extents: &[usize],
                x: impl Into<$input<'a, T>>,
                x_strides: &[usize],
                z: impl Into<$output<'b, T>>,
                z_strides: &[usize],
            ) -> Result<()> {
                let (x, z) = ($in(self, x.into(), "x")?, $out(self, z.into(), "z")?);
                map(self.$run(), op as i32, extents, (x, x_strides), None, (z, z_strides), null_mut())
            }

            /// z = op(x, y). If an integer is divided by 0, the result is 0 and the status is
            /// [`Status::OUT_OF_RANGE`](crate::Status::OUT_OF_RANGE). `gpumem_map()`.
            #[allow(clippy::too_many_arguments)]
            pub fn map_binary<'a, 'b, 'c, T: Element>(
                &self,
                op: Binary,
                extents: &[usize],
                x: impl Into<$input<'a, T>>,
                x_strides: &[usize],
                y: impl Into<$input<'b, T>>,
                y_strides: &[usize],
                z: impl Into<$output<'c, T>>,
                z_strides: &[usize],
                $($words: $word,)?
            ) -> Result<()> {
                let (x, y) = ($in(self, x.into(), "x")?, $in(self, y.into(), "y")?);
                let (z, status) = ($out(self, z.into(), "z")?, $status(self $(, $words)?)?);
                map(self.$run(), op as i32, extents, (x, x_strides), Some((y, y_strides)), (z, z_strides), status)
            }

            /// An element of mask is 1 if the comparison of x and y holds, else 0. `gpumem_compare()`.
            #[allow(clippy::too_many_arguments)]
            pub fn compare<'a, 'b, 'c, T: Element>(
                &self,
                op: Comparison,
                extents: &[usize],
                x: impl Into<$input<'a, T>>,
                x_strides: &[usize],
                y: impl Into<$input<'b, T>>,
                y_strides: &[usize],
                mask: impl Into<$output<'c, u8>>,
                mask_strides: &[usize],
            ) -> Result<()> {
                let (x, y) = ($in(self, x.into(), "x")?, $in(self, y.into(), "y")?);
                let mask = $out(self, mask.into(), "mask")?;
                compare(self.$run(), op, extents, (x, x_strides), (y, y_strides), (mask, mask_strides))
            }

            /// z = x where mask is not 0, else y. Elements have 1, 2, 4, 8 or 16 bytes. `gpumem_where()`.
            #[allow(clippy::too_many_arguments)]
            pub fn where_mask<'a, 'b, 'c, 'd, T: Plain>(
                &self,
                extents: &[usize],
                mask: impl Into<$input<'a, u8>>,
                mask_strides: &[usize],
                x: impl Into<$input<'b, T>>,
                x_strides: &[usize],
                y: impl Into<$input<'c, T>>,
                y_strides: &[usize],
                z: impl Into<$output<'d, T>>,
                z_strides: &[usize],
            ) -> Result<()> {
                let (x, y) = ($in(self, x.into(), "x")?, $in(self, y.into(), "y")?);
                let (mask, z) = ($in(self, mask.into(), "mask")?, $out(self, z.into(), "z")?);
                let mask = (mask, mask_strides);
                where_mask(self.$run(), extents, mask, (x, x_strides), (y, y_strides), (z, z_strides))
            }

            /// dst = (src + offset) * scale, computed in `f64` and converted as by `convert`. A NaN of src becomes
            /// `nan_value`. If the strides of scale or offset are empty, its first number is for all elements.
            /// `gpumem_convert_scaled()`.
            #[allow(clippy::too_many_arguments)]
            pub fn convert_scaled<'a, 'b, 'c, 'd, S: Element, D: Element>(
                &self,
                extents: &[usize],
                src: impl Into<$input<'a, S>>,
                src_strides: &[usize],
                scale: Option<($input<'b, f64>, &[usize])>,
                offset: Option<($input<'c, f64>, &[usize])>,
                nan_value: f64,
                dst: impl Into<$output<'d, D>>,
                dst_strides: &[usize],
            ) -> Result<()> {
                let (src, dst) = ($in(self, src.into(), "src")?, $out(self, dst.into(), "dst")?);
                let scale = scale.map(|(x, own)| $in(self, x, "scale").map(|x| (x, own))).transpose()?;
                let offset = offset.map(|(x, own)| $in(self, x, "offset").map(|x| (x, own))).transpose()?;
                let (src, dst) = ((src, src_strides), (dst, dst_strides));
                convert_scaled(self.$run(), extents, src, scale, offset, nan_value, dst)
            }
        }
    };
}
elementwise!(Context, View, ViewMut, now, view, view_mut, no_status, []);
elementwise!(Queue, Lent, LentMut, run, lent, lent_mut, Queue::status, [status: Option<LentMut<'_, i32>>]);
