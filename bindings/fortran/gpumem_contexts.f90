! SPDX-License-Identifier: Apache-2.0
! Contexts: a device, its own stream, and everything created on it; and what is asked of the library without one.
module gpumem_contexts
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use gpumem_constants
  use gpumem_c
  use gpumem_errors, only: finish, refuse, fail, failed, gpumem_text, text_of
  use gpumem_views
  use gpumem_arrays
  use gpumem_memories
  use gpumem_queues
  implicit none
  private
  public :: gpumem_context, gpumem_default_options, gpumem_count_devices, gpumem_find_device, gpumem_variants

  ! Its operations are those of gpumem_queue, complete on return, and those below. The numbers of an index and of segments count from 1.
  type, extends(gpumem_queue) :: gpumem_context
  contains
    procedure :: create
    procedure :: share
    procedure :: destroy
    procedure :: device
    procedure :: check
    procedure :: synchronize
    procedure :: warmup
    procedure :: set_log
    procedure, private :: alloc_i32, alloc_i64
    generic :: alloc => alloc_i32, alloc_i64
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
    procedure, private :: reduce_i64, reduce_r64, min_max_i64, min_max_r64, argreduce_i64, argreduce_r64
    generic :: reduce => reduce_i64, reduce_r64
    generic :: min_max => min_max_i64, min_max_r64
    generic :: argreduce => argreduce_i64, argreduce_r64
    procedure :: dot
    procedure :: nrm2
    procedure, private :: segments_i32, segments_i64, gather_i32, gather_i64, scatter_i32, scatter_i64
    generic :: reduce_segments => segments_i32, segments_i64
    generic :: gather => gather_i32, gather_i64
    generic :: scatter => scatter_i32, scatter_i64
    procedure :: force
    procedure :: explain
  end type

