use crate::buffer::{Buffer, DeviceBuffer, Kind, ManagedBuffer, PinnedBuffer, Registered};
use crate::callbacks::Callbacks;
use crate::element::Plain;
use crate::error::{api, check, text_of, Error, Result};
use crate::info::{Advice, DeviceInfo, ManagedInfo, MemoryStats, PointerInfo};
use crate::view::View;
use gpumem_sys as sys;
use std::ffi::{CStr, CString};
use std::mem::{size_of, MaybeUninit};
use std::sync::Arc;

pub(crate) struct Inner {
    pub api: &'static sys::Functions,
    pub ctx: *mut sys::gpumem_ctx,
    pub callbacks: Box<Callbacks>,
    pub concurrent_managed: bool,
    shared: bool,
}

// Any thread may call the library, also on the same context.
unsafe impl Send for Inner {}
unsafe impl Sync for Inner {}

impl Drop for Inner {
    fn drop(&mut self) {
        if !self.shared {
            unsafe { (self.api.gpumem_ctx_destroy)(self.ctx) };
        }
    }
}

/// A device, its own stream, and everything that is created on it. A clone is the same context. The context ends with
/// its last clone, buffer, stream and event.
#[derive(Clone)]
pub struct Context {
    pub(crate) inner: Arc<Inner>,
}

/// The choice of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The caller's current CUDA device, else the lowest visible one, else the host.
    Best,
    /// The host backend.
    Host,
    /// As `Best`, but an error instead of the host.
    Cuda,
    /// A CUDA device by number.
    Ordinal(u32),
}

impl DeviceChoice {
    pub(crate) fn code(self) -> i32 {
        match self {
            DeviceChoice::Best => sys::GPUMEM_DEVICE_BEST,
            DeviceChoice::Host => sys::GPUMEM_DEVICE_HOST,
            DeviceChoice::Cuda => sys::GPUMEM_DEVICE_CUDA,
            DeviceChoice::Ordinal(ordinal) => i32::try_from(ordinal).unwrap_or(i32::MAX),
        }
    }
}

/// An operation with several implementations, called variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum Family {
    Reduce = sys::GPUMEM_FAMILY_REDUCE,
    Transpose = sys::GPUMEM_FAMILY_TRANSPOSE,
    Fill = sys::GPUMEM_FAMILY_FILL,
    ReduceAxis = sys::GPUMEM_FAMILY_REDUCE_AXIS,
    ReduceSegments = sys::GPUMEM_FAMILY_REDUCE_SEGMENTS,
    Copy = sys::GPUMEM_FAMILY_COPY,
    Axpby = sys::GPUMEM_FAMILY_AXPBY,
    Gather = sys::GPUMEM_FAMILY_GATHER,
    Scatter = sys::GPUMEM_FAMILY_SCATTER,
    Permute = sys::GPUMEM_FAMILY_PERMUTE,
    Resize = sys::GPUMEM_FAMILY_RESIZE,
    Convert = sys::GPUMEM_FAMILY_CONVERT,
    Arithmetic = sys::GPUMEM_FAMILY_ARITHMETIC,
    Scan = sys::GPUMEM_FAMILY_SCAN,
    Sort = sys::GPUMEM_FAMILY_SORT,
    Select = sys::GPUMEM_FAMILY_SELECT,
    ReduceByIndex = sys::GPUMEM_FAMILY_REDUCE_BY_INDEX,
    CopyBoxes = sys::GPUMEM_FAMILY_COPY_BOXES,
}

/// The format of an explanation (`Text` or `Json`) or of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum Format {
    Text = sys::GPUMEM_FORMAT_TEXT,
    Json = sys::GPUMEM_FORMAT_JSON,
    Csv = sys::GPUMEM_FORMAT_CSV,
    Trace = sys::GPUMEM_FORMAT_TRACE,
}

pub(crate) fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::argument(format!("{:?} contains a NUL", text)))
}

/// A struct of the library, initialised by its _init function and filled by a call.
pub(crate) fn filled<S>(init: unsafe extern "C" fn(*mut S, i64) -> i32, fill: impl FnOnce(*mut S) -> i32) -> Result<S> {
    let mut room = MaybeUninit::<S>::zeroed();
    check(unsafe { init(room.as_mut_ptr(), size_of::<S>() as i64) })?;
    check(fill(room.as_mut_ptr()))?;
    Ok(unsafe { room.assume_init() })
}

/// The version of the library. `gpumem_version()`.
pub fn version() -> Result<(i32, i32, i32)> {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    check(unsafe { (api()?.gpumem_version)(&mut major, &mut minor, &mut patch) })?;
    Ok((major, minor, patch))
}

/// The number of CUDA devices that this process can use. 0 without a driver. `gpumem_device_count()`.
pub fn device_count() -> Result<i32> {
    let mut count = 0;
    check(unsafe { (api()?.gpumem_device_count)(&mut count) })?;
    Ok(count)
}

/// Describes a device without a context. `gpumem_device_query()`.
pub fn device_info(device: DeviceChoice) -> Result<DeviceInfo> {
    let api = api()?;
    filled(api.gpumem_device_info_init, |info| unsafe { (api.gpumem_device_query)(device.code(), info) })
        .map(DeviceInfo::from)
}

