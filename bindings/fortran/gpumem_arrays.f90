! SPDX-License-Identifier: Apache-2.0
! Generated: change bindings/fortran/generate and run it.

! gpumem_view(x) for arrays of each kind and number of dimensions. The dummy argument is a contiguous pointer, so the
! compiler asks for a contiguous TARGET and never passes a copy. An asynchronous call would use a copy after its end.
module gpumem_arrays
  use, intrinsic :: iso_c_binding, only: c_loc
  use, intrinsic :: iso_fortran_env
  use gpumem_constants
  use gpumem_views
  implicit none
  private
  public :: gpumem_view

  interface gpumem_view
    module procedure view_i8, view_i16, view_i32, view_i64, view_r32, view_r64, view_c32, view_c64
  end interface

contains

  type(gpumem_view) function view_i8(x) result(v)
    integer(int8), pointer, contiguous, intent(in), asynchronous :: x(..)
    v = view_of(c_loc(x), gpumem_i8, 1, shape(x, int64), lbound(x, kind=int64))
  end function

  type(gpumem_view) function view_i16(x) result(v)
    integer(int16), pointer, contiguous, intent(in), asynchronous :: x(..)
    v = view_of(c_loc(x), gpumem_i16, 2, shape(x, int64), lbound(x, kind=int64))
  end function

  type(gpumem_view) function view_i32(x) result(v)
    integer(int32), pointer, contiguous, intent(in), asynchronous :: x(..)
    v = view_of(c_loc(x), gpumem_i32, 4, shape(x, int64), lbound(x, kind=int64))
  end function

  type(gpumem_view) function view_i64(x) result(v)
    integer(int64), pointer, contiguous, intent(in), asynchronous :: x(..)
    v = view_of(c_loc(x), gpumem_i64, 8, shape(x, int64), lbound(x, kind=int64))
  end function

  type(gpumem_view) function view_r32(x) result(v)
    real(real32), pointer, contiguous, intent(in), asynchronous :: x(..)
    v = view_of(c_loc(x), gpumem_f32, 4, shape(x, int64), lbound(x, kind=int64))
  end function

  type(gpumem_view) function view_r64(x) result(v)
    real(real64), pointer, contiguous, intent(in), asynchronous :: x(..)
    v = view_of(c_loc(x), gpumem_f64, 8, shape(x, int64), lbound(x, kind=int64))
  end function

  type(gpumem_view) function view_c32(x) result(v)
    complex(real32), pointer, contiguous, intent(in), asynchronous :: x(..)
    v = view_of(c_loc(x), no_dtype, 8, shape(x, int64), lbound(x, kind=int64))
  end function

  type(gpumem_view) function view_c64(x) result(v)
    complex(real64), pointer, contiguous, intent(in), asynchronous :: x(..)
    v = view_of(c_loc(x), no_dtype, 16, shape(x, int64), lbound(x, kind=int64))
  end function

end module
