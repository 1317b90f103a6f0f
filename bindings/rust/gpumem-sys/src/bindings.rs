// Made of gpumem.h by bindings/rust/generate.
use std::ffi::c_void;
#[cfg(not(feature = "link"))]
use std::mem::transmute;
use std::os::raw::c_char;

pub type gpumem_status = i32;
pub type gpumem_backend = i32;
pub type gpumem_dtype = i32;
pub type gpumem_reduce_op = i32;
pub type gpumem_axis = i32;
pub type gpumem_memory_kind = i32;
pub type gpumem_advice = i32;
pub type gpumem_family = i32;
pub type gpumem_map_op = i32;
pub type gpumem_compare_op = i32;
pub type gpumem_filter = i32;
pub type gpumem_format = i32;
pub type gpumem_log_level = i32;
pub const GPUMEM_VERSION_MAJOR: i32 = 0;
pub const GPUMEM_VERSION_MINOR: i32 = 1;
pub const GPUMEM_VERSION_PATCH: i32 = 0;
pub const GPUMEM_OK: gpumem_status = 0;
pub const GPUMEM_INVALID_ARGUMENT: gpumem_status = 1;
pub const GPUMEM_INVALID_HANDLE: gpumem_status = 2;
pub const GPUMEM_INVALID_POINTER: gpumem_status = 3;
pub const GPUMEM_OUT_OF_RANGE: gpumem_status = 4;
pub const GPUMEM_EMPTY: gpumem_status = 5;
pub const GPUMEM_OVERFLOW: gpumem_status = 6;
pub const GPUMEM_UNSUPPORTED: gpumem_status = 7;
pub const GPUMEM_BUSY: gpumem_status = 8;
pub const GPUMEM_NOT_READY: gpumem_status = 9;
pub const GPUMEM_NOT_FOUND: gpumem_status = 10;
pub const GPUMEM_CAPTURING: gpumem_status = 11;
pub const GPUMEM_FORKED: gpumem_status = 12;
pub const GPUMEM_CORRUPTED: gpumem_status = 13;
pub const GPUMEM_OUT_OF_MEMORY: gpumem_status = 100;
pub const GPUMEM_OUT_OF_RESOURCES: gpumem_status = 101;
pub const GPUMEM_FILE_ERROR: gpumem_status = 102;
pub const GPUMEM_NO_DEVICE: gpumem_status = 200;
pub const GPUMEM_NO_DRIVER: gpumem_status = 201;
pub const GPUMEM_DRIVER_TOO_OLD: gpumem_status = 202;
pub const GPUMEM_DEVICE_FAULT: gpumem_status = 203;
pub const GPUMEM_DRIVER_ERROR: gpumem_status = 204;
pub const GPUMEM_NOT_BUILT: gpumem_status = 205;
pub const GPUMEM_PEER_LOST: gpumem_status = 206;
pub const GPUMEM_TIMED_OUT: gpumem_status = 207;
pub const GPUMEM_INTERNAL: gpumem_status = 900;
pub const GPUMEM_BACKEND_HOST: gpumem_backend = 0;
pub const GPUMEM_BACKEND_CUDA: gpumem_backend = 1;
pub const GPUMEM_DEVICE_HOST: i32 = -1;
pub const GPUMEM_DEVICE_BEST: i32 = -2;
pub const GPUMEM_DEVICE_CUDA: i32 = -3;
pub const GPUMEM_DEVICE_NONE: i32 = -4;
pub const GPUMEM_I8: gpumem_dtype = 0;
pub const GPUMEM_U8: gpumem_dtype = 1;
pub const GPUMEM_I16: gpumem_dtype = 2;
pub const GPUMEM_U16: gpumem_dtype = 3;
pub const GPUMEM_I32: gpumem_dtype = 4;
pub const GPUMEM_U32: gpumem_dtype = 5;
pub const GPUMEM_I64: gpumem_dtype = 6;
pub const GPUMEM_U64: gpumem_dtype = 7;
pub const GPUMEM_F16: gpumem_dtype = 8;
pub const GPUMEM_BF16: gpumem_dtype = 9;
pub const GPUMEM_F32: gpumem_dtype = 10;
pub const GPUMEM_F64: gpumem_dtype = 11;
pub const GPUMEM_SUM: gpumem_reduce_op = 0;
pub const GPUMEM_MIN: gpumem_reduce_op = 1;
pub const GPUMEM_MAX: gpumem_reduce_op = 2;
pub const GPUMEM_SUM_ABS: gpumem_reduce_op = 3;
pub const GPUMEM_SUM_SQUARES: gpumem_reduce_op = 4;
pub const GPUMEM_SUM_CUBES: gpumem_reduce_op = 5;
pub const GPUMEM_MAX_ABS: gpumem_reduce_op = 6;
pub const GPUMEM_MIN_MAX: gpumem_reduce_op = 7;
pub const GPUMEM_SUM_COMPENSATED: gpumem_reduce_op = 8;
pub const GPUMEM_ARG_MIN: gpumem_reduce_op = 16;
pub const GPUMEM_ARG_MAX: gpumem_reduce_op = 17;
pub const GPUMEM_DOT: gpumem_reduce_op = 18;
pub const GPUMEM_NRM2: gpumem_reduce_op = 19;
pub const GPUMEM_ARG_MAX_ABS: gpumem_reduce_op = 20;
pub const GPUMEM_PROD: gpumem_reduce_op = 21;
pub const GPUMEM_SUM_VALID: gpumem_reduce_op = 22;
pub const GPUMEM_COUNT_VALID: gpumem_reduce_op = 23;
pub const GPUMEM_MIN_VALID: gpumem_reduce_op = 24;
pub const GPUMEM_MAX_VALID: gpumem_reduce_op = 25;
pub const GPUMEM_ARG_MIN_VALID: gpumem_reduce_op = 26;
pub const GPUMEM_ARG_MAX_VALID: gpumem_reduce_op = 27;
pub const GPUMEM_SUM_ORDER_FREE: gpumem_reduce_op = 28;
pub const GPUMEM_NRM2_ORDER_FREE: gpumem_reduce_op = 29;
pub const GPUMEM_DOT_ORDER_FREE: gpumem_reduce_op = 30;
pub const GPUMEM_AXIS_ROWS: gpumem_axis = 0;
pub const GPUMEM_AXIS_COLS: gpumem_axis = 1;
pub const GPUMEM_MEMORY_PAGEABLE: gpumem_memory_kind = 0;
pub const GPUMEM_MEMORY_PINNED: gpumem_memory_kind = 1;
pub const GPUMEM_MEMORY_DEVICE: gpumem_memory_kind = 2;
pub const GPUMEM_MEMORY_MANAGED: gpumem_memory_kind = 3;
pub const GPUMEM_ADVISE_READ_MOSTLY: gpumem_advice = 1;
pub const GPUMEM_ADVISE_UNSET_READ_MOSTLY: gpumem_advice = 2;
pub const GPUMEM_ADVISE_PREFERRED_LOCATION: gpumem_advice = 3;
pub const GPUMEM_ADVISE_UNSET_PREFERRED_LOCATION: gpumem_advice = 4;
pub const GPUMEM_ADVISE_ACCESSED_BY: gpumem_advice = 5;
pub const GPUMEM_ADVISE_UNSET_ACCESSED_BY: gpumem_advice = 6;
pub const GPUMEM_FAMILY_REDUCE: gpumem_family = 1;
pub const GPUMEM_FAMILY_TRANSPOSE: gpumem_family = 2;
pub const GPUMEM_FAMILY_FILL: gpumem_family = 3;
pub const GPUMEM_FAMILY_REDUCE_AXIS: gpumem_family = 4;
pub const GPUMEM_FAMILY_REDUCE_SEGMENTS: gpumem_family = 5;
pub const GPUMEM_FAMILY_COPY: gpumem_family = 6;
pub const GPUMEM_FAMILY_AXPBY: gpumem_family = 7;
pub const GPUMEM_FAMILY_GATHER: gpumem_family = 8;
pub const GPUMEM_FAMILY_SCATTER: gpumem_family = 9;
pub const GPUMEM_FAMILY_PERMUTE: gpumem_family = 10;
pub const GPUMEM_FAMILY_RESIZE: gpumem_family = 11;
pub const GPUMEM_FAMILY_CONVERT: gpumem_family = 12;
pub const GPUMEM_FAMILY_ARITHMETIC: gpumem_family = 13;
pub const GPUMEM_FAMILY_MAP: gpumem_family = 14;
pub const GPUMEM_FAMILY_SCAN: gpumem_family = 15;
pub const GPUMEM_FAMILY_SORT: gpumem_family = 16;
pub const GPUMEM_FAMILY_SELECT: gpumem_family = 17;
pub const GPUMEM_FAMILY_REDUCE_BY_INDEX: gpumem_family = 18;
pub const GPUMEM_FAMILY_COPY_BOXES: gpumem_family = 19;
pub const GPUMEM_MAP_NEGATE: gpumem_map_op = 0;
pub const GPUMEM_MAP_ABSOLUTE: gpumem_map_op = 1;
pub const GPUMEM_MAP_RECIPROCAL: gpumem_map_op = 2;
pub const GPUMEM_MAP_SQUARE_ROOT: gpumem_map_op = 3;
pub const GPUMEM_MAP_FLOOR: gpumem_map_op = 4;
pub const GPUMEM_MAP_CEIL: gpumem_map_op = 5;
pub const GPUMEM_MAP_TRUNCATE: gpumem_map_op = 6;
pub const GPUMEM_MAP_ROUND: gpumem_map_op = 7;
pub const GPUMEM_MAP_NOT: gpumem_map_op = 8;
pub const GPUMEM_MAP_ADD: gpumem_map_op = 16;
pub const GPUMEM_MAP_SUBTRACT: gpumem_map_op = 17;
pub const GPUMEM_MAP_MULTIPLY: gpumem_map_op = 18;
pub const GPUMEM_MAP_DIVIDE: gpumem_map_op = 19;
pub const GPUMEM_MAP_REMAINDER: gpumem_map_op = 20;
pub const GPUMEM_MAP_MINIMUM: gpumem_map_op = 21;
pub const GPUMEM_MAP_MAXIMUM: gpumem_map_op = 22;
pub const GPUMEM_MAP_COPY_SIGN: gpumem_map_op = 23;
pub const GPUMEM_MAP_AND: gpumem_map_op = 24;
pub const GPUMEM_MAP_OR: gpumem_map_op = 25;
pub const GPUMEM_MAP_XOR: gpumem_map_op = 26;
pub const GPUMEM_MAP_SHIFT_LEFT: gpumem_map_op = 27;
pub const GPUMEM_MAP_SHIFT_RIGHT: gpumem_map_op = 28;
pub const GPUMEM_LESS: gpumem_compare_op = 0;
pub const GPUMEM_LESS_EQUAL: gpumem_compare_op = 1;
pub const GPUMEM_EQUAL: gpumem_compare_op = 2;
pub const GPUMEM_NOT_EQUAL: gpumem_compare_op = 3;
pub const GPUMEM_GREATER_EQUAL: gpumem_compare_op = 4;
pub const GPUMEM_GREATER: gpumem_compare_op = 5;
pub const GPUMEM_FILTER_NEAREST: gpumem_filter = 0;
pub const GPUMEM_FILTER_BILINEAR: gpumem_filter = 1;
pub const GPUMEM_FORMAT_TEXT: gpumem_format = 0;
pub const GPUMEM_FORMAT_JSON: gpumem_format = 1;
pub const GPUMEM_FORMAT_CSV: gpumem_format = 2;
pub const GPUMEM_FORMAT_TRACE: gpumem_format = 3;
pub const GPUMEM_LOG_ERROR: gpumem_log_level = 1;
pub const GPUMEM_LOG_WARNING: gpumem_log_level = 2;
pub const GPUMEM_LOG_INFO: gpumem_log_level = 3;

#[repr(C)]
pub struct gpumem_ctx {
    _private: [u8; 0],
}

#[repr(C)]
pub struct gpumem_stream {
    _private: [u8; 0],
}

#[repr(C)]
pub struct gpumem_event {
    _private: [u8; 0],
}

#[repr(C)]
pub struct gpumem_dist {
    _private: [u8; 0],
}

#[repr(C)]
pub struct gpumem_dist_plan {
    _private: [u8; 0],
}

