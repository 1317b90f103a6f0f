! SPDX-License-Identifier: Apache-2.0
! Plans, made once and executed many times. They move an array from layout to layout, fill the ghost cells of its boxes,
! or reduce it.
module gpumem_plans
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use gpumem_constants
  use gpumem_c
  use gpumem_errors, only: finish, refuse, failed, is_live, number, gpumem_text
  use gpumem_views
  use gpumem_arrays
  use gpumem_checks, only: described, has_gaps, is_real, checked_result, pairs
  use gpumem_arithmetic, only: pointers_of
  use gpumem_values, only: has_two_results, leaves_int64
  use gpumem_streams
  implicit none
  private
  public :: gpumem_plan, names_plan, take

  ! The plan_... procedures of gpumem_dist make a plan. The type is a handle.
  type :: gpumem_plan
    type(c_ptr) :: handle = c_null_ptr
    type(c_ptr), allocatable, private :: contexts(:)
    integer(int64), private :: element_bytes = 0
    integer(int64), allocatable, private :: read(:), written(:)  ! elements that each participant needs
  contains
    procedure :: execute
    procedure :: execute_async
    procedure, private :: reduce_i64, reduce_r64, min_max_i64, min_max_r64, argreduce_i64, argreduce_r64
    generic :: reduce => reduce_i64, reduce_r64
    generic :: min_max => min_max_i64, min_max_r64
    generic :: argreduce => argreduce_i64, argreduce_r64
    procedure :: dot
    procedure :: nrm2
    procedure :: explain
    procedure :: destroy => destroy_plan
  end type

