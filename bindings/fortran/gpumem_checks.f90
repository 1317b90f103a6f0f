! SPDX-License-Identifier: Apache-2.0
! The checks of operands before a call of the library.
module gpumem_checks
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use gpumem_constants
  use gpumem_errors, only: refuse, number
  use gpumem_views
  implicit none
  private
  public :: is_set, described, conforms, has_gaps, has_columns, is_real, axes_of, step, pairs, word, checked_result, rows_fit

contains

  ! For example "(6, 4) of real64".
  function described(v) result(text)
    type(gpumem_view), intent(in) :: v
    character(:), allocatable :: text
    integer :: d
    text = '('
    do d = 1, v%rank
      text = text // number(v%extent(d))
      if (d < v%rank) text = text // ', '
    end do
    text = text // ') of ' // type_name(v%dtype, v%element_bytes)
  end function

  ! The name in iso_fortran_env.
  function type_name(dtype, element_bytes) result(name)
    integer(c_int32_t), intent(in) :: dtype
    integer(int64), intent(in) :: element_bytes
    character(:), allocatable :: name
    character(6), parameter :: names(0:11) = ['int8  ', 'uint8 ', 'int16 ', 'uint16', 'int32 ', 'uint32', 'int64 ', 'uint64', &
        'f16   ', 'bf16  ', 'real32', 'real64']
    if (dtype >= lbound(names, 1) .and. dtype <= ubound(names, 1)) then
      name = trim(names(dtype))
    else
      name = 'complex of ' // number(element_bytes) // ' bytes'
    end if
  end function

  logical function is_set(what, x, stat, errmsg)
    character(*), intent(in) :: what
    type(gpumem_view), intent(in) :: x
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    is_set = x%dtype /= of_nothing
    if (.not. is_set) call refuse(what // ' is a view that was never set, or of memory that was freed or never allocated', &
        stat, errmsg)
  end function

  ! Whether the elements are integers or reals.
  logical function is_real(what, x, stat, errmsg)
    character(*), intent(in) :: what
    type(gpumem_view), intent(in) :: x
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    is_real = is_set(what, x, stat, errmsg)
    if (.not. is_real) return
    is_real = x%dtype /= no_dtype
    if (.not. is_real) call refuse(what // ' is of complex numbers, which are only moved; expected integers or reals', stat, errmsg)
  end function

  ! Whether two operands have one type and shape. With `dtype`, they also have that type and are contiguous.
  logical function conforms(what, name_a, a, name_b, b, dtype, stat, errmsg)
    character(*), intent(in) :: what, name_a, name_b
    type(gpumem_view), intent(in) :: a, b
    integer(c_int32_t), intent(in), optional :: dtype
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: operands
    conforms = is_set(what // ': ' // name_a, a, stat, errmsg)
    if (conforms) conforms = is_set(what // ': ' // name_b, b, stat, errmsg)
    if (.not. conforms) return
    operands = what // ': ' // name_a // ' is ' // described(a) // ', ' // name_b // ' is ' // described(b)
    conforms = a%dtype == b%dtype .and. a%element_bytes == b%element_bytes
    if (.not. conforms) then
      call refuse(operands // '; expected elements of one type', stat, errmsg)
      return
    end if
    conforms = a%rank == b%rank .and. all(a%extent == b%extent)
    if (.not. conforms) then
      call refuse(operands // '; expected one shape', stat, errmsg)
      return
    end if
    if (present(dtype)) conforms = a%dtype == dtype
    if (.not. conforms) then
      call refuse(operands // '; expected ' // type_name(dtype, bytes_of(dtype)) // ', as the factors are', stat, errmsg)
      return
    end if
    if (.not. present(dtype)) return
    conforms = .not. has_gaps(what // ': ' // name_a, a, stat, errmsg)
    if (conforms) conforms = .not. has_gaps(what // ': ' // name_b, b, stat, errmsg)
  end function

  logical function has_gaps(what, x, stat, errmsg)
    character(*), intent(in) :: what
    type(gpumem_view), intent(in) :: x
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    has_gaps = .not. is_set(what, x, stat, errmsg)
    if (has_gaps) return
    has_gaps = .not. x%contiguous()
    if (has_gaps) call refuse(what // ' has padding between its elements; expected a contiguous view', stat, errmsg)
  end function

  ! Whether x has 2 or 3 dimensions and contiguous columns.
  logical function has_columns(what, x, stat, errmsg)
    character(*), intent(in) :: what
    type(gpumem_view), intent(in) :: x
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    has_columns = is_set(what, x, stat, errmsg)
    if (.not. has_columns) return
    has_columns = any(x%rank == [2, 3]) .and. x%stride(1) == 1
    if (.not. has_columns) call refuse(what // ' is ' // described(x) // &
        '; expected 2 or 3 dimensions, without padding within columns', stat, errmsg)
  end function

  ! The extents and strides of x as the library's axes, whose last one is Fortran's first dimension.
  pure subroutine axes_of(x, extents, strides)
    type(gpumem_view), intent(in) :: x
    integer(int64), intent(out) :: extents(max_rank), strides(max_rank)
    extents = 1
    strides = 0
    extents(:x%rank) = x%extent(x%rank:1:-1)
    strides(:x%rank) = x%stride(x%rank:1:-1)
  end subroutine

  ! The distance between neighbouring elements in memory if it is constant, as in a contiguous array or a row of a
  ! matrix; else 0.
  pure integer(int64) function step(x)
    type(gpumem_view), intent(in) :: x
    integer(int64) :: next
    integer :: d
    step = 1
    next = 0
    if (x%size() == 0) return
    do d = 1, x%rank
      if (x%extent(d) == 1) cycle
      if (next == 0) step = x%stride(d)
      if (next /= 0 .and. x%stride(d) /= next) step = 0
      if (step == 0) return
      next = x%stride(d) * x%extent(d)
    end do
  end function

  pure integer(int64) function pairs(op, results)
    integer(c_int32_t), intent(in) :: op
    integer(int64), intent(in) :: results
    pairs = merge(2 * results, results, op == gpumem_min_max)
  end function

  type(c_ptr) function word(status)
    type(gpumem_view), intent(in), optional :: status
    word = c_null_ptr
    if (present(status)) word = status%pointer()
  end function

  ! Whether x has room for `count` results of reductions of `dtype`.
  logical function checked_result(what, dtype, result, count, stat, errmsg) result(fits)
    character(*), intent(in) :: what
    integer(c_int32_t), intent(in) :: dtype
    type(gpumem_view), intent(in) :: result
    integer(int64), intent(in) :: count
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    fits = is_set(what, result, stat, errmsg)
    if (.not. fits) return
    if (dtype >= gpumem_f16) then
      fits = result%dtype == gpumem_f64
    else
      fits = any(result%dtype == [gpumem_i64, gpumem_u64])
    end if
    fits = fits .and. result%contiguous() .and. result%size() >= count
    if (.not. fits) call refuse(what // ' is ' // described(result) // '; expected ' // number(count) // ' or more of ' // &
        trim(merge('real64', 'int64 ', dtype >= gpumem_f16)) // ', without padding', stat, errmsg)
  end function

  ! Whether src and dst agree except in their last dimension, and `many` has at least as many entries there as the
  ! index.
  logical function rows_fit(what, src, dst, index, many, stat, errmsg) result(fit)
    character(*), intent(in) :: what
    type(gpumem_view), intent(in) :: src, dst, index, many
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: r
    r = src%rank
    fit = .false.
    if (.not. is_set(what // ': src', src, stat, errmsg)) return
    if (.not. is_set(what // ': dst', dst, stat, errmsg)) return
    if (has_gaps(what // ': index', index, stat, errmsg)) return
    if (r < 1 .or. dst%rank /= r .or. src%merged() < r - 1 .or. dst%merged() < r - 1 .or. &
        any(src%extent(:r - 1) /= dst%extent(:r - 1)) .or. src%dtype /= dst%dtype) then
      call refuse(what // ': src is ' // described(src) // ', dst is ' // described(dst) // &
          '; expected one type, equal extents except in the last dimension, and padding only before it', stat, errmsg)
    else if (many%extent(r) < index%size()) then
      call refuse(what // ': the index has ' // number(index%size()) // ' numbers for ' // number(many%extent(r)), stat, errmsg)
    else
      fit = .true.
    end if
  end function

end module
