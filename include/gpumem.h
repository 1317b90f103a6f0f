/* SPDX-License-Identifier: Apache-2.0
 *
 * gpumem: the memory side of a GPU, for programs without a line of CUDA in them.
 *
 * This header is the whole contract. It includes <stdint.h> and nothing else, and compiles as C99 to C23 and
 * C++11 to C++23. What holds for every function, unless its own text says otherwise:
 *
 * Status      Every function returns a gpumem_status; 0 is success. On failure gpumem_last_error() gives a sentence
 *             that names the argument, the value that was given and what was expected. Control characters and bytes
 *             that are no UTF-8 stand in it as \xNN or \uNNNN, as in messages to the log. A failure found before the
 *             first write leaves every output untouched. A fault that a device reports later leaves outputs undefined.
 *             Allocators in the signatures of other libraries leave the sentence alone.
 * Pointers    Operands (x, src, dst, p) may be any kind of memory: heap, stack, pinned, device, managed, or CUDA memory
 *             of another library. Where the data lies decides where the work runs; gpumem_explain() says where and why.
 *             Handles, structs, strings, counts and other out-parameters are ordinary host memory, and may not be NULL
 *             unless the text says so.
 * Ranges      A range that runs past an allocation the library or the driver knows, or from the program's memory into
 *             gpumem's, is GPUMEM_OUT_OF_RANGE. Of host memory that nobody registered the system is asked whether it can
 *             be accessed: GPUMEM_OUT_OF_RANGE when its last byte can't, GPUMEM_INVALID_POINTER when another part can't.
 *             Pages between rows or elements that lie apart need not be there; so a missing part that is no longer than
 *             the widest of these gaps goes unseen, and is the caller's promise.
 * Sizes       int64_t. Counts and strides are in elements, sizes named _bytes in bytes. Negative sizes and products
 *             that leave int64_t are GPUMEM_INVALID_ARGUMENT.
 * Blocking    The plain name is complete on return and runs in the order of the context's own stream; a name in _async
 *             only enqueues, on the given stream, where NULL is the context's own. Streams are ordered with each other
 *             by events alone: wait for data that another stream still writes, before a plain call too.
 * Threads     Every function may be called from any thread, also on one shared context. Destroying an object while
 *             another thread still uses it is a mistake of the program: where that is a stream of the host backend, the
 *             other's call gives GPUMEM_INVALID_HANDLE. The caller's current CUDA device stays as it was.
 * fork        In a child process, handles made before the fork give GPUMEM_FORKED, and the child may make its own.
 *             Other threads of the parent may be inside the library at the fork: no call in the child waits for them.
 * Capture     Every function leaves the graph captures of CUDA valid, on any stream and of any thread: it works, or it is
 *             refused. Only the allocators for PyTorch and CuPy may end a capture.
 * Reset       After cudaDeviceReset(), or once the device's primary context was released, what a context had there is
 *             gone. Its calls then give GPUMEM_DEVICE_FAULT, and only destroying it and its objects works. A context
 *             made afterwards works. Nothing may use the device while it is being reset.
 * Signals     The library installs no handlers and blocks every signal in its own threads.
 * pthreads    No function is a cancellation point: a thread that is cancelled (of the deferred type) ends its call
 *             first, and the program's callbacks in it can't be cancelled either.
 * errno       No function changes errno, nor the thread's signal mask, affinity, locale or floating-point environment.
 *             Floating-point exceptions do not trap in what a call computes, nor in threads that it starts.
 * Stack       A call, or a task in the program's own pool, takes at most 16 KiB of its thread's stack beside what the CUDA
 *             driver takes. The library has 12 KiB of thread-local data, in which the C library may take a thread's
 *             stack: PTHREAD_STACK_MIN is too little for pthread_create() where it is loaded from the start.
 * Copies      Of two copies of the library in one process, neither takes the other's handles.
 * Since       Every function is there since version 0.1.0, unless its text says otherwise.
 *
 * In the text below, "Errors" lists what a function can return beside GPUMEM_OK, GPUMEM_INVALID_ARGUMENT (NULL,
 * negative or unknown values), GPUMEM_INVALID_HANDLE, GPUMEM_FORKED, GPUMEM_OUT_OF_MEMORY and GPUMEM_INTERNAL.
 * Functions that reach a CUDA device can also return GPUMEM_DEVICE_FAULT and GPUMEM_DRIVER_ERROR.
 */
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

/* The version of this header; gpumem_version() gives the library's. */
enum { GPUMEM_VERSION_MAJOR = 0, GPUMEM_VERSION_MINOR = 1, GPUMEM_VERSION_PATCH = 0 };

/* 1-99: the caller's mistake. 100-199: a resource ran out. 200-299: device or driver. 900: a defect of the library. */
typedef int32_t gpumem_status;
enum {
  GPUMEM_OK = 0,
  GPUMEM_INVALID_ARGUMENT = 1, /* NULL, negative, unknown value, overflowing product, misuse of an argument */
  GPUMEM_INVALID_HANDLE = 2,   /* not a live handle of the expected type: destroyed, foreign or garbage */
  GPUMEM_INVALID_POINTER = 3,  /* freed, unreadable, or not of the kind that the function needs */
  GPUMEM_OUT_OF_RANGE = 4,     /* a range runs past the allocation it starts in, or an index past its matrix */
  GPUMEM_EMPTY = 5,            /* the value of nothing was asked for (minimum of n == 0) */
  GPUMEM_OVERFLOW = 6,         /* the exact result does not fit its type */
  GPUMEM_UNSUPPORTED = 7,      /* valid, but this device, backend or version can't do it */
  GPUMEM_BUSY = 8,             /* children are alive */
  GPUMEM_NOT_READY = 9,        /* enqueued work is still running; not a failure */
  GPUMEM_NOT_FOUND = 10,       /* no such variant or device */
  GPUMEM_CAPTURING = 11,       /* can't run on a stream under graph capture; the capture is still valid */
  GPUMEM_FORKED = 12,          /* the handle was made in the parent process */
  GPUMEM_CORRUPTED = 13,       /* memory round an allocation, or one that was freed, was written; in debug mode */
  GPUMEM_OUT_OF_MEMORY = 100,
  GPUMEM_OUT_OF_RESOURCES = 101, /* threads, handles, mappings */
  GPUMEM_FILE_ERROR = 102,       /* a file can't be opened, read or written */
  GPUMEM_NO_DEVICE = 200,        /* a driver is there, and no usable device */
  GPUMEM_NO_DRIVER = 201,
  GPUMEM_DRIVER_TOO_OLD = 202,
  GPUMEM_DEVICE_FAULT = 203, /* the device's context is lost, or was reset; it sticks to every context that was on it */
  GPUMEM_DRIVER_ERROR = 204, /* any other failure that CUDA reported; the sentence carries its name */
  GPUMEM_NOT_BUILT = 205,    /* this build of the library has no CUDA backend */
  GPUMEM_PEER_LOST = 206,    /* another process of a gpumem_dist failed, or the transport to it */
  GPUMEM_TIMED_OUT = 207,    /* another process of a gpumem_dist was silent for too long */
  GPUMEM_INTERNAL = 900
};

typedef int32_t gpumem_backend;
enum { GPUMEM_BACKEND_HOST = 0, GPUMEM_BACKEND_CUDA = 1 };

/* A device is a CUDA ordinal >= 0 or one of these. */
enum {
  GPUMEM_DEVICE_HOST = -1, /* the host backend */
  GPUMEM_DEVICE_BEST = -2, /* the caller's current CUDA device, else the lowest visible one, else the host */
  GPUMEM_DEVICE_CUDA = -3, /* as BEST, but a status instead of the host */
  GPUMEM_DEVICE_NONE = -4  /* no device: an answer, never an argument */
};

/* Element types of the whole library; which of them a function takes is in its name or its text. */
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
  /* f64 only: the sum with the rounding errors of every addition carried along */
  GPUMEM_SUM_COMPENSATED = 8,
  /* The operations of gpumem_argreduce(), gpumem_dot_*() and gpumem_nrm2_*(), as problem lines number them; no function
   * takes them. */
  GPUMEM_ARG_MIN = 16,
  GPUMEM_ARG_MAX = 17,
  GPUMEM_DOT = 18,
  GPUMEM_NRM2 = 19,
  GPUMEM_ARG_MAX_ABS = 20,
  GPUMEM_PROD = 21 /* product of x, for the functions that take GPUMEM_SUM */
};

/* Which lines of a matrix gpumem_reduce_axis() reduces, each to one result. */
typedef int32_t gpumem_axis;
enum {
  GPUMEM_AXIS_ROWS = 0, /* one result a row */
  GPUMEM_AXIS_COLS = 1  /* one result a column */
};

typedef int32_t gpumem_memory_kind;
enum {
  GPUMEM_MEMORY_PAGEABLE = 0, /* ordinary host memory */
  GPUMEM_MEMORY_PINNED = 1,   /* page-locked host memory */
  GPUMEM_MEMORY_DEVICE = 2,
  GPUMEM_MEMORY_MANAGED = 3 /* unified memory: one address on host and device */
};

/* Hints for managed memory, in the sense of cudaMemAdvise; each has its undoing. */
typedef int32_t gpumem_advice;
enum {
  GPUMEM_ADVISE_READ_MOSTLY = 1,
  GPUMEM_ADVISE_UNSET_READ_MOSTLY = 2,
  GPUMEM_ADVISE_PREFERRED_LOCATION = 3,
  GPUMEM_ADVISE_UNSET_PREFERRED_LOCATION = 4,
  GPUMEM_ADVISE_ACCESSED_BY = 5,
  GPUMEM_ADVISE_UNSET_ACCESSED_BY = 6
};

/* A family of kernel variants that compute the same thing. */
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
  GPUMEM_FAMILY_ARITHMETIC = 13 /* gpumem_lincomb, gpumem_multiply */
};

/* How gpumem_resize_2d() takes a value between the elements of an image. */
typedef int32_t gpumem_filter;
enum { GPUMEM_FILTER_NEAREST = 0, GPUMEM_FILTER_BILINEAR = 1 };

typedef int32_t gpumem_format;
enum {
  GPUMEM_FORMAT_TEXT = 0,
  GPUMEM_FORMAT_JSON = 1,
  GPUMEM_FORMAT_CSV = 2,  /* of profiles */
  GPUMEM_FORMAT_TRACE = 3 /* of profiles: Chrome's trace events, as JSON */
};

typedef int32_t gpumem_log_level;
enum { GPUMEM_LOG_ERROR = 1, GPUMEM_LOG_WARNING = 2, GPUMEM_LOG_INFO = 3 };

/* Handles. Incomplete types: never dereferenced, checked on every call. */
typedef struct gpumem_ctx gpumem_ctx;
typedef struct gpumem_stream gpumem_stream;
typedef struct gpumem_event gpumem_event;
typedef struct gpumem_dist gpumem_dist;
typedef struct gpumem_dist_plan gpumem_dist_plan;

/* Called by the library from any of its threads or the caller's, one call at a time a context. May not call the library
 * with the same context. `message` is valid during the call only. */
typedef void (*gpumem_log_fn)(void *user, gpumem_log_level level, const char *message);

/* The program's own thread pool. Must call task(task_state, i) once for each i in [0, tasks), on any threads, and return
 * when all have returned. Must work when called from several threads at once, throw nothing and call no CUDA: it may be
 * called inside a stream's host function. task never throws.
 * Results stay right where it does not keep to this. The thread that called it runs the tasks that it left out, and waits
 * for those that still run on others. A task that is called twice runs once, and an i outside the range does nothing.
 * task_state stays valid for good: a task that is called after its parallel_for has returned does no harm. */
typedef void (*gpumem_task_fn)(void *task_state, int64_t index);
typedef void (*gpumem_parallel_for_fn)(void *user, int64_t tasks, gpumem_task_fn task, void *task_state);

/* How far a long call is, from 0 to 1. It is called in the calling thread, may call no function on the same context, and
 * returns 0, or anything else to stop the call. */
typedef int32_t (*gpumem_progress_fn)(void *user, double done);

/* Every struct begins with struct_size and grows only at its end. Fill it with its _init function (size is
 * sizeof(the struct) as the caller sees it); the library then reads and writes no byte past the caller's size. */

