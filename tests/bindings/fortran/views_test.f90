! Where views say that elements lie.
program views_test
  use checks
  implicit none
  integer(int32), target :: a(0:3, 2:6, 5)
  real(real64), target :: line(10), nothing(0)
  integer(int16), target :: halves(4)
  complex(real64), target :: numbers(2, 2)
  real(real32), allocatable, target :: allocated(:, :)
  real(real32), pointer, contiguous :: pointed(:)
  type(gpumem_context) :: ctx
  type(gpumem_view) :: v, w, nowhere
  type(gpumem_memory) :: memory
  integer :: stat
  character(200) :: errmsg

  call open_context(ctx)
  v = gpumem_view(a)
  call expect(v%rank == 3 .and. all(v%extent(:3) == [4, 5, 5]) .and. all(v%stride(:3) == [1, 4, 20]), 'a whole array')
  call expect(v%contiguous() .and. v%size() == 100 .and. v%dtype == gpumem_i32, 'has no gaps')
  call expect(begins_at(v, c_loc(a)), 'begins where the array does')
  w = v%section([1, 3, 5], [2, 5, 5])
  call expect(all(w%extent(:3) == [2, 3, 1]) .and. all(w%stride(:3) == [1, 4, 20]), 'a section in the bounds of the array')
  call expect(begins_at(w, c_loc(a(1, 3, 5))), 'begins where that of the array does')
  call expect(.not. w%contiguous() .and. w%merged() == 1, 'a section has gaps')
  w = w%section([2, 2, 1], [2, 3, 1])
  call expect(begins_at(w, c_loc(a(2, 4, 5))) .and. all(w%extent(:3) == [1, 2, 1]), 'a section of a section counts from 1')
  w = v%section([0, 2, 2], [3, 6, 3])
  call expect(w%contiguous() .and. w%size() == 40, 'a section of whole parts has no gaps')
  w = v%section([0, 2, 1], [3, 5, 4], [2, 2, 3])
  call expect(all(w%extent(:3) == [2, 2, 2]) .and. all(w%stride(:3) == [2, 8, 60]), 'a section with steps')
  w = v%section([0_int64, 2_int64, 1_int64], [3_int64, 1_int64, 5_int64])
  call expect(w%size() == 0 .and. w%contiguous(), 'an empty section')
  w = v%reshaped([20, 5])
  call expect(w%rank == 2 .and. all(w%stride(:2) == [1, 20]) .and. begins_at(w, c_loc(a)), 'another shape')

  v = gpumem_view(a(:, :, 2:3))
  call expect(v%size() == 40 .and. begins_at(v, c_loc(a(0, 2, 2))), 'a section of an array that has no gaps')
  v = gpumem_view(a(1:2, 4, 5))
  call expect(v%rank == 1 .and. v%size() == 2 .and. begins_at(v, c_loc(a(1, 4, 5))), 'a part of a column')
  v = gpumem_view(line)
  w = v%section([1], [10], [3])
  call expect(w%extent(1) == 4 .and. w%stride(1) == 3, 'a line with a stride')
  v = gpumem_view(nothing)
  call expect(v%rank == 1 .and. v%size() == 0 .and. v%contiguous(), 'no elements')
  v = gpumem_view(numbers)
  call expect(v%element_bytes == 16 .and. all(v%stride(:2) == [1, 2]), 'complex numbers')
  allocate (allocated(3, -1:2))
  v = gpumem_view(allocated)
  w = v%section([1, 0], [3, 0])
  call expect(begins_at(w, c_loc(allocated(1, 0))), 'of an allocatable array, in its bounds')
  pointed => allocated(:, 2)
  v = gpumem_view(pointed)
  call expect(begins_at(v, c_loc(allocated(1, 2))), 'of a pointer')
  call assumed(a(:, :, 1))
  v = gpumem_view(halves)
  w = v%as(gpumem_bf16)
  call expect(w%dtype == gpumem_bf16 .and. w%size() == 4, 'another type of the same size')

  call ctx%alloc(memory, gpumem_memory_device, gpumem_f32, [5, 7])
  v = memory%view()
  w = v%section([2, 3], [4, 7], stat=stat, errmsg=errmsg)
  call expect(stat == 0 .and. all(w%extent(:2) == [3, 5]), 'a section of device memory')
  w = v%section([2, 3], [4, 8], stat=stat, errmsg=errmsg)
  call refused(w, 'section: lower is (2, 3), upper is (4, 8); expected bounds from (1, 1) to (5, 7)')
  w = v%section([-huge(1_int64), 1_int64], [huge(1_int64), 1_int64], stat=stat, errmsg=errmsg)
  call refused(w, 'to (5, 7)')
  w = v%section([2], [4], stat=stat, errmsg=errmsg)
  call refused(w, 'a number for each dimension')
  w = v%section([1, 1], [5, 7], [1, 0], stat, errmsg)
  call refused(w, 'step is (1, 0); expected 1 or more')
  w = nowhere%section([1], [1], stat=stat, errmsg=errmsg)
  call refused(w, 'the view was never set')
  w = v%as(gpumem_f64, stat, errmsg)
  call refused(w, 'as: the elements have 4 bytes')
  w = v%reshaped([6, 6], stat, errmsg)
  call refused(w, 'extents is (6, 6); expected those of 35 elements')
  call memory%free()
  call bounds
  call counts
  call close_context(ctx)

