! SPDX-License-Identifier: Apache-2.0
! What operations take: where elements lie, of which type they are, and how many of them there are in each dimension.
module gpumem_views
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use gpumem_constants
  implicit none
  private
  public :: gpumem_view, view_of, bytes_of, no_dtype, of_nothing

  integer, parameter :: max_rank = 8
  integer(c_int32_t), parameter :: no_dtype = -1  ! complex: the library moves it, and does not count with it
  integer(c_int32_t), parameter :: of_nothing = -2  ! never set, or of memory that was freed or never allocated

  ! Made by gpumem_view(x) of an array with the attribute TARGET, and by view() of memory that was allocated here. It holds no elements,
  ! and is valid as long as what it was made of.
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
    procedure, private :: section_i32, section_i64, reshaped_i32, reshaped_i64
    generic :: section => section_i32, section_i64
    generic :: reshaped => reshaped_i32, reshaped_i64
  end type

contains

  ! Bytes of an element.
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

  ! Of elements without gaps.
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

  ! How many dimensions, from the first on, have no gaps among them.
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

  ! The address as C takes it.
  type(c_ptr) function pointer_of(self)
    class(gpumem_view), intent(in) :: self
    pointer_of = transfer(self%base, c_null_ptr)
  end function

  subroutine ask_for_memory(what, x)
    character(*), intent(in) :: what
    class(gpumem_view), intent(in) :: x
    if (x%dtype == of_nothing) &
      error stop 'gpumem_view%' // what // ': the view was never set, or is of memory that was freed or never allocated'
  end subroutine

  ! The same bytes as elements of another type of that size: unsigned integers, f16 and bf16, which Fortran does not have.
  type(gpumem_view) function as(self, dtype)
    class(gpumem_view), intent(in) :: self
    integer(c_int32_t), intent(in) :: dtype
    call ask_for_memory('as', self)
    if (bytes_of(dtype) /= self%element_bytes) error stop 'gpumem_view%as: the elements are of another size'
    as = self
    as%dtype = dtype
  end function

  ! x(lower(1):upper(1), lower(2):upper(2), ...), in the bounds of the array that this is a view of; with a step, every step(d)-th. Its own
  ! bounds begin at 1, as those of Fortran's sections do.
  type(gpumem_view) function section_i64(self, lower, upper, step) result(part)
    class(gpumem_view), intent(in) :: self
    integer(int64), intent(in) :: lower(:), upper(:)
    integer(int64), intent(in), optional :: step(:)
    integer(int64) :: by(self%rank), from(self%rank)
    by = 1
    call ask_for_memory('section', self)
    if (size(lower) /= self%rank .or. size(upper) /= self%rank) error stop 'gpumem_view%section: bounds of another rank'
    if (present(step)) then
      if (size(step) /= self%rank .or. any(step < 1)) error stop 'gpumem_view%section: steps below 1, or of another rank'
      by = step
    end if
    from = lower - self%lower(:self%rank)
    if (any(upper >= lower .and. (from < 0 .or. from + upper - lower >= self%extent(:self%rank)))) &
      error stop 'gpumem_view%section: bounds outside of the array'
    part = self
    part%lower = 1
    part%extent(:self%rank) = max((upper - lower) / by + 1, 0_int64)
    where (upper < lower) part%extent(:self%rank) = 0
    part%stride(:self%rank) = self%stride(:self%rank) * by
    if (part%size() > 0) part%base = self%base + sum(from * self%stride(:self%rank)) * self%element_bytes
  end function

  type(gpumem_view) function section_i32(self, lower, upper, step) result(part)
    class(gpumem_view), intent(in) :: self
    integer(int32), intent(in) :: lower(:), upper(:)
    integer(int32), intent(in), optional :: step(:)
    if (present(step)) then
      part = self%section_i64(int(lower, int64), int(upper, int64), int(step, int64))
    else
      part = self%section_i64(int(lower, int64), int(upper, int64))
    end if
  end function

  ! The same elements, without gaps among them, in another shape.
  type(gpumem_view) function reshaped_i64(self, extents) result(v)
    class(gpumem_view), intent(in) :: self
    integer(int64), intent(in) :: extents(:)
    call ask_for_memory('reshaped', self)
    if (.not. self%contiguous()) error stop 'gpumem_view%reshaped: there are gaps among the elements'
    if (product(extents) /= self%size() .or. any(extents < 0)) &
      error stop 'gpumem_view%reshaped: extents of another number of elements'
    v = view_of(self%pointer(), self%dtype, int(self%element_bytes), extents)
  end function

  type(gpumem_view) function reshaped_i32(self, extents) result(v)
    class(gpumem_view), intent(in) :: self
    integer(int32), intent(in) :: extents(:)
    v = self%reshaped_i64(int(extents, int64))
  end function

end module
