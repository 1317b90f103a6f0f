use crate::context::{Context, Inner};
use crate::element::Plain;
use crate::error::{Error, Result, Status};
use gpumem_sys as sys;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::size_of;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The kind of memory of a buffer: [`Device`], [`Pinned`] or [`Managed`].
pub trait Kind: sealed::Kind {}

/// Device memory.
pub struct Device(());
/// Page-locked host memory.
pub struct Pinned(());
/// Memory with one address on the host and the device.
pub struct Managed(());

type Alloc = unsafe extern "C" fn(*mut sys::gpumem_ctx, i64, *mut *mut c_void) -> i32;

mod sealed {
    pub trait Kind: 'static {
        const ON_DEVICE: bool = false;
        fn alloc(api: &gpumem_sys::Functions) -> super::Alloc;
    }
}
impl sealed::Kind for Device {
    const ON_DEVICE: bool = true;
    fn alloc(api: &sys::Functions) -> Alloc {
        api.gpumem_alloc_device
    }
}
impl sealed::Kind for Pinned {
    fn alloc(api: &sys::Functions) -> Alloc {
        api.gpumem_alloc_pinned
    }
}
impl sealed::Kind for Managed {
    fn alloc(api: &sys::Functions) -> Alloc {
        api.gpumem_alloc_managed
    }
}
impl Kind for Device {}
impl Kind for Pinned {}
impl Kind for Managed {}

/// Memory of a context, which the buffer keeps alive. It is freed with the buffer, in the order of the context's
/// streams.
pub struct Buffer<T: Plain, K: Kind> {
    ctx: Arc<Inner>,
    ptr: *mut T,
    len: usize,
    kind: PhantomData<K>,
}

/// Device memory. The host can't read it directly, so copy it.
pub type DeviceBuffer<T> = Buffer<T, Device>;
/// Page-locked host memory, which is a slice.
pub type PinnedBuffer<T> = Buffer<T, Pinned>;
/// Memory with one address on the host and the device.
pub type ManagedBuffer<T> = Buffer<T, Managed>;

// A buffer owns its memory, and any thread may call the library.
unsafe impl<T: Plain, K: Kind> Send for Buffer<T, K> {}
unsafe impl<T: Plain, K: Kind> Sync for Buffer<T, K> {}

pub(crate) fn bytes_of<T>(len: usize) -> Result<i64> {
    len.checked_mul(size_of::<T>())
        .and_then(|bytes| i64::try_from(bytes).ok())
        .ok_or_else(|| Error::argument(format!("{} elements of {} bytes are too many", len, size_of::<T>())))
}

impl<T: Plain, K: Kind> Buffer<T, K> {
    /// Any bytes are values of T, so the old contents may be read.
    pub(crate) fn new(ctx: &Context, len: usize) -> Result<Self> {
        let bytes = bytes_of::<T>(len)?;
        let mut p = std::ptr::null_mut();
        ctx.check(unsafe { (K::alloc(ctx.api()))(ctx.as_raw(), bytes, &mut p) })?;
        Ok(Buffer::from_allocation(ctx, p, len))
    }

    pub(crate) fn from_allocation(ctx: &Context, p: *mut c_void, len: usize) -> Self {
        // An empty slice needs an address that is not NULL.
        let ptr = if p.is_null() { std::ptr::NonNull::dangling().as_ptr() } else { p.cast() };
        Buffer { ctx: ctx.inner.clone(), ptr, len, kind: PhantomData }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if the length is 0.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address, for other libraries.
    pub fn as_raw(&self) -> *mut T {
        self.ptr
    }

    /// The memory as a [`crate::View`], which can be sliced.
    pub fn view(&self) -> crate::View<'_, T> {
        self.into()
    }