pub type gpumem_log_fn = Option<unsafe extern "C" fn(user: *mut c_void, level: gpumem_log_level, message: *const c_char)>;
pub type gpumem_task_fn = Option<unsafe extern "C" fn(task_state: *mut c_void, index: i64)>;
pub type gpumem_parallel_for_fn = Option<unsafe extern "C" fn(user: *mut c_void, tasks: i64, task: gpumem_task_fn, task_state: *mut c_void)>;
pub type gpumem_progress_fn = Option<unsafe extern "C" fn(user: *mut c_void, done: f64) -> i32>;
pub type gpumem_dist_send_fn = Option<unsafe extern "C" fn(user: *mut c_void, p: *const c_void, bytes: i64, to: i32, request: *mut *mut c_void) -> i32>;
pub type gpumem_dist_receive_fn = Option<unsafe extern "C" fn(user: *mut c_void, p: *mut c_void, bytes: i64, from: i32, request: *mut *mut c_void) -> i32>;
pub type gpumem_dist_test_fn = Option<unsafe extern "C" fn(user: *mut c_void, request: *mut c_void, done: *mut i32) -> i32>;
pub type gpumem_dist_release_fn = Option<unsafe extern "C" fn(user: *mut c_void)>;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gpumem_ctx_options {
    pub struct_size: i64,
    pub device: i32,
    pub host_threads: i32,
    pub non_blocking_stream: i32,
    pub reserved0: i32,
    pub parallel_for: gpumem_parallel_for_fn,
    pub parallel_for_user: *mut c_void,
    pub stream_host_data: i32,
    pub reserved1: i32,
    pub device_memory_limit: i64,
    pub pinned_memory_kept: i64,
    pub debug_memory: i32,
    pub reserved2: i32,
    pub strict_host: i32,
    pub reserved3: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gpumem_device_info {
    pub struct_size: i64,
    pub backend: gpumem_backend,
    pub device: i32,
    pub reason_code: gpumem_status,
    pub compute_major: i32,
    pub compute_minor: i32,
    pub multiprocessors: i32,
    pub driver_version: i32,
    pub managed_memory: i32,
    pub concurrent_managed: i32,
    pub pageable_access: i32,
    pub memory_bytes: i64,
    pub l2_bytes: i64,
    pub bandwidth_bytes_per_s: i64,
    pub name: [c_char; 128],
    pub reason: [c_char; 256],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gpumem_pointer_info {
    pub struct_size: i64,
    pub kind: gpumem_memory_kind,
    pub device: i32,
    pub ours: i32,
    pub reserved0: i32,
    pub size_bytes: i64,
    pub offset_bytes: i64,
    pub base: *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gpumem_managed_info {
    pub struct_size: i64,
    pub host_bytes: i64,
    pub last_prefetch: i32,
    pub preferred_location: i32,
    pub read_mostly: i32,
    pub accessed_by: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gpumem_memory_stats_info {
    pub struct_size: i64,
    pub device_bytes: i64,
    pub device_blocks: i64,
    pub device_peak_bytes: i64,
    pub pinned_bytes: i64,
    pub pinned_blocks: i64,
    pub pinned_peak_bytes: i64,
    pub managed_bytes: i64,
    pub managed_blocks: i64,
    pub managed_peak_bytes: i64,
    pub allocations: i64,
    pub frees: i64,
    pub device_reserved_bytes: i64,
    pub device_reserved_peak_bytes: i64,
    pub pinned_reserved_bytes: i64,
    pub pinned_reserved_peak_bytes: i64,
    pub device_allocations: i64,
    pub pinned_allocations: i64,
    pub managed_allocations: i64,
    pub device_hits: i64,
    pub device_misses: i64,
    pub pinned_hits: i64,
    pub pinned_misses: i64,
    pub registered_bytes: i64,
    pub registered_ranges: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gpumem_ceiling_info {
    pub struct_size: i64,
    pub read: i64,
    pub write: i64,
    pub copy: i64,
    pub to_device: i64,
    pub from_device: i64,
    pub theoretical: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gpumem_profile_row {
    pub struct_size: i64,
    pub calls: i64,
    pub timed: i64,
    pub bytes: i64,
    pub median_s: f64,
    pub total_s: f64,
    pub bytes_per_s: f64,
    pub of_theoretical: f64,
    pub of_ceiling: f64,
    pub flops_per_s: f64,
    pub variant: [c_char; 64],
    pub problem: [c_char; 512],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gpumem_tune_options {
    pub struct_size: i64,
    pub budget_s: f64,
    pub progress: gpumem_progress_fn,
    pub user: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gpumem_tune_info {
    pub struct_size: i64,
    pub adopted: i32,
    pub candidates: i32,
    pub table_s: f64,
    pub winner_s: f64,
    pub ratio: f64,
    pub spread: f64,
    pub table: [c_char; 64],
    pub winner: [c_char; 64],
    pub reason: [c_char; 128],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gpumem_dist_transport {
    pub struct_size: i64,
    pub user: *mut c_void,
    pub rank: i32,
    pub size: i32,
    pub isend: gpumem_dist_send_fn,
    pub irecv: gpumem_dist_receive_fn,
    pub test: gpumem_dist_test_fn,
    pub release: gpumem_dist_release_fn,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gpumem_dist_options {
    pub struct_size: i64,
    pub contexts: *const *mut gpumem_ctx,
    pub members: i32,
    pub reserved0: i32,
    pub transport: *const gpumem_dist_transport,
    pub deadline_s: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gpumem_dist_info {
    pub struct_size: i64,
    pub rank: i32,
    pub size: i32,
    pub first_member: i32,
    pub members: i32,
    pub all_members: i32,
    pub status: gpumem_status,
    pub staged_pairs: i32,
    pub reserved0: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gpumem_dist_layout {
    pub struct_size: i64,
    pub element_bytes: i64,
    pub rank: i32,
    pub reserved0: i32,
    pub extents: *const i64,
    pub boxes: i64,
    pub members: *const i32,
    pub lower: *const i64,
    pub upper: *const i64,
    pub offsets: *const i64,
    pub strides: *const i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct gpumem_dist_plan_options {
    pub struct_size: i64,
    pub workspace_bytes: i64,
}

/// The functions of the library.
#[derive(Clone, Copy)]
pub struct Functions {
    pub gpumem_version: unsafe extern "C" fn(major: *mut i32, minor: *mut i32, patch: *mut i32) -> gpumem_status,
    pub gpumem_status_name: unsafe extern "C" fn(status: gpumem_status) -> *const c_char,
    pub gpumem_last_error: unsafe extern "C" fn(buf: *mut c_char, cap: i64, needed: *mut i64) -> gpumem_status,
    pub gpumem_device_count: unsafe extern "C" fn(count: *mut i32) -> gpumem_status,
    pub gpumem_device_info_init: unsafe extern "C" fn(info: *mut gpumem_device_info, size: i64) -> gpumem_status,
    pub gpumem_device_query: unsafe extern "C" fn(device: i32, info: *mut gpumem_device_info) -> gpumem_status,
    pub gpumem_ctx_options_init: unsafe extern "C" fn(options: *mut gpumem_ctx_options, size: i64) -> gpumem_status,
    pub gpumem_ctx_create: unsafe extern "C" fn(options: *const gpumem_ctx_options, ctx: *mut *mut gpumem_ctx) -> gpumem_status,
    pub gpumem_ctx_destroy: unsafe extern "C" fn(ctx: *mut gpumem_ctx) -> gpumem_status,
    pub gpumem_ctx_device: unsafe extern "C" fn(ctx: *mut gpumem_ctx, info: *mut gpumem_device_info) -> gpumem_status,
    pub gpumem_ctx_status: unsafe extern "C" fn(ctx: *mut gpumem_ctx) -> gpumem_status,
    pub gpumem_ctx_synchronize: unsafe extern "C" fn(ctx: *mut gpumem_ctx) -> gpumem_status,
    pub gpumem_ctx_set_log: unsafe extern "C" fn(ctx: *mut gpumem_ctx, function: gpumem_log_fn, user: *mut c_void) -> gpumem_status,
    pub gpumem_ctx_warmup: unsafe extern "C" fn(ctx: *mut gpumem_ctx) -> gpumem_status,
    pub gpumem_alloc_device: unsafe extern "C" fn(ctx: *mut gpumem_ctx, bytes: i64, p: *mut *mut c_void) -> gpumem_status,
    pub gpumem_alloc_pinned: unsafe extern "C" fn(ctx: *mut gpumem_ctx, bytes: i64, p: *mut *mut c_void) -> gpumem_status,
    pub gpumem_alloc_managed: unsafe extern "C" fn(ctx: *mut gpumem_ctx, bytes: i64, p: *mut *mut c_void) -> gpumem_status,
    pub gpumem_free: unsafe extern "C" fn(ctx: *mut gpumem_ctx, p: *mut c_void) -> gpumem_status,
    pub gpumem_alloc_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, bytes: i64, alignment: i64, stream: *mut gpumem_stream, p: *mut *mut c_void) -> gpumem_status,
    pub gpumem_free_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, p: *mut c_void, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_memory_used_on: unsafe extern "C" fn(ctx: *mut gpumem_ctx, p: *const c_void, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_memory_trim: unsafe extern "C" fn(ctx: *mut gpumem_ctx, keep_bytes: i64) -> gpumem_status,
    pub gpumem_memory_check: unsafe extern "C" fn(ctx: *mut gpumem_ctx) -> gpumem_status,
    pub gpumem_memory_trace: unsafe extern "C" fn(ctx: *mut gpumem_ctx, path: *const c_char) -> gpumem_status,
    pub gpumem_host_register: unsafe extern "C" fn(ctx: *mut gpumem_ctx, p: *mut c_void, bytes: i64) -> gpumem_status,
    pub gpumem_host_unregister: unsafe extern "C" fn(ctx: *mut gpumem_ctx, p: *mut c_void) -> gpumem_status,
    pub gpumem_memory_label: unsafe extern "C" fn(ctx: *mut gpumem_ctx, p: *const c_void, label: *const c_char) -> gpumem_status,
    pub gpumem_pointer_info_init: unsafe extern "C" fn(info: *mut gpumem_pointer_info, size: i64) -> gpumem_status,
    pub gpumem_pointer_query: unsafe extern "C" fn(ctx: *mut gpumem_ctx, p: *const c_void, info: *mut gpumem_pointer_info) -> gpumem_status,
    pub gpumem_memory_stats_init: unsafe extern "C" fn(stats: *mut gpumem_memory_stats_info, size: i64) -> gpumem_status,
    pub gpumem_memory_stats: unsafe extern "C" fn(ctx: *mut gpumem_ctx, stats: *mut gpumem_memory_stats_info) -> gpumem_status,
    pub gpumem_shared_ctx: unsafe extern "C" fn(device: i32, ctx: *mut *mut gpumem_ctx) -> gpumem_status,
    pub gpumem_torch_malloc: unsafe extern "C" fn(bytes: i64, device: i32, native_stream: *mut c_void) -> *mut c_void,
    pub gpumem_torch_free: unsafe extern "C" fn(p: *mut c_void, bytes: i64, device: i32, native_stream: *mut c_void),
    pub gpumem_torch_record_stream: unsafe extern "C" fn(p: *mut c_void, native_stream: *mut c_void),
    pub gpumem_torch_begin_pool: unsafe extern "C" fn(device: i32, pool_high: i64, pool_low: i64, filter: *const c_void),
    pub gpumem_torch_end_pool: unsafe extern "C" fn(device: i32, pool_high: i64, pool_low: i64),
    pub gpumem_torch_release_pool: unsafe extern "C" fn(device: i32, pool_high: i64, pool_low: i64),
    pub gpumem_torch_empty_cache: unsafe extern "C" fn(),
    pub gpumem_torch_segment_malloc: unsafe extern "C" fn(bytes: i64, device: i32, native_stream: *mut c_void) -> *mut c_void,
    pub gpumem_torch_segment_free: unsafe extern "C" fn(p: *mut c_void, bytes: i64, device: i32, native_stream: *mut c_void),
    pub gpumem_cupy_malloc: unsafe extern "C" fn(param: *mut c_void, bytes: i64, device: i32) -> *mut c_void,
    pub gpumem_cupy_free: unsafe extern "C" fn(param: *mut c_void, p: *mut c_void, device: i32),
    pub gpumem_managed_prefetch: unsafe extern "C" fn(ctx: *mut gpumem_ctx, p: *const c_void, bytes: i64, device: i32) -> gpumem_status,
    pub gpumem_managed_prefetch_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, p: *const c_void, bytes: i64, device: i32, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_managed_advise: unsafe extern "C" fn(ctx: *mut gpumem_ctx, p: *const c_void, bytes: i64, advice: gpumem_advice, device: i32) -> gpumem_status,
    pub gpumem_managed_info_init: unsafe extern "C" fn(info: *mut gpumem_managed_info, size: i64) -> gpumem_status,
    pub gpumem_managed_query: unsafe extern "C" fn(ctx: *mut gpumem_ctx, p: *const c_void, bytes: i64, info: *mut gpumem_managed_info) -> gpumem_status,
    pub gpumem_copy: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dst: *mut c_void, src: *const c_void, bytes: i64) -> gpumem_status,
    pub gpumem_copy_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dst: *mut c_void, src: *const c_void, bytes: i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_copy_2d: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dst: *mut c_void, dst_pitch_bytes: i64, src: *const c_void, src_pitch_bytes: i64, row_bytes: i64, rows: i64) -> gpumem_status,
    pub gpumem_copy_2d_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dst: *mut c_void, dst_pitch_bytes: i64, src: *const c_void, src_pitch_bytes: i64, row_bytes: i64, rows: i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_copy_3d: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dst: *mut c_void, dst_pitch_bytes: i64, dst_slice_bytes: i64, src: *const c_void, src_pitch_bytes: i64, src_slice_bytes: i64, row_bytes: i64, rows: i64, slices: i64) -> gpumem_status,
    pub gpumem_copy_3d_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dst: *mut c_void, dst_pitch_bytes: i64, dst_slice_bytes: i64, src: *const c_void, src_pitch_bytes: i64, src_slice_bytes: i64, row_bytes: i64, rows: i64, slices: i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_fill: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dst: *mut c_void, pattern: *const c_void, pattern_bytes: i64, count: i64) -> gpumem_status,
    pub gpumem_fill_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dst: *mut c_void, pattern: *const c_void, pattern_bytes: i64, count: i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_fill_2d: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dst: *mut c_void, dst_pitch_bytes: i64, pattern: *const c_void, pattern_bytes: i64, cols: i64, rows: i64) -> gpumem_status,
    pub gpumem_fill_2d_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dst: *mut c_void, dst_pitch_bytes: i64, pattern: *const c_void, pattern_bytes: i64, cols: i64, rows: i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_stream_create: unsafe extern "C" fn(ctx: *mut gpumem_ctx, stream: *mut *mut gpumem_stream) -> gpumem_status,
    pub gpumem_stream_destroy: unsafe extern "C" fn(stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_stream_wrap: unsafe extern "C" fn(ctx: *mut gpumem_ctx, native_stream: *mut c_void, stream: *mut *mut gpumem_stream) -> gpumem_status,
    pub gpumem_stream_native: unsafe extern "C" fn(ctx: *mut gpumem_ctx, stream: *mut gpumem_stream, native_stream: *mut *mut c_void) -> gpumem_status,
    pub gpumem_stream_synchronize: unsafe extern "C" fn(ctx: *mut gpumem_ctx, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_stream_query: unsafe extern "C" fn(ctx: *mut gpumem_ctx, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_stream_wait_event: unsafe extern "C" fn(ctx: *mut gpumem_ctx, stream: *mut gpumem_stream, event: *mut gpumem_event) -> gpumem_status,
    pub gpumem_event_create: unsafe extern "C" fn(ctx: *mut gpumem_ctx, event: *mut *mut gpumem_event) -> gpumem_status,
    pub gpumem_event_destroy: unsafe extern "C" fn(event: *mut gpumem_event) -> gpumem_status,
    pub gpumem_event_record: unsafe extern "C" fn(ctx: *mut gpumem_ctx, event: *mut gpumem_event, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_event_synchronize: unsafe extern "C" fn(event: *mut gpumem_event) -> gpumem_status,
    pub gpumem_event_elapsed: unsafe extern "C" fn(start: *mut gpumem_event, end: *mut gpumem_event, seconds: *mut f64) -> gpumem_status,
    pub gpumem_reduce: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, n: i64, stride: i64, result: *mut c_void) -> gpumem_status,
    pub gpumem_reduce_i32: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const i32, n: i64, stride: i64, result: *mut i64) -> gpumem_status,
    pub gpumem_reduce_i64: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const i64, n: i64, stride: i64, result: *mut i64) -> gpumem_status,
    pub gpumem_reduce_u32: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const u32, n: i64, stride: i64, result: *mut u64) -> gpumem_status,
    pub gpumem_reduce_u64: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const u64, n: i64, stride: i64, result: *mut u64) -> gpumem_status,
    pub gpumem_reduce_f32: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const f32, n: i64, stride: i64, result: *mut f64) -> gpumem_status,
    pub gpumem_reduce_f64: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const f64, n: i64, stride: i64, result: *mut f64) -> gpumem_status,
    pub gpumem_reduce_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, n: i64, stride: i64, result: *mut c_void, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_reduce_i32_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const i32, n: i64, stride: i64, result: *mut i64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_reduce_i64_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const i64, n: i64, stride: i64, result: *mut i64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_reduce_u32_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const u32, n: i64, stride: i64, result: *mut u64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_reduce_u64_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const u64, n: i64, stride: i64, result: *mut u64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_reduce_f32_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const f32, n: i64, stride: i64, result: *mut f64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_reduce_f64_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const f64, n: i64, stride: i64, result: *mut f64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_argreduce: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, n: i64, stride: i64, value: *mut c_void, index: *mut i64) -> gpumem_status,
    pub gpumem_argreduce_i32: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const i32, n: i64, stride: i64, value: *mut i64, index: *mut i64) -> gpumem_status,
    pub gpumem_argreduce_i64: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const i64, n: i64, stride: i64, value: *mut i64, index: *mut i64) -> gpumem_status,
    pub gpumem_argreduce_u32: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const u32, n: i64, stride: i64, value: *mut u64, index: *mut i64) -> gpumem_status,
    pub gpumem_argreduce_u64: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const u64, n: i64, stride: i64, value: *mut u64, index: *mut i64) -> gpumem_status,
    pub gpumem_argreduce_f32: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const f32, n: i64, stride: i64, value: *mut f64, index: *mut i64) -> gpumem_status,
    pub gpumem_argreduce_f64: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const f64, n: i64, stride: i64, value: *mut f64, index: *mut i64) -> gpumem_status,
    pub gpumem_argreduce_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, n: i64, stride: i64, value: *mut c_void, index: *mut i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_argreduce_i32_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const i32, n: i64, stride: i64, value: *mut i64, index: *mut i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_argreduce_i64_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const i64, n: i64, stride: i64, value: *mut i64, index: *mut i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_argreduce_u32_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const u32, n: i64, stride: i64, value: *mut u64, index: *mut i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_argreduce_u64_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const u64, n: i64, stride: i64, value: *mut u64, index: *mut i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_argreduce_f32_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const f32, n: i64, stride: i64, value: *mut f64, index: *mut i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_argreduce_f64_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const f64, n: i64, stride: i64, value: *mut f64, index: *mut i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_dot_f32: unsafe extern "C" fn(ctx: *mut gpumem_ctx, x: *const f32, y: *const f32, n: i64, x_stride: i64, y_stride: i64, result: *mut f64) -> gpumem_status,
    pub gpumem_dot_f64: unsafe extern "C" fn(ctx: *mut gpumem_ctx, x: *const f64, y: *const f64, n: i64, x_stride: i64, y_stride: i64, result: *mut f64) -> gpumem_status,
    pub gpumem_dot_f32_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, x: *const f32, y: *const f32, n: i64, x_stride: i64, y_stride: i64, result: *mut f64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_dot_f64_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, x: *const f64, y: *const f64, n: i64, x_stride: i64, y_stride: i64, result: *mut f64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_nrm2_f32: unsafe extern "C" fn(ctx: *mut gpumem_ctx, x: *const f32, n: i64, stride: i64, result: *mut f64) -> gpumem_status,
    pub gpumem_nrm2_f64: unsafe extern "C" fn(ctx: *mut gpumem_ctx, x: *const f64, n: i64, stride: i64, result: *mut f64) -> gpumem_status,
    pub gpumem_nrm2_f32_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, x: *const f32, n: i64, stride: i64, result: *mut f64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_nrm2_f64_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, x: *const f64, n: i64, stride: i64, result: *mut f64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_reduce_axis: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, axis: gpumem_axis, x: *const c_void, rows: i64, cols: i64, ld: i64, batches: i64, batch_stride: i64, result: *mut c_void) -> gpumem_status,
    pub gpumem_reduce_axis_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, axis: gpumem_axis, x: *const c_void, rows: i64, cols: i64, ld: i64, batches: i64, batch_stride: i64, result: *mut c_void, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_argreduce_axis: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, axis: gpumem_axis, x: *const c_void, rows: i64, cols: i64, ld: i64, batches: i64, batch_stride: i64, value: *mut c_void, index: *mut i64) -> gpumem_status,
    pub gpumem_argreduce_axis_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, axis: gpumem_axis, x: *const c_void, rows: i64, cols: i64, ld: i64, batches: i64, batch_stride: i64, value: *mut c_void, index: *mut i64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_reduce_axes: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, axes: i32, result: *mut c_void, result_type: gpumem_dtype) -> gpumem_status,
    pub gpumem_reduce_axes_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, axes: i32, result: *mut c_void, result_type: gpumem_dtype, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_reduce_segments: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, n: i64, offsets: *const i64, segments: i64, result: *mut c_void) -> gpumem_status,
    pub gpumem_reduce_segments_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, n: i64, offsets: *const i64, segments: i64, result: *mut c_void, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_reduce_by_index: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, index_type: gpumem_dtype, index: *const c_void, n: i64, result: *mut c_void, bins: i64) -> gpumem_status,
    pub gpumem_reduce_by_index_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, index_type: gpumem_dtype, index: *const c_void, n: i64, result: *mut c_void, bins: i64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_reduce_rows_by_index: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, rows: i64, cols: i64, ld: i64, index_type: gpumem_dtype, index: *const c_void, result: *mut c_void, bins: i64) -> gpumem_status,
    pub gpumem_reduce_rows_by_index_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, rows: i64, cols: i64, ld: i64, index_type: gpumem_dtype, index: *const c_void, result: *mut c_void, bins: i64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_reduce_view: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, result: *mut c_void) -> gpumem_status,
    pub gpumem_reduce_view_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, result: *mut c_void, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_argreduce_view: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, value: *mut c_void, index: *mut i64) -> gpumem_status,
    pub gpumem_argreduce_view_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, value: *mut c_void, index: *mut i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_dot_view_f32: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f32, x_strides: *const i64, y: *const f32, y_strides: *const i64, result: *mut f64) -> gpumem_status,
    pub gpumem_dot_view_f64: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f64, x_strides: *const i64, y: *const f64, y_strides: *const i64, result: *mut f64) -> gpumem_status,
    pub gpumem_dot_view_f32_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f32, x_strides: *const i64, y: *const f32, y_strides: *const i64, result: *mut f64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_dot_view_f64_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f64, x_strides: *const i64, y: *const f64, y_strides: *const i64, result: *mut f64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_nrm2_view_f32: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f32, x_strides: *const i64, result: *mut f64) -> gpumem_status,
    pub gpumem_nrm2_view_f64: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f64, x_strides: *const i64, result: *mut f64) -> gpumem_status,
    pub gpumem_nrm2_view_f32_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f32, x_strides: *const i64, result: *mut f64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_nrm2_view_f64_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f64, x_strides: *const i64, result: *mut f64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_dot_order_free: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, y: *const c_void, y_strides: *const i64, result: *mut f64) -> gpumem_status,
    pub gpumem_dot_order_free_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, y: *const c_void, y_strides: *const i64, result: *mut f64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_scan: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, exclusive: i32, x: *const c_void, n: i64, result: *mut c_void, result_type: gpumem_dtype) -> gpumem_status,
    pub gpumem_scan_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, exclusive: i32, x: *const c_void, n: i64, result: *mut c_void, result_type: gpumem_dtype, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_scan_axis: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, exclusive: i32, ndim: i32, extents: *const i64, axis: i32, x: *const c_void, x_strides: *const i64, result: *mut c_void, result_strides: *const i64, result_type: gpumem_dtype) -> gpumem_status,
    pub gpumem_scan_axis_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, exclusive: i32, ndim: i32, extents: *const i64, axis: i32, x: *const c_void, x_strides: *const i64, result: *mut c_void, result_strides: *const i64, result_type: gpumem_dtype, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_scan_segments: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, exclusive: i32, x: *const c_void, n: i64, offsets: *const i64, segments: i64, result: *mut c_void, result_type: gpumem_dtype) -> gpumem_status,
    pub gpumem_scan_segments_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, exclusive: i32, x: *const c_void, n: i64, offsets: *const i64, segments: i64, result: *mut c_void, result_type: gpumem_dtype, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_transpose: unsafe extern "C" fn(ctx: *mut gpumem_ctx, element_bytes: i64, rows: i64, cols: i64, src: *const c_void, src_ld: i64, dst: *mut c_void, dst_ld: i64) -> gpumem_status,
    pub gpumem_transpose_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, element_bytes: i64, rows: i64, cols: i64, src: *const c_void, src_ld: i64, dst: *mut c_void, dst_ld: i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_transpose_batched: unsafe extern "C" fn(ctx: *mut gpumem_ctx, element_bytes: i64, rows: i64, cols: i64, src: *const c_void, src_ld: i64, src_batch_stride: i64, dst: *mut c_void, dst_ld: i64, dst_batch_stride: i64, batches: i64) -> gpumem_status,
    pub gpumem_transpose_batched_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, element_bytes: i64, rows: i64, cols: i64, src: *const c_void, src_ld: i64, src_batch_stride: i64, dst: *mut c_void, dst_ld: i64, dst_batch_stride: i64, batches: i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_copy_boxes: unsafe extern "C" fn(ctx: *mut gpumem_ctx, element_bytes: i64, ndim: i32, count: i64, extents: *const i64, src: *const *const c_void, src_strides: *const i64, dst: *const *mut c_void, dst_strides: *const i64) -> gpumem_status,
    pub gpumem_copy_boxes_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, element_bytes: i64, ndim: i32, count: i64, extents: *const i64, src: *const *const c_void, src_strides: *const i64, dst: *const *mut c_void, dst_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_gather: unsafe extern "C" fn(ctx: *mut gpumem_ctx, row_bytes: i64, src: *const c_void, src_rows: i64, src_pitch_bytes: i64, index_type: gpumem_dtype, index: *const c_void, n: i64, dst: *mut c_void, dst_pitch_bytes: i64) -> gpumem_status,
    pub gpumem_gather_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, row_bytes: i64, src: *const c_void, src_rows: i64, src_pitch_bytes: i64, index_type: gpumem_dtype, index: *const c_void, n: i64, dst: *mut c_void, dst_pitch_bytes: i64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_scatter: unsafe extern "C" fn(ctx: *mut gpumem_ctx, row_bytes: i64, src: *const c_void, src_pitch_bytes: i64, index_type: gpumem_dtype, index: *const c_void, n: i64, dst: *mut c_void, dst_rows: i64, dst_pitch_bytes: i64) -> gpumem_status,
    pub gpumem_scatter_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, row_bytes: i64, src: *const c_void, src_pitch_bytes: i64, index_type: gpumem_dtype, index: *const c_void, n: i64, dst: *mut c_void, dst_rows: i64, dst_pitch_bytes: i64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_permute: unsafe extern "C" fn(ctx: *mut gpumem_ctx, element_bytes: i64, ndim: i32, extents: *const i64, order: *const i32, src: *const c_void, src_strides: *const i64, dst: *mut c_void, dst_strides: *const i64) -> gpumem_status,
    pub gpumem_permute_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, element_bytes: i64, ndim: i32, extents: *const i64, order: *const i32, src: *const c_void, src_strides: *const i64, dst: *mut c_void, dst_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_sort: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, keys: *const c_void, n: i64, descending: i32, sorted: *mut c_void, order: *mut c_void, order_type: gpumem_dtype) -> gpumem_status,
    pub gpumem_sort_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, keys: *const c_void, n: i64, descending: i32, sorted: *mut c_void, order: *mut c_void, order_type: gpumem_dtype, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_sort_segments: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, keys: *const c_void, n: i64, offsets: *const i64, segments: i64, descending: i32, sorted: *mut c_void, order: *mut c_void, order_type: gpumem_dtype) -> gpumem_status,
    pub gpumem_sort_segments_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, keys: *const c_void, n: i64, offsets: *const i64, segments: i64, descending: i32, sorted: *mut c_void, order: *mut c_void, order_type: gpumem_dtype, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_select: unsafe extern "C" fn(ctx: *mut gpumem_ctx, row_bytes: i64, src: *const c_void, src_pitch_bytes: i64, mask: *const u8, n: i64, dst: *mut c_void, dst_rows: i64, dst_pitch_bytes: i64, kept: *mut i64) -> gpumem_status,
    pub gpumem_select_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, row_bytes: i64, src: *const c_void, src_pitch_bytes: i64, mask: *const u8, n: i64, dst: *mut c_void, dst_rows: i64, dst_pitch_bytes: i64, kept: *mut i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_select_places: unsafe extern "C" fn(ctx: *mut gpumem_ctx, mask: *const u8, n: i64, index_type: gpumem_dtype, places: *mut c_void, places_n: i64, kept: *mut i64) -> gpumem_status,
    pub gpumem_select_places_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, mask: *const u8, n: i64, index_type: gpumem_dtype, places: *mut c_void, places_n: i64, kept: *mut i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_axpby_f32: unsafe extern "C" fn(ctx: *mut gpumem_ctx, alpha: f32, x: *const f32, beta: f32, y: *const f32, z: *mut f32, n: i64) -> gpumem_status,
    pub gpumem_axpby_f64: unsafe extern "C" fn(ctx: *mut gpumem_ctx, alpha: f64, x: *const f64, beta: f64, y: *const f64, z: *mut f64, n: i64) -> gpumem_status,
    pub gpumem_axpby_f32_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, alpha: f32, x: *const f32, beta: f32, y: *const f32, z: *mut f32, n: i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_axpby_f64_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, alpha: f64, x: *const f64, beta: f64, y: *const f64, z: *mut f64, n: i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_convert: unsafe extern "C" fn(ctx: *mut gpumem_ctx, src_type: gpumem_dtype, src: *const c_void, dst_type: gpumem_dtype, dst: *mut c_void, n: i64) -> gpumem_status,
    pub gpumem_convert_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, src_type: gpumem_dtype, src: *const c_void, dst_type: gpumem_dtype, dst: *mut c_void, n: i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_lincomb_f32: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f32, x: *const *const f32, x_strides: *const i64, z: *mut f32, z_strides: *const i64) -> gpumem_status,
    pub gpumem_lincomb_f64: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f64, x: *const *const f64, x_strides: *const i64, z: *mut f64, z_strides: *const i64) -> gpumem_status,
    pub gpumem_lincomb_f32_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f32, x: *const *const f32, x_strides: *const i64, z: *mut f32, z_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_lincomb_f64_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f64, x: *const *const f64, x_strides: *const i64, z: *mut f64, z_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_multiply_f32: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f32, x_strides: *const i64, y: *const f32, y_strides: *const i64, z: *mut f32, z_strides: *const i64) -> gpumem_status,
    pub gpumem_multiply_f64: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f64, x_strides: *const i64, y: *const f64, y_strides: *const i64, z: *mut f64, z_strides: *const i64) -> gpumem_status,
    pub gpumem_multiply_f32_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f32, x_strides: *const i64, y: *const f32, y_strides: *const i64, z: *mut f32, z_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_multiply_f64_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f64, x_strides: *const i64, y: *const f64, y_strides: *const i64, z: *mut f64, z_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_lincomb_at_f32: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f32, numerators: *const *const f64, denominators: *const *const f64, x: *const *const f32, x_strides: *const i64, z: *mut f32, z_strides: *const i64) -> gpumem_status,
    pub gpumem_lincomb_at_f64: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f64, numerators: *const *const f64, denominators: *const *const f64, x: *const *const f64, x_strides: *const i64, z: *mut f64, z_strides: *const i64) -> gpumem_status,
    pub gpumem_lincomb_at_f32_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f32, numerators: *const *const f64, denominators: *const *const f64, x: *const *const f32, x_strides: *const i64, z: *mut f32, z_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_lincomb_at_f64_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f64, numerators: *const *const f64, denominators: *const *const f64, x: *const *const f64, x_strides: *const i64, z: *mut f64, z_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_lincomb_dot_f32: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f32, numerators: *const *const f64, denominators: *const *const f64, x: *const *const f32, x_strides: *const i64, z: *mut f32, z_strides: *const i64, dots: i32, w: *const *const f32, w_strides: *const i64, results: *mut f64) -> gpumem_status,
    pub gpumem_lincomb_dot_f64: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f64, numerators: *const *const f64, denominators: *const *const f64, x: *const *const f64, x_strides: *const i64, z: *mut f64, z_strides: *const i64, dots: i32, w: *const *const f64, w_strides: *const i64, results: *mut f64) -> gpumem_status,
    pub gpumem_lincomb_dot_f32_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f32, numerators: *const *const f64, denominators: *const *const f64, x: *const *const f32, x_strides: *const i64, z: *mut f32, z_strides: *const i64, dots: i32, w: *const *const f32, w_strides: *const i64, results: *mut f64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_lincomb_dot_f64_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f64, numerators: *const *const f64, denominators: *const *const f64, x: *const *const f64, x_strides: *const i64, z: *mut f64, z_strides: *const i64, dots: i32, w: *const *const f64, w_strides: *const i64, results: *mut f64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_map: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_map_op, dtype: gpumem_dtype, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, y: *const c_void, y_strides: *const i64, z: *mut c_void, z_strides: *const i64) -> gpumem_status,
    pub gpumem_map_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_map_op, dtype: gpumem_dtype, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, y: *const c_void, y_strides: *const i64, z: *mut c_void, z_strides: *const i64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_compare: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_compare_op, dtype: gpumem_dtype, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, y: *const c_void, y_strides: *const i64, mask: *mut u8, mask_strides: *const i64) -> gpumem_status,
    pub gpumem_compare_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, op: gpumem_compare_op, dtype: gpumem_dtype, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, y: *const c_void, y_strides: *const i64, mask: *mut u8, mask_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_where: unsafe extern "C" fn(ctx: *mut gpumem_ctx, element_bytes: i64, ndim: i32, extents: *const i64, mask: *const u8, mask_strides: *const i64, x: *const c_void, x_strides: *const i64, y: *const c_void, y_strides: *const i64, z: *mut c_void, z_strides: *const i64) -> gpumem_status,
    pub gpumem_where_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, element_bytes: i64, ndim: i32, extents: *const i64, mask: *const u8, mask_strides: *const i64, x: *const c_void, x_strides: *const i64, y: *const c_void, y_strides: *const i64, z: *mut c_void, z_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_convert_scaled: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, src_type: gpumem_dtype, src: *const c_void, src_strides: *const i64, scale: *const f64, scale_strides: *const i64, offset: *const f64, offset_strides: *const i64, nan_value: f64, dst_type: gpumem_dtype, dst: *mut c_void, dst_strides: *const i64) -> gpumem_status,
    pub gpumem_convert_scaled_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, src_type: gpumem_dtype, src: *const c_void, src_strides: *const i64, scale: *const f64, scale_strides: *const i64, offset: *const f64, offset_strides: *const i64, nan_value: f64, dst_type: gpumem_dtype, dst: *mut c_void, dst_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_resize_2d: unsafe extern "C" fn(ctx: *mut gpumem_ctx, filter: gpumem_filter, dtype: gpumem_dtype, channels: i32, src: *const c_void, src_rows: i64, src_cols: i64, src_pitch_bytes: i64, dst: *mut c_void, dst_rows: i64, dst_cols: i64, dst_pitch_bytes: i64) -> gpumem_status,
    pub gpumem_resize_2d_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, filter: gpumem_filter, dtype: gpumem_dtype, channels: i32, src: *const c_void, src_rows: i64, src_cols: i64, src_pitch_bytes: i64, dst: *mut c_void, dst_rows: i64, dst_cols: i64, dst_pitch_bytes: i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_resize_2d_batch: unsafe extern "C" fn(ctx: *mut gpumem_ctx, filter: gpumem_filter, dtype: gpumem_dtype, channels: i32, count: i64, src: *const *const c_void, src_rows: *const i64, src_cols: *const i64, src_pitch_bytes: *const i64, dst: *mut c_void, dst_rows: i64, dst_cols: i64, dst_pitch_bytes: i64, dst_image_stride_bytes: i64) -> gpumem_status,
    pub gpumem_resize_2d_batch_async: unsafe extern "C" fn(ctx: *mut gpumem_ctx, filter: gpumem_filter, dtype: gpumem_dtype, channels: i32, count: i64, src: *const *const c_void, src_rows: *const i64, src_cols: *const i64, src_pitch_bytes: *const i64, dst: *mut c_void, dst_rows: i64, dst_cols: i64, dst_pitch_bytes: i64, dst_image_stride_bytes: i64, stream: *mut gpumem_stream) -> gpumem_status,
    pub gpumem_variant_count: unsafe extern "C" fn(family: gpumem_family, count: *mut i32) -> gpumem_status,
    pub gpumem_variant_name: unsafe extern "C" fn(family: gpumem_family, index: i32, name: *mut *const c_char) -> gpumem_status,
    pub gpumem_variant_force: unsafe extern "C" fn(ctx: *mut gpumem_ctx, family: gpumem_family, name: *const c_char) -> gpumem_status,
    pub gpumem_explain: unsafe extern "C" fn(ctx: *mut gpumem_ctx, line: *const c_char, format: gpumem_format, buf: *mut c_char, cap: i64, needed: *mut i64) -> gpumem_status,
    pub gpumem_last_problem: unsafe extern "C" fn(buf: *mut c_char, cap: i64, needed: *mut i64) -> gpumem_status,
    pub gpumem_ceiling_info_init: unsafe extern "C" fn(info: *mut gpumem_ceiling_info, size: i64) -> gpumem_status,
    pub gpumem_ceiling: unsafe extern "C" fn(ctx: *mut gpumem_ctx, info: *mut gpumem_ceiling_info) -> gpumem_status,
    pub gpumem_profile_begin: unsafe extern "C" fn(ctx: *mut gpumem_ctx, most_records: i64) -> gpumem_status,
    pub gpumem_profile_end: unsafe extern "C" fn(ctx: *mut gpumem_ctx) -> gpumem_status,
    pub gpumem_profile_row_init: unsafe extern "C" fn(row: *mut gpumem_profile_row, size: i64) -> gpumem_status,
    pub gpumem_profile_report: unsafe extern "C" fn(ctx: *mut gpumem_ctx, rows: *mut gpumem_profile_row, cap: i64, needed: *mut i64) -> gpumem_status,
    pub gpumem_profile_write: unsafe extern "C" fn(ctx: *mut gpumem_ctx, format: gpumem_format, path: *const c_char) -> gpumem_status,
    pub gpumem_tune_options_init: unsafe extern "C" fn(options: *mut gpumem_tune_options, size: i64) -> gpumem_status,
    pub gpumem_tune_info_init: unsafe extern "C" fn(info: *mut gpumem_tune_info, size: i64) -> gpumem_status,
    pub gpumem_tune: unsafe extern "C" fn(ctx: *mut gpumem_ctx, line: *const c_char, options: *const gpumem_tune_options, info: *mut gpumem_tune_info) -> gpumem_status,
    pub gpumem_tuning_load: unsafe extern "C" fn(ctx: *mut gpumem_ctx, path: *const c_char, taken: *mut i64, skipped: *mut i64) -> gpumem_status,
    pub gpumem_tuning_save: unsafe extern "C" fn(ctx: *mut gpumem_ctx, path: *const c_char) -> gpumem_status,
    pub gpumem_tuning_clear: unsafe extern "C" fn(ctx: *mut gpumem_ctx) -> gpumem_status,
    pub gpumem_dist_transport_init: unsafe extern "C" fn(transport: *mut gpumem_dist_transport, size: i64) -> gpumem_status,
    pub gpumem_dist_options_init: unsafe extern "C" fn(options: *mut gpumem_dist_options, size: i64) -> gpumem_status,
    pub gpumem_dist_info_init: unsafe extern "C" fn(info: *mut gpumem_dist_info, size: i64) -> gpumem_status,
    pub gpumem_dist_layout_init: unsafe extern "C" fn(layout: *mut gpumem_dist_layout, size: i64) -> gpumem_status,
    pub gpumem_dist_plan_options_init: unsafe extern "C" fn(options: *mut gpumem_dist_plan_options, size: i64) -> gpumem_status,
    pub gpumem_dist_create: unsafe extern "C" fn(options: *const gpumem_dist_options, dist: *mut *mut gpumem_dist) -> gpumem_status,
    pub gpumem_dist_query: unsafe extern "C" fn(dist: *mut gpumem_dist, info: *mut gpumem_dist_info) -> gpumem_status,
    pub gpumem_dist_abort: unsafe extern "C" fn(dist: *mut gpumem_dist) -> gpumem_status,
    pub gpumem_dist_destroy: unsafe extern "C" fn(dist: *mut gpumem_dist) -> gpumem_status,
    pub gpumem_dist_plan_redistribute: unsafe extern "C" fn(dist: *mut gpumem_dist, src: *const gpumem_dist_layout, dst: *const gpumem_dist_layout, order: *const i32, options: *const gpumem_dist_plan_options, plan: *mut *mut gpumem_dist_plan) -> gpumem_status,
    pub gpumem_dist_plan_halo: unsafe extern "C" fn(dist: *mut gpumem_dist, layout: *const gpumem_dist_layout, low: *const i64, high: *const i64, periodic: *const i32, options: *const gpumem_dist_plan_options, plan: *mut *mut gpumem_dist_plan) -> gpumem_status,
    pub gpumem_dist_plan_reduce: unsafe extern "C" fn(dist: *mut gpumem_dist, layout: *const gpumem_dist_layout, options: *const gpumem_dist_plan_options, plan: *mut *mut gpumem_dist_plan) -> gpumem_status,
    pub gpumem_dist_execute: unsafe extern "C" fn(plan: *mut gpumem_dist_plan, src: *const *const c_void, dst: *const *mut c_void) -> gpumem_status,
    pub gpumem_dist_execute_async: unsafe extern "C" fn(plan: *mut gpumem_dist_plan, src: *const *const c_void, dst: *const *mut c_void, streams: *const *mut gpumem_stream) -> gpumem_status,
    pub gpumem_dist_reduce: unsafe extern "C" fn(plan: *mut gpumem_dist_plan, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const *const c_void, result: *mut c_void) -> gpumem_status,
    pub gpumem_dist_argreduce: unsafe extern "C" fn(plan: *mut gpumem_dist_plan, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const *const c_void, value: *mut c_void, index: *mut i64) -> gpumem_status,
    pub gpumem_dist_dot: unsafe extern "C" fn(plan: *mut gpumem_dist_plan, dtype: gpumem_dtype, x: *const *const c_void, y: *const *const c_void, result: *mut f64) -> gpumem_status,
    pub gpumem_dist_nrm2: unsafe extern "C" fn(plan: *mut gpumem_dist_plan, dtype: gpumem_dtype, x: *const *const c_void, result: *mut f64) -> gpumem_status,
    pub gpumem_dist_dot_order_free: unsafe extern "C" fn(plan: *mut gpumem_dist_plan, dtype: gpumem_dtype, x: *const *const c_void, y: *const *const c_void, result: *mut f64) -> gpumem_status,
    pub gpumem_dist_explain: unsafe extern "C" fn(plan: *mut gpumem_dist_plan, format: gpumem_format, buf: *mut c_char, cap: i64, needed: *mut i64) -> gpumem_status,
    pub gpumem_dist_plan_destroy: unsafe extern "C" fn(plan: *mut gpumem_dist_plan) -> gpumem_status,
}