/// The operation descriptor of this thread's last operation, for [`Context::explain`]. `gpumem_last_problem()`.
pub fn last_problem() -> Result<String> {
    let api = api()?;
    text_of(|buf, cap, needed| unsafe { (api.gpumem_last_problem)(buf, cap, needed) })
}

/// The names of an operation's variants. `gpumem_variant_count()`, `gpumem_variant_name()`.
pub fn variants(family: Family) -> Result<Vec<&'static str>> {
    let (api, mut count) = (api()?, 0);
    check(unsafe { (api.gpumem_variant_count)(family as i32, &mut count) })?;
    let name = |index| {
        let mut name = std::ptr::null();
        check(unsafe { (api.gpumem_variant_name)(family as i32, index, &mut name) })?;
        Ok(unsafe { CStr::from_ptr(name) }.to_str().unwrap_or(""))
    };
    (0..count).map(name).collect()
}

impl Context {
    /// A context on the caller's current CUDA device, else the first one, else the host.
    pub fn new() -> Result<Context> {
        Context::builder().build()
    }

    /// A context on this device.
    pub fn on(device: DeviceChoice) -> Result<Context> {
        Context::builder().device(device).build()
    }

    /// The process-wide context of a device, which never ends. `gpumem_shared_ctx()`.
    pub fn process_wide(device: DeviceChoice) -> Result<Context> {
        let (api, mut ctx) = (api()?, std::ptr::null_mut());
        check(unsafe { (api.gpumem_shared_ctx)(device.code(), &mut ctx) })?;
        Context::of(api, ctx, Box::default(), true)
    }

    pub(crate) fn of(
        api: &'static sys::Functions,
        ctx: *mut sys::gpumem_ctx,
        callbacks: Box<Callbacks>,
        shared: bool,
    ) -> Result<Self> {
        let mut inner = Inner { api, ctx, callbacks, concurrent_managed: false, shared };
        let info = filled(api.gpumem_device_info_init, |info| unsafe { (api.gpumem_ctx_device)(ctx, info) })?;
        inner.concurrent_managed = info.concurrent_managed != 0;
        Ok(Context { inner: Arc::new(inner) })
    }

    /// The handle for functions of [`crate::sys`].
    pub fn as_raw(&self) -> *mut sys::gpumem_ctx {
        self.inner.ctx
    }

