! SPDX-License-Identifier: Apache-2.0
! Views, the operands of operations: an address, a type, extents and strides.
module gpumem_views
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use gpumem_constants
  use gpumem_errors, only: number, refuse
  implicit none
  private
  public :: gpumem_view, view_of, bytes_of, count_of, extents_within, max_rank, no_dtype, of_nothing

  integer, parameter :: max_rank = 8
  integer(c_int32_t), parameter :: no_dtype = -1  ! complex, which the library only moves
  integer(c_int32_t), parameter :: of_nothing = -2  ! never set, or of memory that was freed or never allocated

  ! gpumem_view(x) makes a view of an array with the attribute TARGET, memory%view() of memory that was allocated here.
  ! A view is valid as long as the array or memory.
  type :: gpumem_view
    integer(c_intptr_t), private :: base = 0
    integer(c_int32_t) :: dtype = of_nothing
    integer(int64) :: element_bytes = 1
    integer :: rank = 0
    integer(int64) :: lower(max_rank) = 1
    integer(int64) :: extent(max_rank) = 1
    integer(int64) :: stride(max_rank) = 1  ! in elements
  contains
    procedure :: size => size_of
    procedure :: merged
    procedure :: contiguous
    procedure :: pointer => pointer_of
    procedure :: as
    procedure, private :: section_i32, section_i64, reshaped_i32, reshaped_i64, rebound_i32, rebound_i64
    procedure, private :: spread_i32, spread_i64
    generic :: section => section_i32, section_i64
    generic :: reshaped => reshaped_i32, reshaped_i64, rebound_i32, rebound_i64
    generic :: spread => spread_i32, spread_i64
  end type

