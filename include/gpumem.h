/* SPDX-License-Identifier: Apache-2.0
 *
 * gpumem: the memory side of a GPU, for programs that contain no CUDA code.
 *
 * This header is the whole contract. It includes only <stdint.h>. It compiles as C99 to C23 and as C++11 to C++23.
 * The common rules below hold for every function, unless its own text says otherwise.
 *
 * Status      Functions return a gpumem_status; 0 is success. After a failure, gpumem_last_error() gives an error
 *             message. It names the argument, the given value and the expected value. Control characters and bytes
 *             that are not UTF-8 appear in messages as \xNN or \uNNNN. If a call fails before its first write, every
 *             output keeps its value (but see Outputs). If a device reports a fault later, outputs are undefined.
 * Pointers    Operands (x, y, z, src, dst, p) may point to any kind of memory: pageable (heap or stack), pinned,
 *             device, managed, or CUDA memory of another library. Handles, structs, strings, counts and other
 *             out-parameters are ordinary host memory. Those pointers may not be NULL unless the text says so.
 * Placement   The operands decide where an operation runs. On a host context it runs on the host. Otherwise it runs
 *             on the host for pageable and pinned memory, and on the device for device and managed memory. If the
 *             operands differ, the output decides. A blocking call first copies the other operands there. An
 *             asynchronous call returns GPUMEM_UNSUPPORTED instead. gpumem_explain() reports the place and the
 *             reason.
 * Ranges      A range must stay inside its allocation, if the library or the driver knows it. A range of the
 *             program's memory must not reach into gpumem's. Both are GPUMEM_OUT_OF_RANGE. For other host memory the
 *             library asks the system whether it is accessible. GPUMEM_OUT_OF_RANGE means that the last byte is not,
 *             GPUMEM_INVALID_POINTER that another byte is not. Pages that fall entirely into padding need not exist.
 *             A missing part no longer than the widest padding is therefore not detected: the caller guarantees that
 *             no element is in it.
 * Sizes       All sizes are int64_t. Counts and strides are in elements. Names that end in _bytes are in bytes.
 *             Negative sizes and products that overflow int64_t are GPUMEM_INVALID_ARGUMENT.
 * Empty       An operation without elements does nothing. Its operands may then be NULL.
 * Padding     Operands may have any alignment. Padding between the rows or elements of an output is not written.
 * Blocking    Many functions have two forms. The form without _async is a blocking call. It runs in the order of the
 *             context's own stream and is complete on return. The form with _async is an asynchronous call. It only
 *             enqueues its work on the given stream. A NULL stream is the context's own. Only events order different
 *             streams. Before any call, also a blocking one, wait for data that another stream still writes. Operands
 *             of an asynchronous call stay valid, and its inputs unchanged, until the stream has passed it.
 * Outputs     An out-parameter for a handle or for memory is NULL after a failure. Destroying or freeing NULL does
 *             nothing.
 * Texts       A function with buf, cap and needed writes at most cap bytes, with a final NUL. It cuts a longer text.
 *             buf may be NULL if cap is 0. needed may be NULL. It receives the bytes of the whole text with its NUL.
 * Structs     Every struct begins with struct_size and grows only at its end. Fill it with its _init function. Pass
 *             sizeof(the struct) as size. The library reads and writes no byte past that size.
 * Floats      Subnormals count in full. The caller's floating-point environment does not affect results.
 * Threads     You may call every function from any thread, also on one shared context. Do not destroy an object that
 *             another thread still uses. If the object is a stream of the host backend, the other thread's call
 *             returns GPUMEM_INVALID_HANDLE. The caller's current CUDA device stays the same.
 * fork        In a child process, handles made before the fork give GPUMEM_FORKED. The child may make its own, but only
 *             on the host if the parent used CUDA. Other threads of the parent may be inside the library during the
 *             fork. No call in the child waits for them.
 * Capture     CUDA graph captures stay valid, on any stream and of any thread. A call either works or is refused.
 *             Only the allocators for PyTorch and CuPy may end a capture. An asynchronous call on a stream under
 *             capture accepts only data of the device, and becomes part of the graph. Copies also accept pinned
 *             memory on one side.
 * Reset       cudaDeviceReset() and the release of the device's primary context destroy everything that a context has
 *             there. Calls on the context then give GPUMEM_DEVICE_FAULT. You can only destroy the context and its
 *             objects. A context made afterwards works. Nothing may use the device during the reset.
 * Signals     The library installs no signal handlers. Its own threads block all signals but SIGSEGV, SIGBUS, SIGFPE,
 *             SIGILL, SIGTRAP and SIGSYS.
 * Cancel      No function is a cancellation point of POSIX threads. If a thread is cancelled with the deferred type,
 *             it first completes its call. The program's callbacks inside the call cannot be cancelled either.
 * errno       No function changes errno, or the thread's signal mask, affinity, locale or floating-point environment.
 *             Floating-point exceptions do not trap inside a call or in threads that the library starts.
 * Stack       A call uses at most 16 KiB of its thread's stack, plus the CUDA driver's own use. The same bound holds
 *             for a task in the program's own pool. The library has 12 KiB of thread-local data. The C library may
 *             place them on a thread's stack. If gpumem is loaded at program start, PTHREAD_STACK_MIN is too little
 *             for pthread_create().
 * Copies      Two copies of the library in one process do not accept each other's handles.
 * Since       Every function exists since version 0.1.0, unless its text says otherwise.
 *
 * "Errors" lists the statuses of a function, without the GPUMEM_ prefix. Every function can also return OK,
 * INVALID_ARGUMENT (NULL, negative or unknown values), INVALID_HANDLE, FORKED, OUT_OF_MEMORY and INTERNAL. Functions
 * that reach a CUDA device can return DEVICE_FAULT and DRIVER_ERROR.
 *
 * The operations are the functions of the sections movement, reduce, rearrange, elementwise and images. They share
 * these errors:
 *   INVALID_POINTER, OUT_OF_RANGE: for an operand.
 *   INVALID_ARGUMENT: operands overlap, and the text does not allow it.
 *   UNSUPPORTED: device memory on a host context.
 *   UNSUPPORTED: memory of another device than the context's (copies accept it).
 *   UNSUPPORTED: operands of an asynchronous call on both sides, see Placement.
 *   UNSUPPORTED: the overriding variant does not fit, see gpumem_variant_force().
 *   CAPTURING: a blocking call while the context's own stream is under capture.
 *   CAPTURING: an asynchronous call on a stream under capture with operands in host memory.
 *
 * Two operands overlap if their ranges meet. A range reaches from the first byte of an operand to its last, with all
 * padding. As an exception, an operand may be in the padding of another, as different columns of one matrix and
 * different fields of an array of structures are. An operand consists of runs: bytes without padding, such as a row of
 * a matrix. Let g be the greatest common divisor of the strides between runs, of both operands, in bytes. The two do
 * not overlap if no byte of one operand has the address of a byte of the other, modulo g. */
#ifndef GPUMEM_H
#define GPUMEM_H

#include <stdint.h>

#if defined(__GNUC__)
#define GPUMEM_API __attribute__((visibility("default")))
#else
#define GPUMEM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------ constants, types */

/* The version of this header. gpumem_version() returns the library's. */
enum { GPUMEM_VERSION_MAJOR = 0, GPUMEM_VERSION_MINOR = 1, GPUMEM_VERSION_PATCH = 0 };

/* 1-99: the caller's mistake. 100-199: a resource ran out. 200-299: device or driver. 900: a defect of the library. */
typedef int32_t gpumem_status;
enum {
  GPUMEM_OK = 0,
  GPUMEM_INVALID_ARGUMENT = 1, /* NULL, negative, unknown value, overflowing product, misused argument */
  GPUMEM_INVALID_HANDLE = 2,   /* not a live handle of the expected type: destroyed, foreign or garbage */
  GPUMEM_INVALID_POINTER = 3,  /* freed, unreadable, or not of the kind that the function needs */
  GPUMEM_OUT_OF_RANGE = 4,     /* a range past its allocation, an index past its matrix, an integer divided by 0 */
  GPUMEM_EMPTY = 5,            /* no elements, for an operation that needs one (minimum of n == 0) */
  GPUMEM_OVERFLOW = 6,         /* the exact result does not fit its type */
  GPUMEM_UNSUPPORTED = 7,      /* valid, but not possible on this device, backend or version */
  GPUMEM_BUSY = 8,             /* objects that depend on this one are alive */
  GPUMEM_NOT_READY = 9,        /* enqueued work is still running; not a failure */
  GPUMEM_NOT_FOUND = 10,       /* the variant or device does not exist */
  GPUMEM_CAPTURING = 11,       /* can't run on a stream under graph capture; the capture is still valid */
  GPUMEM_FORKED = 12,          /* the handle was made in the parent process */
  GPUMEM_CORRUPTED = 13,       /* debug mode: a write around an allocation or into freed memory */
  GPUMEM_OUT_OF_MEMORY = 100,
  GPUMEM_OUT_OF_RESOURCES = 101, /* threads, handles, mappings */
  GPUMEM_FILE_ERROR = 102,       /* a file can't be opened, read or written */
  GPUMEM_NO_DEVICE = 200,        /* the driver works, but it has no usable device */
  GPUMEM_NO_DRIVER = 201,
  GPUMEM_DRIVER_TOO_OLD = 202,
  GPUMEM_DEVICE_FAULT = 203, /* the device's context was lost or reset; persistent for every gpumem_ctx on it */
  GPUMEM_DRIVER_ERROR = 204, /* any other CUDA failure; the error message has CUDA's name or text for it */
  GPUMEM_NOT_BUILT = 205,    /* this build of the library has no CUDA backend */
  GPUMEM_PEER_LOST = 206,    /* another process of a gpumem_dist failed, or the transport to it failed */
  GPUMEM_TIMED_OUT = 207,    /* another process of a gpumem_dist was silent for too long */
  GPUMEM_INTERNAL = 900
};

typedef int32_t gpumem_backend;
enum { GPUMEM_BACKEND_HOST = 0, GPUMEM_BACKEND_CUDA = 1 };

/* A device is a CUDA ordinal >= 0 or one of these. */
enum {
  GPUMEM_DEVICE_HOST = -1, /* the host backend */
  GPUMEM_DEVICE_BEST = -2, /* the caller's current CUDA device, else the first visible one, else the host */
  GPUMEM_DEVICE_CUDA = -3, /* as BEST, but an error status instead of the host */
  GPUMEM_DEVICE_NONE = -4  /* no device; only an output */
};

/* Element types. A function's name or text says which it accepts. */
typedef int32_t gpumem_dtype;
enum {
  GPUMEM_I8 = 0,
  GPUMEM_U8 = 1,
  GPUMEM_I16 = 2,
  GPUMEM_U16 = 3,
  GPUMEM_I32 = 4,
  GPUMEM_U32 = 5,
  GPUMEM_I64 = 6,
  GPUMEM_U64 = 7,
  GPUMEM_F16 = 8,
  GPUMEM_BF16 = 9,
  GPUMEM_F32 = 10,
  GPUMEM_F64 = 11
};

typedef int32_t gpumem_reduce_op;
enum {
  GPUMEM_SUM = 0,
  GPUMEM_MIN = 1,
  GPUMEM_MAX = 2,
  GPUMEM_SUM_ABS = 3,     /* sum of |x| */
  GPUMEM_SUM_SQUARES = 4, /* sum of x*x */
  GPUMEM_SUM_CUBES = 5,   /* sum of x*x*x */
  GPUMEM_MAX_ABS = 6,     /* largest |x| */
  GPUMEM_MIN_MAX = 7,     /* both in one pass: two results, the minimum first */
  /* f64 only: compensated sum, which carries the rounding error of every addition */
  GPUMEM_SUM_COMPENSATED = 8,
  /* Only in operation descriptors: gpumem_argreduce*(), gpumem_dot_*() and gpumem_nrm2_*(). No function takes them. */
  GPUMEM_ARG_MIN = 16,
  GPUMEM_ARG_MAX = 17,
  GPUMEM_DOT = 18,
  GPUMEM_NRM2 = 19,
  GPUMEM_ARG_MAX_ABS = 20,
  GPUMEM_PROD = 21, /* product of x, for the functions that take GPUMEM_SUM */
  /* For floating-point types: the elements that are not NaN. */
  GPUMEM_SUM_VALID = 22,
  GPUMEM_COUNT_VALID = 23, /* their number */
  GPUMEM_MIN_VALID = 24,
  GPUMEM_MAX_VALID = 25,
  /* Only in operation descriptors, as 16 to 20. */
  GPUMEM_ARG_MIN_VALID = 26,
  GPUMEM_ARG_MAX_VALID = 27,
  /* For floating-point types: sums that no order of the elements changes. */
  GPUMEM_SUM_ORDER_FREE = 28,
  GPUMEM_NRM2_ORDER_FREE = 29, /* f32 and f64: the root of the order-free sum of x*x */
  /* Only in operation descriptors: gpumem_dot_order_free(). */
  GPUMEM_DOT_ORDER_FREE = 30
};

/* Which lines of a matrix gpumem_reduce_axis() and gpumem_argreduce_axis() reduce, each to one result. */
typedef int32_t gpumem_axis;
enum {
  GPUMEM_AXIS_ROWS = 0, /* one result per row */
  GPUMEM_AXIS_COLS = 1  /* one result per column */
};

typedef int32_t gpumem_memory_kind;
enum {
  GPUMEM_MEMORY_PAGEABLE = 0, /* ordinary host memory */
  GPUMEM_MEMORY_PINNED = 1,   /* page-locked host memory */
  GPUMEM_MEMORY_DEVICE = 2,
  GPUMEM_MEMORY_MANAGED = 3 /* unified memory: one address on host and device */
};

/* Hints for managed memory, as for cudaMemAdvise. UNSET takes a hint back. */
typedef int32_t gpumem_advice;
enum {
  GPUMEM_ADVISE_READ_MOSTLY = 1,
  GPUMEM_ADVISE_UNSET_READ_MOSTLY = 2,
  GPUMEM_ADVISE_PREFERRED_LOCATION = 3,
  GPUMEM_ADVISE_UNSET_PREFERRED_LOCATION = 4,
  GPUMEM_ADVISE_ACCESSED_BY = 5,
  GPUMEM_ADVISE_UNSET_ACCESSED_BY = 6
};

/* An operation that has several variants (implementations) with the same result. */
typedef int32_t gpumem_family;
enum {
  GPUMEM_FAMILY_REDUCE = 1,
  GPUMEM_FAMILY_TRANSPOSE = 2,
  GPUMEM_FAMILY_FILL = 3,
  GPUMEM_FAMILY_REDUCE_AXIS = 4,
  GPUMEM_FAMILY_REDUCE_SEGMENTS = 5,
  GPUMEM_FAMILY_COPY = 6,
  GPUMEM_FAMILY_AXPBY = 7,
  GPUMEM_FAMILY_GATHER = 8,
  GPUMEM_FAMILY_SCATTER = 9,
  GPUMEM_FAMILY_PERMUTE = 10,
  GPUMEM_FAMILY_RESIZE = 11,
  GPUMEM_FAMILY_CONVERT = 12,
  GPUMEM_FAMILY_ARITHMETIC = 13, /* gpumem_lincomb, gpumem_multiply */
  GPUMEM_FAMILY_MAP = 14,        /* gpumem_map, gpumem_compare, gpumem_where, gpumem_convert_scaled */
  GPUMEM_FAMILY_SCAN = 15,
  GPUMEM_FAMILY_SORT = 16,
  GPUMEM_FAMILY_SELECT = 17,
  GPUMEM_FAMILY_REDUCE_BY_INDEX = 18,
  GPUMEM_FAMILY_COPY_BOXES = 19
};

/* Elementwise functions of gpumem_map(). Those of one operand come first. */
typedef int32_t gpumem_map_op;
enum {
  GPUMEM_MAP_NEGATE = 0,
  GPUMEM_MAP_ABSOLUTE = 1,
  GPUMEM_MAP_RECIPROCAL = 2,  /* floating point only */
  GPUMEM_MAP_SQUARE_ROOT = 3, /* floating point only */
  GPUMEM_MAP_FLOOR = 4,
  GPUMEM_MAP_CEIL = 5,
  GPUMEM_MAP_TRUNCATE = 6, /* toward 0 */
  GPUMEM_MAP_ROUND = 7,    /* to the nearest integer, ties to even */
  GPUMEM_MAP_NOT = 8,      /* bitwise; integers only */
  GPUMEM_MAP_ADD = 16,
  GPUMEM_MAP_SUBTRACT = 17,
  GPUMEM_MAP_MULTIPLY = 18,
  GPUMEM_MAP_DIVIDE = 19,
  GPUMEM_MAP_REMAINDER = 20, /* integers only */
  GPUMEM_MAP_MINIMUM = 21,
  GPUMEM_MAP_MAXIMUM = 22,
  GPUMEM_MAP_COPY_SIGN = 23, /* floating point only */
  GPUMEM_MAP_AND = 24,       /* bitwise; integers only, as the next ones */
  GPUMEM_MAP_OR = 25,
  GPUMEM_MAP_XOR = 26,
  GPUMEM_MAP_SHIFT_LEFT = 27,
  GPUMEM_MAP_SHIFT_RIGHT = 28 /* of signed types: keeps the sign */
};

typedef int32_t gpumem_compare_op;
enum {
  GPUMEM_LESS = 0,
  GPUMEM_LESS_EQUAL = 1,
  GPUMEM_EQUAL = 2,
  GPUMEM_NOT_EQUAL = 3,
  GPUMEM_GREATER_EQUAL = 4,
  GPUMEM_GREATER = 5
};

/* How gpumem_resize_2d() computes a value between pixels. */
typedef int32_t gpumem_filter;
enum { GPUMEM_FILTER_NEAREST = 0, GPUMEM_FILTER_BILINEAR = 1 };

typedef int32_t gpumem_format;
enum {
  GPUMEM_FORMAT_TEXT = 0,
  GPUMEM_FORMAT_JSON = 1,
  GPUMEM_FORMAT_CSV = 2,  /* for profiles */
  GPUMEM_FORMAT_TRACE = 3 /* for profiles: Chrome's trace events, as JSON */
};

typedef int32_t gpumem_log_level;
enum { GPUMEM_LOG_ERROR = 1, GPUMEM_LOG_WARNING = 2, GPUMEM_LOG_INFO = 3 };

/* Handles are incomplete types. The library never dereferences them, and checks them on every call. */
typedef struct gpumem_ctx gpumem_ctx;
typedef struct gpumem_stream gpumem_stream;
typedef struct gpumem_event gpumem_event;
typedef struct gpumem_dist gpumem_dist;
typedef struct gpumem_dist_plan gpumem_dist_plan;

/* Receives log messages. The library calls it from its own threads and from the caller's, one call at a time per
 * context. The callback must not call the library with that context. `message` is valid only during the call. */
typedef void (*gpumem_log_fn)(void *user, gpumem_log_level level, const char *message);

/* The program's own thread pool. It calls task(task_state, i) once for each i in [0, tasks), on any threads. It
 * returns when all these calls have returned. It must work when several threads call it at once. It may throw nothing
 * and call no CUDA function, because the library may call it inside a stream's host function. task never throws.
 * Results stay correct if the pool breaks these rules. The calling thread runs the tasks that were left out, and
 * waits for those that still run elsewhere. A task that is called twice runs once. An i outside the range does
 * nothing. task_state stays valid forever, so a late call of task is harmless. */
typedef void (*gpumem_task_fn)(void *task_state, int64_t index);
typedef void (*gpumem_parallel_for_fn)(void *user, int64_t tasks, gpumem_task_fn task, void *task_state);