    pub(crate) fn api(&self) -> &'static sys::Functions {
        self.inner.api
    }

    /// Converts a status. A panic of a callback is an error too.
    pub(crate) fn check(&self, status: i32) -> Result<()> {
        check(status)?;
        match self.inner.callbacks.take_panic() {
            None => Ok(()),
            Some(message) => Err(Error::panicked(&message)),
        }
    }

    /// Describes the device, with the reason why it was chosen. `gpumem_ctx_device()`.
    pub fn device(&self) -> Result<DeviceInfo> {
        let api = self.api();
        filled(api.gpumem_device_info_init, |info| unsafe { (api.gpumem_ctx_device)(self.as_raw(), info) })
            .map(DeviceInfo::from)
    }

    /// An error if a device fault broke the context. `gpumem_ctx_status()`.
    pub fn status(&self) -> Result<()> {
        self.check(unsafe { (self.api().gpumem_ctx_status)(self.as_raw()) })
    }

    /// Waits for the work on all streams. `gpumem_ctx_synchronize()`.
    pub fn synchronize(&self) -> Result<()> {
        self.check(unsafe { (self.api().gpumem_ctx_synchronize)(self.as_raw()) })
    }

    /// Does the setup now that the first calls would do. `gpumem_ctx_warmup()`.
    pub fn warmup(&self) -> Result<()> {
        self.check(unsafe { (self.api().gpumem_ctx_warmup)(self.as_raw()) })
    }

    /// Device memory with undefined contents. `gpumem_alloc_device()`.
    pub fn device_buffer<T: Plain>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        Buffer::new(self, len)
    }

    /// Page-locked memory with undefined contents. `gpumem_alloc_pinned()`.
    pub fn pinned_buffer<T: Plain>(&self, len: usize) -> Result<PinnedBuffer<T>> {
        Buffer::new(self, len)
    }

    /// Managed memory with undefined contents. `gpumem_alloc_managed()`.
    pub fn managed_buffer<T: Plain>(&self, len: usize) -> Result<ManagedBuffer<T>> {
        Buffer::new(self, len)
    }

    /// A copy on the device.
    pub fn device_from<'a, T: Plain>(&self, x: impl Into<View<'a, T>>) -> Result<DeviceBuffer<T>> {
        self.buffer_from(x)
    }

    /// A copy in page-locked memory.
    pub fn pinned_from<'a, T: Plain>(&self, x: impl Into<View<'a, T>>) -> Result<PinnedBuffer<T>> {
        self.buffer_from(x)
    }

    fn buffer_from<'a, T: Plain, K: Kind>(&self, x: impl Into<View<'a, T>>) -> Result<Buffer<T, K>> {
        let x = x.into();
        let mut buffer = Buffer::new(self, x.len())?;
        self.copy(&mut buffer, x)?;
        Ok(buffer)
    }

    /// A copy in pageable memory.
    pub fn to_vec<'a, T: Plain + Default>(&self, x: impl Into<View<'a, T>>) -> Result<Vec<T>> {
        let x = x.into();
        let mut copy = vec![T::default(); x.len()];
        self.copy(&mut copy, x)?;
        Ok(copy)
    }

    /// Pins memory of the program in place. `gpumem_host_register()`.
    pub fn register<T: Plain>(&self, memory: Vec<T>) -> Result<Registered<T>> {
        Registered::new(self, memory)
    }

    /// Releases memory that is kept for reuse, except `keep_bytes` of each kind. `gpumem_memory_trim()`.
    pub fn memory_trim(&self, keep_bytes: i64) -> Result<()> {
        self.check(unsafe { (self.api().gpumem_memory_trim)(self.as_raw(), keep_bytes) })
    }

    /// In debug mode, an error if a write went past an allocation or into freed memory. `gpumem_memory_check()`.
    pub fn memory_check(&self) -> Result<()> {
        self.check(unsafe { (self.api().gpumem_memory_check)(self.as_raw()) })
    }

    /// Starts writing all allocations and frees to a file. `None` stops it. `gpumem_memory_trace()`.
    pub fn memory_trace(&self, path: Option<&str>) -> Result<()> {
        let path = path.map(c_string).transpose()?;
        let p = path.as_ref().map_or(std::ptr::null(), |path| path.as_ptr());
        self.check(unsafe { (self.api().gpumem_memory_trace)(self.as_raw(), p) })
    }

    /// Counts of allocated memory. `gpumem_memory_stats()`.
    pub fn memory_stats(&self) -> Result<MemoryStats> {
        let api = self.api();
        filled(api.gpumem_memory_stats_init, |stats| unsafe { (api.gpumem_memory_stats)(self.as_raw(), stats) })
            .map(MemoryStats::from)
    }

    /// Describes any address. `gpumem_pointer_query()`.
    pub fn pointer<T>(&self, p: *const T) -> Result<PointerInfo> {
        let api = self.api();
        filled(api.gpumem_pointer_info_init, |info| unsafe {
            (api.gpumem_pointer_query)(self.as_raw(), p.cast(), info)
        })
        .map(PointerInfo::from)
    }

    /// Moves managed memory to a device (`Best`: the context's). `gpumem_managed_prefetch()`.
    pub fn prefetch<T: Plain>(&self, x: &ManagedBuffer<T>, device: DeviceChoice) -> Result<()> {
        let (bytes, device) = (crate::buffer::bytes_of::<T>(x.len())?, self.device_code(device)?);
        self.check(unsafe { (self.api().gpumem_managed_prefetch)(self.as_raw(), x.as_raw().cast(), bytes, device) })
    }

    /// Gives a hint about managed memory. `gpumem_managed_advise()`.
    pub fn advise<T: Plain>(&self, x: &ManagedBuffer<T>, advice: Advice, device: DeviceChoice) -> Result<()> {
        let (bytes, device) = (crate::buffer::bytes_of::<T>(x.len())?, self.device_code(device)?);
        let p = x.as_raw().cast();
        self.check(unsafe { (self.api().gpumem_managed_advise)(self.as_raw(), p, bytes, advice as i32, device) })
    }

    /// The location of managed memory, and the advice given for it. `gpumem_managed_query()`.
    pub fn managed<T: Plain>(&self, x: &ManagedBuffer<T>) -> Result<ManagedInfo> {
        let (api, bytes, p) = (self.api(), crate::buffer::bytes_of::<T>(x.len())?, x.as_raw().cast());
        filled(api.gpumem_managed_info_init, |info| unsafe {
            (api.gpumem_managed_query)(self.as_raw(), p, bytes, info)
        })
        .map(ManagedInfo::from)
    }

    /// The number of a device for managed memory. `Best` is the context's own device.
    pub(crate) fn device_code(&self, device: DeviceChoice) -> Result<i32> {
        match device {
            DeviceChoice::Best | DeviceChoice::Cuda => Ok(self.device()?.device),
            other => Ok(other.code()),
        }
    }

    /// Overrides the choice of variants for an operation. `None` ends the override. `gpumem_variant_force()`.
    pub fn force(&self, family: Family, name: Option<&str>) -> Result<()> {
        let name = name.map(c_string).transpose()?;
        let p = name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr());
        self.check(unsafe { (self.api().gpumem_variant_force)(self.as_raw(), family as i32, p) })
    }

    /// Explains where an operation would run, its variant, and why. `line` is an operation descriptor.
    /// `gpumem_explain()`.
    pub fn explain(&self, line: &str, format: Format) -> Result<String> {
        let line = c_string(line)?;
        text_of(|buf, cap, needed| unsafe {
            (self.api().gpumem_explain)(self.as_raw(), line.as_ptr(), format as i32, buf, cap, needed)
        })
    }
}
