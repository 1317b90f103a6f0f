use gpumem_sys as sys;
use std::ffi::CStr;
use std::fmt;
use std::os::raw::c_char;

/// The status of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Status(pub(crate) i32);

macro_rules! statuses {
    ($($name:ident = $code:ident,)*) => {
        impl Status {
            $(#[doc = concat!("`", stringify!($code), "`")]
            pub const $name: Status = Status(sys::$code);)*
        }
    };
}
statuses! {
    OK = GPUMEM_OK, INVALID_ARGUMENT = GPUMEM_INVALID_ARGUMENT, INVALID_HANDLE = GPUMEM_INVALID_HANDLE,
    INVALID_POINTER = GPUMEM_INVALID_POINTER, OUT_OF_RANGE = GPUMEM_OUT_OF_RANGE, EMPTY = GPUMEM_EMPTY,
    OVERFLOW = GPUMEM_OVERFLOW, UNSUPPORTED = GPUMEM_UNSUPPORTED, BUSY = GPUMEM_BUSY, NOT_READY = GPUMEM_NOT_READY,
    NOT_FOUND = GPUMEM_NOT_FOUND, CAPTURING = GPUMEM_CAPTURING, FORKED = GPUMEM_FORKED, CORRUPTED = GPUMEM_CORRUPTED,
    OUT_OF_MEMORY = GPUMEM_OUT_OF_MEMORY, OUT_OF_RESOURCES = GPUMEM_OUT_OF_RESOURCES,
    FILE_ERROR = GPUMEM_FILE_ERROR, NO_DEVICE = GPUMEM_NO_DEVICE, NO_DRIVER = GPUMEM_NO_DRIVER,
    DRIVER_TOO_OLD = GPUMEM_DRIVER_TOO_OLD, DEVICE_FAULT = GPUMEM_DEVICE_FAULT, DRIVER_ERROR = GPUMEM_DRIVER_ERROR,
    NOT_BUILT = GPUMEM_NOT_BUILT, PEER_LOST = GPUMEM_PEER_LOST, TIMED_OUT = GPUMEM_TIMED_OUT,
    INTERNAL = GPUMEM_INTERNAL,
}

impl Status {
    /// No libgpumem.so can be opened.
    pub const NO_LIBRARY: Status = Status(-1);
    /// A callback of the program panicked during the call. The call still completed its work.
    pub const PANICKED: Status = Status(-2);

    /// The number in `gpumem.h`. Statuses of this crate are negative.
    pub fn code(self) -> i32 {
        self.0
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0, sys::open()) {
            (-1, _) => f.write_str("NO_LIBRARY"),
            (-2, _) => f.write_str("PANICKED"),
            (code, Ok(api)) => {
                let name = unsafe { CStr::from_ptr((api.gpumem_status_name)(code)) };
                f.write_str(name.to_string_lossy().trim_start_matches("GPUMEM_"))
            }
            (code, Err(_)) => write!(f, "{}", code),
        }
    }
}

/// A failed call: the status, and the library's error message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    status: Status,
    sentence: String,
}

/// A value, or an [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(status: Status, sentence: impl Into<String>) -> Error {
        Error { status, sentence: sentence.into() }
    }

    pub(crate) fn argument(sentence: impl Into<String>) -> Error {
        Error::new(Status::INVALID_ARGUMENT, sentence)
    }

    pub(crate) fn panicked(message: &str) -> Error {
        Error::new(Status::PANICKED, format!("a callback panicked: {}", message))
    }

    /// How the call failed.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The error message, with the value and the expected values.
    pub fn sentence(&self) -> &str {
        &self.sentence
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.status, self.sentence)
    }
}

impl std::error::Error for Error {}

/// The functions of the library, which the first call opens.
pub(crate) fn api() -> Result<&'static sys::Functions> {
    sys::open().map_err(|sentence| Error::new(Status::NO_LIBRARY, sentence))
}

/// The text that a function of the library writes to (buf, cap, needed).
pub(crate) fn text_of(write: impl Fn(*mut c_char, i64, *mut i64) -> i32) -> Result<String> {
    let mut needed = 0;
    check(write(std::ptr::null_mut(), 0, &mut needed))?;
    let mut room = vec![0u8; needed.max(1) as usize];
    check(write(room.as_mut_ptr().cast(), needed, &mut needed))?;
    room.truncate(room.iter().position(|&byte| byte == 0).unwrap_or(room.len()));
    Ok(String::from_utf8_lossy(&room).into_owned())
}

/// Converts a status of the library.
pub(crate) fn check(status: i32) -> Result<()> {
    if status == sys::GPUMEM_OK {
        return Ok(());
    }
    let api = api()?;
    let sentence = text_of(|buf, cap, needed| unsafe { (api.gpumem_last_error)(buf, cap, needed) })?;
    Err(Error::new(Status(status), sentence))
}
