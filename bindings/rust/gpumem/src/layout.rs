//! Layouts of matrices, arrays and images. They are checked against the length of the memory.
use crate::error::{Error, Result, Status};

pub(crate) fn number(value: usize) -> Result<i64> {
    i64::try_from(value).map_err(|_| Error::argument(format!("{} does not fit 63 bits", value)))
}

/// A small number, such as a number of axes.
pub(crate) fn small_number(value: usize) -> Result<i32> {
    i32::try_from(value).map_err(|_| Error::argument(format!("{} does not fit 31 bits", value)))
}

/// An error if there are fewer than `needed` elements.
pub(crate) fn enough(needed: Option<usize>, len: usize, name: &str) -> Result<()> {
    match needed {
        Some(needed) if needed <= len => Ok(()),
        _ => {
            let needed = needed.map_or("more than is possible".to_string(), |needed| needed.to_string());
            Err(Error::new(Status::OUT_OF_RANGE, format!("{} has {} elements; its layout needs {}", name, len, needed)))
        }
    }
}

/// The number of elements from the first to the last, by these extents and strides. `None` on overflow.
fn reach(extents: &[usize], strides: &[usize]) -> Option<usize> {
    if extents.contains(&0) {
        return Some(0);
    }
    let mut last = 0usize;
    for (extent, stride) in extents.iter().zip(strides) {
        last = last.checked_add((extent - 1).checked_mul(*stride)?)?;
    }
    last.checked_add(1)
}

/// Row-major matrices: rows, columns, leading dimension, number of matrices and their distance, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) ld: usize,
    pub(crate) batches: usize,
    pub(crate) batch_stride: usize,
}

impl Matrix {
    /// One matrix without padding.
    pub fn new(rows: usize, cols: usize) -> Matrix {
        Matrix { rows, cols, ld: cols, batches: 1, batch_stride: 0 }
    }

    /// Rows that begin `ld` elements apart.
    pub fn ld(self, ld: usize) -> Matrix {
        Matrix { ld, ..self }
    }

    /// Matrices that begin `stride` elements apart.
    pub fn batches(self, batches: usize, stride: usize) -> Matrix {
        Matrix { batches, batch_stride: stride, ..self }
    }

    /// The library's arguments: rows, cols, ld, batches, batch stride.
    pub(crate) fn numbers(&self, len: usize, name: &str) -> Result<[i64; 5]> {
        let extents = [self.batches, self.rows, self.cols];
        enough(reach(&extents, &[self.batch_stride, self.ld, 1]), len, name)?;
        if self.ld < self.cols && self.rows > 1 {
            return Err(Error::argument(format!("{}: ld is {}, less than cols = {}", name, self.ld, self.cols)));
        }
        let numbers = [self.rows, self.cols, self.ld, self.batches, self.batch_stride];
        numbers.iter().try_for_each(|&value| number(value).map(drop))?;
        Ok(numbers.map(|value| value as i64))
    }
}

/// An array of up to 8 axes: extents, and strides in elements. By default it is row-major without padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array<'a> {
    pub(crate) extents: &'a [usize],
    pub(crate) strides: Option<&'a [usize]>,
}

impl<'a> Array<'a> {
    /// An array without padding.
    pub fn new(extents: &'a [usize]) -> Array<'a> {
        Array { extents, strides: None }
    }

    /// An array with one stride per axis.
    pub fn strides(self, strides: &'a [usize]) -> Array<'a> {
        Array { strides: Some(strides), ..self }
    }

    /// The extents and strides for the library.
    pub(crate) fn numbers(&self, len: usize, name: &str) -> Result<(Vec<i64>, Vec<i64>)> {
        let mut strides = vec![1; self.extents.len()];
        for axis in (0..self.extents.len().saturating_sub(1)).rev() {
            strides[axis] = self.extents[axis + 1].max(1).saturating_mul(strides[axis + 1]);
        }
        let strides = self.strides.unwrap_or(&strides);
        if strides.len() != self.extents.len() {
            return Err(Error::argument(format!(
                "{} has {} axes and {} strides",
                name,
                self.extents.len(),
                strides.len()
            )));
        }
        enough(reach(self.extents, strides), len, name)?;
        let list = |values: &[usize]| values.iter().map(|&value| number(value)).collect::<Result<Vec<_>>>();
        Ok((list(self.extents)?, list(strides)?))
    }
}

/// An image: rows and columns of pixels with 1 to 4 interleaved channels. Rows begin `pitch` elements apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) channels: usize,
    pub(crate) pitch: usize,
}

impl Image {
    /// An image without padding.
    pub fn new(rows: usize, cols: usize, channels: usize) -> Image {
        Image { rows, cols, channels, pitch: cols.saturating_mul(channels) }
    }

    /// Rows that begin `pitch` elements apart.
    pub fn pitch(self, pitch: usize) -> Image {
        Image { pitch, ..self }
    }

    /// Rows, columns and pitch in bytes.
    pub(crate) fn numbers<T>(&self, len: usize, name: &str) -> Result<[i64; 3]> {
        let row = self.cols.saturating_mul(self.channels);
        enough(reach(&[self.rows, row], &[self.pitch, 1]), len, name)?;
        let pitch = crate::buffer::bytes_of::<T>(self.pitch)?;
        Ok([number(self.rows)?, number(self.cols)?, pitch])
    }

    /// The same for images that begin `stride` elements apart, and the stride in bytes.
    pub(crate) fn batch_numbers<T>(
        &self,
        count: usize,
        stride: usize,
        len: usize,
        name: &str,
    ) -> Result<([i64; 3], i64)> {
        let row = self.cols.saturating_mul(self.channels);
        enough(reach(&[count, self.rows, row], &[stride, self.pitch, 1]), len, name)?;
        let bytes = crate::buffer::bytes_of::<T>;
        Ok(([number(self.rows)?, number(self.cols)?, bytes(self.pitch)?], bytes(stride)?))
    }
}
