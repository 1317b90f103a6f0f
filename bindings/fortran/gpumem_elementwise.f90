! SPDX-License-Identifier: Apache-2.0
! Functions, comparisons, choices and scaled conversions, element by element. Views have up to 8 dimensions and any
! strides. A view of one element conforms with any shape, as a scalar of Fortran. spread() repeats other views.
module gpumem_elementwise
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use gpumem_constants
  use gpumem_c
  use gpumem_errors, only: finish, refuse
  use gpumem_views
  use gpumem_checks
  use gpumem_arithmetic
  implicit none
  private
  public :: gpumem_elementwise_queue

  type, abstract, extends(gpumem_arithmetic_queue) :: gpumem_elementwise_queue
  contains
    procedure, private :: map_one, map_two
    generic :: map => map_one, map_two
    procedure :: compare
    procedure :: where => where_views
    procedure, private :: scaled_by_views
    generic :: convert_scaled => scaled_by_views
  end type

contains

  ! z = op(x), for views of one type. z may be x.
  subroutine map_one(self, op, x, z, stat, errmsg)
    class(gpumem_elementwise_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, z
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (.not. are_alike('map', 'x', x, 'z', z, stat, errmsg)) return
    call finish(mapped(self, op, x, c_null_ptr, x, z), stat, errmsg)
  end subroutine

  ! z = op(x, y), for views of one type. z may be x or y. If an integer is divided by 0, the result is 0 and the status
  ! is gpumem_out_of_range.
  subroutine map_two(self, op, x, y, z, stat, errmsg, status)
    class(gpumem_elementwise_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, y, z
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: status
    if (.not. are_alike('map', 'x', x, 'z', z, stat, errmsg)) return
    if (.not. are_alike('map', 'y', y, 'z', z, stat, errmsg)) return
    call finish(mapped(self, op, x, y%pointer(), y, z, status), stat, errmsg)
  end subroutine

  function mapped(self, op, x, second, y, z, status) result(code)
    class(gpumem_elementwise_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, y, z
    type(c_ptr), intent(in) :: second
    type(gpumem_view), intent(in), optional :: status
    integer(c_int32_t) :: code
    associate (c => self%ctx, r => int(z%rank, c_int32_t), e => extents_of(z), sx => along(x, z), sy => along(y, z), &
        sz => along(z, z))
      if (self%enqueues) then
        code = gpumem_map_async(c, op, z%dtype, r, e, x%pointer(), sx, second, sy, z%pointer(), sz, word(status), self%stream)
      else
        code = gpumem_map(c, op, z%dtype, r, e, x%pointer(), sx, second, sy, z%pointer(), sz)
      end if
    end associate
  end function

  ! mask = MERGE(1, 0, x op y). The mask is of int8.
  subroutine compare(self, op, x, y, mask, stat, errmsg)
    class(gpumem_elementwise_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, y, mask
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    if (.not. is_mask('compare', mask, stat, errmsg)) return
    if (.not. has_shape('compare', 'x', x, 'mask', mask, stat, errmsg)) return
    if (.not. has_shape('compare', 'y', y, 'mask', mask, stat, errmsg)) return
    if (.not. is_real('compare: x', x, stat, errmsg)) return
    if (.not. have_one_type('compare', 'x', x, 'y', y, stat, errmsg)) return
    associate (c => self%ctx, r => int(mask%rank, c_int32_t), e => extents_of(mask), sx => along(x, mask), sy => along(y, mask), &
        sm => along(mask, mask))
      if (self%enqueues) then
        code = gpumem_compare_async(c, op, x%dtype, r, e, x%pointer(), sx, y%pointer(), sy, mask%pointer(), sm, self%stream)
      else
        code = gpumem_compare(c, op, x%dtype, r, e, x%pointer(), sx, y%pointer(), sy, mask%pointer(), sm)
      end if
    end associate
    call finish(code, stat, errmsg)
  end subroutine

  ! z = MERGE(x, y, mask /= 0), for views of any one type. z may be x or y.
  subroutine where_views(self, mask, x, y, z, stat, errmsg)
    class(gpumem_elementwise_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: mask, x, y, z
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    if (.not. is_mask('where', mask, stat, errmsg)) return
    if (.not. has_shape('where', 'mask', mask, 'z', z, stat, errmsg)) return
    if (.not. has_shape('where', 'x', x, 'z', z, stat, errmsg)) return
    if (.not. has_shape('where', 'y', y, 'z', z, stat, errmsg)) return
    if (.not. have_one_type('where', 'x', x, 'z', z, stat, errmsg)) return
    if (.not. have_one_type('where', 'y', y, 'z', z, stat, errmsg)) return
    associate (c => self%ctx, n => z%element_bytes, r => int(z%rank, c_int32_t), e => extents_of(z), m => mask%pointer(), &
        sm => along(mask, z), sx => along(x, z), sy => along(y, z), sz => along(z, z))
      if (self%enqueues) then
        code = gpumem_where_async(c, n, r, e, m, sm, x%pointer(), sx, y%pointer(), sy, z%pointer(), sz, self%stream)
      else
        code = gpumem_where(c, n, r, e, m, sm, x%pointer(), sx, y%pointer(), sy, z%pointer(), sz)
      end if
    end associate
    call finish(code, stat, errmsg)
  end subroutine

  ! dst = (src + offset) * scale, computed in real64 and converted to dst's type. A NaN of src becomes nan_value, or 0.
  ! scale and offset are of real64. Contexts also take them as numbers.
  subroutine scaled_by_views(self, src, dst, scale, offset, nan_value, stat, errmsg)
    class(gpumem_elementwise_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: src, dst
    type(gpumem_view), intent(in), optional :: scale, offset
    real(real64), intent(in), optional :: nan_value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: factor, summand
    integer(int64) :: of_scale(max_rank), of_offset(max_rank)
    real(real64) :: instead
    integer(c_int32_t) :: code
    if (.not. has_shape('convert_scaled', 'src', src, 'dst', dst, stat, errmsg)) return
    if (.not. is_real('convert_scaled: src', src, stat, errmsg)) return
    if (.not. is_real('convert_scaled: dst', dst, stat, errmsg)) return
    factor = c_null_ptr
    summand = c_null_ptr
    of_scale = 0
    of_offset = 0
    if (present(scale)) then
      if (.not. is_coefficient('scale', scale, dst, stat, errmsg)) return
      factor = scale%pointer()
      of_scale = along(scale, dst)
    end if
    if (present(offset)) then
      if (.not. is_coefficient('offset', offset, dst, stat, errmsg)) return
      summand = offset%pointer()
      of_offset = along(offset, dst)
    end if
    instead = 0
    if (present(nan_value)) instead = nan_value
    associate (c => self%ctx, r => int(dst%rank, c_int32_t), e => extents_of(dst), from => along(src, dst), to => along(dst, dst))
      if (self%enqueues) then
        code = gpumem_convert_scaled_async(c, r, e, src%dtype, src%pointer(), from, factor, of_scale, summand, of_offset, &
            instead, dst%dtype, dst%pointer(), to, self%stream)
      else
        code = gpumem_convert_scaled(c, r, e, src%dtype, src%pointer(), from, factor, of_scale, summand, of_offset, instead, &
            dst%dtype, dst%pointer(), to)
      end if
    end associate
    call finish(code, stat, errmsg)
  end subroutine

  logical function is_coefficient(name, x, dst, stat, errmsg) result(fits)
    character(*), intent(in) :: name
    type(gpumem_view), intent(in) :: x, dst
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    fits = has_shape('convert_scaled', name, x, 'dst', dst, stat, errmsg)
    if (.not. fits) return
    fits = x%dtype == gpumem_f64
    if (.not. fits) call refuse('convert_scaled: ' // name // ' is ' // described(x) // '; expected real64', stat, errmsg)
  end function

  logical function is_mask(what, mask, stat, errmsg)
    character(*), intent(in) :: what
    type(gpumem_view), intent(in) :: mask
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    is_mask = is_set(what // ': mask', mask, stat, errmsg)
    if (.not. is_mask) return
    is_mask = any(mask%dtype == [gpumem_i8, gpumem_u8])
    if (.not. is_mask) call refuse(what // ': mask is ' // described(mask) // '; expected int8', stat, errmsg)
  end function

  ! Whether x has z's shape, or one element.
  logical function has_shape(what, name_x, x, name_z, z, stat, errmsg) result(fits)
    character(*), intent(in) :: what, name_x, name_z
    type(gpumem_view), intent(in) :: x, z
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    fits = is_set(what // ': ' // name_x, x, stat, errmsg)
    if (fits) fits = is_set(what // ': ' // name_z, z, stat, errmsg)
    if (.not. fits) return
    fits = x%size() == 1 .or. (x%rank == z%rank .and. all(x%extent == z%extent))
    if (.not. fits) call refuse(what // ': ' // name_x // ' is ' // described(x) // ', ' // name_z // ' is ' // described(z) // &
        '; expected one shape, or one element of ' // name_x, stat, errmsg)
  end function

  logical function have_one_type(what, name_x, x, name_z, z, stat, errmsg) result(fits)
    character(*), intent(in) :: what, name_x, name_z
    type(gpumem_view), intent(in) :: x, z
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    fits = x%dtype == z%dtype .and. x%element_bytes == z%element_bytes
    if (.not. fits) call refuse(what // ': ' // name_x // ' is ' // described(x) // ', ' // name_z // ' is ' // described(z) // &
        '; expected elements of one type', stat, errmsg)
  end function

  logical function are_alike(what, name_x, x, name_z, z, stat, errmsg) result(fits)
    character(*), intent(in) :: what, name_x, name_z
    type(gpumem_view), intent(in) :: x, z
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    fits = has_shape(what, name_x, x, name_z, z, stat, errmsg)
    if (fits) fits = is_real(what // ': ' // name_z, z, stat, errmsg)
    if (fits) fits = have_one_type(what, name_x, x, name_z, z, stat, errmsg)
  end function

  ! The strides of x along the library's axes of z, whose last one is Fortran's first dimension. One element is repeated.
  pure function along(x, z) result(strides)
    type(gpumem_view), intent(in) :: x, z
    integer(int64) :: strides(max_rank)
    strides = 0
    if (x%size() /= 1) strides(:z%rank) = x%stride(z%rank:1:-1)
  end function

end module
