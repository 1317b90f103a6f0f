! Conjugate gradients without a matrix: the Laplacian with seven points, on a cube with the value 0 around it.
! An iteration is four calls. Its scalars stay in memory, where the next call reads them, so the host waits only to print.
! It prints the bits of r.r. A call that fails ends the program with the library's message.
! usage: cg
program cg
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use gpumem
  implicit none
  integer, parameter :: n = 32, at_once = 10, times = 8
  real(real64), parameter :: laplacian(7) = [6, -1, -1, -1, -1, -1, -1]
  type(gpumem_context) :: ctx
  type(gpumem_stream) :: stream
  type(gpumem_memory) :: grids(4), residuals, product, shown
  type(gpumem_view) :: x, r, p, q, around(7), rr(at_once + 1), pq, none
  real(real64), target :: source(n, n, n), zeros(n + 2, n + 2, n + 2)
  real(real64), pointer :: value(:)
  integer :: i, j, k, time

  call ctx%create()
  call stream%create(ctx)
  zeros = 0
  do i = 1, 4  ! with one layer of zeros around each
    call ctx%alloc(grids(i), gpumem_memory_device, gpumem_f64, [n + 2, n + 2, n + 2])
    call ctx%copy(grids(i)%view(), gpumem_view(zeros))
  end do
  call ctx%alloc(residuals, gpumem_memory_device, gpumem_f64, [at_once + 1])
  call ctx%alloc(product, gpumem_memory_device, gpumem_f64, [1])
  call ctx%alloc(shown, gpumem_memory_pinned, gpumem_f64, [1])
  call c_f_pointer(shown%host_address(), value, [1])
  x = shifted(grids(1), 0, 0, 0)
  r = shifted(grids(2), 0, 0, 0)
  p = shifted(grids(3), 0, 0, 0)
  q = shifted(grids(4), 0, 0, 0)
  around = [p, shifted(grids(3), 0, 0, -1), shifted(grids(3), 0, -1, 0), shifted(grids(3), -1, 0, 0), &
      shifted(grids(3), 1, 0, 0), shifted(grids(3), 0, 1, 0), shifted(grids(3), 0, 0, 1)]
  do i = 1, at_once + 1  ! r.r before each iteration, and after the last one
    rr(i) = number(residuals, i)
  end do
  pq = product%view()

  do concurrent (i = 0:n - 1, j = 0:n - 1, k = 0:n - 1)
    source(k + 1, j + 1, i + 1) = mod(i * 7 + j * 3 + k * 5 + mod(i * j, 13), 11) - 5
  end do
  call ctx%lincomb([1.0_real64], [gpumem_view(source)], r)
  call ctx%lincomb([1.0_real64], [gpumem_view(source)], p)
  call stream%dot_to(r, r, rr(1))

  do time = 1, times
    do k = 1, at_once
      call stream%lincomb_dot(laplacian, around, q, [p], pq)
      call stream%lincomb([1.0_real64, 1.0_real64], [x, p], x, numerators=[none, rr(k)], denominators=[none, pq])
      call stream%lincomb_dot([1.0_real64, -1.0_real64], [r, q], r, [r], rr(k + 1), &
          numerators=[none, rr(k)], denominators=[none, pq])
      call stream%lincomb([1.0_real64, 1.0_real64], [r, p], p, numerators=[none, rr(k + 1)], denominators=[none, rr(k)])
    end do
    call stream%copy(rr(1), rr(at_once + 1))
    call stream%copy(shown%view(), rr(1))
    call stream%synchronize()
    print '(a, i0, a, z16.16)', 'iteration ', time * at_once, ' r.r ', transfer(value(1), 0_int64)
  end do

  do i = 1, 4
    call grids(i)%free()
  end do
  call residuals%free()
  call product%free()
  call shown%free()
  call stream%destroy()
  call ctx%destroy()

contains

  ! The inner cells of a grid, moved by so many cells along each axis.
  type(gpumem_view) function shifted(grid, along_1, along_2, along_3)
    type(gpumem_memory), intent(in) :: grid
    integer, intent(in) :: along_1, along_2, along_3
    type(gpumem_view) :: whole
    whole = grid%view()
    shifted = whole%section([2 + along_1, 2 + along_2, 2 + along_3], [n + 1 + along_1, n + 1 + along_2, n + 1 + along_3])
  end function

  type(gpumem_view) function number(memory, i)
    type(gpumem_memory), intent(in) :: memory
    integer, intent(in) :: i
    type(gpumem_view) :: whole
    whole = memory%view()
    number = whole%section([i], [i])
  end function
end program
