! SPDX-License-Identifier: Apache-2.0
! gpumem for Fortran 2018. What each operation does, and what it refuses, stands in gpumem.h; here is what differs.
!
! Operands    gpumem_view(x) of an array with the attribute TARGET (a pointer or a dummy of assumed shape: CONTIGUOUS too), or memory%view()
!             of what was allocated here. The extents, the bounds and the type come with it, and no copy is ever made. section()
!             takes a part, in these bounds.
! Work        call context%copy(dst, src) is complete on return; call stream%copy(dst, src) only enqueues, and what it works on must
!             stay until the stream has passed it. Give variables that such work writes the attribute ASYNCHRONOUS too.
! Order       Arrays are column-major, as they are. Dimensions, places and indices count from 1; numbers that the library reads or
!             writes in memory count from 0, and their arguments are named ..._from_zero.
! Failure     stat= and errmsg= as in ALLOCATE: without stat, the program ends with the library's sentence. They are the last arguments
!             everywhere; only status=, the word of what is enqueued, stands behind them.
! Lifetime    Handles: nothing ends by itself. destroy() and free() end things; a context that ends frees its memory. create() and
!             alloc() refuse a variable that names something live.
! Spread      gpumem_dist joins contexts, of one process or of many; a gpumem_plan moves or reduces arrays that lie in boxes over them.
! By hand     module gpumem_c has gpumem.h as it is; the components ctx and stream are its handles.
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
