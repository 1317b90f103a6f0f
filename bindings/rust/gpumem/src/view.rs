use crate::buffer::{Buffer, Kind, Registered};
use crate::element::Plain;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds};

/// Memory to read: a slice or a part of a buffer, in memory of any kind. Its elements can't be accessed directly.
///
/// Like a slice, it may go to another thread:
///
/// ```
/// # use gpumem::{Context, Op};
/// # fn main() -> gpumem::Result<()> {
/// let ctx = Context::new()?;
/// let x = ctx.device_from(&[1i32, 2, 3, 4])?;
/// let (left, right) = (x.view().slice(..2), x.view().slice(2..));
/// let sums = std::thread::scope(|s| {
///     let other = s.spawn(|| ctx.reduce(right, Op::Sum));
///     (ctx.reduce(left, Op::Sum), other.join().unwrap())
/// });
/// assert_eq!(sums, (Ok(3), Ok(7)));
/// # Ok(())
/// # }
/// ```
///
/// The memory neither ends nor changes before the thread is done:
///
/// ```compile_fail
/// # let ctx = gpumem::Context::new().unwrap();
/// let x = ctx.device_from(&[1i32, 2, 3, 4]).unwrap();
/// let view = x.view();
/// std::thread::spawn(move || view.len());
/// ```
///
/// ```compile_fail
/// # let ctx = gpumem::Context::new().unwrap();
/// let mut x = ctx.device_from(&[1i32, 2, 3, 4]).unwrap();
/// let view = x.view();
/// std::thread::scope(|s| {
///     s.spawn(|| ctx.reduce(view, gpumem::Op::Sum));
///     ctx.fill(&mut x, 0)
/// });
/// ```
#[derive(Clone, Copy)]
pub struct View<'a, T> {
    pub(crate) ptr: *const T,
    pub(crate) len: usize,
    pub(crate) stride: usize,
    life: PhantomData<&'a T>,
}

/// Memory to write. It may go to another thread, but only one thread has it:
///
/// ```
/// # let ctx = gpumem::Context::new().unwrap();
/// let (mut x, mut y) = ([1i32, 2, 3, 4], [0i32; 4]);
/// let (view, other) = (gpumem::ViewMut::from(&mut x), gpumem::ViewMut::from(&mut y));
/// std::thread::scope(|s| {
///     s.spawn(|| ctx.fill(view, 5).unwrap());
///     ctx.fill(other, 6).unwrap();
/// });
/// assert_eq!((x, y), ([5; 4], [6; 4]));
/// ```
///
/// ```compile_fail
/// # let ctx = gpumem::Context::new().unwrap();
/// let mut x = [1i32, 2, 3, 4];
/// let view = gpumem::ViewMut::from(&mut x);
/// std::thread::scope(|s| {
///     s.spawn(|| ctx.fill(view, 5).unwrap());
///     ctx.fill(view, 6).unwrap();
/// });
/// ```
pub struct ViewMut<'a, T> {
    pub(crate) ptr: *mut T,
    pub(crate) len: usize,
    life: PhantomData<&'a mut T>,
}

// Like references to T. Only the library accesses the memory, and any thread may call it.
unsafe impl<T: Sync> Send for View<'_, T> {}
unsafe impl<T: Sync> Sync for View<'_, T> {}
unsafe impl<T: Send> Send for ViewMut<'_, T> {}
unsafe impl<T: Sync> Sync for ViewMut<'_, T> {}

/// The start and end of a range. Panics if it is out of bounds, as a slice does.
#[track_caller]
pub(crate) fn bounds(range: impl RangeBounds<usize>, len: usize) -> (usize, usize) {
    let start = match range.start_bound() {
        Bound::Included(&start) => Some(start),
        Bound::Excluded(&start) => start.checked_add(1),
        Bound::Unbounded => Some(0),
    };
    let end = match range.end_bound() {
        Bound::Included(&end) => end.checked_add(1),
        Bound::Excluded(&end) => Some(end),
        Bound::Unbounded => Some(len),
    };
    match (start, end) {
        (Some(start), Some(end)) if start <= end && end <= len => (start, end),
        (Some(start), Some(end)) => panic!("range {}..{} of {} elements", start, end, len),
        _ => panic!("range past usize::MAX of {} elements", len),
    }
}

