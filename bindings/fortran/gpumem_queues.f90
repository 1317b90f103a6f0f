! SPDX-License-Identifier: Apache-2.0
! The operations that a context does at once, and a stream in its order.
!
! Order       Fortran's arrays are column-major: the library's rows are their columns. Dimensions, bounds and numbers in Fortran's own
!             variables count from 1. Numbers that lie in memory for the library (an index, offsets, the place that is found) count
!             from 0 there, and the names of their arguments end in _from_zero.
! Enqueued    What a stream works on must stay, and stay unchanged, until the stream has passed it.
module gpumem_queues
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use gpumem_constants
  use gpumem_c
  use gpumem_errors, only: finish, refuse, number
  use gpumem_views
  implicit none
  private
  public :: gpumem_queue, checked_result

  type, abstract :: gpumem_queue
    type(c_ptr) :: ctx = c_null_ptr     ! the handles of C, for what is not here
    type(c_ptr) :: stream = c_null_ptr  ! null: the context's own
    logical :: enqueues = .false.
  contains
    procedure :: copy
    procedure :: fill
    procedure :: transpose => transpose_views
    procedure :: permute
    procedure, private :: axpby_r32, axpby_r64
    generic :: axpby => axpby_r32, axpby_r64
    procedure :: convert
    procedure :: resize
    procedure :: prefetch
    procedure :: reduce_to
    procedure :: argreduce_to
    procedure :: dot_to
    procedure :: nrm2_to
    procedure :: reduce_axis
    procedure :: segments_from_zero
    procedure :: gather_from_zero
    procedure :: scatter_from_zero
  end type