    /// The memory as a [`crate::ViewMut`].
    pub fn view_mut(&mut self) -> crate::ViewMut<'_, T> {
        self.into()
    }

    /// Names the memory in reports. `gpumem_memory_label()`.
    pub fn label(&self, label: &str) -> Result<()> {
        let label = crate::context::c_string(label)?;
        let ctx = Context { inner: self.ctx.clone() };
        ctx.check(unsafe { (ctx.api().gpumem_memory_label)(ctx.as_raw(), self.ptr.cast(), label.as_ptr()) })
    }

    pub(crate) fn context(&self) -> &Arc<Inner> {
        &self.ctx
    }
}

impl<T: Plain, K: Kind> Drop for Buffer<T, K> {
    /// Its work is done, or is on a stream whose work the library completes before it frees the memory.
    fn drop(&mut self) {
        if self.len == 0 || size_of::<T>() == 0 {
            return;
        }
        let (api, ctx, p) = (self.ctx.api, self.ctx.ctx, self.ptr.cast());
        // If debug mode finds damage, the log reports it.
        unsafe {
            match <K as sealed::Kind>::ON_DEVICE {
                true => (api.gpumem_free_async)(ctx, p, std::ptr::null_mut()),
                false => (api.gpumem_free)(ctx, p),
            };
        }
    }
}

impl<T: Plain> Deref for PinnedBuffer<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        unsafe { std::slice::from_raw_parts(self.ptr, self.len) }
    }
}

impl<T: Plain> DerefMut for PinnedBuffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        unsafe { std::slice::from_raw_parts_mut(self.ptr, self.len) }
    }
}

impl<T: Plain> ManagedBuffer<T> {
    /// An error if the host may not touch managed memory while the device works.
    fn reachable(&self) -> Result<()> {
        if self.ctx.concurrent_managed {
            return Ok(());
        }
        Err(Error::new(Status::UNSUPPORTED, "the host can't touch managed memory while this device works; copy it"))
    }

    /// The memory as a slice. An error on a device without concurrent managed access.
    pub fn as_slice(&self) -> Result<&[T]> {
        self.reachable()?;
        Ok(unsafe { std::slice::from_raw_parts(self.ptr, self.len) })
    }

    /// The memory as a slice to write. An error on a device without concurrent managed access.
    pub fn as_mut_slice(&mut self) -> Result<&mut [T]> {
        self.reachable()?;
        Ok(unsafe { std::slice::from_raw_parts_mut(self.ptr, self.len) })
    }
}

/// Memory of the program that is pinned in place until it is taken back. `gpumem_host_register()`.
pub struct Registered<T: Plain> {
    ctx: Context,
    memory: Vec<T>,
    pinned: bool,
}

impl<T: Plain> Registered<T> {
    pub(crate) fn new(ctx: &Context, mut memory: Vec<T>) -> Result<Self> {
        let bytes = bytes_of::<T>(memory.len())?;
        ctx.check(unsafe { (ctx.api().gpumem_host_register)(ctx.as_raw(), memory.as_mut_ptr().cast(), bytes) })?;
        Ok(Registered { ctx: ctx.clone(), memory, pinned: true })
    }

    fn unregister(&mut self) -> Result<()> {
        let p = self.memory.as_mut_ptr().cast();
        self.ctx.check(unsafe { (self.ctx.api().gpumem_host_unregister)(self.ctx.as_raw(), p) })?;
        self.pinned = false;
        Ok(())
    }

    /// Unpins the memory and returns it.
    pub fn into_vec(mut self) -> Result<Vec<T>> {
        self.unregister()?;
        Ok(std::mem::take(&mut self.memory))
    }
}

impl<T: Plain> Drop for Registered<T> {
    fn drop(&mut self) {
        if self.pinned && self.unregister().is_err() {
            // Leaked, because a device may still use it.
            std::mem::forget(std::mem::take(&mut self.memory));
        }
    }
}

impl<T: Plain> Deref for Registered<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.memory
    }
}

impl<T: Plain> DerefMut for Registered<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.memory
    }
}
