! SPDX-License-Identifier: Apache-2.0
! The layout of an array over participants: its extents, and the boxes of this process.
module gpumem_layouts
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use gpumem_c, only: gpumem_dist_layout, gpumem_dist_layout_init
  use gpumem_errors, only: finish, refuse
  implicit none
  private
  public :: gpumem_layout, rank_of, c_layout, room

  ! gpumem_layout(element_bytes, extents) makes a layout.
  type :: gpumem_layout
    integer(int64) :: element_bytes = 0
    ! In C's order: the last dimension first, from 0, up to but not including `upper`.
    integer(int64), allocatable, private :: extents(:), lower(:, :), upper(:, :), strides(:, :), offsets(:)
    integer(int32), allocatable, private :: members(:)
  contains
    procedure, private :: add_i32, add_i64
    generic :: add => add_i32, add_i64
  end type

  real(real64), parameter :: most = 9.2e18_real64  ! the largest int64, about

  interface gpumem_layout
    module procedure layout_i32, layout_i64
  end interface

contains

  type(gpumem_layout) function layout_i64(element_bytes, extents) result(layout)
    integer, intent(in) :: element_bytes
    integer(int64), intent(in) :: extents(:)
    integer :: r
    r = size(extents)
    layout%element_bytes = element_bytes
    allocate (layout%extents(r), layout%lower(r, 0), layout%upper(r, 0), layout%strides(r, 0), layout%offsets(0), &
        layout%members(0))
    layout%extents(:) = extents(r:1:-1)
  end function

  type(gpumem_layout) function layout_i32(element_bytes, extents) result(layout)
    integer, intent(in) :: element_bytes
    integer(int32), intent(in) :: extents(:)
    layout = layout_i64(element_bytes, int(extents, int64))
  end function

  ! Adds x(lower(1):upper(1), lower(2):upper(2), ...) of the whole array x as a box of `member`, by default i for box i.
  ! If upper = lower - 1, the box is empty. The box is a section of an array in the participant's memory with low(d)
  ! more elements before it in dimension d and high(d) behind it, by default 0. That array begins `offset` elements, by
  ! default 0, behind the start of the memory. `strides`, in elements, replaces the strides of that array.
  subroutine add_i64(self, lower, upper, low, high, member, offset, strides, stat, errmsg)
    class(gpumem_layout), intent(inout) :: self
    integer(int64), intent(in) :: lower(:), upper(:)
    integer, intent(in), optional :: low(:), high(:), member
    integer(int64), intent(in), optional :: offset, strides(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), dimension(size(lower)) :: before, behind, length, step
    real(real64), dimension(size(lower)) :: span
    integer(int64) :: first
    integer :: r, n, d
    r = size(lower)
    if (.not. all([rank_of(self), size(upper), size_or(r, low), size_or(r, high)] == r)) then
      call refuse('add: expected one number for each dimension of the array in lower, upper, low and high', stat, errmsg)
      return
    end if
    before = 0
    behind = 0
    if (present(low)) before = low
    if (present(high)) behind = high
    span = real(upper, real64) - real(lower, real64) + 1  ! in reals, which do not overflow
    if (any(span < -most) .or. product(max(span + real(before + behind, real64), 1.0_real64)) > most) then
      call refuse('add: the box with low and high has more elements than an int64 counts', stat, errmsg)
      return
    end if
    length = max(upper - lower + 1, 0_int64) + before + behind
    step = [(product(max(length(:d - 1), 1_int64)), d = 1, r)]
    if (present(strides)) then
      if (size(strides) /= r) then
        call refuse('add: expected one number for each dimension of the array in strides', stat, errmsg)
        return
      end if
      step = strides
    end if
    first = 0
    if (present(offset)) first = offset
    if (abs(real(first, real64) + sum(real(before, real64) * real(step, real64))) > most) then
      call refuse('add: with offset and strides, the box ends beyond the range of an int64', stat, errmsg)
      return
    end if
    first = first + sum(before * step)
    n = size(self%offsets) + 1
    self%lower = reshape([self%lower, lower(r:1:-1) - 1], [r, n])
    self%upper = reshape([self%upper, upper(r:1:-1)], [r, n])
    self%strides = reshape([self%strides, step(r:1:-1)], [r, n])
    self%offsets = [self%offsets, first]
    if (present(member)) n = member
    self%members = [self%members, int(n - 1, int32)]
    if (present(stat)) stat = 0
  end subroutine

  subroutine add_i32(self, lower, upper, low, high, member, offset, strides, stat, errmsg)
    class(gpumem_layout), intent(inout) :: self
    integer(int32), intent(in) :: lower(:), upper(:)
    integer, intent(in), optional :: low(:), high(:), member
    integer(int64), intent(in), optional :: offset, strides(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%add_i64(int(lower, int64), int(upper, int64), low, high, member, offset, strides, stat, errmsg)
  end subroutine

  pure integer function size_or(otherwise, numbers)
    integer, intent(in) :: otherwise
    integer, intent(in), optional :: numbers(:)
    size_or = otherwise
    if (present(numbers)) size_or = size(numbers)
  end function

  ! -1 if the layout was never made.
  pure integer function rank_of(layout)
    class(gpumem_layout), intent(in) :: layout
    rank_of = -1
    if (allocated(layout%extents)) rank_of = size(layout%extents)
  end function

  ! The struct of C. It is valid while the layout is unchanged. If the layout was never made, the library refuses its
  ! rank.
  type(gpumem_dist_layout) function c_layout(layout) result(made)
    type(gpumem_layout), intent(in), target :: layout
    call finish(gpumem_dist_layout_init(made, c_sizeof(made)))
    made%element_bytes = layout%element_bytes
    made%rank = int(max(rank_of(layout), 0), c_int32_t)
    if (rank_of(layout) <= 0) return
    made%extents = c_loc(layout%extents)
    made%boxes = size(layout%offsets, kind=c_int64_t)
    if (made%boxes == 0) return
    made%members = c_loc(layout%members)
    made%lower = c_loc(layout%lower)
    made%upper = c_loc(layout%upper)
    made%offsets = c_loc(layout%offsets)
    made%strides = c_loc(layout%strides)
  end function

  ! The number of elements that each participant needs for its boxes and their ghost cells. It is negative if ghost
  ! cells would begin before the memory.
  function room(layout, members, low, high, periodic) result(needed)
    type(gpumem_layout), intent(in) :: layout
    integer, intent(in) :: members
    integer(int64), intent(in), optional :: low(:), high(:)  ! in C's order
    integer(int32), intent(in), optional :: periodic(:)
    integer(int64) :: needed(members)
    integer(int64), dimension(max(rank_of(layout), 0)) :: from, to
    integer :: i, m
    needed = 0
    if (rank_of(layout) < 0) return
    do i = 1, size(layout%offsets)
      m = layout%members(i) + 1
      from = layout%lower(:, i)
      to = layout%upper(:, i)
      if (m < 1 .or. m > members .or. any(to <= from)) cycle
      if (present(low)) then
        from = from - low
        to = to + high
        where (periodic == 0) from = max(from, 0_int64)
        where (periodic == 0) to = min(to, layout%extents)
      end if
      associate (start => layout%offsets(i) - sum(layout%lower(:, i) * layout%strides(:, i)), step => layout%strides(:, i))
        if (start + sum(from * step) < 0 .or. needed(m) < 0) then
          needed(m) = -1
        else
          needed(m) = max(needed(m), start + sum((to - 1) * step) + 1)
        end if
      end associate
    end do
  end function

end module
