! SPDX-License-Identifier: Apache-2.0
! Generated: change bindings/fortran/generate and run it.

! The constants of gpumem.h.
module gpumem_constants
  use, intrinsic :: iso_c_binding, only: c_int32_t
  implicit none
  public

  integer(c_int32_t), parameter :: gpumem_version_major = 0
  integer(c_int32_t), parameter :: gpumem_version_minor = 1
  integer(c_int32_t), parameter :: gpumem_version_patch = 0
  integer(c_int32_t), parameter :: gpumem_ok = 0
  integer(c_int32_t), parameter :: gpumem_invalid_argument = 1
  integer(c_int32_t), parameter :: gpumem_invalid_handle = 2
  integer(c_int32_t), parameter :: gpumem_invalid_pointer = 3
  integer(c_int32_t), parameter :: gpumem_out_of_range = 4
  integer(c_int32_t), parameter :: gpumem_empty = 5
  integer(c_int32_t), parameter :: gpumem_overflow = 6
  integer(c_int32_t), parameter :: gpumem_unsupported = 7
  integer(c_int32_t), parameter :: gpumem_busy = 8
  integer(c_int32_t), parameter :: gpumem_not_ready = 9
  integer(c_int32_t), parameter :: gpumem_not_found = 10
  integer(c_int32_t), parameter :: gpumem_capturing = 11
  integer(c_int32_t), parameter :: gpumem_forked = 12
  integer(c_int32_t), parameter :: gpumem_corrupted = 13
  integer(c_int32_t), parameter :: gpumem_out_of_memory = 100
  integer(c_int32_t), parameter :: gpumem_out_of_resources = 101
  integer(c_int32_t), parameter :: gpumem_file_error = 102
  integer(c_int32_t), parameter :: gpumem_no_device = 200
  integer(c_int32_t), parameter :: gpumem_no_driver = 201
  integer(c_int32_t), parameter :: gpumem_driver_too_old = 202
  integer(c_int32_t), parameter :: gpumem_device_fault = 203
  integer(c_int32_t), parameter :: gpumem_driver_error = 204
  integer(c_int32_t), parameter :: gpumem_not_built = 205
  integer(c_int32_t), parameter :: gpumem_peer_lost = 206
  integer(c_int32_t), parameter :: gpumem_timed_out = 207
  integer(c_int32_t), parameter :: gpumem_internal = 900
  integer(c_int32_t), parameter :: gpumem_backend_host = 0
  integer(c_int32_t), parameter :: gpumem_backend_cuda = 1
  integer(c_int32_t), parameter :: gpumem_device_host = -1
  integer(c_int32_t), parameter :: gpumem_device_best = -2
  integer(c_int32_t), parameter :: gpumem_device_cuda = -3
  integer(c_int32_t), parameter :: gpumem_device_none = -4
  integer(c_int32_t), parameter :: gpumem_i8 = 0
  integer(c_int32_t), parameter :: gpumem_u8 = 1
  integer(c_int32_t), parameter :: gpumem_i16 = 2
  integer(c_int32_t), parameter :: gpumem_u16 = 3
  integer(c_int32_t), parameter :: gpumem_i32 = 4
  integer(c_int32_t), parameter :: gpumem_u32 = 5
  integer(c_int32_t), parameter :: gpumem_i64 = 6
  integer(c_int32_t), parameter :: gpumem_u64 = 7
  integer(c_int32_t), parameter :: gpumem_f16 = 8
  integer(c_int32_t), parameter :: gpumem_bf16 = 9
  integer(c_int32_t), parameter :: gpumem_f32 = 10
  integer(c_int32_t), parameter :: gpumem_f64 = 11
  integer(c_int32_t), parameter :: gpumem_sum = 0
  integer(c_int32_t), parameter :: gpumem_min = 1
  integer(c_int32_t), parameter :: gpumem_max = 2
  integer(c_int32_t), parameter :: gpumem_sum_abs = 3
  integer(c_int32_t), parameter :: gpumem_sum_squares = 4
  integer(c_int32_t), parameter :: gpumem_sum_cubes = 5
  integer(c_int32_t), parameter :: gpumem_max_abs = 6
  integer(c_int32_t), parameter :: gpumem_min_max = 7
  integer(c_int32_t), parameter :: gpumem_sum_compensated = 8
  integer(c_int32_t), parameter :: gpumem_arg_min = 16
  integer(c_int32_t), parameter :: gpumem_arg_max = 17
  integer(c_int32_t), parameter :: gpumem_dot = 18
  integer(c_int32_t), parameter :: gpumem_nrm2 = 19
  integer(c_int32_t), parameter :: gpumem_arg_max_abs = 20
  integer(c_int32_t), parameter :: gpumem_prod = 21
  integer(c_int32_t), parameter :: gpumem_sum_valid = 22
  integer(c_int32_t), parameter :: gpumem_count_valid = 23
  integer(c_int32_t), parameter :: gpumem_min_valid = 24
  integer(c_int32_t), parameter :: gpumem_max_valid = 25
  integer(c_int32_t), parameter :: gpumem_arg_min_valid = 26
  integer(c_int32_t), parameter :: gpumem_arg_max_valid = 27
  integer(c_int32_t), parameter :: gpumem_sum_order_free = 28
  integer(c_int32_t), parameter :: gpumem_nrm2_order_free = 29
  integer(c_int32_t), parameter :: gpumem_axis_rows = 0
  integer(c_int32_t), parameter :: gpumem_axis_cols = 1
  integer(c_int32_t), parameter :: gpumem_memory_pageable = 0
  integer(c_int32_t), parameter :: gpumem_memory_pinned = 1
  integer(c_int32_t), parameter :: gpumem_memory_device = 2
  integer(c_int32_t), parameter :: gpumem_memory_managed = 3
  integer(c_int32_t), parameter :: gpumem_advise_read_mostly = 1
  integer(c_int32_t), parameter :: gpumem_advise_unset_read_mostly = 2
  integer(c_int32_t), parameter :: gpumem_advise_preferred_location = 3
  integer(c_int32_t), parameter :: gpumem_advise_unset_preferred_location = 4
  integer(c_int32_t), parameter :: gpumem_advise_accessed_by = 5
  integer(c_int32_t), parameter :: gpumem_advise_unset_accessed_by = 6
  integer(c_int32_t), parameter :: gpumem_family_reduce = 1
  integer(c_int32_t), parameter :: gpumem_family_transpose = 2
  integer(c_int32_t), parameter :: gpumem_family_fill = 3
  integer(c_int32_t), parameter :: gpumem_family_reduce_axis = 4
  integer(c_int32_t), parameter :: gpumem_family_reduce_segments = 5
  integer(c_int32_t), parameter :: gpumem_family_copy = 6
  integer(c_int32_t), parameter :: gpumem_family_axpby = 7
  integer(c_int32_t), parameter :: gpumem_family_gather = 8
  integer(c_int32_t), parameter :: gpumem_family_scatter = 9
  integer(c_int32_t), parameter :: gpumem_family_permute = 10
  integer(c_int32_t), parameter :: gpumem_family_resize = 11
  integer(c_int32_t), parameter :: gpumem_family_convert = 12
  integer(c_int32_t), parameter :: gpumem_family_arithmetic = 13
  integer(c_int32_t), parameter :: gpumem_family_map = 14
  integer(c_int32_t), parameter :: gpumem_family_scan = 15
  integer(c_int32_t), parameter :: gpumem_family_sort = 16
  integer(c_int32_t), parameter :: gpumem_family_select = 17
  integer(c_int32_t), parameter :: gpumem_family_reduce_by_index = 18
  integer(c_int32_t), parameter :: gpumem_family_copy_boxes = 19
  integer(c_int32_t), parameter :: gpumem_map_negate = 0
  integer(c_int32_t), parameter :: gpumem_map_absolute = 1
  integer(c_int32_t), parameter :: gpumem_map_reciprocal = 2
  integer(c_int32_t), parameter :: gpumem_map_square_root = 3
  integer(c_int32_t), parameter :: gpumem_map_floor = 4
  integer(c_int32_t), parameter :: gpumem_map_ceil = 5
  integer(c_int32_t), parameter :: gpumem_map_truncate = 6
  integer(c_int32_t), parameter :: gpumem_map_round = 7
  integer(c_int32_t), parameter :: gpumem_map_not = 8
  integer(c_int32_t), parameter :: gpumem_map_add = 16
  integer(c_int32_t), parameter :: gpumem_map_subtract = 17
  integer(c_int32_t), parameter :: gpumem_map_multiply = 18
  integer(c_int32_t), parameter :: gpumem_map_divide = 19
  integer(c_int32_t), parameter :: gpumem_map_remainder = 20
  integer(c_int32_t), parameter :: gpumem_map_minimum = 21
  integer(c_int32_t), parameter :: gpumem_map_maximum = 22
  integer(c_int32_t), parameter :: gpumem_map_copy_sign = 23
  integer(c_int32_t), parameter :: gpumem_map_and = 24
  integer(c_int32_t), parameter :: gpumem_map_or = 25
  integer(c_int32_t), parameter :: gpumem_map_xor = 26
  integer(c_int32_t), parameter :: gpumem_map_shift_left = 27
  integer(c_int32_t), parameter :: gpumem_map_shift_right = 28
  integer(c_int32_t), parameter :: gpumem_less = 0
  integer(c_int32_t), parameter :: gpumem_less_equal = 1
  integer(c_int32_t), parameter :: gpumem_equal = 2
  integer(c_int32_t), parameter :: gpumem_not_equal = 3
  integer(c_int32_t), parameter :: gpumem_greater_equal = 4
  integer(c_int32_t), parameter :: gpumem_greater = 5
  integer(c_int32_t), parameter :: gpumem_filter_nearest = 0
  integer(c_int32_t), parameter :: gpumem_filter_bilinear = 1
  integer(c_int32_t), parameter :: gpumem_format_text = 0
  integer(c_int32_t), parameter :: gpumem_format_json = 1
  integer(c_int32_t), parameter :: gpumem_format_csv = 2
  integer(c_int32_t), parameter :: gpumem_format_trace = 3
  integer(c_int32_t), parameter :: gpumem_log_error = 1
  integer(c_int32_t), parameter :: gpumem_log_warning = 2
  integer(c_int32_t), parameter :: gpumem_log_info = 3

end module

