! Mistakes that the compiler refuses: refused.sh compiles this once for each, and once without any.
subroutine use_it(ctx, assumed, pointed, good)
  use, intrinsic :: iso_fortran_env
  use gpumem
  implicit none
  type :: point
    real(real64) :: x, y
  end type
  type(gpumem_context) :: ctx
  real(real64), target :: assumed(:, :)
  real(real64), pointer :: pointed(:)
  real(real64), target, contiguous :: good(:, :)
  real(real64), target :: whole(4, 5)
  real(real64) :: plain(4)
  real(real64), parameter :: constant(2) = [1, 2]
  type(point), target :: points(3)
  complex(real64), target :: numbers(3)
  logical, target :: flags(3)
  type(gpumem_memory) :: memory
  type(gpumem_view) :: v
  v = gpumem_view(good)
  v = gpumem_view(whole(:, 2:3))
#if MISTAKE == 1
  v = gpumem_view(plain) ! no target
#elif MISTAKE == 2
  v = gpumem_view(whole(2:3, :)) ! gaps: a copy would be passed
#elif MISTAKE == 3
  v = gpumem_view(whole(:, [1, 3]))
#elif MISTAKE == 4
  v = gpumem_view(2 * whole)
#elif MISTAKE == 5
  v = gpumem_view(assumed) ! may have gaps
#elif MISTAKE == 6
  v = gpumem_view(pointed)
#elif MISTAKE == 7
  v = gpumem_view(points%y)
#elif MISTAKE == 8
  v = gpumem_view(numbers%re)
#elif MISTAKE == 9
  v = gpumem_view(constant)
#elif MISTAKE == 10
  v = gpumem_view(flags) ! no type of the library
#elif MISTAKE == 11
  whole = memory ! memory is not an array
#elif MISTAKE == 12
  call ctx%copy(whole, whole) ! operands are views
#elif MISTAKE == 13
  call ctx%gather(v, [1.0], v) ! an index is of integers
#elif MISTAKE == 14
  call ctx%alloc(memory, gpumem_memory_device, gpumem_f64, 10) ! extents are an array
#elif MISTAKE == 15
  v = gpumem_view(5_int64) ! no address
#elif MISTAKE == 16
  v = gpumem_view(plain(1)) ! a scalar is viewed as an array of one element
#elif defined(MISTAKE)
#error "there are no more mistakes"
#endif
  plain = 0
  points(1)%x = 0
  numbers = 0
  flags = .true.
  if (sum(assumed) + sum(pointed) + constant(1) > 0) call ctx%fill(memory%view(), plain(1))
  call ctx%copy(v, v)
end subroutine
