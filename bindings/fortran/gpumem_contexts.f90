! SPDX-License-Identifier: Apache-2.0
! Contexts: a device, its own stream, and everything created on it.
module gpumem_contexts
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use gpumem_constants
  use gpumem_c
  use gpumem_errors, only: finish, is_live, gpumem_text
  use gpumem_views
  use gpumem_checks, only: has_gaps, is_set
  use gpumem_memories
  use gpumem_measurements
  use gpumem_library, only: gpumem_default_options
  implicit none
  private
  public :: gpumem_context

  ! The operations of a context are complete on return.
  type, extends(gpumem_measured_queue) :: gpumem_context
  contains
    procedure :: create
    procedure :: share
    procedure :: destroy
    procedure :: device
    procedure :: check
    procedure :: synchronize
    procedure :: warmup
    procedure :: set_log
    procedure, private :: alloc_i32, alloc_i64, alloc_within_i32, alloc_within_i64
    generic :: alloc => alloc_i32, alloc_i64, alloc_within_i32, alloc_within_i64
    procedure :: trim => trim_memory
    procedure :: check_memory
    procedure :: trace
    procedure :: memory_stats
    procedure :: label
    procedure :: query
    procedure :: register_host
    procedure :: unregister_host
    procedure :: advise
    procedure :: query_managed
    procedure :: force
    procedure :: explain
  end type