contains

  ! -------------------------------------------------------------------------------------------------------- the context

  ! On the best device, else the host; on the device that is named; or as the options have it.
  subroutine create(self, device, options, stat, errmsg)
    class(gpumem_context), intent(inout) :: self
    integer(c_int32_t), intent(in), optional :: device
    type(gpumem_ctx_options), intent(in), optional :: options
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_ctx_options) :: chosen
    chosen = gpumem_default_options()
    if (present(options)) chosen = options
    if (present(device)) chosen%device = device
    call finish(gpumem_ctx_create(chosen, self%ctx), stat, errmsg)
  end subroutine

  ! The process's own context for a device, which is not to be destroyed.
  subroutine share(self, device, stat, errmsg)
    class(gpumem_context), intent(inout) :: self
    integer(c_int32_t), intent(in) :: device
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_shared_ctx(device, self%ctx), stat, errmsg)
  end subroutine

  ! Waits, frees what is left and ends the context; gpumem_busy while streams or events are there.
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

  ! Gives the device fault that sticks to the context, if there is one.
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

  ! Messages go to fn from now on, with `user`; without fn, nowhere.
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

  ! Device, pinned or managed memory for an array. What the variable named before is not freed.
  subroutine alloc_i64(self, memory, kind, dtype, extents, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_memory), intent(inout) :: memory
    integer(c_int32_t), intent(in) :: kind, dtype
    integer(int64), intent(in) :: extents(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call allocate_memory(memory, self%ctx, kind, dtype, extents, stat, errmsg)
  end subroutine

  subroutine alloc_i32(self, memory, kind, dtype, extents, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_memory), intent(inout) :: memory
    integer(c_int32_t), intent(in) :: kind, dtype
    integer(int32), intent(in) :: extents(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call allocate_memory(memory, self%ctx, kind, dtype, int(extents, int64), stat, errmsg)
  end subroutine

  ! Gives all memory back that is kept for reuse.
  subroutine trim_memory(self, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_memory_trim(self%ctx, 0_c_int64_t), stat, errmsg)
  end subroutine

  ! In debug mode: looks for writes past the ends of memory, and into what was freed.
  subroutine check_memory(self, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_memory_check(self%ctx), stat, errmsg)
  end subroutine

  ! Writes allocations and frees to a file; without one, no longer.
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

  ! Names memory that this context allocated or registered, in its reports.
  subroutine label(self, x, name, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: x
    character(*), intent(in) :: name
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_memory_label(self%ctx, x%pointer(), trim(name) // c_null_char), stat, errmsg)
  end subroutine

  ! What lies where x begins.
  subroutine query(self, x, info, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: x
    type(gpumem_pointer_info), intent(out) :: info
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    code = gpumem_pointer_info_init(info, c_sizeof(info))
    if (code == gpumem_ok) code = gpumem_pointer_query(self%ctx, x%pointer(), info)
    call finish(code, stat, errmsg)
  end subroutine

  ! Pins an array of the program where it lies, until it is unregistered.
  subroutine register_host(self, x, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: x
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (x%contiguous()) then
      call finish(gpumem_host_register(self%ctx, x%pointer(), x%size() * x%element_bytes), stat, errmsg)
    else
      call refuse('register_host: x has gaps between its elements', stat, errmsg)
    end if
  end subroutine

  subroutine unregister_host(self, x, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: x
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_host_unregister(self%ctx, x%pointer()), stat, errmsg)
  end subroutine

  ! A hint on managed memory. device says where, for the advice that has a place.
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
    if (x%contiguous()) then
      call finish(gpumem_managed_advise(self%ctx, x%pointer(), x%size() * x%element_bytes, advice, place), stat, errmsg)
    else
      call refuse('advise: x has gaps between its elements', stat, errmsg)
    end if
  end subroutine

  subroutine query_managed(self, x, info, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: x
    type(gpumem_managed_info), intent(out) :: info
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    if (.not. x%contiguous()) then
      call refuse('query_managed: x has gaps between its elements', stat, errmsg)
      return
    end if
    code = gpumem_managed_info_init(info, c_sizeof(info))
    if (code == gpumem_ok) code = gpumem_managed_query(self%ctx, x%pointer(), x%size() * x%element_bytes, info)
    call finish(code, stat, errmsg)
  end subroutine

  ! ---------------------------------------------------------------------------------------------------------- reductions

  ! value = the reduction of x: an int64 of integers, a real64 of reals.
  subroutine reduce_i64(self, op, x, value, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x
    integer(int64), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), target :: found(1)
    if (has_two_results(op, stat, errmsg)) return
    call self%reduce_to(op, x, gpumem_view(found), stat=stat, errmsg=errmsg)
    if (failed(stat)) return
    if (leaves_int64(x, found(1), stat, errmsg)) return
    value = found(1)
  end subroutine

  subroutine reduce_r64(self, op, x, value, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x
    real(real64), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64), target :: found(1)
    if (has_two_results(op, stat, errmsg)) return
    call self%reduce_to(op, x, gpumem_view(found), stat=stat, errmsg=errmsg)
    if (.not. failed(stat)) value = found(1)
  end subroutine

  subroutine min_max_i64(self, x, low, high, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: x
    integer(int64), intent(inout) :: low, high
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), target :: found(2)
    call self%reduce_to(gpumem_min_max, x, gpumem_view(found), stat=stat, errmsg=errmsg)
    if (failed(stat)) return
    if (leaves_int64(x, found(2), stat, errmsg)) return
    low = found(1)
    high = found(2)
  end subroutine

  subroutine min_max_r64(self, x, low, high, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: x
    real(real64), intent(inout) :: low, high
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64), target :: found(2)
    call self%reduce_to(gpumem_min_max, x, gpumem_view(found), stat=stat, errmsg=errmsg)
    if (failed(stat)) return
    low = found(1)
    high = found(2)
  end subroutine

  ! The minimum or maximum of x and where it is, counted from 1 in the order of the elements, as MINLOC(x, 1) of one dimension.
  subroutine argreduce_i64(self, op, x, value, index, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x
    integer(int64), intent(inout) :: value, index
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), target :: found(1), place(1)
    call self%argreduce_to(op, x, gpumem_view(found), gpumem_view(place), stat, errmsg)
    if (failed(stat)) return
    if (leaves_int64(x, found(1), stat, errmsg)) return
    value = found(1)
    index = place(1) + 1
  end subroutine

  subroutine argreduce_r64(self, op, x, value, index, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x
    real(real64), intent(inout) :: value
    integer(int64), intent(inout) :: index
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64), target :: found(1)
    integer(int64), target :: place(1)
    call self%argreduce_to(op, x, gpumem_view(found), gpumem_view(place), stat, errmsg)
    if (failed(stat)) return
    value = found(1)
    index = place(1) + 1
  end subroutine

  subroutine dot(self, x, y, value, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: x, y
    real(real64), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64), target :: found(1)
    call self%dot_to(x, y, gpumem_view(found), stat, errmsg)
    if (.not. failed(stat)) value = found(1)
  end subroutine

  subroutine nrm2(self, x, value, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: x
    real(real64), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64), target :: found(1)
    call self%nrm2_to(x, gpumem_view(found), stat, errmsg)
    if (.not. failed(stat)) value = found(1)
  end subroutine

  logical function has_two_results(op, stat, errmsg) result(two)
    integer(c_int32_t), intent(in) :: op
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    two = op == gpumem_min_max
    if (two) call refuse('reduce: op is gpumem_min_max, which gives two results: see min_max', stat, errmsg)
  end function

  ! Of unsigned elements, which Fortran does not have.
  logical function leaves_int64(x, value, stat, errmsg) result(leaves)
    type(gpumem_view), intent(in) :: x
    integer(int64), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    leaves = value < 0 .and. any(x%dtype == [gpumem_u8, gpumem_u16, gpumem_u32, gpumem_u64])
    if (leaves) call fail(gpumem_overflow, 'the result is more than an int64 holds', stat, errmsg)
  end function

  ! -------------------------------------------------------------------------------------- indices, counted from 1

  ! result(s) = the reduction of x(first(s)) to x(first(s + 1) - 1); the last of `first` is one past the last element that counts.
  subroutine segments_i64(self, op, x, first, result, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, result
    integer(int64), intent(in) :: first(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable, target :: offsets(:)
    allocate (offsets(size(first)))
    offsets(:) = first - 1
    call self%segments_from_zero(op, x, gpumem_view(offsets), result, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine segments_i32(self, op, x, first, result, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, result
    integer(int32), intent(in) :: first(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%segments_i64(op, x, int(first, int64), result, stat, errmsg)
  end subroutine

  ! dst(..., i) = src(..., index(i)). The sentence on an index that is not there counts from 0.
  subroutine gather_i64(self, src, index, dst, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: src, dst
    integer(int64), intent(in) :: index(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable, target :: from_zero(:)
    allocate (from_zero(size(index)))
    from_zero(:) = index - 1
    call self%gather_from_zero(src, gpumem_view(from_zero), dst, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine gather_i32(self, src, index, dst, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: src, dst
    integer(int32), intent(in) :: index(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%gather_i64(src, int(index, int64), dst, stat, errmsg)
  end subroutine

  ! dst(..., index(i)) = src(..., i).
  subroutine scatter_i64(self, src, index, dst, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: src, dst
    integer(int64), intent(in) :: index(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable, target :: from_zero(:)
    allocate (from_zero(size(index)))
    from_zero(:) = index - 1
    call self%scatter_from_zero(src, gpumem_view(from_zero), dst, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine scatter_i32(self, src, index, dst, stat, errmsg)
    class(gpumem_context), intent(in) :: self
    type(gpumem_view), intent(in) :: src, dst
    integer(int32), intent(in) :: index(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%scatter_i64(src, int(index, int64), dst, stat, errmsg)
  end subroutine

  ! ------------------------------------------------------------------------------------------------------------ variants

  ! Makes the context use one variant of a family; without a name, gives the choice back.
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

  ! Where the operation of a problem line would run, by which variant, and why.
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

  ! The names of a family's variants, in the order in which they are tried.
  subroutine gpumem_variants(family, names, stat, errmsg)
    integer(c_int32_t), intent(in) :: family
    character(:), allocatable, intent(out) :: names(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(64), allocatable :: found(:)
    type(c_ptr) :: name
    integer(c_int32_t) :: code, count, i
    count = 0
    code = gpumem_variant_count(family, count)
    allocate(found(count))
    do i = 1, count
      code = gpumem_variant_name(family, i - 1, name)
      if (code == gpumem_ok) found(i) = text_of(name)
    end do
    names = found
    call finish(code, stat, errmsg)
  end subroutine

  ! ------------------------------------------------------------------------------------------------ without a context

  ! What create() takes, as it is without any.
  type(gpumem_ctx_options) function gpumem_default_options() result(options)
    call finish(gpumem_ctx_options_init(options, c_sizeof(options)))
  end function

  ! How many CUDA devices this process can use.
  subroutine gpumem_count_devices(count, stat, errmsg)
    integer, intent(out) :: count
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: found
    found = 0
    call finish(gpumem_device_count(found), stat, errmsg)
    count = int(found)
  end subroutine

  ! What is known of a device.
  subroutine gpumem_find_device(device, info, stat, errmsg)
    integer(c_int32_t), intent(in) :: device
    type(gpumem_device_info), intent(out) :: info
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    code = gpumem_device_info_init(info, c_sizeof(info))
    if (code == gpumem_ok) code = gpumem_device_query(device, info)
    call finish(code, stat, errmsg)
  end subroutine

end module
