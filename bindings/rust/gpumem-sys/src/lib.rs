//! The C interface of libgpumem under its own names. `gpumem.h` is the contract of each function.
//!
//! [`open`] opens the library at run time and returns its functions. It opens the file that the environment variable
//! `GPUMEM_LIBRARY` names. If the variable is empty or not set, or the program has more rights than its user, the
//! system's loader looks for `libgpumem.so.0`. With the feature `link`, the library is linked at build time, and `open`
//! can't fail.
#![allow(non_camel_case_types)]

#[rustfmt::skip]
mod bindings;
pub use bindings::*;

use std::sync::atomic::{AtomicPtr, Ordering};

static OPENED: AtomicPtr<Functions> = AtomicPtr::new(std::ptr::null_mut());

/// The functions of the library, which the first call opens. An error is a message, and the next call tries again.
pub fn open() -> Result<&'static Functions, String> {
    let opened = OPENED.load(Ordering::Acquire);
    if !opened.is_null() {
        return Ok(unsafe { &*opened });
    }
    // Two threads may both open it. The loader counts references, and both tables are the same.
    let table = Box::leak(Box::new(load()?));
    OPENED.store(table, Ordering::Release);
    Ok(table)
}

#[cfg(feature = "link")]
fn load() -> Result<Functions, String> {
    Ok(Functions::linked())
}

#[cfg(not(feature = "link"))]
use at_run_time::load;

#[cfg(not(feature = "link"))]
mod at_run_time {
    use super::Functions;
    use std::ffi::{c_void, CStr, CString};
    use std::os::raw::{c_char, c_int};

    const RTLD_NOW: c_int = 2;

    #[link(name = "dl")]
    extern "C" {
        fn dlopen(file: *const c_char, mode: c_int) -> *mut c_void;
        fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
        fn dlerror() -> *mut c_char;
        fn secure_getenv(name: *const c_char) -> *mut c_char;
    }

    /// The loader's message for its last failure on this thread.
    unsafe fn reason() -> String {
        let text = dlerror();
        if text.is_null() {
            return "the loader gives no reason".into();
        }
        CStr::from_ptr(text).to_string_lossy().into_owned()
    }

    pub fn load() -> Result<Functions, String> {
        unsafe {
            // Copied at once, because another thread may change the environment.
            let named = secure_getenv("GPUMEM_LIBRARY\0".as_ptr().cast());
            let file = match named.is_null() || *named == 0 {
                true => CString::from(CStr::from_bytes_with_nul_unchecked(b"libgpumem.so.0\0")),
                false => CString::from(CStr::from_ptr(named)),
            };
            let library = dlopen(file.as_ptr(), RTLD_NOW);
            if library.is_null() {
                return Err(format!("{}; set GPUMEM_LIBRARY to the library's path", reason()));
            }
            // It stays open until the process ends, because its threads live as long.
            Functions::find(|name| dlsym(library, name.as_ptr().cast())).map_err(|name| {
                format!("{:?} has no {}: it is older than this crate", file, name.trim_end_matches('\0'))
            })
        }
    }
}