contains

  ! dst = src, of one shape, in any kinds of memory.
  subroutine copy(self, dst, src, stat, errmsg)
    class(gpumem_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: dst, src
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: row, rows, slices, to(2), from(2)
    integer(c_int32_t) :: code
    integer :: m
    if (.not. conforms('copy', dst, src, stat, errmsg)) return
    m = dst%rank
    if (dst%size() > 0) m = min(dst%merged(), src%merged())
    if (dst%rank - m > 2) then
      call refuse('copy: more than two dimensions have gaps between them', stat, errmsg)
      return
    end if
    row = product(dst%extent(:m)) * dst%element_bytes
    if (dst%rank - m == 0) then
      if (self%enqueues) then
        code = gpumem_copy_async(self%ctx, dst%pointer(), src%pointer(), row, self%stream)
      else
        code = gpumem_copy(self%ctx, dst%pointer(), src%pointer(), row)
      end if
    else
      rows = dst%extent(m + 1)
      slices = dst%extent(min(m + 2, dst%rank))
      if (dst%rank - m == 1) slices = 1
      to = dst%stride([m + 1, min(m + 2, dst%rank)]) * dst%element_bytes
      from = src%stride([m + 1, min(m + 2, dst%rank)]) * dst%element_bytes
      if (slices == 1 .and. self%enqueues) then
        code = gpumem_copy_2d_async(self%ctx, dst%pointer(), to(1), src%pointer(), from(1), row, rows, self%stream)
      else if (slices == 1) then
        code = gpumem_copy_2d(self%ctx, dst%pointer(), to(1), src%pointer(), from(1), row, rows)
      else if (self%enqueues) then
        code = gpumem_copy_3d_async(self%ctx, dst%pointer(), to(1), to(2), src%pointer(), from(1), from(2), row, rows, slices, &
            self%stream)
      else
        code = gpumem_copy_3d(self%ctx, dst%pointer(), to(1), to(2), src%pointer(), from(1), from(2), row, rows, slices)
      end if
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! Every element of dst = value, which is of dst's type and kind.
  subroutine fill(self, dst, value, stat, errmsg)
    class(gpumem_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: dst
    class(*), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int8), target :: pattern(16)
    integer(int64) :: cols, bytes, pitch
    integer(c_int32_t) :: code
    integer :: m
    bytes = dst%element_bytes
    if (.not. pattern_of(value, dst, pattern)) then
      call refuse('fill: the value is of another type or kind than the elements', stat, errmsg)
      return
    end if
    m = dst%rank
    if (dst%size() > 0) m = dst%merged()
    if (dst%rank - m > 1) then
      call refuse('fill: more than one dimension has gaps between its parts', stat, errmsg)
      return
    end if
    cols = product(dst%extent(:m))
    if (m == dst%rank) then
      if (self%enqueues) then
        code = gpumem_fill_async(self%ctx, dst%pointer(), c_loc(pattern), bytes, cols, self%stream)
      else
        code = gpumem_fill(self%ctx, dst%pointer(), c_loc(pattern), bytes, cols)
      end if
    else
      pitch = dst%stride(m + 1) * bytes
      if (self%enqueues) then
        code = gpumem_fill_2d_async(self%ctx, dst%pointer(), pitch, c_loc(pattern), bytes, cols, dst%extent(m + 1), self%stream)
      else
        code = gpumem_fill_2d(self%ctx, dst%pointer(), pitch, c_loc(pattern), bytes, cols, dst%extent(m + 1))
      end if
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! The bytes of a value that has the type of dst's elements.
  logical function pattern_of(value, dst, pattern) result(fits)
    class(*), intent(in) :: value
    type(gpumem_view), intent(in) :: dst
    integer(int8), intent(out) :: pattern(16)
    integer :: bytes
    bytes = int(dst%element_bytes)
    pattern = 0
    fits = .false.
    select type (value)
    type is (integer(int8))
      fits = dst%dtype == gpumem_i8 .or. dst%dtype == gpumem_u8
      if (fits) pattern(:bytes) = transfer(value, pattern, bytes)
    type is (integer(int16))
      fits = any(dst%dtype == [gpumem_i16, gpumem_u16, gpumem_f16, gpumem_bf16])
      if (fits) pattern(:bytes) = transfer(value, pattern, bytes)
    type is (integer(int32))
      fits = dst%dtype == gpumem_i32 .or. dst%dtype == gpumem_u32
      if (fits) pattern(:bytes) = transfer(value, pattern, bytes)
    type is (integer(int64))
      fits = dst%dtype == gpumem_i64 .or. dst%dtype == gpumem_u64
      if (fits) pattern(:bytes) = transfer(value, pattern, bytes)
    type is (real(real32))
      fits = dst%dtype == gpumem_f32
      if (fits) pattern(:bytes) = transfer(value, pattern, bytes)
    type is (real(real64))
      fits = dst%dtype == gpumem_f64
      if (fits) pattern(:bytes) = transfer(value, pattern, bytes)
    type is (complex(real32))
      fits = dst%dtype == no_dtype .and. bytes == 8
      if (fits) pattern(:bytes) = transfer(value, pattern, bytes)
    type is (complex(real64))
      fits = dst%dtype == no_dtype .and. bytes == 16
      if (fits) pattern(:bytes) = transfer(value, pattern, bytes)
    end select
  end function

  ! dst = TRANSPOSE(src); of rank 3, each dst(:, :, b) = TRANSPOSE(src(:, :, b)). The first dimension has no gaps between its elements.
  subroutine transpose_views(self, src, dst, stat, errmsg)
    class(gpumem_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: src, dst
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: bytes
    integer(c_int32_t) :: code
    bytes = src%element_bytes
    if (.not. has_columns('transpose: src', src, stat, errmsg)) return
    if (.not. has_columns('transpose: dst', dst, stat, errmsg)) return
    if (src%rank /= dst%rank .or. src%element_bytes /= dst%element_bytes .or. src%dtype /= dst%dtype .or. &
        any(src%extent(:3) /= dst%extent([2, 1, 3]))) then
      call refuse('transpose: src is ' // shape_of(src) // ', dst is ' // shape_of(dst), stat, errmsg)
      return
    end if
    associate (cols => src%extent(1), rows => src%extent(2), batches => src%extent(3))
      if (src%rank == 2 .and. self%enqueues) then
        code = gpumem_transpose_async(self%ctx, bytes, rows, cols, src%pointer(), src%stride(2), dst%pointer(), dst%stride(2), &
            self%stream)
      else if (src%rank == 2) then
        code = gpumem_transpose(self%ctx, bytes, rows, cols, src%pointer(), src%stride(2), dst%pointer(), dst%stride(2))
      else if (self%enqueues) then
        code = gpumem_transpose_batched_async(self%ctx, bytes, rows, cols, src%pointer(), src%stride(2), src%stride(3), &
            dst%pointer(), dst%stride(2), dst%stride(3), batches, self%stream)
      else
        code = gpumem_transpose_batched(self%ctx, bytes, rows, cols, src%pointer(), src%stride(2), src%stride(3), &
            dst%pointer(), dst%stride(2), dst%stride(3), batches)
      end if
    end associate
    call finish(code, stat, errmsg)
  end subroutine

  ! Dimension d of dst is dimension order(d) of src, counted from 1: dst(i, j, k) = src(j, k, i) for order = [2, 3, 1].
  subroutine permute(self, src, order, dst, stat, errmsg)
    class(gpumem_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: src, dst
    integer, intent(in) :: order(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: bytes, extents(size(src%extent)), from(size(src%extent)), to(size(src%extent))
    integer(c_int32_t) :: axes(size(src%extent)), code
    integer :: r
    r = src%rank
    if (size(order) /= r .or. dst%rank /= r) then
      call refuse('permute: src, order and dst are of different ranks', stat, errmsg)
      return
    else if (any(order < 1 .or. order > r)) then
      call refuse('permute: order names a dimension that src does not have', stat, errmsg)
      return
    else if (any(src%extent(order) /= dst%extent(:r)) .or. src%element_bytes /= dst%element_bytes .or. src%dtype /= dst%dtype) then
      call refuse('permute: src is ' // shape_of(src) // ', dst is ' // shape_of(dst), stat, errmsg)
      return
    end if
    ! The library's last axis is the first dimension.
    extents(:r) = src%extent(r:1:-1)
    axes(:r) = int(r - order(r:1:-1), c_int32_t)
    from(:r) = src%stride(r:1:-1)
    to(:r) = dst%stride(r:1:-1)
    bytes = src%element_bytes
    if (self%enqueues) then
      code = gpumem_permute_async(self%ctx, bytes, int(r, c_int32_t), extents, axes, src%pointer(), from, dst%pointer(), to, &
          self%stream)
    else
      code = gpumem_permute(self%ctx, bytes, int(r, c_int32_t), extents, axes, src%pointer(), from, dst%pointer(), to)
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! z = alpha * x + beta * y, of reals of alpha's kind and without gaps. An operand whose factor is 0 is not read: z may stand for it.
  subroutine axpby_r32(self, alpha, x, beta, y, z, stat, errmsg)
    class(gpumem_queue), intent(in) :: self
    real(real32), intent(in) :: alpha, beta
    type(gpumem_view), intent(in) :: x, y, z
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    if (.not. conforms('axpby', z, x, stat, errmsg, gpumem_f32)) return
    if (.not. conforms('axpby', z, y, stat, errmsg, gpumem_f32)) return
    if (self%enqueues) then
      code = gpumem_axpby_f32_async(self%ctx, alpha, x%pointer(), beta, y%pointer(), z%pointer(), z%size(), self%stream)
    else
      code = gpumem_axpby_f32(self%ctx, alpha, x%pointer(), beta, y%pointer(), z%pointer(), z%size())
    end if
    call finish(code, stat, errmsg)
  end subroutine

  subroutine axpby_r64(self, alpha, x, beta, y, z, stat, errmsg)
    class(gpumem_queue), intent(in) :: self
    real(real64), intent(in) :: alpha, beta
    type(gpumem_view), intent(in) :: x, y, z
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    if (.not. conforms('axpby', z, x, stat, errmsg, gpumem_f64)) return
    if (.not. conforms('axpby', z, y, stat, errmsg, gpumem_f64)) return
    if (self%enqueues) then
      code = gpumem_axpby_f64_async(self%ctx, alpha, x%pointer(), beta, y%pointer(), z%pointer(), z%size(), self%stream)
    else
      code = gpumem_axpby_f64(self%ctx, alpha, x%pointer(), beta, y%pointer(), z%pointer(), z%size())
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! dst = src as another type, of one shape and without gaps.
  subroutine convert(self, src, dst, stat, errmsg)
    class(gpumem_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: src, dst
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    if (src%rank /= dst%rank .or. any(src%extent /= dst%extent) .or. .not. (src%contiguous() .and. dst%contiguous())) then
      call refuse('convert: src is ' // shape_of(src) // ', dst is ' // shape_of(dst) // '; expected one shape, without gaps', &
          stat, errmsg)
      return
    end if
    if (self%enqueues) then
      code = gpumem_convert_async(self%ctx, src%dtype, src%pointer(), dst%dtype, dst%pointer(), dst%size(), self%stream)
    else
      code = gpumem_convert(self%ctx, src%dtype, src%pointer(), dst%dtype, dst%pointer(), dst%size())
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! Images are (width, height), or (channels, width, height) of 1 to 4 channels, as they lie in a file row by row.
  subroutine resize(self, filter, src, dst, stat, errmsg)
    class(gpumem_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: filter
    type(gpumem_view), intent(in) :: src, dst
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: channels, code
    integer(int64) :: from, to
    integer :: w
    w = src%rank - 1
    if (all(src%rank /= [2, 3]) .or. dst%rank /= src%rank .or. src%merged() < w .or. dst%merged() < w .or. &
        src%dtype /= dst%dtype) then
      call refuse('resize: src or dst is no (width, height) or (channels, width, height) without gaps in its rows', stat, errmsg)
      return
    end if
    channels = 1
    if (w == 2) channels = int(src%extent(1), c_int32_t)
    if (w == 2 .and. dst%extent(1) /= src%extent(1)) then
      call refuse('resize: src is ' // shape_of(src) // ', dst is ' // shape_of(dst), stat, errmsg)
      return
    end if
    from = src%stride(w + 1) * src%element_bytes
    to = dst%stride(w + 1) * dst%element_bytes
    if (self%enqueues) then
      code = gpumem_resize_2d_async(self%ctx, filter, src%dtype, channels, src%pointer(), src%extent(w + 1), src%extent(w), from, &
          dst%pointer(), dst%extent(w + 1), dst%extent(w), to, self%stream)
    else
      code = gpumem_resize_2d(self%ctx, filter, src%dtype, channels, src%pointer(), src%extent(w + 1), src%extent(w), from, &
          dst%pointer(), dst%extent(w + 1), dst%extent(w), to)
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! Moves the pages of managed memory to a device.
  subroutine prefetch(self, x, device, stat, errmsg)
    class(gpumem_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: x
    integer(c_int32_t), intent(in) :: device
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    if (has_gaps('prefetch: x', x, stat, errmsg)) return
    if (self%enqueues) then
      code = gpumem_managed_prefetch_async(self%ctx, x%pointer(), x%size() * x%element_bytes, device, self%stream)
    else
      code = gpumem_managed_prefetch(self%ctx, x%pointer(), x%size() * x%element_bytes, device)
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! The results of these lie in memory: an int64 or real64 each, two of them for gpumem_min_max. `status`, an int32, gets what only
  ! the run of an enqueued operation can find. On a CUDA context a stream takes them in device, pinned or managed memory.

  ! result = the reduction of all elements of x: an array without gaps, or one dimension with a stride.
  subroutine reduce_to(self, op, x, result, status, stat, errmsg)
    class(gpumem_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, result
    type(gpumem_view), intent(in), optional :: status
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    if (.not. is_sequence('reduce: x', x, stat, errmsg)) return
    if (.not. checked_result('reduce: result', x%dtype, result, pairs(op, 1_int64), stat, errmsg)) return
    if (self%enqueues) then
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
    integer(c_int32_t) :: code
    if (.not. is_sequence('argreduce: x', x, stat, errmsg)) return
    if (.not. checked_result('argreduce: value', x%dtype, value, 1_int64, stat, errmsg)) return
    if (.not. checked_result('argreduce: index_from_zero', gpumem_i64, index_from_zero, 1_int64, stat, errmsg)) return
    if (self%enqueues) then
      code = gpumem_argreduce_async(self%ctx, x%dtype, op, x%pointer(), x%size(), step(x), value%pointer(), &
          index_from_zero%pointer(), self%stream)
    else
      code = gpumem_argreduce(self%ctx, x%dtype, op, x%pointer(), x%size(), step(x), value%pointer(), index_from_zero%pointer())
    end if
    call finish(code, stat, errmsg)
  end subroutine

  subroutine dot_to(self, x, y, result, stat, errmsg)
    class(gpumem_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: x, y, result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    if (.not. is_sequence('dot: x', x, stat, errmsg)) return
    if (.not. is_sequence('dot: y', y, stat, errmsg)) return
    if (.not. checked_result('dot: result', gpumem_f64, result, 1_int64, stat, errmsg)) return
    if (x%size() /= y%size() .or. x%dtype /= y%dtype .or. all(x%dtype /= [gpumem_f32, gpumem_f64])) then
      call refuse('dot: x and y are not as many reals of one kind', stat, errmsg)
      return
    end if
    associate (c => self%ctx, p => x%pointer(), q => y%pointer(), n => x%size(), r => result%pointer())
      if (x%dtype == gpumem_f32 .and. self%enqueues) then
        code = gpumem_dot_f32_async(c, p, q, n, step(x), step(y), r, self%stream)
      else if (x%dtype == gpumem_f32) then
        code = gpumem_dot_f32(c, p, q, n, step(x), step(y), r)
      else if (self%enqueues) then
        code = gpumem_dot_f64_async(c, p, q, n, step(x), step(y), r, self%stream)
      else
        code = gpumem_dot_f64(c, p, q, n, step(x), step(y), r)
      end if
    end associate
    call finish(code, stat, errmsg)
  end subroutine

  subroutine nrm2_to(self, x, result, stat, errmsg)
    class(gpumem_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: x, result
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    if (.not. is_sequence('nrm2: x', x, stat, errmsg)) return
    if (.not. checked_result('nrm2: result', gpumem_f64, result, 1_int64, stat, errmsg)) return
    if (all(x%dtype /= [gpumem_f32, gpumem_f64])) then
      call refuse('nrm2: x is not of reals', stat, errmsg)
      return
    end if
    associate (c => self%ctx, p => x%pointer(), n => x%size(), r => result%pointer())
      if (x%dtype == gpumem_f32 .and. self%enqueues) then
        code = gpumem_nrm2_f32_async(c, p, n, step(x), r, self%stream)
      else if (x%dtype == gpumem_f32) then
        code = gpumem_nrm2_f32(c, p, n, step(x), r)
      else if (self%enqueues) then
        code = gpumem_nrm2_f64_async(c, p, n, step(x), r, self%stream)
      else
        code = gpumem_nrm2_f64(c, p, n, step(x), r)
      end if
    end associate
    call finish(code, stat, errmsg)
  end subroutine

  ! result = the reduction of x along dimension dim, 1 or 2, as SUM(x, dim): one result for each column of x where dim is 1, for each
  ! row where it is 2. Of rank 3, of each x(:, :, b). gpumem_min_max gives result(2, ...), the minimum first.
  subroutine reduce_axis(self, op, x, dim, result, status, stat, errmsg)
    class(gpumem_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, result
    integer, intent(in) :: dim
    type(gpumem_view), intent(in), optional :: status
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: results
    integer(c_int32_t) :: axis, code
    if (.not. has_columns('reduce_axis: x', x, stat, errmsg)) return
    if (all(dim /= [1, 2])) then
      call refuse('reduce_axis: dim is ' // number(int(dim, int64)) // ', expected 1 or 2', stat, errmsg)
      return
    end if
    axis = merge(gpumem_axis_rows, gpumem_axis_cols, dim == 1)  ! the library's rows are the columns
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

  ! result(s) = the reduction of the elements offsets(s) to offsets(s + 1) - 1, counted from 0.
  subroutine segments_from_zero(self, op, x, offsets_from_zero, result, status, stat, errmsg)
    class(gpumem_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: op
    type(gpumem_view), intent(in) :: x, offsets_from_zero, result
    type(gpumem_view), intent(in), optional :: status
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: segments
    integer(c_int32_t) :: code
    segments = offsets_from_zero%size() - 1
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

  ! dst(..., i) = src(..., index(i)), the index counted from 0.
  subroutine gather_from_zero(self, src, index_from_zero, dst, status, stat, errmsg)
    class(gpumem_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: src, index_from_zero, dst
    type(gpumem_view), intent(in), optional :: status
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: row, from, to
    integer(c_int32_t) :: code
    if (.not. rows_fit('gather', src, dst, index_from_zero, dst, stat, errmsg)) return
    row = product(src%extent(:src%rank - 1)) * src%element_bytes
    from = src%stride(src%rank) * src%element_bytes
    to = dst%stride(dst%rank) * dst%element_bytes
    if (self%enqueues) then
      code = gpumem_gather_async(self%ctx, row, src%pointer(), src%extent(src%rank), from, index_from_zero%dtype, &
          index_from_zero%pointer(), index_from_zero%size(), dst%pointer(), to, word(status), self%stream)
    else
      code = gpumem_gather(self%ctx, row, src%pointer(), src%extent(src%rank), from, index_from_zero%dtype, &
          index_from_zero%pointer(), index_from_zero%size(), dst%pointer(), to)
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! dst(..., index(i)) = src(..., i), the index counted from 0.
  subroutine scatter_from_zero(self, src, index_from_zero, dst, status, stat, errmsg)
    class(gpumem_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: src, index_from_zero, dst
    type(gpumem_view), intent(in), optional :: status
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: row, from, to
    integer(c_int32_t) :: code
    if (.not. rows_fit('scatter', src, dst, index_from_zero, src, stat, errmsg)) return
    row = product(src%extent(:src%rank - 1)) * src%element_bytes
    from = src%stride(src%rank) * src%element_bytes
    to = dst%stride(dst%rank) * dst%element_bytes
    if (self%enqueues) then
      code = gpumem_scatter_async(self%ctx, row, src%pointer(), from, index_from_zero%dtype, index_from_zero%pointer(), &
          index_from_zero%size(), dst%pointer(), dst%extent(dst%rank), to, word(status), self%stream)
    else
      code = gpumem_scatter(self%ctx, row, src%pointer(), from, index_from_zero%dtype, index_from_zero%pointer(), &
          index_from_zero%size(), dst%pointer(), dst%extent(dst%rank), to)
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! ---------------------------------------------------------------------------------------------------- what is checked

  function shape_of(v) result(text)
    type(gpumem_view), intent(in) :: v
    character(:), allocatable :: text
    integer :: d
    text = '('
    do d = 1, v%rank
      text = text // number(v%extent(d))
      if (d < v%rank) text = text // ', '
    end do
    text = text // ')'
  end function

  ! Two operands of one type and shape; where the type is said, without gaps.
  logical function conforms(what, a, b, stat, errmsg, dtype)
    character(*), intent(in) :: what
    type(gpumem_view), intent(in) :: a, b
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t), intent(in), optional :: dtype
    conforms = a%dtype == b%dtype .and. a%element_bytes == b%element_bytes
    if (present(dtype)) conforms = conforms .and. a%dtype == dtype
    if (.not. conforms) then
      call refuse(what // ': the operands are of different types', stat, errmsg)
      return
    end if
    conforms = a%rank == b%rank .and. all(a%extent == b%extent)
    if (.not. conforms) then
      call refuse(what // ': an operand is ' // shape_of(a) // ', another ' // shape_of(b), stat, errmsg)
      return
    end if
    if (.not. present(dtype)) return
    conforms = a%contiguous() .and. b%contiguous()
    if (.not. conforms) call refuse(what // ': an operand has gaps between its elements', stat, errmsg)
  end function

  logical function has_gaps(what, x, stat, errmsg)
    character(*), intent(in) :: what
    type(gpumem_view), intent(in) :: x
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    has_gaps = .not. x%contiguous()
    if (has_gaps) call refuse(what // ' has gaps between its elements', stat, errmsg)
  end function

  ! Of rank 2 or 3, each column without gaps.
  logical function has_columns(what, x, stat, errmsg)
    character(*), intent(in) :: what
    type(gpumem_view), intent(in) :: x
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    has_columns = any(x%rank == [2, 3]) .and. x%stride(1) == 1
    if (.not. has_columns) call refuse(what // ' is not of rank 2 or 3 with columns without gaps', stat, errmsg)
  end function

  logical function is_sequence(what, x, stat, errmsg)
    character(*), intent(in) :: what
    type(gpumem_view), intent(in) :: x
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    is_sequence = x%rank == 1 .or. x%contiguous()
    if (.not. is_sequence) call refuse(what // ' has gaps between its elements, and more than one dimension', stat, errmsg)
  end function

  pure integer(int64) function step(x)
    type(gpumem_view), intent(in) :: x
    step = merge(x%stride(1), 1_int64, x%rank == 1)
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

  ! Room for `count` results of reductions of elements of a type.
  logical function checked_result(what, dtype, result, count, stat, errmsg) result(fits)
    character(*), intent(in) :: what
    integer(c_int32_t), intent(in) :: dtype
    type(gpumem_view), intent(in) :: result
    integer(int64), intent(in) :: count
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (dtype >= gpumem_f16) then
      fits = result%dtype == gpumem_f64
    else
      fits = any(result%dtype == [gpumem_i64, gpumem_u64])
    end if
    fits = fits .and. result%contiguous() .and. result%size() >= count
    if (.not. fits) call refuse(what // ' is not ' // number(count) // ' or more of ' // &
        trim(merge('real64', 'int64 ', dtype >= gpumem_f16)) // ' without gaps', stat, errmsg)
  end function

  ! src and dst have columns of one length along their last dimension, and `many` has one for each number of the index.
  logical function rows_fit(what, src, dst, index, many, stat, errmsg) result(fit)
    character(*), intent(in) :: what
    type(gpumem_view), intent(in) :: src, dst, index, many
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer :: r
    r = src%rank
    fit = .false.
    if (has_gaps(what // ': index', index, stat, errmsg)) return
    if (r < 1 .or. dst%rank /= r .or. src%merged() < r - 1 .or. dst%merged() < r - 1 .or. &
        any(src%extent(:r - 1) /= dst%extent(:r - 1)) .or. src%dtype /= dst%dtype) then
      call refuse(what // ': src is ' // shape_of(src) // ', dst is ' // shape_of(dst) // &
          ', expected the same but for the last dimension, and gaps before it at most', stat, errmsg)
    else if (many%extent(r) < index%size()) then
      call refuse(what // ': the index has ' // number(index%size()) // ' numbers for ' // number(many%extent(r)), stat, errmsg)
    else
      fit = .true.
    end if
  end function

end module
