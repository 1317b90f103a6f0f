! Each operation on a context and in a stream, against Fortran's own intrinsics.
program operations_test
  use checks
  implicit none
  type(gpumem_context) :: ctx
  type(gpumem_stream) :: stream
  character(300) :: errmsg
  integer :: stat

  call open_context(ctx)
  call stream%create(ctx)
  call copies
  call fills
  call transposes
  call permutations
  call sums
  call lines
  call sums_by_index
  call scans
  call scans_of_lines
  call arithmetic
  call places
  call images
  call rows
  call selections
  call enqueued
  call stream%destroy()
  call close_context(ctx)

contains

  type(gpumem_view) function part(v, lower, upper, step)
    type(gpumem_view), intent(in) :: v
    integer, intent(in) :: lower(:), upper(:)
    integer, intent(in), optional :: step(:)
    part = v%section(lower, upper, step)
  end function

  subroutine copies
    real(real64), target :: a(6, 5, 4), b(6, 5, 4), line(10)
    integer(int32), target :: other(6, 5, 4)
    call random_number(a)
    b = 0
    call ctx%copy(gpumem_view(b), gpumem_view(a))
    call expect(all(b == a), 'copy')
    b = 0
    call ctx%copy(part(gpumem_view(b), [2, 1, 4], [3, 2, 4]), part(gpumem_view(a), [5, 4, 1], [6, 5, 1]))
    call expect(all(b(2:3, 1:2, 4) == a(5:6, 4:5, 1)) .and. count(b /= 0) == 4, 'copy of columns')
    b = 0
    call ctx%copy(part(gpumem_view(b), [1, 2, 1], [2, 4, 2]), part(gpumem_view(a), [3, 1, 3], [4, 3, 4]))
    call expect(all(b(1:2, 2:4, 1:2) == a(3:4, 1:3, 3:4)) .and. count(b /= 0) == 12, 'copy of parts of slices')
    call ctx%copy(gpumem_view(b(:, :, 1)), gpumem_view(a(:, :, 2)))
    call ctx%copy(gpumem_view(line(1:4)), gpumem_view(a(1:4, 1, 1)))
    call ctx%copy(gpumem_view(line(:3)), part(gpumem_view(a(:, 1, 1)), [1], [5], [2]))
    call expect(all(line(:3) == a(1:5:2, 1, 1)) .and. all(b(:, :, 1) == a(:, :, 2)), 'copy of what has gaps to what has none')
    line = 0
    call ctx%copy(part(gpumem_view(line), [1], [9], [4]), gpumem_view(a(1:3, 2, 1)))
    call expect(all(line(1:9:4) == a(1:3, 2, 1)) .and. count(line /= 0) == 3, 'copy with strides')
    call ctx%copy(gpumem_view(b(:, :, 1)), gpumem_view(a(:, :, 1)), stat=stat)
    call expect(stat == 0, 'stat is 0 after a success')
    call ctx%copy(gpumem_view(b(:, :, 1)), gpumem_view(a(:, 1:4, 1)), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, '(6, 4)')
    call ctx%copy(gpumem_view(b), gpumem_view(other), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, &
        'copy: dst is (6, 5, 4) of real64, src is (6, 5, 4) of int32; expected elements of one type')
    call ctx%copy(part(gpumem_view(b), [1, 1, 1], [6, 5, 4], [2, 2, 2]), &
        part(gpumem_view(a), [1, 1, 1], [6, 5, 4], [2, 2, 2]), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'padding')
  end subroutine

  subroutine fills
    integer(int32), target :: a(4, 3)
    complex(real64), target :: c(2)
    real(real64) :: modulus
    type(gpumem_view) :: bytes
    integer(int8), target :: b(3)
    a = 0
    call ctx%fill(gpumem_view(a), 7)
    call expect(all(a == 7), 'fill')
    call ctx%fill(part(gpumem_view(a), [2, 1], [3, 3]), -1)
    call expect(all(a(2:3, :) == -1) .and. all(a([1, 4], :) == 7), 'fill of columns')
    call ctx%fill(part(gpumem_view(a), [1, 1], [1, 3], [1, 2]), 5)
    call expect(all(a(1, :) == [5, 7, 5]), 'fill with a stride')
    call ctx%fill(gpumem_view(c), (1.0_real64, 2.0_real64))
    call expect(all(c == (1.0_real64, 2.0_real64)), 'fill of complex numbers')
    call ctx%reduce(gpumem_sum, gpumem_view(c), modulus, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'reduce: x is of complex')
    bytes = gpumem_view(b)
    call ctx%fill(bytes%as(gpumem_u8), -1_int8)
    call expect(all(b == -1), 'fill of unsigned numbers')
    call ctx%fill(gpumem_view(a), 1.0, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'kind')
  end subroutine

  subroutine transposes
    real(real32), target :: a(7, 4), b(4, 7), wide(9, 7)
    integer(int64), target :: many(3, 5, 4), turned(5, 3, 4), square(6, 6), before(6, 6)
    integer :: i
    call random_number(a)
    call ctx%transpose(gpumem_view(a), gpumem_view(b))
    call expect(all(b == transpose(a)), 'transpose')
    wide = 0
    call ctx%transpose(part(gpumem_view(a), [2, 1], [6, 4]), part(gpumem_view(wide), [3, 2], [6, 6]))
    call expect(all(wide(3:6, 2:6) == transpose(a(2:6, :))) .and. count(wide /= 0) == 20, 'transpose of sections')
    many = reshape([(int(i, int64), i = 1, 60)], [3, 5, 4])
    call ctx%transpose(gpumem_view(many), gpumem_view(turned))
    call expect(all([(all(turned(:, :, i) == transpose(many(:, :, i))), i = 1, 4)]), 'transpose of each matrix')
    square = reshape([(int(i, int64), i = 1, 36)], [6, 6])
    before = square
    call ctx%transpose(gpumem_view(square), gpumem_view(square))
    call expect(all(square == transpose(before)), 'transpose in place')
    call ctx%transpose(gpumem_view(a), gpumem_view(wide), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, '(9, 7)')
    call ctx%transpose(part(gpumem_view(a), [1, 1], [7, 4], [2, 1]), gpumem_view(b), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'columns')
  end subroutine

  subroutine permutations
    integer(int16), target :: a(2, 3, 4, 5), b(4, 2, 5, 3), wide(4, 2, 6, 3)
    integer :: i, j, k, l
    a = reshape([(int(i, int16), i = 1, 120)], [2, 3, 4, 5])
    call ctx%permute(gpumem_view(a), [3, 1, 4, 2], gpumem_view(b))
    call expect(all([((((b(k, i, l, j) == a(i, j, k, l), i = 1, 2), j = 1, 3), k = 1, 4), l = 1, 5)]), 'permute')
    wide = 0
    call ctx%permute(gpumem_view(a(:, :, :, 2:4)), [3, 1, 4, 2], part(gpumem_view(wide), [1, 1, 2, 1], [4, 2, 6, 3], [1, 1, 2, 1]))
    call expect(all([((((wide(k, i, 2 * l - 2, j) == a(i, j, k, l), i = 1, 2), j = 1, 3), k = 1, 4), l = 2, 4)]) .and. &
        count(wide /= 0) == 72, 'permute of sections')
    call ctx%permute(gpumem_view(a), [3, 1, 4, 5], gpumem_view(b), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'dimension')
    call ctx%permute(gpumem_view(a), [1, 2, 3, 4], gpumem_view(b), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, '(2, 3, 4, 5)')
    call boxes
  end subroutine

  subroutine boxes
    integer(int32), target :: field(5, 4), col(2, 1), row(1, 3), line(6)
    type(gpumem_view) :: none(0), whole
    integer :: i
    field = reshape([(i, i = 1, 20)], [5, 4])
    whole = gpumem_view(field)
    call ctx%copy_boxes([part(whole, [2, 2], [3, 2]), part(whole, [1, 1], [1, 3])], [gpumem_view(col), gpumem_view(row)])
    call expect(all(col(:, 1) == [7, 8]) .and. all(row(1, :) == [1, 6, 11]), 'copy_boxes of sections')
    call ctx%copy_boxes(none, none)
    call ctx%copy_boxes([whole], none, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'src has 1 views')
    call ctx%copy_boxes([whole, gpumem_view(line)], [whole, gpumem_view(line)], stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'src(2)')
  end subroutine

  subroutine sums
    integer(int32), target :: x(5, 4)
    real(real32), target :: r(6), s(6), t(6)
    real(real64), target :: d(4), e(4), square(4, 4)
    integer(int8), target :: b(3)
    integer(int32), target :: ranks(4)
    integer(int64), target :: ends(3) = [0_int64, 2_int64, 4_int64]
    integer(int64), target :: big(2)
    integer(int64) :: total, low, high, place
    real(real64) :: value, least, most
    type(gpumem_view) :: unsigned, flat, inside
    integer :: i
    flat = gpumem_view(x)
    flat = flat%reshaped([20])
    x = reshape([(3 * i - 30, i = 1, 20)], [5, 4])
    call ctx%reduce(gpumem_sum, gpumem_view(x), total)
    call expect(total == sum(x), 'sum')
    call ctx%reduce(gpumem_sum, part(gpumem_view(x), [3, 1], [3, 4]), total)
    call expect(total == sum(x(3, :)), 'sum of a row')
    call ctx%reduce(gpumem_sum, part(gpumem_view(x), [3, 1], [3, 4], [1, 3]), total)
    call expect(total == x(3, 1) + x(3, 4), 'sum of a row with a step')
    call ctx%argreduce(gpumem_min, part(gpumem_view(x), [2, 2], [2, 4]), total, place)
    call expect(total == x(2, 2) .and. place == 1, 'minimum of a row')
    call ctx%reduce(gpumem_sum, part(gpumem_view(x), [1, 1], [4, 4], [3, 1]), total)
    call expect(total == sum(x(1:4:3, :)), 'sum of rows with a step')
    call ctx%reduce(gpumem_sum_squares, part(gpumem_view(x), [2, 2], [4, 3]), total)
    call expect(total == sum(int(x(2:4, 2:3), int64)**2), 'sum of squares of an interior')
    call ctx%argreduce(gpumem_max, part(gpumem_view(x), [2, 2], [4, 3]), total, place)
    call expect(total == maxval(x(2:4, 2:3)) .and. place == 6, 'the place in an interior counts its elements')
    call ctx%reduce(gpumem_max, part(flat, [2], [20], [5]), total)
    call expect(total == maxval(x(2, :)), 'maximum with a stride')
    call ctx%min_max(gpumem_view(x), low, high)
    call expect(low == minval(x) .and. high == maxval(x), 'minimum and maximum')
    call ctx%argreduce(gpumem_min, gpumem_view(x(:, 3)), low, place)
    call expect(low == minval(x(:, 3)) .and. place == minloc(x(:, 3), 1), 'the place of a minimum counts from 1')
    call ctx%argreduce(gpumem_max, part(gpumem_view(x(:, 3)), [1], [5], [2]), high, place)
    call expect(place == 3, 'the place in a section')
    r = [1.5, -2.0, 8.0, 0.25, 8.0, 3.0]
    call ctx%reduce(gpumem_sum_squares, gpumem_view(r), value)
    call expect(value == sum(real(r, real64)**2), 'sum of squares')
    call ctx%reduce(gpumem_prod, gpumem_view(r), value)
    call expect(value == product(real(r, real64)), 'product')
    call ctx%min_max(gpumem_view(r), least, most)
    call expect(least == -2 .and. most == 8, 'minimum and maximum of reals')
    call ctx%argreduce(gpumem_max, gpumem_view(r), value, place)
    call expect(value == 8 .and. place == 3, 'the first of equals')
    s = 2
    call ctx%dot(gpumem_view(r), gpumem_view(s), value)
    call expect(value == dot_product(r, s), 'dot')
    d = [3, 0, 4, 0]
    e = [1, 2, 3, 4]
    call ctx%dot(part(gpumem_view(d), [1], [4], [2]), gpumem_view(e(:2)), value)
    call expect(value == 11, 'dot with a stride')
    call ctx%dot(part(gpumem_view(d), [1], [4], [2]), gpumem_view(e(:2)), value, order_free=.true.)
    call expect(value == 11, 'dot in any order')
    call ctx%nrm2(gpumem_view(d), value)
    call expect(value == 5, 'norm')
    call ctx%nrm2(gpumem_view(s(:4)), value)
    call expect(value == 4, 'norm of real32')
    square = reshape([(real(i, real64), i = 1, 16)], [4, 4])
    inside = part(gpumem_view(square), [2, 2], [3, 3])
    call ctx%dot(inside, inside, value)
    call expect(value == sum(square(2:3, 2:3)**2), 'dot of interiors')
    call ctx%nrm2(inside, value)
    call expect(abs(value - norm2(square(2:3, 2:3))) < 1e-12_real64, 'norm of an interior')
    call ctx%dot(inside, gpumem_view(e), value, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'one shape')
    call ctx%axpby(2.0, gpumem_view(r), -1.0, gpumem_view(s), gpumem_view(t))
    call expect(all(t == 2 * r - s), 'axpby')
    call ctx%axpby(0.5_real64, gpumem_view(e), 0.0_real64, gpumem_view(d), gpumem_view(d))
    call expect(all(d == e / 2), 'axpby of real64, an operand of which is not read')
    call ctx%convert(gpumem_view(r), gpumem_view(t))
    call expect(all(t == r), 'a conversion to the same type')
    call ctx%convert(gpumem_view(e(:3)), gpumem_view(b))
    call expect(all(b == nint(e(:3))), 'a conversion to int8')
    e = [3.0_real64, -1.0_real64, 2.0_real64, -1.0_real64]
    call ctx%sort(gpumem_view(e), gpumem_view(d))
    call expect(all(d == [-1.0_real64, -1.0_real64, 2.0_real64, 3.0_real64]), 'a sort')
    call ctx%sort_from_zero(gpumem_view(e), gpumem_view(ranks), descending=.true.)
    call expect(all(ranks == [0, 2, 1, 3]), 'the order of a descending sort')
    call ctx%sort_from_zero(gpumem_view(e), gpumem_view(ranks), gpumem_view(d))
    call expect(all(ranks == [1, 3, 2, 0]) .and. all(e(ranks + 1) == d), 'a sort and its order')
    call ctx%sort_segments_from_zero(gpumem_view(e), gpumem_view(ends), gpumem_view(ranks), gpumem_view(d))
    call expect(all(ranks == [1, 0, 3, 2]) .and. all(e(ranks + 1) == d), 'a sort of segments and its order')
    call ctx%sort_segments_from_zero(gpumem_view(e), gpumem_view(ends), sorted=gpumem_view(d), descending=.true.)
    call expect(all(d == [3.0_real64, -1.0_real64, 2.0_real64, -1.0_real64]), 'a descending sort of segments')
    ends(2) = 5
    call ctx%sort_segments_from_zero(gpumem_view(e), gpumem_view(ends), sorted=gpumem_view(d), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_out_of_range, stat, errmsg, 'offsets[1] is 5')
    call ctx%sort(gpumem_view(e), gpumem_view(d(:3)), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'sort: keys is (4) of real64')
    call ctx%axpby(1.0_real64, gpumem_view(e), 1.0_real64, gpumem_view(r(:4)), gpumem_view(d), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'axpby: z is (4) of real64, y is (4) of real32')
    call ctx%axpby(1.0, gpumem_view(e), 1.0, gpumem_view(d), gpumem_view(d), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'expected real32, as the factors are')
    call ctx%dot(gpumem_view(d), gpumem_view(r(:4)), value, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'dot: x is (4) of real64, y is (4) of real32')
    call ctx%convert(gpumem_view(e), gpumem_view(b), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'one shape')
    b = [-1_int8, 1_int8, 0_int8]
    unsigned = gpumem_view(b)
    call ctx%reduce(gpumem_sum, unsigned%as(gpumem_u8), total)
    call expect(total == 256, 'unsigned numbers')
    big = huge(big)
    unsigned = gpumem_view(big)
    call ctx%reduce(gpumem_sum, unsigned%as(gpumem_u64), total, stat, errmsg)
    call expect_refusal(gpumem_overflow, stat, errmsg, 'int64')
    call ctx%reduce(gpumem_sum, gpumem_view(big), total, stat, errmsg)
    call expect_refusal(gpumem_overflow, stat, errmsg, '')
    call expect(total == 256, 'a failure leaves the value alone')
    call ctx%reduce(gpumem_min, gpumem_view(x(1:0, 1)), total, stat, errmsg)
    call expect_refusal(gpumem_empty, stat, errmsg, '')
    call ctx%reduce(gpumem_sum, gpumem_view(x), value, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'int64')
    call ctx%reduce(gpumem_min_max, gpumem_view(x), total, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'min_max')
  end subroutine

  subroutine lines
    integer(int32), target :: x(6, 5, 2)
    integer(int64), target :: cols(5), rows(6), many(6, 2), places(6, 2), both(2, 4), results(3)
    real(real32), target :: real_x(6, 5, 2), real_sums(6)
    integer :: i
    x = reshape([(mod(i * 37, 101) - 50, i = 1, 60)], [6, 5, 2])
    call ctx%reduce_axis(gpumem_sum, gpumem_view(x(:, :, 1)), 1, gpumem_view(cols))
    call expect(all(cols == sum(x(:, :, 1), 1)), 'sum along dimension 1')
    call ctx%reduce_axis(gpumem_max, gpumem_view(x(:, :, 1)), 2, gpumem_view(rows))
    call expect(all(rows == maxval(x(:, :, 1), 2)), 'maximum along dimension 2')
    call ctx%reduce_axis(gpumem_sum, gpumem_view(x), 2, gpumem_view(many))
    call expect(all(many == sum(x, 2)), 'of each matrix')
    call ctx%reduce_axis(gpumem_min_max, part(gpumem_view(x(:, :, 2)), [2, 1], [3, 4]), 1, gpumem_view(both))
    call expect(all(both(1, :) == minval(x(2:3, 1:4, 2), 1)) .and. all(both(2, :) == maxval(x(2:3, 1:4, 2), 1)), 'of a section')
    call ctx%reduce_axes(gpumem_sum, gpumem_view(x), [1, 3], gpumem_view(cols))
    call expect(all(cols == sum(sum(x, 3), 1)), 'sum along two dimensions')
    call ctx%reduce_axes(gpumem_max, gpumem_view(x), [2], gpumem_view(many))
    call expect(all(many == maxval(x, 2)), 'maximum along one of three dimensions')
    real_x = x
    call ctx%reduce_axes(gpumem_sum, gpumem_view(real_x), [3, 2], gpumem_view(real_sums))
    call expect(all(nint(real_sums) == sum(sum(x, 3), 2)), 'sums of the kind of x')
    call ctx%reduce_axes(gpumem_min_max, part(gpumem_view(x(:, :, 2)), [2, 1], [3, 4]), [1], gpumem_view(both))
    call expect(all(both(1, :) == minval(x(2:3, 1:4, 2), 1)) .and. all(both(2, :) == maxval(x(2:3, 1:4, 2), 1)), &
        'of dimensions of a section')
    call ctx%reduce_axes(gpumem_sum, gpumem_view(x), [4], gpumem_view(many), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'a dimension is 4')
    call ctx%reduce_axes(gpumem_sum, gpumem_view(x), [2], gpumem_view(rows), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, '12')
    call ctx%argreduce_axis_from_zero(gpumem_max, gpumem_view(x), 2, gpumem_view(many), gpumem_view(places))
    call expect(all(many == maxval(x, 2)) .and. all(places + 1 == maxloc(x, 2)), 'places along dimension 2')
    call ctx%argreduce_axis_from_zero(gpumem_min, gpumem_view(x), 2, gpumem_view(many), gpumem_view(rows), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'index_from_zero')
    call ctx%reduce_axis(gpumem_sum, gpumem_view(x), 3, gpumem_view(many), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'dim is 3')
    call ctx%reduce_axis(gpumem_sum, gpumem_view(x), 2, gpumem_view(rows), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, '12')

    call ctx%reduce_segments(gpumem_sum, gpumem_view(x(:, 1, 1)), [1, 3, 3, 7], gpumem_view(results))
    call expect(all(results == [sum(x(1:2, 1, 1)), 0, sum(x(3:6, 1, 1))]), 'segments begin at numbers from 1')
    call ctx%reduce_segments(gpumem_sum, gpumem_view(x(:, 1, 1)), [1_int64, 8_int64], gpumem_view(results), stat, errmsg)
    call expect_refusal(gpumem_out_of_range, stat, errmsg, '')
  end subroutine

  subroutine sums_by_index
    real(real32), target :: x(4)
    integer(int32), target :: index(4)
    real(real64), target :: sums(3)
    integer(int64), target :: counts(3)
    real(real32), target :: m(3, 2)
    real(real64), target :: of_columns(2, 3)
    x = [1.0, 2.0, 4.0, 8.0]
    index = [2, 0, 2, 0]
    call ctx%by_index_from_zero(gpumem_sum, gpumem_view(x), gpumem_view(index), gpumem_view(sums))
    call expect(all(abs(sums - [10.0, 0.0, 5.0]) < 1e-14), 'sums of bins from 0')
    call ctx%counts_from_zero(gpumem_view(index), gpumem_view(counts))
    call expect(all(counts == [2, 0, 2]), 'counts of bins from 0')
    call ctx%counts_from_zero(gpumem_view(index), gpumem_view(counts(1:2)), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_out_of_range, stat, errmsg, 'index[0] is 2')
    call ctx%by_index_from_zero(gpumem_sum, gpumem_view(x(1:3)), gpumem_view(index), gpumem_view(sums), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'by_index_from_zero: x has 3')
    m = reshape([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 2])
    call ctx%rows_by_index_from_zero(gpumem_sum, part(gpumem_view(m), [1, 1], [2, 2]), gpumem_view(index(1:2)), &
        gpumem_view(of_columns))
    call expect(all(abs(of_columns - reshape([4.0, 5.0, 0.0, 0.0, 1.0, 2.0], [2, 3])) < 1e-14), 'sums of columns by index')
    call ctx%rows_by_index_from_zero(gpumem_sum, gpumem_view(m), gpumem_view(index), gpumem_view(of_columns), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'rows_by_index_from_zero: x is')
  end subroutine

  subroutine scans
    integer(int32), target :: x(4), few(3)
    integer(int64), target :: sums(4)
    x = [3, 1, 4, 1]
    call ctx%scan(gpumem_sum, gpumem_view(x), gpumem_view(sums))
    call expect(all(sums == [3, 4, 8, 9]), 'sums of int32 as int64')
    call ctx%scan(gpumem_sum, gpumem_view(x), gpumem_view(sums), exclusive=.true.)
    call expect(all(sums == [0, 3, 4, 8]), 'an exclusive scan begins with 0')
    call ctx%scan(gpumem_sum, gpumem_view(x), gpumem_view(few), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'scan: x')
    call ctx%scan(gpumem_max, gpumem_view(x), gpumem_view(x))
    call expect(all(x == [3, 3, 4, 4]), 'in place')
  end subroutine

  subroutine scans_of_lines
    integer(int32), target :: x(2, 3), y(5)
    integer(int64), target :: sums(2, 3), parts(5), offsets(3)
    x = reshape([1, 2, 3, 4, 5, 6], [2, 3])
    call ctx%scan_axis(gpumem_sum, gpumem_view(x), 1, gpumem_view(sums))
    call expect(all(sums == reshape([1, 3, 3, 7, 5, 11], [2, 3])), 'along dimension 1')
    call ctx%scan_axis(gpumem_sum, part(gpumem_view(x), [1, 1], [1, 3]), 2, part(gpumem_view(sums), [2, 1], [2, 3]), &
        exclusive=.true.)
    call expect(all(sums == reshape([1, 0, 3, 1, 5, 4], [2, 3])), 'a section along dimension 2')
    call ctx%scan_axis(gpumem_sum, gpumem_view(x), 3, gpumem_view(sums), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'scan_axis: dim is 3')
    call ctx%scan_axis(gpumem_sum, gpumem_view(x), 1, gpumem_view(sums(:, 1:2)), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'scan_axis: x is (2, 3)')
    y = [3, 1, 4, 1, 5]
    parts = 9
    call ctx%scan_segments(gpumem_sum, gpumem_view(y), [1, 3, 5], gpumem_view(parts))
    call expect(all(parts == [3, 4, 4, 5, 9]), 'segments from 1')
    offsets = [0, 2, 5]
    call ctx%scan_segments_from_zero(gpumem_max, gpumem_view(y), gpumem_view(offsets), gpumem_view(y))
    call expect(all(y == [3, 3, 4, 4, 5]), 'segments from 0')
    call ctx%scan_segments(gpumem_sum, gpumem_view(y), [1, 9], gpumem_view(parts), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_out_of_range, stat, errmsg, 'offsets[1] is 8')
    call ctx%scan_segments(gpumem_sum, gpumem_view(y), [1, 3], gpumem_view(parts(:3)), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'scan_segments: x')
  end subroutine

  subroutine arithmetic
    real(real64), target :: u(6, 5), v(6, 5), w(4, 3), numbers(2)
    real(real32), target :: a(2, 3, 2), b(2, 3, 2)
    type(gpumem_view) :: all_of_u, inner, one
    call random_number(u)
    v = -1
    all_of_u = gpumem_view(u)
    inner = part(gpumem_view(v), [2, 2], [5, 4])
    call ctx%lincomb([0.5_real64, 0.25_real64, -2.0_real64], [part(all_of_u, [2, 2], [5, 4]), part(all_of_u, [3, 2], [6, 4]), &
        part(all_of_u, [2, 1], [5, 3])], inner)
    call expect(all(v(2:5, 2:4) == 0.5 * u(2:5, 2:4) + 0.25 * u(3:6, 2:4) + (-2) * u(2:5, 1:3)), 'a stencil')
    call expect(all(v(1, :) == -1) .and. all(v(6, :) == -1) .and. all(v(:, [1, 5]) == -1), 'a stencil leaves the edges alone')
    call ctx%multiply(part(all_of_u, [1, 1], [4, 3]), inner, gpumem_view(w))
    call expect(all(w == u(1:4, 1:3) * v(2:5, 2:4)), 'multiply')
    call random_number(a)
    call ctx%lincomb([3.0, 0.0], [gpumem_view(a), gpumem_view(a)], gpumem_view(b))
    call expect(all(b == 3 * a), 'lincomb of real32')
    call ctx%multiply(gpumem_view(a), gpumem_view(b), gpumem_view(b))
    call expect(all(b == a * (3 * a)), 'multiply in place')
    numbers = [6, 4]
    call ctx%lincomb([2.0], [gpumem_view(a)], gpumem_view(b), numerators=[gpumem_view(numbers(1:1))], &
        denominators=[gpumem_view(numbers(2:2))])
    call expect(all(b == 3 * a), 'lincomb with factors in memory')
    call ctx%lincomb([2.0, 0.0], [gpumem_view(a), gpumem_view(a)], gpumem_view(b), numerators=[one, &
        gpumem_view(numbers(2:2))])
    call expect(all(b == 2 * a), 'lincomb with one factor in memory')
    call ctx%lincomb_dot([2.0], [gpumem_view(a)], gpumem_view(b), [gpumem_view(a), gpumem_view(b)], gpumem_view(numbers))
    call expect(all(b == 2 * a) .and. all(abs(numbers - [sum(real(a, real64) * b), sum(real(b, real64)**2)]) < 1e-9), &
        'lincomb_dot')
    call ctx%lincomb_dot([2.0], [gpumem_view(a)], gpumem_view(b), [gpumem_view(a)], gpumem_view(b), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'lincomb_dot: results is')
    call ctx%lincomb([2.0], [gpumem_view(a)], gpumem_view(b), numerators=[gpumem_view(numbers)], stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'numerators has 1 views; expected 1 of one real64 each')
    call ctx%lincomb([1.0_real64], [all_of_u], inner, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, '(6, 5)')
    call ctx%lincomb([1.0], [all_of_u], gpumem_view(v), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'kind')
    call ctx%lincomb([1.0_real64, 1.0_real64], [all_of_u], gpumem_view(v), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'as many factors')
    call ctx%multiply(gpumem_view(a), inner, inner, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'multiply: z is (4, 3) of real64, x is (2, 3, 2) of real32')
    call ctx%multiply(inner, gpumem_view(a), inner, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, ', y is (2, 3, 2) of real32')
    call ctx%lincomb([1.0_real64, 1.0_real64], [inner, gpumem_view(a)], inner, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, ', x(2) is (2, 3, 2) of real32')
  end subroutine

  ! stat and errmsg by their places, which are the same in all of these.
  subroutine places
    real(real64), target :: a(4, 3), sums(4), value(1)
    integer(int64), target :: index(1) = 0, offsets(2) = [0, 4]
    integer(int32), target :: word(1)
    type(gpumem_view) :: none
    call random_number(a)
    call ctx%reduce_to(gpumem_sum, none, gpumem_view(value), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'reduce: x')
    call ctx%reduce_axis(gpumem_sum, none, 1, gpumem_view(sums), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'reduce_axis: x')
    call ctx%segments_from_zero(gpumem_sum, none, gpumem_view(offsets), gpumem_view(sums), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'reduce_segments: x')
    call ctx%gather_from_zero(none, gpumem_view(index), gpumem_view(a), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'gather: src')
    call ctx%scatter_from_zero(none, gpumem_view(index), gpumem_view(a), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'scatter: src')
    call ctx%reduce_axis(gpumem_sum, gpumem_view(a), 2, gpumem_view(sums), stat, errmsg, gpumem_view(word))
    call expect(stat == 0 .and. all(abs(sums - sum(a, 2)) < 1e-14), 'a status word behind stat and errmsg')
  end subroutine

  subroutine images
    integer(int8), target :: gray(2, 3), large(4, 3), colour(3, 2, 1), wide(3, 4, 1), many(4, 3, 2)
    type(gpumem_view) :: from, to
    type(gpumem_memory) :: memory
    integer :: c
    gray = reshape([0_int8, 100_int8, 10_int8, 20_int8, 50_int8, 50_int8], [2, 3])
    from = gpumem_view(gray)
    to = gpumem_view(large)
    call ctx%resize(gpumem_filter_bilinear, from%as(gpumem_u8), to%as(gpumem_u8))
    call expect(all(large(:, 1) == [0, 25, 75, 100]) .and. all(large(:, 3) == 50), 'the first dimension is the width')
    to = gpumem_view(many)
    call ctx%resize_batch(gpumem_filter_bilinear, [from%as(gpumem_u8), from%as(gpumem_u8)], to%as(gpumem_u8))
    call expect(all(many(:, :, 1) == large) .and. all(many(:, :, 2) == large), 'the last dimension counts the images')
    call ctx%resize_batch(gpumem_filter_bilinear, [from%as(gpumem_u8)], to%as(gpumem_u8), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'resize_batch: dst')
    call ctx%resize_batch(gpumem_filter_bilinear, [from%as(gpumem_u8), from], to%as(gpumem_u8), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'src(2)')
    colour = reshape([0_int8, 40_int8, 80_int8, 100_int8, 120_int8, 127_int8], [3, 2, 1])
    from = gpumem_view(colour)
    to = gpumem_view(wide)
    call ctx%resize(gpumem_filter_nearest, from%as(gpumem_u8), to%as(gpumem_u8))
    call expect(all([(all(wide(c, :, 1) == colour(c, [1, 1, 2, 2], 1)), c = 1, 3)]), 'channels come first')
    call ctx%resize(gpumem_filter_nearest, from, to, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_unsupported, stat, errmsg, '')
    to = gpumem_view(large)
    call ctx%resize(gpumem_filter_nearest, from, to, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'width')
    call ctx%alloc(memory, gpumem_memory_device, gpumem_u8, [2_int64**32 + 3, 0_int64, 0_int64])
    call ctx%resize(gpumem_filter_nearest, memory%view(), memory%view(), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'channels')
    call memory%free()
  end subroutine

  subroutine rows
    real(real32), target :: table(3, 5), taken(3, 4), put(3, 5)
    integer(int64), target :: from_zero(2)
    call random_number(table)
    call ctx%gather(gpumem_view(table), [5, 1, 1, 3], gpumem_view(taken))
    call expect(all(taken == table(:, [5, 1, 1, 3])), 'gather by an index from 1')
    put = 0
    call ctx%scatter(gpumem_view(taken(:, 3:4)), [2_int64, 4_int64], gpumem_view(put))
    call expect(all(put(:, [2, 4]) == taken(:, 3:4)) .and. count(put /= 0) == 6, 'scatter by an index from 1')
    taken = 0
    call ctx%gather(part(gpumem_view(table), [1, 1], [2, 5]), [2, 3], part(gpumem_view(taken), [2, 1], [3, 4]))
    call expect(all(taken(2:3, :2) == table(1:2, 2:3)) .and. count(taken /= 0) == 4, 'gather of sections')
    from_zero = [4, 0]
    call ctx%gather_from_zero(gpumem_view(table), gpumem_view(from_zero), gpumem_view(taken))
    call expect(all(taken(:, :2) == table(:, [5, 1])), 'gather by an index from 0 in memory')
    call ctx%gather(gpumem_view(table), [0], gpumem_view(taken), stat, errmsg)
    call expect_refusal(gpumem_out_of_range, stat, errmsg, '-1')
    call ctx%gather(gpumem_view(table), [6], gpumem_view(taken), stat, errmsg)
    call expect_refusal(gpumem_out_of_range, stat, errmsg, '5')
    call ctx%gather(gpumem_view(table), [1, 1, 1, 1, 1], gpumem_view(taken), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, '5 numbers for 4')
    call ctx%gather(gpumem_view(table), [1], part(gpumem_view(taken), [1, 1], [2, 4]), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, '(2, 4)')
  end subroutine

  subroutine selections
    real(real32), target :: table(3, 5), kept_rows(3, 4)
    integer(int8), target :: mask(5)
    integer(int64) :: kept
    integer(int64), target :: places(5)
    integer(int32) :: few(1)
    call random_number(table)
    mask = [1_int8, 0_int8, -1_int8, 0_int8, 7_int8]
    call ctx%select(gpumem_view(table), gpumem_view(mask), gpumem_view(kept_rows), kept)
    call expect(kept == 3 .and. all(kept_rows(:, :3) == table(:, [1, 3, 5])), 'select by a mask')
    places = -1
    call ctx%select_places(gpumem_view(mask), places, kept)
    call expect(kept == 3 .and. all(places == [1, 3, 5, -1, -1]), 'places count from 1')
    few = 0
    call ctx%select_places(gpumem_view(mask), few, kept, stat, errmsg)
    call expect_refusal(gpumem_out_of_range, stat, errmsg, 'places_n is 1')
    call expect(kept == 3 .and. few(1) == 1, 'places with too little room')
    call ctx%select(gpumem_view(table), gpumem_view(mask(:4)), gpumem_view(kept_rows), kept, stat, errmsg)
    call expect(stat == 0 .and. kept == 2, 'a mask that is shorter than src keeps among the first rows')
    call ctx%select(gpumem_view(table), gpumem_view(places), gpumem_view(kept_rows), kept, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'int8')
  end subroutine

  ! All of it once more in a stream, on memory that a CUDA device can work on.
  subroutine enqueued
    real(real64), target, asynchronous :: a(4, 3), b(4, 3)
    integer(int32), target :: index(2)
    type(gpumem_memory) :: x, y, results, word, rows, place, sums
    type(gpumem_view) :: v
    real(real64), pointer :: found(:)
    integer(int32), pointer, contiguous :: statuses(:)
    integer(int64), pointer :: from_zero(:)
    call random_number(a)
    call ctx%alloc(x, gpumem_memory_device, gpumem_f64, [4, 3])
    call ctx%alloc(y, gpumem_memory_device, gpumem_f64, [3, 4])
    call ctx%alloc(rows, gpumem_memory_device, gpumem_i32, [2])
    call ctx%alloc(results, gpumem_memory_pinned, gpumem_f64, [16])
    call ctx%alloc(place, gpumem_memory_pinned, gpumem_i64, [1])
    call ctx%alloc(word, gpumem_memory_pinned, gpumem_i32, [4])
    call c_f_pointer(results%host_address(), found, [16])
    call c_f_pointer(place%host_address(), from_zero, [1])
    call c_f_pointer(word%host_address(), statuses, [4])
    found = 0
    statuses = -1
    index = [2, 0]
    call ctx%copy(rows%view(), gpumem_view(index))
    v = results%view()
    call stream%copy(x%view(), gpumem_view(a))
    call stream%reduce_to(gpumem_sum, x%view(), v%section([1], [1]), status=gpumem_view(statuses(1:1)))
    call stream%argreduce_to(gpumem_max, x%view(), v%section([2], [2]), place%view())
    call stream%dot_to(x%view(), x%view(), v%section([3], [3]))
    call stream%nrm2_to(x%view(), v%section([4], [4]))
    call stream%reduce_axis(gpumem_max, x%view(), 1, v%section([5], [7]), status=gpumem_view(statuses(2:2)))
    call stream%transpose(x%view(), y%view())
    call stream%axpby(2.0_real64, x%view(), 0.0_real64, x%view(), x%view())
    call stream%convert(x%view(), x%view())
    call stream%lincomb([0.5_real64, 0.5_real64], [x%view(), x%view()], x%view())
    call stream%copy(gpumem_view(b), x%view())
    call stream%synchronize()
    call expect(all(b == 2 * a), 'enqueued copies and axpby')
    call expect(found(2) == maxval(a) .and. from_zero(1) == maxloc([a], 1) - 1, 'an enqueued place counts from 0')
    call expect(abs(found(1) - sum(a)) < 1e-14 * 12 .and. abs(found(4)**2 - found(3)) < 1e-12, 'enqueued sums')
    call expect(all(found(5:7) == maxval(a, 1)) .and. all(statuses(:2) == gpumem_ok), 'enqueued maxima and statuses')
    call stream%reduce_axes(gpumem_max, x%view(), [1], v%section([5], [7]), status=gpumem_view(statuses(2:2)))
    call stream%synchronize()
    call expect(all(found(5:7) == 2 * maxval(a, 1)) .and. statuses(2) == gpumem_ok, 'enqueued maxima of dimensions')

    call stream%permute(x%view(), [2, 1], y%view())
    call stream%gather_from_zero(x%view(), rows%view(), x%view(), stat, errmsg, gpumem_view(statuses(3:3)))
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, '')  ! in place
    call stream%alloc(sums, gpumem_f64, [4, 2], alignment=4096)
    call stream%gather_from_zero(x%view(), rows%view(), sums%view(), status=gpumem_view(statuses(3:3)))
    call stream%fill(x%view(), 0.0_real64)
    call stream%scatter_from_zero(sums%view(), rows%view(), x%view(), status=gpumem_view(statuses(4:4)))
    call stream%copy(gpumem_view(b), x%view())
    call stream%free(sums)
    call stream%synchronize()
    call expect(all(b(:, [1, 3]) == 2 * a(:, [1, 3])) .and. all(b(:, 2) == 0), 'enqueued rows by index')
    call expect(all(statuses(3:) == gpumem_ok), 'their statuses')
    block
      integer(int8), target :: mask(3)
      type(gpumem_memory) :: flags
      mask = [0_int8, 1_int8, 1_int8]
      call ctx%alloc(flags, gpumem_memory_device, gpumem_i8, [3])
      call ctx%copy(flags%view(), gpumem_view(mask))
      call stream%copy(x%view(), gpumem_view(a))
      call stream%alloc(sums, gpumem_f64, [4, 3])
      call stream%select_to(x%view(), flags%view(), sums%view(), place%view())
      call stream%copy(gpumem_view(b), sums%view())
      call stream%free(sums)
      call stream%synchronize()
      call expect(from_zero(1) == 2 .and. all(b(:, :2) == a(:, 2:)), 'enqueued selection')
      call flags%free()
    end block
    call x%free()
    call y%free()
    call results%free()
    call place%free()
    call rows%free()
    call word%free()
  end subroutine

end program