contains

  ! Memory and views in the bounds that are asked for, of all types and ranks.
  subroutine bounds
    integer, parameter :: lower(8) = [0, -1, 5, 0, -3, 0, 1, 2], upper(8) = [3, 1, 6, 1, -2, 1, 2, 3]
    type(gpumem_stream) :: stream
    integer(c_intptr_t) :: begin, at
    integer(c_int32_t) :: dtype
    integer :: r
    call stream%create(ctx)
    do dtype = gpumem_i8, gpumem_f64
      do r = 1, size(lower)
        if (mod(r, 2) == 0) then
          call ctx%alloc(memory, gpumem_memory_device, dtype, lower(:r), upper(:r))
        else
          call stream%alloc(memory, dtype, lower(:r), upper(:r))
        end if
        v = memory%view()
        call expect(all(v%lower(:r) == lower(:r)) .and. all(v%extent(:r) == upper(:r) - lower(:r) + 1), 'memory in bounds')
        w = v%section(upper(:r), upper(:r), stat=stat)
        begin = transfer(v%pointer(), begin)
        at = transfer(w%pointer(), at)
        call expect(stat == 0 .and. at == begin + (v%size() - 1) * v%element_bytes, 'its last element')
        w = v%section(lower(:r) - 1, upper(:r), stat=stat, errmsg=errmsg)
        call refused(w, 'section: lower is')
        call memory%free()
      end do
    end do
    call stream%destroy()
    call ctx%alloc(memory, gpumem_memory_pinned, gpumem_i32, [0_int64, 2_int64], [3_int64, 6_int64])
    v = memory%view()
    w = v%section([1, 7], [2, 7], stat=stat, errmsg=errmsg)
    call refused(w, 'expected bounds from (0, 2) to (3, 6)')
    w = v%reshaped([-9], [10])
    call expect(w%rank == 1 .and. w%lower(1) == -9 .and. w%extent(1) == 20, 'other bounds')
    w = v%section([1, 3], [2, 4])
    w = w%reshaped([0_int64, 0_int64], [1_int64, 1_int64])
    call expect(all(w%lower(:2) == 0) .and. all(w%stride(:2) == [1, 4]), 'other bounds of a section with gaps')
    w = w%reshaped([0], [3], stat, errmsg)
    call refused(w, 'padding')
    w = v%reshaped([0, 0], [3, 5], stat, errmsg)
    call refused(w, 'reshaped: lower is (0, 0), upper is (3, 5); expected the bounds of 20 elements')
    w = v%reshaped([0, 0], [19], stat, errmsg)
    call refused(w, 'lower is (0, 0), upper is (19)')
    call memory%free()
    call ctx%alloc(memory, gpumem_memory_device, gpumem_i8, [1, 5], [4, 3])
    v = memory%view()
    call expect(v%size() == 0 .and. all(v%extent(:2) == [4, 0]), 'bounds of no element')
    call memory%free()
    call ctx%alloc(memory, gpumem_memory_device, gpumem_i8, [1, 1], [4], stat, errmsg)
    call refused(nowhere, 'pairs')
  end subroutine

  ! Numbers whose products and sums leave an int64.
  subroutine counts
    integer(int64), parameter :: most = huge(most)
    type(gpumem_memory) :: empty
    call ctx%alloc(memory, gpumem_memory_device, gpumem_i8, [-1_int64], [most - 1], stat, errmsg)
    call refused(nowhere, 'int64')
    call ctx%alloc(memory, gpumem_memory_device, gpumem_i8, [-most - 1], [most], stat, errmsg)
    call refused(nowhere, 'int64')
    call ctx%alloc(memory, gpumem_memory_device, gpumem_i8, [most - 2, 1_int64], [most, 2_int64])
    v = memory%view()
    w = v%section([most, 2_int64], [most, 2_int64])
    call expect(w%size() == 1, 'bounds at the end of an int64')
    call memory%free()
    w = gpumem_view(a)
    w = w%section([0_int64, 2_int64, 1_int64], [3_int64, 6_int64, 5_int64], [1_int64, 2_int64**62, most])
    call expect(all(w%extent(:3) == [4, 1, 1]) .and. all(w%stride(:3) >= 1 .and. w%stride(:3) <= 100), 'steps past the end')
    call ctx%alloc(empty, gpumem_memory_device, gpumem_i8, [0])
    v = empty%view()
    w = v%reshaped([2_int64**32, 2_int64**32], stat, errmsg)
    call refused(w, 'expected those of 0 elements')
    w = v%reshaped([0_int64, 0_int64], [2_int64**32 - 1, 2_int64**32 - 1], stat, errmsg)
    call refused(w, 'expected the bounds of 0 elements')
    v = gpumem_view(halves)
    w = v%reshaped([2_int64**62 + 1, 4_int64], stat, errmsg)
    call refused(w, 'expected those of 4 elements')
    call empty%free()
  end subroutine

  logical function begins_at(x, address)
    type(gpumem_view), intent(in) :: x
    type(c_ptr), intent(in) :: address
    begins_at = transfer(x%pointer(), 0_c_intptr_t) == transfer(address, 0_c_intptr_t)
  end function

  ! A view of nothing, a status and a sentence.
  subroutine refused(x, words)
    type(gpumem_view), intent(in) :: x
    character(*), intent(in) :: words
    call expect(stat == gpumem_invalid_argument .and. index(errmsg, words) > 0, words // ' in ' // trim(errmsg))
    call expect(x%size() == nowhere%size() .and. x%dtype == nowhere%dtype, 'what is refused is a view of nothing')
    errmsg = ''
  end subroutine

  subroutine assumed(x)
    integer(int32), target, contiguous, intent(in) :: x(:, :)
    v = gpumem_view(x)
    call expect(all(v%extent(:2) == [4, 5]) .and. begins_at(v, c_loc(a)), 'of an assumed shape')
  end subroutine

end program