! The structs and functions of gpumem.h. Memory and handles are c_ptr. Strings end in c_null_char.
module gpumem_c
  use, intrinsic :: iso_c_binding
  use gpumem_constants
  implicit none
  public

  type, bind(c) :: gpumem_ctx_options
    integer(c_int64_t) :: struct_size
    integer(c_int32_t) :: device
    integer(c_int32_t) :: host_threads
    integer(c_int32_t) :: non_blocking_stream
    integer(c_int32_t) :: reserved0
    type(c_funptr) :: parallel_for = c_null_funptr
    type(c_ptr) :: parallel_for_user = c_null_ptr
    integer(c_int32_t) :: stream_host_data
    integer(c_int32_t) :: reserved1
    integer(c_int64_t) :: device_memory_limit
    integer(c_int64_t) :: pinned_memory_kept
    integer(c_int32_t) :: debug_memory
    integer(c_int32_t) :: reserved2
    integer(c_int32_t) :: strict_host
    integer(c_int32_t) :: reserved3
  end type

  type, bind(c) :: gpumem_device_info
    integer(c_int64_t) :: struct_size
    integer(c_int32_t) :: backend
    integer(c_int32_t) :: device
    integer(c_int32_t) :: reason_code
    integer(c_int32_t) :: compute_major
    integer(c_int32_t) :: compute_minor
    integer(c_int32_t) :: multiprocessors
    integer(c_int32_t) :: driver_version
    integer(c_int32_t) :: managed_memory
    integer(c_int32_t) :: concurrent_managed
    integer(c_int32_t) :: pageable_access
    integer(c_int64_t) :: memory_bytes
    integer(c_int64_t) :: l2_bytes
    integer(c_int64_t) :: bandwidth_bytes_per_s
    character(kind=c_char) :: name(128)
    character(kind=c_char) :: reason(256)
  end type

  type, bind(c) :: gpumem_pointer_info
    integer(c_int64_t) :: struct_size
    integer(c_int32_t) :: kind
    integer(c_int32_t) :: device
    integer(c_int32_t) :: ours
    integer(c_int32_t) :: reserved0
    integer(c_int64_t) :: size_bytes
    integer(c_int64_t) :: offset_bytes
    type(c_ptr) :: base = c_null_ptr
  end type

  type, bind(c) :: gpumem_managed_info
    integer(c_int64_t) :: struct_size
    integer(c_int64_t) :: host_bytes
    integer(c_int32_t) :: last_prefetch
    integer(c_int32_t) :: preferred_location
    integer(c_int32_t) :: read_mostly
    integer(c_int32_t) :: accessed_by
  end type

  type, bind(c) :: gpumem_memory_stats_info
    integer(c_int64_t) :: struct_size
    integer(c_int64_t) :: device_bytes
    integer(c_int64_t) :: device_blocks
    integer(c_int64_t) :: device_peak_bytes
    integer(c_int64_t) :: pinned_bytes
    integer(c_int64_t) :: pinned_blocks
    integer(c_int64_t) :: pinned_peak_bytes
    integer(c_int64_t) :: managed_bytes
    integer(c_int64_t) :: managed_blocks
    integer(c_int64_t) :: managed_peak_bytes
    integer(c_int64_t) :: allocations
    integer(c_int64_t) :: frees
    integer(c_int64_t) :: device_reserved_bytes
    integer(c_int64_t) :: device_reserved_peak_bytes
    integer(c_int64_t) :: pinned_reserved_bytes
    integer(c_int64_t) :: pinned_reserved_peak_bytes
    integer(c_int64_t) :: device_allocations
    integer(c_int64_t) :: pinned_allocations
    integer(c_int64_t) :: managed_allocations
    integer(c_int64_t) :: device_hits
    integer(c_int64_t) :: device_misses
    integer(c_int64_t) :: pinned_hits
    integer(c_int64_t) :: pinned_misses
    integer(c_int64_t) :: registered_bytes
    integer(c_int64_t) :: registered_ranges
  end type

  type, bind(c) :: gpumem_ceiling_info
    integer(c_int64_t) :: struct_size
    integer(c_int64_t) :: read
    integer(c_int64_t) :: write
    integer(c_int64_t) :: copy
    integer(c_int64_t) :: to_device
    integer(c_int64_t) :: from_device
    integer(c_int64_t) :: theoretical
  end type

  type, bind(c) :: gpumem_profile_row
    integer(c_int64_t) :: struct_size
    integer(c_int64_t) :: calls
    integer(c_int64_t) :: timed
    integer(c_int64_t) :: bytes
    real(c_double) :: median_s
    real(c_double) :: total_s
    real(c_double) :: bytes_per_s
    real(c_double) :: of_theoretical
    real(c_double) :: of_ceiling
    real(c_double) :: flops_per_s
    character(kind=c_char) :: variant(64)
    character(kind=c_char) :: problem(512)
  end type

  type, bind(c) :: gpumem_tune_options
    integer(c_int64_t) :: struct_size
    real(c_double) :: budget_s
    type(c_funptr) :: progress = c_null_funptr
    type(c_ptr) :: user = c_null_ptr
  end type

  type, bind(c) :: gpumem_tune_info
    integer(c_int64_t) :: struct_size
    integer(c_int32_t) :: adopted
    integer(c_int32_t) :: candidates
    real(c_double) :: table_s
    real(c_double) :: winner_s
    real(c_double) :: ratio
    real(c_double) :: spread
    character(kind=c_char) :: table(64)
    character(kind=c_char) :: winner(64)
    character(kind=c_char) :: reason(128)
  end type

  type, bind(c) :: gpumem_dist_transport
    integer(c_int64_t) :: struct_size
    type(c_ptr) :: user = c_null_ptr
    integer(c_int32_t) :: rank
    integer(c_int32_t) :: size
    type(c_funptr) :: isend = c_null_funptr
    type(c_funptr) :: irecv = c_null_funptr
    type(c_funptr) :: test = c_null_funptr
    type(c_funptr) :: release = c_null_funptr
  end type

  type, bind(c) :: gpumem_dist_options
    integer(c_int64_t) :: struct_size
    type(c_ptr) :: contexts = c_null_ptr
    integer(c_int32_t) :: members
    integer(c_int32_t) :: reserved0
    type(c_ptr) :: transport = c_null_ptr
    real(c_double) :: deadline_s
  end type

  type, bind(c) :: gpumem_dist_info
    integer(c_int64_t) :: struct_size
    integer(c_int32_t) :: rank
    integer(c_int32_t) :: size
    integer(c_int32_t) :: first_member
    integer(c_int32_t) :: members
    integer(c_int32_t) :: all_members
    integer(c_int32_t) :: status
    integer(c_int32_t) :: staged_pairs
    integer(c_int32_t) :: reserved0
  end type

  type, bind(c) :: gpumem_dist_layout
    integer(c_int64_t) :: struct_size
    integer(c_int64_t) :: element_bytes
    integer(c_int32_t) :: rank
    integer(c_int32_t) :: reserved0
    type(c_ptr) :: extents = c_null_ptr
    integer(c_int64_t) :: boxes
    type(c_ptr) :: members = c_null_ptr
    type(c_ptr) :: lower = c_null_ptr
    type(c_ptr) :: upper = c_null_ptr
    type(c_ptr) :: offsets = c_null_ptr
    type(c_ptr) :: strides = c_null_ptr
  end type

  type, bind(c) :: gpumem_dist_plan_options
    integer(c_int64_t) :: struct_size
    integer(c_int64_t) :: workspace_bytes
  end type

  abstract interface
    subroutine gpumem_log_fn(user, level, message) bind(c)
      import
      type(c_ptr), value :: user
      integer(c_int32_t), value :: level
      type(c_ptr), value :: message
    end subroutine
    subroutine gpumem_task_fn(task_state, index) bind(c)
      import
      type(c_ptr), value :: task_state
      integer(c_int64_t), value :: index
    end subroutine
    subroutine gpumem_parallel_for_fn(user, tasks, task, task_state) bind(c)
      import
      type(c_ptr), value :: user
      integer(c_int64_t), value :: tasks
      procedure(gpumem_task_fn) :: task
      type(c_ptr), value :: task_state
    end subroutine
    integer(c_int32_t) function gpumem_progress_fn(user, done) bind(c)
      import
      type(c_ptr), value :: user
      real(c_double), value :: done
    end function
    integer(c_int32_t) function gpumem_dist_send_fn(user, p, bytes, to, request) bind(c)
      import
      type(c_ptr), value :: user
      type(c_ptr), value :: p
      integer(c_int64_t), value :: bytes
      integer(c_int32_t), value :: to
      type(c_ptr), value :: request
    end function
    integer(c_int32_t) function gpumem_dist_receive_fn(user, p, bytes, from, request) bind(c)
      import
      type(c_ptr), value :: user
      type(c_ptr), value :: p
      integer(c_int64_t), value :: bytes
      integer(c_int32_t), value :: from
      type(c_ptr), value :: request
    end function
    integer(c_int32_t) function gpumem_dist_test_fn(user, request, done) bind(c)
      import
      type(c_ptr), value :: user
      type(c_ptr), value :: request
      type(c_ptr), value :: done
    end function
    subroutine gpumem_dist_release_fn(user) bind(c)
      import
      type(c_ptr), value :: user
    end subroutine
  end interface

  interface
    integer(c_int32_t) function gpumem_version(major, minor, patch) bind(c, name='gpumem_version')
      import
      integer(c_int32_t), intent(out), optional :: major
      integer(c_int32_t), intent(out), optional :: minor
      integer(c_int32_t), intent(out), optional :: patch
    end function
    type(c_ptr) function gpumem_status_name(status) bind(c, name='gpumem_status_name')
      import
      integer(c_int32_t), value :: status
    end function
    integer(c_int32_t) function gpumem_last_error(buf, cap, needed) bind(c, name='gpumem_last_error')
      import
      character(kind=c_char), intent(inout), optional :: buf(*)
      integer(c_int64_t), value :: cap
      integer(c_int64_t), intent(out), optional :: needed
    end function
    integer(c_int32_t) function gpumem_device_count(count) bind(c, name='gpumem_device_count')
      import
      integer(c_int32_t), intent(out), optional :: count
    end function
    integer(c_int32_t) function gpumem_device_info_init(info, size) bind(c, name='gpumem_device_info_init')
      import
      type(gpumem_device_info), intent(inout) :: info
      integer(c_int64_t), value :: size
    end function
    integer(c_int32_t) function gpumem_device_query(device, info) bind(c, name='gpumem_device_query')
      import
      integer(c_int32_t), value :: device
      type(gpumem_device_info), intent(inout) :: info
    end function
    integer(c_int32_t) function gpumem_ctx_options_init(options, size) bind(c, name='gpumem_ctx_options_init')
      import
      type(gpumem_ctx_options), intent(inout) :: options
      integer(c_int64_t), value :: size
    end function
    integer(c_int32_t) function gpumem_ctx_create(options, ctx) bind(c, name='gpumem_ctx_create')
      import
      type(gpumem_ctx_options), intent(in), optional :: options
      type(c_ptr), intent(out) :: ctx
    end function
    integer(c_int32_t) function gpumem_ctx_destroy(ctx) bind(c, name='gpumem_ctx_destroy')
      import
      type(c_ptr), value :: ctx
    end function
    integer(c_int32_t) function gpumem_ctx_device(ctx, info) bind(c, name='gpumem_ctx_device')
      import
      type(c_ptr), value :: ctx
      type(gpumem_device_info), intent(inout) :: info
    end function
    integer(c_int32_t) function gpumem_ctx_status(ctx) bind(c, name='gpumem_ctx_status')
      import
      type(c_ptr), value :: ctx
    end function
    integer(c_int32_t) function gpumem_ctx_synchronize(ctx) bind(c, name='gpumem_ctx_synchronize')
      import
      type(c_ptr), value :: ctx
    end function
    integer(c_int32_t) function gpumem_ctx_set_log(ctx, fn, user) bind(c, name='gpumem_ctx_set_log')
      import
      type(c_ptr), value :: ctx
      type(c_funptr), value :: fn
      type(c_ptr), value :: user
    end function
    integer(c_int32_t) function gpumem_ctx_warmup(ctx) bind(c, name='gpumem_ctx_warmup')
      import
      type(c_ptr), value :: ctx
    end function
    integer(c_int32_t) function gpumem_alloc_device(ctx, bytes, p) bind(c, name='gpumem_alloc_device')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: bytes
      type(c_ptr), intent(out) :: p
    end function
    integer(c_int32_t) function gpumem_alloc_pinned(ctx, bytes, p) bind(c, name='gpumem_alloc_pinned')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: bytes
      type(c_ptr), intent(out) :: p
    end function
    integer(c_int32_t) function gpumem_alloc_managed(ctx, bytes, p) bind(c, name='gpumem_alloc_managed')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: bytes
      type(c_ptr), intent(out) :: p
    end function
    integer(c_int32_t) function gpumem_free(ctx, p) bind(c, name='gpumem_free')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: p
    end function
    integer(c_int32_t) function gpumem_alloc_async(ctx, bytes, alignment, stream, p) bind(c, name='gpumem_alloc_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: bytes
      integer(c_int64_t), value :: alignment
      type(c_ptr), value :: stream
      type(c_ptr), intent(out) :: p
    end function
    integer(c_int32_t) function gpumem_free_async(ctx, p, stream) bind(c, name='gpumem_free_async')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: p
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_memory_used_on(ctx, p, stream) bind(c, name='gpumem_memory_used_on')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: p
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_memory_trim(ctx, keep_bytes) bind(c, name='gpumem_memory_trim')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: keep_bytes
    end function
    integer(c_int32_t) function gpumem_memory_check(ctx) bind(c, name='gpumem_memory_check')
      import
      type(c_ptr), value :: ctx
    end function
    integer(c_int32_t) function gpumem_memory_trace(ctx, path) bind(c, name='gpumem_memory_trace')
      import
      type(c_ptr), value :: ctx
      character(kind=c_char), intent(in), optional :: path(*)
    end function
    integer(c_int32_t) function gpumem_host_register(ctx, p, bytes) bind(c, name='gpumem_host_register')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: p
      integer(c_int64_t), value :: bytes
    end function
    integer(c_int32_t) function gpumem_host_unregister(ctx, p) bind(c, name='gpumem_host_unregister')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: p
    end function
    integer(c_int32_t) function gpumem_memory_label(ctx, p, label) bind(c, name='gpumem_memory_label')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: p
      character(kind=c_char), intent(in), optional :: label(*)
    end function
    integer(c_int32_t) function gpumem_pointer_info_init(info, size) bind(c, name='gpumem_pointer_info_init')
      import
      type(gpumem_pointer_info), intent(inout) :: info
      integer(c_int64_t), value :: size
    end function
    integer(c_int32_t) function gpumem_pointer_query(ctx, p, info) bind(c, name='gpumem_pointer_query')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: p
      type(gpumem_pointer_info), intent(inout) :: info
    end function
    integer(c_int32_t) function gpumem_memory_stats_init(stats, size) bind(c, name='gpumem_memory_stats_init')
      import
      type(gpumem_memory_stats_info), intent(inout) :: stats
      integer(c_int64_t), value :: size
    end function
    integer(c_int32_t) function gpumem_memory_stats(ctx, stats) bind(c, name='gpumem_memory_stats')
      import
      type(c_ptr), value :: ctx
      type(gpumem_memory_stats_info), intent(inout) :: stats
    end function
    integer(c_int32_t) function gpumem_shared_ctx(device, ctx) bind(c, name='gpumem_shared_ctx')
      import
      integer(c_int32_t), value :: device
      type(c_ptr), intent(out) :: ctx
    end function
    type(c_ptr) function gpumem_torch_malloc(bytes, device, native_stream) bind(c, name='gpumem_torch_malloc')
      import
      integer(c_int64_t), value :: bytes
      integer(c_int32_t), value :: device
      type(c_ptr), value :: native_stream
    end function
    subroutine gpumem_torch_free(p, bytes, device, native_stream) bind(c, name='gpumem_torch_free')
      import
      type(c_ptr), value :: p
      integer(c_int64_t), value :: bytes
      integer(c_int32_t), value :: device
      type(c_ptr), value :: native_stream
    end subroutine
    subroutine gpumem_torch_record_stream(p, native_stream) bind(c, name='gpumem_torch_record_stream')
      import
      type(c_ptr), value :: p
      type(c_ptr), value :: native_stream
    end subroutine
    subroutine gpumem_torch_begin_pool(device, pool_high, pool_low, filter) bind(c, name='gpumem_torch_begin_pool')
      import
      integer(c_int32_t), value :: device
      integer(c_int64_t), value :: pool_high
      integer(c_int64_t), value :: pool_low
      type(c_ptr), value :: filter
    end subroutine
    subroutine gpumem_torch_end_pool(device, pool_high, pool_low) bind(c, name='gpumem_torch_end_pool')
      import
      integer(c_int32_t), value :: device
      integer(c_int64_t), value :: pool_high
      integer(c_int64_t), value :: pool_low
    end subroutine
    subroutine gpumem_torch_release_pool(device, pool_high, pool_low) bind(c, name='gpumem_torch_release_pool')
      import
      integer(c_int32_t), value :: device
      integer(c_int64_t), value :: pool_high
      integer(c_int64_t), value :: pool_low
    end subroutine
    subroutine gpumem_torch_empty_cache() bind(c, name='gpumem_torch_empty_cache')
      import
    end subroutine
    type(c_ptr) function gpumem_torch_segment_malloc(bytes, device, native_stream) bind(c, &
        name='gpumem_torch_segment_malloc')
      import
      integer(c_int64_t), value :: bytes
      integer(c_int32_t), value :: device
      type(c_ptr), value :: native_stream
    end function
    subroutine gpumem_torch_segment_free(p, bytes, device, native_stream) bind(c, name='gpumem_torch_segment_free')
      import
      type(c_ptr), value :: p
      integer(c_int64_t), value :: bytes
      integer(c_int32_t), value :: device
      type(c_ptr), value :: native_stream
    end subroutine
    type(c_ptr) function gpumem_cupy_malloc(param, bytes, device) bind(c, name='gpumem_cupy_malloc')
      import
      type(c_ptr), value :: param
      integer(c_int64_t), value :: bytes
      integer(c_int32_t), value :: device
    end function
    subroutine gpumem_cupy_free(param, p, device) bind(c, name='gpumem_cupy_free')
      import
      type(c_ptr), value :: param
      type(c_ptr), value :: p
      integer(c_int32_t), value :: device
    end subroutine
    integer(c_int32_t) function gpumem_managed_prefetch(ctx, p, bytes, device) bind(c, name='gpumem_managed_prefetch')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: p
      integer(c_int64_t), value :: bytes
      integer(c_int32_t), value :: device
    end function
    integer(c_int32_t) function gpumem_managed_prefetch_async(ctx, p, bytes, device, stream) bind(c, &
        name='gpumem_managed_prefetch_async')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: p
      integer(c_int64_t), value :: bytes
      integer(c_int32_t), value :: device
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_managed_advise(ctx, p, bytes, advice, device) bind(c, &
        name='gpumem_managed_advise')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: p
      integer(c_int64_t), value :: bytes
      integer(c_int32_t), value :: advice
      integer(c_int32_t), value :: device
    end function
    integer(c_int32_t) function gpumem_managed_info_init(info, size) bind(c, name='gpumem_managed_info_init')
      import
      type(gpumem_managed_info), intent(inout) :: info
      integer(c_int64_t), value :: size
    end function
    integer(c_int32_t) function gpumem_managed_query(ctx, p, bytes, info) bind(c, name='gpumem_managed_query')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: p
      integer(c_int64_t), value :: bytes
      type(gpumem_managed_info), intent(inout) :: info
    end function
    integer(c_int32_t) function gpumem_copy(ctx, dst, src, bytes) bind(c, name='gpumem_copy')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: dst
      type(c_ptr), value :: src
      integer(c_int64_t), value :: bytes
    end function
    integer(c_int32_t) function gpumem_copy_async(ctx, dst, src, bytes, stream) bind(c, name='gpumem_copy_async')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: dst
      type(c_ptr), value :: src
      integer(c_int64_t), value :: bytes
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_copy_2d(ctx, dst, dst_pitch_bytes, src, src_pitch_bytes, row_bytes, &
        rows) bind(c, name='gpumem_copy_2d')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_pitch_bytes
      type(c_ptr), value :: src
      integer(c_int64_t), value :: src_pitch_bytes
      integer(c_int64_t), value :: row_bytes
      integer(c_int64_t), value :: rows
    end function
    integer(c_int32_t) function gpumem_copy_2d_async(ctx, dst, dst_pitch_bytes, src, src_pitch_bytes, row_bytes, &
        rows, stream) bind(c, name='gpumem_copy_2d_async')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_pitch_bytes
      type(c_ptr), value :: src
      integer(c_int64_t), value :: src_pitch_bytes
      integer(c_int64_t), value :: row_bytes
      integer(c_int64_t), value :: rows
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_copy_3d(ctx, dst, dst_pitch_bytes, dst_slice_bytes, src, src_pitch_bytes, &
        src_slice_bytes, row_bytes, rows, slices) bind(c, name='gpumem_copy_3d')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_pitch_bytes
      integer(c_int64_t), value :: dst_slice_bytes
      type(c_ptr), value :: src
      integer(c_int64_t), value :: src_pitch_bytes
      integer(c_int64_t), value :: src_slice_bytes
      integer(c_int64_t), value :: row_bytes
      integer(c_int64_t), value :: rows
      integer(c_int64_t), value :: slices
    end function
    integer(c_int32_t) function gpumem_copy_3d_async(ctx, dst, dst_pitch_bytes, dst_slice_bytes, src, &
        src_pitch_bytes, src_slice_bytes, row_bytes, rows, slices, stream) bind(c, name='gpumem_copy_3d_async')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_pitch_bytes
      integer(c_int64_t), value :: dst_slice_bytes
      type(c_ptr), value :: src
      integer(c_int64_t), value :: src_pitch_bytes
      integer(c_int64_t), value :: src_slice_bytes
      integer(c_int64_t), value :: row_bytes
      integer(c_int64_t), value :: rows
      integer(c_int64_t), value :: slices
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_fill(ctx, dst, pattern, pattern_bytes, count) bind(c, name='gpumem_fill')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: dst
      type(c_ptr), value :: pattern
      integer(c_int64_t), value :: pattern_bytes
      integer(c_int64_t), value :: count
    end function
    integer(c_int32_t) function gpumem_fill_async(ctx, dst, pattern, pattern_bytes, count, stream) bind(c, &
        name='gpumem_fill_async')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: dst
      type(c_ptr), value :: pattern
      integer(c_int64_t), value :: pattern_bytes
      integer(c_int64_t), value :: count
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_fill_2d(ctx, dst, dst_pitch_bytes, pattern, pattern_bytes, cols, rows) bind(c, &
        name='gpumem_fill_2d')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_pitch_bytes
      type(c_ptr), value :: pattern
      integer(c_int64_t), value :: pattern_bytes
      integer(c_int64_t), value :: cols
      integer(c_int64_t), value :: rows
    end function
    integer(c_int32_t) function gpumem_fill_2d_async(ctx, dst, dst_pitch_bytes, pattern, pattern_bytes, cols, rows, &
        stream) bind(c, name='gpumem_fill_2d_async')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_pitch_bytes
      type(c_ptr), value :: pattern
      integer(c_int64_t), value :: pattern_bytes
      integer(c_int64_t), value :: cols
      integer(c_int64_t), value :: rows
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_stream_create(ctx, stream) bind(c, name='gpumem_stream_create')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), intent(out) :: stream
    end function
    integer(c_int32_t) function gpumem_stream_destroy(stream) bind(c, name='gpumem_stream_destroy')
      import
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_stream_wrap(ctx, native_stream, stream) bind(c, name='gpumem_stream_wrap')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: native_stream
      type(c_ptr), intent(out) :: stream
    end function
    integer(c_int32_t) function gpumem_stream_native(ctx, stream, native_stream) bind(c, name='gpumem_stream_native')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: stream
      type(c_ptr), intent(out) :: native_stream
    end function
    integer(c_int32_t) function gpumem_stream_synchronize(ctx, stream) bind(c, name='gpumem_stream_synchronize')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_stream_query(ctx, stream) bind(c, name='gpumem_stream_query')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_stream_wait_event(ctx, stream, event) bind(c, name='gpumem_stream_wait_event')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: stream
      type(c_ptr), value :: event
    end function
    integer(c_int32_t) function gpumem_event_create(ctx, event) bind(c, name='gpumem_event_create')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), intent(out) :: event
    end function
    integer(c_int32_t) function gpumem_event_destroy(event) bind(c, name='gpumem_event_destroy')
      import
      type(c_ptr), value :: event
    end function
    integer(c_int32_t) function gpumem_event_record(ctx, event, stream) bind(c, name='gpumem_event_record')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: event
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_event_synchronize(event) bind(c, name='gpumem_event_synchronize')
      import
      type(c_ptr), value :: event
    end function
    integer(c_int32_t) function gpumem_event_elapsed(start, end, seconds) bind(c, name='gpumem_event_elapsed')
      import
      type(c_ptr), value :: start
      type(c_ptr), value :: end
      real(c_double), intent(out), optional :: seconds
    end function
    integer(c_int32_t) function gpumem_reduce(ctx, dtype, op, x, n, stride, result) bind(c, name='gpumem_reduce')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_reduce_i32(ctx, op, x, n, stride, result) bind(c, name='gpumem_reduce_i32')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_reduce_i64(ctx, op, x, n, stride, result) bind(c, name='gpumem_reduce_i64')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_reduce_u32(ctx, op, x, n, stride, result) bind(c, name='gpumem_reduce_u32')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_reduce_u64(ctx, op, x, n, stride, result) bind(c, name='gpumem_reduce_u64')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_reduce_f32(ctx, op, x, n, stride, result) bind(c, name='gpumem_reduce_f32')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_reduce_f64(ctx, op, x, n, stride, result) bind(c, name='gpumem_reduce_f64')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_reduce_async(ctx, dtype, op, x, n, stride, result, status, stream) bind(c, &
        name='gpumem_reduce_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: result
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_reduce_i32_async(ctx, op, x, n, stride, result, status, stream) bind(c, &
        name='gpumem_reduce_i32_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: result
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_reduce_i64_async(ctx, op, x, n, stride, result, status, stream) bind(c, &
        name='gpumem_reduce_i64_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: result
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_reduce_u32_async(ctx, op, x, n, stride, result, status, stream) bind(c, &
        name='gpumem_reduce_u32_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: result
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_reduce_u64_async(ctx, op, x, n, stride, result, status, stream) bind(c, &
        name='gpumem_reduce_u64_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: result
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_reduce_f32_async(ctx, op, x, n, stride, result, status, stream) bind(c, &
        name='gpumem_reduce_f32_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: result
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_reduce_f64_async(ctx, op, x, n, stride, result, status, stream) bind(c, &
        name='gpumem_reduce_f64_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: result
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_argreduce(ctx, dtype, op, x, n, stride, value, index) bind(c, &
        name='gpumem_argreduce')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: value
      type(c_ptr), value :: index
    end function
    integer(c_int32_t) function gpumem_argreduce_i32(ctx, op, x, n, stride, value, index) bind(c, &
        name='gpumem_argreduce_i32')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: value
      type(c_ptr), value :: index
    end function
    integer(c_int32_t) function gpumem_argreduce_i64(ctx, op, x, n, stride, value, index) bind(c, &
        name='gpumem_argreduce_i64')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: value
      type(c_ptr), value :: index
    end function
    integer(c_int32_t) function gpumem_argreduce_u32(ctx, op, x, n, stride, value, index) bind(c, &
        name='gpumem_argreduce_u32')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: value
      type(c_ptr), value :: index
    end function
    integer(c_int32_t) function gpumem_argreduce_u64(ctx, op, x, n, stride, value, index) bind(c, &
        name='gpumem_argreduce_u64')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: value
      type(c_ptr), value :: index
    end function
    integer(c_int32_t) function gpumem_argreduce_f32(ctx, op, x, n, stride, value, index) bind(c, &
        name='gpumem_argreduce_f32')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: value
      type(c_ptr), value :: index
    end function
    integer(c_int32_t) function gpumem_argreduce_f64(ctx, op, x, n, stride, value, index) bind(c, &
        name='gpumem_argreduce_f64')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: value
      type(c_ptr), value :: index
    end function
    integer(c_int32_t) function gpumem_argreduce_async(ctx, dtype, op, x, n, stride, value, index, stream) bind(c, &
        name='gpumem_argreduce_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: value
      type(c_ptr), value :: index
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_argreduce_i32_async(ctx, op, x, n, stride, value, index, stream) bind(c, &
        name='gpumem_argreduce_i32_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: value
      type(c_ptr), value :: index
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_argreduce_i64_async(ctx, op, x, n, stride, value, index, stream) bind(c, &
        name='gpumem_argreduce_i64_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: value
      type(c_ptr), value :: index
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_argreduce_u32_async(ctx, op, x, n, stride, value, index, stream) bind(c, &
        name='gpumem_argreduce_u32_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: value
      type(c_ptr), value :: index
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_argreduce_u64_async(ctx, op, x, n, stride, value, index, stream) bind(c, &
        name='gpumem_argreduce_u64_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: value
      type(c_ptr), value :: index
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_argreduce_f32_async(ctx, op, x, n, stride, value, index, stream) bind(c, &
        name='gpumem_argreduce_f32_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: value
      type(c_ptr), value :: index
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_argreduce_f64_async(ctx, op, x, n, stride, value, index, stream) bind(c, &
        name='gpumem_argreduce_f64_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: value
      type(c_ptr), value :: index
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_dot_f32(ctx, x, y, n, x_stride, y_stride, result) bind(c, name='gpumem_dot_f32')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: x
      type(c_ptr), value :: y
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: x_stride
      integer(c_int64_t), value :: y_stride
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_dot_f64(ctx, x, y, n, x_stride, y_stride, result) bind(c, name='gpumem_dot_f64')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: x
      type(c_ptr), value :: y
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: x_stride
      integer(c_int64_t), value :: y_stride
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_dot_f32_async(ctx, x, y, n, x_stride, y_stride, result, stream) bind(c, &
        name='gpumem_dot_f32_async')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: x
      type(c_ptr), value :: y
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: x_stride
      integer(c_int64_t), value :: y_stride
      type(c_ptr), value :: result
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_dot_f64_async(ctx, x, y, n, x_stride, y_stride, result, stream) bind(c, &
        name='gpumem_dot_f64_async')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: x
      type(c_ptr), value :: y
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: x_stride
      integer(c_int64_t), value :: y_stride
      type(c_ptr), value :: result
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_nrm2_f32(ctx, x, n, stride, result) bind(c, name='gpumem_nrm2_f32')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_nrm2_f64(ctx, x, n, stride, result) bind(c, name='gpumem_nrm2_f64')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_nrm2_f32_async(ctx, x, n, stride, result, stream) bind(c, &
        name='gpumem_nrm2_f32_async')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: result
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_nrm2_f64_async(ctx, x, n, stride, result, stream) bind(c, &
        name='gpumem_nrm2_f64_async')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      integer(c_int64_t), value :: stride
      type(c_ptr), value :: result
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_reduce_axis(ctx, dtype, op, axis, x, rows, cols, ld, batches, batch_stride, &
        result) bind(c, name='gpumem_reduce_axis')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: axis
      type(c_ptr), value :: x
      integer(c_int64_t), value :: rows
      integer(c_int64_t), value :: cols
      integer(c_int64_t), value :: ld
      integer(c_int64_t), value :: batches
      integer(c_int64_t), value :: batch_stride
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_reduce_axis_async(ctx, dtype, op, axis, x, rows, cols, ld, batches, &
        batch_stride, result, status, stream) bind(c, name='gpumem_reduce_axis_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: axis
      type(c_ptr), value :: x
      integer(c_int64_t), value :: rows
      integer(c_int64_t), value :: cols
      integer(c_int64_t), value :: ld
      integer(c_int64_t), value :: batches
      integer(c_int64_t), value :: batch_stride
      type(c_ptr), value :: result
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_argreduce_axis(ctx, dtype, op, axis, x, rows, cols, ld, batches, batch_stride, &
        value, index) bind(c, name='gpumem_argreduce_axis')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: axis
      type(c_ptr), value :: x
      integer(c_int64_t), value :: rows
      integer(c_int64_t), value :: cols
      integer(c_int64_t), value :: ld
      integer(c_int64_t), value :: batches
      integer(c_int64_t), value :: batch_stride
      type(c_ptr), value :: value
      type(c_ptr), value :: index
    end function
    integer(c_int32_t) function gpumem_argreduce_axis_async(ctx, dtype, op, axis, x, rows, cols, ld, batches, &
        batch_stride, value, index, status, stream) bind(c, name='gpumem_argreduce_axis_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: axis
      type(c_ptr), value :: x
      integer(c_int64_t), value :: rows
      integer(c_int64_t), value :: cols
      integer(c_int64_t), value :: ld
      integer(c_int64_t), value :: batches
      integer(c_int64_t), value :: batch_stride
      type(c_ptr), value :: value
      type(c_ptr), value :: index
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_reduce_axes(ctx, dtype, op, rank, extents, x, x_strides, axes, result, &
        result_type) bind(c, name='gpumem_reduce_axes')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      integer(c_int32_t), value :: axes
      type(c_ptr), value :: result
      integer(c_int32_t), value :: result_type
    end function
    integer(c_int32_t) function gpumem_reduce_axes_async(ctx, dtype, op, rank, extents, x, x_strides, axes, result, &
        result_type, status, stream) bind(c, name='gpumem_reduce_axes_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      integer(c_int32_t), value :: axes
      type(c_ptr), value :: result
      integer(c_int32_t), value :: result_type
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_reduce_segments(ctx, dtype, op, x, n, offsets, segments, result) bind(c, &
        name='gpumem_reduce_segments')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      type(c_ptr), value :: offsets
      integer(c_int64_t), value :: segments
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_reduce_segments_async(ctx, dtype, op, x, n, offsets, segments, result, status, &
        stream) bind(c, name='gpumem_reduce_segments_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      type(c_ptr), value :: offsets
      integer(c_int64_t), value :: segments
      type(c_ptr), value :: result
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_reduce_by_index(ctx, dtype, op, x, index_type, index, n, result, bins) bind(c, &
        name='gpumem_reduce_by_index')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int32_t), value :: index_type
      type(c_ptr), value :: index
      integer(c_int64_t), value :: n
      type(c_ptr), value :: result
      integer(c_int64_t), value :: bins
    end function
    integer(c_int32_t) function gpumem_reduce_by_index_async(ctx, dtype, op, x, index_type, index, n, result, bins, &
        status, stream) bind(c, name='gpumem_reduce_by_index_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int32_t), value :: index_type
      type(c_ptr), value :: index
      integer(c_int64_t), value :: n
      type(c_ptr), value :: result
      integer(c_int64_t), value :: bins
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_reduce_rows_by_index(ctx, dtype, op, x, rows, cols, ld, index_type, index, &
        result, bins) bind(c, name='gpumem_reduce_rows_by_index')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: rows
      integer(c_int64_t), value :: cols
      integer(c_int64_t), value :: ld
      integer(c_int32_t), value :: index_type
      type(c_ptr), value :: index
      type(c_ptr), value :: result
      integer(c_int64_t), value :: bins
    end function
    integer(c_int32_t) function gpumem_reduce_rows_by_index_async(ctx, dtype, op, x, rows, cols, ld, index_type, &
        index, result, bins, status, stream) bind(c, name='gpumem_reduce_rows_by_index_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      type(c_ptr), value :: x
      integer(c_int64_t), value :: rows
      integer(c_int64_t), value :: cols
      integer(c_int64_t), value :: ld
      integer(c_int32_t), value :: index_type
      type(c_ptr), value :: index
      type(c_ptr), value :: result
      integer(c_int64_t), value :: bins
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_reduce_view(ctx, dtype, op, rank, extents, x, x_strides, result) bind(c, &
        name='gpumem_reduce_view')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_reduce_view_async(ctx, dtype, op, rank, extents, x, x_strides, result, status, &
        stream) bind(c, name='gpumem_reduce_view_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: result
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_argreduce_view(ctx, dtype, op, rank, extents, x, x_strides, value, &
        index) bind(c, name='gpumem_argreduce_view')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: value
      type(c_ptr), value :: index
    end function
    integer(c_int32_t) function gpumem_argreduce_view_async(ctx, dtype, op, rank, extents, x, x_strides, value, &
        index, stream) bind(c, name='gpumem_argreduce_view_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: value
      type(c_ptr), value :: index
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_dot_view_f32(ctx, rank, extents, x, x_strides, y, y_strides, result) bind(c, &
        name='gpumem_dot_view_f32')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: y
      integer(c_int64_t), intent(in), optional :: y_strides(*)
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_dot_view_f64(ctx, rank, extents, x, x_strides, y, y_strides, result) bind(c, &
        name='gpumem_dot_view_f64')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: y
      integer(c_int64_t), intent(in), optional :: y_strides(*)
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_dot_view_f32_async(ctx, rank, extents, x, x_strides, y, y_strides, result, &
        stream) bind(c, name='gpumem_dot_view_f32_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: y
      integer(c_int64_t), intent(in), optional :: y_strides(*)
      type(c_ptr), value :: result
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_dot_view_f64_async(ctx, rank, extents, x, x_strides, y, y_strides, result, &
        stream) bind(c, name='gpumem_dot_view_f64_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: y
      integer(c_int64_t), intent(in), optional :: y_strides(*)
      type(c_ptr), value :: result
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_nrm2_view_f32(ctx, rank, extents, x, x_strides, result) bind(c, &
        name='gpumem_nrm2_view_f32')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_nrm2_view_f64(ctx, rank, extents, x, x_strides, result) bind(c, &
        name='gpumem_nrm2_view_f64')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_nrm2_view_f32_async(ctx, rank, extents, x, x_strides, result, stream) bind(c, &
        name='gpumem_nrm2_view_f32_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: result
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_nrm2_view_f64_async(ctx, rank, extents, x, x_strides, result, stream) bind(c, &
        name='gpumem_nrm2_view_f64_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: result
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_dot_order_free(ctx, dtype, rank, extents, x, x_strides, y, y_strides, &
        result) bind(c, name='gpumem_dot_order_free')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: y
      integer(c_int64_t), intent(in), optional :: y_strides(*)
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_dot_order_free_async(ctx, dtype, rank, extents, x, x_strides, y, y_strides, &
        result, stream) bind(c, name='gpumem_dot_order_free_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: y
      integer(c_int64_t), intent(in), optional :: y_strides(*)
      type(c_ptr), value :: result
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_scan(ctx, dtype, op, exclusive, x, n, result, result_type) bind(c, &
        name='gpumem_scan')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: exclusive
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      type(c_ptr), value :: result
      integer(c_int32_t), value :: result_type
    end function
    integer(c_int32_t) function gpumem_scan_async(ctx, dtype, op, exclusive, x, n, result, result_type, status, &
        stream) bind(c, name='gpumem_scan_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: exclusive
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      type(c_ptr), value :: result
      integer(c_int32_t), value :: result_type
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_scan_axis(ctx, dtype, op, exclusive, rank, extents, axis, x, x_strides, &
        result, result_strides, result_type) bind(c, name='gpumem_scan_axis')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: exclusive
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      integer(c_int32_t), value :: axis
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: result
      integer(c_int64_t), intent(in), optional :: result_strides(*)
      integer(c_int32_t), value :: result_type
    end function
    integer(c_int32_t) function gpumem_scan_axis_async(ctx, dtype, op, exclusive, rank, extents, axis, x, x_strides, &
        result, result_strides, result_type, status, stream) bind(c, name='gpumem_scan_axis_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: exclusive
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      integer(c_int32_t), value :: axis
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: result
      integer(c_int64_t), intent(in), optional :: result_strides(*)
      integer(c_int32_t), value :: result_type
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_scan_segments(ctx, dtype, op, exclusive, x, n, offsets, segments, result, &
        result_type) bind(c, name='gpumem_scan_segments')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: exclusive
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      type(c_ptr), value :: offsets
      integer(c_int64_t), value :: segments
      type(c_ptr), value :: result
      integer(c_int32_t), value :: result_type
    end function
    integer(c_int32_t) function gpumem_scan_segments_async(ctx, dtype, op, exclusive, x, n, offsets, segments, &
        result, result_type, status, stream) bind(c, name='gpumem_scan_segments_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: exclusive
      type(c_ptr), value :: x
      integer(c_int64_t), value :: n
      type(c_ptr), value :: offsets
      integer(c_int64_t), value :: segments
      type(c_ptr), value :: result
      integer(c_int32_t), value :: result_type
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_transpose(ctx, element_bytes, rows, cols, src, src_ld, dst, dst_ld) bind(c, &
        name='gpumem_transpose')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: element_bytes
      integer(c_int64_t), value :: rows
      integer(c_int64_t), value :: cols
      type(c_ptr), value :: src
      integer(c_int64_t), value :: src_ld
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_ld
    end function
    integer(c_int32_t) function gpumem_transpose_async(ctx, element_bytes, rows, cols, src, src_ld, dst, dst_ld, &
        stream) bind(c, name='gpumem_transpose_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: element_bytes
      integer(c_int64_t), value :: rows
      integer(c_int64_t), value :: cols
      type(c_ptr), value :: src
      integer(c_int64_t), value :: src_ld
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_ld
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_transpose_batched(ctx, element_bytes, rows, cols, src, src_ld, &
        src_batch_stride, dst, dst_ld, dst_batch_stride, batches) bind(c, name='gpumem_transpose_batched')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: element_bytes
      integer(c_int64_t), value :: rows
      integer(c_int64_t), value :: cols
      type(c_ptr), value :: src
      integer(c_int64_t), value :: src_ld
      integer(c_int64_t), value :: src_batch_stride
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_ld
      integer(c_int64_t), value :: dst_batch_stride
      integer(c_int64_t), value :: batches
    end function
    integer(c_int32_t) function gpumem_transpose_batched_async(ctx, element_bytes, rows, cols, src, src_ld, &
        src_batch_stride, dst, dst_ld, dst_batch_stride, batches, stream) bind(c, name='gpumem_transpose_batched_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: element_bytes
      integer(c_int64_t), value :: rows
      integer(c_int64_t), value :: cols
      type(c_ptr), value :: src
      integer(c_int64_t), value :: src_ld
      integer(c_int64_t), value :: src_batch_stride
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_ld
      integer(c_int64_t), value :: dst_batch_stride
      integer(c_int64_t), value :: batches
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_copy_boxes(ctx, element_bytes, rank, count, extents, src, src_strides, dst, &
        dst_strides) bind(c, name='gpumem_copy_boxes')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: element_bytes
      integer(c_int32_t), value :: rank
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), intent(in) :: src(*)
      integer(c_int64_t), intent(in), optional :: src_strides(*)
      type(c_ptr), intent(in) :: dst(*)
      integer(c_int64_t), intent(in), optional :: dst_strides(*)
    end function
    integer(c_int32_t) function gpumem_copy_boxes_async(ctx, element_bytes, rank, count, extents, src, src_strides, &
        dst, dst_strides, stream) bind(c, name='gpumem_copy_boxes_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: element_bytes
      integer(c_int32_t), value :: rank
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), intent(in) :: src(*)
      integer(c_int64_t), intent(in), optional :: src_strides(*)
      type(c_ptr), intent(in) :: dst(*)
      integer(c_int64_t), intent(in), optional :: dst_strides(*)
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_gather(ctx, row_bytes, src, src_rows, src_pitch_bytes, index_type, index, n, &
        dst, dst_pitch_bytes) bind(c, name='gpumem_gather')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: row_bytes
      type(c_ptr), value :: src
      integer(c_int64_t), value :: src_rows
      integer(c_int64_t), value :: src_pitch_bytes
      integer(c_int32_t), value :: index_type
      type(c_ptr), value :: index
      integer(c_int64_t), value :: n
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_pitch_bytes
    end function
    integer(c_int32_t) function gpumem_gather_async(ctx, row_bytes, src, src_rows, src_pitch_bytes, index_type, &
        index, n, dst, dst_pitch_bytes, status, stream) bind(c, name='gpumem_gather_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: row_bytes
      type(c_ptr), value :: src
      integer(c_int64_t), value :: src_rows
      integer(c_int64_t), value :: src_pitch_bytes
      integer(c_int32_t), value :: index_type
      type(c_ptr), value :: index
      integer(c_int64_t), value :: n
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_pitch_bytes
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_scatter(ctx, row_bytes, src, src_pitch_bytes, index_type, index, n, dst, &
        dst_rows, dst_pitch_bytes) bind(c, name='gpumem_scatter')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: row_bytes
      type(c_ptr), value :: src
      integer(c_int64_t), value :: src_pitch_bytes
      integer(c_int32_t), value :: index_type
      type(c_ptr), value :: index
      integer(c_int64_t), value :: n
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_rows
      integer(c_int64_t), value :: dst_pitch_bytes
    end function
    integer(c_int32_t) function gpumem_scatter_async(ctx, row_bytes, src, src_pitch_bytes, index_type, index, n, dst, &
        dst_rows, dst_pitch_bytes, status, stream) bind(c, name='gpumem_scatter_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: row_bytes
      type(c_ptr), value :: src
      integer(c_int64_t), value :: src_pitch_bytes
      integer(c_int32_t), value :: index_type
      type(c_ptr), value :: index
      integer(c_int64_t), value :: n
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_rows
      integer(c_int64_t), value :: dst_pitch_bytes
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_permute(ctx, element_bytes, rank, extents, order, src, src_strides, dst, &
        dst_strides) bind(c, name='gpumem_permute')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: element_bytes
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      integer(c_int32_t), intent(in), optional :: order(*)
      type(c_ptr), value :: src
      integer(c_int64_t), intent(in), optional :: src_strides(*)
      type(c_ptr), value :: dst
      integer(c_int64_t), intent(in), optional :: dst_strides(*)
    end function
    integer(c_int32_t) function gpumem_permute_async(ctx, element_bytes, rank, extents, order, src, src_strides, dst, &
        dst_strides, stream) bind(c, name='gpumem_permute_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: element_bytes
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      integer(c_int32_t), intent(in), optional :: order(*)
      type(c_ptr), value :: src
      integer(c_int64_t), intent(in), optional :: src_strides(*)
      type(c_ptr), value :: dst
      integer(c_int64_t), intent(in), optional :: dst_strides(*)
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_sort(ctx, dtype, keys, n, descending, sorted, order, order_type) bind(c, &
        name='gpumem_sort')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      type(c_ptr), value :: keys
      integer(c_int64_t), value :: n
      integer(c_int32_t), value :: descending
      type(c_ptr), value :: sorted
      type(c_ptr), value :: order
      integer(c_int32_t), value :: order_type
    end function
    integer(c_int32_t) function gpumem_sort_async(ctx, dtype, keys, n, descending, sorted, order, order_type, &
        stream) bind(c, name='gpumem_sort_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      type(c_ptr), value :: keys
      integer(c_int64_t), value :: n
      integer(c_int32_t), value :: descending
      type(c_ptr), value :: sorted
      type(c_ptr), value :: order
      integer(c_int32_t), value :: order_type
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_sort_segments(ctx, dtype, keys, n, offsets, segments, descending, sorted, &
        order, order_type) bind(c, name='gpumem_sort_segments')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      type(c_ptr), value :: keys
      integer(c_int64_t), value :: n
      type(c_ptr), value :: offsets
      integer(c_int64_t), value :: segments
      integer(c_int32_t), value :: descending
      type(c_ptr), value :: sorted
      type(c_ptr), value :: order
      integer(c_int32_t), value :: order_type
    end function
    integer(c_int32_t) function gpumem_sort_segments_async(ctx, dtype, keys, n, offsets, segments, descending, &
        sorted, order, order_type, status, stream) bind(c, name='gpumem_sort_segments_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: dtype
      type(c_ptr), value :: keys
      integer(c_int64_t), value :: n
      type(c_ptr), value :: offsets
      integer(c_int64_t), value :: segments
      integer(c_int32_t), value :: descending
      type(c_ptr), value :: sorted
      type(c_ptr), value :: order
      integer(c_int32_t), value :: order_type
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_select(ctx, row_bytes, src, src_pitch_bytes, mask, n, dst, dst_rows, &
        dst_pitch_bytes, kept) bind(c, name='gpumem_select')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: row_bytes
      type(c_ptr), value :: src
      integer(c_int64_t), value :: src_pitch_bytes
      type(c_ptr), value :: mask
      integer(c_int64_t), value :: n
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_rows
      integer(c_int64_t), value :: dst_pitch_bytes
      type(c_ptr), value :: kept
    end function
    integer(c_int32_t) function gpumem_select_async(ctx, row_bytes, src, src_pitch_bytes, mask, n, dst, dst_rows, &
        dst_pitch_bytes, kept, stream) bind(c, name='gpumem_select_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: row_bytes
      type(c_ptr), value :: src
      integer(c_int64_t), value :: src_pitch_bytes
      type(c_ptr), value :: mask
      integer(c_int64_t), value :: n
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_rows
      integer(c_int64_t), value :: dst_pitch_bytes
      type(c_ptr), value :: kept
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_select_places(ctx, mask, n, index_type, places, places_n, kept) bind(c, &
        name='gpumem_select_places')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: mask
      integer(c_int64_t), value :: n
      integer(c_int32_t), value :: index_type
      type(c_ptr), value :: places
      integer(c_int64_t), value :: places_n
      type(c_ptr), value :: kept
    end function
    integer(c_int32_t) function gpumem_select_places_async(ctx, mask, n, index_type, places, places_n, kept, &
        stream) bind(c, name='gpumem_select_places_async')
      import
      type(c_ptr), value :: ctx
      type(c_ptr), value :: mask
      integer(c_int64_t), value :: n
      integer(c_int32_t), value :: index_type
      type(c_ptr), value :: places
      integer(c_int64_t), value :: places_n
      type(c_ptr), value :: kept
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_axpby_f32(ctx, alpha, x, beta, y, z, n) bind(c, name='gpumem_axpby_f32')
      import
      type(c_ptr), value :: ctx
      real(c_float), value :: alpha
      type(c_ptr), value :: x
      real(c_float), value :: beta
      type(c_ptr), value :: y
      type(c_ptr), value :: z
      integer(c_int64_t), value :: n
    end function
    integer(c_int32_t) function gpumem_axpby_f64(ctx, alpha, x, beta, y, z, n) bind(c, name='gpumem_axpby_f64')
      import
      type(c_ptr), value :: ctx
      real(c_double), value :: alpha
      type(c_ptr), value :: x
      real(c_double), value :: beta
      type(c_ptr), value :: y
      type(c_ptr), value :: z
      integer(c_int64_t), value :: n
    end function
    integer(c_int32_t) function gpumem_axpby_f32_async(ctx, alpha, x, beta, y, z, n, stream) bind(c, &
        name='gpumem_axpby_f32_async')
      import
      type(c_ptr), value :: ctx
      real(c_float), value :: alpha
      type(c_ptr), value :: x
      real(c_float), value :: beta
      type(c_ptr), value :: y
      type(c_ptr), value :: z
      integer(c_int64_t), value :: n
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_axpby_f64_async(ctx, alpha, x, beta, y, z, n, stream) bind(c, &
        name='gpumem_axpby_f64_async')
      import
      type(c_ptr), value :: ctx
      real(c_double), value :: alpha
      type(c_ptr), value :: x
      real(c_double), value :: beta
      type(c_ptr), value :: y
      type(c_ptr), value :: z
      integer(c_int64_t), value :: n
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_convert(ctx, src_type, src, dst_type, dst, n) bind(c, name='gpumem_convert')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: src_type
      type(c_ptr), value :: src
      integer(c_int32_t), value :: dst_type
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: n
    end function
    integer(c_int32_t) function gpumem_convert_async(ctx, src_type, src, dst_type, dst, n, stream) bind(c, &
        name='gpumem_convert_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: src_type
      type(c_ptr), value :: src
      integer(c_int32_t), value :: dst_type
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: n
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_lincomb_f32(ctx, rank, extents, terms, factors, x, x_strides, z, &
        z_strides) bind(c, name='gpumem_lincomb_f32')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      integer(c_int32_t), value :: terms
      real(c_float), intent(in), optional :: factors(*)
      type(c_ptr), intent(in) :: x(*)
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
    end function
    integer(c_int32_t) function gpumem_lincomb_f64(ctx, rank, extents, terms, factors, x, x_strides, z, &
        z_strides) bind(c, name='gpumem_lincomb_f64')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      integer(c_int32_t), value :: terms
      real(c_double), intent(in), optional :: factors(*)
      type(c_ptr), intent(in) :: x(*)
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
    end function
    integer(c_int32_t) function gpumem_lincomb_f32_async(ctx, rank, extents, terms, factors, x, x_strides, z, &
        z_strides, stream) bind(c, name='gpumem_lincomb_f32_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      integer(c_int32_t), value :: terms
      real(c_float), intent(in), optional :: factors(*)
      type(c_ptr), intent(in) :: x(*)
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_lincomb_f64_async(ctx, rank, extents, terms, factors, x, x_strides, z, &
        z_strides, stream) bind(c, name='gpumem_lincomb_f64_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      integer(c_int32_t), value :: terms
      real(c_double), intent(in), optional :: factors(*)
      type(c_ptr), intent(in) :: x(*)
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_multiply_f32(ctx, rank, extents, x, x_strides, y, y_strides, z, &
        z_strides) bind(c, name='gpumem_multiply_f32')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: y
      integer(c_int64_t), intent(in), optional :: y_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
    end function
    integer(c_int32_t) function gpumem_multiply_f64(ctx, rank, extents, x, x_strides, y, y_strides, z, &
        z_strides) bind(c, name='gpumem_multiply_f64')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: y
      integer(c_int64_t), intent(in), optional :: y_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
    end function
    integer(c_int32_t) function gpumem_multiply_f32_async(ctx, rank, extents, x, x_strides, y, y_strides, z, &
        z_strides, stream) bind(c, name='gpumem_multiply_f32_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: y
      integer(c_int64_t), intent(in), optional :: y_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_multiply_f64_async(ctx, rank, extents, x, x_strides, y, y_strides, z, &
        z_strides, stream) bind(c, name='gpumem_multiply_f64_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: y
      integer(c_int64_t), intent(in), optional :: y_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_lincomb_at_f32(ctx, rank, extents, terms, factors, numerators, denominators, &
        x, x_strides, z, z_strides) bind(c, name='gpumem_lincomb_at_f32')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      integer(c_int32_t), value :: terms
      real(c_float), intent(in), optional :: factors(*)
      type(c_ptr), intent(in) :: numerators(*)
      type(c_ptr), intent(in) :: denominators(*)
      type(c_ptr), intent(in) :: x(*)
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
    end function
    integer(c_int32_t) function gpumem_lincomb_at_f64(ctx, rank, extents, terms, factors, numerators, denominators, &
        x, x_strides, z, z_strides) bind(c, name='gpumem_lincomb_at_f64')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      integer(c_int32_t), value :: terms
      real(c_double), intent(in), optional :: factors(*)
      type(c_ptr), intent(in) :: numerators(*)
      type(c_ptr), intent(in) :: denominators(*)
      type(c_ptr), intent(in) :: x(*)
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
    end function
    integer(c_int32_t) function gpumem_lincomb_at_f32_async(ctx, rank, extents, terms, factors, numerators, &
        denominators, x, x_strides, z, z_strides, stream) bind(c, name='gpumem_lincomb_at_f32_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      integer(c_int32_t), value :: terms
      real(c_float), intent(in), optional :: factors(*)
      type(c_ptr), intent(in) :: numerators(*)
      type(c_ptr), intent(in) :: denominators(*)
      type(c_ptr), intent(in) :: x(*)
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_lincomb_at_f64_async(ctx, rank, extents, terms, factors, numerators, &
        denominators, x, x_strides, z, z_strides, stream) bind(c, name='gpumem_lincomb_at_f64_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      integer(c_int32_t), value :: terms
      real(c_double), intent(in), optional :: factors(*)
      type(c_ptr), intent(in) :: numerators(*)
      type(c_ptr), intent(in) :: denominators(*)
      type(c_ptr), intent(in) :: x(*)
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_lincomb_dot_f32(ctx, rank, extents, terms, factors, numerators, denominators, &
        x, x_strides, z, z_strides, dots, w, w_strides, results) bind(c, name='gpumem_lincomb_dot_f32')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      integer(c_int32_t), value :: terms
      real(c_float), intent(in), optional :: factors(*)
      type(c_ptr), intent(in) :: numerators(*)
      type(c_ptr), intent(in) :: denominators(*)
      type(c_ptr), intent(in) :: x(*)
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
      integer(c_int32_t), value :: dots
      type(c_ptr), intent(in) :: w(*)
      integer(c_int64_t), intent(in), optional :: w_strides(*)
      type(c_ptr), value :: results
    end function
    integer(c_int32_t) function gpumem_lincomb_dot_f64(ctx, rank, extents, terms, factors, numerators, denominators, &
        x, x_strides, z, z_strides, dots, w, w_strides, results) bind(c, name='gpumem_lincomb_dot_f64')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      integer(c_int32_t), value :: terms
      real(c_double), intent(in), optional :: factors(*)
      type(c_ptr), intent(in) :: numerators(*)
      type(c_ptr), intent(in) :: denominators(*)
      type(c_ptr), intent(in) :: x(*)
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
      integer(c_int32_t), value :: dots
      type(c_ptr), intent(in) :: w(*)
      integer(c_int64_t), intent(in), optional :: w_strides(*)
      type(c_ptr), value :: results
    end function
    integer(c_int32_t) function gpumem_lincomb_dot_f32_async(ctx, rank, extents, terms, factors, numerators, &
        denominators, x, x_strides, z, z_strides, dots, w, w_strides, results, stream) bind(c, &
        name='gpumem_lincomb_dot_f32_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      integer(c_int32_t), value :: terms
      real(c_float), intent(in), optional :: factors(*)
      type(c_ptr), intent(in) :: numerators(*)
      type(c_ptr), intent(in) :: denominators(*)
      type(c_ptr), intent(in) :: x(*)
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
      integer(c_int32_t), value :: dots
      type(c_ptr), intent(in) :: w(*)
      integer(c_int64_t), intent(in), optional :: w_strides(*)
      type(c_ptr), value :: results
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_lincomb_dot_f64_async(ctx, rank, extents, terms, factors, numerators, &
        denominators, x, x_strides, z, z_strides, dots, w, w_strides, results, stream) bind(c, &
        name='gpumem_lincomb_dot_f64_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      integer(c_int32_t), value :: terms
      real(c_double), intent(in), optional :: factors(*)
      type(c_ptr), intent(in) :: numerators(*)
      type(c_ptr), intent(in) :: denominators(*)
      type(c_ptr), intent(in) :: x(*)
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
      integer(c_int32_t), value :: dots
      type(c_ptr), intent(in) :: w(*)
      integer(c_int64_t), intent(in), optional :: w_strides(*)
      type(c_ptr), value :: results
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_map(ctx, op, dtype, rank, extents, x, x_strides, y, y_strides, z, &
        z_strides) bind(c, name='gpumem_map')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: y
      integer(c_int64_t), intent(in), optional :: y_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
    end function
    integer(c_int32_t) function gpumem_map_async(ctx, op, dtype, rank, extents, x, x_strides, y, y_strides, z, &
        z_strides, status, stream) bind(c, name='gpumem_map_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: y
      integer(c_int64_t), intent(in), optional :: y_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
      type(c_ptr), value :: status
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_compare(ctx, op, dtype, rank, extents, x, x_strides, y, y_strides, mask, &
        mask_strides) bind(c, name='gpumem_compare')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: y
      integer(c_int64_t), intent(in), optional :: y_strides(*)
      type(c_ptr), value :: mask
      integer(c_int64_t), intent(in), optional :: mask_strides(*)
    end function
    integer(c_int32_t) function gpumem_compare_async(ctx, op, dtype, rank, extents, x, x_strides, y, y_strides, mask, &
        mask_strides, stream) bind(c, name='gpumem_compare_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: op
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: y
      integer(c_int64_t), intent(in), optional :: y_strides(*)
      type(c_ptr), value :: mask
      integer(c_int64_t), intent(in), optional :: mask_strides(*)
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_where(ctx, element_bytes, rank, extents, mask, mask_strides, x, x_strides, y, &
        y_strides, z, z_strides) bind(c, name='gpumem_where')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: element_bytes
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: mask
      integer(c_int64_t), intent(in), optional :: mask_strides(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: y
      integer(c_int64_t), intent(in), optional :: y_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
    end function
    integer(c_int32_t) function gpumem_where_async(ctx, element_bytes, rank, extents, mask, mask_strides, x, &
        x_strides, y, y_strides, z, z_strides, stream) bind(c, name='gpumem_where_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: element_bytes
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      type(c_ptr), value :: mask
      integer(c_int64_t), intent(in), optional :: mask_strides(*)
      type(c_ptr), value :: x
      integer(c_int64_t), intent(in), optional :: x_strides(*)
      type(c_ptr), value :: y
      integer(c_int64_t), intent(in), optional :: y_strides(*)
      type(c_ptr), value :: z
      integer(c_int64_t), intent(in), optional :: z_strides(*)
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_convert_scaled(ctx, rank, extents, src_type, src, src_strides, scale, &
        scale_strides, offset, offset_strides, nan_value, dst_type, dst, dst_strides) bind(c, &
        name='gpumem_convert_scaled')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      integer(c_int32_t), value :: src_type
      type(c_ptr), value :: src
      integer(c_int64_t), intent(in), optional :: src_strides(*)
      type(c_ptr), value :: scale
      integer(c_int64_t), intent(in), optional :: scale_strides(*)
      type(c_ptr), value :: offset
      integer(c_int64_t), intent(in), optional :: offset_strides(*)
      real(c_double), value :: nan_value
      integer(c_int32_t), value :: dst_type
      type(c_ptr), value :: dst
      integer(c_int64_t), intent(in), optional :: dst_strides(*)
    end function
    integer(c_int32_t) function gpumem_convert_scaled_async(ctx, rank, extents, src_type, src, src_strides, scale, &
        scale_strides, offset, offset_strides, nan_value, dst_type, dst, dst_strides, stream) bind(c, &
        name='gpumem_convert_scaled_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: rank
      integer(c_int64_t), intent(in), optional :: extents(*)
      integer(c_int32_t), value :: src_type
      type(c_ptr), value :: src
      integer(c_int64_t), intent(in), optional :: src_strides(*)
      type(c_ptr), value :: scale
      integer(c_int64_t), intent(in), optional :: scale_strides(*)
      type(c_ptr), value :: offset
      integer(c_int64_t), intent(in), optional :: offset_strides(*)
      real(c_double), value :: nan_value
      integer(c_int32_t), value :: dst_type
      type(c_ptr), value :: dst
      integer(c_int64_t), intent(in), optional :: dst_strides(*)
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_resize_2d(ctx, filter, dtype, channels, src, src_rows, src_cols, &
        src_pitch_bytes, dst, dst_rows, dst_cols, dst_pitch_bytes) bind(c, name='gpumem_resize_2d')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: filter
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: channels
      type(c_ptr), value :: src
      integer(c_int64_t), value :: src_rows
      integer(c_int64_t), value :: src_cols
      integer(c_int64_t), value :: src_pitch_bytes
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_rows
      integer(c_int64_t), value :: dst_cols
      integer(c_int64_t), value :: dst_pitch_bytes
    end function
    integer(c_int32_t) function gpumem_resize_2d_async(ctx, filter, dtype, channels, src, src_rows, src_cols, &
        src_pitch_bytes, dst, dst_rows, dst_cols, dst_pitch_bytes, stream) bind(c, name='gpumem_resize_2d_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: filter
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: channels
      type(c_ptr), value :: src
      integer(c_int64_t), value :: src_rows
      integer(c_int64_t), value :: src_cols
      integer(c_int64_t), value :: src_pitch_bytes
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_rows
      integer(c_int64_t), value :: dst_cols
      integer(c_int64_t), value :: dst_pitch_bytes
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_resize_2d_batch(ctx, filter, dtype, channels, count, src, src_rows, src_cols, &
        src_pitch_bytes, dst, dst_rows, dst_cols, dst_pitch_bytes, dst_image_stride_bytes) bind(c, &
        name='gpumem_resize_2d_batch')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: filter
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: channels
      integer(c_int64_t), value :: count
      type(c_ptr), intent(in) :: src(*)
      integer(c_int64_t), intent(in), optional :: src_rows(*)
      integer(c_int64_t), intent(in), optional :: src_cols(*)
      integer(c_int64_t), intent(in), optional :: src_pitch_bytes(*)
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_rows
      integer(c_int64_t), value :: dst_cols
      integer(c_int64_t), value :: dst_pitch_bytes
      integer(c_int64_t), value :: dst_image_stride_bytes
    end function
    integer(c_int32_t) function gpumem_resize_2d_batch_async(ctx, filter, dtype, channels, count, src, src_rows, &
        src_cols, src_pitch_bytes, dst, dst_rows, dst_cols, dst_pitch_bytes, dst_image_stride_bytes, stream) bind(c, &
        name='gpumem_resize_2d_batch_async')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: filter
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: channels
      integer(c_int64_t), value :: count
      type(c_ptr), intent(in) :: src(*)
      integer(c_int64_t), intent(in), optional :: src_rows(*)
      integer(c_int64_t), intent(in), optional :: src_cols(*)
      integer(c_int64_t), intent(in), optional :: src_pitch_bytes(*)
      type(c_ptr), value :: dst
      integer(c_int64_t), value :: dst_rows
      integer(c_int64_t), value :: dst_cols
      integer(c_int64_t), value :: dst_pitch_bytes
      integer(c_int64_t), value :: dst_image_stride_bytes
      type(c_ptr), value :: stream
    end function
    integer(c_int32_t) function gpumem_variant_count(family, count) bind(c, name='gpumem_variant_count')
      import
      integer(c_int32_t), value :: family
      integer(c_int32_t), intent(out), optional :: count
    end function
    integer(c_int32_t) function gpumem_variant_name(family, index, name) bind(c, name='gpumem_variant_name')
      import
      integer(c_int32_t), value :: family
      integer(c_int32_t), value :: index
      type(c_ptr), intent(out) :: name
    end function
    integer(c_int32_t) function gpumem_variant_force(ctx, family, name) bind(c, name='gpumem_variant_force')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: family
      character(kind=c_char), intent(in), optional :: name(*)
    end function
    integer(c_int32_t) function gpumem_explain(ctx, line, format, buf, cap, needed) bind(c, name='gpumem_explain')
      import
      type(c_ptr), value :: ctx
      character(kind=c_char), intent(in), optional :: line(*)
      integer(c_int32_t), value :: format
      character(kind=c_char), intent(inout), optional :: buf(*)
      integer(c_int64_t), value :: cap
      integer(c_int64_t), intent(out), optional :: needed
    end function
    integer(c_int32_t) function gpumem_last_problem(buf, cap, needed) bind(c, name='gpumem_last_problem')
      import
      character(kind=c_char), intent(inout), optional :: buf(*)
      integer(c_int64_t), value :: cap
      integer(c_int64_t), intent(out), optional :: needed
    end function
    integer(c_int32_t) function gpumem_ceiling_info_init(info, size) bind(c, name='gpumem_ceiling_info_init')
      import
      type(gpumem_ceiling_info), intent(inout) :: info
      integer(c_int64_t), value :: size
    end function
    integer(c_int32_t) function gpumem_ceiling(ctx, info) bind(c, name='gpumem_ceiling')
      import
      type(c_ptr), value :: ctx
      type(gpumem_ceiling_info), intent(inout) :: info
    end function
    integer(c_int32_t) function gpumem_profile_begin(ctx, most_records) bind(c, name='gpumem_profile_begin')
      import
      type(c_ptr), value :: ctx
      integer(c_int64_t), value :: most_records
    end function
    integer(c_int32_t) function gpumem_profile_end(ctx) bind(c, name='gpumem_profile_end')
      import
      type(c_ptr), value :: ctx
    end function
    integer(c_int32_t) function gpumem_profile_row_init(row, size) bind(c, name='gpumem_profile_row_init')
      import
      type(gpumem_profile_row), intent(inout) :: row
      integer(c_int64_t), value :: size
    end function
    integer(c_int32_t) function gpumem_profile_report(ctx, rows, cap, needed) bind(c, name='gpumem_profile_report')
      import
      type(c_ptr), value :: ctx
      type(gpumem_profile_row), intent(inout), optional :: rows(*)
      integer(c_int64_t), value :: cap
      integer(c_int64_t), intent(out), optional :: needed
    end function
    integer(c_int32_t) function gpumem_profile_write(ctx, format, path) bind(c, name='gpumem_profile_write')
      import
      type(c_ptr), value :: ctx
      integer(c_int32_t), value :: format
      character(kind=c_char), intent(in), optional :: path(*)
    end function
    integer(c_int32_t) function gpumem_tune_options_init(options, size) bind(c, name='gpumem_tune_options_init')
      import
      type(gpumem_tune_options), intent(inout) :: options
      integer(c_int64_t), value :: size
    end function
    integer(c_int32_t) function gpumem_tune_info_init(info, size) bind(c, name='gpumem_tune_info_init')
      import
      type(gpumem_tune_info), intent(inout) :: info
      integer(c_int64_t), value :: size
    end function
    integer(c_int32_t) function gpumem_tune(ctx, line, options, info) bind(c, name='gpumem_tune')
      import
      type(c_ptr), value :: ctx
      character(kind=c_char), intent(in), optional :: line(*)
      type(gpumem_tune_options), intent(in), optional :: options
      type(gpumem_tune_info), intent(inout) :: info
    end function
    integer(c_int32_t) function gpumem_tuning_load(ctx, path, taken, skipped) bind(c, name='gpumem_tuning_load')
      import
      type(c_ptr), value :: ctx
      character(kind=c_char), intent(in), optional :: path(*)
      integer(c_int64_t), intent(out), optional :: taken
      integer(c_int64_t), intent(out), optional :: skipped
    end function
    integer(c_int32_t) function gpumem_tuning_save(ctx, path) bind(c, name='gpumem_tuning_save')
      import
      type(c_ptr), value :: ctx
      character(kind=c_char), intent(in), optional :: path(*)
    end function
    integer(c_int32_t) function gpumem_tuning_clear(ctx) bind(c, name='gpumem_tuning_clear')
      import
      type(c_ptr), value :: ctx
    end function
    integer(c_int32_t) function gpumem_dist_transport_init(transport, size) bind(c, name='gpumem_dist_transport_init')
      import
      type(gpumem_dist_transport), intent(inout) :: transport
      integer(c_int64_t), value :: size
    end function
    integer(c_int32_t) function gpumem_dist_options_init(options, size) bind(c, name='gpumem_dist_options_init')
      import
      type(gpumem_dist_options), intent(inout) :: options
      integer(c_int64_t), value :: size
    end function
    integer(c_int32_t) function gpumem_dist_info_init(info, size) bind(c, name='gpumem_dist_info_init')
      import
      type(gpumem_dist_info), intent(inout) :: info
      integer(c_int64_t), value :: size
    end function
    integer(c_int32_t) function gpumem_dist_layout_init(layout, size) bind(c, name='gpumem_dist_layout_init')
      import
      type(gpumem_dist_layout), intent(inout) :: layout
      integer(c_int64_t), value :: size
    end function
    integer(c_int32_t) function gpumem_dist_plan_options_init(options, size) bind(c, &
        name='gpumem_dist_plan_options_init')
      import
      type(gpumem_dist_plan_options), intent(inout) :: options
      integer(c_int64_t), value :: size
    end function
    integer(c_int32_t) function gpumem_dist_create(options, dist) bind(c, name='gpumem_dist_create')
      import
      type(gpumem_dist_options), intent(in), optional :: options
      type(c_ptr), intent(out) :: dist
    end function
    integer(c_int32_t) function gpumem_dist_query(dist, info) bind(c, name='gpumem_dist_query')
      import
      type(c_ptr), value :: dist
      type(gpumem_dist_info), intent(inout) :: info
    end function
    integer(c_int32_t) function gpumem_dist_abort(dist) bind(c, name='gpumem_dist_abort')
      import
      type(c_ptr), value :: dist
    end function
    integer(c_int32_t) function gpumem_dist_destroy(dist) bind(c, name='gpumem_dist_destroy')
      import
      type(c_ptr), value :: dist
    end function
    integer(c_int32_t) function gpumem_dist_plan_redistribute(dist, src, dst, order, options, plan) bind(c, &
        name='gpumem_dist_plan_redistribute')
      import
      type(c_ptr), value :: dist
      type(gpumem_dist_layout), intent(in), optional :: src
      type(gpumem_dist_layout), intent(in), optional :: dst
      integer(c_int32_t), intent(in), optional :: order(*)
      type(gpumem_dist_plan_options), intent(in), optional :: options
      type(c_ptr), intent(out) :: plan
    end function
    integer(c_int32_t) function gpumem_dist_plan_halo(dist, layout, low, high, periodic, options, plan) bind(c, &
        name='gpumem_dist_plan_halo')
      import
      type(c_ptr), value :: dist
      type(gpumem_dist_layout), intent(in), optional :: layout
      type(c_ptr), value :: low
      type(c_ptr), value :: high
      type(c_ptr), value :: periodic
      type(gpumem_dist_plan_options), intent(in), optional :: options
      type(c_ptr), intent(out) :: plan
    end function
    integer(c_int32_t) function gpumem_dist_plan_reduce(dist, layout, options, plan) bind(c, &
        name='gpumem_dist_plan_reduce')
      import
      type(c_ptr), value :: dist
      type(gpumem_dist_layout), intent(in), optional :: layout
      type(gpumem_dist_plan_options), intent(in), optional :: options
      type(c_ptr), intent(out) :: plan
    end function
    integer(c_int32_t) function gpumem_dist_execute(plan, src, dst) bind(c, name='gpumem_dist_execute')
      import
      type(c_ptr), value :: plan
      type(c_ptr), intent(in) :: src(*)
      type(c_ptr), intent(in) :: dst(*)
    end function
    integer(c_int32_t) function gpumem_dist_execute_async(plan, src, dst, streams) bind(c, &
        name='gpumem_dist_execute_async')
      import
      type(c_ptr), value :: plan
      type(c_ptr), intent(in) :: src(*)
      type(c_ptr), intent(in) :: dst(*)
      type(c_ptr), intent(in) :: streams(*)
    end function
    integer(c_int32_t) function gpumem_dist_reduce(plan, dtype, op, x, result) bind(c, name='gpumem_dist_reduce')
      import
      type(c_ptr), value :: plan
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      type(c_ptr), intent(in) :: x(*)
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_dist_argreduce(plan, dtype, op, x, value, index) bind(c, &
        name='gpumem_dist_argreduce')
      import
      type(c_ptr), value :: plan
      integer(c_int32_t), value :: dtype
      integer(c_int32_t), value :: op
      type(c_ptr), intent(in) :: x(*)
      type(c_ptr), value :: value
      type(c_ptr), value :: index
    end function
    integer(c_int32_t) function gpumem_dist_dot(plan, dtype, x, y, result) bind(c, name='gpumem_dist_dot')
      import
      type(c_ptr), value :: plan
      integer(c_int32_t), value :: dtype
      type(c_ptr), intent(in) :: x(*)
      type(c_ptr), intent(in) :: y(*)
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_dist_nrm2(plan, dtype, x, result) bind(c, name='gpumem_dist_nrm2')
      import
      type(c_ptr), value :: plan
      integer(c_int32_t), value :: dtype
      type(c_ptr), intent(in) :: x(*)
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_dist_dot_order_free(plan, dtype, x, y, result) bind(c, &
        name='gpumem_dist_dot_order_free')
      import
      type(c_ptr), value :: plan
      integer(c_int32_t), value :: dtype
      type(c_ptr), intent(in) :: x(*)
      type(c_ptr), intent(in) :: y(*)
      type(c_ptr), value :: result
    end function
    integer(c_int32_t) function gpumem_dist_explain(plan, format, buf, cap, needed) bind(c, name='gpumem_dist_explain')
      import
      type(c_ptr), value :: plan
      integer(c_int32_t), value :: format
      character(kind=c_char), intent(inout), optional :: buf(*)
      integer(c_int64_t), value :: cap
      integer(c_int64_t), intent(out), optional :: needed
    end function
    integer(c_int32_t) function gpumem_dist_plan_destroy(plan) bind(c, name='gpumem_dist_plan_destroy')
      import
      type(c_ptr), value :: plan
    end function
  end interface

end module