/* Reports the progress of a long call, from 0 to 1. The library calls it in the calling thread. It may not call the
 * library with the same context. It returns 0 to continue, and any other value to stop the call. */
typedef int32_t (*gpumem_progress_fn)(void *user, double done);

/* Structs: see the common rules. A member named reserved is 0. */

typedef struct gpumem_ctx_options {
  int64_t struct_size;
  int32_t device;       /* GPUMEM_DEVICE_* or an ordinal; default GPUMEM_DEVICE_BEST */
  int32_t host_threads; /* of the host backend, with the caller's, at most 1024; default 0: from affinity and cgroup */
  /* 1: the context's own CUDA stream is not ordered with the legacy default stream; default 0 */
  int32_t non_blocking_stream;
  int32_t reserved0;                   /* 0 */
  gpumem_parallel_for_fn parallel_for; /* the program's pool, or NULL (default) for the library's */
  void *parallel_for_user;
  /* 1: on a CUDA context, blocking gpumem_reduce_*, argreduce_* and nrm2_* of contiguous host memory (stride 1) run on
   * the device. The data moves there in pieces. The bits are the same. Default 0: these calls run on the host. */
  int32_t stream_host_data;
  int32_t reserved1; /* 0 */
  /* The most bytes of device memory that the context's pool holds at a time: allocations, memory kept for reuse, and
   * copies that blocking calls make of operands. Scratch memory of kernels does not count. Default 0: all memory. */
  int64_t device_memory_limit;
  /* The most bytes of freed pinned memory that stay for reuse. 0: none. Default -1: an eighth of the host's memory
   * (memory_bytes of GPUMEM_DEVICE_HOST), at most 4 GiB. */
  int64_t pinned_memory_kept;
  /* 1: debug mode, see gpumem_memory_check(). Default 0: debug mode only if GPUMEM_DEBUG is 1 in the environment. */
  int32_t debug_memory;
  int32_t reserved2; /* 0 */
  /* 1: a host context refuses asynchronous calls that a CUDA context would refuse, with the same status, if the reason
   * is the location of operands: results in pageable memory, or operands on both sides. Memory of
   * gpumem_alloc_device(), gpumem_alloc_async() and gpumem_alloc_managed() then counts as the device's. Default 0:
   * these calls run. No effect on a CUDA context. */
  int32_t strict_host;
  int32_t reserved3; /* 0 */
} gpumem_ctx_options;

typedef struct gpumem_device_info {
  int64_t struct_size;
  gpumem_backend backend;
  int32_t device;            /* GPUMEM_DEVICE_HOST or the CUDA ordinal */
  gpumem_status reason_code; /* why BEST is the host: the status from CUDA; else 0 */
  int32_t compute_major;     /* compute capability; 0 on the host */
  int32_t compute_minor;
  int32_t multiprocessors;       /* SMs; on the host, the threads that share the work */
  int32_t driver_version;        /* as CUDA counts: 1000 * major + 10 * minor; 0 on the host */
  int32_t managed_memory;        /* 1: gpumem_alloc_managed works */
  int32_t concurrent_managed;    /* 1: prefetch and advice work */
  int32_t pageable_access;       /* 1: kernels can read ordinary host memory */
  int64_t memory_bytes;          /* of the device; of the host, at most what its control groups allow */
  int64_t l2_bytes;              /* L2 of the device; last-level cache of the host, 0 if unknown */
  int64_t bandwidth_bytes_per_s; /* theoretical: 2 x memory clock x bus width; 0 if unknown */
  char name[128];
  char reason[256]; /* why this device was chosen, as text */
} gpumem_device_info;

typedef struct gpumem_pointer_info {
  int64_t struct_size;
  gpumem_memory_kind kind;
  int32_t device; /* location: a CUDA ordinal or GPUMEM_DEVICE_HOST; for managed memory, its owner */
  int32_t ours;   /* 1: allocated by gpumem */
  int32_t reserved0;
  int64_t size_bytes;   /* of the allocation; 0 if unknown */
  int64_t offset_bytes; /* of the pointer in its allocation; 0 if unknown */
  const void *base;     /* start of the allocation; NULL if unknown */
} gpumem_pointer_info;

typedef struct gpumem_managed_info {
  int64_t struct_size;
  int64_t host_bytes;         /* bytes of the range in host memory: the host reads them without a fault */
  int32_t last_prefetch;      /* destination: a CUDA ordinal, GPUMEM_DEVICE_HOST or GPUMEM_DEVICE_NONE */
  int32_t preferred_location; /* by advice; the same values */
  int32_t read_mostly;        /* 1: by advice */
  int32_t accessed_by;        /* 1: by advice, for the context's device */
} gpumem_managed_info;

typedef struct gpumem_memory_stats_info {
  int64_t struct_size;
  int64_t device_bytes; /* live, as requested */
  int64_t device_blocks;
  int64_t device_peak_bytes; /* high-water mark of device_bytes */
  int64_t pinned_bytes;
  int64_t pinned_blocks;
  int64_t pinned_peak_bytes;
  int64_t managed_bytes;
  int64_t managed_blocks;
  int64_t managed_peak_bytes;
  int64_t allocations; /* successful, of all kinds, since the context was created */
  int64_t frees;
  /* Taken from the device or the system: live, kept for reuse and lost to rounding. With high-water marks. */
  int64_t device_reserved_bytes;
  int64_t device_reserved_peak_bytes;
  int64_t pinned_reserved_bytes;
  int64_t pinned_reserved_peak_bytes;
  int64_t device_allocations; /* successful, per kind */
  int64_t pinned_allocations;
  int64_t managed_allocations;
  int64_t device_hits; /* hits needed no new memory, misses did */
  int64_t device_misses;
  int64_t pinned_hits;
  int64_t pinned_misses;
  int64_t registered_bytes; /* the program's memory that is registered now */
  int64_t registered_ranges;
} gpumem_memory_stats_info;

/* Bandwidths, in bytes per second. */
typedef struct gpumem_ceiling_info {
  int64_t struct_size;
  int64_t read;
  int64_t write;
  int64_t copy;        /* within the memory: bytes read plus bytes written */
  int64_t to_device;   /* from pinned memory; 0 on a host context */
  int64_t from_device; /* to pinned memory; 0 on a host context */
  int64_t theoretical; /* bandwidth_bytes_per_s of the device; 0 if unknown */
} gpumem_ceiling_info;

/* The calls of one problem by one variant. The last rows of a report hold all calls between two kinds of memory
 * instead. */
typedef struct gpumem_profile_row {
  int64_t struct_size;
  int64_t calls;
  int64_t timed;         /* calls with a known time: done, and not captured into a graph */
  int64_t bytes;         /* read and written; between host and device, the bytes that were transferred */
  double median_s;       /* seconds per call; 0 if none is timed, and for kinds of memory */
  double total_s;        /* of the timed calls */
  double bytes_per_s;    /* of the timed calls */
  double of_theoretical; /* bytes_per_s as a share of the memory's theoretical bandwidth; 0 if unknown */
  double of_ceiling;  /* as a share of the peak from gpumem_ceiling(); 0: not measured, or caches may hold half of it */
  double flops_per_s; /* of axpby, linear combinations and dot, from the median; else 0 */
  char variant[64];   /* "" for kinds of memory */
  char problem[512];  /* the operation descriptor, or "pageable to device"; cut if longer */
} gpumem_profile_row;

typedef struct gpumem_tune_options {
  int64_t struct_size;
  double budget_s;             /* about how long the timing may take, plus a few runs of each variant; default 2 */
  gpumem_progress_fn progress; /* or NULL (default) */
  void *user;
} gpumem_tune_options;

typedef struct gpumem_tune_info {
  int64_t struct_size;
  int32_t adopted;    /* 1: similar problems use `winner` from now on; 0: the table's choice */
  int32_t candidates; /* variants compared with the table's choice */
  double table_s;     /* median seconds of the table's choice */
  double winner_s;    /* median seconds of the fastest other variant */
  double ratio;       /* table_s / winner_s */
  double spread;      /* the larger relative interquartile range of the two */
  char table[64];     /* the table's choice */
  char winner[64];    /* the fastest other variant; the table's choice if no other exists */
  char reason[128];   /* why it was adopted, or not */
} gpumem_tune_info;

/* Functions for messages between the processes of a gpumem_dist. The program supplies them, or bindings/mpi does for
 * MPI. The library calls them one at a time, in the thread that calls the library. For gpumem_dist_execute_async(), it
 * also calls them in threads of its own. They return 0, or any other value on failure. Messages from one process to
 * another arrive in the order of their sending.
 *
 * send        Starts to send 1 to 2^30 bytes of ordinary host memory. The memory stays unchanged until test reports
 *             the end.
 * receive     Starts to receive, under the same rules. The message may be shorter than `bytes`. A longer one occurs
 *             if processes are in different calls. The receiver's test then fails, and writes nothing past the end.
 * test        Sets *done = 1 if the request has ended. The library then does not test it again. test also makes
 *             progress.
 * release     The library calls nothing after it. Requests that never ended may still write to their memory. */
typedef int32_t (*gpumem_dist_send_fn)(void *user, const void *p, int64_t bytes, int32_t to, void **request);
typedef int32_t (*gpumem_dist_receive_fn)(void *user, void *p, int64_t bytes, int32_t from, void **request);
typedef int32_t (*gpumem_dist_test_fn)(void *user, void *request, int32_t *done);
typedef void (*gpumem_dist_release_fn)(void *user);

typedef struct gpumem_dist_transport {
  int64_t struct_size;
  void *user;   /* first argument of each function */
  int32_t rank; /* of this process, 0 to size - 1 */
  int32_t size; /* processes */
  gpumem_dist_send_fn isend;
  gpumem_dist_receive_fn irecv;
  gpumem_dist_test_fn test;
  gpumem_dist_release_fn release; /* or NULL */
} gpumem_dist_transport;

typedef struct gpumem_dist_options {
  int64_t struct_size;
  gpumem_ctx *const *contexts;            /* of this process's participants; a context may serve several */
  int32_t members;                        /* participants of this process, 1 or more */
  int32_t reserved0;                      /* 0 */
  const gpumem_dist_transport *transport; /* NULL (default): only these participants exist */
  double deadline_s;                      /* seconds without a message until a call gives up; default 60 */
} gpumem_dist_options;

typedef struct gpumem_dist_info {
  int64_t struct_size;
  int32_t rank;         /* of this process, 0 to size - 1 */
  int32_t size;         /* processes */
  int32_t first_member; /* index of this process's first participant among all */
  int32_t members;      /* participants of this process */
  int32_t all_members;
  gpumem_status status; /* GPUMEM_OK, or the persistent error */
  int32_t staged_pairs; /* pairs of this process's participants that stage pieces; the others use peer reads */
  int32_t reserved0;
} gpumem_dist_info;

/* One process's view of an array that is distributed over the participants in boxes (rectangular subarrays). It
 * describes the whole array and the boxes of this process's own participants. Here `rank` is the number of axes. */
typedef struct gpumem_dist_layout {
  int64_t struct_size;
  int64_t element_bytes;  /* 1, 2, 4, 8 or 16 */
  int32_t rank;           /* number of axes, 1 to 8 */
  int32_t reserved0;      /* 0 */
  const int64_t *extents; /* of the whole array, one per axis; the last axis is the fastest */
  int64_t boxes;          /* 0 or more; a participant may have any number */
  const int32_t *members; /* the owner of each box, 0 to members - 1; NULL: participant i owns box i */
  const int64_t *lower;   /* boxes x rank: the index of each box's first element */
  const int64_t *upper;   /* boxes x rank: one past its last; a box may be empty */
  const int64_t *offsets; /* per box: elements from the participant's pointer to the box's first; NULL: 0 */
  const int64_t *strides; /* boxes x rank, in elements, 1 or more; unused for an axis of one element and in an
                             empty box; NULL: each box row-major without padding */
} gpumem_dist_layout;

typedef struct gpumem_dist_plan_options {
  int64_t struct_size;
  int64_t workspace_bytes; /* bound per process for messages and for managed memory that another device reads,
                              and per participant for peer reads; default 256 MiB, at least 4 KiB */
} gpumem_dist_plan_options;

/* ---------------------------------------------------------------------------------------------------------- library */

/* Returns the library's version. Any of the three may be NULL. Cannot fail. */
GPUMEM_API gpumem_status gpumem_version(int32_t *major, int32_t *minor, int32_t *patch);

/* Returns the name of a status, for example "GPUMEM_OUT_OF_MEMORY". For any other value it returns
 * "GPUMEM_UNKNOWN_STATUS". The name is static and never NULL. */
GPUMEM_API const char *gpumem_status_name(gpumem_status status);

/* Copies the error message of this thread's last failed call, "" if none failed yet. A successful call does not
 * change the message. Neither does this function. The common rule Texts applies. */
GPUMEM_API gpumem_status gpumem_last_error(char *buf, int64_t cap, int64_t *needed);

/* Counts the CUDA devices that this process can use. Without a driver or a device the count is 0, and the call
 * succeeds. The host always exists and is not counted. */
GPUMEM_API gpumem_status gpumem_device_count(int32_t *count);

GPUMEM_API gpumem_status gpumem_device_info_init(gpumem_device_info *info, int64_t size);

/* Describes a device without a context. device is an ordinal, GPUMEM_DEVICE_HOST, GPUMEM_DEVICE_BEST or
 * GPUMEM_DEVICE_CUDA. For BEST it describes the device that a context would use now. The environment's GPUMEM_DEVICE
 * takes part in that choice.
 * Errors: NOT_FOUND (the ordinal is too large), NO_DRIVER, DRIVER_TOO_OLD, NO_DEVICE, NOT_BUILT. */
GPUMEM_API gpumem_status gpumem_device_query(int32_t device, gpumem_device_info *info);

/* ---------------------------------------------------------------------------------------------------------- context */

GPUMEM_API gpumem_status gpumem_ctx_options_init(gpumem_ctx_options *options, int64_t size);

/* Creates a context: a device, its own stream, and every object that you create on it. NULL options are the defaults,
 * with GPUMEM_DEVICE_BEST. BEST is the caller's current CUDA device. If the thread has none, it is the first visible
 * device. Without a usable CUDA device it is the host, so a missing GPU is not an error. gpumem_ctx_device() gives
 * the reason.
 *
 * The call reads these environment variables:
 *   GPUMEM_DEVICE            host, cuda or an ordinal. Applies only to GPUMEM_DEVICE_BEST.
 *   GPUMEM_VARIANT_<FAMILY>  a variant's name, as for gpumem_variant_force().
 *   GPUMEM_HOST_SIMD         base, avx2 or avx512: the widest instructions that the host backend may use.
 *   GPUMEM_DEBUG             1: as options->debug_memory. 0: no effect.
 *   GPUMEM_TRACE             a path, see gpumem_memory_trace().
 *   GPUMEM_PROFILE           a path, see gpumem_profile_write().
 *   GPUMEM_TUNING            a path, as for gpumem_tuning_load().
 * gpumem_device_query() also reads GPUMEM_DEVICE. gpumem_dist_create() reads GPUMEM_DIST_LINK: "staged" sends all
 * messages through host memory, and none through NCCL. The library ignores all of them if the program has more rights
 * than its user (setuid or a capability).
 *
 * Errors: those of gpumem_device_query(), if a device was named.
 *   UNSUPPORTED: options is larger than this version's struct, and its unknown part is not zero.
 *   NOT_FOUND: the environment names an unknown variant.
 *   INVALID_ARGUMENT: another environment variable has an invalid value.
 *   FILE_ERROR: a trace or profile is not writable, or a tuning file is not readable. */
GPUMEM_API gpumem_status gpumem_ctx_create(const gpumem_ctx_options *options, gpumem_ctx **ctx);

/* Destroys the context. First it waits for the context's work, reports live allocations through the log, and frees
 * them. In debug mode it also reports damaged memory, see gpumem_memory_check(). Works after a device fault or a
 * reset too. An error changes nothing.
 * Errors:
 *   BUSY: streams or events are alive, or the context is the process's own (see gpumem_shared_ctx()).
 *   CAPTURING: the context's own stream is under graph capture. */
GPUMEM_API gpumem_status gpumem_ctx_destroy(gpumem_ctx *ctx);

/* Describes the context's device, and the reason for its choice. */
GPUMEM_API gpumem_status gpumem_ctx_device(gpumem_ctx *ctx, gpumem_device_info *info);

/* Returns GPUMEM_OK or the context's persistent device fault. A reset of the device is such a fault. After a fault
 * you can only destroy the context. */
GPUMEM_API gpumem_status gpumem_ctx_status(gpumem_ctx *ctx);

/* Waits for all work enqueued on the context's own stream and on every stream created or wrapped on it.
 * Errors: CAPTURING. */
GPUMEM_API gpumem_status gpumem_ctx_synchronize(gpumem_ctx *ctx);

/* Sends the context's messages to fn from now on. NULL (the default) means silence. The library itself prints
 * nothing. */
GPUMEM_API gpumem_status gpumem_ctx_set_log(gpumem_ctx *ctx, gpumem_log_fn fn, void *user);

/* Does the work of the first calls in advance: loads kernels, starts threads, allocates scratch memory. Optional. */
GPUMEM_API gpumem_status gpumem_ctx_warmup(gpumem_ctx *ctx);

/* ----------------------------------------------------------------------------------------------------------- memory */

/* Allocates bytes of device, pinned or managed memory. The memory is aligned to 256 bytes, and its contents are
 * undefined. Every stream may use it immediately. bytes == 0 gives NULL and success. A host context gives host memory
 * that it treats as the same kind, so a program runs unchanged.
 *
 * Device memory comes from a pool of the context (see gpumem_alloc_async()) and belongs to the context's own stream.
 * Freed pinned memory stays for reuse, up to pinned_memory_kept, because the driver needs a third of a second per
 * GiB.
 *
 * Before the library touches or locks host memory, it compares the size with the available memory: MemAvailable of
 * the system, and the limits of control groups (cgroups, as of a container). A larger size is OUT_OF_MEMORY, and the
 * error message has both numbers. Concurrent allocations by other programs are not counted. The library does not
 * touch memory that a host context gives. As with malloc(), the system may give more than exists.
 * Errors: UNSUPPORTED (managed memory on a device without it). */
GPUMEM_API gpumem_status gpumem_alloc_device(gpumem_ctx *ctx, int64_t bytes, void **p);
GPUMEM_API gpumem_status gpumem_alloc_pinned(gpumem_ctx *ctx, int64_t bytes, void **p);
GPUMEM_API gpumem_status gpumem_alloc_managed(gpumem_ctx *ctx, int64_t bytes, void **p);

/* Frees memory of any kind that this context allocated. First it waits for all work that the context's own stream and
 * every stream created or wrapped on it have received. It does not wait for streams under graph capture. Work on
 * other streams of the program that uses the memory must be done. If the wait fails, work may still use the memory.
 * It then stays allocated: you can free it later, or its context frees it.
 * Errors:
 *   INVALID_POINTER: not the start of an allocation, freed before, not gpumem's, or another context's.
 *   CORRUPTED: in debug mode, the memory was written past its ends. It is freed anyway. */
GPUMEM_API gpumem_status gpumem_free(gpumem_ctx *ctx, void *p);

