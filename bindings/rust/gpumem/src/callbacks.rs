use gpumem_sys as sys;
use std::ffi::{c_void, CStr};
use std::os::raw::c_char;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Mutex;

/// The severity of a log message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogLevel {
    /// `GPUMEM_LOG_ERROR`
    Error,
    /// `GPUMEM_LOG_WARNING`
    Warning,
    /// `GPUMEM_LOG_INFO`
    Info,
}

pub(crate) type Log = Box<dyn Fn(LogLevel, &str) + Send + Sync>;

/// The program's own thread pool. It calls the function once for each index below the first argument, on any threads,
/// and returns after all calls. Missing indices run at the end, and repeated ones run once.
pub type ParallelFor = dyn Fn(i64, &(dyn Fn(i64) + Sync)) + Send + Sync;

/// The callbacks of a context, and the message of a panic. The library passes its address to them.
#[derive(Default)]
pub(crate) struct Callbacks {
    pub log: Option<Log>,
    pub parallel_for: Option<Box<ParallelFor>>,
    panicked: AtomicBool,
    message: Mutex<Option<String>>,
}

/// The result of the body, or the text of its panic.
pub(crate) fn caught<T>(body: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
        let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        std::mem::forget(payload); // its drop could panic through the library's frames
        text
    })
}

impl Callbacks {
    fn run(&self, body: impl FnOnce()) {
        if let Err(text) = caught(body) {
            if let Ok(mut message) = self.message.lock() {
                message.get_or_insert(text);
            }
            self.panicked.store(true, Ordering::Release);
        }
    }

    /// The text of a panic since the last call.
    pub fn take_panic(&self) -> Option<String> {
        if !self.panicked.load(Ordering::Acquire) || !self.panicked.swap(false, Ordering::AcqRel) {
            return None;
        }
        Some(self.message.lock().ok().and_then(|mut message| message.take()).unwrap_or_default())
    }
}

pub(crate) unsafe extern "C" fn on_log(user: *mut c_void, level: i32, message: *const c_char) {
    let callbacks = &*(user as *const Callbacks);
    let log = match &callbacks.log {
        Some(log) => log,
        None => return,
    };
    let level = match level {
        sys::GPUMEM_LOG_ERROR => LogLevel::Error,
        sys::GPUMEM_LOG_WARNING => LogLevel::Warning,
        _ => LogLevel::Info,
    };
    callbacks.run(|| log(level, &CStr::from_ptr(message).to_string_lossy()));
}

struct Tasks {
    run: unsafe extern "C" fn(*mut c_void, i64),
    state: *mut c_void,
    done: Vec<AtomicBool>,
}

// Any thread may run the library's task.
unsafe impl Sync for Tasks {}

impl Tasks {
    fn run(&self, index: i64) {
        let first =
            usize::try_from(index).ok().and_then(|i| self.done.get(i)).map(|done| !done.swap(true, Ordering::AcqRel));
        if first == Some(true) {
            unsafe { (self.run)(self.state, index) }
        }
    }
}

pub(crate) unsafe extern "C" fn on_parallel_for(
    user: *mut c_void,
    count: i64,
    run: sys::gpumem_task_fn,
    state: *mut c_void,
) {
    let callbacks = &*(user as *const Callbacks);
    let (pool, run) = match (&callbacks.parallel_for, run) {
        (Some(pool), Some(run)) => (pool, run),
        _ => return,
    };
    let tasks = Tasks { run, state, done: (0..count).map(|_| AtomicBool::new(false)).collect() };
    callbacks.run(|| pool(count, &|index| tasks.run(index)));
    (0..count).for_each(|index| tasks.run(index));
}
