! SPDX-License-Identifier: Apache-2.0
! Streams and events. They are handles: a copy names the same object, and the program destroys it.
module gpumem_streams
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use gpumem_constants
  use gpumem_c
  use gpumem_errors, only: finish, is_live
  use gpumem_views
  use gpumem_memories
  use gpumem_queues
  implicit none
  private
  public :: gpumem_stream, gpumem_event

  ! The operations of gpumem_queue are asynchronous on a stream.
  type, extends(gpumem_queue) :: gpumem_stream
  contains
    procedure :: create => create_stream
    procedure :: wrap
    procedure :: native
    procedure :: own
    procedure :: destroy => destroy_stream
    procedure :: synchronize => synchronize_stream
    procedure :: query
    procedure :: wait => wait_event
    procedure :: record
    procedure, private :: alloc_i32, alloc_i64, alloc_within_i32, alloc_within_i64
    generic :: alloc => alloc_i32, alloc_i64, alloc_within_i32, alloc_within_i64
    procedure :: free => free_memory
    procedure :: uses
  end type

  type :: gpumem_event
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: create => create_event
    procedure :: destroy => destroy_event
    procedure :: synchronize => synchronize_event
    procedure :: seconds_until
  end type

contains

  subroutine create_stream(self, queue, stat, errmsg)
    class(gpumem_stream), intent(inout) :: self
    class(gpumem_queue), intent(in) :: queue  ! a context, or one of its streams
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int32_t) :: code
    if (names_stream(self, 'create', stat, errmsg)) return
    code = gpumem_stream_create(queue%ctx, made)
    if (code == gpumem_ok) call take(self, queue, made)
    call finish(code, stat, errmsg)
  end subroutine

  ! Wraps a cudaStream_t of the program, which stays its owner.
  subroutine wrap(self, queue, native_stream, stat, errmsg)
    class(gpumem_stream), intent(inout) :: self
    class(gpumem_queue), intent(in) :: queue
    type(c_ptr), intent(in) :: native_stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int32_t) :: code
    if (names_stream(self, 'wrap', stat, errmsg)) return
    code = gpumem_stream_wrap(queue%ctx, native_stream, made)
    if (code == gpumem_ok) call take(self, queue, made)
    call finish(code, stat, errmsg)
  end subroutine

  subroutine native(self, native_stream, stat, errmsg)
    class(gpumem_stream), intent(in) :: self
    type(c_ptr), intent(out) :: native_stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_stream_native(self%ctx, self%stream, native_stream), stat, errmsg)
  end subroutine

  ! The context's own stream. Do not destroy it.
  subroutine own(self, queue, stat, errmsg)
    class(gpumem_stream), intent(inout) :: self
    class(gpumem_queue), intent(in) :: queue
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (names_stream(self, 'own', stat, errmsg)) return
    call take(self, queue, c_null_ptr)
    if (present(stat)) stat = 0
  end subroutine

  subroutine take(self, queue, stream)
    class(gpumem_stream), intent(inout) :: self
    class(gpumem_queue), intent(in) :: queue
    type(c_ptr), intent(in) :: stream
    self%ctx = queue%ctx
    self%stream = stream
    self%enqueues = .true.
  end subroutine

  logical function names_stream(self, what, stat, errmsg)
    class(gpumem_stream), intent(in) :: self
    character(*), intent(in) :: what
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    names_stream = c_associated(self%stream)
    if (names_stream) names_stream = is_live(what // ': the stream', gpumem_stream_query(self%ctx, self%stream), stat, errmsg)
  end function

  subroutine destroy_stream(self, stat, errmsg)
    class(gpumem_stream), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_stream_destroy(self%stream), stat, errmsg)
    self%stream = c_null_ptr
    self%ctx = c_null_ptr
  end subroutine

  subroutine synchronize_stream(self, stat, errmsg)
    class(gpumem_stream), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_stream_synchronize(self%ctx, self%stream), stat, errmsg)
  end subroutine

  ! Whether all work of the stream is done.
  subroutine query(self, done, stat, errmsg)
    class(gpumem_stream), intent(in) :: self
    logical, intent(out) :: done
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    code = gpumem_stream_query(self%ctx, self%stream)
    done = code == gpumem_ok
    call finish(merge(gpumem_ok, code, code == gpumem_not_ready), stat, errmsg)
  end subroutine

  ! Later work of this stream waits for the event's last record.
  subroutine wait_event(self, event, stat, errmsg)
    class(gpumem_stream), intent(in) :: self
    type(gpumem_event), intent(in) :: event
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_stream_wait_event(self%ctx, self%stream, event%handle), stat, errmsg)
  end subroutine

  subroutine record(self, event, stat, errmsg)
    class(gpumem_stream), intent(in) :: self
    type(gpumem_event), intent(in) :: event
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_event_record(self%ctx, event%handle, self%stream), stat, errmsg)
  end subroutine

  ! Allocates device memory for this stream. `alignment` is in bytes.
  subroutine alloc_i64(self, memory, dtype, extents, alignment, stat, errmsg)
    class(gpumem_stream), intent(in) :: self
    type(gpumem_memory), intent(inout) :: memory
    integer(c_int32_t), intent(in) :: dtype
    integer(int64), intent(in) :: extents(:)
    integer, intent(in), optional :: alignment
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call allocate_memory(memory, self%ctx, gpumem_memory_device, dtype, extents, alignment=bytes_or_256(alignment), &
        stream=self%stream, stat=stat, errmsg=errmsg)
  end subroutine

  subroutine alloc_i32(self, memory, dtype, extents, alignment, stat, errmsg)
    class(gpumem_stream), intent(in) :: self
    type(gpumem_memory), intent(inout) :: memory
    integer(c_int32_t), intent(in) :: dtype
    integer(int32), intent(in) :: extents(:)
    integer, intent(in), optional :: alignment
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%alloc_i64(memory, dtype, int(extents, int64), alignment, stat, errmsg)
  end subroutine

  ! The same for x(lower(1):upper(1), lower(2):upper(2), ...). The views of the memory have these bounds.
  subroutine alloc_within_i64(self, memory, dtype, lower, upper, alignment, stat, errmsg)
    class(gpumem_stream), intent(in) :: self
    type(gpumem_memory), intent(inout) :: memory
    integer(c_int32_t), intent(in) :: dtype
    integer(int64), intent(in) :: lower(:), upper(:)
    integer, intent(in), optional :: alignment
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call allocate_memory(memory, self%ctx, gpumem_memory_device, dtype, extents_within(lower, upper), lower, &
        bytes_or_256(alignment), self%stream, stat, errmsg)
  end subroutine

  subroutine alloc_within_i32(self, memory, dtype, lower, upper, alignment, stat, errmsg)
    class(gpumem_stream), intent(in) :: self
    type(gpumem_memory), intent(inout) :: memory
    integer(c_int32_t), intent(in) :: dtype
    integer(int32), intent(in) :: lower(:), upper(:)
    integer, intent(in), optional :: alignment
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%alloc_within_i64(memory, dtype, int(lower, int64), int(upper, int64), alignment, stat, errmsg)
  end subroutine

  pure integer(int64) function bytes_or_256(alignment) result(bytes)
    integer, intent(in), optional :: alignment
    bytes = 256
    if (present(alignment)) bytes = alignment
  end function

  ! Frees device memory after the work that its own stream and this one have been given so far.
  subroutine free_memory(self, memory, stat, errmsg)
    class(gpumem_stream), intent(in) :: self
    type(gpumem_memory), intent(inout) :: memory
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call memory%free_behind(self%stream, stat, errmsg)
  end subroutine

  ! Declares that this stream uses the memory too. A free then waits for the work that this stream has been given by
  ! that time.
  subroutine uses(self, memory, stat, errmsg)
    class(gpumem_stream), intent(in) :: self
    type(gpumem_memory), intent(in) :: memory
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view) :: all
    all = memory%view()
    call finish(gpumem_memory_used_on(self%ctx, all%pointer(), self%stream), stat, errmsg)
  end subroutine

  subroutine create_event(self, queue, stat, errmsg)
    class(gpumem_event), intent(inout) :: self
    class(gpumem_queue), intent(in) :: queue
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64) :: ignored
    if (c_associated(self%handle)) then
      if (is_live('create: the event', gpumem_event_elapsed(self%handle, self%handle, ignored), stat, errmsg)) return
    end if
    call finish(gpumem_event_create(queue%ctx, self%handle), stat, errmsg)
  end subroutine

  subroutine destroy_event(self, stat, errmsg)
    class(gpumem_event), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_event_destroy(self%handle), stat, errmsg)
    self%handle = c_null_ptr
  end subroutine

  ! Waits until the stream has passed the event's last record.
  subroutine synchronize_event(self, stat, errmsg)
    class(gpumem_event), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_event_synchronize(self%handle), stat, errmsg)
  end subroutine

  subroutine seconds_until(self, end, seconds, stat, errmsg)
    class(gpumem_event), intent(in) :: self
    type(gpumem_event), intent(in) :: end
    real(real64), intent(out) :: seconds
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    seconds = 0
    call finish(gpumem_event_elapsed(self%handle, end%handle, seconds), stat, errmsg)
  end subroutine

end module
