! SPDX-License-Identifier: Apache-2.0
! Operations of contexts and streams that move and convert elements.
!
! Order       Fortran's arrays are column-major, so the library's rows are Fortran's columns. gpumem.f90 says what
!             counts from 0.
module gpumem_movements
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use gpumem_constants
  use gpumem_c
  use gpumem_errors, only: finish, number, refuse
  use gpumem_views
  use gpumem_checks
  implicit none
  private
  public :: gpumem_movement_queue

  type, abstract :: gpumem_movement_queue
    type(c_ptr) :: ctx = c_null_ptr     ! the handles of C
    type(c_ptr) :: stream = c_null_ptr  ! null: the context's own stream
    logical :: enqueues = .false.
  contains
    procedure :: copy
    procedure :: fill
    procedure :: transpose => transpose_views
    procedure :: permute
    procedure :: copy_boxes
    procedure :: convert
    procedure :: sort
    procedure :: sort_from_zero
    procedure :: sort_segments_from_zero
    procedure :: resize
    procedure :: resize_batch
    procedure :: prefetch
    procedure :: gather_from_zero
    procedure :: scatter_from_zero
    procedure :: select_to
    procedure :: select_places_from_zero
  end type

contains

  ! dst = src, for views of one type and shape, in any memory.
  subroutine copy(self, dst, src, stat, errmsg)
    class(gpumem_movement_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: dst, src
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: row, rows, slices, to(2), from(2)
    integer(c_int32_t) :: code
    integer :: m
    if (.not. conforms('copy', 'dst', dst, 'src', src, stat=stat, errmsg=errmsg)) return
    m = dst%rank
    if (dst%size() > 0) m = min(dst%merged(), src%merged())
    if (dst%rank - m > 2) then
      call refuse('copy: more than two dimensions have padding between them', stat, errmsg)
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

  ! dst = value, a scalar with dst's type and kind.
  subroutine fill(self, dst, value, stat, errmsg)
    class(gpumem_movement_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: dst
    class(*), intent(in) :: value
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int8), target :: pattern(16)
    integer(int64) :: cols, bytes, pitch
    integer(c_int32_t) :: code
    integer :: m
    if (.not. is_set('fill: dst', dst, stat, errmsg)) return
    bytes = dst%element_bytes
    if (.not. pattern_of(value, dst, pattern)) then
      call refuse('fill: dst is ' // described(dst) // '; expected a value of that type and kind', stat, errmsg)
      return
    end if
    m = dst%rank
    if (dst%size() > 0) m = dst%merged()
    if (dst%rank - m > 1) then
      call refuse('fill: more than one dimension has padding between its parts', stat, errmsg)
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

  ! The bytes of a value with dst's type, or none if the type differs.
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

  ! dst = TRANSPOSE(src). With three dimensions, each dst(:, :, b) = TRANSPOSE(src(:, :, b)). The columns are
  ! contiguous.
  subroutine transpose_views(self, src, dst, stat, errmsg)
    class(gpumem_movement_queue), intent(in) :: self
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
      call refuse('transpose: src is ' // described(src) // ', dst is ' // described(dst) // &
          '; expected one type, and dst with the shape of transpose(src)', stat, errmsg)
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

  ! Dimension d of dst is dimension order(d) of src: dst(i, j, k) = src(k, i, j) for order = [2, 3, 1].
  subroutine permute(self, src, order, dst, stat, errmsg)
    class(gpumem_movement_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: src, dst
    integer, intent(in) :: order(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: bytes, extents(size(src%extent)), from(size(src%extent)), to(size(src%extent))
    integer(c_int32_t) :: axes(size(src%extent)), code
    integer :: r
    if (.not. is_set('permute: src', src, stat, errmsg)) return
    if (.not. is_set('permute: dst', dst, stat, errmsg)) return
    r = src%rank
    if (size(order) /= r .or. dst%rank /= r) then
      call refuse('permute: src is ' // described(src) // ', order has ' // number(size(order, kind=int64)) // &
          ' values, dst is ' // described(dst) // '; expected one number of dimensions', stat, errmsg)
      return
    else if (any(order < 1 .or. order > r)) then
      call refuse('permute: order names a dimension that src does not have', stat, errmsg)
      return
    else if (any(src%extent(order) /= dst%extent(:r)) .or. src%element_bytes /= dst%element_bytes .or. src%dtype /= dst%dtype) then
      call refuse('permute: src is ' // described(src) // ', dst is ' // described(dst) // &
          '; expected one type, and the extents of src in the given order', stat, errmsg)
      return
    end if
    ! The library's last axis is Fortran's first dimension.
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

  ! dst(k) = src(k) for each k, in one call. All views have one type and one number of dimensions.
  subroutine copy_boxes(self, src, dst, stat, errmsg)
    class(gpumem_movement_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: src(:), dst(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64), allocatable :: extents(:), from(:), to(:)
    type(c_ptr) :: src_at(size(src)), dst_at(size(dst))
    integer(int64) :: bytes
    integer(c_int32_t) :: code
    integer :: r, k, last
    if (size(src) /= size(dst)) then
      call refuse('copy_boxes: src has ' // number(size(src, kind=int64)) // ' views, dst has ' // &
          number(size(dst, kind=int64)) // '; expected as many', stat, errmsg)
      return
    end if
    r = 0
    bytes = 1
    if (size(src) > 0) then
      r = src(1)%rank
      bytes = src(1)%element_bytes
    end if
    allocate (extents(r * size(src)), from(r * size(src)), to(r * size(src)))
    do k = 1, size(src)
      if (.not. conforms('copy_boxes', 'dst', dst(k), 'src', src(k), stat=stat, errmsg=errmsg)) return
      if (src(k)%rank /= r .or. src(k)%dtype /= src(1)%dtype) then
        call refuse('copy_boxes: src(' // number(int(k, int64)) // ') is ' // described(src(k)) // ', src(1) is ' // &
            described(src(1)) // '; expected one type and one number of dimensions', stat, errmsg)
        return
      end if
      last = r * k
      ! The library's last axis is Fortran's first dimension.
      extents(last - r + 1:last) = src(k)%extent(r:1:-1)
      from(last - r + 1:last) = src(k)%stride(r:1:-1)
      to(last - r + 1:last) = dst(k)%stride(r:1:-1)
      src_at(k) = src(k)%pointer()
      dst_at(k) = dst(k)%pointer()
    end do
    if (self%enqueues) then
      code = gpumem_copy_boxes_async(self%ctx, bytes, int(r, c_int32_t), size(src, kind=int64), extents, src_at, from, &
          dst_at, to, self%stream)
    else
      code = gpumem_copy_boxes(self%ctx, bytes, int(r, c_int32_t), size(src, kind=int64), extents, src_at, from, dst_at, to)
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! dst = src, converted to dst's type, for contiguous views of one shape.
  subroutine convert(self, src, dst, stat, errmsg)
    class(gpumem_movement_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: src, dst
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    if (.not. is_real('convert: src', src, stat, errmsg)) return
    if (.not. is_real('convert: dst', dst, stat, errmsg)) return
    if (src%rank /= dst%rank .or. any(src%extent /= dst%extent) .or. .not. (src%contiguous() .and. dst%contiguous())) then
      call refuse('convert: src is ' // described(src) // ', dst is ' // described(dst) // &
          '; expected one shape, without padding', stat, errmsg)
      return
    end if
    if (self%enqueues) then
      code = gpumem_convert_async(self%ctx, src%dtype, src%pointer(), dst%dtype, dst%pointer(), dst%size(), self%stream)
    else
      code = gpumem_convert(self%ctx, src%dtype, src%pointer(), dst%dtype, dst%pointer(), dst%size())
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! The keys in ascending order, or in descending order. sorted may be keys.
  subroutine sort(self, keys, sorted, descending, stat, errmsg)
    class(gpumem_movement_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: keys, sorted
    logical, intent(in), optional :: descending
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (.not. conforms('sort', 'keys', keys, 'sorted', sorted, stat=stat, errmsg=errmsg)) return
    if (.not. is_real('sort: keys', keys, stat, errmsg)) return
    if (.not. (keys%contiguous() .and. sorted%contiguous())) then
      call refuse('sort: keys is ' // described(keys) // ', sorted is ' // described(sorted) // &
          '; expected no padding', stat, errmsg)
      return
    end if
    call finish(sort_to(self, keys, sorted%pointer(), c_null_ptr, gpumem_i64, descending), stat, errmsg)
  end subroutine

  ! The positions of the sorted keys, counted from 0, and sorted as sort().
  subroutine sort_from_zero(self, keys, order, sorted, descending, stat, errmsg)
    class(gpumem_movement_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: keys, order
    type(gpumem_view), intent(in), optional :: sorted
    logical, intent(in), optional :: descending
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: to
    to = c_null_ptr
    if (present(sorted)) then
      if (.not. conforms('sort', 'keys', keys, 'sorted', sorted, stat=stat, errmsg=errmsg)) return
      if (.not. sorted%contiguous()) then
        call refuse('sort: sorted is ' // described(sorted) // '; expected no padding', stat, errmsg)
        return
      end if
      to = sorted%pointer()
    end if
    if (.not. is_real('sort: keys', keys, stat, errmsg)) return
    if (.not. is_real('sort: order', order, stat, errmsg)) return
    if (keys%size() /= order%size() .or. .not. (keys%contiguous() .and. order%contiguous())) then
      call refuse('sort: keys is ' // described(keys) // ', order is ' // described(order) // &
          '; expected one size, without padding', stat, errmsg)
      return
    end if
    call finish(sort_to(self, keys, to, order%pointer(), order%dtype, descending), stat, errmsg)
  end subroutine

  ! Each segment of the keys in order. order gets positions in keys, counted from 0. offsets has the first place of each
  ! segment, counted from 0, and the end of the last one.
  subroutine sort_segments_from_zero(self, keys, offsets_from_zero, order, sorted, descending, stat, errmsg, status)
    class(gpumem_movement_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: keys, offsets_from_zero
    type(gpumem_view), intent(in), optional :: order, sorted
    logical, intent(in), optional :: descending
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: status
    type(c_ptr) :: to, places
    integer(int64) :: segments
    integer(c_int32_t) :: code, down, order_type
    to = c_null_ptr
    places = c_null_ptr
    order_type = gpumem_i64
    down = 0
    if (present(descending)) down = merge(1, 0, descending)
    if (.not. is_real('sort_segments: keys', keys, stat, errmsg)) return
    if (has_gaps('sort_segments: keys', keys, stat, errmsg)) return
    if (.not. checked_result('sort_segments: offsets', gpumem_i64, offsets_from_zero, 1_int64, stat, errmsg)) return
    if (present(sorted)) then
      if (.not. conforms('sort_segments', 'keys', keys, 'sorted', sorted, stat=stat, errmsg=errmsg)) return
      if (has_gaps('sort_segments: sorted', sorted, stat, errmsg)) return
      to = sorted%pointer()
    end if
    if (present(order)) then
      if (has_gaps('sort_segments: order', order, stat, errmsg)) return
      if (keys%size() /= order%size()) then
        call refuse('sort_segments: keys is ' // described(keys) // ', order is ' // described(order) // &
            '; expected one size', stat, errmsg)
        return
      end if
      places = order%pointer()
      order_type = order%dtype
    end if
    segments = offsets_from_zero%size() - 1
    if (self%enqueues) then
      code = gpumem_sort_segments_async(self%ctx, keys%dtype, keys%pointer(), keys%size(), offsets_from_zero%pointer(), &
          segments, down, to, places, order_type, word(status), self%stream)
    else
      code = gpumem_sort_segments(self%ctx, keys%dtype, keys%pointer(), keys%size(), offsets_from_zero%pointer(), segments, &
          down, to, places, order_type)
    end if
    call finish(code, stat, errmsg)
  end subroutine

  function sort_to(self, keys, sorted, order, order_type, descending) result(code)
    class(gpumem_movement_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: keys
    type(c_ptr), intent(in) :: sorted, order
    integer(c_int32_t), intent(in) :: order_type
    logical, intent(in), optional :: descending
    integer(c_int32_t) :: code, down
    down = 0
    if (present(descending)) down = merge(1, 0, descending)
    if (self%enqueues) then
      code = gpumem_sort_async(self%ctx, keys%dtype, keys%pointer(), keys%size(), down, sorted, order, order_type, self%stream)
    else
      code = gpumem_sort(self%ctx, keys%dtype, keys%pointer(), keys%size(), down, sorted, order, order_type)
    end if
  end function

  ! Images are (width, height), or (channels, width, height) with 1 to 4 channels: the usual order of image files.
  subroutine resize(self, filter, src, dst, stat, errmsg)
    class(gpumem_movement_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: filter
    type(gpumem_view), intent(in) :: src, dst
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: channels, code
    integer(int64) :: from, to
    integer :: w
    if (.not. is_set('resize: src', src, stat, errmsg)) return
    if (.not. is_set('resize: dst', dst, stat, errmsg)) return
    w = src%rank - 1
    if (all(src%rank /= [2, 3]) .or. dst%rank /= src%rank .or. src%merged() < w .or. dst%merged() < w .or. &
        src%dtype /= dst%dtype) then
      call refuse('resize: src is ' // described(src) // ', dst is ' // described(dst) // &
          '; expected (width, height) or (channels, width, height) of one type, without padding within rows', stat, errmsg)
      return
    end if
    channels = 1
    if (w == 2) channels = int(min(src%extent(1), int(huge(channels), int64)), c_int32_t)
    if (w == 2 .and. dst%extent(1) /= src%extent(1)) then
      call refuse('resize: src is ' // described(src) // ', dst is ' // described(dst) // &
          '; expected as many channels in both', stat, errmsg)
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

  ! The same for many images, whose results have one size. dst has one dimension more, which counts the images.
  subroutine resize_batch(self, filter, src, dst, stat, errmsg)
    class(gpumem_movement_queue), intent(in) :: self
    integer(c_int32_t), intent(in) :: filter
    type(gpumem_view), intent(in) :: src(:), dst
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: channels, code
    integer(int64), dimension(size(src)) :: rows, cols, pitches
    integer(int64) :: to, next
    type(c_ptr) :: images(size(src))
    integer :: w, k
    if (.not. is_set('resize_batch: dst', dst, stat, errmsg)) return
    w = dst%rank - 2
    if (all(dst%rank /= [3, 4]) .or. dst%merged() < w .or. dst%extent(dst%rank) /= size(src, kind=int64)) then
      call refuse('resize_batch: dst is ' // described(dst) // '; expected (width, height, ' // number(size(src, kind=int64)) // &
          ') or channels before those, without padding within rows', stat, errmsg)
      return
    end if
    channels = 1
    if (w == 2) channels = int(min(dst%extent(1), int(huge(channels), int64)), c_int32_t)
    do k = 1, size(src)
      if (.not. is_set('resize_batch: src', src(k), stat, errmsg)) return
      if (src(k)%rank /= w + 1 .or. src(k)%merged() < w .or. src(k)%dtype /= dst%dtype .or. &
          (w == 2 .and. src(k)%extent(1) /= dst%extent(1))) then
        call refuse('resize_batch: src(' // number(int(k, int64)) // ') is ' // described(src(k)) // ', dst is ' // &
            described(dst) // '; expected an image of dst''s type and channels, without padding within rows', stat, errmsg)
        return
      end if
      images(k) = src(k)%pointer()
      rows(k) = src(k)%extent(w + 1)
      cols(k) = src(k)%extent(w)
      pitches(k) = src(k)%stride(w + 1) * src(k)%element_bytes
    end do
    to = dst%stride(w + 1) * dst%element_bytes
    next = dst%stride(w + 2) * dst%element_bytes
    if (self%enqueues) then
      code = gpumem_resize_2d_batch_async(self%ctx, filter, dst%dtype, channels, size(src, kind=int64), images, rows, cols, &
          pitches, dst%pointer(), dst%extent(w + 1), dst%extent(w), to, next, self%stream)
    else
      code = gpumem_resize_2d_batch(self%ctx, filter, dst%dtype, channels, size(src, kind=int64), images, rows, cols, &
          pitches, dst%pointer(), dst%extent(w + 1), dst%extent(w), to, next)
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! Moves the pages of managed memory to a device.
  subroutine prefetch(self, x, device, stat, errmsg)
    class(gpumem_movement_queue), intent(in) :: self
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

  ! dst(..., i) = src(..., index(i)), with index from 0.
  subroutine gather_from_zero(self, src, index_from_zero, dst, stat, errmsg, status)
    class(gpumem_movement_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: src, index_from_zero, dst
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: status
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

  ! dst(..., index(i)) = src(..., i), with index from 0.
  subroutine scatter_from_zero(self, src, index_from_zero, dst, stat, errmsg, status)
    class(gpumem_movement_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: src, index_from_zero, dst
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_view), intent(in), optional :: status
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

  ! The first kept rows of dst are the rows src(..., i) for which mask(i) is not 0, in their order. kept: one int64, the
  ! number of these rows.
  subroutine select_to(self, src, mask, dst, kept, stat, errmsg)
    class(gpumem_movement_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: src, mask, dst, kept
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(int64) :: row, from, to
    integer(c_int32_t) :: code
    if (.not. selects('select', mask, kept, stat, errmsg)) return
    if (.not. rows_fit('select', src, dst, mask, src, stat, errmsg)) return
    row = product(src%extent(:src%rank - 1)) * src%element_bytes
    from = src%stride(src%rank) * src%element_bytes
    to = dst%stride(dst%rank) * dst%element_bytes
    if (self%enqueues) then
      code = gpumem_select_async(self%ctx, row, src%pointer(), from, mask%pointer(), mask%size(), dst%pointer(), &
          dst%extent(dst%rank), to, kept%pointer(), self%stream)
    else
      code = gpumem_select(self%ctx, row, src%pointer(), from, mask%pointer(), mask%size(), dst%pointer(), &
          dst%extent(dst%rank), to, kept%pointer())
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! The first kept places are the i, from 0, for which mask(i + 1) is not 0, in ascending order.
  subroutine select_places_from_zero(self, mask, places_from_zero, kept, stat, errmsg)
    class(gpumem_movement_queue), intent(in) :: self
    type(gpumem_view), intent(in) :: mask, places_from_zero, kept
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    if (.not. selects('select_places', mask, kept, stat, errmsg)) return
    if (has_gaps('select_places: places', places_from_zero, stat, errmsg)) return
    if (self%enqueues) then
      code = gpumem_select_places_async(self%ctx, mask%pointer(), mask%size(), places_from_zero%dtype, &
          places_from_zero%pointer(), places_from_zero%size(), kept%pointer(), self%stream)
    else
      code = gpumem_select_places(self%ctx, mask%pointer(), mask%size(), places_from_zero%dtype, &
          places_from_zero%pointer(), places_from_zero%size(), kept%pointer())
    end if
    call finish(code, stat, errmsg)
  end subroutine

  logical function selects(what, mask, kept, stat, errmsg)
    character(*), intent(in) :: what
    type(gpumem_view), intent(in) :: mask, kept
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    selects = .false.
    if (has_gaps(what // ': mask', mask, stat, errmsg)) return
    if (has_gaps(what // ': kept', kept, stat, errmsg)) return
    if (mask%rank /= 1 .or. mask%dtype /= gpumem_i8 .or. kept%dtype /= gpumem_i64 .or. &
        kept%size() < 1) then
      call refuse(what // ': mask is ' // described(mask) // ', kept is ' // described(kept) // &
          '; expected int8 of rank 1 and one int64', stat, errmsg)
      return
    end if
    selects = .true.
  end function

end module
