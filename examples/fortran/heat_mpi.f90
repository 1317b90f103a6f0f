! The heat equation of heat.f90 over MPI: each process has a slab of rows, and room for one row more on each side, which comes from
! its neighbours before a step. The residuals are those of heat.f90, bit for bit, by any number of processes.
! A call that fails ends its process, and with it the others, which may wait for it.
! usage: mpirun -n PROCESSES heat_mpi
program heat_mpi
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use mpi, only: mpi_comm_world, mpi_init, mpi_finalize, mpi_comm_rank, mpi_comm_size
  use gpumem
  implicit none
  integer, parameter :: steps = 500, every = 100, rows = 96, cols = 128
  type(gpumem_context) :: ctx
  type(gpumem_memory) :: memory(3), snapshot
  type(gpumem_view) :: u, v, swap, difference
  type(gpumem_dist) :: dist
  type(gpumem_layout) :: slabs, whole
  type(gpumem_plan) :: neighbours, sums, gather
  real(real64) :: norm
  real(real64), pointer :: seen(:, :)
  integer :: rank, processes, first, own, begin, inner, step, i, ierr

  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, processes, ierr)
  first = rows * rank / processes
  own = rows * (rank + 1) / processes - first
  begin = max(first, 1)
  inner = min(first + own, rows - 1) - begin
  call ctx%create()
  call dist%create([ctx], gpumem_mpi_transport_f, mpi_comm_world)

  ! This process's rows, between those of its neighbours; and the snapshot, transposed, which is a whole in process 0.
  slabs = gpumem_layout(8, [cols, rows])
  call slabs%add([1, first + 1], [cols, first + own], low=[0, 1], high=[0, 1])
  whole = gpumem_layout(8, [rows, cols])
  if (rank == 0) call whole%add([1, 1], [rows, cols])
  call dist%plan_halo(neighbours, slabs, low=[0, 1], high=[0, 1])
  call dist%plan_reduce(sums, slabs)
  call dist%plan_redistribute(gather, slabs, whole, [2, 1])

  do i = 1, 3
    call ctx%alloc(memory(i), gpumem_memory_device, gpumem_f64, [cols, own + 2])
  end do
  u = memory(1)%view()
  v = memory(2)%view()
  difference = memory(3)%view()
  call set_heights(part(u, 1, cols, first, own))
  call ctx%copy(part(v, 1, cols, first, own), part(u, 1, cols, first, own))  ! the edges, which no step writes
  do step = 1, steps
    call neighbours%execute([u])
    if (inner > 0) call ctx%lincomb([0.125_real64, 0.125_real64, 0.5_real64, 0.125_real64, 0.125_real64], &
        [part(u, 2, cols - 2, begin - 1, inner), part(u, 1, cols - 2, begin, inner), part(u, 2, cols - 2, begin, inner), &
         part(u, 3, cols - 2, begin, inner), part(u, 2, cols - 2, begin + 1, inner)], part(v, 2, cols - 2, begin, inner))
    swap = u
    u = v
    v = swap
    if (mod(step, every) /= 0) cycle

    call ctx%lincomb([1.0_real64, -1.0_real64], [part(u, 1, cols, first, own), part(v, 1, cols, first, own)], &
        part(difference, 1, cols, first, own))
    call sums%nrm2([difference], norm)
    if (rank == 0) print '(a, i0, a, z16.16)', 'step ', step, ' residual ', transfer(norm, 0_int64)
  end do
  if (rank == 0) call ctx%alloc(snapshot, gpumem_memory_pinned, gpumem_f64, [rows, cols])
  call gather%execute([u], [snapshot%view()])
  if (rank == 0) then
    call c_f_pointer(snapshot%host_address(), seen, [rows, cols])
    print '(a, i0, a, z16.16)', 'step ', steps, ' centre ', transfer(seen(rows / 2 + 1, cols / 2 + 1), 0_int64)
    call snapshot%free()
  end if

  call neighbours%destroy()
  call sums%destroy()
  call gather%destroy()
  call dist%destroy()
  do i = 1, 3
    call memory(i)%free()
  end do
  call ctx%destroy()
  call mpi_finalize(ierr)

contains

  ! Of a slab: `wide` elements of each row from number `left` on, of `high` rows of the whole from number `top` on.
  type(gpumem_view) function part(slab, left, wide, top, high)
    type(gpumem_view), intent(in) :: slab
    integer, intent(in) :: left, wide, top, high
    part = slab%section([left, top - first + 2], [left + wide - 1, top - first + 1 + high])
  end function

  ! The height of heat.f90's small terrain is the temperature at the start.
  subroutine set_heights(slab)
    type(gpumem_view), intent(in) :: slab
    real(real64), allocatable, target :: heights(:, :)
    integer :: row, col
    allocate (heights(cols, own))
    do row = first, first + own - 1
      do col = 0, cols - 1
        heights(col + 1, row - first + 1) = mod(7 * row**2 + 3 * col**2 + 5 * row * col, 1009)
      end do
    end do
    call ctx%copy(slab, gpumem_view(heights))
  end subroutine

end program
