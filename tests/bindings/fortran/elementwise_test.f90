! Functions, comparisons, choices and scaled conversions on a context and in a stream, against Fortran's own intrinsics.
program elementwise_test
  use, intrinsic :: ieee_arithmetic
  use checks
  implicit none
  type(gpumem_context) :: ctx
  type(gpumem_stream) :: stream
  character(300) :: errmsg
  integer :: stat

  call open_context(ctx)
  call stream%create(ctx)
  call functions
  call comparisons
  call choices
  call scaled_conversions
  call repeated
  call enqueued
  call stream%destroy()
  call close_context(ctx)

contains

  subroutine functions
    real(real64), target :: x(4, 3, 2), y(4, 3, 2), z(4, 3, 2), two(1)
    integer(int32), target :: i(5), j(5), k(5)
    type(gpumem_view) :: inner
    call random_number(x)
    call random_number(y)
    x = x - 0.5
    call ctx%map(gpumem_map_absolute, gpumem_view(x), gpumem_view(z))
    call expect(all(z == abs(x)), 'absolute')
    call ctx%map(gpumem_map_divide, gpumem_view(x), gpumem_view(y), gpumem_view(z))
    call expect(all(z == x / y), 'divide')
    z = 7
    inner = gpumem_view(z)
    inner = inner%section([2, 1, 1], [4, 3, 2], [2, 2, 1])
    call ctx%map(gpumem_map_negate, inner, inner)
    call expect(all(z(2:4:2, 1:3:2, :) == -7) .and. count(z == 7) == 16, 'a section with steps, in place')
    two = 2
    call ctx%map(gpumem_map_multiply, gpumem_view(two), gpumem_view(x), gpumem_view(x))
    call expect(all(abs(x) <= 1) .and. maxval(abs(x)) > 0.5, 'one element conforms with any shape')
    i = [7, -7, 5, 8, huge(1)]
    j = [2, 2, -3, 4, 1]
    call ctx%map(gpumem_map_remainder, gpumem_view(i), gpumem_view(j), gpumem_view(k))
    call expect(all(k == mod(i, j)), 'a remainder is MOD')
    j(2) = 0
    call ctx%map(gpumem_map_divide, gpumem_view(i), gpumem_view(j), gpumem_view(k), stat, errmsg)
    call expect_refusal(gpumem_out_of_range, stat, errmsg, '')
    call expect(all(k == [3, 0, -1, 2, huge(1)]), 'a division by 0 gives 0')
    call ctx%map(gpumem_map_square_root, gpumem_view(i), gpumem_view(k), stat, errmsg)
    call expect_refusal(gpumem_unsupported, stat, errmsg, '')
    call ctx%map(gpumem_map_add, gpumem_view(i), gpumem_view(k), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'y is NULL')
    call ctx%map(gpumem_map_negate, gpumem_view(i(:4)), gpumem_view(k), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'map: x is (4) of int32, z is (5) of int32')
    call ctx%map(gpumem_map_add, gpumem_view(i), gpumem_view(two), gpumem_view(k), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'map: y is (1) of real64, z is (5) of int32')
    block
      complex(real64), target :: c(2) = 0
      call ctx%map(gpumem_map_negate, gpumem_view(c), gpumem_view(c), stat, errmsg)
      call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'complex')
    end block
  end subroutine

  subroutine comparisons
    real(real32), target :: x(6, 5), y(6, 5), half(1)
    integer(int8), target :: mask(6, 5)
    integer(int32), target :: wide(6, 5)
    call random_number(x)
    call random_number(y)
    y(2:3, :) = x(2:3, :)
    call ctx%compare(gpumem_less, gpumem_view(x), gpumem_view(y), gpumem_view(mask))
    call expect(all(mask == merge(1, 0, x < y)), 'less')
    call ctx%compare(gpumem_not_equal, gpumem_view(x), gpumem_view(y), gpumem_view(mask))
    call expect(all(mask == merge(1, 0, x /= y)), 'not equal')
    half = 0.5
    call ctx%compare(gpumem_greater_equal, gpumem_view(x), gpumem_view(half), gpumem_view(mask))
    call expect(all(mask == merge(1, 0, x >= 0.5)), 'a comparison with one number')
    call ctx%compare(gpumem_less, gpumem_view(x), gpumem_view(y), gpumem_view(wide), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'expected int8')
    call ctx%compare(gpumem_less, gpumem_view(x(:, :4)), gpumem_view(y), gpumem_view(mask), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'compare: x is (6, 4)')
    call ctx%compare(gpumem_less, gpumem_view(x), gpumem_view(wide), gpumem_view(mask), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'one type')
  end subroutine

  subroutine choices
    complex(real64), target :: x(3, 4), y(3, 4), z(3, 4)
    real(real64) :: parts(3, 4, 4)
    integer(int8), target :: mask(3, 4), column(3) = [1_int8, 0_int8, -1_int8]
    type(gpumem_view) :: v
    call random_number(parts)
    x = cmplx(parts(:, :, 1), parts(:, :, 2), real64)
    y = cmplx(parts(:, :, 3), parts(:, :, 4), real64)
    mask = merge(1_int8, 0_int8, parts(:, :, 1) < parts(:, :, 2))
    call ctx%where(gpumem_view(mask), gpumem_view(x), gpumem_view(y), gpumem_view(z))
    call expect(all(z == merge(x, y, mask /= 0)), 'where of complex numbers is MERGE')
    v = gpumem_view(column)
    call ctx%where(v%spread(2, 4), gpumem_view(x), gpumem_view(z), gpumem_view(z))
    call expect(all(z([1, 3], :) == x([1, 3], :)) .and. all(z(2, :) == merge(x(2, :), y(2, :), mask(2, :) /= 0)), 'a spread mask')
    call ctx%where(gpumem_view(mask), gpumem_view(x), gpumem_view(mask), gpumem_view(z), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'where: y is (3, 4) of int8, z is (3, 4) of complex')
    call ctx%where(gpumem_view(column), gpumem_view(x), gpumem_view(y), gpumem_view(z), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'where: mask is (3)')
    call ctx%where(gpumem_view(x), gpumem_view(x), gpumem_view(y), gpumem_view(z), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'expected int8')
  end subroutine

  subroutine scaled_conversions
    integer(int16), target :: packed(3, 4), back(3, 4)
    real(real32), target :: degrees(3, 4)
    real(real64), target :: scale(3) = [0.5_real64, 2.0_real64, 4.0_real64], offset(1) = [-10.0_real64]
    type(gpumem_view) :: v
    integer :: i
    packed = reshape([(int(i * i - 40, int16), i = 1, 12)], [3, 4])
    call ctx%convert_scaled(gpumem_view(packed), gpumem_view(degrees), 0.25_real64, 2.0_real64)
    call expect(all(degrees == (packed + 2) * 0.25), 'numbers as scale and offset')
    degrees(2, 2) = ieee_value(degrees(2, 2), ieee_quiet_nan)
    call ctx%convert_scaled(gpumem_view(degrees), gpumem_view(back), 4.0_real64, 0.0_real64, -999.0_real64)
    call expect(back(2, 2) == -999 .and. count(back == packed + 2) == 11, 'a NaN becomes nan_value')
    v = gpumem_view(scale)
    call ctx%convert_scaled(gpumem_view(packed), gpumem_view(degrees), v%spread(2, 4), gpumem_view(offset))
    call expect(all(degrees == (packed - 10) * spread(real(scale), 2, 4)), 'a scale per row')
    call ctx%convert_scaled(gpumem_view(packed), gpumem_view(degrees), scale=v%spread(2, 4))
    call expect(all(degrees == packed * spread(real(scale), 2, 4)), 'no offset')
    call ctx%convert_scaled(gpumem_view(packed), gpumem_view(degrees))
    call expect(all(degrees == packed), 'neither')
    call ctx%convert_scaled(gpumem_view(packed), gpumem_view(degrees), gpumem_view(degrees), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'scale is (3, 4) of real32; expected real64')
    call ctx%convert_scaled(gpumem_view(packed), gpumem_view(degrees), v, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'scale is (3)')
    call ctx%convert_scaled(gpumem_view(packed(:, :3)), gpumem_view(degrees), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'src is (3, 3)')
  end subroutine

  subroutine repeated
    real(real64), target :: rows(4), columns(3), z(4, 3), total(3)
    integer(int64) :: huge_number = huge(1_int64)
    type(gpumem_view) :: r, c, v
    call random_number(rows)
    call random_number(columns)
    r = gpumem_view(rows)
    c = gpumem_view(columns)
    v = c%spread(1, 4)
    call expect(v%rank == 2 .and. all(v%extent(:2) == [4, 3]) .and. v%size() == 12, 'the shape of a spread view')
    call ctx%map(gpumem_map_add, r%spread(2, 3), v, gpumem_view(z))
    call expect(all(z == spread(rows, 2, 3) + spread(columns, 1, 4)), 'a sum over two vectors')
    call ctx%multiply(r%spread(2, 3), v, gpumem_view(z))
    call expect(all(z == spread(rows, 2, 3) * spread(columns, 1, 4)), 'multiply takes spread views')
    call ctx%map(gpumem_map_negate, gpumem_view(z), v, stat, errmsg)
    call expect(stat == gpumem_invalid_argument, 'a spread view is no result')
    call ctx%reduce(gpumem_max, v, total(1))
    call expect(total(1) == maxval(columns), 'reduce takes spread views')
    v = c%spread(3, 2, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'dim is 3; expected 1 to 2')
    v = c%spread(1, -1, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'ncopies is -1')
    v = c%spread(1, huge_number, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'at most')
    v = r%section([1], [0])
    v = v%spread(1, huge_number)
    call expect(v%size() == 0, 'no elements, many times')
  end subroutine

  ! On memory that a CUDA device can work on.
  subroutine enqueued
    integer(int32), target, asynchronous :: a(4, 3), b(4, 3), c(4, 3)
    real(real64), target :: coefficients(2) = [2.0_real64, 3.0_real64]
    type(gpumem_memory) :: x, y, mask, factors, word
    type(gpumem_view) :: v
    integer(int32), pointer, contiguous :: statuses(:)
    a = reshape([5, -1, 3, 8, 0, 2, -6, 4, 1, 9, -2, 7], [4, 3])
    call ctx%alloc(x, gpumem_memory_device, gpumem_i32, [4, 3])
    call ctx%alloc(y, gpumem_memory_device, gpumem_i32, [4, 3])
    call ctx%alloc(mask, gpumem_memory_device, gpumem_u8, [4, 3])
    call ctx%alloc(factors, gpumem_memory_device, gpumem_f64, [2])
    call ctx%alloc(word, gpumem_memory_pinned, gpumem_i32, [1])
    call c_f_pointer(word%host_address(), statuses, [1])
    statuses = -1
    v = factors%view()
    call ctx%copy(v, gpumem_view(coefficients))
    call stream%copy(x%view(), gpumem_view(a))
    call stream%fill(y%view(), 0)
    call stream%compare(gpumem_greater, x%view(), y%view(), mask%view())
    call stream%where(mask%view(), x%view(), y%view(), y%view())
    call stream%copy(gpumem_view(b), y%view())
    call stream%convert_scaled(x%view(), y%view(), v%section([1], [1]), v%section([2], [2]))
    call stream%map(gpumem_map_negate, y%view(), y%view())
    call stream%copy(gpumem_view(c), y%view())
    call stream%map(gpumem_map_divide, y%view(), x%view(), x%view(), status=gpumem_view(statuses))
    call stream%synchronize()
    call expect(all(b == max(a, 0)), 'enqueued compare and where')
    call expect(all(c == -2 * (a + 3)), 'enqueued scaled conversion and negate')
    call expect(statuses(1) == gpumem_out_of_range, 'the deferred status of a division by 0')
    call x%free()
    call y%free()
    call mask%free()
    call factors%free()
    call word%free()
  end subroutine

end program
