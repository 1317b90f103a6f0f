! The heat equation of heat.f90 over MPI: each process has a slab of rows, and room for one row more on each side, which comes from
! its neighbours before a step. The residuals are those of heat.f90, bit for bit, by any number of processes.
! usage: mpirun -n PROCESSES heat_mpi
program heat_mpi
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use mpi, only: mpi_comm_world, mpi_init, mpi_finalize, mpi_comm_rank, mpi_comm_size
  use gpumem
  use gpumem_c, only: gpumem_dist_transport, gpumem_dist_options, gpumem_dist_layout, gpumem_dist_transport_init, &
      gpumem_dist_options_init, gpumem_dist_layout_init, gpumem_dist_create, gpumem_dist_plan_halo, gpumem_dist_plan_reduce, &
      gpumem_dist_plan_redistribute, gpumem_dist_execute, gpumem_dist_nrm2, gpumem_dist_plan_destroy, gpumem_dist_destroy
  implicit none
  interface
    integer(c_int32_t) function gpumem_mpi_transport_f(comm, transport) bind(c)
      import
      integer(c_int), value :: comm
      type(gpumem_dist_transport), intent(inout) :: transport
    end function
  end interface
  integer, parameter :: steps = 500, every = 100, rows = 96, cols = 128
  type(gpumem_context) :: ctx
  type(gpumem_memory) :: memory(3), snapshot
  type(gpumem_view) :: u, v, swap, difference
  type(gpumem_dist_layout) :: slabs, whole
  type(c_ptr) :: dist, neighbours, sums, gather, snapshots(1)
  ! As C has them: an array of rows, each of which is a column of a Fortran array.
  integer(c_int64_t), target :: extents(2) = [rows, cols], turned(2) = [cols, rows], origin(2) = 0, lower(2), upper(2)
  integer(c_int64_t), target :: beside(2) = [1, 0], offset = cols
  integer(c_int32_t), target :: periodic(2) = 0
  real(c_double), target :: norm
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
  call create_dist()

  ! This process's rows, behind the one that is its neighbour's; and the snapshot, transposed, which is a whole in process 0.
  lower = [first, 0]
  upper = [first + own, cols]
  call check(gpumem_dist_layout_init(slabs, c_sizeof(slabs)))
  slabs%element_bytes = c_sizeof(norm)
  slabs%rank = 2
  slabs%boxes = 1
  slabs%extents = c_loc(extents)
  slabs%lower = c_loc(lower)
  slabs%upper = c_loc(upper)
  slabs%offsets = c_loc(offset)
  whole = slabs
  whole%boxes = merge(1, 0, rank == 0)
  whole%extents = c_loc(turned)
  whole%lower = c_loc(origin)
  whole%upper = c_loc(turned)
  whole%offsets = c_null_ptr
  call check(gpumem_dist_plan_halo(dist, slabs, c_loc(beside), c_loc(beside), c_loc(periodic), plan=neighbours))
  call check(gpumem_dist_plan_reduce(dist, slabs, plan=sums))
  call check(gpumem_dist_plan_redistribute(dist, slabs, whole, [1_c_int32_t, 0_c_int32_t], plan=gather))

  do i = 1, 3
    call ctx%alloc(memory(i), gpumem_memory_device, gpumem_f64, [cols, own + 2])
  end do
  u = memory(1)%view()
  v = memory(2)%view()
  difference = memory(3)%view()
  call set_heights(part(u, 1, cols, first, own))
  call ctx%copy(part(v, 1, cols, first, own), part(u, 1, cols, first, own))  ! the edges, which no step writes
  do step = 1, steps
    call check(gpumem_dist_execute(neighbours, [u%pointer()], [u%pointer()]))
    if (inner > 0) call ctx%lincomb([0.125_real64, 0.125_real64, 0.5_real64, 0.125_real64, 0.125_real64], &
        [part(u, 2, cols - 2, begin - 1, inner), part(u, 1, cols - 2, begin, inner), part(u, 2, cols - 2, begin, inner), &
         part(u, 3, cols - 2, begin, inner), part(u, 2, cols - 2, begin + 1, inner)], part(v, 2, cols - 2, begin, inner))
    swap = u
    u = v
    v = swap
    if (mod(step, every) /= 0) cycle

    call ctx%lincomb([1.0_real64, -1.0_real64], [part(u, 1, cols, first, own), part(v, 1, cols, first, own)], &
        part(difference, 1, cols, first, own))
    call check(gpumem_dist_nrm2(sums, gpumem_f64, [difference%pointer()], c_loc(norm)))
    if (rank == 0) print '(a, i0, a, z16.16)', 'step ', step, ' residual ', transfer(norm, 0_int64)
  end do
  snapshots = c_null_ptr
  if (rank == 0) then
    call ctx%alloc(snapshot, gpumem_memory_pinned, gpumem_f64, [rows, cols])
    snapshots = snapshot%host_address()
  end if
  call check(gpumem_dist_execute(gather, [u%pointer()], snapshots))
  if (rank == 0) then
    call c_f_pointer(snapshots(1), seen, [rows, cols])
    print '(a, i0, a, z16.16)', 'step ', steps, ' centre ', transfer(seen(rows / 2 + 1, cols / 2 + 1), 0_int64)
    call snapshot%free()
  end if

  call check(gpumem_dist_plan_destroy(neighbours))
  call check(gpumem_dist_plan_destroy(sums))
  call check(gpumem_dist_plan_destroy(gather))
  call check(gpumem_dist_destroy(dist))
  do i = 1, 3
    call memory(i)%free()
  end do
  call ctx%destroy()
  call mpi_finalize(ierr)

contains

  ! A process that stops with an error ends the others too, which may wait for it.
  subroutine check(status)
    integer(c_int32_t), intent(in) :: status
    if (status /= gpumem_ok) error stop gpumem_status_name(int(status)) // ': ' // gpumem_last_error()
  end subroutine

  subroutine create_dist()
    type(gpumem_dist_transport), target :: transport
    type(gpumem_dist_options) :: options
    type(c_ptr), target :: contexts(1)
    contexts = ctx%ctx
    call check(gpumem_dist_transport_init(transport, c_sizeof(transport)))
    if (gpumem_mpi_transport_f(mpi_comm_world, transport) /= gpumem_ok) error stop 'MPI gives no transport'
    call check(gpumem_dist_options_init(options, c_sizeof(options)))
    options%contexts = c_loc(contexts)
    options%members = 1
    options%transport = c_loc(transport)
    call check(gpumem_dist_create(options, dist))
  end subroutine

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