typedef struct gpumem_ctx_options {
  int64_t struct_size;
  int32_t device;       /* GPUMEM_DEVICE_* or an ordinal; default GPUMEM_DEVICE_BEST */
  int32_t host_threads; /* threads of the host backend, the caller's included; default 0: affinity and cgroup decide */
  /* 1: the context's own CUDA stream is not ordered with the legacy default stream; default 0 */
  int32_t non_blocking_stream;
  int32_t reserved0;                   /* 0 */
  gpumem_parallel_for_fn parallel_for; /* the program's pool, or NULL (default) for the library's */
  void *parallel_for_user;
  /* 1: plain gpumem_reduce_*, argreduce_* and nrm2_* of contiguous host memory (stride 1) on a CUDA context run on the
   * device, to which the data is moved in pieces; the same bits. Default 0: they run on the host, where it lies. */
  int32_t stream_host_data;
  int32_t reserved1; /* 0 */
  /* The most bytes that gpumem_alloc_device() and gpumem_alloc_async() take from the device at a time, those kept for
   * reuse counted in; default 0: as many as there are. */
  int64_t device_memory_limit;
  /* The most bytes of freed pinned memory that are kept for reuse; 0: none; default -1: an eighth of the host's memory
   * (memory_bytes of GPUMEM_DEVICE_HOST), at most 4 GiB. */
  int64_t pinned_memory_kept;
  /* 1: debug mode, see gpumem_memory_check(); default 0: only if the environment's GPUMEM_DEBUG is 1. */
  int32_t debug_memory;
  int32_t reserved2; /* 0 */
  /* 1: a host context refuses _async calls that a CUDA context would refuse for where their operands lie, with the same
   * status: results in pageable memory, and operands on both sides, where memory in name of a device counts as one
   * (gpumem_alloc_device(), gpumem_alloc_async() and gpumem_alloc_managed()). Default 0: they run. Nothing on a CUDA
   * context. */
  int32_t strict_host;
  int32_t reserved3; /* 0 */
} gpumem_ctx_options;

typedef struct gpumem_device_info {
  int64_t struct_size;
  gpumem_backend backend;
  int32_t device;            /* GPUMEM_DEVICE_HOST or the CUDA ordinal */
  gpumem_status reason_code; /* why a BEST context is on the host: 0, or the status that CUDA would have given */
  int32_t compute_major;     /* compute capability; 0 on the host */
  int32_t compute_minor;
  int32_t multiprocessors;       /* SMs; on the host, the threads that work is spread over */
  int32_t driver_version;        /* as CUDA counts: 1000 * major + 10 * minor; 0 on the host */
  int32_t managed_memory;        /* 1: gpumem_alloc_managed works */
  int32_t concurrent_managed;    /* 1: prefetch and advice work */
  int32_t pageable_access;       /* 1: kernels can read ordinary host memory */
  int64_t memory_bytes;          /* memory of the device; of the host, no more than its control groups allow */
  int64_t l2_bytes;              /* L2 of the device; last-level cache of the host, 0 if unknown */
  int64_t bandwidth_bytes_per_s; /* theoretical bytes a second: 2 x memory clock x bus width; 0 if unknown */
  char name[128];
  char reason[256]; /* a sentence: why this device was taken */
} gpumem_device_info;

typedef struct gpumem_pointer_info {
  int64_t struct_size;
  gpumem_memory_kind kind;
  int32_t device; /* where it lies: a CUDA ordinal, or GPUMEM_DEVICE_HOST; managed memory: the device it belongs to */
  int32_t ours;   /* 1: allocated by gpumem */
  int32_t reserved0;
  int64_t size_bytes;   /* of the allocation; 0 if unknown */
  int64_t offset_bytes; /* of the pointer in its allocation; 0 if unknown */
  const void *base;     /* start of the allocation; NULL if unknown */
} gpumem_pointer_info;

typedef struct gpumem_managed_info {
  int64_t struct_size;
  int64_t host_bytes;         /* of the range, in memory of the host: read there without a fault, fetched by a device */
  int32_t last_prefetch;      /* where to: a CUDA ordinal, GPUMEM_DEVICE_HOST, or GPUMEM_DEVICE_NONE */
  int32_t preferred_location; /* by advice, likewise */
  int32_t read_mostly;        /* 1: by advice */
  int32_t accessed_by;        /* 1: by advice, the context's device */
} gpumem_managed_info;

typedef struct gpumem_memory_stats_info {
  int64_t struct_size;
  int64_t device_bytes; /* live, as asked for */
  int64_t device_blocks;
  int64_t device_peak_bytes; /* high-water mark of device_bytes */
  int64_t pinned_bytes;
  int64_t pinned_blocks;
  int64_t pinned_peak_bytes;
  int64_t managed_bytes;
  int64_t managed_blocks;
  int64_t managed_peak_bytes;
  int64_t allocations; /* successful ones since the context was created, of all kinds */
  int64_t frees;
  /* Taken from the device or the system: live, kept for reuse, and lost to rounding; and its high-water mark. */
  int64_t device_reserved_bytes;
  int64_t device_reserved_peak_bytes;
  int64_t pinned_reserved_bytes;
  int64_t pinned_reserved_peak_bytes;
  int64_t device_allocations; /* of one kind */
  int64_t pinned_allocations;
  int64_t managed_allocations;
  int64_t device_hits; /* allocations that needed no new memory, and those that did */
  int64_t device_misses;
  int64_t pinned_hits;
  int64_t pinned_misses;
  int64_t registered_bytes; /* of the program, registered now */
  int64_t registered_ranges;
} gpumem_memory_stats_info;

/* Bytes a second. */
typedef struct gpumem_ceiling_info {
  int64_t struct_size;
  int64_t read;
  int64_t write;
  int64_t copy;        /* within the memory: bytes read and bytes written */
  int64_t to_device;   /* from pinned memory; 0 on a host context */
  int64_t from_device; /* to pinned memory, likewise */
  int64_t theoretical; /* bandwidth_bytes_per_s of the device; 0 if unknown */
} gpumem_ceiling_info;

/* Calls of one problem by one variant; or, behind those, all calls between two kinds of memory. */
typedef struct gpumem_profile_row {
  int64_t struct_size;
  int64_t calls;
  int64_t timed;         /* of them, those whose time is known: not captured into a graph, and done */
  int64_t bytes;         /* that the calls read and wrote; across the link to the device, that crossed it */
  double median_s;       /* seconds of a call; 0 where none is timed, and for kinds of memory */
  double total_s;        /* of the timed calls */
  double bytes_per_s;    /* of the timed calls */
  double of_theoretical; /* bytes_per_s as a share of the memory's theoretical bandwidth; 0 if unknown */
  double of_ceiling;  /* as a share of what gpumem_ceiling() measured; 0: not called, or caches may hold half of it */
  double flops_per_s; /* of axpby, linear combinations and dot, by the median; otherwise 0 */
  char variant[64];   /* "" for kinds of memory */
  char problem[512];  /* the problem line, or "pageable to device"; cut where it is longer */
} gpumem_profile_row;

typedef struct gpumem_tune_options {
  int64_t struct_size;
  double budget_s; /* seconds that the timing may take, about, beside a few runs of each variant; default 2 */
  gpumem_progress_fn progress; /* or NULL (default) */
  void *user;
} gpumem_tune_options;

typedef struct gpumem_tune_info {
  int64_t struct_size;
  int32_t adopted;    /* 1: calls of problems like this one take `winner` from now on; 0: the table's choice */
  int32_t candidates; /* variants that were held against the table's choice */
  double table_s;     /* median seconds of the table's choice, and of the fastest other variant */
  double winner_s;
  double ratio;     /* table_s / winner_s */
  double spread;    /* the wider interquartile range of the two, as a share of its median */
  char table[64];   /* the table's choice */
  char winner[64];  /* the fastest other variant; the table's choice where there is no other */
  char reason[128]; /* why it was adopted, or not */
} gpumem_tune_info;

/* How the processes of a gpumem_dist reach each other: functions of the program, or of bindings/mpi for MPI. They are
 * called in the thread that calls the library, one at a time, and return 0, or anything else where they fail. Messages from
 * one process to another arrive in the order in which they were sent.
 *
 * send and receive begin to move bytes (1 to 2^30) of ordinary host memory, which stays as it is until test says so. A
 * message may be shorter than what is received. One that is longer, where processes are in different calls, is a failure
 * of the receiver's test, which writes nothing past the end. test sets *done = 1 when a request has ended; it is not asked
 * about again. It is also what makes progress. After release nothing is called; requests that never ended may still write
 * to their memory. */
typedef int32_t (*gpumem_dist_send_fn)(void *user, const void *p, int64_t bytes, int32_t to, void **request);
typedef int32_t (*gpumem_dist_receive_fn)(void *user, void *p, int64_t bytes, int32_t from, void **request);
typedef int32_t (*gpumem_dist_test_fn)(void *user, void *request, int32_t *done);
typedef void (*gpumem_dist_release_fn)(void *user);

typedef struct gpumem_dist_transport {
  int64_t struct_size;
  void *user;   /* the first argument of each */
  int32_t rank; /* of this process, 0 to size - 1 */
  int32_t size; /* processes */
  gpumem_dist_send_fn isend;
  gpumem_dist_receive_fn irecv;
  gpumem_dist_test_fn test;
  gpumem_dist_release_fn release; /* or NULL */
} gpumem_dist_transport;

typedef struct gpumem_dist_options {
  int64_t struct_size;
  gpumem_ctx *const *contexts;            /* of the members of this process; a context may stand for several members */
  int32_t members;                        /* how many, 1 or more */
  int32_t reserved0;                      /* 0 */
  const gpumem_dist_transport *transport; /* NULL (default): these members are all */
  double deadline_s; /* seconds in which no message comes or goes, until a call gives up; default 60 */
} gpumem_dist_options;

typedef struct gpumem_dist_info {
  int64_t struct_size;
  int32_t rank;         /* of this process */
  int32_t size;         /* processes */
  int32_t first_member; /* of this process, among all */
  int32_t members;      /* of this process */
  int32_t all_members;
  gpumem_status status; /* GPUMEM_OK, or what sticks */
  int32_t staged_pairs; /* of members of this process between which pieces are staged; others pull */
  int32_t reserved0;
} gpumem_dist_info;

/* An array that is spread over the members in boxes, as one process sees it: the whole, and the boxes of its own members. */
typedef struct gpumem_dist_layout {
  int64_t struct_size;
  int64_t element_bytes;  /* 1, 2, 4, 8 or 16 */
  int32_t rank;           /* axes, 1 to 8 */
  int32_t reserved0;      /* 0 */
  const int64_t *extents; /* of the whole array, `rank` of them; the last axis is the fastest */
  int64_t boxes;          /* 0 or more; a member may have any number of them */
  const int32_t *members; /* whose each box is, 0 to members - 1 of this process; NULL: box i is member i's */
  const int64_t *lower;   /* boxes x rank: the index of each box's first element */
  const int64_t *upper;   /* boxes x rank: one past its last; a box may be empty */
  const int64_t *offsets; /* boxes: elements from the member's pointer to the box's first; NULL: 0 */
  const int64_t *strides; /* boxes x rank, in elements, 1 or more, anything along an axis of one element or of an empty
                             box; NULL: each box row-major without gaps */
} gpumem_dist_layout;

typedef struct gpumem_dist_plan_options {
  int64_t struct_size;
  int64_t workspace_bytes; /* the most that a process keeps for messages and for managed memory that another device
                              reads, and a member for what it fetches from another device; default 256 MiB, at least
                              4 KiB */
} gpumem_dist_plan_options;

/* ---------------------------------------------------------------------------------------------------------- library */

/* The library's version. Any of the three may be NULL. Cannot fail. */
GPUMEM_API gpumem_status gpumem_version(int32_t *major, int32_t *minor, int32_t *patch);

/* The name of a status, "GPUMEM_OUT_OF_MEMORY"; "GPUMEM_UNKNOWN_STATUS" for any other value. Never NULL,
 * static. */
GPUMEM_API const char *gpumem_status_name(gpumem_status status);

/* Copies the sentence of this thread's last failed call, NUL-terminated, cut at cap bytes ("" if none failed yet). A
 * call that succeeds leaves it as it is. buf may be NULL when cap is 0. needed (may be NULL) gets the bytes that the
 * whole sentence takes, its NUL included. Never changes the sentence. */
GPUMEM_API gpumem_status gpumem_last_error(char *buf, int64_t cap, int64_t *needed);

/* How many CUDA devices this process can use: 0, and success, without a driver or a device. The host is always there
 * and not counted. */
GPUMEM_API gpumem_status gpumem_device_count(int32_t *count);

GPUMEM_API gpumem_status gpumem_device_info_init(gpumem_device_info *info, int64_t size);

