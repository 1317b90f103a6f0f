use crate::buffer::{Buffer, Device, Kind, Registered};
use crate::context::Context;
use crate::element::Plain;
use crate::error::{Error, Result};
use crate::info::duration;
use crate::layout::number;
use crate::queue::{Given, Lent, LentMut, Queue};
use crate::view::{View, ViewMut};
use gpumem_sys as sys;
use std::any::Any;
use std::collections::HashMap;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::Deref;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Mutex;
use std::time::Duration;

/// Memory that a stream can own.
///
/// # Safety
///
/// `parts` returns the same memory each time. The memory lives as long as the value, even if the value is moved.
pub unsafe trait Memory<T>: Send + 'static {
    #[doc(hidden)]
    fn parts(&mut self) -> (*mut T, usize);
    /// Declares that a stream uses the memory, so that it is freed after the stream's work. False if the caller must
    /// wait.
    #[doc(hidden)]
    fn freed_behind(&self, _queue: &Queue) -> bool {
        false
    }
}

unsafe impl<T: Plain> Memory<T> for Vec<T> {
    fn parts(&mut self) -> (*mut T, usize) {
        (self.as_mut_ptr(), self.len())
    }
}

unsafe impl<T: Plain> Memory<T> for Registered<T> {
    fn parts(&mut self) -> (*mut T, usize) {
        (self.as_mut_ptr(), self.len())
    }
}

unsafe impl<T: Plain, K: Kind + Send> Memory<T> for Buffer<T, K> {
    fn parts(&mut self) -> (*mut T, usize) {
        (self.as_raw(), self.len())
    }

    fn freed_behind(&self, queue: &Queue) -> bool {
        let (api, p) = (queue.ctx.api(), self.as_raw().cast());
        let own = std::sync::Arc::ptr_eq(self.context(), &queue.ctx.inner);
        self.is_empty()
            || (own && unsafe { (api.gpumem_memory_used_on)(queue.ctx.as_raw(), p, queue.stream) } == sys::GPUMEM_OK)
    }
}

/// A queue of work on buffers that it owns. Dropping it waits for the work, then frees the buffers.
///
/// ```
/// # fn main() -> gpumem::Result<()> {
/// let ctx = gpumem::Context::new()?;
/// let stream = ctx.stream()?;
/// let x = stream.give(ctx.device_from(&[1.0f32, 2.0, 3.0])?);
/// let norm = stream.give(ctx.pinned_buffer::<f64>(1)?);
/// stream.axpby(2.0, &x, 0.0, &x, &x)?; // x *= 2
/// stream.nrm2(&x, &norm)?;
/// assert_eq!(stream.take(norm)?[0], 56f64.sqrt()); // waits
/// # Ok(())
/// # }
/// ```
pub struct Stream {
    queue: Queue,
    owned: Mutex<HashMap<u64, Box<dyn Any + Send>>>,
    slots: AtomicU64,
}

impl Deref for Stream {
    type Target = Queue;
    fn deref(&self) -> &Queue {
        &self.queue
    }
}

impl Stream {
    fn of(ctx: &Context, stream: *mut sys::gpumem_stream) -> Stream {
        Stream { queue: Queue::new(ctx.clone(), stream), owned: Mutex::default(), slots: AtomicU64::new(0) }
    }