contains

  ! -------------------------------------------------------------------------------------------------------- the context

  ! By default on the caller's current CUDA device, else the first one, else the host. `device` or `options` choose
  ! another.
  subroutine create(self, device, options, stat, errmsg)
    class(gpumem_context), intent(inout) :: self
    integer(c_int32_t), intent(in), optional :: device
    type(gpumem_ctx_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_ctx_options) :: chosen
    if (names_another(self, c_null_ptr, 'create', stat, errmsg)) return
    chosen = gpumem_default_options()
    if (present(options)) chosen = options
    if (present(device)) chosen%device = device
    call finish(gpumem_ctx_create(chosen, self%ctx), stat, errmsg)
  end subroutine

  logical function names_another(self, handle, what, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(c_ptr), intent(in) :: handle
    character(*), intent(in) :: what
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    names_another = c_associated(self%ctx) .and. .not. c_associated(self%ctx, handle)
    if (names_another) names_another = is_live(what // ': the context', gpumem_ctx_status(self%ctx), stat, errmsg)
  end function

  ! The process's shared context of a device. Do not destroy it.
  subroutine share(self, device, stat, errmsg)
    class(gpumem_context), intent(inout) :: self
    integer(c_int32_t), intent(in) :: device
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: found
    integer(c_int32_t) :: code
    code = gpumem_shared_ctx(device, found)
    if (code == gpumem_ok) then
      if (names_another(self, found, 'share', stat, errmsg)) return
      self%ctx = found
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! Waits, frees the remaining memory and ends the context. Fails with gpumem_busy while it has streams or events.
  subroutine destroy(self, stat, errmsg)
    class(gpumem_context), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    code = gpumem_ctx_destroy(self%ctx)
    if (code == gpumem_ok) self%ctx = c_null_ptr
    call finish(code, stat, errmsg)
  end subroutine

  subroutine device(self, info, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_device_info), intent(out) :: info
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    code = gpumem_device_info_init(info, c_sizeof(info))
    if (code == gpumem_ok) code = gpumem_ctx_device(self%ctx, info)
    call finish(code, stat, errmsg)
  end subroutine

  ! Fails with the context's persistent error, if it has one.
  subroutine check(self, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_ctx_status(self%ctx), stat, errmsg)
  end subroutine

  subroutine synchronize(self, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_ctx_synchronize(self%ctx), stat, errmsg)
  end subroutine

  subroutine warmup(self, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_ctx_warmup(self%ctx), stat, errmsg)
  end subroutine

  ! Calls fn with `user` for each message from now on. Without fn, messages are discarded.
  subroutine set_log(self, fn, user, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    procedure(gpumem_log_fn), optional :: fn
    type(c_ptr), intent(in), optional :: user
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_funptr) :: callback
    type(c_ptr) :: state
    callback = c_null_funptr
    if (present(fn)) callback = c_funloc(fn)
    state = c_null_ptr
    if (present(user)) state = user
    call finish(gpumem_ctx_set_log(self%ctx, callback, state), stat, errmsg)
  end subroutine

  ! -------------------------------------------------------------------------------------------------------------- memory

  ! Allocates device, pinned or managed memory for an array. The variable must not name memory yet.
  subroutine alloc_i64(self, memory, kind, dtype, extents, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_memory), intent(inout) :: memory
    integer(c_int32_t), intent(in) :: kind, dtype
    integer(int64), intent(in) :: extents(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call allocate_memory(memory, self%ctx, kind, dtype, extents, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine alloc_i32(self, memory, kind, dtype, extents, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_memory), intent(inout) :: memory
    integer(c_int32_t), intent(in) :: kind, dtype
    integer(int32), intent(in) :: extents(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%alloc_i64(memory, kind, dtype, int(extents, int64), stat, errmsg)
  end subroutine

  ! The same for x(lower(1):upper(1), lower(2):upper(2), ...). The views of the memory have these bounds.
  subroutine alloc_within_i64(self, memory, kind, dtype, lower, upper, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_memory), intent(inout) :: memory
    integer(c_int32_t), intent(in) :: kind, dtype
    integer(int64), intent(in) :: lower(:), upper(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call allocate_memory(memory, self%ctx, kind, dtype, extents_within(lower, upper), lower, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine alloc_within_i32(self, memory, kind, dtype, lower, upper, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_memory), intent(inout) :: memory
    integer(c_int32_t), intent(in) :: kind, dtype
    integer(int32), intent(in) :: lower(:), upper(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%alloc_within_i64(memory, kind, dtype, int(lower, int64), int(upper, int64), stat, errmsg)
  end subroutine

  ! Releases all memory that is kept for reuse.
  subroutine trim_memory(self, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_memory_trim(self%ctx, 0_c_int64_t), stat, errmsg)
  end subroutine

  ! In debug mode, looks for writes past the ends of memory and into freed memory.
  subroutine check_memory(self, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_memory_check(self%ctx), stat, errmsg)
  end subroutine

  ! Writes allocations and frees to a file. Without a file, the trace ends.
  subroutine trace(self, file, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    character(*), intent(in), optional :: file
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (present(file)) then
      call finish(gpumem_memory_trace(self%ctx, trim(file) // c_null_char), stat, errmsg)
    else
      call finish(gpumem_memory_trace(self%ctx), stat, errmsg)
    end if
  end subroutine

  subroutine memory_stats(self, info, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_memory_stats_info), intent(out) :: info
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    code = gpumem_memory_stats_init(info, c_sizeof(info))
    if (code == gpumem_ok) code = gpumem_memory_stats(self%ctx, info)
    call finish(code, stat, errmsg)
  end subroutine

  ! Names memory of this context in its reports.
  subroutine label(self, x, name, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: x
    character(*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (.not. is_set('label: x', x, stat, errmsg)) return
    call finish(gpumem_memory_label(self%ctx, x%pointer(), trim(name) // c_null_char), stat, errmsg)
  end subroutine

  ! Describes the memory where x begins.
  subroutine query(self, x, info, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: x
    type(gpumem_pointer_info), intent(out) :: info
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    if (.not. is_set('query: x', x, stat, errmsg)) return
    code = gpumem_pointer_info_init(info, c_sizeof(info))
    if (code == gpumem_ok) code = gpumem_pointer_query(self%ctx, x%pointer(), info)
    call finish(code, stat, errmsg)
  end subroutine

  ! Pins an array of the program until it is unregistered.
  subroutine register_host(self, x, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: x
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (has_gaps('register_host: x', x, stat, errmsg)) return
    call finish(gpumem_host_register(self%ctx, x%pointer(), x%size() * x%element_bytes), stat, errmsg)
  end subroutine

  subroutine unregister_host(self, x, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: x
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (.not. is_set('unregister_host: x', x, stat, errmsg)) return
    call finish(gpumem_host_unregister(self%ctx, x%pointer()), stat, errmsg)
  end subroutine

  ! A hint on managed memory. Some kinds of advice need `device`.
  subroutine advise(self, x, advice, device, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: x
    integer(c_int32_t), intent(in) :: advice
    integer(c_int32_t), intent(in), optional :: device
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: place
    place = gpumem_device_none
    if (present(device)) place = device
    if (has_gaps('advise: x', x, stat, errmsg)) return
    call finish(gpumem_managed_advise(self%ctx, x%pointer(), x%size() * x%element_bytes, advice, place), stat, errmsg)
  end subroutine

  subroutine query_managed(self, x, info, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: x
    type(gpumem_managed_info), intent(out) :: info
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    if (has_gaps('query_managed: x', x, stat, errmsg)) return
    code = gpumem_managed_info_init(info, c_sizeof(info))
    if (code == gpumem_ok) code = gpumem_managed_query(self%ctx, x%pointer(), x%size() * x%element_bytes, info)
    call finish(code, stat, errmsg)
  end subroutine

  ! ------------------------------------------------------------------------------------------------------------ variants

  ! Makes the context use one variant of an operation. Without a name, the library chooses again.
  subroutine force(self, family, variant, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    integer(c_int32_t), intent(in) :: family
    character(*), intent(in), optional :: variant
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (present(variant)) then
      call finish(gpumem_variant_force(self%ctx, family, trim(variant) // c_null_char), stat, errmsg)
    else
      call finish(gpumem_variant_force(self%ctx, family), stat, errmsg)
    end if
  end subroutine

  ! Explains where the operation of a descriptor would run, by which variant, and why.
  subroutine explain(self, line, text, format, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    character(*), intent(in) :: line
    character(:), allocatable, intent(out) :: text
    integer(c_int32_t), intent(in), optional :: format
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char), allocatable :: buffer(:)
    integer(c_int32_t) :: form, code
    integer(c_int64_t) :: needed
    form = gpumem_format_text
    if (present(format)) form = format
    text = ''
    code = gpumem_explain(self%ctx, trim(line) // c_null_char, form, cap=0_c_int64_t, needed=needed)
    if (code == gpumem_ok) then
      allocate(buffer(needed))
      code = gpumem_explain(self%ctx, trim(line) // c_null_char, form, buffer, needed)
      if (code == gpumem_ok) text = gpumem_text(buffer)
    end if
    call finish(code, stat, errmsg)
  end subroutine

end module
