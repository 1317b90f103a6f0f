! SPDX-License-Identifier: Apache-2.0
! Operations that only a blocking call can do: they return values, or take numbers in Fortran variables.
module gpumem_values
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use gpumem_constants
  use gpumem_errors, only: refuse, fail, failed
  use gpumem_views
  use gpumem_arrays
  use gpumem_queues
  implicit none
  private
  public :: gpumem_blocking_queue, has_two_results, leaves_int64

  type, abstract, extends(gpumem_queue) :: gpumem_blocking_queue
  contains
    procedure, private :: reduce_i64, reduce_r64, min_max_i64, min_max_r64, argreduce_i64, argreduce_r64
    generic :: reduce => reduce_i64, reduce_r64
    generic :: min_max => min_max_i64, min_max_r64
    generic :: argreduce => argreduce_i64, argreduce_r64
    procedure :: dot
    procedure :: nrm2
    procedure, private :: segments_i32, segments_i64, gather_i32, gather_i64, scatter_i32, scatter_i64
    generic :: reduce_segments => segments_i32, segments_i64
    procedure, private :: scan_segments_i32, scan_segments_i64
    generic :: scan_segments => scan_segments_i32, scan_segments_i64
    generic :: gather => gather_i32, gather_i64
    generic :: scatter => scatter_i32, scatter_i64
    procedure :: select => select_rows
    procedure, private :: places_i32, places_i64
    generic :: select_places => places_i32, places_i64
    procedure, private :: scaled_by_numbers
    generic :: convert_scaled => scaled_by_numbers
  end type

