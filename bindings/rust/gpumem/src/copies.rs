use crate::buffer::{bytes_of, ManagedBuffer};
use crate::context::{Context, DeviceChoice};
use crate::element::Plain;
use crate::error::{Error, Result};
use crate::layout::{number, Matrix};
use crate::queue::{run, Lent, LentMut, Queue, Run};
use crate::view::{View, ViewMut};
use std::mem::size_of;

/// Memory to read or write, for blocking and asynchronous calls.
pub(crate) type Src<T> = (*const T, usize);
pub(crate) type Dst<T> = (*mut T, usize);

impl<T> View<'_, T> {
    /// The memory. An error for a view with a stride.
    pub(crate) fn whole(&self, name: &str) -> Result<Src<T>> {
        whole(self.ptr, self.len, self.stride, name)
    }
}

impl<T> Lent<'_, T> {
    pub(crate) fn whole(&self, name: &str) -> Result<Src<T>> {
        whole(self.ptr, self.len, self.stride, name)
    }
}

fn whole<T>(ptr: *const T, len: usize, stride: usize, name: &str) -> Result<Src<T>> {
    match stride {
        1 => Ok((ptr, len)),
        _ => Err(Error::argument(format!("{} has a stride of {}; expected no stride", name, stride))),
    }
}

fn same(dst: usize, src: usize) -> Result<()> {
    match dst == src {
        true => Ok(()),
        false => Err(Error::argument(format!("dst has {} elements, but src has {}", dst, src))),
    }
}

fn copy<T>(at: Run<'_>, dst: Dst<T>, src: Src<T>) -> Result<()> {
    same(dst.1, src.1)?;
    let bytes = bytes_of::<T>(src.1)?;
    at.ctx.check(run!(at, gpumem_copy(dst.0.cast(), src.0.cast(), bytes), gpumem_copy_async()))
}

fn copy_matrix<T>(at: Run<'_>, dst: Dst<T>, to: Matrix, src: Src<T>, of: Matrix) -> Result<()> {
    if (to.rows, to.cols, to.batches) != (of.rows, of.cols, of.batches) {
        return Err(Error::argument(format!("dst is {:?}, but src is {:?}", to, of)));
    }
    let ([rows, cols, dst_ld, slices, dst_slice], [_, _, src_ld, _, src_slice]) =
        (to.numbers(dst.1, "dst")?, of.numbers(src.1, "src")?);
    // Nothing overflows i64, because the layouts fit the memory.
    let [row, dst_pitch, src_pitch, dst_slice, src_slice] =
        [cols, dst_ld, src_ld, dst_slice, src_slice].map(|n| n.saturating_mul(size_of::<T>() as i64));
    let (d, s) = (dst.0.cast(), src.0.cast());
    at.ctx.check(match of.batches {
        1 => run!(at, gpumem_copy_2d(d, dst_pitch, s, src_pitch, row, rows), gpumem_copy_2d_async()),
        _ => run!(
            at,
            gpumem_copy_3d(d, dst_pitch, dst_slice, s, src_pitch, src_slice, row, rows, slices),
            gpumem_copy_3d_async()
        ),
    })
}

/// The bytes of a pattern. An error for elements of other sizes.
fn pattern_bytes<T>() -> Result<i64> {
    match size_of::<T>() {
        bytes @ (1 | 2 | 4 | 8 | 16) => Ok(bytes as i64),
        bytes => Err(Error::argument(format!("an element has {} bytes; expected 1, 2, 4, 8 or 16", bytes))),
    }
}

fn fill<T>(at: Run<'_>, dst: Dst<T>, value: T) -> Result<()> {
    let (bytes, count) = (pattern_bytes::<T>()?, number(dst.1)?);
    let pattern = &value as *const T;
    at.ctx.check(run!(at, gpumem_fill(dst.0.cast(), pattern.cast(), bytes, count), gpumem_fill_async()))
}

fn fill_matrix<T>(at: Run<'_>, dst: Dst<T>, layout: Matrix, value: T) -> Result<()> {
    let [rows, cols, ld, batches, _] = layout.numbers(dst.1, "dst")?;
    if batches != 1 {
        return Err(Error::argument(format!("dst is {} matrices; expected one", batches)));
    }
    let (bytes, pattern) = (pattern_bytes::<T>()?, &value as *const T);
    let pitch = ld.saturating_mul(bytes);
    at.ctx.check(run!(
        at,
        gpumem_fill_2d(dst.0.cast(), pitch, pattern.cast(), bytes, cols, rows),
        gpumem_fill_2d_async()
    ))
}