impl Functions {
    /// Of what `find` gives for each name, NULL for none.
    ///
    /// # Safety
    ///
    /// `find` gives the functions of a libgpumem of this version or a later one.
    #[cfg(not(feature = "link"))]
    pub(crate) unsafe fn find(mut find: impl FnMut(&'static str) -> *mut c_void) -> Result<Self, &'static str> {
        let mut some = |name| {
            let p = find(name);
            if p.is_null() { Err(name) } else { Ok(p) }
        };
        Ok(Functions {
            gpumem_version: transmute::<*mut c_void, unsafe extern "C" fn(*mut i32, *mut i32, *mut i32) -> gpumem_status>(some("gpumem_version\0")?),
            gpumem_status_name: transmute::<*mut c_void, unsafe extern "C" fn(gpumem_status) -> *const c_char>(some("gpumem_status_name\0")?),
            gpumem_last_error: transmute::<*mut c_void, unsafe extern "C" fn(*mut c_char, i64, *mut i64) -> gpumem_status>(some("gpumem_last_error\0")?),
            gpumem_device_count: transmute::<*mut c_void, unsafe extern "C" fn(*mut i32) -> gpumem_status>(some("gpumem_device_count\0")?),
            gpumem_device_info_init: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_device_info, i64) -> gpumem_status>(some("gpumem_device_info_init\0")?),
            gpumem_device_query: transmute::<*mut c_void, unsafe extern "C" fn(i32, *mut gpumem_device_info) -> gpumem_status>(some("gpumem_device_query\0")?),
            gpumem_ctx_options_init: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx_options, i64) -> gpumem_status>(some("gpumem_ctx_options_init\0")?),
            gpumem_ctx_create: transmute::<*mut c_void, unsafe extern "C" fn(*const gpumem_ctx_options, *mut *mut gpumem_ctx) -> gpumem_status>(some("gpumem_ctx_create\0")?),
            gpumem_ctx_destroy: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx) -> gpumem_status>(some("gpumem_ctx_destroy\0")?),
            gpumem_ctx_device: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut gpumem_device_info) -> gpumem_status>(some("gpumem_ctx_device\0")?),
            gpumem_ctx_status: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx) -> gpumem_status>(some("gpumem_ctx_status\0")?),
            gpumem_ctx_synchronize: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx) -> gpumem_status>(some("gpumem_ctx_synchronize\0")?),
            gpumem_ctx_set_log: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_log_fn, *mut c_void) -> gpumem_status>(some("gpumem_ctx_set_log\0")?),
            gpumem_ctx_warmup: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx) -> gpumem_status>(some("gpumem_ctx_warmup\0")?),
            gpumem_alloc_device: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, *mut *mut c_void) -> gpumem_status>(some("gpumem_alloc_device\0")?),
            gpumem_alloc_pinned: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, *mut *mut c_void) -> gpumem_status>(some("gpumem_alloc_pinned\0")?),
            gpumem_alloc_managed: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, *mut *mut c_void) -> gpumem_status>(some("gpumem_alloc_managed\0")?),
            gpumem_free: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut c_void) -> gpumem_status>(some("gpumem_free\0")?),
            gpumem_alloc_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, i64, *mut gpumem_stream, *mut *mut c_void) -> gpumem_status>(some("gpumem_alloc_async\0")?),
            gpumem_free_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut c_void, *mut gpumem_stream) -> gpumem_status>(some("gpumem_free_async\0")?),
            gpumem_memory_used_on: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const c_void, *mut gpumem_stream) -> gpumem_status>(some("gpumem_memory_used_on\0")?),
            gpumem_memory_trim: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64) -> gpumem_status>(some("gpumem_memory_trim\0")?),
            gpumem_memory_check: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx) -> gpumem_status>(some("gpumem_memory_check\0")?),
            gpumem_memory_trace: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const c_char) -> gpumem_status>(some("gpumem_memory_trace\0")?),
            gpumem_host_register: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut c_void, i64) -> gpumem_status>(some("gpumem_host_register\0")?),
            gpumem_host_unregister: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut c_void) -> gpumem_status>(some("gpumem_host_unregister\0")?),
            gpumem_memory_label: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const c_void, *const c_char) -> gpumem_status>(some("gpumem_memory_label\0")?),
            gpumem_pointer_info_init: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_pointer_info, i64) -> gpumem_status>(some("gpumem_pointer_info_init\0")?),
            gpumem_pointer_query: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const c_void, *mut gpumem_pointer_info) -> gpumem_status>(some("gpumem_pointer_query\0")?),
            gpumem_memory_stats_init: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_memory_stats_info, i64) -> gpumem_status>(some("gpumem_memory_stats_init\0")?),
            gpumem_memory_stats: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut gpumem_memory_stats_info) -> gpumem_status>(some("gpumem_memory_stats\0")?),
            gpumem_shared_ctx: transmute::<*mut c_void, unsafe extern "C" fn(i32, *mut *mut gpumem_ctx) -> gpumem_status>(some("gpumem_shared_ctx\0")?),
            gpumem_torch_malloc: transmute::<*mut c_void, unsafe extern "C" fn(i64, i32, *mut c_void) -> *mut c_void>(some("gpumem_torch_malloc\0")?),
            gpumem_torch_free: transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, i64, i32, *mut c_void)>(some("gpumem_torch_free\0")?),
            gpumem_torch_record_stream: transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, *mut c_void)>(some("gpumem_torch_record_stream\0")?),
            gpumem_torch_begin_pool: transmute::<*mut c_void, unsafe extern "C" fn(i32, i64, i64, *const c_void)>(some("gpumem_torch_begin_pool\0")?),
            gpumem_torch_end_pool: transmute::<*mut c_void, unsafe extern "C" fn(i32, i64, i64)>(some("gpumem_torch_end_pool\0")?),
            gpumem_torch_release_pool: transmute::<*mut c_void, unsafe extern "C" fn(i32, i64, i64)>(some("gpumem_torch_release_pool\0")?),
            gpumem_torch_empty_cache: transmute::<*mut c_void, unsafe extern "C" fn()>(some("gpumem_torch_empty_cache\0")?),
            gpumem_torch_segment_malloc: transmute::<*mut c_void, unsafe extern "C" fn(i64, i32, *mut c_void) -> *mut c_void>(some("gpumem_torch_segment_malloc\0")?),
            gpumem_torch_segment_free: transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, i64, i32, *mut c_void)>(some("gpumem_torch_segment_free\0")?),
            gpumem_cupy_malloc: transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, i64, i32) -> *mut c_void>(some("gpumem_cupy_malloc\0")?),
            gpumem_cupy_free: transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void, *mut c_void, i32)>(some("gpumem_cupy_free\0")?),
            gpumem_managed_prefetch: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const c_void, i64, i32) -> gpumem_status>(some("gpumem_managed_prefetch\0")?),
            gpumem_managed_prefetch_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const c_void, i64, i32, *mut gpumem_stream) -> gpumem_status>(some("gpumem_managed_prefetch_async\0")?),
            gpumem_managed_advise: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const c_void, i64, gpumem_advice, i32) -> gpumem_status>(some("gpumem_managed_advise\0")?),
            gpumem_managed_info_init: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_managed_info, i64) -> gpumem_status>(some("gpumem_managed_info_init\0")?),
            gpumem_managed_query: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const c_void, i64, *mut gpumem_managed_info) -> gpumem_status>(some("gpumem_managed_query\0")?),
            gpumem_copy: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut c_void, *const c_void, i64) -> gpumem_status>(some("gpumem_copy\0")?),
            gpumem_copy_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut c_void, *const c_void, i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_copy_async\0")?),
            gpumem_copy_2d: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut c_void, i64, *const c_void, i64, i64, i64) -> gpumem_status>(some("gpumem_copy_2d\0")?),
            gpumem_copy_2d_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut c_void, i64, *const c_void, i64, i64, i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_copy_2d_async\0")?),
            gpumem_copy_3d: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut c_void, i64, i64, *const c_void, i64, i64, i64, i64, i64) -> gpumem_status>(some("gpumem_copy_3d\0")?),
            gpumem_copy_3d_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut c_void, i64, i64, *const c_void, i64, i64, i64, i64, i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_copy_3d_async\0")?),
            gpumem_fill: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut c_void, *const c_void, i64, i64) -> gpumem_status>(some("gpumem_fill\0")?),
            gpumem_fill_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut c_void, *const c_void, i64, i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_fill_async\0")?),
            gpumem_fill_2d: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut c_void, i64, *const c_void, i64, i64, i64) -> gpumem_status>(some("gpumem_fill_2d\0")?),
            gpumem_fill_2d_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut c_void, i64, *const c_void, i64, i64, i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_fill_2d_async\0")?),
            gpumem_stream_create: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut *mut gpumem_stream) -> gpumem_status>(some("gpumem_stream_create\0")?),
            gpumem_stream_destroy: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_stream) -> gpumem_status>(some("gpumem_stream_destroy\0")?),
            gpumem_stream_wrap: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut c_void, *mut *mut gpumem_stream) -> gpumem_status>(some("gpumem_stream_wrap\0")?),
            gpumem_stream_native: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut gpumem_stream, *mut *mut c_void) -> gpumem_status>(some("gpumem_stream_native\0")?),
            gpumem_stream_synchronize: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut gpumem_stream) -> gpumem_status>(some("gpumem_stream_synchronize\0")?),
            gpumem_stream_query: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut gpumem_stream) -> gpumem_status>(some("gpumem_stream_query\0")?),
            gpumem_stream_wait_event: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut gpumem_stream, *mut gpumem_event) -> gpumem_status>(some("gpumem_stream_wait_event\0")?),
            gpumem_event_create: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut *mut gpumem_event) -> gpumem_status>(some("gpumem_event_create\0")?),
            gpumem_event_destroy: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_event) -> gpumem_status>(some("gpumem_event_destroy\0")?),
            gpumem_event_record: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut gpumem_event, *mut gpumem_stream) -> gpumem_status>(some("gpumem_event_record\0")?),
            gpumem_event_synchronize: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_event) -> gpumem_status>(some("gpumem_event_synchronize\0")?),
            gpumem_event_elapsed: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_event, *mut gpumem_event, *mut f64) -> gpumem_status>(some("gpumem_event_elapsed\0")?),
            gpumem_reduce: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, *const c_void, i64, i64, *mut c_void) -> gpumem_status>(some("gpumem_reduce\0")?),
            gpumem_reduce_i32: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const i32, i64, i64, *mut i64) -> gpumem_status>(some("gpumem_reduce_i32\0")?),
            gpumem_reduce_i64: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const i64, i64, i64, *mut i64) -> gpumem_status>(some("gpumem_reduce_i64\0")?),
            gpumem_reduce_u32: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const u32, i64, i64, *mut u64) -> gpumem_status>(some("gpumem_reduce_u32\0")?),
            gpumem_reduce_u64: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const u64, i64, i64, *mut u64) -> gpumem_status>(some("gpumem_reduce_u64\0")?),
            gpumem_reduce_f32: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const f32, i64, i64, *mut f64) -> gpumem_status>(some("gpumem_reduce_f32\0")?),
            gpumem_reduce_f64: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const f64, i64, i64, *mut f64) -> gpumem_status>(some("gpumem_reduce_f64\0")?),
            gpumem_reduce_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, *const c_void, i64, i64, *mut c_void, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_reduce_async\0")?),
            gpumem_reduce_i32_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const i32, i64, i64, *mut i64, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_reduce_i32_async\0")?),
            gpumem_reduce_i64_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const i64, i64, i64, *mut i64, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_reduce_i64_async\0")?),
            gpumem_reduce_u32_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const u32, i64, i64, *mut u64, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_reduce_u32_async\0")?),
            gpumem_reduce_u64_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const u64, i64, i64, *mut u64, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_reduce_u64_async\0")?),
            gpumem_reduce_f32_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const f32, i64, i64, *mut f64, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_reduce_f32_async\0")?),
            gpumem_reduce_f64_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const f64, i64, i64, *mut f64, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_reduce_f64_async\0")?),
            gpumem_argreduce: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, *const c_void, i64, i64, *mut c_void, *mut i64) -> gpumem_status>(some("gpumem_argreduce\0")?),
            gpumem_argreduce_i32: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const i32, i64, i64, *mut i64, *mut i64) -> gpumem_status>(some("gpumem_argreduce_i32\0")?),
            gpumem_argreduce_i64: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const i64, i64, i64, *mut i64, *mut i64) -> gpumem_status>(some("gpumem_argreduce_i64\0")?),
            gpumem_argreduce_u32: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const u32, i64, i64, *mut u64, *mut i64) -> gpumem_status>(some("gpumem_argreduce_u32\0")?),
            gpumem_argreduce_u64: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const u64, i64, i64, *mut u64, *mut i64) -> gpumem_status>(some("gpumem_argreduce_u64\0")?),
            gpumem_argreduce_f32: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const f32, i64, i64, *mut f64, *mut i64) -> gpumem_status>(some("gpumem_argreduce_f32\0")?),
            gpumem_argreduce_f64: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const f64, i64, i64, *mut f64, *mut i64) -> gpumem_status>(some("gpumem_argreduce_f64\0")?),
            gpumem_argreduce_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, *const c_void, i64, i64, *mut c_void, *mut i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_argreduce_async\0")?),
            gpumem_argreduce_i32_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const i32, i64, i64, *mut i64, *mut i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_argreduce_i32_async\0")?),
            gpumem_argreduce_i64_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const i64, i64, i64, *mut i64, *mut i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_argreduce_i64_async\0")?),
            gpumem_argreduce_u32_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const u32, i64, i64, *mut u64, *mut i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_argreduce_u32_async\0")?),
            gpumem_argreduce_u64_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const u64, i64, i64, *mut u64, *mut i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_argreduce_u64_async\0")?),
            gpumem_argreduce_f32_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const f32, i64, i64, *mut f64, *mut i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_argreduce_f32_async\0")?),
            gpumem_argreduce_f64_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_reduce_op, *const f64, i64, i64, *mut f64, *mut i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_argreduce_f64_async\0")?),
            gpumem_dot_f32: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const f32, *const f32, i64, i64, i64, *mut f64) -> gpumem_status>(some("gpumem_dot_f32\0")?),
            gpumem_dot_f64: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const f64, *const f64, i64, i64, i64, *mut f64) -> gpumem_status>(some("gpumem_dot_f64\0")?),
            gpumem_dot_f32_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const f32, *const f32, i64, i64, i64, *mut f64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_dot_f32_async\0")?),
            gpumem_dot_f64_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const f64, *const f64, i64, i64, i64, *mut f64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_dot_f64_async\0")?),
            gpumem_nrm2_f32: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const f32, i64, i64, *mut f64) -> gpumem_status>(some("gpumem_nrm2_f32\0")?),
            gpumem_nrm2_f64: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const f64, i64, i64, *mut f64) -> gpumem_status>(some("gpumem_nrm2_f64\0")?),
            gpumem_nrm2_f32_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const f32, i64, i64, *mut f64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_nrm2_f32_async\0")?),
            gpumem_nrm2_f64_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const f64, i64, i64, *mut f64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_nrm2_f64_async\0")?),
            gpumem_reduce_axis: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, gpumem_axis, *const c_void, i64, i64, i64, i64, i64, *mut c_void) -> gpumem_status>(some("gpumem_reduce_axis\0")?),
            gpumem_reduce_axis_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, gpumem_axis, *const c_void, i64, i64, i64, i64, i64, *mut c_void, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_reduce_axis_async\0")?),
            gpumem_argreduce_axis: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, gpumem_axis, *const c_void, i64, i64, i64, i64, i64, *mut c_void, *mut i64) -> gpumem_status>(some("gpumem_argreduce_axis\0")?),
            gpumem_argreduce_axis_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, gpumem_axis, *const c_void, i64, i64, i64, i64, i64, *mut c_void, *mut i64, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_argreduce_axis_async\0")?),
            gpumem_reduce_axes: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, i32, *const i64, *const c_void, *const i64, i32, *mut c_void, gpumem_dtype) -> gpumem_status>(some("gpumem_reduce_axes\0")?),
            gpumem_reduce_axes_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, i32, *const i64, *const c_void, *const i64, i32, *mut c_void, gpumem_dtype, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_reduce_axes_async\0")?),
            gpumem_reduce_segments: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, *const c_void, i64, *const i64, i64, *mut c_void) -> gpumem_status>(some("gpumem_reduce_segments\0")?),
            gpumem_reduce_segments_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, *const c_void, i64, *const i64, i64, *mut c_void, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_reduce_segments_async\0")?),
            gpumem_reduce_by_index: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, *const c_void, gpumem_dtype, *const c_void, i64, *mut c_void, i64) -> gpumem_status>(some("gpumem_reduce_by_index\0")?),
            gpumem_reduce_by_index_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, *const c_void, gpumem_dtype, *const c_void, i64, *mut c_void, i64, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_reduce_by_index_async\0")?),
            gpumem_reduce_rows_by_index: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, *const c_void, i64, i64, i64, gpumem_dtype, *const c_void, *mut c_void, i64) -> gpumem_status>(some("gpumem_reduce_rows_by_index\0")?),
            gpumem_reduce_rows_by_index_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, *const c_void, i64, i64, i64, gpumem_dtype, *const c_void, *mut c_void, i64, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_reduce_rows_by_index_async\0")?),
            gpumem_reduce_view: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, i32, *const i64, *const c_void, *const i64, *mut c_void) -> gpumem_status>(some("gpumem_reduce_view\0")?),
            gpumem_reduce_view_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, i32, *const i64, *const c_void, *const i64, *mut c_void, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_reduce_view_async\0")?),
            gpumem_argreduce_view: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, i32, *const i64, *const c_void, *const i64, *mut c_void, *mut i64) -> gpumem_status>(some("gpumem_argreduce_view\0")?),
            gpumem_argreduce_view_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, i32, *const i64, *const c_void, *const i64, *mut c_void, *mut i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_argreduce_view_async\0")?),
            gpumem_dot_view_f32: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, *const f32, *const i64, *const f32, *const i64, *mut f64) -> gpumem_status>(some("gpumem_dot_view_f32\0")?),
            gpumem_dot_view_f64: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, *const f64, *const i64, *const f64, *const i64, *mut f64) -> gpumem_status>(some("gpumem_dot_view_f64\0")?),
            gpumem_dot_view_f32_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, *const f32, *const i64, *const f32, *const i64, *mut f64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_dot_view_f32_async\0")?),
            gpumem_dot_view_f64_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, *const f64, *const i64, *const f64, *const i64, *mut f64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_dot_view_f64_async\0")?),
            gpumem_nrm2_view_f32: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, *const f32, *const i64, *mut f64) -> gpumem_status>(some("gpumem_nrm2_view_f32\0")?),
            gpumem_nrm2_view_f64: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, *const f64, *const i64, *mut f64) -> gpumem_status>(some("gpumem_nrm2_view_f64\0")?),
            gpumem_nrm2_view_f32_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, *const f32, *const i64, *mut f64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_nrm2_view_f32_async\0")?),
            gpumem_nrm2_view_f64_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, *const f64, *const i64, *mut f64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_nrm2_view_f64_async\0")?),
            gpumem_dot_order_free: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, i32, *const i64, *const c_void, *const i64, *const c_void, *const i64, *mut f64) -> gpumem_status>(some("gpumem_dot_order_free\0")?),
            gpumem_dot_order_free_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, i32, *const i64, *const c_void, *const i64, *const c_void, *const i64, *mut f64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_dot_order_free_async\0")?),
            gpumem_scan: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, i32, *const c_void, i64, *mut c_void, gpumem_dtype) -> gpumem_status>(some("gpumem_scan\0")?),
            gpumem_scan_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, i32, *const c_void, i64, *mut c_void, gpumem_dtype, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_scan_async\0")?),
            gpumem_scan_axis: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, i32, i32, *const i64, i32, *const c_void, *const i64, *mut c_void, *const i64, gpumem_dtype) -> gpumem_status>(some("gpumem_scan_axis\0")?),
            gpumem_scan_axis_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, i32, i32, *const i64, i32, *const c_void, *const i64, *mut c_void, *const i64, gpumem_dtype, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_scan_axis_async\0")?),
            gpumem_scan_segments: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, i32, *const c_void, i64, *const i64, i64, *mut c_void, gpumem_dtype) -> gpumem_status>(some("gpumem_scan_segments\0")?),
            gpumem_scan_segments_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, gpumem_reduce_op, i32, *const c_void, i64, *const i64, i64, *mut c_void, gpumem_dtype, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_scan_segments_async\0")?),
            gpumem_transpose: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, i64, i64, *const c_void, i64, *mut c_void, i64) -> gpumem_status>(some("gpumem_transpose\0")?),
            gpumem_transpose_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, i64, i64, *const c_void, i64, *mut c_void, i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_transpose_async\0")?),
            gpumem_transpose_batched: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, i64, i64, *const c_void, i64, i64, *mut c_void, i64, i64, i64) -> gpumem_status>(some("gpumem_transpose_batched\0")?),
            gpumem_transpose_batched_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, i64, i64, *const c_void, i64, i64, *mut c_void, i64, i64, i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_transpose_batched_async\0")?),
            gpumem_copy_boxes: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, i32, i64, *const i64, *const *const c_void, *const i64, *const *mut c_void, *const i64) -> gpumem_status>(some("gpumem_copy_boxes\0")?),
            gpumem_copy_boxes_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, i32, i64, *const i64, *const *const c_void, *const i64, *const *mut c_void, *const i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_copy_boxes_async\0")?),
            gpumem_gather: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, *const c_void, i64, i64, gpumem_dtype, *const c_void, i64, *mut c_void, i64) -> gpumem_status>(some("gpumem_gather\0")?),
            gpumem_gather_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, *const c_void, i64, i64, gpumem_dtype, *const c_void, i64, *mut c_void, i64, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_gather_async\0")?),
            gpumem_scatter: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, *const c_void, i64, gpumem_dtype, *const c_void, i64, *mut c_void, i64, i64) -> gpumem_status>(some("gpumem_scatter\0")?),
            gpumem_scatter_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, *const c_void, i64, gpumem_dtype, *const c_void, i64, *mut c_void, i64, i64, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_scatter_async\0")?),
            gpumem_permute: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, i32, *const i64, *const i32, *const c_void, *const i64, *mut c_void, *const i64) -> gpumem_status>(some("gpumem_permute\0")?),
            gpumem_permute_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, i32, *const i64, *const i32, *const c_void, *const i64, *mut c_void, *const i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_permute_async\0")?),
            gpumem_sort: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, *const c_void, i64, i32, *mut c_void, *mut c_void, gpumem_dtype) -> gpumem_status>(some("gpumem_sort\0")?),
            gpumem_sort_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, *const c_void, i64, i32, *mut c_void, *mut c_void, gpumem_dtype, *mut gpumem_stream) -> gpumem_status>(some("gpumem_sort_async\0")?),
            gpumem_sort_segments: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, *const c_void, i64, *const i64, i64, i32, *mut c_void, *mut c_void, gpumem_dtype) -> gpumem_status>(some("gpumem_sort_segments\0")?),
            gpumem_sort_segments_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, *const c_void, i64, *const i64, i64, i32, *mut c_void, *mut c_void, gpumem_dtype, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_sort_segments_async\0")?),
            gpumem_select: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, *const c_void, i64, *const u8, i64, *mut c_void, i64, i64, *mut i64) -> gpumem_status>(some("gpumem_select\0")?),
            gpumem_select_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, *const c_void, i64, *const u8, i64, *mut c_void, i64, i64, *mut i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_select_async\0")?),
            gpumem_select_places: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const u8, i64, gpumem_dtype, *mut c_void, i64, *mut i64) -> gpumem_status>(some("gpumem_select_places\0")?),
            gpumem_select_places_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const u8, i64, gpumem_dtype, *mut c_void, i64, *mut i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_select_places_async\0")?),
            gpumem_axpby_f32: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, f32, *const f32, f32, *const f32, *mut f32, i64) -> gpumem_status>(some("gpumem_axpby_f32\0")?),
            gpumem_axpby_f64: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, f64, *const f64, f64, *const f64, *mut f64, i64) -> gpumem_status>(some("gpumem_axpby_f64\0")?),
            gpumem_axpby_f32_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, f32, *const f32, f32, *const f32, *mut f32, i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_axpby_f32_async\0")?),
            gpumem_axpby_f64_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, f64, *const f64, f64, *const f64, *mut f64, i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_axpby_f64_async\0")?),
            gpumem_convert: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, *const c_void, gpumem_dtype, *mut c_void, i64) -> gpumem_status>(some("gpumem_convert\0")?),
            gpumem_convert_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_dtype, *const c_void, gpumem_dtype, *mut c_void, i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_convert_async\0")?),
            gpumem_lincomb_f32: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, i32, *const f32, *const *const f32, *const i64, *mut f32, *const i64) -> gpumem_status>(some("gpumem_lincomb_f32\0")?),
            gpumem_lincomb_f64: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, i32, *const f64, *const *const f64, *const i64, *mut f64, *const i64) -> gpumem_status>(some("gpumem_lincomb_f64\0")?),
            gpumem_lincomb_f32_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, i32, *const f32, *const *const f32, *const i64, *mut f32, *const i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_lincomb_f32_async\0")?),
            gpumem_lincomb_f64_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, i32, *const f64, *const *const f64, *const i64, *mut f64, *const i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_lincomb_f64_async\0")?),
            gpumem_multiply_f32: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, *const f32, *const i64, *const f32, *const i64, *mut f32, *const i64) -> gpumem_status>(some("gpumem_multiply_f32\0")?),
            gpumem_multiply_f64: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, *const f64, *const i64, *const f64, *const i64, *mut f64, *const i64) -> gpumem_status>(some("gpumem_multiply_f64\0")?),
            gpumem_multiply_f32_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, *const f32, *const i64, *const f32, *const i64, *mut f32, *const i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_multiply_f32_async\0")?),
            gpumem_multiply_f64_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, *const f64, *const i64, *const f64, *const i64, *mut f64, *const i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_multiply_f64_async\0")?),
            gpumem_lincomb_at_f32: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, i32, *const f32, *const *const f64, *const *const f64, *const *const f32, *const i64, *mut f32, *const i64) -> gpumem_status>(some("gpumem_lincomb_at_f32\0")?),
            gpumem_lincomb_at_f64: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, i32, *const f64, *const *const f64, *const *const f64, *const *const f64, *const i64, *mut f64, *const i64) -> gpumem_status>(some("gpumem_lincomb_at_f64\0")?),
            gpumem_lincomb_at_f32_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, i32, *const f32, *const *const f64, *const *const f64, *const *const f32, *const i64, *mut f32, *const i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_lincomb_at_f32_async\0")?),
            gpumem_lincomb_at_f64_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, i32, *const f64, *const *const f64, *const *const f64, *const *const f64, *const i64, *mut f64, *const i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_lincomb_at_f64_async\0")?),
            gpumem_lincomb_dot_f32: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, i32, *const f32, *const *const f64, *const *const f64, *const *const f32, *const i64, *mut f32, *const i64, i32, *const *const f32, *const i64, *mut f64) -> gpumem_status>(some("gpumem_lincomb_dot_f32\0")?),
            gpumem_lincomb_dot_f64: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, i32, *const f64, *const *const f64, *const *const f64, *const *const f64, *const i64, *mut f64, *const i64, i32, *const *const f64, *const i64, *mut f64) -> gpumem_status>(some("gpumem_lincomb_dot_f64\0")?),
            gpumem_lincomb_dot_f32_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, i32, *const f32, *const *const f64, *const *const f64, *const *const f32, *const i64, *mut f32, *const i64, i32, *const *const f32, *const i64, *mut f64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_lincomb_dot_f32_async\0")?),
            gpumem_lincomb_dot_f64_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, i32, *const f64, *const *const f64, *const *const f64, *const *const f64, *const i64, *mut f64, *const i64, i32, *const *const f64, *const i64, *mut f64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_lincomb_dot_f64_async\0")?),
            gpumem_map: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_map_op, gpumem_dtype, i32, *const i64, *const c_void, *const i64, *const c_void, *const i64, *mut c_void, *const i64) -> gpumem_status>(some("gpumem_map\0")?),
            gpumem_map_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_map_op, gpumem_dtype, i32, *const i64, *const c_void, *const i64, *const c_void, *const i64, *mut c_void, *const i64, *mut gpumem_status, *mut gpumem_stream) -> gpumem_status>(some("gpumem_map_async\0")?),
            gpumem_compare: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_compare_op, gpumem_dtype, i32, *const i64, *const c_void, *const i64, *const c_void, *const i64, *mut u8, *const i64) -> gpumem_status>(some("gpumem_compare\0")?),
            gpumem_compare_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_compare_op, gpumem_dtype, i32, *const i64, *const c_void, *const i64, *const c_void, *const i64, *mut u8, *const i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_compare_async\0")?),
            gpumem_where: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, i32, *const i64, *const u8, *const i64, *const c_void, *const i64, *const c_void, *const i64, *mut c_void, *const i64) -> gpumem_status>(some("gpumem_where\0")?),
            gpumem_where_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64, i32, *const i64, *const u8, *const i64, *const c_void, *const i64, *const c_void, *const i64, *mut c_void, *const i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_where_async\0")?),
            gpumem_convert_scaled: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, gpumem_dtype, *const c_void, *const i64, *const f64, *const i64, *const f64, *const i64, f64, gpumem_dtype, *mut c_void, *const i64) -> gpumem_status>(some("gpumem_convert_scaled\0")?),
            gpumem_convert_scaled_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i32, *const i64, gpumem_dtype, *const c_void, *const i64, *const f64, *const i64, *const f64, *const i64, f64, gpumem_dtype, *mut c_void, *const i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_convert_scaled_async\0")?),
            gpumem_resize_2d: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_filter, gpumem_dtype, i32, *const c_void, i64, i64, i64, *mut c_void, i64, i64, i64) -> gpumem_status>(some("gpumem_resize_2d\0")?),
            gpumem_resize_2d_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_filter, gpumem_dtype, i32, *const c_void, i64, i64, i64, *mut c_void, i64, i64, i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_resize_2d_async\0")?),
            gpumem_resize_2d_batch: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_filter, gpumem_dtype, i32, i64, *const *const c_void, *const i64, *const i64, *const i64, *mut c_void, i64, i64, i64, i64) -> gpumem_status>(some("gpumem_resize_2d_batch\0")?),
            gpumem_resize_2d_batch_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_filter, gpumem_dtype, i32, i64, *const *const c_void, *const i64, *const i64, *const i64, *mut c_void, i64, i64, i64, i64, *mut gpumem_stream) -> gpumem_status>(some("gpumem_resize_2d_batch_async\0")?),
            gpumem_variant_count: transmute::<*mut c_void, unsafe extern "C" fn(gpumem_family, *mut i32) -> gpumem_status>(some("gpumem_variant_count\0")?),
            gpumem_variant_name: transmute::<*mut c_void, unsafe extern "C" fn(gpumem_family, i32, *mut *const c_char) -> gpumem_status>(some("gpumem_variant_name\0")?),
            gpumem_variant_force: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_family, *const c_char) -> gpumem_status>(some("gpumem_variant_force\0")?),
            gpumem_explain: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const c_char, gpumem_format, *mut c_char, i64, *mut i64) -> gpumem_status>(some("gpumem_explain\0")?),
            gpumem_last_problem: transmute::<*mut c_void, unsafe extern "C" fn(*mut c_char, i64, *mut i64) -> gpumem_status>(some("gpumem_last_problem\0")?),
            gpumem_ceiling_info_init: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ceiling_info, i64) -> gpumem_status>(some("gpumem_ceiling_info_init\0")?),
            gpumem_ceiling: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut gpumem_ceiling_info) -> gpumem_status>(some("gpumem_ceiling\0")?),
            gpumem_profile_begin: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, i64) -> gpumem_status>(some("gpumem_profile_begin\0")?),
            gpumem_profile_end: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx) -> gpumem_status>(some("gpumem_profile_end\0")?),
            gpumem_profile_row_init: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_profile_row, i64) -> gpumem_status>(some("gpumem_profile_row_init\0")?),
            gpumem_profile_report: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *mut gpumem_profile_row, i64, *mut i64) -> gpumem_status>(some("gpumem_profile_report\0")?),
            gpumem_profile_write: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, gpumem_format, *const c_char) -> gpumem_status>(some("gpumem_profile_write\0")?),
            gpumem_tune_options_init: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_tune_options, i64) -> gpumem_status>(some("gpumem_tune_options_init\0")?),
            gpumem_tune_info_init: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_tune_info, i64) -> gpumem_status>(some("gpumem_tune_info_init\0")?),
            gpumem_tune: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const c_char, *const gpumem_tune_options, *mut gpumem_tune_info) -> gpumem_status>(some("gpumem_tune\0")?),
            gpumem_tuning_load: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const c_char, *mut i64, *mut i64) -> gpumem_status>(some("gpumem_tuning_load\0")?),
            gpumem_tuning_save: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx, *const c_char) -> gpumem_status>(some("gpumem_tuning_save\0")?),
            gpumem_tuning_clear: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_ctx) -> gpumem_status>(some("gpumem_tuning_clear\0")?),
            gpumem_dist_transport_init: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist_transport, i64) -> gpumem_status>(some("gpumem_dist_transport_init\0")?),
            gpumem_dist_options_init: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist_options, i64) -> gpumem_status>(some("gpumem_dist_options_init\0")?),
            gpumem_dist_info_init: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist_info, i64) -> gpumem_status>(some("gpumem_dist_info_init\0")?),
            gpumem_dist_layout_init: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist_layout, i64) -> gpumem_status>(some("gpumem_dist_layout_init\0")?),
            gpumem_dist_plan_options_init: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist_plan_options, i64) -> gpumem_status>(some("gpumem_dist_plan_options_init\0")?),
            gpumem_dist_create: transmute::<*mut c_void, unsafe extern "C" fn(*const gpumem_dist_options, *mut *mut gpumem_dist) -> gpumem_status>(some("gpumem_dist_create\0")?),
            gpumem_dist_query: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist, *mut gpumem_dist_info) -> gpumem_status>(some("gpumem_dist_query\0")?),
            gpumem_dist_abort: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist) -> gpumem_status>(some("gpumem_dist_abort\0")?),
            gpumem_dist_destroy: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist) -> gpumem_status>(some("gpumem_dist_destroy\0")?),
            gpumem_dist_plan_redistribute: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist, *const gpumem_dist_layout, *const gpumem_dist_layout, *const i32, *const gpumem_dist_plan_options, *mut *mut gpumem_dist_plan) -> gpumem_status>(some("gpumem_dist_plan_redistribute\0")?),
            gpumem_dist_plan_halo: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist, *const gpumem_dist_layout, *const i64, *const i64, *const i32, *const gpumem_dist_plan_options, *mut *mut gpumem_dist_plan) -> gpumem_status>(some("gpumem_dist_plan_halo\0")?),
            gpumem_dist_plan_reduce: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist, *const gpumem_dist_layout, *const gpumem_dist_plan_options, *mut *mut gpumem_dist_plan) -> gpumem_status>(some("gpumem_dist_plan_reduce\0")?),
            gpumem_dist_execute: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist_plan, *const *const c_void, *const *mut c_void) -> gpumem_status>(some("gpumem_dist_execute\0")?),
            gpumem_dist_execute_async: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist_plan, *const *const c_void, *const *mut c_void, *const *mut gpumem_stream) -> gpumem_status>(some("gpumem_dist_execute_async\0")?),
            gpumem_dist_reduce: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist_plan, gpumem_dtype, gpumem_reduce_op, *const *const c_void, *mut c_void) -> gpumem_status>(some("gpumem_dist_reduce\0")?),
            gpumem_dist_argreduce: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist_plan, gpumem_dtype, gpumem_reduce_op, *const *const c_void, *mut c_void, *mut i64) -> gpumem_status>(some("gpumem_dist_argreduce\0")?),
            gpumem_dist_dot: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist_plan, gpumem_dtype, *const *const c_void, *const *const c_void, *mut f64) -> gpumem_status>(some("gpumem_dist_dot\0")?),
            gpumem_dist_nrm2: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist_plan, gpumem_dtype, *const *const c_void, *mut f64) -> gpumem_status>(some("gpumem_dist_nrm2\0")?),
            gpumem_dist_dot_order_free: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist_plan, gpumem_dtype, *const *const c_void, *const *const c_void, *mut f64) -> gpumem_status>(some("gpumem_dist_dot_order_free\0")?),
            gpumem_dist_explain: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist_plan, gpumem_format, *mut c_char, i64, *mut i64) -> gpumem_status>(some("gpumem_dist_explain\0")?),
            gpumem_dist_plan_destroy: transmute::<*mut c_void, unsafe extern "C" fn(*mut gpumem_dist_plan) -> gpumem_status>(some("gpumem_dist_plan_destroy\0")?),
        })
    }

    /// Those that were linked.
    #[cfg(feature = "link")]
    pub(crate) fn linked() -> Self {
        Functions {
            gpumem_version: linked::gpumem_version,
            gpumem_status_name: linked::gpumem_status_name,
            gpumem_last_error: linked::gpumem_last_error,
            gpumem_device_count: linked::gpumem_device_count,
            gpumem_device_info_init: linked::gpumem_device_info_init,
            gpumem_device_query: linked::gpumem_device_query,
            gpumem_ctx_options_init: linked::gpumem_ctx_options_init,
            gpumem_ctx_create: linked::gpumem_ctx_create,
            gpumem_ctx_destroy: linked::gpumem_ctx_destroy,
            gpumem_ctx_device: linked::gpumem_ctx_device,
            gpumem_ctx_status: linked::gpumem_ctx_status,
            gpumem_ctx_synchronize: linked::gpumem_ctx_synchronize,
            gpumem_ctx_set_log: linked::gpumem_ctx_set_log,
            gpumem_ctx_warmup: linked::gpumem_ctx_warmup,
            gpumem_alloc_device: linked::gpumem_alloc_device,
            gpumem_alloc_pinned: linked::gpumem_alloc_pinned,
            gpumem_alloc_managed: linked::gpumem_alloc_managed,
            gpumem_free: linked::gpumem_free,
            gpumem_alloc_async: linked::gpumem_alloc_async,
            gpumem_free_async: linked::gpumem_free_async,
            gpumem_memory_used_on: linked::gpumem_memory_used_on,
            gpumem_memory_trim: linked::gpumem_memory_trim,
            gpumem_memory_check: linked::gpumem_memory_check,
            gpumem_memory_trace: linked::gpumem_memory_trace,
            gpumem_host_register: linked::gpumem_host_register,
            gpumem_host_unregister: linked::gpumem_host_unregister,
            gpumem_memory_label: linked::gpumem_memory_label,
            gpumem_pointer_info_init: linked::gpumem_pointer_info_init,
            gpumem_pointer_query: linked::gpumem_pointer_query,
            gpumem_memory_stats_init: linked::gpumem_memory_stats_init,
            gpumem_memory_stats: linked::gpumem_memory_stats,
            gpumem_shared_ctx: linked::gpumem_shared_ctx,
            gpumem_torch_malloc: linked::gpumem_torch_malloc,
            gpumem_torch_free: linked::gpumem_torch_free,
            gpumem_torch_record_stream: linked::gpumem_torch_record_stream,
            gpumem_torch_begin_pool: linked::gpumem_torch_begin_pool,
            gpumem_torch_end_pool: linked::gpumem_torch_end_pool,
            gpumem_torch_release_pool: linked::gpumem_torch_release_pool,
            gpumem_torch_empty_cache: linked::gpumem_torch_empty_cache,
            gpumem_torch_segment_malloc: linked::gpumem_torch_segment_malloc,
            gpumem_torch_segment_free: linked::gpumem_torch_segment_free,
            gpumem_cupy_malloc: linked::gpumem_cupy_malloc,
            gpumem_cupy_free: linked::gpumem_cupy_free,
            gpumem_managed_prefetch: linked::gpumem_managed_prefetch,
            gpumem_managed_prefetch_async: linked::gpumem_managed_prefetch_async,
            gpumem_managed_advise: linked::gpumem_managed_advise,
            gpumem_managed_info_init: linked::gpumem_managed_info_init,
            gpumem_managed_query: linked::gpumem_managed_query,
            gpumem_copy: linked::gpumem_copy,
            gpumem_copy_async: linked::gpumem_copy_async,
            gpumem_copy_2d: linked::gpumem_copy_2d,
            gpumem_copy_2d_async: linked::gpumem_copy_2d_async,
            gpumem_copy_3d: linked::gpumem_copy_3d,
            gpumem_copy_3d_async: linked::gpumem_copy_3d_async,
            gpumem_fill: linked::gpumem_fill,
            gpumem_fill_async: linked::gpumem_fill_async,
            gpumem_fill_2d: linked::gpumem_fill_2d,
            gpumem_fill_2d_async: linked::gpumem_fill_2d_async,
            gpumem_stream_create: linked::gpumem_stream_create,
            gpumem_stream_destroy: linked::gpumem_stream_destroy,
            gpumem_stream_wrap: linked::gpumem_stream_wrap,
            gpumem_stream_native: linked::gpumem_stream_native,
            gpumem_stream_synchronize: linked::gpumem_stream_synchronize,
            gpumem_stream_query: linked::gpumem_stream_query,
            gpumem_stream_wait_event: linked::gpumem_stream_wait_event,
            gpumem_event_create: linked::gpumem_event_create,
            gpumem_event_destroy: linked::gpumem_event_destroy,
            gpumem_event_record: linked::gpumem_event_record,
            gpumem_event_synchronize: linked::gpumem_event_synchronize,
            gpumem_event_elapsed: linked::gpumem_event_elapsed,
            gpumem_reduce: linked::gpumem_reduce,
            gpumem_reduce_i32: linked::gpumem_reduce_i32,
            gpumem_reduce_i64: linked::gpumem_reduce_i64,
            gpumem_reduce_u32: linked::gpumem_reduce_u32,
            gpumem_reduce_u64: linked::gpumem_reduce_u64,
            gpumem_reduce_f32: linked::gpumem_reduce_f32,
            gpumem_reduce_f64: linked::gpumem_reduce_f64,
            gpumem_reduce_async: linked::gpumem_reduce_async,
            gpumem_reduce_i32_async: linked::gpumem_reduce_i32_async,
            gpumem_reduce_i64_async: linked::gpumem_reduce_i64_async,
            gpumem_reduce_u32_async: linked::gpumem_reduce_u32_async,
            gpumem_reduce_u64_async: linked::gpumem_reduce_u64_async,
            gpumem_reduce_f32_async: linked::gpumem_reduce_f32_async,
            gpumem_reduce_f64_async: linked::gpumem_reduce_f64_async,
            gpumem_argreduce: linked::gpumem_argreduce,
            gpumem_argreduce_i32: linked::gpumem_argreduce_i32,
            gpumem_argreduce_i64: linked::gpumem_argreduce_i64,
            gpumem_argreduce_u32: linked::gpumem_argreduce_u32,
            gpumem_argreduce_u64: linked::gpumem_argreduce_u64,
            gpumem_argreduce_f32: linked::gpumem_argreduce_f32,
            gpumem_argreduce_f64: linked::gpumem_argreduce_f64,
            gpumem_argreduce_async: linked::gpumem_argreduce_async,
            gpumem_argreduce_i32_async: linked::gpumem_argreduce_i32_async,
            gpumem_argreduce_i64_async: linked::gpumem_argreduce_i64_async,
            gpumem_argreduce_u32_async: linked::gpumem_argreduce_u32_async,
            gpumem_argreduce_u64_async: linked::gpumem_argreduce_u64_async,
            gpumem_argreduce_f32_async: linked::gpumem_argreduce_f32_async,
            gpumem_argreduce_f64_async: linked::gpumem_argreduce_f64_async,
            gpumem_dot_f32: linked::gpumem_dot_f32,
            gpumem_dot_f64: linked::gpumem_dot_f64,
            gpumem_dot_f32_async: linked::gpumem_dot_f32_async,
            gpumem_dot_f64_async: linked::gpumem_dot_f64_async,
            gpumem_nrm2_f32: linked::gpumem_nrm2_f32,
            gpumem_nrm2_f64: linked::gpumem_nrm2_f64,
            gpumem_nrm2_f32_async: linked::gpumem_nrm2_f32_async,
            gpumem_nrm2_f64_async: linked::gpumem_nrm2_f64_async,
            gpumem_reduce_axis: linked::gpumem_reduce_axis,
            gpumem_reduce_axis_async: linked::gpumem_reduce_axis_async,
            gpumem_argreduce_axis: linked::gpumem_argreduce_axis,
            gpumem_argreduce_axis_async: linked::gpumem_argreduce_axis_async,
            gpumem_reduce_axes: linked::gpumem_reduce_axes,
            gpumem_reduce_axes_async: linked::gpumem_reduce_axes_async,
            gpumem_reduce_segments: linked::gpumem_reduce_segments,
            gpumem_reduce_segments_async: linked::gpumem_reduce_segments_async,
            gpumem_reduce_by_index: linked::gpumem_reduce_by_index,
            gpumem_reduce_by_index_async: linked::gpumem_reduce_by_index_async,
            gpumem_reduce_rows_by_index: linked::gpumem_reduce_rows_by_index,
            gpumem_reduce_rows_by_index_async: linked::gpumem_reduce_rows_by_index_async,
            gpumem_reduce_view: linked::gpumem_reduce_view,
            gpumem_reduce_view_async: linked::gpumem_reduce_view_async,
            gpumem_argreduce_view: linked::gpumem_argreduce_view,
            gpumem_argreduce_view_async: linked::gpumem_argreduce_view_async,
            gpumem_dot_view_f32: linked::gpumem_dot_view_f32,
            gpumem_dot_view_f64: linked::gpumem_dot_view_f64,
            gpumem_dot_view_f32_async: linked::gpumem_dot_view_f32_async,
            gpumem_dot_view_f64_async: linked::gpumem_dot_view_f64_async,
            gpumem_nrm2_view_f32: linked::gpumem_nrm2_view_f32,
            gpumem_nrm2_view_f64: linked::gpumem_nrm2_view_f64,
            gpumem_nrm2_view_f32_async: linked::gpumem_nrm2_view_f32_async,
            gpumem_nrm2_view_f64_async: linked::gpumem_nrm2_view_f64_async,
            gpumem_dot_order_free: linked::gpumem_dot_order_free,
            gpumem_dot_order_free_async: linked::gpumem_dot_order_free_async,
            gpumem_scan: linked::gpumem_scan,
            gpumem_scan_async: linked::gpumem_scan_async,
            gpumem_scan_axis: linked::gpumem_scan_axis,
            gpumem_scan_axis_async: linked::gpumem_scan_axis_async,
            gpumem_scan_segments: linked::gpumem_scan_segments,
            gpumem_scan_segments_async: linked::gpumem_scan_segments_async,
            gpumem_transpose: linked::gpumem_transpose,
            gpumem_transpose_async: linked::gpumem_transpose_async,
            gpumem_transpose_batched: linked::gpumem_transpose_batched,
            gpumem_transpose_batched_async: linked::gpumem_transpose_batched_async,
            gpumem_copy_boxes: linked::gpumem_copy_boxes,
            gpumem_copy_boxes_async: linked::gpumem_copy_boxes_async,
            gpumem_gather: linked::gpumem_gather,
            gpumem_gather_async: linked::gpumem_gather_async,
            gpumem_scatter: linked::gpumem_scatter,
            gpumem_scatter_async: linked::gpumem_scatter_async,
            gpumem_permute: linked::gpumem_permute,
            gpumem_permute_async: linked::gpumem_permute_async,
            gpumem_sort: linked::gpumem_sort,
            gpumem_sort_async: linked::gpumem_sort_async,
            gpumem_sort_segments: linked::gpumem_sort_segments,
            gpumem_sort_segments_async: linked::gpumem_sort_segments_async,
            gpumem_select: linked::gpumem_select,
            gpumem_select_async: linked::gpumem_select_async,
            gpumem_select_places: linked::gpumem_select_places,
            gpumem_select_places_async: linked::gpumem_select_places_async,
            gpumem_axpby_f32: linked::gpumem_axpby_f32,
            gpumem_axpby_f64: linked::gpumem_axpby_f64,
            gpumem_axpby_f32_async: linked::gpumem_axpby_f32_async,
            gpumem_axpby_f64_async: linked::gpumem_axpby_f64_async,
            gpumem_convert: linked::gpumem_convert,
            gpumem_convert_async: linked::gpumem_convert_async,
            gpumem_lincomb_f32: linked::gpumem_lincomb_f32,
            gpumem_lincomb_f64: linked::gpumem_lincomb_f64,
            gpumem_lincomb_f32_async: linked::gpumem_lincomb_f32_async,
            gpumem_lincomb_f64_async: linked::gpumem_lincomb_f64_async,
            gpumem_multiply_f32: linked::gpumem_multiply_f32,
            gpumem_multiply_f64: linked::gpumem_multiply_f64,
            gpumem_multiply_f32_async: linked::gpumem_multiply_f32_async,
            gpumem_multiply_f64_async: linked::gpumem_multiply_f64_async,
            gpumem_lincomb_at_f32: linked::gpumem_lincomb_at_f32,
            gpumem_lincomb_at_f64: linked::gpumem_lincomb_at_f64,
            gpumem_lincomb_at_f32_async: linked::gpumem_lincomb_at_f32_async,
            gpumem_lincomb_at_f64_async: linked::gpumem_lincomb_at_f64_async,
            gpumem_lincomb_dot_f32: linked::gpumem_lincomb_dot_f32,
            gpumem_lincomb_dot_f64: linked::gpumem_lincomb_dot_f64,
            gpumem_lincomb_dot_f32_async: linked::gpumem_lincomb_dot_f32_async,
            gpumem_lincomb_dot_f64_async: linked::gpumem_lincomb_dot_f64_async,
            gpumem_map: linked::gpumem_map,
            gpumem_map_async: linked::gpumem_map_async,
            gpumem_compare: linked::gpumem_compare,
            gpumem_compare_async: linked::gpumem_compare_async,
            gpumem_where: linked::gpumem_where,
            gpumem_where_async: linked::gpumem_where_async,
            gpumem_convert_scaled: linked::gpumem_convert_scaled,
            gpumem_convert_scaled_async: linked::gpumem_convert_scaled_async,
            gpumem_resize_2d: linked::gpumem_resize_2d,
            gpumem_resize_2d_async: linked::gpumem_resize_2d_async,
            gpumem_resize_2d_batch: linked::gpumem_resize_2d_batch,
            gpumem_resize_2d_batch_async: linked::gpumem_resize_2d_batch_async,
            gpumem_variant_count: linked::gpumem_variant_count,
            gpumem_variant_name: linked::gpumem_variant_name,
            gpumem_variant_force: linked::gpumem_variant_force,
            gpumem_explain: linked::gpumem_explain,
            gpumem_last_problem: linked::gpumem_last_problem,
            gpumem_ceiling_info_init: linked::gpumem_ceiling_info_init,
            gpumem_ceiling: linked::gpumem_ceiling,
            gpumem_profile_begin: linked::gpumem_profile_begin,
            gpumem_profile_end: linked::gpumem_profile_end,
            gpumem_profile_row_init: linked::gpumem_profile_row_init,
            gpumem_profile_report: linked::gpumem_profile_report,
            gpumem_profile_write: linked::gpumem_profile_write,
            gpumem_tune_options_init: linked::gpumem_tune_options_init,
            gpumem_tune_info_init: linked::gpumem_tune_info_init,
            gpumem_tune: linked::gpumem_tune,
            gpumem_tuning_load: linked::gpumem_tuning_load,
            gpumem_tuning_save: linked::gpumem_tuning_save,
            gpumem_tuning_clear: linked::gpumem_tuning_clear,
            gpumem_dist_transport_init: linked::gpumem_dist_transport_init,
            gpumem_dist_options_init: linked::gpumem_dist_options_init,
            gpumem_dist_info_init: linked::gpumem_dist_info_init,
            gpumem_dist_layout_init: linked::gpumem_dist_layout_init,
            gpumem_dist_plan_options_init: linked::gpumem_dist_plan_options_init,
            gpumem_dist_create: linked::gpumem_dist_create,
            gpumem_dist_query: linked::gpumem_dist_query,
            gpumem_dist_abort: linked::gpumem_dist_abort,
            gpumem_dist_destroy: linked::gpumem_dist_destroy,
            gpumem_dist_plan_redistribute: linked::gpumem_dist_plan_redistribute,
            gpumem_dist_plan_halo: linked::gpumem_dist_plan_halo,
            gpumem_dist_plan_reduce: linked::gpumem_dist_plan_reduce,
            gpumem_dist_execute: linked::gpumem_dist_execute,
            gpumem_dist_execute_async: linked::gpumem_dist_execute_async,
            gpumem_dist_reduce: linked::gpumem_dist_reduce,
            gpumem_dist_argreduce: linked::gpumem_dist_argreduce,
            gpumem_dist_dot: linked::gpumem_dist_dot,
            gpumem_dist_nrm2: linked::gpumem_dist_nrm2,
            gpumem_dist_dot_order_free: linked::gpumem_dist_dot_order_free,
            gpumem_dist_explain: linked::gpumem_dist_explain,
            gpumem_dist_plan_destroy: linked::gpumem_dist_plan_destroy,
        }
    }
}

