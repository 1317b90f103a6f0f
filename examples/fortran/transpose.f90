! Sums a matrix in pinned memory, transposes it into managed memory, and checks both. Fortran stores columns, so its
! m x n matrix is the library's n x m one, row after row.
module gpumem
  use iso_c_binding
  implicit none
  integer(c_int32_t), parameter :: gpumem_ok = 0, gpumem_unsupported = 7, gpumem_sum = 0, gpumem_device_host = -1
  interface
    integer(c_int32_t) function gpumem_ctx_create(options, ctx) bind(c)
      import; type(c_ptr), value :: options; type(c_ptr) :: ctx
    end function
    integer(c_int32_t) function gpumem_ctx_destroy(ctx) bind(c)
      import; type(c_ptr), value :: ctx
    end function
    integer(c_int32_t) function gpumem_alloc_pinned(ctx, bytes, p) bind(c)
      import; type(c_ptr), value :: ctx; integer(c_int64_t), value :: bytes; type(c_ptr) :: p
    end function
    integer(c_int32_t) function gpumem_alloc_managed(ctx, bytes, p) bind(c)
      import; type(c_ptr), value :: ctx; integer(c_int64_t), value :: bytes; type(c_ptr) :: p
    end function
    integer(c_int32_t) function gpumem_free(ctx, p) bind(c)
      import; type(c_ptr), value :: ctx, p
    end function
    integer(c_int32_t) function gpumem_reduce_i32(ctx, op, x, n, stride, result) bind(c)
      import; type(c_ptr), value :: ctx, x; integer(c_int32_t), value :: op
      integer(c_int64_t), value :: n, stride; integer(c_int64_t) :: result
    end function
    integer(c_int32_t) function gpumem_transpose(ctx, element_bytes, rows, cols, src, src_ld, dst, dst_ld) bind(c)
      import; type(c_ptr), value :: ctx, src, dst
      integer(c_int64_t), value :: element_bytes, rows, cols, src_ld, dst_ld
    end function
    integer(c_int32_t) function gpumem_managed_prefetch(ctx, p, bytes, device) bind(c)
      import; type(c_ptr), value :: ctx, p; integer(c_int64_t), value :: bytes; integer(c_int32_t), value :: device
    end function
    integer(c_int32_t) function gpumem_last_error(buf, cap, needed) bind(c)
      import; character(kind=c_char) :: buf(*); integer(c_int64_t), value :: cap; integer(c_int64_t) :: needed
    end function
  end interface
end module

program transpose_example
  use gpumem
  implicit none
  integer(c_int64_t), parameter :: m = 500, n = 300, bytes = 4 * m * n
  type(c_ptr) :: ctx, pinned, managed
  integer(c_int32_t), pointer :: a(:, :), b(:, :)
  integer(c_int64_t) :: total, i
  integer(c_int32_t) :: status

  call check(gpumem_ctx_create(c_null_ptr, ctx))
  call check(gpumem_alloc_pinned(ctx, bytes, pinned))
  call check(gpumem_alloc_managed(ctx, bytes, managed))
  call c_f_pointer(pinned, a, [m, n])
  call c_f_pointer(managed, b, [n, m])
  a = reshape([(int(i, c_int32_t), i = 0, m * n - 1)], [m, n])

  call check(gpumem_reduce_i32(ctx, gpumem_sum, pinned, m * n, 1_c_int64_t, total))
  call check(gpumem_transpose(ctx, 4_c_int64_t, n, m, pinned, m, managed, n))
  status = gpumem_managed_prefetch(ctx, managed, bytes, gpumem_device_host)
  if (status /= gpumem_unsupported) call check(status)  ! a hint, which not every device takes

  print '(a, i0)', 'sum ', total
  if (total /= m * n * (m * n - 1) / 2) error stop 'the sum is wrong'
  if (any(b /= transpose(a))) error stop 'the transposition is wrong'
  call check(gpumem_free(ctx, managed))
  call check(gpumem_free(ctx, pinned))
  call check(gpumem_ctx_destroy(ctx))

contains

  subroutine check(status)
    integer(c_int32_t), intent(in) :: status
    character(kind=c_char) :: sentence(512)
    integer(c_int64_t) :: needed
    integer(c_int32_t) :: ignored
    if (status == gpumem_ok) return
    ignored = gpumem_last_error(sentence, 512_c_int64_t, needed)
    print '(a, i0, 512a)', 'status ', status, ': ', sentence(1:min(needed - 1, 511_c_int64_t))
    error stop 1
  end subroutine

end program
