use crate::context::Context;
use crate::element::Plain;
use crate::error::{Error, Result, Status};
use crate::view::bounds;
use gpumem_sys as sys;
use std::marker::PhantomData;
use std::ops::RangeBounds;
use std::sync::atomic::{AtomicU64, Ordering};

/// How a call runs: blocking, or on a stream.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub ctx: &'a Context,
    pub stream: Option<*mut sys::gpumem_stream>,
}

/// Calls a function of the library, or its _async form with its additional arguments. Returns the status.
macro_rules! run {
    ($run:expr, $plain:ident ( $($arg:expr),* ), $enqueued:ident ( $($tail:expr),* )) => {{
        let (api, ctx) = ($run.ctx.api(), $run.ctx.as_raw());
        #[allow(unused_unsafe)]
        unsafe {
            match $run.stream {
                None => (api.$plain)(ctx, $($arg),*),
                Some(stream) => (api.$enqueued)(ctx, $($arg,)* $($tail,)* stream),
            }
        }
    }};
}
pub(crate) use run;

/// Memory that a stream reads, until it is given back.
#[derive(Clone, Copy)]
pub struct Lent<'a, T> {
    pub(crate) ptr: *const T,
    pub(crate) len: usize,
    pub(crate) stride: usize,
    pub(crate) queue: u64,
    pub(crate) life: PhantomData<&'a T>,
}

/// Memory that a stream reads and writes, until it is given back. A copy is the same memory, because a stream's work is
/// in order.
#[derive(Clone, Copy)]
pub struct LentMut<'a, T> {
    pub(crate) ptr: *mut T,
    pub(crate) len: usize,
    pub(crate) queue: u64,
    pub(crate) life: PhantomData<&'a T>,
}

/// A buffer or a vector that a [`crate::Stream`] owns, until it is taken back.
pub struct Given<T, M> {
    pub(crate) ptr: *mut T,
    pub(crate) len: usize,
    pub(crate) queue: u64,
    pub(crate) slot: u64,
    pub(crate) memory: PhantomData<fn() -> M>,
}

// Only the library uses the memory, in the order of one stream.
unsafe impl<T, M> Send for Given<T, M> {}
unsafe impl<T, M> Sync for Given<T, M> {}

impl<'a, T: Plain> Lent<'a, T> {
    /// A part of the memory. Panics if the range is out of bounds or the memory has a stride.
    #[track_caller]
    pub fn slice(self, range: impl RangeBounds<usize>) -> Self {
        assert!(self.stride == 1, "memory with a stride can't be sliced");
        let (start, end) = bounds(range, self.len);
        Lent { ptr: self.ptr.wrapping_add(start), len: end - start, ..self }
    }
}

impl<'a, T: Plain> LentMut<'a, T> {
    /// A part of the memory. Panics if the range is out of bounds.
    #[track_caller]
    pub fn slice(self, range: impl RangeBounds<usize>) -> Self {
        let (start, end) = bounds(range, self.len);
        LentMut { ptr: self.ptr.wrapping_add(start), len: end - start, ..self }
    }
}

impl<T: Plain, M> Given<T, M> {
    /// The memory as an operand of its stream.
    pub fn lent(&self) -> LentMut<'_, T> {
        self.into()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if the length is 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<'a, T> From<LentMut<'a, T>> for Lent<'a, T> {
    fn from(x: LentMut<'a, T>) -> Self {
        Lent { ptr: x.ptr, len: x.len, stride: 1, queue: x.queue, life: PhantomData }
    }
}

impl<'a, T, M> From<&'a Given<T, M>> for LentMut<'a, T> {
    fn from(x: &'a Given<T, M>) -> Self {
        LentMut { ptr: x.ptr, len: x.len, queue: x.queue, life: PhantomData }
    }
}

impl<'a, T, M> From<&'a Given<T, M>> for Lent<'a, T> {
    fn from(x: &'a Given<T, M>) -> Self {
        Lent { ptr: x.ptr, len: x.len, stride: 1, queue: x.queue, life: PhantomData }
    }
}

/// The common part of [`crate::Stream`] and [`crate::Scope`]. Operands belong to this stream or scope. Operands of
/// another one are an error.
pub struct Queue {
    pub(crate) ctx: Context,
    pub(crate) stream: *mut sys::gpumem_stream,
    pub(crate) id: u64,
}

unsafe impl Send for Queue {}
unsafe impl Sync for Queue {}

static NEXT: AtomicU64 = AtomicU64::new(1);

pub(crate) fn next_id() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Queue {
    pub(crate) fn new(ctx: Context, stream: *mut sys::gpumem_stream) -> Queue {
        Queue { ctx, stream, id: next_id() }
    }

    pub(crate) fn run(&self) -> Run<'_> {
        Run { ctx: &self.ctx, stream: Some(self.stream) }
    }

    fn mine(&self, queue: u64, name: &str) -> Result<()> {
        match queue == self.id {
            true => Ok(()),
            false => Err(Error::argument(format!("{} was given to another stream or scope", name))),
        }
    }

    pub(crate) fn input<'a, T: Plain>(&self, x: impl Into<Lent<'a, T>>, name: &str) -> Result<Lent<'a, T>> {
        let x = x.into();
        self.mine(x.queue, name).map(|_| x)
    }

    pub(crate) fn output<'a, T: Plain>(&self, x: impl Into<LentMut<'a, T>>, name: &str) -> Result<LentMut<'a, T>> {
        let x = x.into();
        self.mine(x.queue, name).map(|_| x)
    }

    /// The address of the deferred status, or NULL.
    pub(crate) fn status(&self, status: Option<LentMut<'_, i32>>) -> Result<*mut i32> {
        match status {
            None => Ok(std::ptr::null_mut()),
            Some(status) => {
                let status = self.output(status, "status")?;
                crate::layout::enough(Some(1), status.len, "status")?;
                Ok(status.ptr)
            }
        }
    }

    /// Waits for the work on the stream. `gpumem_stream_synchronize()`.
    pub fn synchronize(&self) -> Result<()> {
        self.ctx.check(self.wait_status())
    }

    pub(crate) fn wait_status(&self) -> i32 {
        unsafe { (self.ctx.api().gpumem_stream_synchronize)(self.ctx.as_raw(), self.stream) }
    }

    /// True if all work on the stream is done. `gpumem_stream_query()`.
    pub fn is_done(&self) -> Result<bool> {
        match unsafe { (self.ctx.api().gpumem_stream_query)(self.ctx.as_raw(), self.stream) } {
            sys::GPUMEM_NOT_READY => Ok(false),
            status => self.ctx.check(status).map(|_| true),
        }
    }

    /// The handle for functions of [`crate::sys`]. NULL is the context's own stream.
    pub fn as_raw(&self) -> *mut sys::gpumem_stream {
        self.stream
    }

    /// The context of the stream.
    pub fn context(&self) -> &Context {
        &self.ctx
    }

    /// True if work on borrowed memory is over after a wait with this status: done, lost with the device, or the
    /// parent's.
    pub(crate) fn is_over(status: i32) -> bool {
        matches!(Status(status), Status::OK | Status::DEVICE_FAULT | Status::FORKED)
    }
}