/* Stream-ordered device memory. gpumem_alloc_async() allocates bytes that belong to a stream. gpumem_free_async()
 * frees device memory in a stream's order. Neither waits for the device, except an allocation when memory runs short
 * (see Pools).
 *
 * Alignment   A power of two from 1 to 2 MiB. The memory is always aligned to 256 bytes at least.
 * Use         Work on the memory's own stream may use it. Other work may use it if it is ordered after the work that
 *             the stream had received at the allocation.
 * Free        gpumem_free_async() frees the memory after all work that its own stream and `stream` have received so
 *             far. Its own stream can reuse it immediately. Another stream can reuse it after an event.
 * Other use   gpumem_memory_used_on() declares that a further stream uses the memory that starts at p. The memory is
 *             then also freed after all work that this stream has received at the time of the free. If work on an
 *             undeclared stream uses the memory, it must be done at the free, or one of these streams must wait for
 *             it.
 * Pools       Freed memory stays for reuse. The pool holds at most about 1.2 times the peak of live bytes, or the sum
 *             of its streams' peak needs, whichever is larger. Freed memory that pending work still uses counts in
 *             addition, and 32 MiB are always allowed. Blocks of 2 to 256 KiB take up to an eighth more than
 *             requested. If the driver does not map 2 MiB pages, larger blocks do too. A host context keeps at most
 *             an eighth of the host's memory per stream, and at most 4 GiB. If the device or device_memory_limit has
 *             no more memory, the pool first gives back all kept memory and waits for streams. Only then is the
 *             status OUT_OF_MEMORY.
 * Streams     You may destroy a stream before the memory that belongs to it or that it uses. After the end of a
 *             stream's wrapper, the library does not know further work on that stream.
 * Capture     Allocations and frees do not take part in graph capture. They are CAPTURING on a stream under capture.
 *             A free is also CAPTURING if a declared stream is under capture. The memory then stays allocated and the
 *             capture valid.
 *
 * bytes == 0 gives NULL and success. gpumem_free() also accepts this memory. gpumem_free_async() also accepts memory
 * from gpumem_alloc_device(). On a device without stream-ordered memory, the free waits as gpumem_free() does. For
 * pinned and managed memory gpumem_memory_used_on() does nothing.
 * Errors:
 *   INVALID_ARGUMENT: the alignment.
 *   INVALID_POINTER: as gpumem_free(). For gpumem_free_async() also pinned or managed memory.
 *   CAPTURING: see Capture.
 *   CORRUPTED: in debug mode, as gpumem_free(). */
GPUMEM_API gpumem_status gpumem_alloc_async(gpumem_ctx *ctx, int64_t bytes, int64_t alignment, gpumem_stream *stream,
                                            void **p);