contains

  ! value = the reduction of x: an int64 for integers, a real64 for reals.
  subroutine reduce_i64(self, op, x, value, stat, errmsg)
    class(gpumem_blocking_queue), intent(in) :: self
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
    class(gpumem_blocking_queue), intent(in) :: self
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
    class(gpumem_blocking_queue), intent(in) :: self
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
    class(gpumem_blocking_queue), intent(in) :: self
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

  ! The minimum or maximum of x and its place, from 1 in array element order, as in MINLOC(x, 1) of one dimension.
  subroutine argreduce_i64(self, op, x, value, index, stat, errmsg)
    class(gpumem_blocking_queue), intent(in) :: self
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
    class(gpumem_blocking_queue), intent(in) :: self
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

  subroutine dot(self, x, y, value, stat, errmsg, order_free)
    class(gpumem_blocking_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: x, y
    real(real64), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical, intent(in), optional :: order_free
    real(real64), target :: found(1)
    call self%dot_to(x, y, gpumem_view(found), stat, errmsg, order_free)
    if (.not. failed(stat)) value = found(1)
  end subroutine

  subroutine nrm2(self, x, value, stat, errmsg)
    class(gpumem_blocking_queue), intent(in) :: self
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
    if (two) call refuse('reduce: op is gpumem_min_max, which gives two results: call min_max', stat, errmsg)
  end function

  ! Results of unsigned elements may exceed an int64.
  logical function leaves_int64(x, value, stat, errmsg) result(leaves)
    type(gpumem_view), intent(in) :: x
    integer(int64), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    leaves = value < 0 .and. any(x%dtype == [gpumem_u8, gpumem_u16, gpumem_u32, gpumem_u64])
    if (leaves) call fail(gpumem_overflow, 'the result is more than an int64 holds', stat, errmsg)
  end function

  ! dst = (src + offset) * scale, with one scale and one offset for all elements.
  subroutine scaled_by_numbers(self, src, dst, scale, offset, nan_value, stat, errmsg)
    class(gpumem_blocking_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: src, dst
    real(real64), intent(in) :: scale, offset
    real(real64), intent(in), optional :: nan_value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64), target :: factor(1), summand(1)
    factor = scale
    summand = offset
    call self%convert_scaled(src, dst, gpumem_view(factor), gpumem_view(summand), nan_value, stat, errmsg)
  end subroutine

  ! -------------------------------------------------------------------------------------- indices, counted from 1

  ! result(s) = the reduction of x(first(s)) to x(first(s + 1) - 1). The last value of `first` ends the last segment.
  subroutine segments_i64(self, op, x, first, result, stat, errmsg)
    class(gpumem_blocking_queue), intent(in) :: self
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
    class(gpumem_blocking_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, result
    integer(int32), intent(in) :: first(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%segments_i64(op, x, int(first, int64), result, stat, errmsg)
  end subroutine

  ! Scans of the same segments.
  subroutine scan_segments_i64(self, op, x, first, result, exclusive, stat, errmsg)
    class(gpumem_blocking_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, result
    integer(int64), intent(in) :: first(:)
    logical, intent(in), optional :: exclusive
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable, target :: offsets(:)
    allocate (offsets(size(first)))
    offsets(:) = first - 1
    call self%scan_segments_from_zero(op, x, gpumem_view(offsets), result, exclusive, stat, errmsg)
  end subroutine

  subroutine scan_segments_i32(self, op, x, first, result, exclusive, stat, errmsg)
    class(gpumem_blocking_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, result
    integer(int32), intent(in) :: first(:)
    logical, intent(in), optional :: exclusive
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%scan_segments_i64(op, x, int(first, int64), result, exclusive, stat, errmsg)
  end subroutine

  ! dst(..., i) = src(..., index(i)). The library's error messages count the index from 0.
  subroutine gather_i64(self, src, index, dst, stat, errmsg)
    class(gpumem_blocking_queue), intent(in) :: self
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
    class(gpumem_blocking_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: src, dst
    integer(int32), intent(in) :: index(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%gather_i64(src, int(index, int64), dst, stat, errmsg)
  end subroutine

  ! dst(..., index(i)) = src(..., i).
  subroutine scatter_i64(self, src, index, dst, stat, errmsg)
    class(gpumem_blocking_queue), intent(in) :: self
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
    class(gpumem_blocking_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: src, dst
    integer(int32), intent(in) :: index(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call self%scatter_i64(src, int(index, int64), dst, stat, errmsg)
  end subroutine

  ! The first kept rows of dst are the rows src(..., i) for which mask(i) is not 0, in their order. The mask is of int8.
  subroutine select_rows(self, src, mask, dst, kept, stat, errmsg)
    class(gpumem_blocking_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: src, mask, dst
    integer(int64), intent(out) :: kept
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), target :: found(1)
    found = 0
    call self%select_to(src, mask, dst, gpumem_view(found), stat=stat, errmsg=errmsg)
    kept = found(1)
  end subroutine

  ! The first kept places are the i for which mask(i) is not 0, in ascending order.
  subroutine places_i64(self, mask, places, kept, stat, errmsg)
    class(gpumem_blocking_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: mask
    integer(int64), intent(inout) :: places(:)
    integer(int64), intent(out) :: kept
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable, target :: from_zero(:)
    integer(int64), target :: found(1)
    integer(int64) :: m
    allocate (from_zero(size(places)))
    found = 0
    call self%select_places_from_zero(mask, gpumem_view(from_zero), gpumem_view(found), stat=stat, errmsg=errmsg)
    kept = found(1)
    m = min(kept, size(places, kind=int64))
    places(:m) = from_zero(:m) + 1
  end subroutine

  subroutine places_i32(self, mask, places, kept, stat, errmsg)
    class(gpumem_blocking_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: mask
    integer(int32), intent(inout) :: places(:)
    integer(int64), intent(out) :: kept
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int32), allocatable, target :: from_zero(:)
    integer(int64), target :: found(1)
    integer(int64) :: m
    allocate (from_zero(size(places)))
    found = 0
    call self%select_places_from_zero(mask, gpumem_view(from_zero), gpumem_view(found), stat=stat, errmsg=errmsg)
    kept = found(1)
    m = min(kept, size(places, kind=int64))
    places(:m) = from_zero(:m) + 1
  end subroutine

end module
