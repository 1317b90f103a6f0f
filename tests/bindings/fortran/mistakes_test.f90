! Mistakes of one process that the binding finds before it calls the library. The other processes learn of them at once, as of the
! library's refusals: they go on after plans and reductions that send no elements, and else the connection is lost.
! usage: mpirun -n PROCESSES mistakes_test
program mistakes_test
  use, intrinsic :: iso_fortran_env
  use mpi, only: mpi_comm_world, mpi_init, mpi_finalize, mpi_comm_rank, mpi_comm_size
  use gpumem
  implicit none
  integer, parameter :: each = 5
  type(gpumem_context) :: ctx
  type(gpumem_dist) :: dist
  type(gpumem_layout) :: mine, whole
  type(gpumem_plan) :: sums, move, none
  real(real64), target :: x(each), all(100)
  type(gpumem_view) :: part, some
  real(real64) :: value
  integer(int64) :: place
  integer :: rank, processes, ierr, stat
  logical :: wrong

  call mpi_init(ierr)
  call mpi_comm_rank(mpi_comm_world, rank, ierr)
  call mpi_comm_size(mpi_comm_world, processes, ierr)
  if (processes < 2) error stop 'expected several processes'
  wrong = rank == 1
  x = real(rank, real64)
  part = gpumem_view(x)
  some = part
  if (wrong) some = gpumem_view(x(1:each - 1))
  call ctx%create(gpumem_device_host)
  call dist%create([ctx], gpumem_mpi_transport_f, mpi_comm_world, deadline_s=60.0_real64)
  mine = gpumem_layout(8, [each * processes])
  call mine%add([each * rank + 1], [each * (rank + 1)])
  whole = gpumem_layout(8, [each * processes])
  call whole%add([1], [each * processes])
  call dist%plan_reduce(sums, mine)
  call dist%plan_redistribute(move, mine, whole)

  call sums%reduce(gpumem_max, [some], value, stat)
  call expect_refused('reduce')
  call sums%argreduce(gpumem_max, [some], value, place, stat)
  call expect_refused('argreduce')
  if (wrong) then
    call dist%plan_halo(none, mine, low=[0, 0], high=[0, 0], stat=stat)
  else
    call dist%plan_halo(none, mine, low=[0], high=[0], stat=stat)
  end if
  call expect_refused('plan_halo')
  call dist%plan_redistribute(none, mine, whole, [merge(2, 1, wrong)], stat=stat)
  call expect_refused('plan_redistribute')

  call sums%reduce(gpumem_max, [part], value)
  if (nint(value) /= processes - 1) error stop 'the maximum is wrong'
  call move%execute([some], [gpumem_view(all)], stat)
  if (stat /= gpumem_invalid_argument .and. (wrong .or. stat /= gpumem_peer_lost)) error stop 'the movement is not refused'
  call move%destroy()
  call sums%destroy()
  call dist%destroy()
  call ctx%destroy()
  call mpi_finalize(ierr)

contains

  subroutine expect_refused(what)
    character(*), intent(in) :: what
    if (stat /= gpumem_invalid_argument) then
      print '(2a, i0, a, i0)', what, ': process ', rank, ' has the status ', stat
      error stop 1
    end if
  end subroutine

end program