/* What is known of a device (an ordinal, GPUMEM_DEVICE_HOST, GPUMEM_DEVICE_BEST or GPUMEM_DEVICE_CUDA), without a
 * context. BEST is what a context would get now, GPUMEM_DEVICE counted in. Errors: NOT_FOUND for an ordinal past the
 * last; NO_DRIVER, DRIVER_TOO_OLD, NO_DEVICE, NOT_BUILT. */
GPUMEM_API gpumem_status gpumem_device_query(int32_t device, gpumem_device_info *info);

/* ---------------------------------------------------------------------------------------------------------- context */

GPUMEM_API gpumem_status gpumem_ctx_options_init(gpumem_ctx_options *options, int64_t size);

/* Creates a context: a device, its own stream, and everything that is created on it. options may be NULL: the best
 * device, else the host, which never fails for lack of a GPU; gpumem_ctx_device() then says why. *ctx is NULL on
 * failure. The environment is read here (and GPUMEM_DEVICE by gpumem_device_query()) and nowhere else: GPUMEM_DEVICE
 * (host, cuda or an ordinal: used where the options leave the choice, that is GPUMEM_DEVICE_BEST),
 * GPUMEM_VARIANT_<FAMILY> (as gpumem_variant_force()), GPUMEM_HOST_SIMD (base, avx2 or avx512: the widest instructions
 * the host backend may use), GPUMEM_DEBUG (1: as options->debug_memory; 0: nothing), GPUMEM_TRACE (see
 * gpumem_memory_trace()), GPUMEM_PROFILE (see gpumem_profile_write()), GPUMEM_TUNING (a path, as gpumem_tuning_load()).
 * A program that runs with more rights than its user has (setuid, or by a capability) takes
 * nothing from it.
 * Errors: as gpumem_device_query() when a device was named; UNSUPPORTED for an unknown non-zero tail of the options;
 * NOT_FOUND for an unknown variant name in the environment; INVALID_ARGUMENT for another value there that is not
 * understood; FILE_ERROR for a trace or profile that can't be written, and what can't be read as a tuning file. */
GPUMEM_API gpumem_status gpumem_ctx_create(const gpumem_ctx_options *options, gpumem_ctx **ctx);

/* Waits for the context's work, reports live allocations (and in debug mode damaged memory, see gpumem_memory_check())
 * through the log, frees them and destroys the context. NULL is a no-op. Works after a device fault or a reset too.
 * Errors: BUSY (streams or events are alive, or it is a context of the process, see gpumem_shared_ctx()), CAPTURING (its
 * own stream is under graph capture); nothing was changed then. */
GPUMEM_API gpumem_status gpumem_ctx_destroy(gpumem_ctx *ctx);

/* The context's device, and why it was taken. */
GPUMEM_API gpumem_status gpumem_ctx_device(gpumem_ctx *ctx, gpumem_device_info *info);

/* GPUMEM_OK, or the device fault that sticks to the context: nothing else than destroying it works then. A reset of the
 * device is one. */
GPUMEM_API gpumem_status gpumem_ctx_status(gpumem_ctx *ctx);

/* Waits for everything enqueued on the context's own stream and on every stream created or wrapped on it.
 * Errors: CAPTURING. */
GPUMEM_API gpumem_status gpumem_ctx_synchronize(gpumem_ctx *ctx);

/* Sends the context's messages to fn from now on; NULL for silence (the default). The library prints nothing itself. */
GPUMEM_API gpumem_status gpumem_ctx_set_log(gpumem_ctx *ctx, gpumem_log_fn fn, void *user);

/* Does now what the first calls would do on the way: loads kernels, starts threads, allocates scratch. Optional. */
GPUMEM_API gpumem_status gpumem_ctx_warmup(gpumem_ctx *ctx);

/* ----------------------------------------------------------------------------------------------------------- memory */

/* Allocate bytes of device, pinned or managed memory, aligned to 256 bytes, contents undefined. bytes == 0 gives NULL
 * and success. *p is NULL on failure. Every stream may use the memory at once. A host context gives host memory of the
 * same kind in name, so that a program runs unchanged.
 * Device memory comes from a pool of the context (see gpumem_alloc_async()) and belongs to the context's own stream.
 * Freed pinned memory is kept too, up to pinned_memory_kept: the driver takes a third of a second for a GiB.
 * Before the library touches or locks memory of the host it asks how much there is now: by MemAvailable of the system
 * and the limits of control groups (cgroups, as of a container). More than that is OUT_OF_MEMORY, and the sentence has
 * both numbers. What others take at the same time is not foreseen. Memory that a host context gives is not touched: as
 * with malloc(), the system may give more than there is.
 * Errors: OUT_OF_MEMORY; UNSUPPORTED (managed memory on a device without it). */
GPUMEM_API gpumem_status gpumem_alloc_device(gpumem_ctx *ctx, int64_t bytes, void **p);
GPUMEM_API gpumem_status gpumem_alloc_pinned(gpumem_ctx *ctx, int64_t bytes, void **p);
GPUMEM_API gpumem_status gpumem_alloc_managed(gpumem_ctx *ctx, int64_t bytes, void **p);

/* Frees memory of any kind that this context allocated, after the work of its streams: it waits for what the context's
 * own stream and every stream created or wrapped on it have been given, except those under graph capture. Work of the
 * program's other streams that uses the memory must be done. NULL is a no-op.
 * Errors: INVALID_POINTER (not the start of an allocation, freed before, not gpumem's, or another context's); in debug
 * mode CORRUPTED (it was written past its ends; it is freed all the same). When the wait fails, work may still use the
 * memory: it stays allocated, and can be freed later or goes with its context. */
GPUMEM_API gpumem_status gpumem_free(gpumem_ctx *ctx, void *p);

/* Allocates bytes of device memory for a stream, which the memory then belongs to, and frees device memory in a
 * stream's order; neither waits for the device (but for gpumem_alloc_async() when memory runs short, see below).
 *
 * Alignment   A power of two from 1 to 2 MiB; 256 bytes are given in any case.
 * Order       The memory may be used by work on its stream, and by work elsewhere that is ordered after what the stream
 *             had been given by then. gpumem_free_async() frees it behind the work that its own stream and `stream` have
 *             been given so far, and gives it to the next that asks: on its own stream at once, on another one behind
 *             an event. gpumem_memory_used_on() declares work on a further stream: the memory, whose start p is, is
 *             then freed behind what that stream has been given by the time of the free as well. Work on streams that
 *             are not declared must be done, or be waited for by one of these, when the memory is freed.
 * Pools       What is freed is kept for reuse, up to about a fifth of what was live at a time or what the streams needed
 *             each, and what they have not passed; blocks of 2 to 256 KiB take up to an eighth more than was asked for,
 *             and so do larger ones where the driver maps no granules. A host context keeps no more than an eighth of the
 *             host's memory for a stream, at most 4 GiB. When the device or device_memory_limit has no
 *             more, what is kept goes back first and streams are waited for, before the status is OUT_OF_MEMORY.
 * Streams     A stream may be destroyed before the memory that belongs to it, or that it was declared to use. For a
 *             wrapped stream, what the program gives it after the end of the wrapper is not known.
 * Capture     Neither allocation nor free takes part in graph capture: CAPTURING when the stream is under it, and for
 *             the free also when a declared stream is; the memory stays allocated and the capture valid.
 *
 * bytes == 0 gives NULL and success; *p is NULL on failure; freeing NULL is a no-op. gpumem_free() takes this memory
 * too, and gpumem_free_async() that of gpumem_alloc_device(). On a device without stream-ordered memory the free waits
 * as gpumem_free() does. For pinned and managed memory gpumem_memory_used_on() has nothing to do.
 * Errors: OUT_OF_MEMORY, INVALID_ARGUMENT (alignment), INVALID_POINTER (as gpumem_free(); pinned or managed memory for
 * gpumem_free_async()), CAPTURING; in debug mode CORRUPTED (as gpumem_free()). */
GPUMEM_API gpumem_status gpumem_alloc_async(gpumem_ctx *ctx, int64_t bytes, int64_t alignment, gpumem_stream *stream,
                                            void **p);
