! The heat equation on a terrain, whose height is the temperature at the start: explicit steps, fixed
! edges. A step is one call. A call that fails ends the program with the library's sentence.
! usage: heat [TERRAIN.npy]    of int16 or int32; without it a small terrain by a formula
program heat
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use gpumem
  implicit none
  integer, parameter :: steps = 500, every = 100
  type(gpumem_context) :: ctx
  type(gpumem_stream) :: stepping, copying
  type(gpumem_event) :: turned, copied
  type(gpumem_memory) :: memory(5), snapshot, norm
  type(gpumem_view) :: u, v, swap
  integer(int32), allocatable, target :: heights(:, :)
  real(real64), pointer :: residual(:), seen(:, :)
  integer :: rows, cols, step, i

  call get_terrain()
  cols = size(heights, 1)  ! a row of the terrain is a column here
  rows = size(heights, 2)
  call ctx%create()
  call stepping%create(ctx)
  call copying%create(ctx)
  call turned%create(ctx)
  call copied%create(ctx)
  call ctx%alloc(memory(1), gpumem_memory_device, gpumem_i32, [cols, rows])
  do i = 2, 4
    call ctx%alloc(memory(i), gpumem_memory_device, gpumem_f64, [cols, rows])
  end do
  call ctx%alloc(memory(5), gpumem_memory_device, gpumem_f64, [rows, cols])
  call ctx%alloc(snapshot, gpumem_memory_pinned, gpumem_f64, [rows, cols])
  call ctx%alloc(norm, gpumem_memory_pinned, gpumem_f64, [1])
  call c_f_pointer(snapshot%host_address(), seen, [rows, cols])
  call c_f_pointer(norm%host_address(), residual, [1])

  u = memory(2)%view()
  v = memory(3)%view()
  call ctx%copy(memory(1)%view(), gpumem_view(heights))
  call ctx%convert(memory(1)%view(), u)  ! heights become temperatures
  call ctx%copy(v, u)                    ! the edges too, which no step writes
  do step = 1, steps
    call stepping%lincomb([0.125_real64, 0.125_real64, 0.5_real64, 0.125_real64, 0.125_real64], &
        [shifted(u, 0, -1), shifted(u, -1, 0), shifted(u, 0, 0), shifted(u, 1, 0), shifted(u, 0, 1)], shifted(v, 0, 0))
    swap = u
    u = v
    v = swap
    if (mod(step, every) /= 0) cycle

    call stepping%lincomb([1.0_real64, -1.0_real64], [u, v], memory(4)%view())
    call stepping%nrm2_to(memory(4)%view(), norm%view())
    ! The snapshot before has left memory(5) when this one is turned; its copy goes on beside the next steps.
    call stepping%wait(copied)
    call stepping%transpose(u, memory(5)%view())
    call stepping%record(turned)
    call copying%wait(turned)
    call copying%copy(snapshot%view(), memory(5)%view())
    call copying%record(copied)
    call turned%synchronize()
    print '(a, i0, a, z16.16)', 'step ', step, ' residual ', transfer(residual(1), 0_int64)
  end do
  call copied%synchronize()
  print '(a, i0, a, z16.16)', 'step ', steps, ' centre ', transfer(seen(rows / 2 + 1, cols / 2 + 1), 0_int64)

  do i = 1, size(memory)
    call memory(i)%free()
  end do
  call snapshot%free()
  call norm%free()
  call turned%destroy()
  call copied%destroy()
  call stepping%destroy()
  call copying%destroy()
  call ctx%destroy()

contains

  ! What lies `right` and `down` of the elements that have neighbours on all sides.
  type(gpumem_view) function shifted(x, right, down)
    type(gpumem_view), intent(in) :: x
    integer, intent(in) :: right, down
    shifted = x%section([2 + right, 2 + down], [cols - 1 + right, rows - 1 + down])
  end function

  subroutine get_terrain()
    character(4096) :: path
    integer :: j
    if (command_argument_count() > 0) then
      call get_command_argument(1, path)
      call read_terrain(trim(path))
    else
      heights = reshape([((mod(7 * i * i + 3 * j * j + 5 * i * j, 1009), j = 0, 127), i = 0, 95)], [128, 96])
    end if
  end subroutine

  subroutine give_up(why)
    character(*), intent(in) :: why
    write (error_unit, '(2a)') 'heat: ', why
    stop 1, quiet=.true.
  end subroutine

  ! A file of NumPy: 10 bytes, of which the last two are the size of the header, a text; then the elements.
  subroutine read_terrain(path)
    character(*), intent(in) :: path
    character(10) :: start
    character(:), allocatable :: header, shape_of_it
    integer(int16), allocatable :: narrow(:, :)
    integer :: unit, stat, n_rows, n_cols
    open (newunit=unit, file=path, access='stream', form='unformatted', status='old', action='read', iostat=stat)
    if (stat == 0) read (unit, iostat=stat) start
    if (stat /= 0) call give_up('the file can''t be read')
    if (start(2:7) /= 'NUMPY' // achar(1)) call give_up('the file is not one of NumPy')
    allocate (character(ichar(start(9:9)) + 256 * ichar(start(10:10))) :: header)
    read (unit, iostat=stat) header
    shape_of_it = header(index(header, '(') + 1:index(header, ')') - 1)
    if (stat == 0) read (shape_of_it, *, iostat=stat) n_rows, n_cols
    if (stat /= 0 .or. index(shape_of_it, ',') /= index(shape_of_it, ',', back=.true.) .or. &
        index(header, '''fortran_order'': False') == 0) call give_up('the file is not of rows and columns')
    if (min(n_rows, n_cols) < 3) call give_up('the file has less than three rows or columns')
    allocate (heights(n_cols, n_rows))
    if (index(header, '''<i4''') > 0) then
      read (unit, iostat=stat) heights
    else if (index(header, '''<i2''') > 0) then
      allocate (narrow(n_cols, n_rows))
      read (unit, iostat=stat) narrow
      heights = narrow
    else
      call give_up('the file is not of int16 or int32')
    end if
    if (stat /= 0) call give_up('the file is too short')
    close (unit)
  end subroutine

end program