#[cfg(feature = "link")]
mod linked {
    use super::*;
    #[link(name = "gpumem")]
    extern "C" {
        pub fn gpumem_version(major: *mut i32, minor: *mut i32, patch: *mut i32) -> gpumem_status;
        pub fn gpumem_status_name(status: gpumem_status) -> *const c_char;
        pub fn gpumem_last_error(buf: *mut c_char, cap: i64, needed: *mut i64) -> gpumem_status;
        pub fn gpumem_device_count(count: *mut i32) -> gpumem_status;
        pub fn gpumem_device_info_init(info: *mut gpumem_device_info, size: i64) -> gpumem_status;
        pub fn gpumem_device_query(device: i32, info: *mut gpumem_device_info) -> gpumem_status;
        pub fn gpumem_ctx_options_init(options: *mut gpumem_ctx_options, size: i64) -> gpumem_status;
        pub fn gpumem_ctx_create(options: *const gpumem_ctx_options, ctx: *mut *mut gpumem_ctx) -> gpumem_status;
        pub fn gpumem_ctx_destroy(ctx: *mut gpumem_ctx) -> gpumem_status;
        pub fn gpumem_ctx_device(ctx: *mut gpumem_ctx, info: *mut gpumem_device_info) -> gpumem_status;
        pub fn gpumem_ctx_status(ctx: *mut gpumem_ctx) -> gpumem_status;
        pub fn gpumem_ctx_synchronize(ctx: *mut gpumem_ctx) -> gpumem_status;
        pub fn gpumem_ctx_set_log(ctx: *mut gpumem_ctx, function: gpumem_log_fn, user: *mut c_void) -> gpumem_status;
        pub fn gpumem_ctx_warmup(ctx: *mut gpumem_ctx) -> gpumem_status;
        pub fn gpumem_alloc_device(ctx: *mut gpumem_ctx, bytes: i64, p: *mut *mut c_void) -> gpumem_status;
        pub fn gpumem_alloc_pinned(ctx: *mut gpumem_ctx, bytes: i64, p: *mut *mut c_void) -> gpumem_status;
        pub fn gpumem_alloc_managed(ctx: *mut gpumem_ctx, bytes: i64, p: *mut *mut c_void) -> gpumem_status;
        pub fn gpumem_free(ctx: *mut gpumem_ctx, p: *mut c_void) -> gpumem_status;
        pub fn gpumem_alloc_async(ctx: *mut gpumem_ctx, bytes: i64, alignment: i64, stream: *mut gpumem_stream, p: *mut *mut c_void) -> gpumem_status;
        pub fn gpumem_free_async(ctx: *mut gpumem_ctx, p: *mut c_void, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_memory_used_on(ctx: *mut gpumem_ctx, p: *const c_void, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_memory_trim(ctx: *mut gpumem_ctx, keep_bytes: i64) -> gpumem_status;
        pub fn gpumem_memory_check(ctx: *mut gpumem_ctx) -> gpumem_status;
        pub fn gpumem_memory_trace(ctx: *mut gpumem_ctx, path: *const c_char) -> gpumem_status;
        pub fn gpumem_host_register(ctx: *mut gpumem_ctx, p: *mut c_void, bytes: i64) -> gpumem_status;
        pub fn gpumem_host_unregister(ctx: *mut gpumem_ctx, p: *mut c_void) -> gpumem_status;
        pub fn gpumem_memory_label(ctx: *mut gpumem_ctx, p: *const c_void, label: *const c_char) -> gpumem_status;
        pub fn gpumem_pointer_info_init(info: *mut gpumem_pointer_info, size: i64) -> gpumem_status;
        pub fn gpumem_pointer_query(ctx: *mut gpumem_ctx, p: *const c_void, info: *mut gpumem_pointer_info) -> gpumem_status;
        pub fn gpumem_memory_stats_init(stats: *mut gpumem_memory_stats_info, size: i64) -> gpumem_status;
        pub fn gpumem_memory_stats(ctx: *mut gpumem_ctx, stats: *mut gpumem_memory_stats_info) -> gpumem_status;
        pub fn gpumem_shared_ctx(device: i32, ctx: *mut *mut gpumem_ctx) -> gpumem_status;
        pub fn gpumem_torch_malloc(bytes: i64, device: i32, native_stream: *mut c_void) -> *mut c_void;
        pub fn gpumem_torch_free(p: *mut c_void, bytes: i64, device: i32, native_stream: *mut c_void);
        pub fn gpumem_torch_record_stream(p: *mut c_void, native_stream: *mut c_void);
        pub fn gpumem_torch_begin_pool(device: i32, pool_high: i64, pool_low: i64, filter: *const c_void);
        pub fn gpumem_torch_end_pool(device: i32, pool_high: i64, pool_low: i64);
        pub fn gpumem_torch_release_pool(device: i32, pool_high: i64, pool_low: i64);
        pub fn gpumem_torch_empty_cache();
        pub fn gpumem_torch_segment_malloc(bytes: i64, device: i32, native_stream: *mut c_void) -> *mut c_void;
        pub fn gpumem_torch_segment_free(p: *mut c_void, bytes: i64, device: i32, native_stream: *mut c_void);
        pub fn gpumem_cupy_malloc(param: *mut c_void, bytes: i64, device: i32) -> *mut c_void;
        pub fn gpumem_cupy_free(param: *mut c_void, p: *mut c_void, device: i32);
        pub fn gpumem_managed_prefetch(ctx: *mut gpumem_ctx, p: *const c_void, bytes: i64, device: i32) -> gpumem_status;
        pub fn gpumem_managed_prefetch_async(ctx: *mut gpumem_ctx, p: *const c_void, bytes: i64, device: i32, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_managed_advise(ctx: *mut gpumem_ctx, p: *const c_void, bytes: i64, advice: gpumem_advice, device: i32) -> gpumem_status;
        pub fn gpumem_managed_info_init(info: *mut gpumem_managed_info, size: i64) -> gpumem_status;
        pub fn gpumem_managed_query(ctx: *mut gpumem_ctx, p: *const c_void, bytes: i64, info: *mut gpumem_managed_info) -> gpumem_status;
        pub fn gpumem_copy(ctx: *mut gpumem_ctx, dst: *mut c_void, src: *const c_void, bytes: i64) -> gpumem_status;
        pub fn gpumem_copy_async(ctx: *mut gpumem_ctx, dst: *mut c_void, src: *const c_void, bytes: i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_copy_2d(ctx: *mut gpumem_ctx, dst: *mut c_void, dst_pitch_bytes: i64, src: *const c_void, src_pitch_bytes: i64, row_bytes: i64, rows: i64) -> gpumem_status;
        pub fn gpumem_copy_2d_async(ctx: *mut gpumem_ctx, dst: *mut c_void, dst_pitch_bytes: i64, src: *const c_void, src_pitch_bytes: i64, row_bytes: i64, rows: i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_copy_3d(ctx: *mut gpumem_ctx, dst: *mut c_void, dst_pitch_bytes: i64, dst_slice_bytes: i64, src: *const c_void, src_pitch_bytes: i64, src_slice_bytes: i64, row_bytes: i64, rows: i64, slices: i64) -> gpumem_status;
        pub fn gpumem_copy_3d_async(ctx: *mut gpumem_ctx, dst: *mut c_void, dst_pitch_bytes: i64, dst_slice_bytes: i64, src: *const c_void, src_pitch_bytes: i64, src_slice_bytes: i64, row_bytes: i64, rows: i64, slices: i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_fill(ctx: *mut gpumem_ctx, dst: *mut c_void, pattern: *const c_void, pattern_bytes: i64, count: i64) -> gpumem_status;
        pub fn gpumem_fill_async(ctx: *mut gpumem_ctx, dst: *mut c_void, pattern: *const c_void, pattern_bytes: i64, count: i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_fill_2d(ctx: *mut gpumem_ctx, dst: *mut c_void, dst_pitch_bytes: i64, pattern: *const c_void, pattern_bytes: i64, cols: i64, rows: i64) -> gpumem_status;
        pub fn gpumem_fill_2d_async(ctx: *mut gpumem_ctx, dst: *mut c_void, dst_pitch_bytes: i64, pattern: *const c_void, pattern_bytes: i64, cols: i64, rows: i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_stream_create(ctx: *mut gpumem_ctx, stream: *mut *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_stream_destroy(stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_stream_wrap(ctx: *mut gpumem_ctx, native_stream: *mut c_void, stream: *mut *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_stream_native(ctx: *mut gpumem_ctx, stream: *mut gpumem_stream, native_stream: *mut *mut c_void) -> gpumem_status;
        pub fn gpumem_stream_synchronize(ctx: *mut gpumem_ctx, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_stream_query(ctx: *mut gpumem_ctx, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_stream_wait_event(ctx: *mut gpumem_ctx, stream: *mut gpumem_stream, event: *mut gpumem_event) -> gpumem_status;
        pub fn gpumem_event_create(ctx: *mut gpumem_ctx, event: *mut *mut gpumem_event) -> gpumem_status;
        pub fn gpumem_event_destroy(event: *mut gpumem_event) -> gpumem_status;
        pub fn gpumem_event_record(ctx: *mut gpumem_ctx, event: *mut gpumem_event, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_event_synchronize(event: *mut gpumem_event) -> gpumem_status;
        pub fn gpumem_event_elapsed(start: *mut gpumem_event, end: *mut gpumem_event, seconds: *mut f64) -> gpumem_status;
        pub fn gpumem_reduce(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, n: i64, stride: i64, result: *mut c_void) -> gpumem_status;
        pub fn gpumem_reduce_i32(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const i32, n: i64, stride: i64, result: *mut i64) -> gpumem_status;
        pub fn gpumem_reduce_i64(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const i64, n: i64, stride: i64, result: *mut i64) -> gpumem_status;
        pub fn gpumem_reduce_u32(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const u32, n: i64, stride: i64, result: *mut u64) -> gpumem_status;
        pub fn gpumem_reduce_u64(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const u64, n: i64, stride: i64, result: *mut u64) -> gpumem_status;
        pub fn gpumem_reduce_f32(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const f32, n: i64, stride: i64, result: *mut f64) -> gpumem_status;
        pub fn gpumem_reduce_f64(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const f64, n: i64, stride: i64, result: *mut f64) -> gpumem_status;
        pub fn gpumem_reduce_async(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, n: i64, stride: i64, result: *mut c_void, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_reduce_i32_async(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const i32, n: i64, stride: i64, result: *mut i64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_reduce_i64_async(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const i64, n: i64, stride: i64, result: *mut i64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_reduce_u32_async(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const u32, n: i64, stride: i64, result: *mut u64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_reduce_u64_async(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const u64, n: i64, stride: i64, result: *mut u64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_reduce_f32_async(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const f32, n: i64, stride: i64, result: *mut f64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_reduce_f64_async(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const f64, n: i64, stride: i64, result: *mut f64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_argreduce(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, n: i64, stride: i64, value: *mut c_void, index: *mut i64) -> gpumem_status;
        pub fn gpumem_argreduce_i32(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const i32, n: i64, stride: i64, value: *mut i64, index: *mut i64) -> gpumem_status;
        pub fn gpumem_argreduce_i64(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const i64, n: i64, stride: i64, value: *mut i64, index: *mut i64) -> gpumem_status;
        pub fn gpumem_argreduce_u32(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const u32, n: i64, stride: i64, value: *mut u64, index: *mut i64) -> gpumem_status;
        pub fn gpumem_argreduce_u64(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const u64, n: i64, stride: i64, value: *mut u64, index: *mut i64) -> gpumem_status;
        pub fn gpumem_argreduce_f32(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const f32, n: i64, stride: i64, value: *mut f64, index: *mut i64) -> gpumem_status;
        pub fn gpumem_argreduce_f64(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const f64, n: i64, stride: i64, value: *mut f64, index: *mut i64) -> gpumem_status;
        pub fn gpumem_argreduce_async(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, n: i64, stride: i64, value: *mut c_void, index: *mut i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_argreduce_i32_async(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const i32, n: i64, stride: i64, value: *mut i64, index: *mut i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_argreduce_i64_async(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const i64, n: i64, stride: i64, value: *mut i64, index: *mut i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_argreduce_u32_async(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const u32, n: i64, stride: i64, value: *mut u64, index: *mut i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_argreduce_u64_async(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const u64, n: i64, stride: i64, value: *mut u64, index: *mut i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_argreduce_f32_async(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const f32, n: i64, stride: i64, value: *mut f64, index: *mut i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_argreduce_f64_async(ctx: *mut gpumem_ctx, op: gpumem_reduce_op, x: *const f64, n: i64, stride: i64, value: *mut f64, index: *mut i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_dot_f32(ctx: *mut gpumem_ctx, x: *const f32, y: *const f32, n: i64, x_stride: i64, y_stride: i64, result: *mut f64) -> gpumem_status;
        pub fn gpumem_dot_f64(ctx: *mut gpumem_ctx, x: *const f64, y: *const f64, n: i64, x_stride: i64, y_stride: i64, result: *mut f64) -> gpumem_status;
        pub fn gpumem_dot_f32_async(ctx: *mut gpumem_ctx, x: *const f32, y: *const f32, n: i64, x_stride: i64, y_stride: i64, result: *mut f64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_dot_f64_async(ctx: *mut gpumem_ctx, x: *const f64, y: *const f64, n: i64, x_stride: i64, y_stride: i64, result: *mut f64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_nrm2_f32(ctx: *mut gpumem_ctx, x: *const f32, n: i64, stride: i64, result: *mut f64) -> gpumem_status;
        pub fn gpumem_nrm2_f64(ctx: *mut gpumem_ctx, x: *const f64, n: i64, stride: i64, result: *mut f64) -> gpumem_status;
        pub fn gpumem_nrm2_f32_async(ctx: *mut gpumem_ctx, x: *const f32, n: i64, stride: i64, result: *mut f64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_nrm2_f64_async(ctx: *mut gpumem_ctx, x: *const f64, n: i64, stride: i64, result: *mut f64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_reduce_axis(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, axis: gpumem_axis, x: *const c_void, rows: i64, cols: i64, ld: i64, batches: i64, batch_stride: i64, result: *mut c_void) -> gpumem_status;
        pub fn gpumem_reduce_axis_async(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, axis: gpumem_axis, x: *const c_void, rows: i64, cols: i64, ld: i64, batches: i64, batch_stride: i64, result: *mut c_void, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_argreduce_axis(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, axis: gpumem_axis, x: *const c_void, rows: i64, cols: i64, ld: i64, batches: i64, batch_stride: i64, value: *mut c_void, index: *mut i64) -> gpumem_status;
        pub fn gpumem_argreduce_axis_async(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, axis: gpumem_axis, x: *const c_void, rows: i64, cols: i64, ld: i64, batches: i64, batch_stride: i64, value: *mut c_void, index: *mut i64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_reduce_axes(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, axes: i32, result: *mut c_void, result_type: gpumem_dtype) -> gpumem_status;
        pub fn gpumem_reduce_axes_async(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, axes: i32, result: *mut c_void, result_type: gpumem_dtype, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_reduce_segments(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, n: i64, offsets: *const i64, segments: i64, result: *mut c_void) -> gpumem_status;
        pub fn gpumem_reduce_segments_async(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, n: i64, offsets: *const i64, segments: i64, result: *mut c_void, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_reduce_by_index(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, index_type: gpumem_dtype, index: *const c_void, n: i64, result: *mut c_void, bins: i64) -> gpumem_status;
        pub fn gpumem_reduce_by_index_async(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, index_type: gpumem_dtype, index: *const c_void, n: i64, result: *mut c_void, bins: i64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_reduce_rows_by_index(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, rows: i64, cols: i64, ld: i64, index_type: gpumem_dtype, index: *const c_void, result: *mut c_void, bins: i64) -> gpumem_status;
        pub fn gpumem_reduce_rows_by_index_async(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const c_void, rows: i64, cols: i64, ld: i64, index_type: gpumem_dtype, index: *const c_void, result: *mut c_void, bins: i64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_reduce_view(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, result: *mut c_void) -> gpumem_status;
        pub fn gpumem_reduce_view_async(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, result: *mut c_void, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_argreduce_view(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, value: *mut c_void, index: *mut i64) -> gpumem_status;
        pub fn gpumem_argreduce_view_async(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, value: *mut c_void, index: *mut i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_dot_view_f32(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f32, x_strides: *const i64, y: *const f32, y_strides: *const i64, result: *mut f64) -> gpumem_status;
        pub fn gpumem_dot_view_f64(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f64, x_strides: *const i64, y: *const f64, y_strides: *const i64, result: *mut f64) -> gpumem_status;
        pub fn gpumem_dot_view_f32_async(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f32, x_strides: *const i64, y: *const f32, y_strides: *const i64, result: *mut f64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_dot_view_f64_async(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f64, x_strides: *const i64, y: *const f64, y_strides: *const i64, result: *mut f64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_nrm2_view_f32(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f32, x_strides: *const i64, result: *mut f64) -> gpumem_status;
        pub fn gpumem_nrm2_view_f64(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f64, x_strides: *const i64, result: *mut f64) -> gpumem_status;
        pub fn gpumem_nrm2_view_f32_async(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f32, x_strides: *const i64, result: *mut f64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_nrm2_view_f64_async(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f64, x_strides: *const i64, result: *mut f64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_dot_order_free(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, y: *const c_void, y_strides: *const i64, result: *mut f64) -> gpumem_status;
        pub fn gpumem_dot_order_free_async(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, y: *const c_void, y_strides: *const i64, result: *mut f64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_scan(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, exclusive: i32, x: *const c_void, n: i64, result: *mut c_void, result_type: gpumem_dtype) -> gpumem_status;
        pub fn gpumem_scan_async(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, exclusive: i32, x: *const c_void, n: i64, result: *mut c_void, result_type: gpumem_dtype, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_scan_axis(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, exclusive: i32, ndim: i32, extents: *const i64, axis: i32, x: *const c_void, x_strides: *const i64, result: *mut c_void, result_strides: *const i64, result_type: gpumem_dtype) -> gpumem_status;
        pub fn gpumem_scan_axis_async(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, exclusive: i32, ndim: i32, extents: *const i64, axis: i32, x: *const c_void, x_strides: *const i64, result: *mut c_void, result_strides: *const i64, result_type: gpumem_dtype, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_scan_segments(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, exclusive: i32, x: *const c_void, n: i64, offsets: *const i64, segments: i64, result: *mut c_void, result_type: gpumem_dtype) -> gpumem_status;
        pub fn gpumem_scan_segments_async(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, op: gpumem_reduce_op, exclusive: i32, x: *const c_void, n: i64, offsets: *const i64, segments: i64, result: *mut c_void, result_type: gpumem_dtype, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_transpose(ctx: *mut gpumem_ctx, element_bytes: i64, rows: i64, cols: i64, src: *const c_void, src_ld: i64, dst: *mut c_void, dst_ld: i64) -> gpumem_status;
        pub fn gpumem_transpose_async(ctx: *mut gpumem_ctx, element_bytes: i64, rows: i64, cols: i64, src: *const c_void, src_ld: i64, dst: *mut c_void, dst_ld: i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_transpose_batched(ctx: *mut gpumem_ctx, element_bytes: i64, rows: i64, cols: i64, src: *const c_void, src_ld: i64, src_batch_stride: i64, dst: *mut c_void, dst_ld: i64, dst_batch_stride: i64, batches: i64) -> gpumem_status;
        pub fn gpumem_transpose_batched_async(ctx: *mut gpumem_ctx, element_bytes: i64, rows: i64, cols: i64, src: *const c_void, src_ld: i64, src_batch_stride: i64, dst: *mut c_void, dst_ld: i64, dst_batch_stride: i64, batches: i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_copy_boxes(ctx: *mut gpumem_ctx, element_bytes: i64, ndim: i32, count: i64, extents: *const i64, src: *const *const c_void, src_strides: *const i64, dst: *const *mut c_void, dst_strides: *const i64) -> gpumem_status;
        pub fn gpumem_copy_boxes_async(ctx: *mut gpumem_ctx, element_bytes: i64, ndim: i32, count: i64, extents: *const i64, src: *const *const c_void, src_strides: *const i64, dst: *const *mut c_void, dst_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_gather(ctx: *mut gpumem_ctx, row_bytes: i64, src: *const c_void, src_rows: i64, src_pitch_bytes: i64, index_type: gpumem_dtype, index: *const c_void, n: i64, dst: *mut c_void, dst_pitch_bytes: i64) -> gpumem_status;
        pub fn gpumem_gather_async(ctx: *mut gpumem_ctx, row_bytes: i64, src: *const c_void, src_rows: i64, src_pitch_bytes: i64, index_type: gpumem_dtype, index: *const c_void, n: i64, dst: *mut c_void, dst_pitch_bytes: i64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_scatter(ctx: *mut gpumem_ctx, row_bytes: i64, src: *const c_void, src_pitch_bytes: i64, index_type: gpumem_dtype, index: *const c_void, n: i64, dst: *mut c_void, dst_rows: i64, dst_pitch_bytes: i64) -> gpumem_status;
        pub fn gpumem_scatter_async(ctx: *mut gpumem_ctx, row_bytes: i64, src: *const c_void, src_pitch_bytes: i64, index_type: gpumem_dtype, index: *const c_void, n: i64, dst: *mut c_void, dst_rows: i64, dst_pitch_bytes: i64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_permute(ctx: *mut gpumem_ctx, element_bytes: i64, ndim: i32, extents: *const i64, order: *const i32, src: *const c_void, src_strides: *const i64, dst: *mut c_void, dst_strides: *const i64) -> gpumem_status;
        pub fn gpumem_permute_async(ctx: *mut gpumem_ctx, element_bytes: i64, ndim: i32, extents: *const i64, order: *const i32, src: *const c_void, src_strides: *const i64, dst: *mut c_void, dst_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_sort(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, keys: *const c_void, n: i64, descending: i32, sorted: *mut c_void, order: *mut c_void, order_type: gpumem_dtype) -> gpumem_status;
        pub fn gpumem_sort_async(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, keys: *const c_void, n: i64, descending: i32, sorted: *mut c_void, order: *mut c_void, order_type: gpumem_dtype, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_sort_segments(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, keys: *const c_void, n: i64, offsets: *const i64, segments: i64, descending: i32, sorted: *mut c_void, order: *mut c_void, order_type: gpumem_dtype) -> gpumem_status;
        pub fn gpumem_sort_segments_async(ctx: *mut gpumem_ctx, dtype: gpumem_dtype, keys: *const c_void, n: i64, offsets: *const i64, segments: i64, descending: i32, sorted: *mut c_void, order: *mut c_void, order_type: gpumem_dtype, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_select(ctx: *mut gpumem_ctx, row_bytes: i64, src: *const c_void, src_pitch_bytes: i64, mask: *const u8, n: i64, dst: *mut c_void, dst_rows: i64, dst_pitch_bytes: i64, kept: *mut i64) -> gpumem_status;
        pub fn gpumem_select_async(ctx: *mut gpumem_ctx, row_bytes: i64, src: *const c_void, src_pitch_bytes: i64, mask: *const u8, n: i64, dst: *mut c_void, dst_rows: i64, dst_pitch_bytes: i64, kept: *mut i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_select_places(ctx: *mut gpumem_ctx, mask: *const u8, n: i64, index_type: gpumem_dtype, places: *mut c_void, places_n: i64, kept: *mut i64) -> gpumem_status;
        pub fn gpumem_select_places_async(ctx: *mut gpumem_ctx, mask: *const u8, n: i64, index_type: gpumem_dtype, places: *mut c_void, places_n: i64, kept: *mut i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_axpby_f32(ctx: *mut gpumem_ctx, alpha: f32, x: *const f32, beta: f32, y: *const f32, z: *mut f32, n: i64) -> gpumem_status;
        pub fn gpumem_axpby_f64(ctx: *mut gpumem_ctx, alpha: f64, x: *const f64, beta: f64, y: *const f64, z: *mut f64, n: i64) -> gpumem_status;
        pub fn gpumem_axpby_f32_async(ctx: *mut gpumem_ctx, alpha: f32, x: *const f32, beta: f32, y: *const f32, z: *mut f32, n: i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_axpby_f64_async(ctx: *mut gpumem_ctx, alpha: f64, x: *const f64, beta: f64, y: *const f64, z: *mut f64, n: i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_convert(ctx: *mut gpumem_ctx, src_type: gpumem_dtype, src: *const c_void, dst_type: gpumem_dtype, dst: *mut c_void, n: i64) -> gpumem_status;
        pub fn gpumem_convert_async(ctx: *mut gpumem_ctx, src_type: gpumem_dtype, src: *const c_void, dst_type: gpumem_dtype, dst: *mut c_void, n: i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_lincomb_f32(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f32, x: *const *const f32, x_strides: *const i64, z: *mut f32, z_strides: *const i64) -> gpumem_status;
        pub fn gpumem_lincomb_f64(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f64, x: *const *const f64, x_strides: *const i64, z: *mut f64, z_strides: *const i64) -> gpumem_status;
        pub fn gpumem_lincomb_f32_async(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f32, x: *const *const f32, x_strides: *const i64, z: *mut f32, z_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_lincomb_f64_async(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f64, x: *const *const f64, x_strides: *const i64, z: *mut f64, z_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_multiply_f32(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f32, x_strides: *const i64, y: *const f32, y_strides: *const i64, z: *mut f32, z_strides: *const i64) -> gpumem_status;
        pub fn gpumem_multiply_f64(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f64, x_strides: *const i64, y: *const f64, y_strides: *const i64, z: *mut f64, z_strides: *const i64) -> gpumem_status;
        pub fn gpumem_multiply_f32_async(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f32, x_strides: *const i64, y: *const f32, y_strides: *const i64, z: *mut f32, z_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_multiply_f64_async(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, x: *const f64, x_strides: *const i64, y: *const f64, y_strides: *const i64, z: *mut f64, z_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_lincomb_at_f32(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f32, numerators: *const *const f64, denominators: *const *const f64, x: *const *const f32, x_strides: *const i64, z: *mut f32, z_strides: *const i64) -> gpumem_status;
        pub fn gpumem_lincomb_at_f64(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f64, numerators: *const *const f64, denominators: *const *const f64, x: *const *const f64, x_strides: *const i64, z: *mut f64, z_strides: *const i64) -> gpumem_status;
        pub fn gpumem_lincomb_at_f32_async(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f32, numerators: *const *const f64, denominators: *const *const f64, x: *const *const f32, x_strides: *const i64, z: *mut f32, z_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_lincomb_at_f64_async(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f64, numerators: *const *const f64, denominators: *const *const f64, x: *const *const f64, x_strides: *const i64, z: *mut f64, z_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_lincomb_dot_f32(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f32, numerators: *const *const f64, denominators: *const *const f64, x: *const *const f32, x_strides: *const i64, z: *mut f32, z_strides: *const i64, dots: i32, w: *const *const f32, w_strides: *const i64, results: *mut f64) -> gpumem_status;
        pub fn gpumem_lincomb_dot_f64(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f64, numerators: *const *const f64, denominators: *const *const f64, x: *const *const f64, x_strides: *const i64, z: *mut f64, z_strides: *const i64, dots: i32, w: *const *const f64, w_strides: *const i64, results: *mut f64) -> gpumem_status;
        pub fn gpumem_lincomb_dot_f32_async(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f32, numerators: *const *const f64, denominators: *const *const f64, x: *const *const f32, x_strides: *const i64, z: *mut f32, z_strides: *const i64, dots: i32, w: *const *const f32, w_strides: *const i64, results: *mut f64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_lincomb_dot_f64_async(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, terms: i32, factors: *const f64, numerators: *const *const f64, denominators: *const *const f64, x: *const *const f64, x_strides: *const i64, z: *mut f64, z_strides: *const i64, dots: i32, w: *const *const f64, w_strides: *const i64, results: *mut f64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_map(ctx: *mut gpumem_ctx, op: gpumem_map_op, dtype: gpumem_dtype, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, y: *const c_void, y_strides: *const i64, z: *mut c_void, z_strides: *const i64) -> gpumem_status;
        pub fn gpumem_map_async(ctx: *mut gpumem_ctx, op: gpumem_map_op, dtype: gpumem_dtype, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, y: *const c_void, y_strides: *const i64, z: *mut c_void, z_strides: *const i64, status: *mut gpumem_status, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_compare(ctx: *mut gpumem_ctx, op: gpumem_compare_op, dtype: gpumem_dtype, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, y: *const c_void, y_strides: *const i64, mask: *mut u8, mask_strides: *const i64) -> gpumem_status;
        pub fn gpumem_compare_async(ctx: *mut gpumem_ctx, op: gpumem_compare_op, dtype: gpumem_dtype, ndim: i32, extents: *const i64, x: *const c_void, x_strides: *const i64, y: *const c_void, y_strides: *const i64, mask: *mut u8, mask_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_where(ctx: *mut gpumem_ctx, element_bytes: i64, ndim: i32, extents: *const i64, mask: *const u8, mask_strides: *const i64, x: *const c_void, x_strides: *const i64, y: *const c_void, y_strides: *const i64, z: *mut c_void, z_strides: *const i64) -> gpumem_status;
        pub fn gpumem_where_async(ctx: *mut gpumem_ctx, element_bytes: i64, ndim: i32, extents: *const i64, mask: *const u8, mask_strides: *const i64, x: *const c_void, x_strides: *const i64, y: *const c_void, y_strides: *const i64, z: *mut c_void, z_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_convert_scaled(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, src_type: gpumem_dtype, src: *const c_void, src_strides: *const i64, scale: *const f64, scale_strides: *const i64, offset: *const f64, offset_strides: *const i64, nan_value: f64, dst_type: gpumem_dtype, dst: *mut c_void, dst_strides: *const i64) -> gpumem_status;
        pub fn gpumem_convert_scaled_async(ctx: *mut gpumem_ctx, ndim: i32, extents: *const i64, src_type: gpumem_dtype, src: *const c_void, src_strides: *const i64, scale: *const f64, scale_strides: *const i64, offset: *const f64, offset_strides: *const i64, nan_value: f64, dst_type: gpumem_dtype, dst: *mut c_void, dst_strides: *const i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_resize_2d(ctx: *mut gpumem_ctx, filter: gpumem_filter, dtype: gpumem_dtype, channels: i32, src: *const c_void, src_rows: i64, src_cols: i64, src_pitch_bytes: i64, dst: *mut c_void, dst_rows: i64, dst_cols: i64, dst_pitch_bytes: i64) -> gpumem_status;
        pub fn gpumem_resize_2d_async(ctx: *mut gpumem_ctx, filter: gpumem_filter, dtype: gpumem_dtype, channels: i32, src: *const c_void, src_rows: i64, src_cols: i64, src_pitch_bytes: i64, dst: *mut c_void, dst_rows: i64, dst_cols: i64, dst_pitch_bytes: i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_resize_2d_batch(ctx: *mut gpumem_ctx, filter: gpumem_filter, dtype: gpumem_dtype, channels: i32, count: i64, src: *const *const c_void, src_rows: *const i64, src_cols: *const i64, src_pitch_bytes: *const i64, dst: *mut c_void, dst_rows: i64, dst_cols: i64, dst_pitch_bytes: i64, dst_image_stride_bytes: i64) -> gpumem_status;
        pub fn gpumem_resize_2d_batch_async(ctx: *mut gpumem_ctx, filter: gpumem_filter, dtype: gpumem_dtype, channels: i32, count: i64, src: *const *const c_void, src_rows: *const i64, src_cols: *const i64, src_pitch_bytes: *const i64, dst: *mut c_void, dst_rows: i64, dst_cols: i64, dst_pitch_bytes: i64, dst_image_stride_bytes: i64, stream: *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_variant_count(family: gpumem_family, count: *mut i32) -> gpumem_status;
        pub fn gpumem_variant_name(family: gpumem_family, index: i32, name: *mut *const c_char) -> gpumem_status;
        pub fn gpumem_variant_force(ctx: *mut gpumem_ctx, family: gpumem_family, name: *const c_char) -> gpumem_status;
        pub fn gpumem_explain(ctx: *mut gpumem_ctx, line: *const c_char, format: gpumem_format, buf: *mut c_char, cap: i64, needed: *mut i64) -> gpumem_status;
        pub fn gpumem_last_problem(buf: *mut c_char, cap: i64, needed: *mut i64) -> gpumem_status;
        pub fn gpumem_ceiling_info_init(info: *mut gpumem_ceiling_info, size: i64) -> gpumem_status;
        pub fn gpumem_ceiling(ctx: *mut gpumem_ctx, info: *mut gpumem_ceiling_info) -> gpumem_status;
        pub fn gpumem_profile_begin(ctx: *mut gpumem_ctx, most_records: i64) -> gpumem_status;
        pub fn gpumem_profile_end(ctx: *mut gpumem_ctx) -> gpumem_status;
        pub fn gpumem_profile_row_init(row: *mut gpumem_profile_row, size: i64) -> gpumem_status;
        pub fn gpumem_profile_report(ctx: *mut gpumem_ctx, rows: *mut gpumem_profile_row, cap: i64, needed: *mut i64) -> gpumem_status;
        pub fn gpumem_profile_write(ctx: *mut gpumem_ctx, format: gpumem_format, path: *const c_char) -> gpumem_status;
        pub fn gpumem_tune_options_init(options: *mut gpumem_tune_options, size: i64) -> gpumem_status;
        pub fn gpumem_tune_info_init(info: *mut gpumem_tune_info, size: i64) -> gpumem_status;
        pub fn gpumem_tune(ctx: *mut gpumem_ctx, line: *const c_char, options: *const gpumem_tune_options, info: *mut gpumem_tune_info) -> gpumem_status;
        pub fn gpumem_tuning_load(ctx: *mut gpumem_ctx, path: *const c_char, taken: *mut i64, skipped: *mut i64) -> gpumem_status;
        pub fn gpumem_tuning_save(ctx: *mut gpumem_ctx, path: *const c_char) -> gpumem_status;
        pub fn gpumem_tuning_clear(ctx: *mut gpumem_ctx) -> gpumem_status;
        pub fn gpumem_dist_transport_init(transport: *mut gpumem_dist_transport, size: i64) -> gpumem_status;
        pub fn gpumem_dist_options_init(options: *mut gpumem_dist_options, size: i64) -> gpumem_status;
        pub fn gpumem_dist_info_init(info: *mut gpumem_dist_info, size: i64) -> gpumem_status;
        pub fn gpumem_dist_layout_init(layout: *mut gpumem_dist_layout, size: i64) -> gpumem_status;
        pub fn gpumem_dist_plan_options_init(options: *mut gpumem_dist_plan_options, size: i64) -> gpumem_status;
        pub fn gpumem_dist_create(options: *const gpumem_dist_options, dist: *mut *mut gpumem_dist) -> gpumem_status;
        pub fn gpumem_dist_query(dist: *mut gpumem_dist, info: *mut gpumem_dist_info) -> gpumem_status;
        pub fn gpumem_dist_abort(dist: *mut gpumem_dist) -> gpumem_status;
        pub fn gpumem_dist_destroy(dist: *mut gpumem_dist) -> gpumem_status;
        pub fn gpumem_dist_plan_redistribute(dist: *mut gpumem_dist, src: *const gpumem_dist_layout, dst: *const gpumem_dist_layout, order: *const i32, options: *const gpumem_dist_plan_options, plan: *mut *mut gpumem_dist_plan) -> gpumem_status;
        pub fn gpumem_dist_plan_halo(dist: *mut gpumem_dist, layout: *const gpumem_dist_layout, low: *const i64, high: *const i64, periodic: *const i32, options: *const gpumem_dist_plan_options, plan: *mut *mut gpumem_dist_plan) -> gpumem_status;
        pub fn gpumem_dist_plan_reduce(dist: *mut gpumem_dist, layout: *const gpumem_dist_layout, options: *const gpumem_dist_plan_options, plan: *mut *mut gpumem_dist_plan) -> gpumem_status;
        pub fn gpumem_dist_execute(plan: *mut gpumem_dist_plan, src: *const *const c_void, dst: *const *mut c_void) -> gpumem_status;
        pub fn gpumem_dist_execute_async(plan: *mut gpumem_dist_plan, src: *const *const c_void, dst: *const *mut c_void, streams: *const *mut gpumem_stream) -> gpumem_status;
        pub fn gpumem_dist_reduce(plan: *mut gpumem_dist_plan, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const *const c_void, result: *mut c_void) -> gpumem_status;
        pub fn gpumem_dist_argreduce(plan: *mut gpumem_dist_plan, dtype: gpumem_dtype, op: gpumem_reduce_op, x: *const *const c_void, value: *mut c_void, index: *mut i64) -> gpumem_status;
        pub fn gpumem_dist_dot(plan: *mut gpumem_dist_plan, dtype: gpumem_dtype, x: *const *const c_void, y: *const *const c_void, result: *mut f64) -> gpumem_status;
        pub fn gpumem_dist_nrm2(plan: *mut gpumem_dist_plan, dtype: gpumem_dtype, x: *const *const c_void, result: *mut f64) -> gpumem_status;
        pub fn gpumem_dist_dot_order_free(plan: *mut gpumem_dist_plan, dtype: gpumem_dtype, x: *const *const c_void, y: *const *const c_void, result: *mut f64) -> gpumem_status;
        pub fn gpumem_dist_explain(plan: *mut gpumem_dist_plan, format: gpumem_format, buf: *mut c_char, cap: i64, needed: *mut i64) -> gpumem_status;
        pub fn gpumem_dist_plan_destroy(plan: *mut gpumem_dist_plan) -> gpumem_status;
    }
}