GPUMEM_API gpumem_status gpumem_free_async(gpumem_ctx *ctx, void *p, gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_memory_used_on(gpumem_ctx *ctx, const void *p, gpumem_stream *stream);

/* Gives memory kept for reuse back to the device and to the system, except keep_bytes of each kind. Waits for the
 * context's streams as gpumem_free() does. Device memory goes back in chunks of up to 128 MiB. Allocations of
 * more than 1 GiB have larger chunks. A chunk stays as long as a block of it is allocated.
 * Errors: none of its own. */
GPUMEM_API gpumem_status gpumem_memory_trim(gpumem_ctx *ctx, int64_t keep_bytes);

/* Checks all memory of a context in debug mode. Contexts created with options->debug_memory or under GPUMEM_DEBUG=1
 * are in debug mode. The check finds writes past the ends of allocations and writes into freed memory. Each finding
 * goes to the log as an error. Its message has the kind of memory, its label, and the offsets of the first and the
 * last changed byte. Offsets count from the start of the memory, and are negative before it. After a finding the
 * status is CORRUPTED, with one of these messages.
 *
 * Ends        256 bytes before each allocation and at least as many after it hold a fixed value. The library checks
 *             them at the free, in this function, and at the end of the context. This function does not restore them,
 *             so later checks report them again. It cannot detect a write of the same value, or a write further away.
 * Freed       Freed memory is filled with 0xFD, so that reads of it are visible. The latest 64 MiB and 4096 blocks of
 *             each kind are kept. A block of more than 64 MiB goes back immediately. The library reports a write into
 *             kept memory once: when it gives the block back, in this function, or at the end of the context. This
 *             function's next result includes findings from giving back. Every function reports a pointer into kept
 *             memory as "freed before".
 * Price       Nothing is pooled, and pinned_memory_kept has no effect. Each allocation goes to the driver. Each free
 *             waits as gpumem_free() does, and so does this function. It may miss writes of other work that runs at
 *             the same time.
 *
 * Errors: CORRUPTED; UNSUPPORTED (not in debug mode). */
GPUMEM_API gpumem_status gpumem_memory_check(gpumem_ctx *ctx);

/* Writes each later allocation and free of the context to a new file. The trace ends with the context, or with a NULL
 * path. A call ends a running trace first, even if the call then fails. GPUMEM_TRACE=<path> traces each context from
 * its start, in <path>.<process id>.<number of the context>. `gpumem replay <file>` repeats a trace. Each line is
 * written at its event and takes about 1 us. After a crash the file has all lines up to it.
 *
 * The first line is "gpumem-trace 1". The others begin with a letter, the nanoseconds since the start, and the number
 * of the thread. Addresses and streams are hexadecimal numbers with 0x. Stream 0x0 means all streams.
 *   a NS THREAD ADDRESS BYTES KIND ALIGNMENT STREAM   an allocation; KIND is device, pinned or managed
 *   f NS THREAD ADDRESS STREAM                        a free
 *   u NS THREAD ADDRESS STREAM                        gpumem_memory_used_on()
 *   t NS THREAD KEEP_BYTES                            gpumem_memory_trim()
 * In debug mode, and on a device without stream-ordered memory, all allocations are for all streams.
 * Errors: INVALID_ARGUMENT (the path is "").
 *   FILE_ERROR: not an ordinary file, a link, a file of another trace, or the system's reason.
 *   FILE_ERROR: the running trace lost lines. The new trace does not begin. */
GPUMEM_API gpumem_status gpumem_memory_trace(gpumem_ctx *ctx, const char *path);

/* Pins bytes of the program's ordinary host memory, at any address, for every device. Copies then reach the speed of
 * memory from gpumem_alloc_pinned(). gpumem_host_unregister() takes the start of a registered range and unpins it. It
 * waits, and fails, as gpumem_free() does. Other work that uses the memory as pinned memory must be done. The program
 * frees the memory itself, after it unregistered it. No part may already be registered, by gpumem or by others. On a
 * host context the range counts as pinned memory. The end of a context unregisters ranges that are still registered,
 * and reports them through the log. On a CUDA context the host must have memory for pages that have none yet. If it
 * does not, the status is OUT_OF_MEMORY (see gpumem_alloc_pinned()).
 * Errors: OUT_OF_RANGE, UNSUPPORTED.
 *   INVALID_ARGUMENT: bytes < 1, or memory that is not pageable or is partly registered.
 *   INVALID_POINTER: not mapped for writing.
 *   INVALID_POINTER, unregistering: not registered, not the start, another context's, or allocated by gpumem.
 *   OUT_OF_RESOURCES: the system locks no more memory (RLIMIT_MEMLOCK). */
GPUMEM_API gpumem_status gpumem_host_register(gpumem_ctx *ctx, void *p, int64_t bytes);
GPUMEM_API gpumem_status gpumem_host_unregister(gpumem_ctx *ctx, void *p);

/* Names the memory that starts at p, which this context allocated or registered. The label appears in debug mode's
 * reports and in the report of live memory at the context's end. The library copies at most 127 bytes. NULL or ""
 * removes the label. It ends with the memory.
 * Errors: INVALID_POINTER (as gpumem_free()). */
GPUMEM_API gpumem_status gpumem_memory_label(gpumem_ctx *ctx, const void *p, const char *label);

GPUMEM_API gpumem_status gpumem_pointer_info_init(gpumem_pointer_info *info, int64_t size);

/* Describes the memory at p, from the context's point of view. p may be any address. A host context distinguishes
 * pinned and managed memory of another library from pageable memory only if the CUDA driver was loaded before the
 * context.
 * Errors: INVALID_POINTER (NULL, freed or unmapped). */
GPUMEM_API gpumem_status gpumem_pointer_query(gpumem_ctx *ctx, const void *p, gpumem_pointer_info *info);

/* Returns the context's allocation statistics. device_peak_bytes is exact if only one stream allocates at a time. If
 * several do, each may add up to 1 MiB. */
GPUMEM_API gpumem_status gpumem_memory_stats_init(gpumem_memory_stats_info *stats, int64_t size);
GPUMEM_API gpumem_status gpumem_memory_stats(gpumem_ctx *ctx, gpumem_memory_stats_info *stats);

/* --------------------------------------------------------------------------------- allocators of other libraries */

/* gpumem's pool, with the signatures of PyTorch's CUDAPluggableAllocator and CuPy's CFunctionAllocator. Their ssize_t
 * and size_t are int64_t here, int is int32_t, and cudaStream_t is void *. With 64-bit addresses, which gpumem
 * requires, callers see no difference.
 *
 * Context     The process has one context per device. The first call of any of these functions, in any thread,
 *             creates it with default options. The library never destroys it, and does not touch it at process exit.
 *             A forked child creates its own. device is a CUDA ordinal, or GPUMEM_DEVICE_HOST for host memory. It is
 *             never GPUMEM_DEVICE_BEST or GPUMEM_DEVICE_CUDA. gpumem_shared_ctx() returns the context for use with
 *             every function. Only gpumem_ctx_destroy() refuses it, with BUSY.
 * Failure     These functions return no status. On failure malloc returns NULL, record_stream and free do nothing,
 *             and gpumem_last_error() has the message. They throw and print nothing. bytes == 0 gives NULL and is not
 *             a failure. Freeing or recording NULL does nothing.
 * Streams     native_stream is a cudaStream_t of the device. NULL is the legacy default stream. On the host only NULL
 *             is valid. The order is as for gpumem_alloc_async() and gpumem_free_async(). The alignment is 256 bytes.
 *             The first use of a stream wraps it permanently, so it must live until the process ends. PyTorch's
 *             streams do. Only a device's first 256 streams are distinguished. Allocations for further streams are
 *             for all streams, and each of their frees waits for the device.
 * Capture     On a stream under graph capture, malloc gives memory of a pool of graphs (gpumem_torch_begin_pool()).
 *             Without a pool it returns NULL and invalidates the capture. The capture's next call and
 *             cudaStreamEndCapture() then fail in CUDA. Otherwise the graph would contain the address NULL and cause
 *             a device fault. The log of the process's context also has the reason. If a capture prevents a free, the
 *             memory stays allocated. A later malloc or free for that device frees it.
 * Memory      The memory belongs to the process's context, as if from gpumem_alloc_async(). Every function accepts
 *             it. You may use gpumem_free(), gpumem_free_async() and gpumem_memory_used_on() on it with that context.
 *
 * Errors of gpumem_shared_ctx(): as gpumem_ctx_create() for a named device; UNSUPPORTED (an ordinal of 128 or more). */
GPUMEM_API gpumem_status gpumem_shared_ctx(int32_t device, gpumem_ctx **ctx);

/* For PyTorch, which frees on the stream of the allocation. A free ignores bytes. PyTorch does not report NULL as a
 * lack of memory: later work on that tensor fails or causes a device fault. gpumem_torch_record_stream() serves
 * Tensor.record_stream(), as gpumem_memory_used_on(). PyTorch calls it only after set_record_stream_fn(), and
 * otherwise ignores record_stream() silently. Do not call it on a stream under capture. */
GPUMEM_API void *gpumem_torch_malloc(int64_t bytes, int32_t device, void *native_stream);
GPUMEM_API void gpumem_torch_free(void *p, int64_t bytes, int32_t device, void *native_stream);
GPUMEM_API void gpumem_torch_record_stream(void *p, void *native_stream);

/* Pools of memory that graphs keep, as PyTorch's begin_allocate_to_pool, end_allocate_to_pool and release_pool. A pool
 * is named by two numbers of the program, which are PyTorch's MempoolId_t. From begin to end, malloc gives memory of
 * the pool for each stream that the filter accepts, also under capture. In the pool, a freed block is used again by the
 * next malloc on its stream, and by no other. It stays in the pool until the pool is released once per begin, because
 * replays of the graph use it. Graphs that share a pool must not run at the same time.
 *
 * filter      A const std::function<bool(cudaStream_t)> * of GNU's C++ library, which begin copies. NULL accepts every
 *             stream. If several pools accept a stream, the pool that began last gives the memory.
 * Release     The last release waits for all work on the device, as cudaFree() does. Then the pool's free memory is
 *             the context's again. A live block follows once it is freed, and that free waits for the device too. If a
 *             capture forbids the wait, a later malloc or free does it.
 * Streams     A block that was recorded on another stream during a capture is not used again in that capture.
 * Failure     A context without pooled memory (options->debug_memory, or a device without memory pools) has no pools of
 *             graphs: begin does nothing, and gpumem_last_error() has the message. */
GPUMEM_API void gpumem_torch_begin_pool(int32_t device, int64_t pool_high, int64_t pool_low, const void *filter);
GPUMEM_API void gpumem_torch_end_pool(int32_t device, int64_t pool_high, int64_t pool_low);
GPUMEM_API void gpumem_torch_release_pool(int32_t device, int64_t pool_high, int64_t pool_low);

/* For torch.cuda.empty_cache(), as PyTorch's reset function: gpumem_memory_trim() to 0 on each context of the process
 * that gpumem_shared_ctx() has returned, or these functions have made. */
GPUMEM_API void gpumem_torch_empty_cache(void);

/* For torch.cuda.MemPool(), in which PyTorch's own allocator manages segments that it gets here. Every stream may use
 * the memory immediately, also under capture. A free waits for all work on the device, as cudaFree() does. */
GPUMEM_API void *gpumem_torch_segment_malloc(int64_t bytes, int32_t device, void *native_stream);
GPUMEM_API void gpumem_torch_segment_free(void *p, int64_t bytes, int32_t device, void *native_stream);

/* For CuPy, which passes no stream. Instead param selects it. An allocation and its free must have the same param.
 * CuPy does not report NULL as a lack of memory either.
 *
 * NULL        Every stream may use the memory immediately. A free waits for all work on the device, also on streams
 *             that gpumem does not know. That is safe in every program, as cudaFree() is. Captures stay valid.
 * A stream    As native_stream above, but the legacy default stream, which is CuPy's default, is (void *)1 here
 *             (cudaStreamLegacy). Nothing waits. Work on other streams that uses the memory must be ordered after the
 *             work that this stream had at the allocation. At the free it must be done, or this stream must wait for
 *             it. */
GPUMEM_API void *gpumem_cupy_malloc(void *param, int64_t bytes, int32_t device);
GPUMEM_API void gpumem_cupy_free(void *param, void *p, int32_t device);

/* ---------------------------------------------------------------------------------------------------------- managed */

/* Moves the pages of managed memory to a device before they are needed. device is the context's ordinal or
 * GPUMEM_DEVICE_HOST. bytes == 0 does nothing. A host context only checks the arguments. If the host has too little
 * memory now, the status is OUT_OF_MEMORY (see gpumem_alloc_pinned()).
 * Errors: OUT_OF_RANGE, CAPTURING, NOT_FOUND (unknown device).
 *   INVALID_POINTER: not managed memory.
 *   UNSUPPORTED: the device has no concurrent managed access. */
GPUMEM_API gpumem_status gpumem_managed_prefetch(gpumem_ctx *ctx, const void *p, int64_t bytes, int32_t device);
GPUMEM_API gpumem_status gpumem_managed_prefetch_async(gpumem_ctx *ctx, const void *p, int64_t bytes, int32_t device,
                                                       gpumem_stream *stream);

/* Gives a hint on managed memory, or takes it back. device is the location for PREFERRED_LOCATION and the device for
 * ACCESSED_BY and UNSET_ACCESSED_BY. Other hints ignore it.
 * Errors: as gpumem_managed_prefetch(). */
GPUMEM_API gpumem_status gpumem_managed_advise(gpumem_ctx *ctx, const void *p, int64_t bytes, gpumem_advice advice,
                                               int32_t device);

/* Reports the current location of managed memory and the earlier hints. It queries each page, which takes 2 to 3 ms
 * per GiB. Pages that are not in host memory are on a device, or have no memory yet. Pages with READ_MOSTLY may have
 * copies on both sides. If last_prefetch or the hints differ within the range, they are GPUMEM_DEVICE_NONE and 0.
 * bytes == 0 gives 0, NONE and 0. On a host context all bytes are the host's.
 * Errors: OUT_OF_RANGE, INVALID_POINTER and UNSUPPORTED as gpumem_managed_prefetch(). */
GPUMEM_API gpumem_status gpumem_managed_info_init(gpumem_managed_info *info, int64_t size);
GPUMEM_API gpumem_status gpumem_managed_query(gpumem_ctx *ctx, const void *p, int64_t bytes, gpumem_managed_info *info);

/* --------------------------------------------------------------------------------------------------------- movement */

/* Copies bytes from src to dst, also between two devices. The ranges may not overlap. dst == src does nothing. The
 * asynchronous call does not read pageable memory before it returns, unlike cudaMemcpyAsync.
 *
 * For copies between pageable memory and a device, several host threads (host_threads) move the bytes through pinned
 * memory. With enough threads they reach the speed of PCIe or NVLink. The context keeps up to 64 MiB of pinned memory
 * for this, plus 8 MiB per stream with such copies, until gpumem_memory_trim().
 * Errors: as every operation.
 *   CAPTURING: an asynchronous call with both ranges in host memory, or with one in pageable memory. */
GPUMEM_API gpumem_status gpumem_copy(gpumem_ctx *ctx, void *dst, const void *src, int64_t bytes);
GPUMEM_API gpumem_status gpumem_copy_async(gpumem_ctx *ctx, void *dst, const void *src, int64_t bytes,
                                           gpumem_stream *stream);

/* Copies rows of row_bytes bytes. Row r of src begins at src + r*src_pitch_bytes, and row r of dst at
 * dst + r*dst_pitch_bytes. A pitch is at least row_bytes, and with one row it is not used. src and dst may not overlap,
 * but dst == src with equal pitches does nothing. src and dst may be different columns of one matrix.
 *
 * Between two devices the driver copies one row at a time. Between host and device there are two variants: "driver",
 * and "rings" for pageable memory. In "rings", host threads fill and empty pinned staging buffers.
 * Errors: as gpumem_copy(). */
GPUMEM_API gpumem_status gpumem_copy_2d(gpumem_ctx *ctx, void *dst, int64_t dst_pitch_bytes, const void *src,
                                        int64_t src_pitch_bytes, int64_t row_bytes, int64_t rows);
GPUMEM_API gpumem_status gpumem_copy_2d_async(gpumem_ctx *ctx, void *dst, int64_t dst_pitch_bytes, const void *src,
                                              int64_t src_pitch_bytes, int64_t row_bytes, int64_t rows,
                                              gpumem_stream *stream);

/* The same for slices of rows. Row r of slice s begins at p + s*slice_bytes + r*pitch_bytes. slice_bytes is at least
 * (rows - 1)*pitch_bytes + row_bytes. With one slice it is not used. If src and dst are blocks of columns of one
 * matrix, its slices may be any whole number of rows apart.
 * Errors: as gpumem_copy_2d(). */
GPUMEM_API gpumem_status gpumem_copy_3d(gpumem_ctx *ctx, void *dst, int64_t dst_pitch_bytes, int64_t dst_slice_bytes,
                                        const void *src, int64_t src_pitch_bytes, int64_t src_slice_bytes,
                                        int64_t row_bytes, int64_t rows, int64_t slices);
GPUMEM_API gpumem_status gpumem_copy_3d_async(gpumem_ctx *ctx, void *dst, int64_t dst_pitch_bytes,
                                              int64_t dst_slice_bytes, const void *src, int64_t src_pitch_bytes,
                                              int64_t src_slice_bytes, int64_t row_bytes, int64_t rows, int64_t slices,
                                              gpumem_stream *stream);

/* Writes count copies of a pattern of 1, 2, 4, 8 or 16 bytes to dst, back to back. The pattern is host memory. Both
 * calls read it before they return.
 * Errors: as every operation. A pattern that is device memory, or not memory, is INVALID_POINTER. */
GPUMEM_API gpumem_status gpumem_fill(gpumem_ctx *ctx, void *dst, const void *pattern, int64_t pattern_bytes,
                                     int64_t count);
GPUMEM_API gpumem_status gpumem_fill_async(gpumem_ctx *ctx, void *dst, const void *pattern, int64_t pattern_bytes,
                                           int64_t count, gpumem_stream *stream);

/* Writes rows of cols patterns. Row r begins at dst + r*dst_pitch_bytes, with the pattern's first byte. The pitch is
 * at least cols*pattern_bytes. With one row it is not used. Everything else is as for gpumem_fill(). */
GPUMEM_API gpumem_status gpumem_fill_2d(gpumem_ctx *ctx, void *dst, int64_t dst_pitch_bytes, const void *pattern,
                                        int64_t pattern_bytes, int64_t cols, int64_t rows);
GPUMEM_API gpumem_status gpumem_fill_2d_async(gpumem_ctx *ctx, void *dst, int64_t dst_pitch_bytes, const void *pattern,
                                              int64_t pattern_bytes, int64_t cols, int64_t rows, gpumem_stream *stream);

/* -------------------------------------------------------------------------------------------------- streams, events */

/* A stream is a queue. Work on one stream runs in order. Work on different streams may overlap.
 * gpumem_stream_destroy() waits for the stream's work. A stream under graph capture is CAPTURING, unless it is a
 * wrapped stream. The streams of a host context share at most host_threads threads. A thread inside the program's
 * parallel_for does not count, so calls of parallel_for may wait for each other. */
GPUMEM_API gpumem_status gpumem_stream_create(gpumem_ctx *ctx, gpumem_stream **stream);
GPUMEM_API gpumem_status gpumem_stream_destroy(gpumem_stream *stream);

/* Wraps a cudaStream_t of the program, passed as void *. NULL is CUDA's legacy default stream. The program keeps the
 * stream alive as long as the wrapper. Destroying the wrapper waits for nothing, and does not affect the stream. On a
 * host context a NULL native stream gives another handle for the context's own stream.
 * Errors:
 *   UNSUPPORTED: a native stream on a host context, or the per-thread default stream.
 *   INVALID_ARGUMENT: a stream of another device or CUDA context. */
GPUMEM_API gpumem_status gpumem_stream_wrap(gpumem_ctx *ctx, void *native_stream, gpumem_stream **stream);

/* Returns the stream's cudaStream_t, for CUDA calls and for other libraries (__cuda_array_interface__, DLPack). Work
 * that they enqueue takes its place in the stream's order. The cudaStream_t lives as long as the stream. Do not
 * destroy it. A wrapped legacy default stream gives (void *)1 (cudaStreamLegacy).
 * Errors: UNSUPPORTED (a host context). */
GPUMEM_API gpumem_status gpumem_stream_native(gpumem_ctx *ctx, gpumem_stream *stream, void **native_stream);

/* Waits until all work enqueued so far is done.
 * Errors: CAPTURING. */
GPUMEM_API gpumem_status gpumem_stream_synchronize(gpumem_ctx *ctx, gpumem_stream *stream);

/* Returns OK if all enqueued work is done, else NOT_READY. Does not wait.
 * Errors: CAPTURING. */
GPUMEM_API gpumem_status gpumem_stream_query(gpumem_ctx *ctx, gpumem_stream *stream);

/* Makes later work on the stream wait for the event's last record so far. An event that was never recorded counts as
 * done.
 * Errors: CAPTURING (the stream is under graph capture, and the event was recorded outside that capture). */
GPUMEM_API gpumem_status gpumem_stream_wait_event(gpumem_ctx *ctx, gpumem_stream *stream, gpumem_event *event);

/* An event marks a point of a stream. gpumem_event_record() sets it behind all work that the stream has received. You
 * may record or destroy an event while work still waits for it. That work keeps waiting for the earlier record. */
GPUMEM_API gpumem_status gpumem_event_create(gpumem_ctx *ctx, gpumem_event **event);
GPUMEM_API gpumem_status gpumem_event_destroy(gpumem_event *event);
GPUMEM_API gpumem_status gpumem_event_record(gpumem_ctx *ctx, gpumem_event *event, gpumem_stream *stream);

/* Waits until the stream has passed the event's last record. If the event was never recorded, returns immediately.
 * Errors: CAPTURING (the event was recorded in a graph capture). */
GPUMEM_API gpumem_status gpumem_event_synchronize(gpumem_event *event);

/* Returns the seconds between two events of one context.
 * Errors: NOT_READY (one is still pending, *seconds keeps its value), INVALID_ARGUMENT (never recorded, or of two
 * contexts), CAPTURING (recorded in a graph capture). */
GPUMEM_API gpumem_status gpumem_event_elapsed(gpumem_event *start, gpumem_event *end, double *seconds);

/* ----------------------------------------------------------------------------------------------------------- reduce */

/* Rules for every reduction:
 *
 * Elements    x[0], x[stride], ..., x[(n-1)*stride]. Strides are at least 1.
 * Results     int64_t for i8 to i64, uint64_t for u8 to u64, double for f16, bf16, f32 and f64. A void *result points
 *             to one of these. GPUMEM_MIN_MAX gives two results, the minimum first.
 * Addresses   The work runs where x is. Results may be in any kind of memory for a blocking call. For an asynchronous
 *             call on a CUDA context, result, index and status are in device, pinned or managed memory, else
 *             INVALID_POINTER. The blocking calls for one sequence accept result, value and index at any address. All
 *             other calls require multiples of 8 bytes, and multiples of 4 bytes for status.
 * Integers    The value is exact, however large intermediate values are. Squares and cubes of 64-bit integers use 256
 *             bits. GPUMEM_OVERFLOW if and only if the final value does not fit its result. |INT64_MIN| does not fit.
 *             A product with a factor 0 is 0, whatever the other factors are. A product of -2^63 fits int64_t.
 * Floats      min, max and arg are exact. Sums are formed in f64 in one fixed order. The terms are x, |x|, x*x,
 *             (x*x)*x or x*y. Each operation of a term is rounded once to nearest, and never fused. A block of 1024
 *             terms is 8 rows of 128 lanes. Each lane adds its 8 terms in order. The lanes are combined by halves,
 *             then the blocks in pairs. The bits therefore never depend on the device, the variant, the threads, the
 *             alignment, the stride or the kind of memory. A product uses the same order, with the elements as f64,
 *             multiplications instead of additions, and 1 for missing elements.
 * Error       To first order, the error of a sum is at most (15 + ceil(log2(n / 1024))) * 2^-53 * sum |term|, plus
 *             the rounding of the terms. Terms x and |x| of every type are exact. So is x*x of f16, bf16 and f32.
 * NaN, inf    A NaN among the elements makes the result NaN, always 0x7ff8000000000000. inf - inf in a sum and 0 *
 *             inf in a product do the same. Sums and products may overflow to an infinity. For min and max, -0 is
 *             less than +0. MAX_ABS is never -0. A sum of zeros is +0.
 * Valid       Operations that end in VALID skip NaN, which often marks missing values. SUM_VALID has the bits of SUM
 *             with +0 in place of each NaN. Divided by COUNT_VALID, it is the mean. If all elements are NaN, SUM_VALID
 *             and COUNT_VALID are 0, and MIN_VALID and MAX_VALID are NaN. Integers have none of them: UNSUPPORTED.
 * Order-free  The operations that end in ORDER_FREE, and gpumem_dot_order_free(), have the same bits for every order
 *             of the same terms. A sum over boxes, permuted elements or several processes equals the sum of the whole.
 *             The terms are those of SUM, dot and nrm2. Their sum is formed exactly, of their digits down to 2^-80 of
 *             the largest term or beyond, and rounded once. The error is at most n * 2^-80 * max |term| + 2^-53 *
 *             |sum|, plus the rounding of the terms (for nrm2 of f64, 2^-79). Up to n = 2^29, that is less than the
 *             error of a sum above. Only the value can overflow. The root of nrm2 adds at most half an ulp, and its
 *             squares neither overflow nor underflow. -0 counts as +0. gpumem_reduce(), its typed and _async forms and
 *             gpumem_reduce_view() take them, for less than 2^42 elements. Sums of integers are exact in any order:
 *             UNSUPPORTED, use GPUMEM_SUM. (J. Demmel and H. D. Nguyen, "Parallel reproducible summation", IEEE
 *             Transactions on Computers 64, 2015.)
 * n == 0      Sums, dot and nrm2 are 0, and a product is 1. min, max, MIN_MAX, MAX_ABS and arg give GPUMEM_EMPTY. x
 *             may then be NULL.
 * Aliasing    result, index and status may not overlap x, y, offsets or each other. The library never writes to x.
 * Failure     A failed blocking call for one sequence or view does not change its results. Calls with many results say
 *             what they write. An asynchronous call writes result and index in the order of the stream. It writes
 *             *status (status may be NULL) if only the run itself can find the error: GPUMEM_OK, or GPUMEM_OVERFLOW
 *             without a change of *result. A host function reduces data in host memory, in the stream's order. If it
 *             finds no memory to work in, *status is GPUMEM_OUT_OF_MEMORY, and the log has a message.
 * Capture     A captured call uses scratch memory that lives as long as the graph. Two executions of one captured
 *             call may not overlap. The context must outlive them.
 *
 * Errors of all: as every operation; EMPTY; OVERFLOW (blocking calls); UNSUPPORTED (the type does not have the
 * operation). */

/* *result = the reduction of x by op. GPUMEM_SUM_COMPENSATED is only for f64. Its error is at most 2 ulp of the exact
 * sum if sum |x| / |sum x| is at most 1e15. If it is not finite, it is the plain sum. */
GPUMEM_API gpumem_status gpumem_reduce(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void *x,
                                       int64_t n, int64_t stride, void *result);
GPUMEM_API gpumem_status gpumem_reduce_i32(gpumem_ctx *ctx, gpumem_reduce_op op, const int32_t *x, int64_t n,
                                           int64_t stride, int64_t *result);
GPUMEM_API gpumem_status gpumem_reduce_i64(gpumem_ctx *ctx, gpumem_reduce_op op, const int64_t *x, int64_t n,
                                           int64_t stride, int64_t *result);
GPUMEM_API gpumem_status gpumem_reduce_u32(gpumem_ctx *ctx, gpumem_reduce_op op, const uint32_t *x, int64_t n,
                                           int64_t stride, uint64_t *result);
GPUMEM_API gpumem_status gpumem_reduce_u64(gpumem_ctx *ctx, gpumem_reduce_op op, const uint64_t *x, int64_t n,
                                           int64_t stride, uint64_t *result);
GPUMEM_API gpumem_status gpumem_reduce_f32(gpumem_ctx *ctx, gpumem_reduce_op op, const float *x, int64_t n,
                                           int64_t stride, double *result);
GPUMEM_API gpumem_status gpumem_reduce_f64(gpumem_ctx *ctx, gpumem_reduce_op op, const double *x, int64_t n,
                                           int64_t stride, double *result);
GPUMEM_API gpumem_status gpumem_reduce_async(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void *x,
                                             int64_t n, int64_t stride, void *result, gpumem_status *status,
                                             gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_reduce_i32_async(gpumem_ctx *ctx, gpumem_reduce_op op, const int32_t *x, int64_t n,
                                                 int64_t stride, int64_t *result, gpumem_status *status,
                                                 gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_reduce_i64_async(gpumem_ctx *ctx, gpumem_reduce_op op, const int64_t *x, int64_t n,
                                                 int64_t stride, int64_t *result, gpumem_status *status,
                                                 gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_reduce_u32_async(gpumem_ctx *ctx, gpumem_reduce_op op, const uint32_t *x, int64_t n,
                                                 int64_t stride, uint64_t *result, gpumem_status *status,
                                                 gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_reduce_u64_async(gpumem_ctx *ctx, gpumem_reduce_op op, const uint64_t *x, int64_t n,
                                                 int64_t stride, uint64_t *result, gpumem_status *status,
                                                 gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_reduce_f32_async(gpumem_ctx *ctx, gpumem_reduce_op op, const float *x, int64_t n,
                                                 int64_t stride, double *result, gpumem_status *status,
                                                 gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_reduce_f64_async(gpumem_ctx *ctx, gpumem_reduce_op op, const double *x, int64_t n,
                                                 int64_t stride, double *result, gpumem_status *status,
                                                 gpumem_stream *stream);

/* *value = the minimum, the maximum or the largest |x|, as from gpumem_reduce(). op is GPUMEM_MIN, GPUMEM_MAX,
 * GPUMEM_MAX_ABS, GPUMEM_MIN_VALID or GPUMEM_MAX_VALID. *index is its position, in elements of the strided sequence.
 * It is the lowest index among equals. -0 is less than +0. For MAX_ABS, -x equals x. If x has a NaN, *index is the
 * first NaN. MIN_VALID and MAX_VALID skip NaN. If all elements are NaN, their *index is 0. value may be NULL. If
 * |INT64_MIN| is the largest, the blocking call gives GPUMEM_OVERFLOW, also with a NULL value. The asynchronous call
 * has no status. It then changes neither value nor index. */
GPUMEM_API gpumem_status gpumem_argreduce(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void *x,
                                          int64_t n, int64_t stride, void *value, int64_t *index);
GPUMEM_API gpumem_status gpumem_argreduce_i32(gpumem_ctx *ctx, gpumem_reduce_op op, const int32_t *x, int64_t n,
                                              int64_t stride, int64_t *value, int64_t *index);
GPUMEM_API gpumem_status gpumem_argreduce_i64(gpumem_ctx *ctx, gpumem_reduce_op op, const int64_t *x, int64_t n,
                                              int64_t stride, int64_t *value, int64_t *index);
GPUMEM_API gpumem_status gpumem_argreduce_u32(gpumem_ctx *ctx, gpumem_reduce_op op, const uint32_t *x, int64_t n,
                                              int64_t stride, uint64_t *value, int64_t *index);
GPUMEM_API gpumem_status gpumem_argreduce_u64(gpumem_ctx *ctx, gpumem_reduce_op op, const uint64_t *x, int64_t n,
                                              int64_t stride, uint64_t *value, int64_t *index);
GPUMEM_API gpumem_status gpumem_argreduce_f32(gpumem_ctx *ctx, gpumem_reduce_op op, const float *x, int64_t n,
                                              int64_t stride, double *value, int64_t *index);
GPUMEM_API gpumem_status gpumem_argreduce_f64(gpumem_ctx *ctx, gpumem_reduce_op op, const double *x, int64_t n,
                                              int64_t stride, double *value, int64_t *index);
GPUMEM_API gpumem_status gpumem_argreduce_async(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void *x,
                                                int64_t n, int64_t stride, void *value, int64_t *index,
                                                gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_argreduce_i32_async(gpumem_ctx *ctx, gpumem_reduce_op op, const int32_t *x, int64_t n,
                                                    int64_t stride, int64_t *value, int64_t *index,
                                                    gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_argreduce_i64_async(gpumem_ctx *ctx, gpumem_reduce_op op, const int64_t *x, int64_t n,
                                                    int64_t stride, int64_t *value, int64_t *index,
                                                    gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_argreduce_u32_async(gpumem_ctx *ctx, gpumem_reduce_op op, const uint32_t *x, int64_t n,
                                                    int64_t stride, uint64_t *value, int64_t *index,
                                                    gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_argreduce_u64_async(gpumem_ctx *ctx, gpumem_reduce_op op, const uint64_t *x, int64_t n,
                                                    int64_t stride, uint64_t *value, int64_t *index,
                                                    gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_argreduce_f32_async(gpumem_ctx *ctx, gpumem_reduce_op op, const float *x, int64_t n,
                                                    int64_t stride, double *value, int64_t *index,
                                                    gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_argreduce_f64_async(gpumem_ctx *ctx, gpumem_reduce_op op, const double *x, int64_t n,
                                                    int64_t stride, double *value, int64_t *index,
                                                    gpumem_stream *stream);

/* *result = sum of x[i*x_stride] * y[i*y_stride] for i < n. x and y may overlap. If they are on different sides, the
 * blocking call works at x and copies y there. */
GPUMEM_API gpumem_status gpumem_dot_f32(gpumem_ctx *ctx, const float *x, const float *y, int64_t n, int64_t x_stride,
                                        int64_t y_stride, double *result);
GPUMEM_API gpumem_status gpumem_dot_f64(gpumem_ctx *ctx, const double *x, const double *y, int64_t n, int64_t x_stride,
                                        int64_t y_stride, double *result);
GPUMEM_API gpumem_status gpumem_dot_f32_async(gpumem_ctx *ctx, const float *x, const float *y, int64_t n,
                                              int64_t x_stride, int64_t y_stride, double *result,
                                              gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_dot_f64_async(gpumem_ctx *ctx, const double *x, const double *y, int64_t n,
                                              int64_t x_stride, int64_t y_stride, double *result,
                                              gpumem_stream *stream);

/* *result = the Euclidean norm of x. It is infinite only if the true norm exceeds double. Except for exact zeros, it
 * never underflows to 0. f32: the root of the sum of squares. f64: three sums of squares, for middle-sized elements,
 * large ones scaled by 2^-538 and small ones scaled by 2^537. Each has the fixed order. Their combination is the
 * result (J. L. Blue, A portable Fortran program to find the Euclidean norm of a vector, ACM TOMS 4, 1978; E.
 * Anderson, Algorithm 978, ACM TOMS 44, 2017). */
GPUMEM_API gpumem_status gpumem_nrm2_f32(gpumem_ctx *ctx, const float *x, int64_t n, int64_t stride, double *result);
GPUMEM_API gpumem_status gpumem_nrm2_f64(gpumem_ctx *ctx, const double *x, int64_t n, int64_t stride, double *result);
GPUMEM_API gpumem_status gpumem_nrm2_f32_async(gpumem_ctx *ctx, const float *x, int64_t n, int64_t stride,
                                               double *result, gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_nrm2_f64_async(gpumem_ctx *ctx, const double *x, int64_t n, int64_t stride,
                                               double *result, gpumem_stream *stream);

/* Reduces each row (GPUMEM_AXIS_ROWS) or each column (GPUMEM_AXIS_COLS) of `batches` row-major matrices of rows x
 * cols. The leading dimension is ld >= cols. Matrix b begins at x + b*batch_stride. batch_stride is at least 0.
 *
 * The results are contiguous, matrix by matrix: batches * rows or batches * cols of them (pairs for GPUMEM_MIN_MAX).
 * Each has the bits of gpumem_reduce() for that row or column. If the number of results is 0, the call does nothing.
 * For lines without elements, sums are 0, products are 1, and the others give GPUMEM_EMPTY and write nothing. A result
 * that does not fit is written as 0, and the call gives GPUMEM_OVERFLOW. The other results are correct. */
GPUMEM_API gpumem_status gpumem_reduce_axis(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op, gpumem_axis axis,
                                            const void *x, int64_t rows, int64_t cols, int64_t ld, int64_t batches,
                                            int64_t batch_stride, void *result);
GPUMEM_API gpumem_status gpumem_reduce_axis_async(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op,
                                                  gpumem_axis axis, const void *x, int64_t rows, int64_t cols,
                                                  int64_t ld, int64_t batches, int64_t batch_stride, void *result,
                                                  gpumem_status *status, gpumem_stream *stream);

/* gpumem_argreduce() for each row or column of the same matrices. value[l] is the minimum, the maximum or the largest
 * |x| of line l, and index[l] is its position in the line, from 0. op, NaN and equal elements are as for
 * gpumem_argreduce().
 *
 * Both arrays are contiguous, matrix by matrix, with batches * rows or batches * cols entries. value may be NULL. If
 * the number of lines is 0, the call does nothing. Lines without elements give GPUMEM_EMPTY, and nothing is written. If
 * |INT64_MIN| is the largest of a line, its value and its index are 0, and the call gives GPUMEM_OVERFLOW, also with a
 * NULL value. The other lines are correct. */
GPUMEM_API gpumem_status gpumem_argreduce_axis(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op,
                                               gpumem_axis axis, const void *x, int64_t rows, int64_t cols, int64_t ld,
                                               int64_t batches, int64_t batch_stride, void *value, int64_t *index);
GPUMEM_API gpumem_status gpumem_argreduce_axis_async(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op,
                                                     gpumem_axis axis, const void *x, int64_t rows, int64_t cols,
                                                     int64_t ld, int64_t batches, int64_t batch_stride, void *value,
                                                     int64_t *index, gpumem_status *status, gpumem_stream *stream);

/* Reduces some axes of a view. Examples are the mean over time and longitude, and the sum of each channel of a batch of
 * images.
 *
 * View        ndim, extents and x_strides are as for gpumem_reduce_view().
 * Axes        Axis d is reduced if bit d of axes is 1. If axes is 0, each element is reduced alone. Bits from ndim on
 *             are 0.
 * Results     They are contiguous, in row-major order of the axes that remain (pairs for GPUMEM_MIN_MAX). Each has the
 *             bits of gpumem_reduce() for its elements in row-major order. If there are none, the call does nothing.
 *             Results without elements, and those that do not fit, are as for gpumem_reduce_axis().
 * result_type The type of the results of reductions: GPUMEM_I64, GPUMEM_U64 or GPUMEM_F64. If dtype is GPUMEM_F16,
 *             GPUMEM_BF16 or GPUMEM_F32, it may also be dtype. Each result is then rounded once more, to nearest. It
 *             is aligned to its type.
 * Scratch     A copy of x, if its lines can't be read where they are. On the host also 8 bytes per result, if
 *             result_type is dtype. Device memory comes and goes in the stream's order.
 *
 * Errors: as all reductions; INVALID_ARGUMENT (bits of axes beyond ndim, another result_type); OUT_OF_MEMORY (scratch
 * memory). */
GPUMEM_API gpumem_status gpumem_reduce_axes(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t ndim,
                                            const int64_t *extents, const void *x, const int64_t *x_strides,
                                            int32_t axes, void *result, gpumem_dtype result_type);
GPUMEM_API gpumem_status gpumem_reduce_axes_async(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op,
                                                  int32_t ndim, const int64_t *extents, const void *x,
                                                  const int64_t *x_strides, int32_t axes, void *result,
                                                  gpumem_dtype result_type, gpumem_status *status,
                                                  gpumem_stream *stream);

/* result[s] = the reduction of x[offsets[s]], ..., x[offsets[s+1] - 1] for s < segments (pairs for GPUMEM_MIN_MAX).
 * The bits are as from gpumem_reduce(). offsets has segments + 1 numbers from 0 to n, which never decrease. It is
 * aligned to 8 bytes. For an asynchronous call it is in memory that the side of x can read, for a blocking call in
 * any memory. segments == 0 does nothing.
 *
 * A segment without a value is written as 0. The other segments are correct. The call then gives the largest of these
 * codes:
 *   GPUMEM_EMPTY: min or max has no elements.
 *   GPUMEM_OVERFLOW: the value does not fit.
 *   GPUMEM_OUT_OF_RANGE: the offsets break the rules above. */
GPUMEM_API gpumem_status gpumem_reduce_segments(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void *x,
                                                int64_t n, const int64_t *offsets, int64_t segments, void *result);
GPUMEM_API gpumem_status gpumem_reduce_segments_async(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op,
                                                      const void *x, int64_t n, const int64_t *offsets,
                                                      int64_t segments, void *result, gpumem_status *status,
                                                      gpumem_stream *stream);

/* result[b] = the reduction of the elements x[i] with index[i] == b, for b < bins (pairs for GPUMEM_MIN_MAX). It has the
 * bits of gpumem_reduce() for these elements in their order. Examples are histograms, the deposition of particles on a
 * grid, the assembly of finite elements and sums over the edges of a graph.
 *
 * Operands    x has n contiguous elements. index has n contiguous numbers from 0 to bins - 1 of index_type: GPUMEM_I32,
 *             GPUMEM_U32, GPUMEM_I64 or GPUMEM_U64. It is aligned to its numbers. They may be in any order, and repeat.
 * Counts      If x is NULL, each element counts as 1, and result[b] is the number of indices b, an int64_t. dtype is
 *             then GPUMEM_I64, and op GPUMEM_SUM.
 * No value    A bin without a value is written as 0. The other bins are correct. The call then gives the larger of the
 *             codes GPUMEM_EMPTY (a minimum or maximum of no elements) and GPUMEM_OVERFLOW. Counts always fit.
 * Bad index   A number outside 0 to bins - 1 gives GPUMEM_OUT_OF_RANGE. Nothing is written then except *status. The
 *             error message of the blocking call names the first bad number and its place.
 * n == 0      No bin has elements. x and index may be NULL. bins is at least 1 unless n is 0.
 * Place       The work runs at x. Counts run at index. The blocking call first copies an index on the other side there.
 *             For an asynchronous call the device can also read a pinned index.
 * Status      The asynchronous call writes *status: GPUMEM_OK, or one of the three codes above. status may be NULL.
 * Scratch     Counts, and sums, minima and maxima of integers of up to 32 bits: 8 bytes per bin, on the host for each
 *             thread. Others, for elements of e bytes (at least 4 on a device) and k bytes per stored number of a bin:
 *             at most 3n * (e + k) + 24 * bins bytes on a device, and n * (2e + 4) + 8 * bins on the host. Device memory
 *             comes and goes in the stream's order. A captured graph has its own.
 * Capture     Only operands of the device. Two executions of one captured call may not overlap.
 *
 * Errors: as all reductions; OUT_OF_RANGE (blocking call: a bad index); INVALID_ARGUMENT (x is NULL and n is not 0, with
 * another dtype or op than for counts; bins is 0 and n is not); OUT_OF_MEMORY (scratch memory). */
GPUMEM_API gpumem_status gpumem_reduce_by_index(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void *x,
                                                gpumem_dtype index_type, const void *index, int64_t n, void *result,
                                                int64_t bins);
GPUMEM_API gpumem_status gpumem_reduce_by_index_async(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op,
                                                      const void *x, gpumem_dtype index_type, const void *index,
                                                      int64_t n, void *result, int64_t bins, gpumem_status *status,
                                                      gpumem_stream *stream);

/* The same for rows: result[b*cols + c] = the reduction of the elements x[i*ld + c] with index[i] == b, for b < bins and
 * c < cols (pairs for GPUMEM_MIN_MAX). x has `rows` rows of cols elements and the leading dimension ld >= cols. index
 * has a number for each row. An example is the sum of the feature vectors of all neighbours in a graph.
 *
 * All else is as for gpumem_reduce_by_index(), with rows * cols elements and bins * cols bins. x may be NULL if there
 * are none. If cols is 0, nothing is done. A sort on the host takes 16 * (rows + bins) bytes, and 1 MiB per thread. */
GPUMEM_API gpumem_status gpumem_reduce_rows_by_index(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op,
                                                     const void *x, int64_t rows, int64_t cols, int64_t ld,
                                                     gpumem_dtype index_type, const void *index, void *result,
                                                     int64_t bins);
GPUMEM_API gpumem_status gpumem_reduce_rows_by_index_async(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op,
                                                           const void *x, int64_t rows, int64_t cols, int64_t ld,
                                                           gpumem_dtype index_type, const void *index, void *result,
                                                           int64_t bins, gpumem_status *status, gpumem_stream *stream);

/* Reductions of views, such as the interior of an array with a border. They are gpumem_reduce(), gpumem_argreduce(),
 * gpumem_dot_f32() and gpumem_nrm2_f32() for other operands. All that is said there and above holds here too.
 *
 * Views       ndim is the number of axes, 0 (a single element) to 8. extents has ndim entries, for x and y. It may be
 *             NULL if ndim is 0. The last axis is the fastest. Strides are in elements, one per axis, and at least 0
 *             (0 repeats elements). NULL means row-major without padding. The stride of an axis of extent 1 is not
 *             used. Elements may overlap in any way.
 * Order       Row-major: the result has the bits of the same elements without padding. *index is the position in that
 *             order. The host and every GPU give the same bits.
 * Extent 0    As n == 0. x and y may then be NULL.
 * Host data   extents and strides are ordinary host memory. The library reads them before the call returns.
 *
 * Errors: as every operation; EMPTY; OVERFLOW (blocking calls); UNSUPPORTED (the type does not have the operation). */
GPUMEM_API gpumem_status gpumem_reduce_view(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t ndim,
                                            const int64_t *extents, const void *x, const int64_t *x_strides,
                                            void *result);
GPUMEM_API gpumem_status gpumem_reduce_view_async(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op,
                                                  int32_t ndim, const int64_t *extents, const void *x,
                                                  const int64_t *x_strides, void *result, gpumem_status *status,
                                                  gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_argreduce_view(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t ndim,
                                               const int64_t *extents, const void *x, const int64_t *x_strides,
                                               void *value, int64_t *index);
GPUMEM_API gpumem_status gpumem_argreduce_view_async(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op,
                                                     int32_t ndim, const int64_t *extents, const void *x,
                                                     const int64_t *x_strides, void *value, int64_t *index,
                                                     gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_dot_view_f32(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents, const float *x,
                                             const int64_t *x_strides, const float *y, const int64_t *y_strides,
                                             double *result);
GPUMEM_API gpumem_status gpumem_dot_view_f64(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents, const double *x,
                                             const int64_t *x_strides, const double *y, const int64_t *y_strides,
                                             double *result);
GPUMEM_API gpumem_status gpumem_dot_view_f32_async(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents,
                                                   const float *x, const int64_t *x_strides, const float *y,
                                                   const int64_t *y_strides, double *result, gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_dot_view_f64_async(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents,
                                                   const double *x, const int64_t *x_strides, const double *y,
                                                   const int64_t *y_strides, double *result, gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_nrm2_view_f32(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents, const float *x,
                                              const int64_t *x_strides, double *result);
GPUMEM_API gpumem_status gpumem_nrm2_view_f64(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents, const double *x,
                                              const int64_t *x_strides, double *result);
GPUMEM_API gpumem_status gpumem_nrm2_view_f32_async(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents,
                                                    const float *x, const int64_t *x_strides, double *result,
                                                    gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_nrm2_view_f64_async(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents,
                                                    const double *x, const int64_t *x_strides, double *result,
                                                    gpumem_stream *stream);

/* *result = the order-free sum of x*y over two views, as the common rule Order-free says. dtype is GPUMEM_F32 or
 * GPUMEM_F64. ndim, extents and the strides are as for gpumem_dot_view_f64(). A vector of n elements is a view with
 * ndim == 1, and NULL strides.
 * Errors: as gpumem_dot_view_f64(); UNSUPPORTED (another dtype; 2^42 elements or more). */
GPUMEM_API gpumem_status gpumem_dot_order_free(gpumem_ctx *ctx, gpumem_dtype dtype, int32_t ndim,
                                               const int64_t *extents, const void *x, const int64_t *x_strides,
                                               const void *y, const int64_t *y_strides, double *result);
GPUMEM_API gpumem_status gpumem_dot_order_free_async(gpumem_ctx *ctx, gpumem_dtype dtype, int32_t ndim,
                                                     const int64_t *extents, const void *x, const int64_t *x_strides,
                                                     const void *y, const int64_t *y_strides, double *result,
                                                     gpumem_stream *stream);

/* Scans: result[i] is the reduction of x[0], ..., x[i]. With exclusive == 1, it is the reduction of x[0], ..., x[i-1].
 *
 * Values      result has n elements of result_type. op is GPUMEM_SUM, GPUMEM_PROD, GPUMEM_MIN or GPUMEM_MAX; the other
 *             operations are UNSUPPORTED. exclusive is 0 or 1. The first value of an exclusive scan is 0 for sums, 1
 *             for products, and for min and max the largest or smallest value of dtype, such as an infinity.
 * result_type dtype itself, or the type of its reductions: GPUMEM_I64, GPUMEM_U64 or GPUMEM_F64.
 * Floats      A sum or product has the bits of gpumem_reduce() over the same elements, rounded once to result_type. min
 *             and max are exact. A NaN makes all later values NaN, and NaNs are canonical. -0 is less than +0.
 * Integers    Values are exact. GPUMEM_OVERFLOW if and only if one does not fit result_type. The results from the first
 *             such value on are undefined, and those before it are right. The sum of all elements is not a value of an
 *             exclusive scan.
 * Addresses   x and result may have any address, in any kind of memory. The work runs where result is. A blocking call
 *             copies x there first. For an asynchronous call, x and result on different sides are UNSUPPORTED.
 * Aliasing    result may be x if both types have the same size. Otherwise, they may not overlap.
 * n == 0      Nothing is done. x and result may be NULL.
 * status      GPUMEM_OK or GPUMEM_OVERFLOW, written in the order of the stream. It may be NULL, and is aligned to 4
 *             bytes. On a CUDA context, it is in device, pinned or managed memory. If the host finds no memory for
 *             enqueued work, it is GPUMEM_OUT_OF_MEMORY.
 * Capture     Two executions of one captured call may not overlap. The context must outlive them. */
GPUMEM_API gpumem_status gpumem_scan(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t exclusive,
                                     const void *x, int64_t n, void *result, gpumem_dtype result_type);
GPUMEM_API gpumem_status gpumem_scan_async(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t exclusive,
                                           const void *x, int64_t n, void *result, gpumem_dtype result_type,
                                           gpumem_status *status, gpumem_stream *stream);

/* Scans along one axis of a view, such as running totals over time. A line has the elements that differ only in their
 * index of this axis. Each line is scanned as gpumem_scan() scans a sequence: same bits, errors and rules of capture.
 *
 * Views       ndim is the number of axes, 1 to 8. axis is the number of the scanned axis, from 0. extents has ndim
 *             entries, for x and result. Strides are in elements. Those of x follow the rules of gpumem_reduce_view(),
 *             and those of result the rules of gpumem_permute(). NULL means row-major without padding.
 * Aliasing    result may be x if both types have the same size and both views have the same strides. Otherwise, they
 *             may not overlap.
 * Extent 0    Nothing is done. x and result may be NULL. */
GPUMEM_API gpumem_status gpumem_scan_axis(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op, int32_t exclusive,
                                          int32_t ndim, const int64_t *extents, int32_t axis, const void *x,
                                          const int64_t *x_strides, void *result, const int64_t *result_strides,
                                          gpumem_dtype result_type);
GPUMEM_API gpumem_status gpumem_scan_axis_async(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op,
                                                int32_t exclusive, int32_t ndim, const int64_t *extents, int32_t axis,
                                                const void *x, const int64_t *x_strides, void *result,
                                                const int64_t *result_strides, gpumem_dtype result_type,
                                                gpumem_status *status, gpumem_stream *stream);

/* Scans each segment of x as gpumem_scan() scans a sequence. Segment s has the elements from offsets[s] to
 * offsets[s+1] - 1, for s < segments. Results have the places of their elements. Results of elements in no segment are
 * not written.
 *
 * offsets     As for gpumem_reduce_segments(). They are in memory that the side of result can read; a blocking call
 *             takes any memory. Offsets that decrease, or are not from 0 to n, give GPUMEM_OUT_OF_RANGE. The results of
 *             the segments that they begin or end are then not written, and the others are right.
 * status      GPUMEM_OK, or the larger of the codes GPUMEM_OUT_OF_RANGE and GPUMEM_OVERFLOW.
 *
 * Operands, aliasing and the other errors are as for gpumem_scan(). If n or segments is 0, nothing is done. */
GPUMEM_API gpumem_status gpumem_scan_segments(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op,
                                              int32_t exclusive, const void *x, int64_t n, const int64_t *offsets,
                                              int64_t segments, void *result, gpumem_dtype result_type);
GPUMEM_API gpumem_status gpumem_scan_segments_async(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op,
                                                    int32_t exclusive, const void *x, int64_t n, const int64_t *offsets,
                                                    int64_t segments, void *result, gpumem_dtype result_type,
                                                    gpumem_status *status, gpumem_stream *stream);

/* -------------------------------------------------------------------------------------------------------- rearrange */

/* dst[j*dst_ld + i] = src[i*src_ld + j] for i < rows, j < cols. src is rows x cols, row-major, with leading dimension
 * src_ld >= cols. dst is cols x rows with dst_ld >= rows. Elements have 1, 2, 4, 8 or 16 bytes. src and dst may not
 * overlap unless src == dst. They may be different columns of one matrix.
 *
 * In place    src == dst transposes in place. A square matrix needs src_ld == dst_ld. Any other matrix needs src_ld
 *             == cols and dst_ld == rows, and takes up to three passes.
 * Scratch     Only transposes in place need scratch memory. A line here is max(rows, cols) elements. Device: as much
 *             as all matrices, if that is at most 32 MiB. Otherwise 32 MiB or one line, whichever is larger, but at
 *             most half of the matrix. None if a matrix, or a line with some columns, fits into a block's shared
 *             memory. It comes and goes in the stream's order. The context keeps up to 64 MiB of it. A captured graph
 *             has its own. Host: as much as one matrix, if that is at most 32 MiB (per thread, if at most 1 MiB).
 *             Otherwise 1 MiB or one line per thread, whichever is larger, but together at most half of the matrix.
 * Two sides   If one operand is in host memory and the other is not, the device does the work of a blocking call. The
 *             host operand crosses PCIe or NVLink in pieces of 8 MiB. Each transfer overlaps the transpose of the
 *             piece before it. That takes two pieces of device memory.
 *
 * Errors: as every operation; UNSUPPORTED (src == dst, but not as above); OUT_OF_MEMORY (scratch memory). If a host
 * function on a CUDA context's stream has no scratch memory, it writes to the log. */
GPUMEM_API gpumem_status gpumem_transpose(gpumem_ctx *ctx, int64_t element_bytes, int64_t rows, int64_t cols,
                                          const void *src, int64_t src_ld, void *dst, int64_t dst_ld);
GPUMEM_API gpumem_status gpumem_transpose_async(gpumem_ctx *ctx, int64_t element_bytes, int64_t rows, int64_t cols,
                                                const void *src, int64_t src_ld, void *dst, int64_t dst_ld,
                                                gpumem_stream *stream);

/* The same for `batches` matrices of one shape. Matrix b is at src + b*src_batch_stride and goes to dst +
 * b*dst_batch_stride, in elements. src_batch_stride is at least 0 (0: the same matrix each time). dst_batch_stride is
 * at least (cols-1)*dst_ld + rows. In place the two are equal. With fewer than two matrices, both are unused. */
GPUMEM_API gpumem_status gpumem_transpose_batched(gpumem_ctx *ctx, int64_t element_bytes, int64_t rows, int64_t cols,
                                                  const void *src, int64_t src_ld, int64_t src_batch_stride, void *dst,
                                                  int64_t dst_ld, int64_t dst_batch_stride, int64_t batches);
GPUMEM_API gpumem_status gpumem_transpose_batched_async(gpumem_ctx *ctx, int64_t element_bytes, int64_t rows,
                                                        int64_t cols, const void *src, int64_t src_ld,
                                                        int64_t src_batch_stride, void *dst, int64_t dst_ld,
                                                        int64_t dst_batch_stride, int64_t batches,
                                                        gpumem_stream *stream);

/* Copies count boxes in one call: patches of a mesh, halos or tiles, which may lie in one array or in many. A box has
 * ndim axes, 0 to 8. Box k has the extents from extents[k*ndim] on. Its first element is read from src[k] and written
 * to dst[k]. The last axis is the fastest. Elements have 1, 2, 4, 8 or 16 bytes.
 *
 * Strides     In elements, ndim per box, in the order of extents. NULL means that every box of this side is row-major
 *             without padding. The stride of an axis of extent 1 is not used. Strides of src are at least 0 (0 repeats
 *             elements). Distinct elements of a box have distinct places in dst, as for gpumem_permute().
 * Arrays      extents, src, dst and strides are arrays in ordinary host memory. The call reads them before it returns.
 *             They may be NULL if count is 0. extents may be NULL if ndim is 0.
 * Aliasing    No element of dst may be an element of src, or of dst in another box. Otherwise the values of these
 *             elements are undefined. Boxes of src may overlap. Boxes of one array may lie between each other, as the
 *             cells next to a border and their copies do. INVALID_ARGUMENT is returned only if src[k] is dst[k], or if
 *             both sides of box k have no gaps and overlap.
 * Empty       A box with an extent of 0 is skipped, and its addresses may be NULL. If count is 0, nothing is done.
 * Placement   The work runs where dst is. All boxes of dst are in host memory, or all are in device or managed memory.
 *             Boxes of src may be in different kinds of memory. The blocking form copies those that are on the other
 *             side, without gaps and in one transfer. The asynchronous form needs all of them on the side of dst.
 * Launches    On a CUDA device, of up to 106 boxes, or 1,269 of one shape. If some box has more than 4 axes, after axes
 *             without gaps between them are joined, 2^31 words, or a stride of 2^32 words, each box has its own launch.
 *             A word is the largest power of two up to 16 bytes that divides all addresses and strides of a box.
 *
 * Errors: as every operation. The message names the box or the element, for example src[3] or extents[7].
 *   UNSUPPORTED: boxes of dst on both sides. */
GPUMEM_API gpumem_status gpumem_copy_boxes(gpumem_ctx *ctx, int64_t element_bytes, int32_t ndim, int64_t count,
                                           const int64_t *extents, const void *const *src, const int64_t *src_strides,
                                           void *const *dst, const int64_t *dst_strides);
GPUMEM_API gpumem_status gpumem_copy_boxes_async(gpumem_ctx *ctx, int64_t element_bytes, int32_t ndim, int64_t count,
                                                 const int64_t *extents, const void *const *src,
                                                 const int64_t *src_strides, void *const *dst,
                                                 const int64_t *dst_strides, gpumem_stream *stream);

/* Copies rows of a matrix by index. A gather sets row i of dst to row index[i] of src, for i < n. Then src has
 * src_rows rows, and dst has n. A scatter sets row index[i] of dst to row i of src. Then src has n rows, and dst has
 * dst_rows. Rows that no i names are not written. If several i name one row of dst, each of its bytes comes from one
 * of their rows, but which one is undefined.
 *
 * Rows        row_bytes >= 1 bytes of any content. Row i begins at i * pitch. A pitch is at least row_bytes. With
 *             fewer than two rows it is not used.
 * Index       n numbers of index_type: GPUMEM_I32, GPUMEM_U32, GPUMEM_I64 or GPUMEM_U64, aligned to their size. They
 *             count from 0, may repeat, and may have any order. The library checks all of them before it writes. If a
 *             number names no row (negative or too large), dst is not changed, and the status is GPUMEM_OUT_OF_RANGE.
 *             The blocking call's error message has the first such i and its value. The asynchronous call writes the
 *             status to *status.
 * n == 0      Nothing is done. src, index and dst may then be NULL. A matrix without rows may also be NULL. Each
 *             index is then out of range.
 * Aliasing    dst may not overlap src or index, and status may overlap none of them.
 * Place       The work runs at dst. The blocking call first copies src (all its rows) and index there. For an
 *             asynchronous call the device can also read a pinned index.
 * status      GPUMEM_OK or GPUMEM_OUT_OF_RANGE, written in the order of the stream. It may be NULL, and is aligned to
 *             4 bytes. On a CUDA context it is in device, pinned or managed memory, else INVALID_POINTER.
 * Capture     Only operands of the device. Two executions of one captured call may not overlap.
 *
 * Errors: as every operation. OUT_OF_RANGE is also a status of index. */
GPUMEM_API gpumem_status gpumem_gather(gpumem_ctx *ctx, int64_t row_bytes, const void *src, int64_t src_rows,
                                       int64_t src_pitch_bytes, gpumem_dtype index_type, const void *index, int64_t n,
                                       void *dst, int64_t dst_pitch_bytes);
GPUMEM_API gpumem_status gpumem_gather_async(gpumem_ctx *ctx, int64_t row_bytes, const void *src, int64_t src_rows,
                                             int64_t src_pitch_bytes, gpumem_dtype index_type, const void *index,
                                             int64_t n, void *dst, int64_t dst_pitch_bytes, gpumem_status *status,
                                             gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_scatter(gpumem_ctx *ctx, int64_t row_bytes, const void *src, int64_t src_pitch_bytes,
                                        gpumem_dtype index_type, const void *index, int64_t n, void *dst,
                                        int64_t dst_rows, int64_t dst_pitch_bytes);
GPUMEM_API gpumem_status gpumem_scatter_async(gpumem_ctx *ctx, int64_t row_bytes, const void *src,
                                              int64_t src_pitch_bytes, gpumem_dtype index_type, const void *index,
                                              int64_t n, void *dst, int64_t dst_rows, int64_t dst_pitch_bytes,
                                              gpumem_status *status, gpumem_stream *stream);

/* Permutes the axes of an array. Axis d of dst is axis order[d] of src, as in NumPy's transpose(axes). ndim is the
 * number of axes, 0 (a single element) to 8. src has the extents extents[0], ..., extents[ndim - 1], and dst has
 * extents[order[0]], .... The last axis is the fastest. order names each axis once. extents and order may be NULL if
 * ndim is 0. Elements have 1, 2, 4, 8 or 16 bytes.
 *
 * Strides     In elements, one per axis of the operand's own shape. NULL means row-major without padding. The stride
 *             of an axis of extent 1 is not used. Strides of src are at least 0 (0 repeats elements). Distinct
 *             elements of dst have distinct places: in order of size, each stride of dst passes the last element that
 *             the smaller strides reach.
 * Aliasing    src and dst may not overlap. src == dst is UNSUPPORTED: permutations in place do not exist.
 * Host data   extents, order and strides are ordinary host memory. The library reads them before the call returns.
 * Extent 0    Nothing is done. src and dst may then be NULL.
 *
 * Errors: as every operation. */
GPUMEM_API gpumem_status gpumem_permute(gpumem_ctx *ctx, int64_t element_bytes, int32_t ndim, const int64_t *extents,
                                        const int32_t *order, const void *src, const int64_t *src_strides, void *dst,
                                        const int64_t *dst_strides);
GPUMEM_API gpumem_status gpumem_permute_async(gpumem_ctx *ctx, int64_t element_bytes, int32_t ndim,
                                              const int64_t *extents, const int32_t *order, const void *src,
                                              const int64_t *src_strides, void *dst, const int64_t *dst_strides,
                                              gpumem_stream *stream);

/* Sorts numbers. sorted gets the n keys in ascending order, or in descending order if descending is 1 (else it is 0).
 * order gets their positions: sorted[i] has the bits of keys[order[i]]. One of the two outputs may be NULL. The keys
 * are contiguous, of any dtype.
 *
 * Order       The sort is stable in both directions: equal keys keep their order. -0 is less than +0. A NaN is greater
 *             than every number, so NaNs are last in ascending and first in descending order. All NaNs are equal, and
 *             keep their bits.
 * order       Numbers of order_type: GPUMEM_I32, GPUMEM_U32, GPUMEM_I64 or GPUMEM_U64, aligned to their size. They
 *             count from 0. If n - 1 does not fit in order_type, the call is INVALID_ARGUMENT. If order is NULL,
 *             order_type is not used.
 * Aliasing    sorted may be exactly keys. Otherwise the three arrays may not overlap.
 * Place       The work runs at sorted, or at order if sorted is NULL. The blocking call first copies keys there. It may
 *             also write order on the other side. For an asynchronous call all three are on one side.
 * Scratch     Device, for n keys of b bytes: about n * (b + 1) bytes. Add 8 n for order, or 16 n from 2^32 keys on. Add
 *             n * b if sorted is NULL or not aligned to its elements. For n up to 2^18, the sum may be twice as large.
 *             Host: up to 2 n * b bytes, or 2 n * (b + 8) with order.
 * Bits        The host and every GPU give the same bits.
 *
 * Errors: as every operation; INVALID_ARGUMENT (not a dtype; both outputs are NULL; order is not aligned);
 * OUT_OF_MEMORY (scratch memory). If a host function on a CUDA context's stream has no scratch memory, it writes to the
 * log. */
GPUMEM_API gpumem_status gpumem_sort(gpumem_ctx *ctx, gpumem_dtype dtype, const void *keys, int64_t n,
                                     int32_t descending, void *sorted, void *order, gpumem_dtype order_type);
GPUMEM_API gpumem_status gpumem_sort_async(gpumem_ctx *ctx, gpumem_dtype dtype, const void *keys, int64_t n,
                                           int32_t descending, void *sorted, void *order, gpumem_dtype order_type,
                                           gpumem_stream *stream);

/* Sorts each segment of keys alone. Segment s has the keys from offsets[s] to offsets[s+1] - 1, for s < segments. sorted
 * gets them in order at the same places. order gets the positions in keys, as for gpumem_sort(): sorted[i] has the bits
 * of keys[order[i]]. Outputs of keys in no segment are not written.
 *
 * offsets     As for gpumem_reduce_segments(). They are in memory that the side of the output can read; a blocking call
 *             takes any memory. If they break the rules, the status is GPUMEM_OUT_OF_RANGE, and nothing else is written.
 * status      GPUMEM_OK or GPUMEM_OUT_OF_RANGE, written in the order of the stream. It may be NULL, and is aligned to 4
 *             bytes. On a CUDA context it is in device, pinned or managed memory.
 * Scratch     Device: up to 2 n * (b + 13) bytes for n keys of b bytes, or 2 n * (b + 21) from 2^32 keys on. Host: up to
 *             2 n * (b + 8) bytes.
 *
 * Operands and the other errors are as for gpumem_sort(). If n or segments is 0, nothing is done. */
GPUMEM_API gpumem_status gpumem_sort_segments(gpumem_ctx *ctx, gpumem_dtype dtype, const void *keys, int64_t n,
                                              const int64_t *offsets, int64_t segments, int32_t descending,
                                              void *sorted, void *order, gpumem_dtype order_type);
GPUMEM_API gpumem_status gpumem_sort_segments_async(gpumem_ctx *ctx, gpumem_dtype dtype, const void *keys, int64_t n,
                                                    const int64_t *offsets, int64_t segments, int32_t descending,
                                                    void *sorted, void *order, gpumem_dtype order_type,
                                                    gpumem_status *status, gpumem_stream *stream);

/* Keeps the rows of a matrix that a mask names, in their order. dst gets the rows i of src for which mask[i] is not 0,
 * one after another. *kept is their number.
 *
 * Rows        src has n rows of row_bytes >= 1 bytes of any content. Row i begins at i * src_pitch_bytes, and row k of
 *             dst at k * dst_pitch_bytes. A pitch is at least row_bytes. With fewer than two rows it is not used.
 * Mask        n contiguous bytes. Each value except 0 keeps its row.
 * Room        dst has room for dst_rows rows. At most n of them are used. If more rows are kept, dst gets the first
 *             dst_rows of them, *kept is the number of all, and the blocking call returns GPUMEM_OUT_OF_RANGE. After
 *             an asynchronous call, compare *kept with dst_rows. Rows of dst after the last one are not written.
 * Count       If dst_rows is 0, the call only counts. src and dst are not used and may be NULL. The status is
 *             GPUMEM_OK.
 * n == 0      *kept is 0. src, mask and dst may be NULL.
 * Aliasing    dst may not overlap src or mask. This excludes a selection in place. kept may overlap none of them.
 * Place       The work runs at dst, and a count runs at mask. The blocking call first copies src (all its rows) and
 *             mask there. For an asynchronous call the device can also read a pinned mask.
 * kept        The blocking call writes any kind of memory at any alignment. For an asynchronous call kept is aligned to
 *             8 bytes. On a CUDA context it is in device, pinned or managed memory, else INVALID_POINTER.
 * Scratch     Device: about n/8 bytes. It comes and goes in the stream's order. A captured graph has its own. Host: 8
 *             bytes per task.
 * Capture     Only operands of the device. Two executions of one captured call may not overlap.
 *
 * Errors: as every operation; OUT_OF_RANGE (blocking call: more rows are kept than dst has room for). */
GPUMEM_API gpumem_status gpumem_select(gpumem_ctx *ctx, int64_t row_bytes, const void *src, int64_t src_pitch_bytes,
                                       const uint8_t *mask, int64_t n, void *dst, int64_t dst_rows,
                                       int64_t dst_pitch_bytes, int64_t *kept);
GPUMEM_API gpumem_status gpumem_select_async(gpumem_ctx *ctx, int64_t row_bytes, const void *src,
                                             int64_t src_pitch_bytes, const uint8_t *mask, int64_t n, void *dst,
                                             int64_t dst_rows, int64_t dst_pitch_bytes, int64_t *kept,
                                             gpumem_stream *stream);

/* places gets the numbers i for which mask[i] is not 0, in ascending order. *kept is their number. places has room for
 * places_n numbers of index_type: GPUMEM_I32, GPUMEM_U32, GPUMEM_I64 or GPUMEM_U64, which must hold n - 1. They are
 * aligned to their size. If places_n is 0, the call only counts, and places may be NULL. Everything else is as for
 * gpumem_select(), with places and places_n as dst and dst_rows. The result is an index for gpumem_gather(). */
GPUMEM_API gpumem_status gpumem_select_places(gpumem_ctx *ctx, const uint8_t *mask, int64_t n, gpumem_dtype index_type,
                                              void *places, int64_t places_n, int64_t *kept);
GPUMEM_API gpumem_status gpumem_select_places_async(gpumem_ctx *ctx, const uint8_t *mask, int64_t n,
                                                    gpumem_dtype index_type, void *places, int64_t places_n,
                                                    int64_t *kept, gpumem_stream *stream);

/* ------------------------------------------------------------------------------------------------------ elementwise */

/* z[i] = alpha * x[i] + beta * y[i] for i < n. This is SAXPY if z == y and beta == 1, and a triad if alpha == 1. If
 * both are 1 it is a sum. If beta is 0 it is a scaled or plain copy.
 *
 * Bits        Each product and the sum are rounded once, to nearest, in the type of the arrays. They are never fused.
 *             The host and every GPU therefore give the same bits.
 * Factor 0    As in BLAS, an operand with factor 0 (of either sign) is not read. It may be NULL, and its NaN and
 *             infinities have no effect. z is then the product of the other operand, without an addition. If both
 *             factors are 0, z is +0.
 * NaN, inf    Factors and elements may have any value. A NaN result is always 0x7fc00000 (f32) or 0x7ff8000000000000
 *             (f64). Infinities, overflow and the sign of zero follow IEEE 754.
 * Aliasing    z may be exactly x, exactly y, or both. It may not otherwise overlap an operand that is read. x and y
 *             may overlap.
 *
 * Errors: as every operation. */
GPUMEM_API gpumem_status gpumem_axpby_f32(gpumem_ctx *ctx, float alpha, const float *x, float beta, const float *y,
                                          float *z, int64_t n);
GPUMEM_API gpumem_status gpumem_axpby_f64(gpumem_ctx *ctx, double alpha, const double *x, double beta, const double *y,
                                          double *z, int64_t n);
GPUMEM_API gpumem_status gpumem_axpby_f32_async(gpumem_ctx *ctx, float alpha, const float *x, float beta,
                                                const float *y, float *z, int64_t n, gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_axpby_f64_async(gpumem_ctx *ctx, double alpha, const double *x, double beta,
                                                const double *y, double *z, int64_t n, gpumem_stream *stream);

/* dst[i] = src[i] as another type, for i < n. Each pair of dtypes is possible. Both arrays are contiguous. On a
 * device, unaligned elements are slower. Conversion rules:
 *
 * To float    Rounded once to nearest, ties to even. A value that is too large becomes an infinity (f16: from 65520).
 *             Subnormals and the sign of zero stay. A NaN becomes 0x7e00 (f16), 0x7fc0 (bf16), 0x7fc00000 (f32) or
 *             0x7ff8000000000000 (f64).
 * To integer  Rounded to the nearest integer, ties to even. A value out of range becomes the type's largest or
 *             smallest value. A NaN becomes 0.
 * Same type   A copy, bit for bit, also of NaN.
 * Bits        The host and every GPU give the same bits.
 * Aliasing    dst may be exactly src if both types have the same size. It may not otherwise overlap src.
 *
 * Errors: as every operation; INVALID_ARGUMENT (not a dtype). */
GPUMEM_API gpumem_status gpumem_convert(gpumem_ctx *ctx, gpumem_dtype src_type, const void *src, gpumem_dtype dst_type,
                                        void *dst, int64_t n);
GPUMEM_API gpumem_status gpumem_convert_async(gpumem_ctx *ctx, gpumem_dtype src_type, const void *src,
                                              gpumem_dtype dst_type, void *dst, int64_t n, gpumem_stream *stream);

/* Arithmetic on views of arrays with up to eight axes. gpumem_lincomb forms z = factors[0] * x[0] + ... +
 * factors[terms - 1] * x[terms - 1] from 1 to 16 sources. gpumem_multiply forms z = x * y. With shifted views of one
 * array, one call computes a stencil. A step of the heat equation has five terms.
 *
 * Views       ndim is the number of axes, 0 (a single element) to 8. extents has ndim entries, for z and every
 *             source. It may be NULL if ndim is 0. Strides follow the rules of gpumem_permute(), with z as dst.
 *             x_strides has the ndim strides of x[0], then the strides of x[1], and so on. If it is NULL, all sources
 *             have the strides of z.
 * Host data   extents, strides, factors and the array x itself are ordinary host memory. The library reads them
 *             before the call returns.
 * Bits        Each product is rounded once, to nearest, in the type of the arrays. Sums go from left to right, with
 *             one rounding each, never fused. The host and every GPU therefore give the same bits. Two terms give the
 *             bits of gpumem_axpby.
 * Factor 0    A source with factor 0 (of either sign) is not read, as in gpumem_axpby. If all factors are 0, z is +0.
 * NaN, inf    As gpumem_axpby.
 * Place       The work runs at z. The blocking call first copies the sources of the other side there, from first to
 *             last element.
 * Aliasing    Sources may overlap each other. z may be exactly a source, with the same address and strides. It may
 *             not otherwise overlap a source that is read.
 *
 * Errors: as every operation. */
GPUMEM_API gpumem_status gpumem_lincomb_f32(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents, int32_t terms,
                                            const float *factors, const float *const *x, const int64_t *x_strides,
                                            float *z, const int64_t *z_strides);
GPUMEM_API gpumem_status gpumem_lincomb_f64(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents, int32_t terms,
                                            const double *factors, const double *const *x, const int64_t *x_strides,
                                            double *z, const int64_t *z_strides);
GPUMEM_API gpumem_status gpumem_lincomb_f32_async(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents, int32_t terms,
                                                  const float *factors, const float *const *x, const int64_t *x_strides,
                                                  float *z, const int64_t *z_strides, gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_lincomb_f64_async(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents, int32_t terms,
                                                  const double *factors, const double *const *x,
                                                  const int64_t *x_strides, double *z, const int64_t *z_strides,
                                                  gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_multiply_f32(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents, const float *x,
                                             const int64_t *x_strides, const float *y, const int64_t *y_strides,
                                             float *z, const int64_t *z_strides);
GPUMEM_API gpumem_status gpumem_multiply_f64(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents, const double *x,
                                             const int64_t *x_strides, const double *y, const int64_t *y_strides,
                                             double *z, const int64_t *z_strides);
GPUMEM_API gpumem_status gpumem_multiply_f32_async(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents,
                                                   const float *x, const int64_t *x_strides, const float *y,
                                                   const int64_t *y_strides, float *z, const int64_t *z_strides,
                                                   gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_multiply_f64_async(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents,
                                                   const double *x, const int64_t *x_strides, const double *y,
                                                   const int64_t *y_strides, double *z, const int64_t *z_strides,
                                                   gpumem_stream *stream);

/* gpumem_lincomb with factors in memory. Factor k is factors[k] * *numerators[k] / *denominators[k]. It is computed in
 * f64 from left to right, and then rounded once to the type of the arrays. A solver can use the results of reductions
 * as factors, without a copy to the host.
 *
 * Factors     Each of the three arrays has `terms` entries, or is NULL, which means 1 for all terms. An entry of
 *             numerators or denominators may also be NULL, which means 1. Other entries are addresses of an element, in
 *             memory that the side of z can read, aligned to 8 bytes. The blocking call takes any memory.
 * When        The elements are read when the work runs, in the order of the stream. They may not be part of z.
 * Factor 0    Only a source without numerator and denominator is skipped if its factor is 0. A factor in memory is not
 *             known before the work runs, so its source is always read. 0 times a NaN or an infinity is then a NaN.
 *
 * All else is as for gpumem_lincomb. */
GPUMEM_API gpumem_status gpumem_lincomb_at_f32(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents, int32_t terms,
                                               const float *factors, const double *const *numerators,
                                               const double *const *denominators, const float *const *x,
                                               const int64_t *x_strides, float *z, const int64_t *z_strides);
GPUMEM_API gpumem_status gpumem_lincomb_at_f64(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents, int32_t terms,
                                               const double *factors, const double *const *numerators,
                                               const double *const *denominators, const double *const *x,
                                               const int64_t *x_strides, double *z, const int64_t *z_strides);
GPUMEM_API gpumem_status gpumem_lincomb_at_f32_async(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents,
                                                     int32_t terms, const float *factors,
                                                     const double *const *numerators, const double *const *denominators,
                                                     const float *const *x, const int64_t *x_strides, float *z,
                                                     const int64_t *z_strides, gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_lincomb_at_f64_async(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents,
                                                     int32_t terms, const double *factors,
                                                     const double *const *numerators, const double *const *denominators,
                                                     const double *const *x, const int64_t *x_strides, double *z,
                                                     const int64_t *z_strides, gpumem_stream *stream);

/* gpumem_lincomb_at and dot products of the new z in one pass over memory: results[k] is the sum of z * w[k], for each k
 * below dots. A step of the method of conjugate gradients needs no copy to the host: the results of one call are
 * factors of the next.
 *
 * dots        1 to 3.
 * w           dots addresses of views with the extents of z. NULL, as an entry or for w, means z, and the strides of
 *             this entry are then not used. w_strides has the ndim strides of w[0], then the strides of w[1], and so on.
 *             If it is NULL, all have the strides of z. Strides are at least 0. The array w is ordinary host memory,
 *             read before the call returns.
 * results     dots elements. The blocking call takes any memory. The _async call writes them in the order of the stream.
 *             They are then aligned to 8 bytes. On a CUDA context they are in device, pinned or managed memory, else
 *             INVALID_POINTER.
 * Bits        z has the bits of gpumem_lincomb_at, and each result has the bits of gpumem_dot_view of z and w[k].
 * Extent 0    Each result is +0. z and its sources may then be NULL.
 * Place       The blocking call also copies the w of the other side to z.
 * Aliasing    w[k] may overlap sources and other w. It may not overlap z, except as z itself, with its address and
 *             strides. The results may not overlap z, a source or a w that is read, or a factor in memory.
 *
 * All else is as for gpumem_lincomb_at. */
GPUMEM_API gpumem_status gpumem_lincomb_dot_f32(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents, int32_t terms,
                                                const float *factors, const double *const *numerators,
                                                const double *const *denominators, const float *const *x,
                                                const int64_t *x_strides, float *z, const int64_t *z_strides,
                                                int32_t dots, const float *const *w, const int64_t *w_strides,
                                                double *results);
GPUMEM_API gpumem_status gpumem_lincomb_dot_f64(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents, int32_t terms,
                                                const double *factors, const double *const *numerators,
                                                const double *const *denominators, const double *const *x,
                                                const int64_t *x_strides, double *z, const int64_t *z_strides,
                                                int32_t dots, const double *const *w, const int64_t *w_strides,
                                                double *results);
GPUMEM_API gpumem_status gpumem_lincomb_dot_f32_async(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents,
                                                      int32_t terms, const float *factors,
                                                      const double *const *numerators,
                                                      const double *const *denominators, const float *const *x,
                                                      const int64_t *x_strides, float *z, const int64_t *z_strides,
                                                      int32_t dots, const float *const *w, const int64_t *w_strides,
                                                      double *results, gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_lincomb_dot_f64_async(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents,
                                                      int32_t terms, const double *factors,
                                                      const double *const *numerators,
                                                      const double *const *denominators, const double *const *x,
                                                      const int64_t *x_strides, double *z, const int64_t *z_strides,
                                                      int32_t dots, const double *const *w, const int64_t *w_strides,
                                                      double *results, gpumem_stream *stream);

/* Elementwise functions over views of arrays with up to eight axes. The functions of one operand come first in
 * gpumem_map_op, up to GPUMEM_MAP_NOT: z = f(x). The others are z = f(x, y). gpumem_compare sets each byte of mask to 1
 * if the comparison holds, and else to 0. gpumem_where sets z to x if mask is not 0, and else to y.
 *
 * Types       gpumem_map and gpumem_compare take every dtype. The operands have one type. GPUMEM_MAP_RECIPROCAL,
 *             GPUMEM_MAP_SQUARE_ROOT and GPUMEM_MAP_COPY_SIGN are for floating-point types, and GPUMEM_MAP_REMAINDER and
 *             the operations on bits for integers. Another type is UNSUPPORTED. Floor, ceil, truncate and round leave an
 *             integer unchanged. gpumem_where moves elements of any content, of 1, 2, 4, 8 or 16 bytes.
 * Views       ndim is the number of axes, 0 (a single element) to 8. extents has ndim entries, for every operand. It may
 *             be NULL if ndim is 0. Strides are in elements and have ndim entries. Strides that are NULL are row-major,
 *             without padding. Those of a source are 0 or more, and a stride of 0 repeats an element. Distinct elements
 *             of the result must have distinct places, as in gpumem_permute(). A function of one operand does not use y
 *             and y_strides, which may be NULL.
 * Host data   extents and strides are ordinary host memory. The library reads them before the call returns.
 * Floats      Each result is rounded once, to nearest. f16 and bf16 are computed in f32 and rounded once more. The host
 *             and every GPU give the same bits. A NaN result is always 0x7e00 (f16), 0x7fc0 (bf16), 0x7fc00000 (f32) or
 *             0x7ff8000000000000 (f64). Minimum and maximum propagate NaN, and -0 is less than +0. Copy sign gives x
 *             the sign bit of y, also if y is a NaN. Comparisons with a NaN are false, except GPUMEM_NOT_EQUAL.
 * Integers    Results wrap. A quotient is truncated toward 0, and a remainder has the sign of x. The smallest number
 *             divided by -1 is itself. If y is 0, the quotient and the remainder are 0, and the status is OUT_OF_RANGE.
 *             All elements are written in any case. A shift by a count that is negative, or as large as the number of
 *             bits, gives 0. A shift to the right of a negative number then gives -1.
 * Empty       If an extent is 0, nothing is done, and the operands may be NULL.
 * Place       The work runs at z (or at the mask that is written). The blocking call first copies the sources of the
 *             other side there, from first to last element.
 * Aliasing    Sources may overlap each other. z may be exactly a source with elements of the same size, with the same
 *             address and strides. It may not otherwise overlap a source.
 * status      Of gpumem_map_async: GPUMEM_OK or GPUMEM_OUT_OF_RANGE, written in the order of the stream. It may be NULL,
 *             and is aligned to 4 bytes. It may overlap no operand. On a CUDA context it is in device, pinned or managed
 *             memory, else INVALID_POINTER.
 *
 * Errors: as every operation; UNSUPPORTED (a function that the type lacks). OUT_OF_RANGE is also a status of y. */
GPUMEM_API gpumem_status gpumem_map(gpumem_ctx *ctx, gpumem_map_op op, gpumem_dtype dtype, int32_t ndim,
                                    const int64_t *extents, const void *x, const int64_t *x_strides, const void *y,
                                    const int64_t *y_strides, void *z, const int64_t *z_strides);
GPUMEM_API gpumem_status gpumem_map_async(gpumem_ctx *ctx, gpumem_map_op op, gpumem_dtype dtype, int32_t ndim,
                                          const int64_t *extents, const void *x, const int64_t *x_strides,
                                          const void *y, const int64_t *y_strides, void *z, const int64_t *z_strides,
                                          gpumem_status *status, gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_compare(gpumem_ctx *ctx, gpumem_compare_op op, gpumem_dtype dtype, int32_t ndim,
                                        const int64_t *extents, const void *x, const int64_t *x_strides, const void *y,
                                        const int64_t *y_strides, uint8_t *mask, const int64_t *mask_strides);
GPUMEM_API gpumem_status gpumem_compare_async(gpumem_ctx *ctx, gpumem_compare_op op, gpumem_dtype dtype, int32_t ndim,
                                              const int64_t *extents, const void *x, const int64_t *x_strides,
                                              const void *y, const int64_t *y_strides, uint8_t *mask,
                                              const int64_t *mask_strides, gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_where(gpumem_ctx *ctx, int64_t element_bytes, int32_t ndim, const int64_t *extents,
                                      const uint8_t *mask, const int64_t *mask_strides, const void *x,
                                      const int64_t *x_strides, const void *y, const int64_t *y_strides, void *z,
                                      const int64_t *z_strides);
GPUMEM_API gpumem_status gpumem_where_async(gpumem_ctx *ctx, int64_t element_bytes, int32_t ndim,
                                            const int64_t *extents, const uint8_t *mask, const int64_t *mask_strides,
                                            const void *x, const int64_t *x_strides, const void *y,
                                            const int64_t *y_strides, void *z, const int64_t *z_strides,
                                            gpumem_stream *stream);

/* dst = (src + offset) * scale as another type, over views of up to eight axes. It unpacks and packs measurements: 16-bit
 * integers of files become floats, or the reverse with the inverse scale.
 *
 * Rounding    src is converted to f64. The sum and the product are rounded once each, in f64. The product becomes
 *             dst_type by the rules of gpumem_convert(), also if both types are equal. A NaN that is not in src, such as
 *             infinity times 0, becomes 0 in an integer type.
 * NaN         Where src is a NaN, dst is nan_value, converted to dst_type.
 * scale       A view of f64, as offset is. If its strides are NULL, it is a single element. scale NULL means 1. offset
 *             NULL means that nothing is added, so that -0 stays.
 * src, dst    Strides that are NULL are row-major, without padding.
 * Aliasing    dst may be exactly src if both types have the same size. It may not otherwise overlap src, scale or offset.
 * Views, host data, empty, place: as gpumem_map().
 *
 * Errors: as every operation; INVALID_ARGUMENT (not a dtype). */
GPUMEM_API gpumem_status gpumem_convert_scaled(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents,
                                               gpumem_dtype src_type, const void *src, const int64_t *src_strides,
                                               const double *scale, const int64_t *scale_strides, const double *offset,
                                               const int64_t *offset_strides, double nan_value, gpumem_dtype dst_type,
                                               void *dst, const int64_t *dst_strides);
GPUMEM_API gpumem_status gpumem_convert_scaled_async(gpumem_ctx *ctx, int32_t ndim, const int64_t *extents,
                                                     gpumem_dtype src_type, const void *src, const int64_t *src_strides,
                                                     const double *scale, const int64_t *scale_strides,
                                                     const double *offset, const int64_t *offset_strides,
                                                     double nan_value, gpumem_dtype dst_type, void *dst,
                                                     const int64_t *dst_strides, gpumem_stream *stream);

/* ----------------------------------------------------------------------------------------------------------- images */

/* Resizes an image of src_rows x src_cols pixels to dst_rows x dst_cols. A pixel has 1 to 4 interleaved channels of
 * dtype GPUMEM_U8, GPUMEM_U16 or GPUMEM_F32. A pitch is at least cols * channels * element bytes. If dst has pixels,
 * src has at least one. src and dst may not overlap.
 *
 * Centres     The centre of row (column) i of dst is at (i + 0.5) * src / dst - 0.5 rows (columns) of src. That is
 *             the convention of OpenCV's INTER_NEAREST_EXACT and INTER_LINEAR. Integers represent coordinates
 *             exactly, for any extents.
 * Nearest     The pixel that contains the centre, with its bits, also of NaN: row floor((2 i + 1) * src / (2 dst)).
 *             On the border of two pixels it is the second (OpenCV: the first).
 * Bilinear    Interpolates the four pixels around the centre. Past the edge they are the pixels of the edge. It
 *             interpolates along rows first, then down columns. The fraction of a coordinate is rounded once to
 *             nearest, halves up. It has 12 bits for u8 and 24 bits for f32. For u16 it has 16 bits along a row and
 *             24 down a column. u8 and u16 use integers and round only the final value, halves up. f32 is a + w * (b
 *             - a), with each operation rounded once to nearest and none fused. If a == b, it is a.
 * Error       R is the difference between the largest and the smallest of the four pixels, M is their largest
 *             magnitude. Compared with the exact bilinear value, the error of u8 is at most 0.5 + R / 2^12. That of
 *             u16 is at most 0.5 + R * (2^-17 + 2^-25). Both are within 1 of the exact value rounded. The error of
 *             f32 is at most 2^-20 * M + 2^-147, if no difference of two pixels overflows.
 * f32         A NaN in bilinear results is always 0x7fc00000. A difference of pixels that overflows is an infinity.
 *             inf - inf is a NaN.
 * Bits        The same sizes give the same pixels, bit by bit (except the bits of a NaN). The bits do not depend on
 *             the device, the variant, the threads, the alignment or the kind of memory. A constant image stays
 *             constant. A ramp along rows or down columns stays monotone.
 * Texture     The variant "texture" gives other bits, and runs only if it is set by gpumem_variant_force(). It leaves
 *             bilinear values to the device's texture unit. The maker documents 8 bits of fraction per coordinate,
 *             and not how the unit combines them. |error| is at most R / 2^7 + 1 for u8 and u16, and R / 2^7 + 2^-20
 *             * M for f32. The largest error seen on an H200 is R / 200. It is CAPTURING under graph capture.
 *
 * Errors: as every operation; INVALID_ARGUMENT (a pitch that is too small, a src without a pixel); UNSUPPORTED
 * (another dtype). */
GPUMEM_API gpumem_status gpumem_resize_2d(gpumem_ctx *ctx, gpumem_filter filter, gpumem_dtype dtype, int32_t channels,
                                          const void *src, int64_t src_rows, int64_t src_cols, int64_t src_pitch_bytes,
                                          void *dst, int64_t dst_rows, int64_t dst_cols, int64_t dst_pitch_bytes);
GPUMEM_API gpumem_status gpumem_resize_2d_async(gpumem_ctx *ctx, gpumem_filter filter, gpumem_dtype dtype,
                                                int32_t channels, const void *src, int64_t src_rows, int64_t src_cols,
                                                int64_t src_pitch_bytes, void *dst, int64_t dst_rows, int64_t dst_cols,
                                                int64_t dst_pitch_bytes, gpumem_stream *stream);

/* Resizes count images to one size. Image k is at src[k], with src_rows[k] x src_cols[k] pixels and rows that are
 * src_pitch_bytes[k] apart. If src_pitch_bytes is NULL, the rows of each image are contiguous. The result of image k
 * begins dst_image_stride_bytes * k bytes after dst. It has dst_rows x dst_cols pixels, rows that are dst_pitch_bytes
 * apart, and the bits of gpumem_resize_2d() of that image. All images have the same channels and dtype.
 *
 * Arrays      src, src_rows, src_cols and src_pitch_bytes are arrays of count elements in ordinary host memory. The
 *             call reads them before it returns. They may be NULL if count is 0.
 * Stride      If there are two images or more, dst_image_stride_bytes is at least the bytes from the first byte of a
 *             result to its last. For one image it is ignored.
 * Aliasing    Images of src may overlap or repeat. dst may not overlap an image of src.
 * Planes      Planar images (images x channels x rows x cols) are images of one channel: channels is 1, count is the
 *             number of planes, and src has the address of each plane. With contiguous results,
 *             dst_image_stride_bytes is dst_rows * dst_pitch_bytes. To make planes of interleaved images, resize them,
 *             then call gpumem_transpose_batched(): a batch is an image, with dst_rows * dst_cols rows and channels
 *             columns.
 * Placement   The work runs where dst is. Images may be in different kinds of memory. The blocking form copies the
 *             images that are on the other side. The asynchronous form needs all images on the side of dst.
 * Empty       If count is 0, or dst has no pixels, the call writes nothing.
 * Launches    Up to 112 images per kernel launch on a CUDA device, or all u16 or f32 images of one size and distance.
 *
 * Errors: as gpumem_resize_2d(). The message names the image, for example src_rows[3]. */
GPUMEM_API gpumem_status gpumem_resize_2d_batch(gpumem_ctx *ctx, gpumem_filter filter, gpumem_dtype dtype,
                                                int32_t channels, int64_t count, const void *const *src,
                                                const int64_t *src_rows, const int64_t *src_cols,
                                                const int64_t *src_pitch_bytes, void *dst, int64_t dst_rows,
                                                int64_t dst_cols, int64_t dst_pitch_bytes,
                                                int64_t dst_image_stride_bytes);
GPUMEM_API gpumem_status gpumem_resize_2d_batch_async(gpumem_ctx *ctx, gpumem_filter filter, gpumem_dtype dtype,
                                                      int32_t channels, int64_t count, const void *const *src,
                                                      const int64_t *src_rows, const int64_t *src_cols,
                                                      const int64_t *src_pitch_bytes, void *dst, int64_t dst_rows,
                                                      int64_t dst_cols, int64_t dst_pitch_bytes,
                                                      int64_t dst_image_stride_bytes, gpumem_stream *stream);

/* --------------------------------------------------------------------------------------------------------- variants */

/* Lists the variants of an operation for all backends, in the order of the table that gpumem_explain() reports. Some
 * run only if gpumem_variant_force() names them ("taken by name only"): textbook variants, and resize's "texture",
 * which gives other bits. The name is static.
 * Errors: NOT_FOUND (index is too large). */
GPUMEM_API gpumem_status gpumem_variant_count(gpumem_family family, int32_t *count);
GPUMEM_API gpumem_status gpumem_variant_name(gpumem_family family, int32_t index, const char **name);

/* Overrides the choice of an operation's variant in this context, wherever it runs. NULL restores the choice. If the
 * variant does not fit a call, the call returns UNSUPPORTED and gives the reason. It never silently uses another.
 * Between host and device, and between devices, only the copy variants "driver" and "rings" can copy. An override
 * with another variant does not affect such copies.
 * Errors: NOT_FOUND. */
GPUMEM_API gpumem_status gpumem_variant_force(gpumem_ctx *ctx, gpumem_family family, const char *name);

/* An operation descriptor is one line of text: the name of an operation, then key=value words. It has everything that
 * decides where and how the operation runs.
 *
 *   reduce dtype=f32 op=sum n=1000 x=pinned
 *   transpose bytes=4 rows=16384 cols=16384 src=device dst=device src_misaligned=4
 *   permute bytes=4 extents=10x20x5 order=1,0,2 src=device dst=device form=async
 *   copy bytes=4096 src=pageable dst=device
 *
 * docs/operation-descriptors.md lists the keys of each operation. Sizes and strides have the function's units.
 * Omitted strides mean no padding. form=async selects the asynchronous call. KEY_misaligned is the number of bytes
 * from the last multiple of 16 to an operand. The value of an operand is its location:
 *   pageable, pinned, managed
 *   device     the context's device
 *   device:1   the CUDA device 1
 *   mixed      host memory that is partly pinned
 *   KEY        the place of an earlier operand (dst=src: in place) */

/* Explains an operation descriptor without running the operation. The explanation has the place of the work, the
 * variant, and the reasons for both. The text also has the reason against each other variant of the same backend. The
 * JSON object has all variants. The call touches and needs no memory, so a descriptor may name memory that this
 * process does not have.
 *
 * The format is text, or one JSON object with "schema" "gpumem.explain/1". Its "line" is the descriptor in its
 * shortest form. The common rule Texts applies. If the operation would refuse the problem, this call returns the same
 * status. It does not consider index values, offsets, results or the state of streams. If a descriptor is not valid,
 * the status is INVALID_ARGUMENT. The error message has the word and the expected form.
 * Errors: as the operation's. */
GPUMEM_API gpumem_status gpumem_explain(gpumem_ctx *ctx, const char *line, gpumem_format format, char *buf, int64_t cap,
                                        int64_t *needed);

/* Copies the operation descriptor of this thread's last operation on any context, "" if none ran yet. The common rule
 * Texts applies. To explain a call, make it, and pass this descriptor to gpumem_explain() on the same context. After
 * a refused call it has only the operands that were examined. A call that fails at its handles does not count as an
 * operation. Neither does a call of a function outside gpumem_family. */
GPUMEM_API gpumem_status gpumem_last_problem(char *buf, int64_t cap, int64_t *needed);

/* ------------------------------------------------------------------------------------------------------ measurement */

GPUMEM_API gpumem_status gpumem_ceiling_info_init(gpumem_ceiling_info *info, int64_t size);

/* Measures the peak bandwidth of the context's device memory for reads, writes and copies, and of the transfers
 * between host and device. Simple kernels process more memory than the caches hold. The result is the best of several
 * passes. The first call for a device measures, and the process keeps the result. A host context has one result per
 * number of threads. The call waits for the work of the context's own stream. Other work on the device at that time
 * lowers the result.
 *
 * Device      It takes less than 400 ms, and up to 1/32 of the device's memory, or less if less is free.
 * Host        It takes about half a second, or longer if page faults are slow. The memory is four times the
 *             last-level cache, from 128 MiB to 1 GiB, and at most a quarter of the free memory. If page faults are
 *             slow, it is less, but more than the cache.
 *
 * Errors: OUT_OF_MEMORY (32 MiB are not free), CAPTURING. */
GPUMEM_API gpumem_status gpumem_ceiling(gpumem_ctx *ctx, gpumem_ceiling_info *info);

/* Profiles a context from begin to end. It records each call of an operation in gpumem_family that had work. A record
 * has the operation descriptor, the variant, the bytes and the time of the work. begin() discards earlier records.
 * end() keeps them. If there are more than most_records records, new ones replace the oldest. Replaced records then
 * count only in the rows of kinds of memory. A record takes about 900 bytes, and begin() needs host memory for all of
 * them.
 *
 * Time        Events before and after it time the work on a stream. They are read once the stream has passed them, so
 *             nothing waits. The time does not include a wait for a result. A clock times the work of the calling
 *             thread, and a blocking call between pageable memory and a device. Calls under graph capture are
 *             counted, but not timed.
 * Price       Without a profile, no measurable cost. With a profile, the events cost some microseconds per call on a
 *             GPU.
 * Threads     Calls of all threads on the context are recorded.
 *
 * Errors: INVALID_ARGUMENT (most_records outside 1 to 2^24), OUT_OF_MEMORY. */
GPUMEM_API gpumem_status gpumem_profile_begin(gpumem_ctx *ctx, int64_t most_records);
GPUMEM_API gpumem_status gpumem_profile_end(gpumem_ctx *ctx);

GPUMEM_API gpumem_status gpumem_profile_row_init(gpumem_profile_row *row, int64_t size);

/* Writes at most cap rows. First comes one row per problem and variant, in order of total time, the longest first.
 * Then comes one row per pair of kinds of memory: those of a call's first and last operands. Initialise rows[0] with
 * gpumem_profile_row_init(). The library takes rows[0].struct_size as the size of every row. rows may be NULL if cap
 * is 0. needed, if not NULL, receives the number of all rows, which may exceed cap. You may call this while a profile
 * runs. Work that has not finished has no time yet. Without a profile the number of rows is 0. */
GPUMEM_API gpumem_status gpumem_profile_report(gpumem_ctx *ctx, gpumem_profile_row *rows, int64_t cap, int64_t *needed);

/* Replaces a file with the same rows: as a table (GPUMEM_FORMAT_TEXT), as CSV, or as a JSON object with "schema"
 * "gpumem.profile/1". GPUMEM_FORMAT_TRACE instead writes each timed call, for chrome://tracing and Perfetto.
 *
 * GPUMEM_PROFILE=<path> profiles each context. gpumem_ctx_destroy() writes <path>.<process id>.<number of the
 * context>, which is empty until then. A <path> that ends in .csv, .json or .trace selects that format, any other the
 * table. A CUDA context also marks its launches for NVTX tools. The domain is "gpumem", the category is the
 * operation, and the name is the variant.
 * Errors: INVALID_ARGUMENT (another format, ""), FILE_ERROR (a link, not an ordinary file, or the system's reason). */
GPUMEM_API gpumem_status gpumem_profile_write(gpumem_ctx *ctx, gpumem_format format, const char *path);

GPUMEM_API gpumem_status gpumem_tune_options_init(gpumem_tune_options *options, int64_t size);
GPUMEM_API gpumem_status gpumem_tune_info_init(gpumem_tune_info *info, int64_t size);

/* Measures the fastest variant for an operation descriptor (see gpumem_explain()). The context then uses it for
 * similar problems. Results never change. options may be NULL.
 *
 * Similar     The same operation, types, kinds of memory and alignments. Sizes from the same power of two to below
 *             the next (up to 16, the same size). Strides, with implicit ones, that have the same largest divisor
 *             among 1, 2, 4, 8 and 16.
 * Method      The call works in memory of its own. It runs every variant that the table allows in turns with the
 *             table's choice. It empties the caches if the operands would fit into them twice. It compares the
 *             results with the host's.
 * Adoption    A variant is adopted if it wins two rounds by 3 % and by twice the spread. It may be at most 3 % slower
 *             without emptied caches. An earlier tuning that is not adopted again is removed, and from the file at
 *             the next save.
 * Order       gpumem_variant_force() takes precedence over tuning. A tuned variant that does not fit a call is
 *             skipped.
 * Failure     If the call fails, the choices stay as they were. The same holds if progress stops it: the status is
 *             then OK, and the reason is "it was stopped".
 *
 * Errors: as the operation's, except EMPTY for single segments; OUT_OF_MEMORY.
 *   UNSUPPORTED: an operand on another device than the context's.
 *   UNSUPPORTED: a scatter of more rows than dst has, because its result is not defined.
 *   CAPTURING: a stream of the context is under capture. */
GPUMEM_API gpumem_status gpumem_tune(gpumem_ctx *ctx, const char *line, const gpumem_tune_options *options,
                                     gpumem_tune_info *info);

/* Loads earlier tuning from a file, saves this context's tuning to a file, or clears it.
 *
 * File        Each line has a device, an operation descriptor, a variant, the variant's revision, and its speed
 *             relative to the table's choice. Tabs separate them. A # begins a comment.
 * Load        Takes the lines of this context's device and of this host, if their variant still has the same
 *             revision. Skips other lines and logs them. taken and skipped receive the numbers of lines. They may be
 *             NULL.
 * Save        Keeps the file's lines of other devices and problems, and lines of a later library version. Removes
 *             lines of these devices with an older revision of a variant. Turns malformed lines into comments. It
 *             writes a second file and renames it, so the file is complete at any time. If several processes save at
 *             the same time, the last one's lines remain.
 *
 * Errors: FILE_ERROR (the file does not exist, is not a tuning file, is not an ordinary file, or the system's
 * reason). The tuning then stays the same. */
GPUMEM_API gpumem_status gpumem_tuning_load(gpumem_ctx *ctx, const char *path, int64_t *taken, int64_t *skipped);
GPUMEM_API gpumem_status gpumem_tuning_save(gpumem_ctx *ctx, const char *path);
GPUMEM_API gpumem_status gpumem_tuning_clear(gpumem_ctx *ctx);

/* ------------------------------------------------------------------------------------------------------ distributed */

/* Distributed arrays over several contexts, of one process or of many. A participant ("member" in names) is one
 * context's part. Participants are numbered through all processes, starting with process 0. Every process calls a
 * collective function, in the same order, with the arguments of its own participants. The library has no transport of
 * its own: see gpumem_dist_transport.
 *
 * Mistakes    If a collective call finds a mistake before it sends anything (a layout, a plan), it fails on every
 *             process with the same status. The error message has the participant and the box.
 * Failures    A process may find an error later (an invalid pointer, lack of memory). It then fails with its own
 *             status. Other processes get that status, or GPUMEM_PEER_LOST, or GPUMEM_TIMED_OUT at most deadline_s
 *             after the last message. A process whose part was complete gets it in its next call.
 * Persistent  After PEER_LOST or TIMED_OUT on any process, and after gpumem_dist_abort(), the error is persistent.
 *             Every collective call then returns it. Memory that the transport may still write to stays allocated.
 * Checks      Collective calls are numbered from 0, which is gpumem_dist_create(). Plans are numbered from 0 too.
 *             Every message has its own number, its call's and its plan's. Processes in different calls get
 *             PEER_LOST, and the error message has both calls. Processes with different library versions also get
 *             PEER_LOST. So do processes between which a message is lost, doubled, cut or swapped. The library checks
 *             its own data in messages, but not the bytes of array elements. The transport guarantees that they
 *             arrive unchanged. */

GPUMEM_API gpumem_status gpumem_dist_transport_init(gpumem_dist_transport *transport, int64_t size);
GPUMEM_API gpumem_status gpumem_dist_options_init(gpumem_dist_options *options, int64_t size);
GPUMEM_API gpumem_status gpumem_dist_info_init(gpumem_dist_info *info, int64_t size);
GPUMEM_API gpumem_status gpumem_dist_layout_init(gpumem_dist_layout *layout, int64_t size);
GPUMEM_API gpumem_status gpumem_dist_plan_options_init(gpumem_dist_plan_options *options, int64_t size);

/* Creates a gpumem_dist. Collective. The contexts must outlive it. The call copies the transport's table. If it fails
 * and the transport was readable, it releases the transport.
 * Errors: PEER_LOST, TIMED_OUT. */
GPUMEM_API gpumem_status gpumem_dist_create(const gpumem_dist_options *options, gpumem_dist **dist);

/* Describes a gpumem_dist. Not collective. Works in any state. After the call, gpumem_last_error() gives the message
 * of a persistent error. */
GPUMEM_API gpumem_status gpumem_dist_query(gpumem_dist *dist, gpumem_dist_info *info);

/* Cancels the calls on dist that are running in this process. They and all later calls give GPUMEM_PEER_LOST. You may
 * call it from any thread. */
GPUMEM_API gpumem_status gpumem_dist_abort(gpumem_dist *dist);

/* Releases the transport and destroys dist. Not collective, but other processes wait for messages that this process
 * no longer sends.
 * Errors: BUSY (plans are alive). */
GPUMEM_API gpumem_status gpumem_dist_destroy(gpumem_dist *dist);

/* Plans to move an array from one layout to another. Collective. Axis d of dst is axis order[d] of src, so
 * dst->extents[d] is src->extents[order[d]]. A NULL order keeps the axes. The boxes of src are disjoint and contain
 * every element of dst's boxes. Boxes of dst may share elements (a broadcast, an all-gather). Strides of dst follow
 * the rules for gpumem_permute()'s dst. Boxes of one participant have distinct places in its memory, but a shared
 * element may have one place for both boxes. options may be NULL. The call reads the layouts before it returns. */
GPUMEM_API gpumem_status gpumem_dist_plan_redistribute(gpumem_dist *dist, const gpumem_dist_layout *src,
                                                       const gpumem_dist_layout *dst, const int32_t *order,
                                                       const gpumem_dist_plan_options *options,
                                                       gpumem_dist_plan **plan);

/* Plans to fill the ghost cells around each box, with corners, from the boxes that own them. Collective. Along axis d
 * these are low[d] elements before the box and high[d] elements after it. The participant's memory has room for them
 * at the box's strides. All elements of a box and its ghost cells have distinct places. If periodic[d] is 1, the
 * array continues past its ends with its other end. If it is 0, nothing is written there. On a periodic axis, low[d]
 * and high[d] are at most 16 times the extent. low, high and periodic have one entry per axis, the same on every
 * process. The boxes are disjoint and contain every requested element. options may be NULL. */
GPUMEM_API gpumem_status gpumem_dist_plan_halo(gpumem_dist *dist, const gpumem_dist_layout *layout, const int64_t *low,
                                               const int64_t *high, const int32_t *periodic,
                                               const gpumem_dist_plan_options *options, gpumem_dist_plan **plan);

/* Plans reductions over an array. Collective. They take the array as the sequence of its elements, with the last axis
 * fastest. The boxes are disjoint and form the whole array. options may be NULL. The bits of a floating-point sum
 * depend on the order. If each box is contiguous in that sequence (as slabs are), up to 1023 elements per box go to a
 * neighbour. Otherwise all elements move to form contiguous parts, and each process keeps memory for its share.
 * Order-free sums move no elements, whatever the boxes are: GPUMEM_SUM_ORDER_FREE, GPUMEM_NRM2_ORDER_FREE and
 * gpumem_dist_dot_order_free(). gpumem_dist_explain() says what each way moves. */
GPUMEM_API gpumem_status gpumem_dist_plan_reduce(gpumem_dist *dist, const gpumem_dist_layout *layout,
                                                 const gpumem_dist_plan_options *options, gpumem_dist_plan **plan);

/* Executes a redistribution or a halo plan. Collective. src and dst have one pointer per participant of this process,
 * from which its boxes' offsets count. It points to any memory that the participant's context accepts. It may be NULL
 * if the participant has no box. For a halo, dst is src, or NULL. For a redistribution, output and input may not
 * overlap. The work comes after the contexts' own streams, and is complete for this process on return. The call does
 * not synchronise the processes.
 * Errors: as gpumem_permute(); PEER_LOST, TIMED_OUT. */
GPUMEM_API gpumem_status gpumem_dist_execute(gpumem_dist_plan *plan, const void *const *src, void *const *dst);

/* The asynchronous form. Collective: another process may call gpumem_dist_execute() instead. It works in two cases.
 * In the first, all contexts of all processes are on the host. In the second, every process uses only peer reads and
 * NCCL in the plan (see gpumem_dist_explain()). All participants of a process then use devices, or all use the host.
 * Source and destination of each piece are both in host memory, or both in device or managed memory.
 *
 * streams     One stream of each participant's context. NULL is the context's own. streams itself may be NULL. Either
 *             no stream is under graph capture, or all are, for one graph.
 * Order       Each piece comes after the earlier work on the streams of both its participants, and before later work
 *             on either. All work is done once the streams of all participants are. Meanwhile you may enqueue the
 *             plan again, or destroy it.
 * Processes   Between several processes, the elements travel while the program computes. The exchanges of a
 *             gpumem_dist run in the order of the calls. Its other collective calls first wait for them, and so does
 *             gpumem_dist_plan_destroy(). On the host, a thread of the library calls the transport, after the earlier
 *             work on all given streams. With NCCL, the call returns once every process has called it. A thread then
 *             watches the transfers. Before the 9th exchange, and the 5th round of one, it waits for earlier ones.
 * Memory      Between two devices, and with NCCL, the call may allocate from the contexts' pools, except under capture.
 * Failure     If a call fails after enqueuing some pieces, it waits for them, except during graph capture. Between
 *             several processes, an error after the return is persistent: the streams continue unless NCCL hangs, dst
 *             is undefined, and the next call returns the error. gpumem_dist_query() shows it earlier. On the host all
 *             errors are persistent. With NCCL, a wrong argument of one process fails in all, and is not persistent.
 *
 * Errors: as gpumem_permute_async(); PEER_LOST, TIMED_OUT.
 *   UNSUPPORTED: a context is on a device, and pieces are staged, are in memory that another participant's device cannot
 *     read, or go to another process and are not in device or managed memory.
 *   CAPTURING: only some streams are under capture, or they belong to different graphs; or NCCL is used. */
GPUMEM_API gpumem_status gpumem_dist_execute_async(gpumem_dist_plan *plan, const void *const *src, void *const *dst,
                                                   gpumem_stream *const *streams);

/* Reduces the whole array to one value, the same on all processes. Collective. The bits and statuses are as from
 * gpumem_reduce(), gpumem_argreduce(), gpumem_dot_*() and gpumem_nrm2_*() for the whole sequence on one device. They
 * do not depend on the number of participants or their boxes. x and y are as src of gpumem_dist_execute(). The
 * layout's element_bytes is the type's size. An index is the element's position in the sequence. value may be NULL.
 * Results are ordinary host memory, and are valid on return.
 * Errors: as those functions, also CAPTURING; PEER_LOST, TIMED_OUT. */
GPUMEM_API gpumem_status gpumem_dist_reduce(gpumem_dist_plan *plan, gpumem_dtype dtype, gpumem_reduce_op op,
                                            const void *const *x, void *result);
GPUMEM_API gpumem_status gpumem_dist_argreduce(gpumem_dist_plan *plan, gpumem_dtype dtype, gpumem_reduce_op op,
                                               const void *const *x, void *value, int64_t *index);
GPUMEM_API gpumem_status gpumem_dist_dot(gpumem_dist_plan *plan, gpumem_dtype dtype, const void *const *x,
                                         const void *const *y, double *result);
GPUMEM_API gpumem_status gpumem_dist_nrm2(gpumem_dist_plan *plan, gpumem_dtype dtype, const void *const *x,
                                          double *result);

/* As gpumem_dist_dot(), with the bits of gpumem_dot_order_free(). Each participant reduces its boxes in place, and sends
 * one partial result of 48 bytes.
 * Errors: as gpumem_dot_order_free(), also CAPTURING; PEER_LOST, TIMED_OUT. */
GPUMEM_API gpumem_status gpumem_dist_dot_order_free(gpumem_dist_plan *plan, gpumem_dtype dtype, const void *const *x,
                                                    const void *const *y, double *result);

/* Describes this process's part of a plan, as text or JSON. Not collective. It has the bytes and messages to and from
 * each process, their path, and the workspace. The common rule Texts applies. */
GPUMEM_API gpumem_status gpumem_dist_explain(gpumem_dist_plan *plan, gpumem_format format, char *buf, int64_t cap,
                                             int64_t *needed);

/* Destroys a plan. Not collective. */
GPUMEM_API gpumem_status gpumem_dist_plan_destroy(gpumem_dist_plan *plan);

#ifdef __cplusplus
}
#endif

#endif /* GPUMEM_H */
