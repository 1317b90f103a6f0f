use crate::callbacks::{on_log, on_parallel_for, Callbacks, LogLevel};
use crate::context::{filled, Context, DeviceChoice};
use crate::error::{api, check, Result};
use gpumem_sys as sys;

/// The options of a context. `gpumem_ctx_options`.
pub struct Builder {
    device: DeviceChoice,
    host_threads: i32,
    non_blocking_stream: bool,
    stream_host_data: bool,
    device_memory_limit: i64,
    pinned_memory_kept: i64,
    debug_memory: bool,
    strict_host: bool,
    callbacks: Box<Callbacks>,
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident: $type:ty,)*) => {$(
        $(#[$doc])*
        pub fn $name(mut self, $name: $type) -> Self {
            self.$name = $name;
            self
        }
    )*};
}

impl Builder {
    setters! {
        /// The device; by default the caller's current CUDA device, else the first one, else the host.
        device: DeviceChoice,
        /// Threads of the host backend, including the caller's. With 0, affinity and cgroup decide.
        host_threads: i32,
        /// The context's own stream is not ordered with CUDA's legacy default stream.
        non_blocking_stream: bool,
        /// Reductions of host data run on the device.
        stream_host_data: bool,
        /// The maximum number of bytes of device memory. 0 removes the limit.
        device_memory_limit: i64,
        /// The maximum number of bytes of freed pinned memory to keep. -1 is an eighth of the host's memory, at most 4
        /// GiB.
        pinned_memory_kept: i64,
        /// Turns on debug mode, which finds writes past the ends of memory.
        debug_memory: bool,
        /// A host context also refuses operands whose memory a GPU context would refuse.
        strict_host: bool,
    }

    /// Receives the context's messages, from any thread. It must not use the context.
    pub fn log(mut self, log: impl Fn(LogLevel, &str) + Send + Sync + 'static) -> Self {
        self.callbacks.log = Some(Box::new(log));
        self
    }

    /// Runs the host backend's work in the program's own thread pool, a [`crate::ParallelFor`].
    pub fn parallel_for(mut self, pool: impl Fn(i64, &(dyn Fn(i64) + Sync)) + Send + Sync + 'static) -> Self {
        self.callbacks.parallel_for = Some(Box::new(pool));
        self
    }

    /// Creates the context. `gpumem_ctx_create()`.
    pub fn build(self) -> Result<Context> {
        let api = api()?;
        let mut options = filled(api.gpumem_ctx_options_init, |_| sys::GPUMEM_OK)?;
        let user = &*self.callbacks as *const Callbacks as *mut std::ffi::c_void;
        options.device = self.device.code();
        options.host_threads = self.host_threads;
        options.non_blocking_stream = self.non_blocking_stream.into();
        options.stream_host_data = self.stream_host_data.into();
        options.device_memory_limit = self.device_memory_limit;
        options.pinned_memory_kept = self.pinned_memory_kept;
        options.debug_memory = self.debug_memory.into();
        options.strict_host = self.strict_host.into();
        if self.callbacks.parallel_for.is_some() {
            options.parallel_for = Some(on_parallel_for);
            options.parallel_for_user = user;
        }
        let mut ctx = std::ptr::null_mut();
        check(unsafe { (api.gpumem_ctx_create)(&options, &mut ctx) })?;
        let logs = self.callbacks.log.is_some();
        let context = Context::of(api, ctx, self.callbacks, false)?;
        if logs {
            context.check(unsafe { (api.gpumem_ctx_set_log)(ctx, Some(on_log), user) })?;
        }
        Ok(context)
    }
}

impl Context {
    /// Options for a new context.
    pub fn builder() -> Builder {
        Builder {
            device: DeviceChoice::Best,
            host_threads: 0,
            non_blocking_stream: false,
            stream_host_data: false,
            device_memory_limit: 0,
            pinned_memory_kept: -1,
            debug_memory: false,
            strict_host: false,
            callbacks: Box::default(),
        }
    }
}