contains

  integer(int64) function bytes_of(dtype)
    integer(c_int32_t), intent(in) :: dtype
    select case (dtype)
    case (gpumem_i8, gpumem_u8)
      bytes_of = 1
    case (gpumem_i16, gpumem_u16, gpumem_f16, gpumem_bf16)
      bytes_of = 2
    case (gpumem_i32, gpumem_u32, gpumem_f32)
      bytes_of = 4
    case (gpumem_i64, gpumem_u64, gpumem_f64)
      bytes_of = 8
    case default
      bytes_of = 0
    end select
  end function

  ! The number of elements of an array with these extents, or -1 if an extent is negative or the number exceeds an
  ! int64.
  pure integer(int64) function count_of(extents)
    integer(int64), intent(in) :: extents(:)
    integer :: d
    count_of = 1
    do d = 1, size(extents)
      if (extents(d) < 0 .or. extents(d) > huge(count_of) / max(count_of, 1_int64)) count_of = -1
      if (count_of < 0) return
      count_of = count_of * extents(d)
    end do
  end function

  ! The extents of x(lower(1):upper(1), lower(2):upper(2), ...) as in ALLOCATE. All are -1 if the bounds are not in
  ! pairs or an extent exceeds an int64.
  pure function extents_within(lower, upper) result(extents)
    integer(int64), intent(in) :: lower(:), upper(:)
    integer(int64) :: extents(max(size(lower), size(upper)))
    extents = -1
    if (size(lower) /= size(upper)) return
    if (any(lower <= 0 .and. upper >= huge(lower) + min(lower, 0_int64))) return
    where (upper >= lower)
      extents = upper - lower + 1
    elsewhere
      extents = 0
    end where
  end function

  ! A view of contiguous elements.
  type(gpumem_view) function view_of(address, dtype, element_bytes, extents, lower) result(v)
    type(c_ptr), intent(in) :: address
    integer(c_int32_t), intent(in) :: dtype
    integer, intent(in) :: element_bytes
    integer(int64), intent(in) :: extents(:)
    integer(int64), intent(in), optional :: lower(:)
    integer :: d
    if (size(extents) > max_rank) error stop 'gpumem_view: an array has more than 8 dimensions'
    v%base = transfer(address, v%base)
    v%dtype = dtype
    v%element_bytes = element_bytes
    v%rank = size(extents)
    v%extent(:v%rank) = extents
    v%stride(:v%rank) = [(product(extents(:d - 1)), d = 1, v%rank)]
    if (present(lower)) v%lower(:v%rank) = lower
  end function

  pure integer(int64) function size_of(self)
    class(gpumem_view), intent(in) :: self
    size_of = product(self%extent(:self%rank))
  end function

  ! The number of leading dimensions without padding.
  pure integer function merged(self)
    class(gpumem_view), intent(in) :: self
    integer(int64) :: next
    next = 1
    do merged = 0, self%rank - 1
      if (self%stride(merged + 1) /= next .and. self%extent(merged + 1) /= 1) return
      next = next * self%extent(merged + 1)
    end do
    merged = self%rank
  end function

  pure logical function contiguous(self)
    class(gpumem_view), intent(in) :: self
    contiguous = self%merged() == self%rank .or. self%size() == 0
  end function

  type(c_ptr) function pointer_of(self)
    class(gpumem_view), intent(in) :: self
    pointer_of = transfer(self%base, c_null_ptr)
  end function

  logical function is_of_memory(what, x, stat, errmsg)
    character(*), intent(in) :: what
    class(gpumem_view), intent(in) :: x
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (present(stat)) stat = 0
    is_of_memory = x%dtype /= of_nothing
    if (.not. is_of_memory) &
      call refuse(what // ': the view was never set, or is of memory that was freed or never allocated', stat, errmsg)
  end function

  ! Numbers as text.
  function words(numbers) result(text)
    integer(int64), intent(in) :: numbers(:)
    character(:), allocatable :: text
    character(21 * max_rank + 21) :: digits
    write (digits, '(*(i0, :, ", "))') numbers(:min(size(numbers), max_rank + 1))
    text = '(' // trim(digits) // ')'
  end function

  ! The same bytes as another type of that size. It serves types that Fortran does not have: unsigned integers, f16 and
  ! bf16.
  type(gpumem_view) function as(self, dtype, stat, errmsg)
    class(gpumem_view), intent(in) :: self
    integer(c_int32_t), intent(in) :: dtype
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (.not. is_of_memory('as', self, stat, errmsg)) return
    if (bytes_of(dtype) /= self%element_bytes) then
      call refuse('as: the elements have ' // number(self%element_bytes) // ' bytes; expected a dtype of that size', stat, errmsg)
      return
    end if
    as = self
    as%dtype = dtype
  end function

  ! x(lower(1):upper(1), lower(2):upper(2), ...) in the bounds of this view; with step, every step(d)-th element. The
  ! result's bounds begin at 1, as in Fortran's sections. With stat, a refused section gives an empty view.
  type(gpumem_view) function section_i64(self, lower, upper, step, stat, errmsg) result(part)
    class(gpumem_view), intent(in) :: self
    integer(int64), intent(in) :: lower(:), upper(:)
    integer(int64), intent(in), optional :: step(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), dimension(self%rank) :: by, first, last
    by = 1
    if (.not. is_of_memory('section', self, stat, errmsg)) return
    first = self%lower(:self%rank)
    last = first + (self%extent(:self%rank) - 1)
    if (size(lower) /= self%rank .or. size(upper) /= self%rank) then
      call refuse('section: lower is ' // words(lower) // ', upper is ' // words(upper) // &
          '; expected a number for each dimension, as ' // words(first), stat, errmsg)
      return
    end if
    if (any(upper >= lower .and. (lower < first .or. upper > last))) then
      call refuse('section: lower is ' // words(lower) // ', upper is ' // words(upper) // '; expected bounds from ' // &
          words(first) // ' to ' // words(last), stat, errmsg)
      return
    end if
    if (present(step)) then
      if (size(step) == self%rank) by = step
      if (size(step) /= self%rank .or. any(by < 1)) then
        call refuse('section: step is ' // words(step) // '; expected 1 or more for each dimension', stat, errmsg)
        return
      end if
    end if
    part = self
    part%lower = 1
    where (upper >= lower)
      part%extent(:self%rank) = (upper - lower) / by + 1
    elsewhere
      part%extent(:self%rank) = 0
    end where
    ! A step past the end leaves one element, so the step is cut and the product cannot overflow.
    part%stride(:self%rank) = self%stride(:self%rank) * min(by, max(self%extent(:self%rank), 1_int64))
    if (part%size() > 0) part%base = self%base + sum((lower - first) * self%stride(:self%rank)) * self%element_bytes
  end function

  type(gpumem_view) function section_i32(self, lower, upper, step, stat, errmsg) result(part)
    class(gpumem_view), intent(in) :: self
    integer(int32), intent(in) :: lower(:), upper(:)
    integer(int32), intent(in), optional :: step(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: by(:)  ! passed on unallocated, it is absent
    if (present(step)) by = step
    part = self%section_i64(int(lower, int64), int(upper, int64), by, stat, errmsg)
  end function

  ! As SPREAD(x, dim, ncopies): x repeated along a new dimension. Nothing is copied, so the view is only a source.
  type(gpumem_view) function spread_i64(self, dim, ncopies, stat, errmsg) result(v)
    class(gpumem_view), intent(in) :: self
    integer, intent(in) :: dim
    integer(int64), intent(in) :: ncopies
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: r
    r = self%rank
    if (.not. is_of_memory('spread', self, stat, errmsg)) return
    if (dim < 1 .or. dim > r + 1 .or. r == max_rank) then
      call refuse('spread: dim is ' // number(int(dim, int64)) // '; expected 1 to ' // number(min(r + 1_int64, 8_int64)) // &
          ', and a view with 7 dimensions or less', stat, errmsg)
    else if (ncopies < 0 .or. count_of([self%extent(:r), ncopies]) < 0) then
      call refuse('spread: ncopies is ' // number(ncopies) // '; expected 0 or more, and at most 2**63 - 1 elements', stat, errmsg)
    else
      v = self
      v%rank = r + 1
      v%lower = 1
      v%extent(:r + 1) = [self%extent(:dim - 1), ncopies, self%extent(dim:r)]
      v%stride(:r + 1) = [self%stride(:dim - 1), 0_int64, self%stride(dim:r)]
    end if
  end function

  type(gpumem_view) function spread_i32(self, dim, ncopies, stat, errmsg) result(v)
    class(gpumem_view), intent(in) :: self
    integer, intent(in) :: dim
    integer(int32), intent(in) :: ncopies
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    v = self%spread_i64(dim, int(ncopies, int64), stat, errmsg)
  end function

  ! The same contiguous elements in another shape.
  type(gpumem_view) function reshaped_i64(self, extents, stat, errmsg) result(v)
    class(gpumem_view), intent(in) :: self
    integer(int64), intent(in) :: extents(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (.not. is_of_memory('reshaped', self, stat, errmsg)) return
    if (.not. self%contiguous()) then
      call refuse('reshaped: the view has padding between its elements; expected a contiguous view', stat, errmsg)
    else if (size(extents) > max_rank .or. count_of(extents) /= self%size()) then
      call refuse('reshaped: extents is ' // words(extents) // '; expected those of ' // number(self%size()) // ' elements', &
          stat, errmsg)
    else
      v = view_of(self%pointer(), self%dtype, int(self%element_bytes), extents)
    end if
  end function

  type(gpumem_view) function reshaped_i32(self, extents, stat, errmsg) result(v)
    class(gpumem_view), intent(in) :: self
    integer(int32), intent(in) :: extents(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    v = self%reshaped_i64(int(extents, int64), stat, errmsg)
  end function

  ! The same elements, as in p(lower(1):upper(1), lower(2):upper(2), ...) => x. They are contiguous, unless only the
  ! bounds change.
  type(gpumem_view) function rebound_i64(self, lower, upper, stat, errmsg) result(v)
    class(gpumem_view), intent(in) :: self
    integer(int64), intent(in) :: lower(:), upper(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: extents(max(size(lower), size(upper)))
    logical :: same
    if (.not. is_of_memory('reshaped', self, stat, errmsg)) return
    extents = extents_within(lower, upper)
    same = size(extents) == self%rank
    if (same) same = all(extents == self%extent(:self%rank))
    if (same) then
      v = self
    else if (size(extents) > max_rank .or. count_of(extents) /= self%size()) then
      call refuse('reshaped: lower is ' // words(lower) // ', upper is ' // words(upper) // '; expected the bounds of ' // &
          number(self%size()) // ' elements', stat, errmsg)
      return
    else
      v = self%reshaped_i64(extents, stat, errmsg)
    end if
    v%lower(:v%rank) = lower(:v%rank)
  end function

  type(gpumem_view) function rebound_i32(self, lower, upper, stat, errmsg) result(v)
    class(gpumem_view), intent(in) :: self
    integer(int32), intent(in) :: lower(:), upper(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    v = self%rebound_i64(int(lower, int64), int(upper, int64), stat, errmsg)
  end function

end module
