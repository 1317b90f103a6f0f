//! Sums a matrix in pinned memory, transposes it into managed memory, and checks both. It needs only rustc.
use std::ffi::{c_void, CStr};
use std::os::raw::c_char;
use std::{process, ptr, slice};

const ROWS: i64 = 300;
const COLS: i64 = 500;
const OK: i32 = 0;
const UNSUPPORTED: i32 = 7;
const SUM: i32 = 0;
const DEVICE_HOST: i32 = -1;

/// An opaque type of the library.
#[repr(C)]
struct Context {
    _private: [u8; 0],
}

#[link(name = "gpumem")]
extern "C" {
    fn gpumem_ctx_create(options: *const c_void, ctx: *mut *mut Context) -> i32;
    fn gpumem_ctx_destroy(ctx: *mut Context) -> i32;
    fn gpumem_alloc_pinned(ctx: *mut Context, bytes: i64, p: *mut *mut c_void) -> i32;
    fn gpumem_alloc_managed(ctx: *mut Context, bytes: i64, p: *mut *mut c_void) -> i32;
    fn gpumem_free(ctx: *mut Context, p: *mut c_void) -> i32;
    fn gpumem_reduce_i32(ctx: *mut Context, op: i32, x: *const i32, n: i64, stride: i64, result: *mut i64) -> i32;
    #[rustfmt::skip]
    fn gpumem_transpose(ctx: *mut Context, element_bytes: i64, rows: i64, cols: i64,
                        src: *const c_void, src_ld: i64, dst: *mut c_void, dst_ld: i64) -> i32;
    fn gpumem_managed_prefetch(ctx: *mut Context, p: *const c_void, bytes: i64, device: i32) -> i32;
    fn gpumem_last_error(buf: *mut c_char, cap: i64, needed: *mut i64) -> i32;
}

fn check(status: i32, doing: &str) {
    if status == OK {
        return;
    }
    let mut sentence = [0 as c_char; 512];
    unsafe { gpumem_last_error(sentence.as_mut_ptr(), 512, ptr::null_mut()) };
    let sentence = unsafe { CStr::from_ptr(sentence.as_ptr()) };
    eprintln!("{}: status {}: {}", doing, status, sentence.to_string_lossy());
    process::exit(1);
}

fn main() {
    let count = ROWS * COLS;
    let (mut ctx, mut pinned, mut managed) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    let mut sum = 0;
    let (a, b);
    unsafe {
        check(gpumem_ctx_create(ptr::null(), &mut ctx), "creating a context");
        check(gpumem_alloc_pinned(ctx, count * 4, &mut pinned), "allocating pinned memory");
        check(gpumem_alloc_managed(ctx, count * 4, &mut managed), "allocating managed memory");
        (0..count).for_each(|i| (pinned as *mut i32).add(i as usize).write(i as i32));
        check(gpumem_reduce_i32(ctx, SUM, pinned as *const i32, count, 1, &mut sum), "summing");
        check(gpumem_transpose(ctx, 4, ROWS, COLS, pinned, COLS, managed, ROWS), "transposing");
        // A hint, which some devices do not support.
        match gpumem_managed_prefetch(ctx, managed, count * 4, DEVICE_HOST) {
            UNSUPPORTED => {}
            status => check(status, "prefetching"),
        }
        a = slice::from_raw_parts(pinned as *const i32, count as usize);
        b = slice::from_raw_parts(managed as *const i32, count as usize);
    }
    println!("sum {}", sum);
    assert_eq!(sum, count * (count - 1) / 2);
    for (k, value) in a.iter().enumerate() {
        let (i, j) = (k / COLS as usize, k % COLS as usize);
        assert_eq!(*value, b[j * ROWS as usize + i]);
    }
    unsafe {
        check(gpumem_free(ctx, managed), "freeing");
        check(gpumem_free(ctx, pinned), "freeing");
        check(gpumem_ctx_destroy(ctx), "destroying the context");
    }
}