impl<'a, T: Plain> View<'a, T> {
    /// Memory of another library, or of a device.
    ///
    /// # Safety
    ///
    /// `ptr` has `len` elements that live for `'a`. No one writes them during that time.
    pub unsafe fn from_raw_parts(ptr: *const T, len: usize) -> View<'a, T> {
        View { ptr, len, stride: 1, life: PhantomData }
    }

    /// The number of elements, without those that a stride skips.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if the length is 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A part of the memory. Panics if the range is out of bounds or the view has a stride.
    #[track_caller]
    pub fn slice(self, range: impl RangeBounds<usize>) -> View<'a, T> {
        assert!(self.stride == 1, "a view with a stride can't be sliced");
        let (start, end) = bounds(range, self.len);
        View { ptr: self.ptr.wrapping_add(start), len: end - start, ..self }
    }

    /// Every `stride`-th element, for reductions. Panics if the stride is 0 or the view has one already.
    #[track_caller]
    pub fn step_by(self, stride: usize) -> View<'a, T> {
        assert!(stride > 0 && self.stride == 1, "a stride must be 1 or more, and can be set only once");
        // A stride past the end leaves the first element. The clamped stride fits the library's i64.
        let stride = stride.min(self.len.max(1));
        View { len: self.len / stride + usize::from(self.len % stride > 0), stride, ..self }
    }
}

impl<'a, T: Plain> ViewMut<'a, T> {
    /// Memory of another library, or of a device.
    ///
    /// # Safety
    ///
    /// `ptr` has `len` elements that live for `'a`. Nothing else uses them during that time.
    pub unsafe fn from_raw_parts(ptr: *mut T, len: usize) -> ViewMut<'a, T> {
        ViewMut { ptr, len, life: PhantomData }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if the length is 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A part of the memory. Panics if the range is out of bounds.
    #[track_caller]
    pub fn slice(self, range: impl RangeBounds<usize>) -> ViewMut<'a, T> {
        let (start, end) = bounds(range, self.len);
        ViewMut { ptr: self.ptr.wrapping_add(start), len: end - start, ..self }
    }
}

macro_rules! view_of {
    ($($(#[$constant:meta])? $from:ty $(, const $n:ident)?;)*) => {$(
        impl<'a, T: Plain $(, const $n: usize)?> From<&'a $from> for View<'a, T> {
            fn from(x: &'a $from) -> View<'a, T> {
                View { ptr: x.as_ptr(), len: x.len(), stride: 1, life: PhantomData }
            }
        }
        impl<'a, T: Plain $(, const $n: usize)?> From<&'a mut $from> for ViewMut<'a, T> {
            fn from(x: &'a mut $from) -> ViewMut<'a, T> {
                ViewMut { ptr: x.as_mut_ptr(), len: x.len(), life: PhantomData }
            }
        }
    )*};
}
view_of! { [T]; Vec<T>; [T; N], const N; Registered<T>; }

impl<'a, T: Plain, K: Kind> From<&'a Buffer<T, K>> for View<'a, T> {
    fn from(x: &'a Buffer<T, K>) -> View<'a, T> {
        View { ptr: x.as_raw(), len: x.len(), stride: 1, life: PhantomData }
    }
}

impl<'a, T: Plain, K: Kind> From<&'a mut Buffer<T, K>> for ViewMut<'a, T> {
    fn from(x: &'a mut Buffer<T, K>) -> ViewMut<'a, T> {
        ViewMut { ptr: x.as_raw(), len: x.len(), life: PhantomData }
    }
}