impl Context {
    /// Copies elements between any kinds of memory. `gpumem_copy()`.
    pub fn copy<'a, 'b, T: Plain>(&self, dst: impl Into<ViewMut<'a, T>>, src: impl Into<View<'b, T>>) -> Result<()> {
        let dst = dst.into();
        copy(self.now(), (dst.ptr, dst.len), src.into().whole("src")?)
    }

    /// Copies matrices between two layouts. `gpumem_copy_2d()`, `gpumem_copy_3d()`.
    pub fn copy_matrix<'a, 'b, T: Plain>(
        &self,
        dst: impl Into<ViewMut<'a, T>>,
        dst_layout: Matrix,
        src: impl Into<View<'b, T>>,
        src_layout: Matrix,
    ) -> Result<()> {
        let dst = dst.into();
        copy_matrix(self.now(), (dst.ptr, dst.len), dst_layout, src.into().whole("src")?, src_layout)
    }

    /// Writes a value to every element. Elements have 1, 2, 4, 8 or 16 bytes. `gpumem_fill()`.
    pub fn fill<'a, T: Plain>(&self, dst: impl Into<ViewMut<'a, T>>, value: T) -> Result<()> {
        let dst = dst.into();
        fill(self.now(), (dst.ptr, dst.len), value)
    }

    /// Writes a value to every element of a matrix. `gpumem_fill_2d()`.
    pub fn fill_matrix<'a, T: Plain>(&self, dst: impl Into<ViewMut<'a, T>>, layout: Matrix, value: T) -> Result<()> {
        let dst = dst.into();
        fill_matrix(self.now(), (dst.ptr, dst.len), layout, value)
    }
}

/// Movement.
impl Queue {
    /// As [`Context::copy`]. `gpumem_copy_async()`.
    pub fn copy<'a, 'b, T: Plain>(&self, dst: impl Into<LentMut<'a, T>>, src: impl Into<Lent<'b, T>>) -> Result<()> {
        let (dst, src) = (self.output(dst, "dst")?, self.input(src, "src")?);
        copy(self.run(), (dst.ptr, dst.len), src.whole("src")?)
    }

    /// As [`Context::copy_matrix`]. `gpumem_copy_2d_async()`, `gpumem_copy_3d_async()`.
    pub fn copy_matrix<'a, 'b, T: Plain>(
        &self,
        dst: impl Into<LentMut<'a, T>>,
        dst_layout: Matrix,
        src: impl Into<Lent<'b, T>>,
        src_layout: Matrix,
    ) -> Result<()> {
        let (dst, src) = (self.output(dst, "dst")?, self.input(src, "src")?);
        copy_matrix(self.run(), (dst.ptr, dst.len), dst_layout, src.whole("src")?, src_layout)
    }

    /// As [`Context::fill`]. `gpumem_fill_async()`.
    pub fn fill<'a, T: Plain>(&self, dst: impl Into<LentMut<'a, T>>, value: T) -> Result<()> {
        let dst = self.output(dst, "dst")?;
        fill(self.run(), (dst.ptr, dst.len), value)
    }

    /// As [`Context::fill_matrix`]. `gpumem_fill_2d_async()`.
    pub fn fill_matrix<'a, T: Plain>(&self, dst: impl Into<LentMut<'a, T>>, layout: Matrix, value: T) -> Result<()> {
        let dst = self.output(dst, "dst")?;
        fill_matrix(self.run(), (dst.ptr, dst.len), layout, value)
    }

    /// As [`Context::prefetch`], in the stream's order. `gpumem_managed_prefetch_async()`.
    pub fn prefetch<T: Plain>(&self, x: &crate::Given<T, ManagedBuffer<T>>, device: DeviceChoice) -> Result<()> {
        let (x, device) = (self.output(x, "x")?, self.ctx.device_code(device)?);
        let (at, bytes, p) = (self.run(), bytes_of::<T>(x.len)?, x.ptr.cast());
        self.ctx.check(run!(at, gpumem_managed_prefetch(p, bytes, device), gpumem_managed_prefetch_async()))
    }
}
