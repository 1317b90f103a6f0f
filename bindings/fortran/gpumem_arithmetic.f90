! SPDX-License-Identifier: Apache-2.0
! Sums and products of reals, element by element.
module gpumem_arithmetic
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use gpumem_constants
  use gpumem_c
  use gpumem_errors, only: finish, refuse, number
  use gpumem_views
  use gpumem_checks
  use gpumem_movements
  implicit none
  private
  public :: gpumem_arithmetic_queue, extents_of, pointers_of

  type, abstract, extends(gpumem_movement_queue) :: gpumem_arithmetic_queue
  contains
    procedure, private :: axpby_r32, axpby_r64, lincomb_r32, lincomb_r64, lincomb_dot_r32, lincomb_dot_r64
    generic :: axpby => axpby_r32, axpby_r64
    generic :: lincomb => lincomb_r32, lincomb_r64
    generic :: lincomb_dot => lincomb_dot_r32, lincomb_dot_r64
    procedure :: multiply
  end type

contains

  ! z = alpha * x + beta * y, for contiguous reals of alpha's kind. An operand with the factor 0 is not read, so it may
  ! be z.
  subroutine axpby_r32(self, alpha, x, beta, y, z, stat, errmsg)
    class(gpumem_arithmetic_queue), intent(in) :: self
    real(real32), intent(in) :: alpha, beta
    type(gpumem_view), intent(in) :: x, y, z
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    if (.not. conforms('axpby', 'z', z, 'x', x, gpumem_f32, stat, errmsg)) return
    if (.not. conforms('axpby', 'z', z, 'y', y, gpumem_f32, stat, errmsg)) return
    if (self%enqueues) then
      code = gpumem_axpby_f32_async(self%ctx, alpha, x%pointer(), beta, y%pointer(), z%pointer(), z%size(), self%stream)
    else
      code = gpumem_axpby_f32(self%ctx, alpha, x%pointer(), beta, y%pointer(), z%pointer(), z%size())
    end if
    call finish(code, stat, errmsg)
  end subroutine

  subroutine axpby_r64(self, alpha, x, beta, y, z, stat, errmsg)
    class(gpumem_arithmetic_queue), intent(in) :: self
    real(real64), intent(in) :: alpha, beta
    type(gpumem_view), intent(in) :: x, y, z
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    if (.not. conforms('axpby', 'z', z, 'x', x, gpumem_f64, stat, errmsg)) return
    if (.not. conforms('axpby', 'z', z, 'y', y, gpumem_f64, stat, errmsg)) return
    if (self%enqueues) then
      code = gpumem_axpby_f64_async(self%ctx, alpha, x%pointer(), beta, y%pointer(), z%pointer(), z%size(), self%stream)
    else
      code = gpumem_axpby_f64(self%ctx, alpha, x%pointer(), beta, y%pointer(), z%pointer(), z%size())
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! z = factors(1) * x(1) + factors(2) * x(2) + ... for up to 16 views with z's shape and any strides. Shifted
  ! sections of one array make a stencil. A view with the factor 0 is not read. z may be one of the views, but must not
  ! overlap them otherwise. With numerators or denominators, which are views of one real64 each, factor k is
  ! factors(k) * numerators(k) / denominators(k), computed when the work runs. A view that was never set is 1.
  subroutine lincomb_r32(self, factors, x, z, numerators, denominators, stat, errmsg)
    class(gpumem_arithmetic_queue), intent(in) :: self
    real(real32), intent(in) :: factors(:)
    type(gpumem_view), intent(in) :: x(:), z
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: numerators(:), denominators(:)
    integer(int64) :: strides(z%rank * size(x))
    integer(c_int32_t) :: code
    if (.not. are_terms('lincomb', '', gpumem_f32, size(factors), x, z, stat, errmsg)) return
    if (.not. are_numbers('numerators', size(x), numerators, stat, errmsg)) return
    if (.not. are_numbers('denominators', size(x), denominators, stat, errmsg)) return
    strides = strides_of(x)
    associate (c => self%ctx, r => int(z%rank, c_int32_t), e => extents_of(z), n => size(x, kind=c_int32_t), s => strides_of([z]), &
        above => numbers_of(size(x), numerators), below => numbers_of(size(x), denominators))
      if ((present(numerators) .or. present(denominators)) .and. self%enqueues) then
        code = gpumem_lincomb_at_f32_async(c, r, e, n, factors, above, below, pointers_of(x), strides, z%pointer(), s, self%stream)
      else if (present(numerators) .or. present(denominators)) then
        code = gpumem_lincomb_at_f32(c, r, e, n, factors, above, below, pointers_of(x), strides, z%pointer(), s)
      else if (self%enqueues) then
        code = gpumem_lincomb_f32_async(c, r, e, n, factors, pointers_of(x), strides, z%pointer(), s, self%stream)
      else
        code = gpumem_lincomb_f32(c, r, e, n, factors, pointers_of(x), strides, z%pointer(), s)
      end if
    end associate
    call finish(code, stat, errmsg)
  end subroutine

  subroutine lincomb_r64(self, factors, x, z, numerators, denominators, stat, errmsg)
    class(gpumem_arithmetic_queue), intent(in) :: self
    real(real64), intent(in) :: factors(:)
    type(gpumem_view), intent(in) :: x(:), z
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: numerators(:), denominators(:)
    integer(int64) :: strides(z%rank * size(x))
    integer(c_int32_t) :: code
    if (.not. are_terms('lincomb', '', gpumem_f64, size(factors), x, z, stat, errmsg)) return
    if (.not. are_numbers('numerators', size(x), numerators, stat, errmsg)) return
    if (.not. are_numbers('denominators', size(x), denominators, stat, errmsg)) return
    strides = strides_of(x)
    associate (c => self%ctx, r => int(z%rank, c_int32_t), e => extents_of(z), n => size(x, kind=c_int32_t), s => strides_of([z]), &
        above => numbers_of(size(x), numerators), below => numbers_of(size(x), denominators))
      if ((present(numerators) .or. present(denominators)) .and. self%enqueues) then
        code = gpumem_lincomb_at_f64_async(c, r, e, n, factors, above, below, pointers_of(x), strides, z%pointer(), s, self%stream)
      else if (present(numerators) .or. present(denominators)) then
        code = gpumem_lincomb_at_f64(c, r, e, n, factors, above, below, pointers_of(x), strides, z%pointer(), s)
      else if (self%enqueues) then
        code = gpumem_lincomb_f64_async(c, r, e, n, factors, pointers_of(x), strides, z%pointer(), s, self%stream)
      else
        code = gpumem_lincomb_f64(c, r, e, n, factors, pointers_of(x), strides, z%pointer(), s)
      end if
    end associate
    call finish(code, stat, errmsg)
  end subroutine

  ! lincomb, and in the same pass results(k) = the sum of z * w(k). w has 1 to 3 views with z's shape, and z may be one of
  ! them. results is a contiguous view of real64.
  subroutine lincomb_dot_r32(self, factors, x, z, w, results, numerators, denominators, stat, errmsg)
    class(gpumem_arithmetic_queue), intent(in) :: self
    real(real32), intent(in) :: factors(:)
    type(gpumem_view), intent(in) :: x(:), z, w(:), results
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: numerators(:), denominators(:)
    integer(c_int32_t) :: code
    if (.not. are_terms('lincomb_dot', '', gpumem_f32, size(factors), x, z, stat, errmsg)) return
    if (.not. are_dots(z, w, results, stat, errmsg)) return
    if (.not. are_numbers('numerators', size(x), numerators, stat, errmsg)) return
    if (.not. are_numbers('denominators', size(x), denominators, stat, errmsg)) return
    associate (c => self%ctx, r => int(z%rank, c_int32_t), e => extents_of(z), n => size(x, kind=c_int32_t), s => strides_of([z]), &
        above => numbers_of(size(x), numerators), below => numbers_of(size(x), denominators), sx => strides_of(x), &
        d => size(w, kind=c_int32_t), sw => strides_of(w))
      if (self%enqueues) then
        code = gpumem_lincomb_dot_f32_async(c, r, e, n, factors, above, below, pointers_of(x), sx, z%pointer(), s, d, &
            pointers_of(w), sw, results%pointer(), self%stream)
      else
        code = gpumem_lincomb_dot_f32(c, r, e, n, factors, above, below, pointers_of(x), sx, z%pointer(), s, d, &
            pointers_of(w), sw, results%pointer())
      end if
    end associate
    call finish(code, stat, errmsg)
  end subroutine

  subroutine lincomb_dot_r64(self, factors, x, z, w, results, numerators, denominators, stat, errmsg)
    class(gpumem_arithmetic_queue), intent(in) :: self
    real(real64), intent(in) :: factors(:)
    type(gpumem_view), intent(in) :: x(:), z, w(:), results
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: numerators(:), denominators(:)
    integer(c_int32_t) :: code
    if (.not. are_terms('lincomb_dot', '', gpumem_f64, size(factors), x, z, stat, errmsg)) return
    if (.not. are_dots(z, w, results, stat, errmsg)) return
    if (.not. are_numbers('numerators', size(x), numerators, stat, errmsg)) return
    if (.not. are_numbers('denominators', size(x), denominators, stat, errmsg)) return
    associate (c => self%ctx, r => int(z%rank, c_int32_t), e => extents_of(z), n => size(x, kind=c_int32_t), s => strides_of([z]), &
        above => numbers_of(size(x), numerators), below => numbers_of(size(x), denominators), sx => strides_of(x), &
        d => size(w, kind=c_int32_t), sw => strides_of(w))
      if (self%enqueues) then
        code = gpumem_lincomb_dot_f64_async(c, r, e, n, factors, above, below, pointers_of(x), sx, z%pointer(), s, d, &
            pointers_of(w), sw, results%pointer(), self%stream)
      else
        code = gpumem_lincomb_dot_f64(c, r, e, n, factors, above, below, pointers_of(x), sx, z%pointer(), s, d, &
            pointers_of(w), sw, results%pointer())
      end if
    end associate
    call finish(code, stat, errmsg)
  end subroutine

  ! z = x * y, element by element, for reals of one kind and shape, with any strides.
  subroutine multiply(self, x, y, z, stat, errmsg)
    class(gpumem_arithmetic_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: x, y, z
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    if (.not. are_terms('multiply', 'xy', merge(gpumem_f32, gpumem_f64, z%dtype == gpumem_f32), 2, [x, y], z, stat, errmsg)) return
    associate (c => self%ctx, r => int(z%rank, c_int32_t), e => extents_of(z), p => x%pointer(), q => y%pointer(), &
        to => z%pointer(), sx => strides_of([x]), sy => strides_of([y]), sz => strides_of([z]))
      if (z%dtype == gpumem_f32 .and. self%enqueues) then
        code = gpumem_multiply_f32_async(c, r, e, p, sx, q, sy, to, sz, self%stream)
      else if (z%dtype == gpumem_f32) then
        code = gpumem_multiply_f32(c, r, e, p, sx, q, sy, to, sz)
      else if (self%enqueues) then
        code = gpumem_multiply_f64_async(c, r, e, p, sx, q, sy, to, sz, self%stream)
      else
        code = gpumem_multiply_f64(c, r, e, p, sx, q, sy, to, sz)
      end if
    end associate
    call finish(code, stat, errmsg)
  end subroutine

  ! One view per factor, with the type `dtype` and z's shape. `names` has a letter per view; if it is '', they are x(1),
  ! x(2), ...
  logical function are_terms(what, names, dtype, factors, x, z, stat, errmsg)
    character(*), intent(in) :: what, names
    integer(c_int32_t), intent(in) :: dtype
    integer, intent(in) :: factors
    type(gpumem_view), intent(in) :: x(:), z
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: name
    integer :: k
    are_terms = is_set(what // ': z', z, stat, errmsg)
    if (.not. are_terms) return
    are_terms = factors == size(x)
    if (.not. are_terms) then
      call refuse(what // ': factors has ' // number(int(factors, int64)) // ' values, x has ' // number(size(x, kind=int64)) // &
          ' views; expected as many factors as views', stat, errmsg)
      return
    end if
    are_terms = z%dtype == dtype
    if (.not. are_terms) then
      name = what // ': z is ' // described(z) // '; expected reals'
      if (names == '') name = name // ' of the kind of the factors'
      call refuse(name, stat, errmsg)
      return
    end if
    do k = 1, size(x)
      name = 'x(' // number(int(k, int64)) // ')'
      if (names /= '') name = names(k:k)
      if (are_terms) are_terms = conforms(what, 'z', z, name, x(k), stat=stat, errmsg=errmsg)
    end do
  end function

  logical function are_dots(z, w, results, stat, errmsg)
    type(gpumem_view), intent(in) :: z, w(:), results
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: k
    are_dots = checked_result('lincomb_dot: results', gpumem_f64, results, size(w, kind=int64), stat, errmsg)
    do k = 1, size(w)
      if (are_dots) are_dots = conforms('lincomb_dot', 'z', z, 'w(' // number(int(k, int64)) // ')', w(k), stat=stat, errmsg=errmsg)
    end do
  end function

  ! Numerators or denominators: views of one real64 each, or views that were never set.
  logical function are_numbers(name, terms, numbers, stat, errmsg)
    character(*), intent(in) :: name
    integer, intent(in) :: terms
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: numbers(:)
    integer :: k
    are_numbers = .true.
    if (.not. present(numbers)) return
    are_numbers = size(numbers) == terms
    do k = 1, size(numbers)
      if (numbers(k)%dtype == of_nothing) cycle
      are_numbers = are_numbers .and. numbers(k)%dtype == gpumem_f64 .and. numbers(k)%size() == 1
    end do
    if (.not. are_numbers) call refuse('lincomb: ' // name // ' has ' // number(size(numbers, kind=int64)) // &
        ' views; expected ' // number(int(terms, int64)) // ' of one real64 each', stat, errmsg)
  end function

  function numbers_of(terms, numbers) result(pointers)
    integer, intent(in) :: terms
    type(gpumem_view), intent(in), optional :: numbers(:)
    type(c_ptr) :: pointers(terms)
    pointers = c_null_ptr
    if (present(numbers)) pointers = pointers_of(numbers)
  end function

  ! The library's last axis is Fortran's first dimension.
  pure function extents_of(v) result(extents)
    type(gpumem_view), intent(in) :: v
    integer(int64) :: extents(v%rank)
    extents = v%extent(v%rank:1:-1)
  end function

  ! The strides of all views, one view after another.
  pure function strides_of(x) result(strides)
    type(gpumem_view), intent(in) :: x(:)
    integer(int64), allocatable :: strides(:)
    integer :: k
    allocate (strides(0))
    do k = 1, size(x)
      strides = [strides, x(k)%stride(x(k)%rank:1:-1)]
    end do
  end function

  function pointers_of(x) result(pointers)
    type(gpumem_view), intent(in) :: x(:)
    type(c_ptr) :: pointers(size(x))
    integer :: k
    do k = 1, size(x)
      pointers(k) = x(k)%pointer()
    end do
  end function

end module
