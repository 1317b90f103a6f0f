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
  call refused(w, 'another size')
  w = v%reshaped([6, 6], stat, errmsg)
  call refused(w, 'extents is (6, 6); expected those of 35 elements')
  call memory%free()
  call close_context(ctx)

contains

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