    fn owned(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Box<dyn Any + Send>>> {
        self.owned.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Gives memory to the stream.
    pub fn give<T: Plain, M: Memory<T>>(&self, mut memory: M) -> Given<T, M> {
        let (ptr, len) = memory.parts();
        let slot = self.slots.fetch_add(1, Ordering::Relaxed);
        self.owned().insert(slot, Box::new(memory));
        Given { ptr, len, queue: self.queue.id, slot, memory: PhantomData }
    }

    /// Takes memory back. Waits for all work on the stream, not only for the work on this memory.
    pub fn take<T: Plain, M: Memory<T>>(&self, given: Given<T, M>) -> Result<M> {
        self.mine_to_take(&given)?;
        self.queue.synchronize()?;
        Ok(*self.remove(&given))
    }

    /// Frees memory that was given. Device memory is freed after the stream's work, without waiting. Other memory waits
    /// for it.
    pub fn free<T: Plain, M: Memory<T>>(&self, given: Given<T, M>) -> Result<()> {
        self.mine_to_take(&given)?;
        let memory = self.remove(&given);
        if !memory.freed_behind(&self.queue) {
            let status = self.queue.wait_status();
            if !Queue::is_over(status) {
                std::mem::forget(memory); // work may still use it
            }
            return self.ctx.check(status);
        }
        Ok(())
    }

    fn mine_to_take<T, M>(&self, given: &Given<T, M>) -> Result<()> {
        match given.queue == self.queue.id {
            true => Ok(()),
            false => Err(Error::argument("the memory was given to another stream")),
        }
    }

    fn remove<T, M: 'static>(&self, given: &Given<T, M>) -> Box<M> {
        let memory = self.owned().remove(&given.slot);
        memory
            .and_then(|memory| (memory as Box<dyn Any>).downcast().ok())
            .expect("a slot is taken once, by its own type")
    }

    /// Device memory in the stream's order, with undefined contents, at a multiple of `alignment` bytes.
    /// `gpumem_alloc_async()`.
    pub fn alloc<T: Plain>(&self, len: usize, alignment: usize) -> Result<Given<T, Buffer<T, Device>>> {
        let (bytes, alignment) = (crate::buffer::bytes_of::<T>(len)?, number(alignment)?);
        let (api, mut p) = (self.ctx.api(), std::ptr::null_mut());
        let status = unsafe { (api.gpumem_alloc_async)(self.ctx.as_raw(), bytes, alignment, self.stream, &mut p) };
        self.ctx.check(status)?;
        Ok(self.give(Buffer::from_allocation(&self.ctx, p, len)))
    }

    /// Runs work on borrowed memory on this stream. See [`Context::scope`].
    pub fn scope<'env, R>(&self, body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R) -> Result<R> {
        scope(Queue::new(self.ctx.clone(), self.stream), body)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let status = self.queue.wait_status();
        if !Queue::is_over(status) {
            // Leaks the buffers, because work may still use them.
            std::mem::forget(std::mem::take(&mut *self.owned()));
        }
        unsafe { (self.ctx.api().gpumem_stream_destroy)(self.stream) };
    }
}

/// Work on memory that is borrowed until the scope has waited for it. Made by [`Context::scope`].
pub struct Scope<'scope, 'env: 'scope> {
    queue: Queue,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl Deref for Scope<'_, '_> {
    type Target = Queue;
    fn deref(&self) -> &Queue {
        &self.queue
    }
}

impl<'scope, 'env> Scope<'scope, 'env> {
    /// Lends memory to read.
    pub fn share<T: Plain>(&'scope self, x: impl Into<View<'env, T>>) -> Lent<'scope, T> {
        let x = x.into();
        Lent { ptr: x.ptr, len: x.len, stride: x.stride, queue: self.queue.id, life: PhantomData }
    }

    /// Lends memory to read and write.
    pub fn lend<T: Plain>(&'scope self, x: impl Into<ViewMut<'env, T>>) -> LentMut<'scope, T> {
        let x = x.into();
        LentMut { ptr: x.ptr, len: x.len, queue: self.queue.id, life: PhantomData }
    }
}

fn scope<'env, R>(queue: Queue, body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R) -> Result<R> {
    let scope = Scope { queue, scope: PhantomData, env: PhantomData };
    let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
    let status = scope.queue.wait_status();
    if !Queue::is_over(status) {
        // Work may still use the lent memory, and the borrow ends here.
        eprintln!("gpumem: a scope's work can't be waited for: {:?}", scope.ctx.check(status));
        std::process::abort();
    }
    match result {
        Ok(value) => scope.ctx.check(status).map(|_| value),
        Err(payload) => resume_unwind(payload),
    }
}

/// A position in a stream.
pub struct Event {
    ctx: Context,
    event: *mut sys::gpumem_event,
}

unsafe impl Send for Event {}
unsafe impl Sync for Event {}

impl Event {
    /// Waits until the stream has passed the last record. `gpumem_event_synchronize()`.
    pub fn synchronize(&self) -> Result<()> {
        self.ctx.check(unsafe { (self.ctx.api().gpumem_event_synchronize)(self.event) })
    }

    /// The time between two events. `None` while one is pending. `gpumem_event_elapsed()`.
    pub fn elapsed_since(&self, start: &Event) -> Result<Option<Duration>> {
        let mut seconds = 0.0;
        match unsafe { (self.ctx.api().gpumem_event_elapsed)(start.event, self.event, &mut seconds) } {
            sys::GPUMEM_NOT_READY => Ok(None),
            status => self.ctx.check(status).map(|_| Some(duration(seconds))),
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        unsafe { (self.ctx.api().gpumem_event_destroy)(self.event) };
    }
}

impl Queue {
    /// Records an event after the enqueued work. `gpumem_event_record()`.
    pub fn record(&self, event: &Event) -> Result<()> {
        let api = self.ctx.api();
        self.ctx.check(unsafe { (api.gpumem_event_record)(self.ctx.as_raw(), event.event, self.stream) })
    }

