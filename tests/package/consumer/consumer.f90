! As consumer.c, by the Fortran modules.
program consumer
  use, intrinsic :: iso_fortran_env
  use gpumem
  implicit none
  type(gpumem_context) :: ctx
  integer(int32), target :: x(3) = [1, -20, 300]
  integer(int64) :: total
  call ctx%create()
  call ctx%reduce(gpumem_sum, gpumem_view(x), total)
  call ctx%destroy()
  if (total /= 281) error stop 1
end program