GPUMEM_API gpumem_status gpumem_free_async(gpumem_ctx *ctx, void *p, gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_memory_used_on(gpumem_ctx *ctx, const void *p, gpumem_stream *stream);

/* Gives memory that is kept for reuse back to the device and to the system, but for keep_bytes of each kind. Waits for
 * the context's streams as gpumem_free() does. Errors: none of its own. */
GPUMEM_API gpumem_status gpumem_memory_trim(gpumem_ctx *ctx, int64_t keep_bytes);

/* Debug mode, for contexts made with options->debug_memory or under GPUMEM_DEBUG=1: looks for writes past the ends of
 * all memory that the context has allocated, and into what it has freed. What is found, here or elsewhere, is written to
 * the log as an error: a sentence with the kind of memory, its label, and the offsets of the first and the last changed
 * byte, counted from the start of the memory and negative before it. The status is then CORRUPTED, with one of these
 * sentences.
 *
 * Ends        256 bytes before each allocation and at least as many behind it have a value of their own, which is looked
 *             at when it is freed, by this function (which leaves what it finds as it is, to be found again), and when
 *             the context ends. A byte that is written with the value that it has goes unseen, and so does what lies
 *             further away.
 * Freed       What is freed is kept, the latest 64 MiB and 4096 blocks of each kind, and filled with another value
 *             (0xFD), so that it shows when it is read; a block of more than that goes back at once. Writes to it are found, once, when it is let go, by this
 *             function, and when the context ends; what is found when it is let go is in the next result of this
 *             function too. A pointer into it is "freed before" to every function.
 * Price       Nothing is pooled (pinned_memory_kept does not count): each allocation is one of the driver's, and each
 *             free waits as gpumem_free() does. This function waits likewise; what other work is writing meanwhile may
 *             be missed.
 *
 * Errors: CORRUPTED; UNSUPPORTED (not in debug mode). */
GPUMEM_API gpumem_status gpumem_memory_check(gpumem_ctx *ctx);

/* Writes what the context allocates and frees from now on to a file, which is made anew, until the context ends or path is
 * NULL. GPUMEM_TRACE=<path> does so from the start of each context, in <path>.<process id>.<number of the context>.
 * `gpumem replay <file>` does the same again. A trace that is running ends first, also where the call then fails. Each
 * line is written when it happens (about 1 us), and a crash leaves the file as it was then.
 *
 * The first line is "gpumem-trace 1"; the others begin with a letter, ns since the beginning, and the number of the
 * thread. Addresses and streams are numbers in base 16 with 0x before them; stream 0x0: for all streams.
 *   a NS THREAD ADDRESS BYTES KIND ALIGNMENT STREAM   an allocation; KIND is device, pinned or managed
 *   f NS THREAD ADDRESS STREAM                        a free
 *   u NS THREAD ADDRESS STREAM                        gpumem_memory_used_on()
 *   t NS THREAD KEEP_BYTES                            gpumem_memory_trim()
 * In debug mode, and where the device has no stream-ordered memory, all allocations are for all streams.
 * Errors: INVALID_ARGUMENT (""), FILE_ERROR (no ordinary file, a link, another trace is written there, or the system's reason;
 * of a trace that ends: lines are missing, and none is begun). */
GPUMEM_API gpumem_status gpumem_memory_trace(gpumem_ctx *ctx, const char *path);

/* Pins bytes of ordinary host memory that the program has, at any address, so that they are copied at the speed of
 * memory from gpumem_alloc_pinned(), for every device; and takes that back, for the start that was registered. The
 * program frees the memory itself, after it was unregistered. No part of it may be registered already, by gpumem or by
 * others. gpumem_host_unregister() waits, and fails, as gpumem_free() does; other work that uses the memory as pinned
 * memory must be done. A host context remembers the range, so that it is pinned memory in name. Memory that is still
 * registered when its context ends is reported through the log and unregistered. On a CUDA context the host must have
 * memory for those pages that have none yet (OUT_OF_MEMORY, see gpumem_alloc_pinned()).
 * Errors: INVALID_ARGUMENT (bytes < 1, memory that is not pageable or is registered in part), INVALID_POINTER (not
 * mapped for writing; for unregistering: not registered, not the start, another context's, memory that gpumem
 * allocated), OUT_OF_RANGE, OUT_OF_RESOURCES (the system locks no more: RLIMIT_MEMLOCK), UNSUPPORTED. */
GPUMEM_API gpumem_status gpumem_host_register(gpumem_ctx *ctx, void *p, int64_t bytes);
GPUMEM_API gpumem_status gpumem_host_unregister(gpumem_ctx *ctx, void *p);

/* Names the memory that starts at p, allocated or registered by this context, in reports of what is left when the
 * context ends, and of debug mode. At most 127 bytes of the label count; it is copied. NULL or "" takes it away. It ends
 * with the memory.
 * Errors: INVALID_POINTER (as gpumem_free()). */
GPUMEM_API gpumem_status gpumem_memory_label(gpumem_ctx *ctx, const void *p, const char *label);

GPUMEM_API gpumem_status gpumem_pointer_info_init(gpumem_pointer_info *info, int64_t size);

/* What p is, as the context sees it. p may be any address. A host context tells pinned and managed memory of another
 * library from pageable memory if the CUDA driver was loaded when the context was made. Errors: INVALID_POINTER (NULL,
 * freed or unmapped). */
GPUMEM_API gpumem_status gpumem_pointer_query(gpumem_ctx *ctx, const void *p, gpumem_pointer_info *info);

/* What the context has allocated. device_peak_bytes is exact while one stream allocates; of several that do at the same
 * time, each may make it up to 1 MiB too high. */
GPUMEM_API gpumem_status gpumem_memory_stats_init(gpumem_memory_stats_info *stats, int64_t size);
GPUMEM_API gpumem_status gpumem_memory_stats(gpumem_ctx *ctx, gpumem_memory_stats_info *stats);

/* --------------------------------------------------------------------------------- allocators of other libraries */

/* gpumem's pool in the signatures of PyTorch's CUDAPluggableAllocator and CuPy's CFunctionAllocator. Their ssize_t and
 * size_t are int64_t here, int is int32_t and cudaStream_t void *: the same to a caller on the platforms with 64-bit
 * addresses, the only ones there are.
 *
 * Context     The process has one context for each device, made with default options on its first use, by any of these
 *             functions in any thread. It is never destroyed, nor touched when the process ends; a forked child makes
 *             its own. device is a CUDA ordinal, or GPUMEM_DEVICE_HOST, which gives host memory; never
 *             GPUMEM_DEVICE_BEST or _CUDA. gpumem_shared_ctx() lends the context out, for gpumem_memory_stats(),
 *             gpumem_memory_trim() and everything else, except that gpumem_ctx_destroy() is BUSY.
 * Failure     There is no status. malloc gives NULL, record_stream and free do nothing, and gpumem_last_error() has the
 *             sentence, which a success leaves as it is. Nothing is thrown or printed. bytes == 0 gives NULL and is no
 *             failure; freeing or recording NULL is a no-op.
 * Streams     native_stream is a cudaStream_t of the device, NULL the legacy default stream; on the host NULL alone.
 *             As gpumem_alloc_async() and gpumem_free_async(), aligned to 256 bytes. The first use of a stream wraps it
 *             for good, so it must live until the process ends, as PyTorch's do; of a device's streams beyond the first
 *             256, allocations are for all streams, and each free waits for the device.
 * Capture     malloc on a stream under graph capture gives NULL and invalidates the capture: its next call and
 *             cudaStreamEndCapture() are errors of CUDA. With NULL for an address the graph would fault the device. The
 *             reason is also in the log of the process's context. What can't be freed because of a capture stays
 *             allocated and is freed by a later malloc or free for that device.
 * Memory      It is the context's, as that of gpumem_alloc_async(): every function takes it, and gpumem_free(),
 *             gpumem_free_async() and gpumem_memory_used_on() may be used on it with that context.
 *
 * gpumem_shared_ctx: *ctx is NULL on failure. Errors: as gpumem_ctx_create() for a named device; UNSUPPORTED (an
 * ordinal of 128 or more). */
GPUMEM_API gpumem_status gpumem_shared_ctx(int32_t device, gpumem_ctx **ctx);

/* For PyTorch, which frees on the stream that the memory was allocated for. bytes is not looked at when freeing.
 * PyTorch takes NULL for an address and reports no lack of memory: work on that tensor then fails, or faults the
 * device. gpumem_torch_record_stream() is for Tensor.record_stream(), as gpumem_memory_used_on(); PyTorch calls it once
 * it was given to set_record_stream_fn(), and else lets the call pass in silence. Not on a stream under capture. */
GPUMEM_API void *gpumem_torch_malloc(int64_t bytes, int32_t device, void *native_stream);
GPUMEM_API void gpumem_torch_free(void *p, int64_t bytes, int32_t device, void *native_stream);
GPUMEM_API void gpumem_torch_record_stream(void *p, void *native_stream);

/* For CuPy, which tells no stream: param does, and must be the same for an allocation and its free.
 *   NULL      Every stream may use the memory at once, and a free waits for all work on the device, on streams that
 *             gpumem does not know too: safe in every program, as cudaFree() is. Captures stay valid.
 *   a stream  as native_stream above; the legacy default stream, which is CuPy's own choice, is (void *)1 here
 *             (cudaStreamLegacy). Nothing waits. Work on other streams that uses the memory must be ordered behind that
 *             stream's when it begins, and be done, or be what that stream waits for, when the memory is freed.
 * CuPy takes NULL for an address, as PyTorch does. */
GPUMEM_API void *gpumem_cupy_malloc(void *param, int64_t bytes, int32_t device);
GPUMEM_API void gpumem_cupy_free(void *param, void *p, int32_t device);

/* ---------------------------------------------------------------------------------------------------------- managed */

/* Moves the pages of bytes of managed memory to a device (the context's ordinal, or GPUMEM_DEVICE_HOST) before they are
 * needed. bytes == 0 is a no-op. On a host context: checked, and nothing to do. The _async form is ordered by the
 * stream. More than the host has now does not go there (OUT_OF_MEMORY, see gpumem_alloc_pinned()).
 * Errors: INVALID_POINTER (not managed memory), OUT_OF_RANGE, UNSUPPORTED (device without concurrent managed access),
 * NOT_FOUND (no such device), CAPTURING. */
GPUMEM_API gpumem_status gpumem_managed_prefetch(gpumem_ctx *ctx, const void *p, int64_t bytes, int32_t device);
GPUMEM_API gpumem_status gpumem_managed_prefetch_async(gpumem_ctx *ctx, const void *p, int64_t bytes, int32_t device,
                                                       gpumem_stream *stream);

/* Gives a hint on bytes of managed memory, or takes it back. device says where for PREFERRED_LOCATION and ACCESSED_BY
 * (and its undoing) and is ignored by the others. Errors: as gpumem_managed_prefetch(). */
GPUMEM_API gpumem_status gpumem_managed_advise(gpumem_ctx *ctx, const void *p, int64_t bytes, gpumem_advice advice,
                                               int32_t device);

/* Where bytes of managed memory lie now, by looking at each page (2 to 3 ms a GiB), and what was asked for them. What is
 * not in memory of the host lies on a device, or nowhere yet: nobody has touched it. Of pages that are mostly read host
 * and device may both have a copy. Of last_prefetch and the advice GPUMEM_DEVICE_NONE and 0 also mean: not the same for all
 * of the range. bytes == 0 gives 0, NONE and 0. On a host context all bytes are the host's. Errors: INVALID_POINTER (not
 * managed memory), OUT_OF_RANGE, UNSUPPORTED (device without concurrent managed access). */
GPUMEM_API gpumem_status gpumem_managed_info_init(gpumem_managed_info *info, int64_t size);
GPUMEM_API gpumem_status gpumem_managed_query(gpumem_ctx *ctx, const void *p, int64_t bytes, gpumem_managed_info *info);

/* --------------------------------------------------------------------------------------------------------- movement */

/* Copies bytes from src to dst, any kinds of memory, also between two devices. The ranges may not overlap, except that
 * dst == src is a no-op; bytes == 0 is one too, and the pointers may then be NULL.
 * The _async form returns before the copy: both ranges stay valid, and src unchanged, until the stream has passed it,
 * for ordinary heap memory as well (unlike cudaMemcpyAsync, which may read pageable memory during the call).
 * Between heap memory and a device, several host threads bring the bytes to pinned memory and back, at the speed of the
 * link where there are enough (host_threads); up to 64 MiB of pinned memory are kept for that, and 8 MiB for each stream
 * with such copies, until gpumem_memory_trim().
 * Errors: INVALID_POINTER, OUT_OF_RANGE, INVALID_ARGUMENT (overlap), UNSUPPORTED (a device pointer on a host context; a
 * forced variant that does not fit), CAPTURING (the context's own stream; _async where both ranges lie in host memory
 * or one is not pinned). */
GPUMEM_API gpumem_status gpumem_copy(gpumem_ctx *ctx, void *dst, const void *src, int64_t bytes);
GPUMEM_API gpumem_status gpumem_copy_async(gpumem_ctx *ctx, void *dst, const void *src, int64_t bytes,
                                           gpumem_stream *stream);

/* Copies rows of row_bytes bytes; row r lies at p + r*pitch_bytes on each side, with a pitch of at least row_bytes
 * (ignored where there is one row). Any kinds of memory, any alignment, any two pitches. What lies between the rows of
 * dst is not touched, what lies between those of src does not matter. A side is as long as from its first row's first byte
 * to its last row's last: these extents may not overlap, except that dst == src with equal pitches is a no-op, and that
 * src and dst may be blocks of columns of one matrix that share no column. row_bytes == 0 or rows == 0 is a no-op, and
 * the pointers may then be NULL. The _async form is as gpumem_copy_async(), for ordinary heap memory as well.
 * Between two devices the driver copies, one row after the other; between host and device too ("driver"), or pinned
 * chunks in a ring that host threads fill and empty ("rings", for pageable memory). Errors: as
 * gpumem_copy(). */
GPUMEM_API gpumem_status gpumem_copy_2d(gpumem_ctx *ctx, void *dst, int64_t dst_pitch_bytes, const void *src,
                                        int64_t src_pitch_bytes, int64_t row_bytes, int64_t rows);
GPUMEM_API gpumem_status gpumem_copy_2d_async(gpumem_ctx *ctx, void *dst, int64_t dst_pitch_bytes, const void *src,
                                              int64_t src_pitch_bytes, int64_t row_bytes, int64_t rows,
                                              gpumem_stream *stream);

/* The same for slices of rows: row r of slice s lies at p + s*slice_bytes + r*pitch_bytes, slice_bytes being at least
 * (rows - 1)*pitch_bytes + row_bytes (ignored where there is one slice). slices == 0 is a no-op too. The matrix of
 * which src and dst are blocks of columns may have its slices any whole number of rows apart. Errors: as
 * gpumem_copy_2d(). */
GPUMEM_API gpumem_status gpumem_copy_3d(gpumem_ctx *ctx, void *dst, int64_t dst_pitch_bytes, int64_t dst_slice_bytes,
                                        const void *src, int64_t src_pitch_bytes, int64_t src_slice_bytes,
                                        int64_t row_bytes, int64_t rows, int64_t slices);
GPUMEM_API gpumem_status gpumem_copy_3d_async(gpumem_ctx *ctx, void *dst, int64_t dst_pitch_bytes,
                                              int64_t dst_slice_bytes, const void *src, int64_t src_pitch_bytes,
                                              int64_t src_slice_bytes, int64_t row_bytes, int64_t rows, int64_t slices,
                                              gpumem_stream *stream);

/* Writes count copies of a pattern of 1, 2, 4, 8 or 16 bytes, back to back, to dst (any alignment). The pattern is host
 * memory and read before the call returns, in both forms. count == 0 is a no-op, and dst may then be NULL.
 * Errors: as gpumem_copy(); a pattern that is device memory, or no memory, is INVALID_POINTER. */
GPUMEM_API gpumem_status gpumem_fill(gpumem_ctx *ctx, void *dst, const void *pattern, int64_t pattern_bytes,
                                     int64_t count);
GPUMEM_API gpumem_status gpumem_fill_async(gpumem_ctx *ctx, void *dst, const void *pattern, int64_t pattern_bytes,
                                           int64_t count, gpumem_stream *stream);

/* Writes rows of cols patterns; row r begins at dst + r*dst_pitch_bytes, with the pattern's first byte. The pitch is at
 * least cols*pattern_bytes (ignored where there is one row); what lies between the rows is not touched. cols == 0 or
 * rows == 0 is a no-op, and dst may then be NULL. Everything else as gpumem_fill(). */
GPUMEM_API gpumem_status gpumem_fill_2d(gpumem_ctx *ctx, void *dst, int64_t dst_pitch_bytes, const void *pattern,
                                        int64_t pattern_bytes, int64_t cols, int64_t rows);
GPUMEM_API gpumem_status gpumem_fill_2d_async(gpumem_ctx *ctx, void *dst, int64_t dst_pitch_bytes, const void *pattern,
                                              int64_t pattern_bytes, int64_t cols, int64_t rows, gpumem_stream *stream);

/* -------------------------------------------------------------------------------------------------- streams, events */

/* A stream is a queue: work on it runs in order, work on different streams may overlap. destroy waits for the stream's
 * work; NULL is a no-op; a stream under graph capture is CAPTURING, unless it is a wrapped one. The streams of a host context share threads, up to host_threads of them; a thread that is inside
 * the program's parallel_for is not counted, so that calls of it may wait for one another. */
GPUMEM_API gpumem_status gpumem_stream_create(gpumem_ctx *ctx, gpumem_stream **stream);
GPUMEM_API gpumem_status gpumem_stream_destroy(gpumem_stream *stream);

/* Borrows a cudaStream_t of the program, handed over as void *; NULL is CUDA's legacy default stream. The program keeps
 * it alive as long as the wrapper; destroying the wrapper waits for nothing and leaves the stream alone. On a host
 * context a NULL native stream gives one more name for the context's own stream. Errors: UNSUPPORTED (a native stream
 * on a host context; the per-thread default stream), INVALID_ARGUMENT (a stream of another device or CUDA context). */
GPUMEM_API gpumem_status gpumem_stream_wrap(gpumem_ctx *ctx, void *native_stream, gpumem_stream **stream);

/* *native_stream = the stream's cudaStream_t, for calls of CUDA and for other libraries (__cuda_array_interface__,
 * DLPack); a NULL stream is the context's own. Work that they give it takes its place in the stream's order. It lives
 * as long as the stream, and is not to be destroyed. A wrapped legacy default stream is (void *)1 (cudaStreamLegacy).
 * *native_stream is NULL on failure. Errors: UNSUPPORTED (a host context). */
GPUMEM_API gpumem_status gpumem_stream_native(gpumem_ctx *ctx, gpumem_stream *stream, void **native_stream);

/* Waits until everything enqueued so far is done. Errors: CAPTURING. */
GPUMEM_API gpumem_status gpumem_stream_synchronize(gpumem_ctx *ctx, gpumem_stream *stream);

/* OK when everything enqueued is done, else NOT_READY, at once. Errors: CAPTURING. */
GPUMEM_API gpumem_status gpumem_stream_query(gpumem_ctx *ctx, gpumem_stream *stream);

/* Work enqueued on the stream from now on waits for the event's last record so far; an event never recorded is done.
 * Errors: CAPTURING (the stream is under graph capture, and the event was not recorded in that capture). */
GPUMEM_API gpumem_status gpumem_stream_wait_event(gpumem_ctx *ctx, gpumem_stream *stream, gpumem_event *event);

/* An event marks a point of a stream. Destroying one that work still waits for is safe. NULL is a no-op for destroy. */
GPUMEM_API gpumem_status gpumem_event_create(gpumem_ctx *ctx, gpumem_event **event);
GPUMEM_API gpumem_status gpumem_event_destroy(gpumem_event *event);
GPUMEM_API gpumem_status gpumem_event_record(gpumem_ctx *ctx, gpumem_event *event, gpumem_stream *stream);

/* Waits until the event's last record has been passed; at once if it was never recorded. */
GPUMEM_API gpumem_status gpumem_event_synchronize(gpumem_event *event);

/* Seconds between two events of one context. Errors: NOT_READY (one is still pending; *seconds is untouched),
 * INVALID_ARGUMENT (never recorded, or of two contexts). */
GPUMEM_API gpumem_status gpumem_event_elapsed(gpumem_event *start, gpumem_event *end, double *seconds);

/* ----------------------------------------------------------------------------------------------------------- reduce */

/* What holds for every reduction:
 *
 * Elements    x[0], x[stride], ..., x[(n-1)*stride]; strides are in elements and at least 1; any alignment, any kind of
 *             memory.
 * Results     int64_t for i8 to i64, uint64_t for u8 to u64, double for f16, bf16, f32 and f64; a void *result is one
 *             of these. GPUMEM_MIN_MAX gives two of them, the minimum first. Plain forms for one sequence take result,
 *             value and index at any address; _async, axis and segments want them at a multiple of 8 bytes, status at
 *             one of 4.
 * Integers    The value is exact, whatever it takes on the way (squares and cubes of 64-bit integers are formed in 256
 *             bits). GPUMEM_OVERFLOW if and only if the final value does not fit its result; |INT64_MIN| does not. A
 *             product with a factor 0 is 0, whatever the other factors are; -2^63 is a product that fits int64_t.
 * Floating    min, max and arg are exact. Sums are formed in f64 in one fixed order: terms x, |x|, x*x, (x*x)*x or x*y
 * point       are each rounded once to nearest, never fused; leaves of 1024 terms are 8 rows of 128 lanes, each lane
 *             adding its 8 terms in order, the lanes folded by halves, the leaves folded in pairs. So the bits never
 *             depend on the device, the variant, the threads, alignment, stride or kind of memory. To first order
 *             |error| <= (15 + ceil(log2(n / 1024))) * 2^-53 * sum |term|, beside the rounding of the terms (|x| and x
 *             of every type, and x*x of f16, bf16 and f32, have none). A product is formed in the same order from the
 *             elements as f64, with multiplications in place of the additions and 1 in place of what is missing.
 * NaN, inf    A NaN among the elements makes the result NaN, always 0x7ff8000000000000; so does inf - inf in a sum, or
 *             0 * inf in a product. Sums and products may overflow to an infinity. min and max take -0 as less than +0;
 *             MAX_ABS is never -0; a sum of zeros is +0. Subnormals count in full, whatever the program has set in its
 *             floating-point environment.
 * n == 0      Sums, dot and nrm2 are 0, a product is 1; min, max, MIN_MAX, MAX_ABS and arg give GPUMEM_EMPTY. x may
 *             then be NULL.
 * Aliasing    result, index and status may lie neither inside x, y or offsets nor inside each other. The library never
 *             writes to x.
 *
 * The plain forms take results in any kind of memory; a failure leaves them untouched.
 * The _async forms write result (and index) in the order of the stream. On a CUDA context result, index and status lie
 * in device, pinned or managed memory (INVALID_POINTER otherwise). What only the run itself can find goes to *status:
 * GPUMEM_OK, or GPUMEM_OVERFLOW with *result untouched; status may be NULL. Data in host memory is reduced by a host
 * function in the stream's order; should it find no memory to work in, *status is GPUMEM_OUT_OF_MEMORY and the log says
 * so. Under graph capture, data of the device only: the call becomes part of the graph, with scratch memory that lives
 * as long as the graph does, so no two executions of one captured call may overlap, and the context must outlive them.
 * Errors of all: EMPTY, OVERFLOW (plain forms), INVALID_POINTER, OUT_OF_RANGE, UNSUPPORTED (memory of another device,
 * device memory on a host context, an operation that the type does not have, or a forced variant that does not fit),
 * CAPTURING (the plain forms; _async on host memory).
 */

/* *result = the reduction of x by op. GPUMEM_SUM_COMPENSATED is for f64 alone: its error is within 2 ulp of the exact
 * sum while sum |x| / |sum x| is at most 1e15; where it is not finite, it is the plain sum. */
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

/* *value = the minimum, the maximum or the largest |x| (op GPUMEM_MIN, GPUMEM_MAX or GPUMEM_MAX_ABS), as gpumem_reduce()
 * gives it; *index = where it is, counted in elements of the strided sequence: the first NaN if there is one, else the
 * lowest index among equals (-0 is less than +0, and of MAX_ABS -x equals x). value may be NULL. Where |INT64_MIN| is the
 * largest, the plain forms give GPUMEM_OVERFLOW, and the _async forms, which have no status, leave value and index
 * untouched; so it is whether value is NULL or not. */
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

/* *result = sum of x[i*x_stride] * y[i*y_stride] for i < n. x and y may overlap. Where one lies in host memory and the
 * other does not, the plain form works where x lies and copies y there; the _async form gives UNSUPPORTED. */
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

/* *result = the Euclidean norm of x: infinite only if the true norm exceeds double, exact zeros aside never lost to
 * underflow. f32: the root of the sum of squares. f64: squares of the elements of middle size, of the large ones scaled
 * by 2^-538 and of the small ones scaled by 2^537 are summed apart, each in the fixed order, and combined (J. L. Blue,
 * A portable Fortran program to find the Euclidean norm of a vector, ACM TOMS 4, 1978; E. Anderson, Algorithm 978, ACM
 * TOMS 44, 2017). */
GPUMEM_API gpumem_status gpumem_nrm2_f32(gpumem_ctx *ctx, const float *x, int64_t n, int64_t stride, double *result);
GPUMEM_API gpumem_status gpumem_nrm2_f64(gpumem_ctx *ctx, const double *x, int64_t n, int64_t stride, double *result);
GPUMEM_API gpumem_status gpumem_nrm2_f32_async(gpumem_ctx *ctx, const float *x, int64_t n, int64_t stride,
                                               double *result, gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_nrm2_f64_async(gpumem_ctx *ctx, const double *x, int64_t n, int64_t stride,
                                               double *result, gpumem_stream *stream);

/* Reduces each row (GPUMEM_AXIS_ROWS) or each column (GPUMEM_AXIS_COLS) of `batches` matrices of rows x cols, row-major
 * with leading dimension ld >= cols; matrix b begins at x + b*batch_stride. Results lie one after the other, matrix by
 * matrix: batches * rows or batches * cols of them (GPUMEM_MIN_MAX: pairs). Each has the bits that gpumem_reduce()
 * would give for that row or column. batch_stride may be anything from 0 up. No result (batches, or rows or cols that
 * give it, is 0): a no-op. Lines without elements: sums are 0, products 1, the others GPUMEM_EMPTY. A result that does
 * not fit is written as 0 and makes the call GPUMEM_OVERFLOW; the others are right. */
GPUMEM_API gpumem_status gpumem_reduce_axis(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op, gpumem_axis axis,
                                            const void *x, int64_t rows, int64_t cols, int64_t ld, int64_t batches,
                                            int64_t batch_stride, void *result);
GPUMEM_API gpumem_status gpumem_reduce_axis_async(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op,
                                                  gpumem_axis axis, const void *x, int64_t rows, int64_t cols,
                                                  int64_t ld, int64_t batches, int64_t batch_stride, void *result,
                                                  gpumem_status *status, gpumem_stream *stream);

/* result[s] = the reduction of x[offsets[s]], ..., x[offsets[s+1] - 1] for s < segments (GPUMEM_MIN_MAX: pairs), with
 * the bits that gpumem_reduce() would give. offsets are segments + 1 numbers from 0 to n, none less than the one before
 * it, at a multiple of 8 bytes, in any kind of memory that x's side can read (_async), or any (plain). segments == 0 is
 * a no-op. A segment without a value is written as 0 and makes the call GPUMEM_EMPTY (no elements for min, max),
 * GPUMEM_OVERFLOW (does not fit) or GPUMEM_OUT_OF_RANGE (its offsets are not as said); the largest of these codes is
 * given; the other segments are right. */
GPUMEM_API gpumem_status gpumem_reduce_segments(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op, const void *x,
                                                int64_t n, const int64_t *offsets, int64_t segments, void *result);
GPUMEM_API gpumem_status gpumem_reduce_segments_async(gpumem_ctx *ctx, gpumem_dtype dtype, gpumem_reduce_op op,
                                                      const void *x, int64_t n, const int64_t *offsets,
                                                      int64_t segments, void *result, gpumem_status *status,
                                                      gpumem_stream *stream);

/* -------------------------------------------------------------------------------------------------------- rearrange */

/* dst[j*dst_ld + i] = src[i*src_ld + j] for i < rows, j < cols: src is rows x cols, row-major, with leading dimension
 * src_ld >= cols; dst is cols x rows with dst_ld >= rows; both in elements of 1, 2, 4, 8 or 16 bytes, at any alignment.
 * What lies between the rows of dst is not touched. rows == 0 or cols == 0 is a no-op, and the pointers may then be
 * NULL. src and dst may share no element, but may be blocks of columns of one matrix.
 * src == dst transposes in place: a square matrix with src_ld == dst_ld; any other with src_ld == cols and dst_ld ==
 * rows, in up to three passes over it. Those want scratch memory: on a device as much as the matrices take, where that
 * is at most 32 MiB in all; else 32 MiB or one line of max(rows, cols) elements, whichever is more, but no more than half
 * of the matrix, and none where such a line and some columns fit into the shared memory of a block; matrices that fit
 * there take none. On the host it is as much as one matrix takes, where that is at most 32 MiB (up to 1 MiB: as much for
 * each thread); else 1 MiB or such a line for each thread. On a device it is taken and given back in the stream's order;
 * up to 64 MiB of it stay with the context, and a captured graph has its own.
 * The plain form takes them in different kinds of memory too: where one lies in host memory and the other does not, the
 * device does the work, and what lies in host memory goes over the link in pieces of 8 MiB, each while the one before it
 * is transposed; two pieces of device memory are taken for that. The _async form then gives UNSUPPORTED. It runs in the
 * order of the stream, for data in host memory by a host function; under graph capture it takes data of the device only.
 * Errors: INVALID_POINTER, OUT_OF_RANGE, INVALID_ARGUMENT (partial overlap), UNSUPPORTED (src == dst otherwise than
 * said; memory of another device; a forced variant that does not fit), CAPTURING (the plain form; _async on host
 * memory), OUT_OF_MEMORY (no scratch memory; a host function on a CUDA context's stream tells the log). */
GPUMEM_API gpumem_status gpumem_transpose(gpumem_ctx *ctx, int64_t element_bytes, int64_t rows, int64_t cols,
                                          const void *src, int64_t src_ld, void *dst, int64_t dst_ld);
GPUMEM_API gpumem_status gpumem_transpose_async(gpumem_ctx *ctx, int64_t element_bytes, int64_t rows, int64_t cols,
                                                const void *src, int64_t src_ld, void *dst, int64_t dst_ld,
                                                gpumem_stream *stream);

/* The same for `batches` matrices of one shape: matrix b is at src + b*src_batch_stride and goes to dst +
 * b*dst_batch_stride, in elements. src_batch_stride is anything from 0 up (0: the same matrix again); dst_batch_stride
 * is at least (cols-1)*dst_ld + rows, one matrix after the other; in place the two are equal. With less than two
 * matrices neither is used, with none nothing is done. */
GPUMEM_API gpumem_status gpumem_transpose_batched(gpumem_ctx *ctx, int64_t element_bytes, int64_t rows, int64_t cols,
                                                  const void *src, int64_t src_ld, int64_t src_batch_stride, void *dst,
                                                  int64_t dst_ld, int64_t dst_batch_stride, int64_t batches);
GPUMEM_API gpumem_status gpumem_transpose_batched_async(gpumem_ctx *ctx, int64_t element_bytes, int64_t rows,
                                                        int64_t cols, const void *src, int64_t src_ld,
                                                        int64_t src_batch_stride, void *dst, int64_t dst_ld,
                                                        int64_t dst_batch_stride, int64_t batches,
                                                        gpumem_stream *stream);

/* Rows of a matrix by index. gather: row i of dst = row index[i] of src, for i < n; src has src_rows rows, dst n of
 * them. scatter: row index[i] of dst = row i of src; src has n rows, dst dst_rows. Where several i name one row of dst,
 * its bytes are undefined among those of their rows; rows that no i names, and what lies between the rows, are not
 * touched.
 *
 * Rows        row_bytes >= 1 bytes of anything, at any alignment. Row i begins at i * pitch; a pitch is at least
 *             row_bytes, and ignored where there are no two rows.
 * Index       n numbers of index_type (GPUMEM_I32, GPUMEM_U32, GPUMEM_I64 or GPUMEM_U64) at a multiple of their size.
 *             They count from 0, may repeat and stand in any order. All of them are checked before anything is written:
 *             a number that names no row (negative, or past the last) leaves dst untouched and is GPUMEM_OUT_OF_RANGE.
 *             The sentence of the plain form names the first such i and its value; the _async form puts the status into
 *             *status.
 * n == 0      A no-op; src, index and dst may then be NULL. So may the matrix of no rows: each index is then out of
 * range.
 * Aliasing    dst may share no byte with src or index, from its first row to the end of its last; status with none of
 *             them.
 * Memory      Any kinds. The work runs where dst lies; the plain forms copy src and index there first, all rows of src.
 *             The _async forms move nothing: operands on both sides are UNSUPPORTED, except that the device reads a
 *             pinned index.
 * status      GPUMEM_OK or GPUMEM_OUT_OF_RANGE, written in the order of the stream; may be NULL; at a multiple of 4
 *             bytes; on a CUDA context in device, pinned or managed memory (INVALID_POINTER otherwise).
 * Capture     As for reductions: operands of the device only, and no two executions of one captured call may overlap.
 * Errors: INVALID_POINTER, OUT_OF_RANGE (also of memory), UNSUPPORTED (memory of another device, device memory on a
 * host context, a forced variant that does not fit), CAPTURING (the plain forms; _async on host memory). */
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

/* Permutes the axes of an array of rank 0 (a single element) to 8: axis d of dst is axis order[d] of src, as in NumPy's
 * transpose(axes). src has the extents extents[0], ..., extents[rank - 1], row-major (the last axis fastest), and dst
 * the extents extents[order[0]], ...; order names each axis once. Elements are of 1, 2, 4, 8 or 16 bytes, at any
 * alignment. Strides are in elements, one an axis of their own side: NULL is row-major without gaps. Those of src may
 * be anything from 0 up (0 repeats what lies there). Those of dst are such that distinct elements have distinct places:
 * taken from the smallest up, each leads past the last element that the smaller ones reach. The stride of an axis of
 * extent 1 is not used. extents and order may be NULL when rank is 0. What lies between the elements of dst is not
 * touched. extents, order and strides are ordinary host memory, and read before the call returns. An extent of 0 makes
 * the call a no-op, and src and dst may then be NULL. The ranges from the first to the last element of src and of dst
 * may not overlap. They may lie in any two kinds of memory: the work runs where dst lies, and the plain form copies src
 * there first; the _async form gives UNSUPPORTED where one lies in host memory and the other does not. Until the stream
 * has passed an _async call both stay valid and src unchanged.
 * Errors: INVALID_POINTER, OUT_OF_RANGE, INVALID_ARGUMENT (overlap), UNSUPPORTED (src == dst: there is no in-place
 * form; memory of another device; a forced variant that does not fit), CAPTURING (the context's own stream; _async on
 * host memory). */
GPUMEM_API gpumem_status gpumem_permute(gpumem_ctx *ctx, int64_t element_bytes, int32_t rank, const int64_t *extents,
                                        const int32_t *order, const void *src, const int64_t *src_strides, void *dst,
                                        const int64_t *dst_strides);
GPUMEM_API gpumem_status gpumem_permute_async(gpumem_ctx *ctx, int64_t element_bytes, int32_t rank,
                                              const int64_t *extents, const int32_t *order, const void *src,
                                              const int64_t *src_strides, void *dst, const int64_t *dst_strides,
                                              gpumem_stream *stream);

/* ------------------------------------------------------------------------------------------------------ elementwise */

/* z[i] = alpha * x[i] + beta * y[i] for i < n: SAXPY (z == y, beta == 1), a triad (alpha == 1), a sum (both 1), a
 * scaled or a plain copy (beta == 0).
 *
 * Bits        Each product and the sum are rounded once, to nearest, in the type of the arrays, never fused; subnormals
 *             count in full, whatever the program has set in its floating-point environment. So host and every GPU give
 *             the same bits.
 * Factor 0    As in BLAS, an operand whose factor is 0 (of either sign) is not read: it may be NULL, and its NaN and
 *             infinities do not count. z is then the product of the other one, with no addition; both factors 0 write
 *             +0.
 * NaN, inf    Factors and elements may be anything. A NaN result is always 0x7fc00000 (f32) or 0x7ff8000000000000
 *             (f64); infinities, overflow and the sign of zero are those of IEEE 754.
 * Memory      Any alignment, any kind of memory. The work runs where z lies; the plain form copies an operand that lies
 *             on the other side there first, the _async form gives UNSUPPORTED for one.
 * Aliasing    z may be exactly x, exactly y, or both; any other overlap with an operand that is read is
 *             INVALID_ARGUMENT. x and y may overlap in any way.
 * n == 0      A no-op; the pointers may then be NULL.
 *
 * Errors: INVALID_POINTER, OUT_OF_RANGE, INVALID_ARGUMENT (partial overlap), UNSUPPORTED (memory of another device;
 * device memory on a host context; _async with operands on both sides; a forced variant that does not fit), CAPTURING
 * (the plain forms; _async on host memory). */
GPUMEM_API gpumem_status gpumem_axpby_f32(gpumem_ctx *ctx, float alpha, const float *x, float beta, const float *y,
                                          float *z, int64_t n);
GPUMEM_API gpumem_status gpumem_axpby_f64(gpumem_ctx *ctx, double alpha, const double *x, double beta, const double *y,
                                          double *z, int64_t n);
GPUMEM_API gpumem_status gpumem_axpby_f32_async(gpumem_ctx *ctx, float alpha, const float *x, float beta,
                                                const float *y, float *z, int64_t n, gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_axpby_f64_async(gpumem_ctx *ctx, double alpha, const double *x, double beta,
                                                const double *y, double *z, int64_t n, gpumem_stream *stream);

/* dst[i] = src[i] as another type, for i < n: from any dtype to any other. Both are contiguous.
 *
 * Float to float      Rounded once to nearest, ties to even; too large is infinity. Subnormals and the sign of zero are
 *                     kept. A NaN becomes 0x7e00 (f16), 0x7fc0 (bf16), 0x7fc00000 (f32) or 0x7ff8000000000000 (f64).
 * Float to integer    To the nearest integer, ties to even; what is too large or too small for the type becomes its
 *                     largest or smallest value; a NaN becomes 0.
 * Integer to float    Rounded once to nearest, ties to even; from 65520 on an f16 is infinity.
 * Integer to integer  What is too large or too small becomes the type's largest or smallest value.
 * One dtype           A copy, bit for bit, NaN too.
 *
 * So host and every GPU give the same bits, whatever the program has set in its floating-point environment.
 * Memory      Any alignment (on a device, one that is not the elements' own is slower), any kind of memory. The work runs
 *             where dst lies; where src lies elsewhere, the plain form copies it there first, and the _async form gives
 *             UNSUPPORTED. Both stay valid, and src unchanged, until the stream has passed the _async form.
 * Aliasing    dst may be exactly src where elements of both types have the same size; any other overlap is
 *             INVALID_ARGUMENT.
 * n == 0      A no-op; the pointers may then be NULL.
 *
 * Errors: INVALID_POINTER, OUT_OF_RANGE, INVALID_ARGUMENT (no dtype; overlap), UNSUPPORTED (memory of another device;
 * device memory on a host context; _async with operands on both sides; a forced variant that does not fit), CAPTURING
 * (the plain form; _async on host memory). */
GPUMEM_API gpumem_status gpumem_convert(gpumem_ctx *ctx, gpumem_dtype src_type, const void *src, gpumem_dtype dst_type,
                                        void *dst, int64_t n);
GPUMEM_API gpumem_status gpumem_convert_async(gpumem_ctx *ctx, gpumem_dtype src_type, const void *src,
                                              gpumem_dtype dst_type, void *dst, int64_t n, gpumem_stream *stream);

/* Over views of arrays of up to three axes: gpumem_lincomb forms z = factors[0] * x[0] + ... + factors[terms - 1] *
 * x[terms - 1] of 1 to 8 sources, gpumem_multiply z = x * y. So shifted views of one array make a stencil in one pass: a
 * step of the heat equation is five terms.
 *
 * Views       rank is 0 (a single element) to 3, extents[rank] those of z and of every source, the last axis fastest.
 *             Strides are in elements, one an axis. z_strides NULL: row-major without gaps. x_strides: the rank strides
 *             of x[0], then those of x[1], and so on; NULL: all have those of z. Those of a source may be anything from
 *             0 up (0 repeats what lies there). Those of z are such that distinct elements have distinct places: taken
 *             from the smallest up, each leads past the last element that the smaller ones reach. The stride of an axis
 *             of extent 1 is not used. extents may be NULL when rank is 0. What lies between the elements of z is not
 *             touched. extents, strides, factors and the array x itself are ordinary host memory, and read before the
 *             call returns.
 * Bits        Each product is rounded once, to nearest, in the type of the arrays; the sum of the first two, that sum
 *             and the third, and so on, are rounded once each, never fused. Subnormals count in full. So host and every
 *             GPU give the same bits, and two terms those of gpumem_axpby.
 * Factor 0    A source whose factor is 0 (of either sign) is not read, as in gpumem_axpby; all of them 0 write +0.
 * NaN, inf    As gpumem_axpby.
 * Memory      Any alignment, any kind of memory. The work runs where z lies; the plain forms copy the sources that lie on
 *             the other side there first, from their first element to their last; the _async forms give UNSUPPORTED.
 * Aliasing    Sources may overlap each other in any way. z may be exactly a source: the same address and the same
 *             strides. From its first element to its last it may otherwise share no byte with a source that is read.
 * Extent 0    A no-op; the pointers to elements may then be NULL.
 *
 * Errors: INVALID_ARGUMENT (also overlap), INVALID_POINTER, OUT_OF_RANGE, UNSUPPORTED (memory of another device; device
 * memory on a host context; _async with operands on both sides; a forced variant that does not fit), CAPTURING (the
 * plain forms; _async on host memory). */
GPUMEM_API gpumem_status gpumem_lincomb_f32(gpumem_ctx *ctx, int32_t rank, const int64_t *extents, int32_t terms,
                                            const float *factors, const float *const *x, const int64_t *x_strides,
                                            float *z, const int64_t *z_strides);
GPUMEM_API gpumem_status gpumem_lincomb_f64(gpumem_ctx *ctx, int32_t rank, const int64_t *extents, int32_t terms,
                                            const double *factors, const double *const *x, const int64_t *x_strides,
                                            double *z, const int64_t *z_strides);
GPUMEM_API gpumem_status gpumem_lincomb_f32_async(gpumem_ctx *ctx, int32_t rank, const int64_t *extents, int32_t terms,
                                                  const float *factors, const float *const *x, const int64_t *x_strides,
                                                  float *z, const int64_t *z_strides, gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_lincomb_f64_async(gpumem_ctx *ctx, int32_t rank, const int64_t *extents, int32_t terms,
                                                  const double *factors, const double *const *x,
                                                  const int64_t *x_strides, double *z, const int64_t *z_strides,
                                                  gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_multiply_f32(gpumem_ctx *ctx, int32_t rank, const int64_t *extents, const float *x,
                                             const int64_t *x_strides, const float *y, const int64_t *y_strides,
                                             float *z, const int64_t *z_strides);
GPUMEM_API gpumem_status gpumem_multiply_f64(gpumem_ctx *ctx, int32_t rank, const int64_t *extents, const double *x,
                                             const int64_t *x_strides, const double *y, const int64_t *y_strides,
                                             double *z, const int64_t *z_strides);
GPUMEM_API gpumem_status gpumem_multiply_f32_async(gpumem_ctx *ctx, int32_t rank, const int64_t *extents,
                                                   const float *x, const int64_t *x_strides, const float *y,
                                                   const int64_t *y_strides, float *z, const int64_t *z_strides,
                                                   gpumem_stream *stream);
GPUMEM_API gpumem_status gpumem_multiply_f64_async(gpumem_ctx *ctx, int32_t rank, const int64_t *extents,
                                                   const double *x, const int64_t *x_strides, const double *y,
                                                   const int64_t *y_strides, double *z, const int64_t *z_strides,
                                                   gpumem_stream *stream);

/* ----------------------------------------------------------------------------------------------------------- images */

/* Resizes an image of src_rows x src_cols pixels to dst_rows x dst_cols. A pixel is 1 to 4 interleaved channels of
 * dtype GPUMEM_U8, GPUMEM_U16 or GPUMEM_F32; rows lie pitch bytes apart, which is cols * channels * element bytes or
 * more. Any address and any pitch. What lies between the rows of dst is not touched. dst_rows == 0 or dst_cols == 0 is
 * a no-op, and the pointers may then be NULL; otherwise src has at least one pixel. src and dst may lie in different
 * kinds of memory. From the first byte of the first row to the last of the last row they may share nothing.
 *
 * Coordinates  The centre of row (column) i of dst lies at (i + 0.5) * src / dst - 0.5 rows (columns) of src, in the
 *              convention of OpenCV's INTER_NEAREST_EXACT and INTER_LINEAR. They are formed in integers, exactly, for
 *              any extents.
 * Nearest      The pixel in which the centre lies: row floor((2 i + 1) * src / (2 dst)), so that of two whose border it
 *              hits the second is taken (OpenCV: the first). Its bits, NaN too.
 * Bilinear     Between the four pixels around the centre, which past the edge are those of the edge. The fraction of a
 *              coordinate is rounded once to nearest, halves up: u8 12 bits; u16 16 bits along a row, 24 down a column;
 *              f32 24 bits. Along rows first, then down columns. u8 and u16: integers, no rounding but the last one,
 *              halves up. f32: a + w * (b - a), each operation rounded once to nearest and none fused; a where a == b.
 * Error        Against the exact bilinear value, with R the difference between the largest and the smallest of the four
 *              pixels and M the largest magnitude: u8 at most 0.5 + R / 2^12, u16 at most 0.5 + R * (2^-17 + 2^-25):
 *              both are within 1 of the exact value rounded. f32 at most 2^-20 * M + 2^-147 while no difference of two
 *              pixels leaves float.
 * f32          A NaN in bilinear results is always 0x7fc00000. A difference of pixels that leaves float is an infinity;
 *              inf - inf is a NaN. Subnormals count in full, whatever the program has set in its floating-point
 *              environment.
 *
 * So the same sizes give the same pixels, bit by bit (but for the bits of NaN), a constant image stays what it is, and
 * a ramp along its rows or down its columns stays monotone. The bits do not depend on the device, the variant, the
 * threads, the alignment or the kind of memory. One variant is another matter, and is never taken unless it is forced:
 * "texture", which leaves bilinear values to the device's texture unit. The maker documents 8 bits of fraction a
 * coordinate, and nothing of what the unit makes of the two: |error| is at most R / 2^7 + 1 for u8 and u16, and
 * R / 2^7 + 2^-20 * M for f32 (the largest seen on an H200: R / 200). It is refused under graph capture.
 *
 * The work runs where dst lies; where src lies elsewhere, the plain form copies it there first, and the _async form
 * gives UNSUPPORTED. Both stay valid, and src unchanged, until the stream has passed the _async form.
 * Errors: INVALID_POINTER, OUT_OF_RANGE, INVALID_ARGUMENT (overlap, a pitch that is too small, a src without a pixel),
 * UNSUPPORTED (another dtype, memory of another device, device memory on a host context, a forced variant that does not
 * fit), CAPTURING (the plain form; _async on host memory). */
GPUMEM_API gpumem_status gpumem_resize_2d(gpumem_ctx *ctx, gpumem_filter filter, gpumem_dtype dtype, int32_t channels,
                                          const void *src, int64_t src_rows, int64_t src_cols, int64_t src_pitch_bytes,
                                          void *dst, int64_t dst_rows, int64_t dst_cols, int64_t dst_pitch_bytes);
GPUMEM_API gpumem_status gpumem_resize_2d_async(gpumem_ctx *ctx, gpumem_filter filter, gpumem_dtype dtype,
                                                int32_t channels, const void *src, int64_t src_rows, int64_t src_cols,
                                                int64_t src_pitch_bytes, void *dst, int64_t dst_rows, int64_t dst_cols,
                                                int64_t dst_pitch_bytes, gpumem_stream *stream);

/* --------------------------------------------------------------------------------------------------------- variants */

/* The variants of a family, all backends, in table order: what gpumem_explain() speaks of. Some are never taken unless
 * they are forced (explained as "taken by name only"): those of textbooks, and resize's "texture", whose bits are others.
 * The name is static.
 * Errors: NOT_FOUND (index past the last). */
GPUMEM_API gpumem_status gpumem_variant_count(gpumem_family family, int32_t *count);
GPUMEM_API gpumem_status gpumem_variant_name(gpumem_family family, int32_t index, const char **name);

/* Makes the context use one variant of a family wherever it runs; NULL gives the choice back. A call that the forced
 * variant does not fit returns UNSUPPORTED and says why: there is no silent fallback. (Between host and device, and
 * between devices, only the copy variants "driver" and "rings" can copy: others say nothing of such copies.)
 * Errors: NOT_FOUND. */
GPUMEM_API gpumem_status gpumem_variant_force(gpumem_ctx *ctx, gpumem_family family, const char *name);

/* A problem is a line: a family and key=value words, all that decides where and how an operation runs.
 *
 *   reduce dtype=f32 op=sum n=1000 x=pinned
 *   transpose bytes=4 rows=16384 cols=16384 src=device dst=device src_misaligned=4
 *   permute bytes=4 extents=10x20x5 order=1,0,2 src=device dst=device form=async
 *   copy bytes=4096 src=pageable dst=device
 *
 * docs/operation-descriptors.md has the keys of each family. Sizes and strides are those of the function, in the same units, and
 * strides that are left out leave no gaps. Operands are given by where they lie: pageable, pinned, device (the
 * context's), device:1 (that CUDA device), managed, mixed (host memory that is pinned in part), or the key of an operand
 * before it (dst=src: in place). KEY_misaligned is how many bytes an operand lies past a multiple of 16. form=async asks
 * about the function's _async form. */

/* Says, without running it, where the operation of a problem line would run and why, which variant it would take, where
 * that choice comes from, and why each other variant was passed over. No memory is touched or needed; a line may name
 * memory that this process does not have. Text, or one JSON object whose "schema" is "gpumem.explain/1" and whose "line"
 * is the problem's line in its shortest form. Writes at most cap bytes, NUL-terminated; needed (may be NULL) gets the
 * bytes that the whole text takes, its NUL included; buf may be NULL when cap is 0. A problem that the operation would
 * refuse is refused here with the same status; the values of an index or of offsets, results and the state of streams
 * are not looked at. A line that can't be read is INVALID_ARGUMENT, and the sentence names the word and what was expected.
 * Errors: as the operation's. */
GPUMEM_API gpumem_status gpumem_explain(gpumem_ctx *ctx, const char *line, gpumem_format format, char *buf, int64_t cap,
                                        int64_t *needed);

/* Copies the problem line of this thread's last operation on any context, NUL-terminated, cut at cap bytes ("" if there
 * was none yet), so that a call is explained by making it: gpumem_explain() of this line on the same context tells what
 * the call did. After a refusal it is what was understood of the problem, without the operands that had not been looked
 * at. A call that gets no further than its handles is no operation, nor is one of another function than those of the
 * families. buf may be NULL when cap is 0. needed (may be NULL) gets the bytes that the whole line takes, its NUL
 * included. */
GPUMEM_API gpumem_status gpumem_last_problem(char *buf, int64_t cap, int64_t *needed);

/* ------------------------------------------------------------------------------------------------------ measurement */

GPUMEM_API gpumem_status gpumem_ceiling_info_init(gpumem_ceiling_info *info, int64_t size);

/* How fast the memory of the context's device can be read, written and copied, and how fast the link between host and
 * device is, as measured here and now: kernels that do nothing else, over more memory than the caches hold, the best of
 * several passes. Measured by the first call for a device, and remembered for the process; a host context's for each
 * number of threads. On a device it takes less than 400 ms, and up to a 32nd of its memory, less where less is free. On
 * the host it takes about half a second, longer where pages are slow to come; the memory is four times the last-level
 * cache, at least 128 MiB, at most 1 GiB and a quarter of what is free; less, but more than the cache, where pages are
 * slow. It waits for the work of the context's own stream; work that others give the device meanwhile makes the figures
 * lower.
 * Errors: OUT_OF_MEMORY (32 MiB can't be had), CAPTURING. */
GPUMEM_API gpumem_status gpumem_ceiling(gpumem_ctx *ctx, gpumem_ceiling_info *info);

/* From begin to end, the context keeps a record of each call of the families' functions that had work: its problem line,
 * variant, bytes, and the time that its work took. Work that a stream was given is timed by events in front of and
 * behind it, which are read once they are passed: nothing is waited for, and a value that a call waits for is not part of
 * its time. Work that the calling thread did itself is timed by the clock, and so is all of a plain call between heap and
 * device. Calls under graph capture are counted, and not timed. begin() forgets what was recorded before; end() keeps it.
 * Of most_records records the oldest make room for new ones, and then count in the rows of kinds of memory alone; each
 * takes about 900 bytes, and the host must have them all when it begins.
 *
 * Price       None that shows while no profile runs. On a GPU some microseconds a call for its events while one does.
 * Threads     All threads' calls on the context are recorded.
 * Errors      INVALID_ARGUMENT (most_records outside 1 to 2^24), OUT_OF_MEMORY. */
GPUMEM_API gpumem_status gpumem_profile_begin(gpumem_ctx *ctx, int64_t most_records);
GPUMEM_API gpumem_status gpumem_profile_end(gpumem_ctx *ctx);

GPUMEM_API gpumem_status gpumem_profile_row_init(gpumem_profile_row *row, int64_t size);

/* Writes at most cap rows: first a row for each problem and variant, by its total time, the longest first; then one for
 * each pair of kinds of memory, from the first operand of a call to its last. rows[0] is as gpumem_profile_row_init()
 * leaves it, and each row has its size. rows may be NULL when cap is 0; needed (may be NULL) gets the number of all rows.
 * May be called while the profile runs; of work that is not done there is no time yet. No rows without a profile. */
GPUMEM_API gpumem_status gpumem_profile_report(gpumem_ctx *ctx, gpumem_profile_row *rows, int64_t cap, int64_t *needed);

/* Writes the same rows to a file, which is replaced: as a table (GPUMEM_FORMAT_TEXT), CSV, or a JSON object whose
 * "schema" is "gpumem.profile/1"; or GPUMEM_FORMAT_TRACE: each timed call, for chrome://tracing and Perfetto.
 * GPUMEM_PROFILE=<path> records each context, and its gpumem_ctx_destroy() writes <path>.<process id>.<number of the
 * context>, empty until then: as CSV where <path> ends in .csv, JSON in .json, a trace in .trace, otherwise a table. A
 * CUDA context also marks its launches for tools that read NVTX: domain "gpumem", category the family, name the variant.
 * Errors: INVALID_ARGUMENT (another format, ""), FILE_ERROR (a link, no ordinary file, or the system's reason). */
GPUMEM_API gpumem_status gpumem_profile_write(gpumem_ctx *ctx, gpumem_format format, const char *path);

GPUMEM_API gpumem_status gpumem_tune_options_init(gpumem_tune_options *options, int64_t size);
GPUMEM_API gpumem_status gpumem_tune_info_init(gpumem_tune_info *info, int64_t size);

/* Measures which variant is fastest for the problem of a line (see gpumem_explain()), and makes the context take it for
 * problems like it: the same operation, types, kinds of memory and alignments; sizes from the same power of two to below
 * the next (up to 16 the same size); and strides, also those of tight arrays, that have the same largest divisor of 1, 2,
 * 4, 8 and 16. The work is done in memory of its own. Every variant that the table may take is run beside the table's
 * choice, in turns, with emptied caches where the operands would fit into them twice, and its results are compared with
 * the host's. It is adopted when it wins two rounds, by 3 % and by twice the spread, and is at most 3 % slower without
 * emptied caches. What is forced goes before what is tuned, and a tuned variant that does not fit a call is passed over. Results
 * never change. options may be NULL. What was tuned before and is not adopted any more goes, also from a file when saved.
 * Where the call fails, or progress stops it (OK, with the reason "it was stopped"), the choices are as they were.
 * Errors: as the operation's, but for EMPTY of single segments; UNSUPPORTED (an operand on another device than the
 * context's, or more rows scattered than there are: which stay is not defined), OUT_OF_MEMORY, CAPTURING (a stream of
 * the context is under capture). */
GPUMEM_API gpumem_status gpumem_tune(gpumem_ctx *ctx, const char *line, const gpumem_tune_options *options,
                                     gpumem_tune_info *info);

/* Takes over what was tuned before, from a file; writes what is tuned in this context to a file; forgets it.
 *
 * A line of the file is a device, a problem line, a variant, its revision, and how many times as fast as the table's
 * choice it was, with tabs between them; a # begins a comment. Loading takes the lines of this context's device and of
 * this host whose variant is still the same one. Others are skipped and told to the log; taken and skipped (may be NULL)
 * get their numbers. Saving keeps the file's lines of other devices and problems, and those of a later version of the
 * library. Lines of these devices go where they are of an older revision of a variant, and what is no line becomes a
 * comment. It writes a file beside this one and renames that: at any time the file is whole. Of processes that save at
 * the same time, the last one's lines are there.
 * Errors: FILE_ERROR (nothing to load, no tuning file, no ordinary one, or the system's reason; what was tuned stands). */
GPUMEM_API gpumem_status gpumem_tuning_load(gpumem_ctx *ctx, const char *path, int64_t *taken, int64_t *skipped);
GPUMEM_API gpumem_status gpumem_tuning_save(gpumem_ctx *ctx, const char *path);
GPUMEM_API gpumem_status gpumem_tuning_clear(gpumem_ctx *ctx);

/* ------------------------------------------------------------------------------------------------------ distributed */

/* Arrays that are spread over several contexts, of one process or of many. A member is one context's part; members are
 * numbered through all processes, those of process 0 first. Collective functions are called by every process, in the same
 * order, with what belongs to its own members. The library has no transport of its own: see gpumem_dist_transport.
 *
 * A mistake that a collective call finds before anything is sent (a layout, a plan) fails on every process, with the same
 * status and a sentence that names member and box. What a process finds alone on the way (a bad pointer, memory that has
 * run out) fails there with its own status. Others have that status too, or GPUMEM_PEER_LOST, or GPUMEM_TIMED_OUT not later
 * than deadline_s after the last message; those whose part was complete have it in their next call. After PEER_LOST or
 * TIMED_OUT anywhere, and after gpumem_dist_abort(), a status sticks: every collective call gives it, and memory that the
 * transport may still write to stays allocated.
 *
 * Collective calls are numbered from 0, gpumem_dist_create(), and plans from 0 as they are made. Every message says which
 * it is and of which call and plan. Processes that are in different calls get PEER_LOST, with a sentence that names both
 * calls. So do those between which a message is lost, doubled, cut or swapped with another, or which have another version of
 * the library. What processes tell each other of a call is checked as well. The bytes of array elements are not: that
 * they arrive as they were sent is the transport's promise. */

GPUMEM_API gpumem_status gpumem_dist_transport_init(gpumem_dist_transport *transport, int64_t size);
GPUMEM_API gpumem_status gpumem_dist_options_init(gpumem_dist_options *options, int64_t size);
GPUMEM_API gpumem_status gpumem_dist_info_init(gpumem_dist_info *info, int64_t size);
GPUMEM_API gpumem_status gpumem_dist_layout_init(gpumem_dist_layout *layout, int64_t size);
GPUMEM_API gpumem_status gpumem_dist_plan_options_init(gpumem_dist_plan_options *options, int64_t size);

/* Collective. The contexts outlive it; the transport's table is copied. *dist is NULL on failure, and a transport that could
 * be read is then released too. Errors: PEER_LOST, TIMED_OUT. */
GPUMEM_API gpumem_status gpumem_dist_create(const gpumem_dist_options *options, gpumem_dist **dist);

/* Not collective; works in any state. The sentence of a status that sticks is gpumem_last_error()'s after a call. */
GPUMEM_API gpumem_status gpumem_dist_query(gpumem_dist *dist, gpumem_dist_info *info);

/* From any thread: calls on dist that are under way in this process, and all after them, give GPUMEM_PEER_LOST. */
GPUMEM_API gpumem_status gpumem_dist_abort(gpumem_dist *dist);

/* Releases the transport; not collective, but others wait for what this process does not send any more. NULL is a no-op.
 * Errors: BUSY (plans are alive). */
GPUMEM_API gpumem_status gpumem_dist_destroy(gpumem_dist *dist);

/* Plans to move an array from one layout to another: axis d of dst is axis order[d] of src, so dst->extents[d] is
 * src->extents[order[d]]; NULL keeps the axes. The boxes of src are disjoint, and together have what those of dst ask
 * for; boxes of dst may share elements (a broadcast, an all-gather). Strides of what is written are as those of
 * gpumem_permute()'s dst, and boxes of one member have places of their own in its memory, except for elements that they
 * share, which may lie at the same place for both. options may be NULL. The layouts are read before the call returns.
 * Collective. *plan is NULL on failure. */
GPUMEM_API gpumem_status gpumem_dist_plan_redistribute(gpumem_dist *dist, const gpumem_dist_layout *src,
                                                       const gpumem_dist_layout *dst, const int32_t *order,
                                                       const gpumem_dist_plan_options *options,
                                                       gpumem_dist_plan **plan);

/* Plans to fill the ghost cells round each box from the boxes that own them, corners too: low[d] elements before the box
 * along axis d, and high[d] behind it, for which the member's memory has room at the box's strides: a box and what is
 * written round it have distinct places. Past the ends of the array lies its other end where periodic[d] is 1, and nothing
 * is written where it is 0; low[d] and high[d] are at most 16 times a periodic extent. low, high and periodic have `rank`
 * entries, the same on every process. The boxes are disjoint, and together have what is asked for. Collective. */
GPUMEM_API gpumem_status gpumem_dist_plan_halo(gpumem_dist *dist, const gpumem_dist_layout *layout, const int64_t *low,
                                               const int64_t *high, const int32_t *periodic,
                                               const gpumem_dist_plan_options *options, gpumem_dist_plan **plan);

/* Plans reductions over an array as the sequence of its elements, the last axis fastest. The boxes are disjoint, and
 * together are the array. For sums of floating-point numbers, whose bits depend on the order: where each box is one run
 * of that sequence (slabs are), up to 1023 elements a box go to a neighbour; otherwise all elements go to where they are a
 * run, for which each process keeps memory for its share. Collective. */
GPUMEM_API gpumem_status gpumem_dist_plan_reduce(gpumem_dist *dist, const gpumem_dist_layout *layout,
                                                 const gpumem_dist_plan_options *options, gpumem_dist_plan **plan);

/* Carries out a plan of the first two kinds; src and dst have a pointer for each member of this process, of any kind of
 * memory that its context takes (NULL where the member has no box): what the offsets of its boxes count from. A halo's dst
 * is its src, or NULL. Otherwise what is written may not overlap what is read. Behind the contexts' own streams, and
 * complete for this process on return; the processes are not in step after it. Collective. Errors: as gpumem_permute();
 * PEER_LOST, TIMED_OUT. */
GPUMEM_API gpumem_status gpumem_dist_execute(gpumem_dist_plan *plan, const void *const *src, void *const *dst);

/* The same, only enqueued, where this process only pulls in the plan (gpumem_dist_explain() tells), between members that
 * all work on devices, or all on the host, and both sides of each piece lie in host memory, or both on the device's side.
 * streams has a stream of each member's context, NULL for its own, and may be NULL. Each piece comes behind what the
 * streams of both its members hold, and before what is enqueued on either later: all is done once the streams of all
 * members are. Meanwhile the plan may be enqueued again, or destroyed. Between two devices it may take memory of their
 * contexts' pools, but under capture. Either no stream is under graph capture, or all are, for one graph. Where it fails
 * behind pieces that were enqueued, it has waited for them, but under capture. Not collective. Errors: as
 * gpumem_permute_async(); UNSUPPORTED (pieces are staged, go to other processes, or lie where another member's device can't
 * read), CAPTURING (of the streams, only some are under capture, or for different graphs). */
GPUMEM_API gpumem_status gpumem_dist_execute_async(gpumem_dist_plan *plan, const void *const *src, void *const *dst,
                                                   gpumem_stream *const *streams);

/* One value for all processes: what gpumem_reduce(), gpumem_argreduce(), gpumem_dot_*() and gpumem_nrm2_*() would give for
 * the whole sequence on one device, with the same bits and statuses, however many members there are and whatever their
 * boxes. x (and y) as src above; element_bytes of the layout is the type's. An index is the element's place in the
 * sequence; value may be NULL. Results are ordinary host memory, and there on return. Collective. Errors: as those
 * functions, CAPTURING too; PEER_LOST, TIMED_OUT. */
GPUMEM_API gpumem_status gpumem_dist_reduce(gpumem_dist_plan *plan, gpumem_dtype dtype, gpumem_reduce_op op,
                                            const void *const *x, void *result);
GPUMEM_API gpumem_status gpumem_dist_argreduce(gpumem_dist_plan *plan, gpumem_dtype dtype, gpumem_reduce_op op,
                                               const void *const *x, void *value, int64_t *index);
GPUMEM_API gpumem_status gpumem_dist_dot(gpumem_dist_plan *plan, gpumem_dtype dtype, const void *const *x,
                                         const void *const *y, double *result);
GPUMEM_API gpumem_status gpumem_dist_nrm2(gpumem_dist_plan *plan, gpumem_dtype dtype, const void *const *x,
                                          double *result);

/* What this process does in a plan, in words or as JSON: bytes and messages to and from each process, how they travel,
 * the workspace. buf, cap and needed as gpumem_last_error() has them. Not collective. */
GPUMEM_API gpumem_status gpumem_dist_explain(gpumem_dist_plan *plan, gpumem_format format, char *buf, int64_t cap,
                                             int64_t *needed);

/* NULL is a no-op. Not collective. */
GPUMEM_API gpumem_status gpumem_dist_plan_destroy(gpumem_dist_plan *plan);

#ifdef __cplusplus
}
#endif

#endif /* GPUMEM_H */
