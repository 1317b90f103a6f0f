! SPDX-License-Identifier: Apache-2.0
! Memory of a context, with the shape of an array. A copy of the variable names the same memory.
module gpumem_memories
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use gpumem_constants
  use gpumem_c, only: gpumem_alloc_device, gpumem_alloc_pinned, gpumem_alloc_managed, gpumem_alloc_async, gpumem_free, &
      gpumem_free_async, gpumem_pointer_info, gpumem_pointer_info_init, gpumem_pointer_query
  use gpumem_errors, only: finish, refuse
  use gpumem_views
  implicit none
  private
  public :: gpumem_memory, allocate_memory

  ! Operations take views of the memory. Pinned and managed memory also has a host address, for C_F_POINTER.
  type :: gpumem_memory
    integer(c_int32_t) :: kind = gpumem_memory_device
    type(c_ptr), private :: ctx = c_null_ptr
    type(gpumem_view), private :: whole
  contains
    procedure :: view => whole_of
    procedure :: host_address
    procedure :: free
    procedure :: free_behind
  end type

contains

  ! Whether the memory still exists. A copy of the variable, or the end of the context, may have freed it.
  logical function is_allocated(memory)
    type(gpumem_memory), intent(in) :: memory
    type(gpumem_pointer_info) :: info
    is_allocated = c_associated(memory%ctx)
    if (is_allocated) is_allocated = gpumem_pointer_info_init(info, c_sizeof(info)) == gpumem_ok
    if (is_allocated) is_allocated = gpumem_pointer_query(memory%ctx, memory%whole%pointer(), info) == gpumem_ok
    if (is_allocated) is_allocated = info%kind == memory%kind
  end function

  ! `lower` is 1 by default. With `stream`, the memory belongs to the stream and has an alignment.
  subroutine allocate_memory(memory, ctx, kind, dtype, extents, lower, alignment, stream, stat, errmsg)
    type(gpumem_memory), intent(inout) :: memory
    type(c_ptr), intent(in) :: ctx
    integer(c_int32_t), intent(in) :: kind, dtype
    integer(int64), intent(in) :: extents(:)
    integer(int64), intent(in), optional :: lower(:), alignment
    type(c_ptr), intent(in), optional :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_memory) :: made
    type(c_ptr) :: p
    integer(int64) :: bytes
    integer(c_int32_t) :: code
    if (is_allocated(memory)) then
      call refuse('alloc: the variable names memory that is allocated: free it first', stat, errmsg)
      return
    else if (bytes_of(dtype) == 0) then
      call refuse('alloc: dtype is not an element type; expected gpumem_f64 or another', stat, errmsg)
      return
    end if
    bytes = count_of([bytes_of(dtype), extents])
    if (size(extents) > max_rank .or. bytes < 0) then
      call refuse('alloc: expected up to 8 extents of 0 or more, lower and upper bounds in pairs, and bytes that an int64 holds', &
          stat, errmsg)
      return
    end if
    if (present(stream)) then
      code = gpumem_alloc_async(ctx, bytes, alignment, stream, p)
    else if (kind == gpumem_memory_pinned) then
      code = gpumem_alloc_pinned(ctx, bytes, p)
    else if (kind == gpumem_memory_managed) then
      code = gpumem_alloc_managed(ctx, bytes, p)
    else if (kind == gpumem_memory_device) then
      code = gpumem_alloc_device(ctx, bytes, p)
    else
      call refuse('alloc: kind is not gpumem_memory_device, gpumem_memory_pinned or gpumem_memory_managed', stat, errmsg)
      return
    end if
    if (code == gpumem_ok) then
      made%kind = kind
      made%ctx = ctx
      made%whole = view_of(p, dtype, int(bytes_of(dtype)), extents, lower)
      memory = made
    end if
    call finish(code, stat, errmsg)
  end subroutine

  type(gpumem_view) function whole_of(self)
    class(gpumem_memory), intent(in) :: self
    whole_of = self%whole
  end function

  ! The address of pinned or managed memory, for C_F_POINTER.
  type(c_ptr) function host_address(self)
    class(gpumem_memory), intent(in) :: self
    if (self%kind == gpumem_memory_device) error stop 'gpumem_memory%host_address: the host cannot read device memory'
    host_address = self%whole%pointer()
  end function

  ! Frees the memory after the work of all streams.
  subroutine free(self, stat, errmsg)
    class(gpumem_memory), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    code = gpumem_free(self%ctx, self%whole%pointer())
    if (.not. c_associated(self%ctx)) code = gpumem_ok  ! nothing was allocated
    call forget(self, code)
    call finish(code, stat, errmsg)
  end subroutine

  ! Frees device memory after the work that the stream has been given so far. stream%free() calls this.
  subroutine free_behind(self, stream, stat, errmsg)
    class(gpumem_memory), intent(inout) :: self
    type(c_ptr), intent(in) :: stream
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    code = gpumem_free_async(self%ctx, self%whole%pointer(), stream)
    if (.not. c_associated(self%ctx)) code = gpumem_ok
    call forget(self, code)
    call finish(code, stat, errmsg)
  end subroutine

  ! Corrupted memory is freed too.
  subroutine forget(self, code)
    class(gpumem_memory), intent(inout) :: self
    integer(c_int32_t), intent(in) :: code
    type(gpumem_view) :: nothing
    if (all(code /= [gpumem_ok, gpumem_corrupted])) return
    self%ctx = c_null_ptr
    self%whole = nothing
  end subroutine

end module