contains

  logical function names_plan(plan, stat, errmsg)
    type(gpumem_plan), intent(in) :: plan
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    names_plan = c_associated(plan%handle)
    if (names_plan) names_plan = is_live('plan: the plan', &
        gpumem_dist_explain(plan%handle, gpumem_format_text, cap=0_c_int64_t), stat, errmsg)
  end function

  subroutine take(plan, contexts, made, element_bytes, read, written)
    type(gpumem_plan), intent(inout) :: plan
    type(c_ptr), intent(in) :: contexts(:), made
    integer(int64), intent(in) :: element_bytes, read(:), written(:)
    plan%handle = made
    plan%contexts = contexts
    plan%element_bytes = element_bytes
    plan%read = read
    plan%written = written
  end subroutine

  ! Executes a redistribution or a halo, complete on return. src and dst have one contiguous view per participant of
  ! this process. A participant without a box may have a view that was never set. A halo has no dst.
  subroutine execute(self, src, dst, stat, errmsg)
    class(gpumem_plan), intent(in) :: self
    type(gpumem_view), intent(in) :: src(:)
    type(gpumem_view), intent(in), optional :: dst(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr), allocatable :: to(:)
    integer(c_int32_t) :: refused
    if (.not. are_operands(self, src, to, dst, stat, errmsg)) then
      refused = gpumem_dist_execute(self%handle, nothing(self), nothing(self))
      return
    end if
    call finish(gpumem_dist_execute(self%handle, pointers_of(src), to), stat, errmsg)
  end subroutine

  ! Null pointers for a call whose operands the binding refuses. The library refuses them, and tells the other processes.
  function nothing(self) result(pointers)
    class(gpumem_plan), intent(in) :: self
    type(c_ptr), allocatable :: pointers(:)
    integer :: members
    members = 1
    if (allocated(self%read)) members = size(self%read)
    allocate (pointers(members))
    pointers = c_null_ptr
  end function

  ! The same, asynchronous. It runs on one stream per participant, by default the context's own. The operands must stay
  ! unchanged until these streams have passed the call.
  subroutine execute_async(self, src, dst, streams, stat, errmsg)
    class(gpumem_plan), intent(in) :: self
    type(gpumem_view), intent(in) :: src(:)
    type(gpumem_view), intent(in), optional :: dst(:)
    type(gpumem_stream), intent(in), optional :: streams(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr), allocatable :: to(:)
    type(c_ptr) :: queues(size(src))
    logical :: fits
    integer :: i
    integer(c_int32_t) :: refused
    if (.not. are_operands(self, src, to, dst, stat, errmsg)) then
      refused = gpumem_dist_execute(self%handle, nothing(self), nothing(self))
      return
    end if
    queues = c_null_ptr
    if (present(streams) .and. c_associated(self%handle)) then
      fits = size(streams) == size(src)
      do i = 1, size(src)
        if (fits) fits = c_associated(streams(i)%ctx, self%contexts(i))
        if (fits) queues(i) = streams(i)%stream
      end do
      if (.not. fits) then
        refused = gpumem_dist_execute(self%handle, nothing(self), nothing(self))
        call refuse('execute_async: expected one stream of each member''s context in streams', stat, errmsg)
        return
      end if
    end if
    call finish(gpumem_dist_execute_async(self%handle, pointers_of(src), to, queues), stat, errmsg)
  end subroutine

  ! Whether src and dst fit the plan, and the addresses of dst. Without dst, src is also dst.
  logical function are_operands(self, src, to, dst, stat, errmsg) result(fit)
    class(gpumem_plan), intent(in) :: self
    type(gpumem_view), intent(in) :: src(:)
    type(c_ptr), allocatable, intent(out) :: to(:)
    type(gpumem_view), intent(in), optional :: dst(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    fit = hold('execute: src', self, self%read, src, stat, errmsg)
    if (.not. fit) return
    if (present(dst)) then
      fit = hold('execute: dst', self, self%written, dst, stat, errmsg)
      to = pointers_of(dst)
    else
      fit = hold('execute: src, which is dst too,', self, self%written, src, stat, errmsg)
      to = pointers_of(src)
    end if
  end function

  ! Whether x has one view per participant, with the layout's element size and enough elements. If there is no plan, the
  ! library refuses the call.
  logical function hold(what, plan, needed, x, stat, errmsg)
    character(*), intent(in) :: what
    class(gpumem_plan), intent(in) :: plan
    integer(int64), intent(in), allocatable :: needed(:)
    type(gpumem_view), intent(in) :: x(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: name
    integer :: i
    hold = .true.
    if (.not. c_associated(plan%handle)) return
    hold = size(x) == size(needed)
    if (.not. hold) call refuse(what // ' has ' // number(size(x, kind=int64)) // ' views; expected one for each member here, ' // &
        number(size(needed, kind=int64)), stat, errmsg)
    do i = 1, size(x)
      if (.not. hold) return
      if (needed(i) == 0) cycle
      name = what // ' of member ' // number(int(i, int64))
      hold = .not. has_gaps(name, x(i), stat, errmsg)
      if (.not. hold) return
      hold = x(i)%element_bytes == plan%element_bytes .and. x(i)%size() >= needed(i)
      if (.not. hold) call refuse(name // ' has ' // number(x(i)%size()) // ' elements of ' // number(x(i)%element_bytes) // &
          ' bytes; expected at least ' // number(needed(i)) // ' of ' // number(plan%element_bytes), stat, errmsg)
    end do
  end function

  ! ------------------------------------------------------------------------------------------------------------ reductions

  ! One value for all processes, with the same bits as the context's operation of that name on the whole array. x has
  ! one view per participant of this process. A participant without a box also needs a view that is set, because views
  ! have the type.
  subroutine reduce_i64(self, op, x, value, stat, errmsg)
    class(gpumem_plan), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x(:)
    integer(int64), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), target :: found(1)
    if (has_two_results(op, stat, errmsg)) return
    call reduce_to(self, op, x, gpumem_view(found), stat, errmsg)
    if (failed(stat)) return
    if (leaves_int64(x(1), found(1), stat, errmsg)) return
    value = found(1)
  end subroutine

  subroutine reduce_r64(self, op, x, value, stat, errmsg)
    class(gpumem_plan), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x(:)
    real(real64), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64), target :: found(1)
    if (has_two_results(op, stat, errmsg)) return
    call reduce_to(self, op, x, gpumem_view(found), stat, errmsg)
    if (.not. failed(stat)) value = found(1)
  end subroutine

  subroutine min_max_i64(self, x, low, high, stat, errmsg)
    class(gpumem_plan), intent(in) :: self
    type(gpumem_view), intent(in) :: x(:)
    integer(int64), intent(inout) :: low, high
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), target :: found(2)
    call reduce_to(self, gpumem_min_max, x, gpumem_view(found), stat, errmsg)
    if (failed(stat)) return
    if (leaves_int64(x(1), found(2), stat, errmsg)) return
    low = found(1)
    high = found(2)
  end subroutine

  subroutine min_max_r64(self, x, low, high, stat, errmsg)
    class(gpumem_plan), intent(in) :: self
    type(gpumem_view), intent(in) :: x(:)
    real(real64), intent(inout) :: low, high
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64), target :: found(2)
    call reduce_to(self, gpumem_min_max, x, gpumem_view(found), stat, errmsg)
    if (failed(stat)) return
    low = found(1)
    high = found(2)
  end subroutine

  subroutine reduce_to(self, op, x, result, stat, errmsg)
    class(gpumem_plan), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x(:), result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: refused
    if (.not. are_terms('reduce: x', self, x, result, pairs(op, 1_int64), stat, errmsg)) then
      refused = gpumem_dist_reduce(self%handle, result%dtype, op, nothing(self), result%pointer())
      return
    end if
    call finish(gpumem_dist_reduce(self%handle, x(1)%dtype, op, pointers_of(x), result%pointer()), stat, errmsg)
  end subroutine

  ! `index` counts from 1 in the array element order of the whole array.
  subroutine argreduce_i64(self, op, x, value, index, stat, errmsg)
    class(gpumem_plan), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x(:)
    integer(int64), intent(inout) :: value, index
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), target :: found(1), place
    call argreduce_to(self, op, x, gpumem_view(found), place, stat, errmsg)
    if (failed(stat)) return
    if (leaves_int64(x(1), found(1), stat, errmsg)) return
    value = found(1)
    index = place
  end subroutine

  subroutine argreduce_r64(self, op, x, value, index, stat, errmsg)
    class(gpumem_plan), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x(:)
    real(real64), intent(inout) :: value
    integer(int64), intent(inout) :: index
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64), target :: found(1)
    integer(int64) :: place
    call argreduce_to(self, op, x, gpumem_view(found), place, stat, errmsg)
    if (failed(stat)) return
    value = found(1)
    index = place
  end subroutine

  subroutine argreduce_to(self, op, x, value, index, stat, errmsg)
    class(gpumem_plan), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x(:), value
    integer(int64), intent(out) :: index
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), target :: from_zero
    integer(c_int32_t) :: refused
    index = 0
    from_zero = 0
    if (.not. are_terms('argreduce: x', self, x, value, 1_int64, stat, errmsg)) then
      refused = gpumem_dist_argreduce(self%handle, value%dtype, op, nothing(self), value%pointer(), c_loc(from_zero))
      return
    end if
    call finish(gpumem_dist_argreduce(self%handle, x(1)%dtype, op, pointers_of(x), value%pointer(), c_loc(from_zero)), stat, errmsg)
    index = from_zero + 1
  end subroutine

  ! If order_free, the bits are the same for every order of the elements, and participants read their boxes where they are.
  subroutine dot(self, x, y, value, stat, errmsg, order_free)
    class(gpumem_plan), intent(in) :: self
    type(gpumem_view), intent(in) :: x(:), y(:)
    real(real64), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical, intent(in), optional :: order_free
    real(real64), target :: found(1)
    integer(c_int32_t) :: code
    logical :: fit, in_any_order
    in_any_order = .false.
    if (present(order_free)) in_any_order = order_free
    fit = are_terms('dot: x', self, x, gpumem_view(found), 1_int64, stat, errmsg)
    if (fit) fit = are_terms('dot: y', self, y, gpumem_view(found), 1_int64, stat, errmsg)
    if (fit) then
      fit = x(1)%dtype == y(1)%dtype
      if (.not. fit) call refuse('dot: x(1) is ' // described(x(1)) // ', y(1) is ' // described(y(1)) // &
          '; expected elements of one type', stat, errmsg)
    end if
    if (fit .and. in_any_order) then
      code = gpumem_dist_dot_order_free(self%handle, x(1)%dtype, pointers_of(x), pointers_of(y), c_loc(found))
    else if (fit) then
      code = gpumem_dist_dot(self%handle, x(1)%dtype, pointers_of(x), pointers_of(y), c_loc(found))
    else if (in_any_order) then
      code = gpumem_dist_dot_order_free(self%handle, gpumem_f64, nothing(self), nothing(self), c_loc(found))
    else
      code = gpumem_dist_dot(self%handle, gpumem_f64, nothing(self), nothing(self), c_loc(found))
    end if
    if (.not. fit) return
    call finish(code, stat, errmsg)
    if (.not. failed(stat)) value = found(1)
  end subroutine

  subroutine nrm2(self, x, value, stat, errmsg)
    class(gpumem_plan), intent(in) :: self
    type(gpumem_view), intent(in) :: x(:)
    real(real64), intent(inout) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    real(real64), target :: found(1)
    integer(c_int32_t) :: refused
    if (.not. are_terms('nrm2: x', self, x, gpumem_view(found), 1_int64, stat, errmsg)) then
      refused = gpumem_dist_nrm2(self%handle, gpumem_f64, nothing(self), c_loc(found))
      return
    end if
    call finish(gpumem_dist_nrm2(self%handle, x(1)%dtype, pointers_of(x), c_loc(found)), stat, errmsg)
    if (.not. failed(stat)) value = found(1)
  end subroutine

  ! Whether the views fit the plan, have one type, and `result` has room for `count` results.
  logical function are_terms(what, self, x, result, count, stat, errmsg) result(fit)
    character(*), intent(in) :: what
    class(gpumem_plan), intent(in) :: self
    type(gpumem_view), intent(in) :: x(:), result
    integer(int64), intent(in) :: count
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    fit = are_of_one_type(what, x, stat, errmsg)
    if (fit) fit = hold(what, self, self%read, x, stat, errmsg)
    if (fit) fit = checked_result(what // ': the result', x(1)%dtype, result, count, stat, errmsg)
  end function

  logical function are_of_one_type(what, x, stat, errmsg) result(fit)
    character(*), intent(in) :: what
    type(gpumem_view), intent(in) :: x(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: i
    fit = size(x) > 0
    if (.not. fit) call refuse(what // ' has 0 views; expected one per member', stat, errmsg)
    do i = 1, size(x)
      if (fit) fit = is_real(what, x(i), stat, errmsg)
    end do
    if (.not. fit) return
    do i = 2, size(x)
      if (fit) fit = x(i)%dtype == x(1)%dtype
      if (.not. fit) then
        call refuse(what // '(1) is ' // described(x(1)) // ', the view of member ' // number(int(i, int64)) // ' is ' // &
            described(x(i)) // '; expected elements of one type', stat, errmsg)
        return
      end if
    end do
  end function

  ! This process's part of the plan.
  subroutine explain(self, text, format, stat, errmsg)
    class(gpumem_plan), intent(in) :: self
    character(:), allocatable, intent(out) :: text
    integer(c_int32_t), intent(in), optional :: format
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(kind=c_char), allocatable :: buffer(:)
    integer(c_int32_t) :: form, code
    integer(c_int64_t) :: needed
    form = gpumem_format_text
    if (present(format)) form = format
    text = ''
    code = gpumem_dist_explain(self%handle, form, cap=0_c_int64_t, needed=needed)
    if (code == gpumem_ok) then
      allocate (buffer(needed))
      code = gpumem_dist_explain(self%handle, form, buffer, needed)
      if (code == gpumem_ok) text = gpumem_text(buffer)
    end if
    call finish(code, stat, errmsg)
  end subroutine

  subroutine destroy_plan(self, stat, errmsg)
    class(gpumem_plan), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_dist_plan_destroy(self%handle), stat, errmsg)
    self%handle = c_null_ptr
  end subroutine

end module
