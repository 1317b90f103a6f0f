! SPDX-License-Identifier: Apache-2.0
! gpumem for Fortran 2018. gpumem.h has the contract of each operation; this binding adds the following.
!
! Operands    gpumem_view(x) of an array with the attribute TARGET (a pointer or assumed-shape dummy argument also needs
!             CONTIGUOUS), or memory%view() of memory that was allocated here. A view has extents, bounds and type, and
!             is never a copy. section() takes a part, in these bounds.
! Work        call context%copy(dst, src) is complete on return. call stream%copy(dst, src) returns at once, and its
!             operands must stay unchanged until the stream has passed the call. Variables that it writes also need the
!             attribute ASYNCHRONOUS.
! Order       Arrays are column-major. Dimensions, places and indices count from 1. Numbers that the library reads or
!             writes in memory count from 0, and the names of their arguments end in _from_zero.
! Failure     stat= and errmsg= work as in ALLOCATE: without stat, the program ends with the error message. They are the
!             last arguments. Only status=, the deferred status of asynchronous work, follows them.
! Lifetime    The types are handles. Nothing ends by itself: call destroy() and free(). Destroying a context frees its
!             memory. create() and alloc() refuse a variable that names a live object.
! Processes   gpumem_dist joins contexts, in one process or in many. A gpumem_plan moves or reduces arrays of boxes over
!             them.
! C           The module gpumem_c is gpumem.h in Fortran. The components ctx and stream are its handles.
module gpumem
  use gpumem_constants
  use gpumem_c, only: gpumem_ctx_options, gpumem_device_info, gpumem_pointer_info, gpumem_managed_info, &
      gpumem_memory_stats_info, gpumem_ceiling_info, gpumem_profile_row, gpumem_tune_info, gpumem_log_fn, gpumem_progress_fn, &
      gpumem_task_fn, gpumem_parallel_for_fn, gpumem_version, gpumem_dist_info, gpumem_dist_transport
  use gpumem_errors, only: gpumem_last_error, gpumem_last_problem, gpumem_status_name, gpumem_text
  use gpumem_views, only: gpumem_view
  use gpumem_arrays, only: gpumem_view
  use gpumem_queues, only: gpumem_queue
  use gpumem_memories, only: gpumem_memory
  use gpumem_streams, only: gpumem_stream, gpumem_event
  use gpumem_contexts, only: gpumem_context
  use gpumem_layouts, only: gpumem_layout
  use gpumem_plans, only: gpumem_plan
  use gpumem_distributed, only: gpumem_dist, gpumem_mpi_transport_f
  use gpumem_library, only: gpumem_default_options, gpumem_count_devices, gpumem_find_device, gpumem_variants
  implicit none
  public
end module
