! SPDX-License-Identifier: Apache-2.0
! Reductions of contexts and streams, with results in memory.
module gpumem_queues
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use gpumem_constants
  use gpumem_c
  use gpumem_errors, only: finish, refuse, number
  use gpumem_views
  use gpumem_checks
  use gpumem_elementwise
  implicit none
  private
  public :: gpumem_queue

  ! All operations that contexts and streams have in common.
  type, abstract, extends(gpumem_elementwise_queue) :: gpumem_queue
  contains
    procedure :: reduce_to
    procedure :: argreduce_to
    procedure :: dot_to
    procedure :: nrm2_to
    procedure :: reduce_axis
    procedure :: reduce_axes
    procedure :: argreduce_axis_from_zero
    procedure :: segments_from_zero
    procedure :: by_index_from_zero
    procedure :: rows_by_index_from_zero
    procedure :: counts_from_zero
    procedure :: scan
    procedure :: scan_axis
    procedure :: scan_segments_from_zero
  end type

contains

  ! Each result is an int64 or real64 in memory, and gpumem_min_max has two. `status`, an int32 in memory, is the
  ! deferred status of asynchronous work. On a CUDA context, the results and status of a stream are in device, pinned or
  ! managed memory.

  ! result = the reduction of all elements of x, in the order of the elements of an array. x may be any section.
  subroutine reduce_to(self, op, x, result, stat, errmsg, status)
    class(gpumem_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: status
    integer(int64) :: extents(max_rank), strides(max_rank)
    integer(c_int32_t) :: code
    if (.not. is_real('reduce: x', x, stat, errmsg)) return
    if (.not. checked_result('reduce: result', x%dtype, result, pairs(op, 1_int64), stat, errmsg)) return
    call axes_of(x, extents, strides)
    if (step(x) == 0 .and. self%enqueues) then
      code = gpumem_reduce_view_async(self%ctx, x%dtype, op, int(x%rank, c_int32_t), extents, x%pointer(), strides, &
          result%pointer(), word(status), self%stream)
    else if (step(x) == 0) then
      code = gpumem_reduce_view(self%ctx, x%dtype, op, int(x%rank, c_int32_t), extents, x%pointer(), strides, result%pointer())
    else if (self%enqueues) then
      code = gpumem_reduce_async(self%ctx, x%dtype, op, x%pointer(), x%size(), step(x), result%pointer(), word(status), self%stream)
    else
      code = gpumem_reduce(self%ctx, x%dtype, op, x%pointer(), x%size(), step(x), result%pointer())
    end if
    call finish(code, stat, errmsg)
  end subroutine

  subroutine argreduce_to(self, op, x, value, index_from_zero, stat, errmsg)
    class(gpumem_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, value, index_from_zero
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: extents(max_rank), strides(max_rank)
    integer(c_int32_t) :: code
    if (.not. is_real('argreduce: x', x, stat, errmsg)) return
    if (.not. checked_result('argreduce: value', x%dtype, value, 1_int64, stat, errmsg)) return
    if (.not. checked_result('argreduce: index_from_zero', gpumem_i64, index_from_zero, 1_int64, stat, errmsg)) return
    call axes_of(x, extents, strides)
    if (step(x) == 0 .and. self%enqueues) then
      code = gpumem_argreduce_view_async(self%ctx, x%dtype, op, int(x%rank, c_int32_t), extents, x%pointer(), strides, &
          value%pointer(), index_from_zero%pointer(), self%stream)
    else if (step(x) == 0) then
      code = gpumem_argreduce_view(self%ctx, x%dtype, op, int(x%rank, c_int32_t), extents, x%pointer(), strides, &
          value%pointer(), index_from_zero%pointer())
    else if (self%enqueues) then
      code = gpumem_argreduce_async(self%ctx, x%dtype, op, x%pointer(), x%size(), step(x), value%pointer(), &
          index_from_zero%pointer(), self%stream)
    else
      code = gpumem_argreduce(self%ctx, x%dtype, op, x%pointer(), x%size(), step(x), value%pointer(), index_from_zero%pointer())
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! If order_free, the bits are the same for every order of the elements.
  subroutine dot_to(self, x, y, result, stat, errmsg, order_free)
    class(gpumem_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: x, y, result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    logical, intent(in), optional :: order_free
    integer(int64) :: extents(max_rank), strides(max_rank), of_y(max_rank)
    integer(c_int32_t) :: code, r
    logical :: in_any_order
    in_any_order = .false.
    if (present(order_free)) in_any_order = order_free
    if (.not. is_real('dot: x', x, stat, errmsg)) return
    if (.not. is_real('dot: y', y, stat, errmsg)) return
    if (.not. checked_result('dot: result', gpumem_f64, result, 1_int64, stat, errmsg)) return
    if (x%size() /= y%size() .or. x%dtype /= y%dtype .or. all(x%dtype /= [gpumem_f32, gpumem_f64])) then
      call refuse('dot: x is ' // described(x) // ', y is ' // described(y) // '; expected reals of one kind, and one size', &
          stat, errmsg)
      return
    end if
    if (in_any_order .or. step(x) == 0 .or. step(y) == 0) then
      if (.not. conforms('dot', 'x', x, 'y', y, stat=stat, errmsg=errmsg)) return
      call axes_of(y, extents, of_y)
      call axes_of(x, extents, strides)
      r = int(x%rank, c_int32_t)
      associate (c => self%ctx, p => x%pointer(), q => y%pointer(), to => result%pointer())
        if (in_any_order .and. self%enqueues) then
          code = gpumem_dot_order_free_async(c, x%dtype, r, extents, p, strides, q, of_y, to, self%stream)
        else if (in_any_order) then
          code = gpumem_dot_order_free(c, x%dtype, r, extents, p, strides, q, of_y, to)
        else if (x%dtype == gpumem_f32 .and. self%enqueues) then
          code = gpumem_dot_view_f32_async(c, r, extents, p, strides, q, of_y, to, self%stream)
        else if (x%dtype == gpumem_f32) then
          code = gpumem_dot_view_f32(c, r, extents, p, strides, q, of_y, to)
        else if (self%enqueues) then
          code = gpumem_dot_view_f64_async(c, r, extents, p, strides, q, of_y, to, self%stream)
        else
          code = gpumem_dot_view_f64(c, r, extents, p, strides, q, of_y, to)
        end if
      end associate
      call finish(code, stat, errmsg)
      return
    end if
    associate (c => self%ctx, p => x%pointer(), q => y%pointer(), n => x%size(), to => result%pointer())
      if (x%dtype == gpumem_f32 .and. self%enqueues) then
        code = gpumem_dot_f32_async(c, p, q, n, step(x), step(y), to, self%stream)
      else if (x%dtype == gpumem_f32) then
        code = gpumem_dot_f32(c, p, q, n, step(x), step(y), to)
      else if (self%enqueues) then
        code = gpumem_dot_f64_async(c, p, q, n, step(x), step(y), to, self%stream)
      else
        code = gpumem_dot_f64(c, p, q, n, step(x), step(y), to)
      end if
    end associate
    call finish(code, stat, errmsg)
  end subroutine

  subroutine nrm2_to(self, x, result, stat, errmsg)
    class(gpumem_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: x, result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: extents(max_rank), strides(max_rank)
    integer(c_int32_t) :: code, r
    if (.not. is_real('nrm2: x', x, stat, errmsg)) return
    if (.not. checked_result('nrm2: result', gpumem_f64, result, 1_int64, stat, errmsg)) return
    if (all(x%dtype /= [gpumem_f32, gpumem_f64])) then
      call refuse('nrm2: x is ' // described(x) // '; expected reals', stat, errmsg)
      return
    end if
    call axes_of(x, extents, strides)
    r = int(x%rank, c_int32_t)
    associate (c => self%ctx, p => x%pointer(), n => x%size(), to => result%pointer(), apart => step(x))
      if (x%dtype == gpumem_f32 .and. apart == 0 .and. self%enqueues) then
        code = gpumem_nrm2_view_f32_async(c, r, extents, p, strides, to, self%stream)
      else if (x%dtype == gpumem_f32 .and. apart == 0) then
        code = gpumem_nrm2_view_f32(c, r, extents, p, strides, to)
      else if (x%dtype == gpumem_f32 .and. self%enqueues) then
        code = gpumem_nrm2_f32_async(c, p, n, apart, to, self%stream)
      else if (x%dtype == gpumem_f32) then
        code = gpumem_nrm2_f32(c, p, n, apart, to)
      else if (apart == 0 .and. self%enqueues) then
        code = gpumem_nrm2_view_f64_async(c, r, extents, p, strides, to, self%stream)
      else if (apart == 0) then
        code = gpumem_nrm2_view_f64(c, r, extents, p, strides, to)
      else if (self%enqueues) then
        code = gpumem_nrm2_f64_async(c, p, n, apart, to, self%stream)
      else
        code = gpumem_nrm2_f64(c, p, n, apart, to)
      end if
    end associate
    call finish(code, stat, errmsg)
  end subroutine

  ! result = the reduction of x along dimension dim, as in SUM(x, dim): one result per column if dim is 1, one per row
  ! if it is 2. With three dimensions, the same for each x(:, :, b). gpumem_min_max gives result(2, ...), the minimum
  ! first.
  subroutine reduce_axis(self, op, x, dim, result, stat, errmsg, status)
    class(gpumem_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, result
    integer, intent(in) :: dim
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: status
    integer(int64) :: results
    integer(c_int32_t) :: axis, code
    if (.not. is_real('reduce_axis: x', x, stat, errmsg)) return
    if (.not. has_columns('reduce_axis: x', x, stat, errmsg)) return
    if (all(dim /= [1, 2])) then
      call refuse('reduce_axis: dim is ' // number(int(dim, int64)) // '; expected 1 or 2', stat, errmsg)
      return
    end if
    axis = merge(gpumem_axis_rows, gpumem_axis_cols, dim == 1)  ! the library's rows are Fortran's columns
    results = pairs(op, x%extent(3 - dim) * x%extent(3))
    if (.not. checked_result('reduce_axis: result', x%dtype, result, results, stat, errmsg)) return
    if (self%enqueues) then
      code = gpumem_reduce_axis_async(self%ctx, x%dtype, op, axis, x%pointer(), x%extent(2), x%extent(1), x%stride(2), &
          x%extent(3), x%stride(3), result%pointer(), word(status), self%stream)
    else
      code = gpumem_reduce_axis(self%ctx, x%dtype, op, axis, x%pointer(), x%extent(2), x%extent(1), x%stride(2), x%extent(3), &
          x%stride(3), result%pointer())
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! result = the reduction of any section x along several dimensions: one result per index of the others, in the order
  ! of the elements of an array. Results of reals may have the kind of x.
  subroutine reduce_axes(self, op, x, dims, result, stat, errmsg, status)
    class(gpumem_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, result
    integer, intent(in) :: dims(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: status
    integer(int64) :: extents(max_rank), strides(max_rank), results
    integer(c_int32_t) :: axes, code, r, kind
    integer :: d
    if (.not. is_real('reduce_axes: x', x, stat, errmsg)) return
    axes = 0
    results = pairs(op, 1_int64)
    do d = 1, size(dims)
      if (dims(d) < 1 .or. dims(d) > x%rank) then
        call refuse('reduce_axes: a dimension is ' // number(int(dims(d), int64)) // '; expected 1 to ' // &
            number(int(x%rank, int64)), stat, errmsg)
        return
      end if
      axes = ibset(axes, x%rank - dims(d))  ! the library's last axis is Fortran's first dimension
    end do
    do d = 1, x%rank
      if (all(dims /= d)) results = results * x%extent(d)
    end do
    if (x%dtype >= gpumem_f16 .and. result%dtype == x%dtype) then
      kind = x%dtype
      if (has_gaps('reduce_axes: result', result, stat, errmsg)) return
      if (result%size() < results) then
        call refuse('reduce_axes: result is ' // described(result) // '; expected ' // number(results) // ' or more', stat, errmsg)
        return
      end if
    else
      kind = gpumem_f64
      if (x%dtype < gpumem_f16) kind = merge(gpumem_i64, gpumem_u64, mod(x%dtype, 2) == 0)
      if (.not. checked_result('reduce_axes: result', x%dtype, result, results, stat, errmsg)) return
    end if
    call axes_of(x, extents, strides)
    r = int(x%rank, c_int32_t)
    if (self%enqueues) then
      code = gpumem_reduce_axes_async(self%ctx, x%dtype, op, r, extents, x%pointer(), strides, axes, result%pointer(), kind, &
          word(status), self%stream)
    else
      code = gpumem_reduce_axes(self%ctx, x%dtype, op, r, extents, x%pointer(), strides, axes, result%pointer(), kind)
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! value and index_from_zero = the minimum, maximum or largest magnitude along dimension dim, and its index there from
  ! 0, as MINLOC(x, dim) - 1. The dimensions are as in reduce_axis.
  subroutine argreduce_axis_from_zero(self, op, x, dim, value, index_from_zero, stat, errmsg, status)
    class(gpumem_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, value, index_from_zero
    integer, intent(in) :: dim
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: status
    integer(int64) :: lines
    integer(c_int32_t) :: axis, code
    if (.not. is_real('argreduce_axis_from_zero: x', x, stat, errmsg)) return
    if (.not. has_columns('argreduce_axis_from_zero: x', x, stat, errmsg)) return
    if (all(dim /= [1, 2])) then
      call refuse('argreduce_axis_from_zero: dim is ' // number(int(dim, int64)) // '; expected 1 or 2', stat, errmsg)
      return
    end if
    axis = merge(gpumem_axis_rows, gpumem_axis_cols, dim == 1)
    lines = x%extent(3 - dim) * x%extent(3)
    if (.not. checked_result('argreduce_axis_from_zero: value', x%dtype, value, lines, stat, errmsg)) return
    if (.not. checked_result('argreduce_axis_from_zero: index_from_zero', gpumem_i64, index_from_zero, lines, stat, errmsg)) return
    if (self%enqueues) then
      code = gpumem_argreduce_axis_async(self%ctx, x%dtype, op, axis, x%pointer(), x%extent(2), x%extent(1), x%stride(2), &
          x%extent(3), x%stride(3), value%pointer(), index_from_zero%pointer(), word(status), self%stream)
    else
      code = gpumem_argreduce_axis(self%ctx, x%dtype, op, axis, x%pointer(), x%extent(2), x%extent(1), x%stride(2), &
          x%extent(3), x%stride(3), value%pointer(), index_from_zero%pointer())
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! result(s) = the reduction of elements offsets(s) to offsets(s + 1) - 1, from 0.
  subroutine segments_from_zero(self, op, x, offsets_from_zero, result, stat, errmsg, status)
    class(gpumem_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, offsets_from_zero, result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: status
    integer(int64) :: segments
    integer(c_int32_t) :: code
    segments = offsets_from_zero%size() - 1
    if (.not. is_real('reduce_segments: x', x, stat, errmsg)) return
    if (has_gaps('reduce_segments: x', x, stat, errmsg)) return
    if (.not. checked_result('reduce_segments: offsets', gpumem_i64, offsets_from_zero, 1_int64, stat, errmsg)) return
    if (.not. checked_result('reduce_segments: result', x%dtype, result, pairs(op, segments), stat, errmsg)) return
    if (self%enqueues) then
      code = gpumem_reduce_segments_async(self%ctx, x%dtype, op, x%pointer(), x%size(), offsets_from_zero%pointer(), segments, &
          result%pointer(), word(status), self%stream)
    else
      code = gpumem_reduce_segments(self%ctx, x%dtype, op, x%pointer(), x%size(), offsets_from_zero%pointer(), segments, &
          result%pointer())
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! result(b + 1) = the reduction of the elements x(i) with index(i) == b, with bins and indices from 0.
  subroutine by_index_from_zero(self, op, x, index_from_zero, result, stat, errmsg, status)
    class(gpumem_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, index_from_zero, result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: status
    if (.not. is_real('by_index_from_zero: x', x, stat, errmsg)) return
    if (has_gaps('by_index_from_zero: x', x, stat, errmsg)) return
    if (x%size() /= index_from_zero%size()) then
      call refuse('by_index_from_zero: x has ' // number(x%size()) // ' elements, and the index has ' // &
          number(index_from_zero%size()), stat, errmsg)
      return
    end if
    if (.not. checked_result('by_index_from_zero: result', x%dtype, result, pairs(op, 0_int64), stat, errmsg)) return
    call run_by_index(self, x%dtype, op, x%pointer(), index_from_zero, result, result%size() / pairs(op, 1_int64), stat, errmsg, &
        status)
  end subroutine

  ! result(:, b + 1) = the reduction of the columns x(:, i) with index(i) == b, each row by its own, with bins and indices from
  ! 0. They are the rows of the C interface.
  subroutine rows_by_index_from_zero(self, op, x, index_from_zero, result, stat, errmsg, status)
    class(gpumem_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, index_from_zero, result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: status
    character(*), parameter :: name = 'rows_by_index_from_zero: '
    integer(int64) :: bins
    integer(c_int32_t) :: code
    if (.not. is_real(name // 'x', x, stat, errmsg)) return
    if (.not. has_columns(name // 'x', x, stat, errmsg)) return
    if (has_gaps(name // 'the index', index_from_zero, stat, errmsg)) return
    if (x%extent(3) /= 1 .or. x%extent(2) /= index_from_zero%size()) then
      call refuse(name // 'x is ' // described(x) // ', and the index has ' // number(index_from_zero%size()) // ' elements', &
          stat, errmsg)
      return
    end if
    if (.not. checked_result(name // 'result', x%dtype, result, pairs(op, 0_int64), stat, errmsg)) return
    bins = result%size() / max(pairs(op, x%extent(1)), 1_int64)
    if (self%enqueues) then
      code = gpumem_reduce_rows_by_index_async(self%ctx, x%dtype, op, x%pointer(), x%extent(2), x%extent(1), x%stride(2), &
          index_from_zero%dtype, index_from_zero%pointer(), result%pointer(), bins, word(status), self%stream)
    else
      code = gpumem_reduce_rows_by_index(self%ctx, x%dtype, op, x%pointer(), x%extent(2), x%extent(1), x%stride(2), &
          index_from_zero%dtype, index_from_zero%pointer(), result%pointer(), bins)
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! result(b + 1) = how many numbers of the index are b, from 0.
  subroutine counts_from_zero(self, index_from_zero, result, stat, errmsg, status)
    class(gpumem_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: index_from_zero, result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: status
    if (.not. checked_result('counts_from_zero: result', gpumem_i64, result, 0_int64, stat, errmsg)) return
    call run_by_index(self, gpumem_i64, gpumem_sum, c_null_ptr, index_from_zero, result, result%size(), stat, errmsg, status)
  end subroutine

  subroutine run_by_index(self, dtype, op, x, index, result, bins, stat, errmsg, status)
    class(gpumem_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: dtype, op
    type(c_ptr), intent(in) :: x
    type(gpumem_view), intent(in) :: index, result
    integer(int64), intent(in) :: bins
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: status
    integer(c_int32_t) :: code
    if (has_gaps('the index', index, stat, errmsg)) return
    if (self%enqueues) then
      code = gpumem_reduce_by_index_async(self%ctx, dtype, op, x, index%dtype, index%pointer(), index%size(), &
          result%pointer(), bins, word(status), self%stream)
    else
      code = gpumem_reduce_by_index(self%ctx, dtype, op, x, index%dtype, index%pointer(), index%size(), result%pointer(), bins)
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! result(i) = the reduction of x(1:i), or with exclusive=.true. of x(1:i - 1), in array element order. The result has
  ! the type of x, or int64 or real64.
  subroutine scan(self, op, x, result, exclusive, stat, errmsg, status)
    class(gpumem_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, result
    logical, intent(in), optional :: exclusive
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: status
    integer(c_int32_t) :: without, code
    if (.not. are_scanned('scan', x, result, stat, errmsg)) return
    without = 0
    if (present(exclusive)) without = merge(1, 0, exclusive)
    if (self%enqueues) then
      code = gpumem_scan_async(self%ctx, x%dtype, op, without, x%pointer(), x%size(), result%pointer(), result%dtype, &
          word(status), self%stream)
    else
      code = gpumem_scan(self%ctx, x%dtype, op, without, x%pointer(), x%size(), result%pointer(), result%dtype)
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! As scan, along dimension dim of any section, as SUM(x, dim) adds. The result has the shape of x.
  subroutine scan_axis(self, op, x, dim, result, exclusive, stat, errmsg, status)
    class(gpumem_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, result
    integer, intent(in) :: dim
    logical, intent(in), optional :: exclusive
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: status
    integer(int64) :: extents(max_rank), strides(max_rank), to_strides(max_rank)
    integer(c_int32_t) :: without, code, r, axis
    if (.not. is_real('scan_axis: x', x, stat, errmsg)) return
    if (.not. is_real('scan_axis: result', result, stat, errmsg)) return
    if (dim < 1 .or. dim > x%rank) then
      call refuse('scan_axis: dim is ' // number(int(dim, int64)) // '; expected 1 to ' // number(int(x%rank, int64)), stat, errmsg)
      return
    end if
    if (result%rank /= x%rank .or. any(result%extent /= x%extent)) then
      call refuse('scan_axis: x is ' // described(x) // ', result is ' // described(result) // '; expected one shape', stat, errmsg)
      return
    end if
    call axes_of(result, extents, to_strides)
    call axes_of(x, extents, strides)
    r = int(x%rank, c_int32_t)
    axis = int(x%rank - dim, c_int32_t)  ! the library's last axis is Fortran's first dimension
    without = 0
    if (present(exclusive)) without = merge(1, 0, exclusive)
    if (self%enqueues) then
      code = gpumem_scan_axis_async(self%ctx, x%dtype, op, without, r, extents, axis, x%pointer(), strides, result%pointer(), &
          to_strides, result%dtype, word(status), self%stream)
    else
      code = gpumem_scan_axis(self%ctx, x%dtype, op, without, r, extents, axis, x%pointer(), strides, result%pointer(), &
          to_strides, result%dtype)
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! As scan, for the elements offsets(s) to offsets(s + 1) - 1, from 0. Results of elements in no segment stay as they are.
  subroutine scan_segments_from_zero(self, op, x, offsets_from_zero, result, exclusive, stat, errmsg, status)
    class(gpumem_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, offsets_from_zero, result
    logical, intent(in), optional :: exclusive
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: status
    integer(int64) :: segments
    integer(c_int32_t) :: without, code
    if (.not. are_scanned('scan_segments', x, result, stat, errmsg)) return
    if (.not. checked_result('scan_segments: offsets', gpumem_i64, offsets_from_zero, 1_int64, stat, errmsg)) return
    segments = offsets_from_zero%size() - 1
    without = 0
    if (present(exclusive)) without = merge(1, 0, exclusive)
    if (self%enqueues) then
      code = gpumem_scan_segments_async(self%ctx, x%dtype, op, without, x%pointer(), x%size(), offsets_from_zero%pointer(), &
          segments, result%pointer(), result%dtype, word(status), self%stream)
    else
      code = gpumem_scan_segments(self%ctx, x%dtype, op, without, x%pointer(), x%size(), offsets_from_zero%pointer(), segments, &
          result%pointer(), result%dtype)
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! Whether x and result are contiguous, with as many elements.
  logical function are_scanned(what, x, result, stat, errmsg)
    character(*), intent(in) :: what
    type(gpumem_view), intent(in) :: x, result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    are_scanned = is_real(what // ': x', x, stat, errmsg)
    if (are_scanned) are_scanned = .not. has_gaps(what // ': x', x, stat, errmsg)
    if (are_scanned) are_scanned = is_real(what // ': result', result, stat, errmsg)
    if (are_scanned) are_scanned = .not. has_gaps(what // ': result', result, stat, errmsg)
    if (.not. are_scanned) return
    are_scanned = result%size() == x%size()
    if (.not. are_scanned) call refuse(what // ': x is ' // described(x) // ', result is ' // described(result) // &
        '; expected as many elements', stat, errmsg)
  end function

end module