    /// The `cudaStream_t`, for as long as the stream lives. `gpumem_stream_native()`.
    pub fn native(&self) -> Result<*mut c_void> {
        let mut native = std::ptr::null_mut();
        let api = self.ctx.api();
        self.ctx.check(unsafe { (api.gpumem_stream_native)(self.ctx.as_raw(), self.stream, &mut native) })?;
        Ok(native)
    }

    /// Makes later work wait for the event's last record. `gpumem_stream_wait_event()`.
    pub fn wait(&self, event: &Event) -> Result<()> {
        let api = self.ctx.api();
        self.ctx.check(unsafe { (api.gpumem_stream_wait_event)(self.ctx.as_raw(), self.stream, event.event) })
    }
}

impl Context {
    /// A new stream. `gpumem_stream_create()`.
    pub fn stream(&self) -> Result<Stream> {
        let mut stream = std::ptr::null_mut();
        self.check(unsafe { (self.api().gpumem_stream_create)(self.as_raw(), &mut stream) })?;
        Ok(Stream::of(self, stream))
    }

    /// Borrows a `cudaStream_t` of the program. NULL is the legacy default stream. `gpumem_stream_wrap()`.
    ///
    /// # Safety
    ///
    /// The CUDA stream outlives the returned `Stream`. It is not under graph capture while a call waits for its work.
    pub unsafe fn wrap_stream(&self, native: *mut c_void) -> Result<Stream> {
        let mut stream = std::ptr::null_mut();
        self.check((self.api().gpumem_stream_wrap)(self.as_raw(), native, &mut stream))?;
        Ok(Stream::of(self, stream))
    }

    /// An event. `gpumem_event_create()`.
    pub fn event(&self) -> Result<Event> {
        let mut event = std::ptr::null_mut();
        self.check(unsafe { (self.api().gpumem_event_create)(self.as_raw(), &mut event) })?;
        Ok(Event { ctx: self.clone(), event })
    }

    /// Runs work on borrowed memory on the context's own stream. Waits for it before it returns, also after a panic.
    /// Several calls can use lent memory. Memory that was lent to write can be lent again only after the scope.
    ///
    /// ```
    /// # fn main() -> gpumem::Result<()> {
    /// let ctx = gpumem::Context::new()?;
    /// let x = ctx.device_from(&[3i32, 1, 4, 1, 5])?;
    /// let mut copy = ctx.device_buffer::<i32>(5)?;
    /// let mut total = ctx.pinned_from(&[0i64])?;
    /// ctx.scope(|s| {
    ///     let (x, y) = (s.share(&x), s.lend(&mut copy));
    ///     s.copy(y, x)?;
    ///     s.reduce(y, gpumem::Op::Sum, s.lend(&mut total), None)
    /// })??;
    /// assert_eq!(total[0], 14);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Lent memory outlives the scope, and the program can't use it before the end of the scope:
    ///
    /// ```compile_fail
    /// # fn main() -> gpumem::Result<()> {
    /// # let ctx = gpumem::Context::new()?;
    /// ctx.scope(|s| {
    ///     let local = vec![1i32, 2, 3];
    ///     s.share(&local);
    /// })
    /// # }
    /// ```
    ///
    /// ```compile_fail
    /// # fn main() -> gpumem::Result<()> {
    /// # let ctx = gpumem::Context::new()?;
    /// let mut x = vec![1i32, 2, 3];
    /// ctx.scope(|s| {
    ///     let lent = s.lend(&mut x);
    ///     x[0] = 4;
    ///     s.fill(lent, 0).unwrap();
    /// })
    /// # }
    /// ```
    ///
    /// ```compile_fail
    /// # fn main() -> gpumem::Result<()> {
    /// # let ctx = gpumem::Context::new()?;
    /// let mut x = vec![1i32, 2, 3];
    /// let mut kept = None;
    /// ctx.scope(|s| kept = Some(s.lend(&mut x)))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn scope<'env, R>(&self, body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R) -> Result<R> {
        scope(Queue::new(self.clone(), std::ptr::null_mut()), body)
    }
}
