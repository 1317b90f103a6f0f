use crate::context::Context;
use crate::copies::{Dst, Src};
use crate::element::{IndexElement, Plain};
use crate::error::{Error, Result};
use crate::layout::{enough, number, Matrix};
use crate::operations::{row_bytes, rows};
use crate::queue::{run, Lent, LentMut, Queue, Run};
use crate::view::{View, ViewMut};

/// A matrix and its layout.
type Rows<P> = (P, Matrix);

fn select<T>(at: Run<'_>, src: Rows<Src<T>>, mask: Src<u8>, dst: Rows<Dst<T>>, kept: *mut i64) -> Result<()> {
    let ([n, src_row, src_pitch], [room, dst_row, dst_pitch]) =
        (rows::<T>(src.1, src.0 .1, "src")?, rows::<T>(dst.1, dst.0 .1, "dst")?);
    if number(mask.1)? != n {
        return Err(Error::argument(format!("mask has {} elements, but src has {} rows", mask.1, n)));
    }
    let (row, s, d) = (row_bytes(src_row, dst_row)?, src.0 .0.cast(), dst.0 .0.cast());
    at.ctx.check(run!(at, gpumem_select(row, s, src_pitch, mask.0, n, d, room, dst_pitch, kept), gpumem_select_async()))
}

fn select_places<I: IndexElement>(at: Run<'_>, mask: Src<u8>, places: Dst<I>, kept: *mut i64) -> Result<()> {
    let (n, room, kind) = (number(mask.1)?, number(places.1)?, I::DTYPE as i32);
    at.ctx.check(run!(
        at,
        gpumem_select_places(mask.0, n, kind, places.0.cast(), room, kept),
        gpumem_select_places_async()
    ))
}

impl Context {
    /// Copies the rows of src whose element of mask is not 0 to dst, in their order. Returns how many rows are kept.
    /// More than dst has room for are an error. `gpumem_select()`.
    pub fn select<'a, 'b, 'c, T: Plain>(
        &self,
        src: impl Into<View<'a, T>>,
        layout: Matrix,
        mask: impl Into<View<'b, u8>>,
        dst: impl Into<ViewMut<'c, T>>,
        dst_layout: Matrix,
    ) -> Result<usize> {
        let (src, mask, dst) = (src.into().whole("src")?, mask.into().whole("mask")?, dst.into());
        let mut kept = 0;
        select(self.now(), (src, layout), mask, ((dst.ptr, dst.len), dst_layout), &mut kept)?;
        Ok(kept as usize)
    }

    /// Writes the places of mask that are not 0, in ascending order. Returns how many there are. With empty places, it
    /// only counts. `gpumem_select_places()`.
    pub fn select_places<'a, 'b, I: IndexElement>(
        &self,
        mask: impl Into<View<'a, u8>>,
        places: impl Into<ViewMut<'b, I>>,
    ) -> Result<usize> {
        let (mask, places) = (mask.into().whole("mask")?, places.into());
        let mut kept = 0;
        select_places(self.now(), mask, (places.ptr, places.len), &mut kept)?;
        Ok(kept as usize)
    }
}

impl Queue {
    /// As [`Context::select`]. Compare `kept` with the rows of dst. `gpumem_select_async()`.
    pub fn select<'a, 'b, 'c, 'd, T: Plain>(
        &self,
        src: impl Into<Lent<'a, T>>,
        layout: Matrix,
        mask: impl Into<Lent<'b, u8>>,
        dst: impl Into<LentMut<'c, T>>,
        dst_layout: Matrix,
        kept: impl Into<LentMut<'d, i64>>,
    ) -> Result<()> {
        let (src, mask) = (self.input(src, "src")?.whole("src")?, self.input(mask, "mask")?.whole("mask")?);
        let (dst, kept) = (self.output(dst, "dst")?, self.output(kept, "kept")?);
        enough(Some(1), kept.len, "kept")?;
        select(self.run(), (src, layout), mask, ((dst.ptr, dst.len), dst_layout), kept.ptr)
    }

    /// As [`Context::select_places`]. Compare `kept` with the length of places. `gpumem_select_places_async()`.
    pub fn select_places<'a, 'b, 'c, I: IndexElement>(
        &self,
        mask: impl Into<Lent<'a, u8>>,
        places: impl Into<LentMut<'b, I>>,
        kept: impl Into<LentMut<'c, i64>>,
    ) -> Result<()> {
        let mask = self.input(mask, "mask")?.whole("mask")?;
        let (places, kept) = (self.output(places, "places")?, self.output(kept, "kept")?);
        enough(Some(1), kept.len, "kept")?;
        select_places(self.run(), mask, (places.ptr, places.len), kept.ptr)
    }
}
