! Arrays over several members of one process, against the same array in one piece.
module transports
  use checks
  implicit none
  integer :: released = 0, asked_for = 0
contains
  ! For one process, which sends nothing.
  integer(c_int32_t) function fill_alone(comm, transport) bind(c)
    integer(c_int), value :: comm
    type(gpumem_dist_transport), intent(inout) :: transport
    asked_for = int(comm)
    fill_alone = gpumem_unsupported
    if (comm < 0) return
    fill_alone = gpumem_ok
    transport%rank = 0
    transport%size = 1
    transport%isend = c_funloc(send)
    transport%irecv = c_funloc(send)
    transport%test = c_funloc(test)
    transport%release = c_funloc(release)
  end function

  integer(c_int32_t) function send(user, p, bytes, to, request) bind(c)
    type(c_ptr), value :: user, p, request
    integer(c_int64_t), value :: bytes
    integer(c_int32_t), value :: to
    send = merge(1, 2, c_associated(user) .or. c_associated(p) .or. c_associated(request) .or. bytes + to > 0)
  end function

  integer(c_int32_t) function test(user, request, done) bind(c)
    type(c_ptr), value :: user, request, done
    test = merge(1, 2, c_associated(user) .or. c_associated(request) .or. c_associated(done))
  end function

  subroutine release(user) bind(c)
    type(c_ptr), value :: user
    if (.not. c_associated(user)) released = released + 1
  end subroutine
end module

program distributed_test
  use transports
  implicit none
  type(gpumem_context) :: ctx, other
  type(gpumem_dist) :: dist
  character(300) :: errmsg
  integer :: stat

  call open_context(ctx)
  call other%create(gpumem_device_host)
  call dist%create([ctx, ctx, ctx])
  call who_is_there
  call exchanged_dimensions
  call several_boxes
  call halos
  call enqueued
  call same_bits
  call places
  call refusals_of_layouts
  call refusals_of_operands
  call lifetimes
  call transports_of_the_program
  call dist%destroy()
  call other%destroy()
  call close_context(ctx)

contains

  ! x in slabs of its last dimension, one a member.
  type(gpumem_layout) function slabs(bytes, extents) result(layout)
    integer, intent(in) :: bytes, extents(:)
    integer :: first(size(extents)), last(size(extents)), m, r
    layout = gpumem_layout(bytes, extents)
    r = size(extents)
    first = 1
    last = extents
    do m = 1, 3
      first(r) = extents(r) * (m - 1) / 3 + 1
      last(r) = extents(r) * m / 3
      call layout%add(first, last)
    end do
  end function

  subroutine who_is_there
    type(gpumem_dist_info) :: info
    call dist%query(info)
    call expect(all([info%rank, info%size, info%first_member, info%members, info%all_members, info%status] == [0, 1, 0, 3, 3, 0]), &
        'query')
  end subroutine

  ! Dimension d of dst is dimension order(d) of src, as with permute.
  subroutine exchanged_dimensions
    integer(int32), target :: a(4, 5, 6), b(5, 6, 4), c(5, 6, 4)
    type(gpumem_plan) :: plan
    integer :: i
    a = reshape([(i, i = 1, size(a))], shape(a))
    b = 0
    call dist%plan_redistribute(plan, slabs(4, shape(a)), slabs(4, shape(b)), [2, 3, 1])
    call plan%execute([gpumem_view(a(:, :, 1:2)), gpumem_view(a(:, :, 3:4)), gpumem_view(a(:, :, 5:6))], &
        [gpumem_view(b(:, :, 1:1)), gpumem_view(b(:, :, 2:2)), gpumem_view(b(:, :, 3:4))])
    call ctx%permute(gpumem_view(a), [2, 3, 1], gpumem_view(c))
    call expect(all(b == c) .and. b(2, 3, 1) == a(1, 2, 3), 'redistribute with dimensions exchanged')
    call plan%destroy()
  end subroutine

  ! A member with two boxes, one behind the other in its memory, one with strides, and one that has no box.
  subroutine several_boxes
    complex(real64), target :: a(6, 4), one(12), two(2, 12)
    type(gpumem_layout) :: whole, parts
    type(gpumem_plan) :: plan
    type(gpumem_view) :: nothing
    integer :: i
    a = reshape([(cmplx(i, -i, real64), i = 1, size(a))], shape(a))
    one = 0
    two = 0
    whole = gpumem_layout(16, shape(a, int64))
    call whole%add([1, 1], [6, 4], member=3)
    parts = gpumem_layout(16, shape(a))
    call parts%add([1_int64, 1_int64], [3_int64, 2_int64], member=2)
    call parts%add([4, 3], [6, 4], member=2, offset=6_int64)
    call parts%add([4, 1], [6, 2], member=1, offset=1_int64, strides=[2_int64, 6_int64])
    call parts%add([1, 3], [3, 4], member=1, offset=12_int64, strides=[2_int64, 6_int64])
    call parts%add([1, 1], [0, 4], member=3)
    call dist%plan_redistribute(plan, whole, parts)
    call plan%execute([nothing, nothing, gpumem_view(a)], [gpumem_view(two), gpumem_view(one), nothing])
    call expect(all(one == [a(1:3, 1:2), a(4:6, 3:4)]), 'two boxes of one member')
    call expect(all(two(2, :6) == reshape(a(4:6, 1:2), [6])) .and. all(two(1, 7:) == reshape(a(1:3, 3:4), [6])) .and. &
        all(two(1, :6) == 0) .and. all(two(2, 7:) == 0), 'boxes with strides')
    call plan%destroy()
  end subroutine

  ! Columns, rows of ghost cells all round, corners too: dimension 1 goes on at its other end, dimension 2 does not.
  subroutine halos
    integer(int64), target :: u(0:4, 0:3), v(0:4, 0:2), w(0:4, 0:3)
    type(gpumem_layout) :: layout
    type(gpumem_plan) :: plan
    layout = halo_layout(1)
    call dist%plan_halo(plan, layout, [1, 1], [1, 1], [.true., .false.])
    call set(u, v, w)
    call plan%execute([gpumem_view(u), gpumem_view(v), gpumem_view(w)])
    call expect(all(u(:, 0) == -1) .and. all(u(:, 1) == [13, 11, 12, 13, 11]) .and. all(u(:, 3) == [33, 31, 32, 33, 31]), &
        'the first box''s halo')
    call expect(all(v(:, 0) == [23, 21, 22, 23, 21]) .and. all(v(:, 2) == [43, 41, 42, 43, 41]), 'the middle box''s halo')
    call expect(all(w(:, 0) == u(:, 3)) .and. all(w(:, 3) == -1) .and. all(w(:, 2) == [53, 51, 52, 53, 51]), 'the last box''s halo')
    call plan%destroy()
    call dist%plan_halo(plan, layout, [1, 1], [1, 1], [.true., .true.])
    call set(u, v, w)
    call plan%execute([gpumem_view(u), gpumem_view(v), gpumem_view(w)], [gpumem_view(u), gpumem_view(v), gpumem_view(w)])
    call expect(all(u(:, 0) == w(:, 2)) .and. all(w(:, 3) == u(:, 1)), 'a halo round both ends')
    call plan%destroy()
    call dist%plan_halo(plan, layout, [1, 1], [0, 1])
    call set(u, v, w)
    call plan%execute([gpumem_view(u), gpumem_view(v), gpumem_view(w)])
    call expect(all(v(0, :) == -1) .and. all(v(4, :) == -1) .and. all(v(1:3, 2) == w(1:3, 1)), 'no halo past the ends by default')
    call plan%destroy()
    call dist%plan_halo(plan, halo_layout(0), [1, 1], [1, 1], stat=stat)
    call expect(stat == gpumem_invalid_argument, 'a halo without room for it')
  end subroutine

  ! Of the array whose element (i, j) is 10 j + i, columns 1 and 2, 3, 4 and 5.
  type(gpumem_layout) function halo_layout(ghosts) result(layout)
    integer, intent(in) :: ghosts
    layout = gpumem_layout(8, [3, 5])
    call layout%add([1, 1], [3, 2], low=[1, 1] * ghosts, high=[1, 1])
    call layout%add([1, 3], [3, 3], low=[1, 1] * ghosts, high=[1, 1])
    call layout%add([1, 4], [3, 5], low=[1, 1] * ghosts, high=[1, 1])
  end function

  subroutine set(u, v, w)
    integer(int64), intent(out) :: u(0:, 0:), v(0:, 0:), w(0:, 0:)
    integer :: i
    u = -1
    v = -1
    w = -1
    do i = 1, 3
      u(i, 1:2) = [10, 20] + i
      v(i, 1) = 30 + i
      w(i, 1:2) = [40, 50] + i
    end do
  end subroutine

  ! A step on each stream, the halo, the next step, and nobody waits in between.
  subroutine enqueued
    integer, parameter :: n = 200000
    type(gpumem_stream) :: streams(3), alien
    type(gpumem_memory) :: memory(3)
    type(gpumem_layout) :: layout
    type(gpumem_plan) :: plan
    type(gpumem_view) :: views(3)
    integer(int32), allocatable, target :: seen(:)
    integer :: m, turn
    allocate (seen(n + 2))
    layout = gpumem_layout(4, [3 * n])
    do m = 1, 3
      call layout%add([(m - 1) * n + 1], [m * n], low=[1], high=[1])
      call streams(m)%create(ctx)
      call ctx%alloc(memory(m), gpumem_memory_device, gpumem_i32, [n + 2])
      views(m) = memory(m)%view()
    end do
    call dist%plan_halo(plan, layout, [1], [1], [.true.])
    do turn = 1, 5
      do m = 1, 3
        call streams(m)%fill(views(m)%section([2], [n + 1]), 10 * turn + m)
      end do
      call plan%execute_async(views, streams=streams)
    end do
    do m = 1, 3
      call streams(m)%synchronize()
      call ctx%copy(gpumem_view(seen), views(m))
      call expect(seen(1) == 50 + modulo(m - 2, 3) + 1 .and. all(seen(2:n + 1) == 50 + m) .and. &
          seen(n + 2) == 50 + modulo(m, 3) + 1, 'a halo between what the streams hold')
    end do
    call plan%execute_async(views)
    call ctx%synchronize()
    call alien%create(other)
    call plan%execute_async(views, streams=[streams(:2), alien], stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'one stream of each member''s context')
    call alien%destroy()
    call plan%execute_async(views, streams=streams(:2), stat=stat)
    call expect(stat == gpumem_invalid_argument, 'too few streams')
    call plan%destroy()
    do m = 1, 3
      call streams(m)%destroy()
      call memory(m)%free()
    end do
  end subroutine

  ! By slabs, and by boxes that are no runs of the array's elements.
  subroutine same_bits
    integer, parameter :: rows = 300, cols = 70
    real(real64), allocatable, target :: x(:, :), y(:, :)
    real(real32), allocatable, target :: z(:, :)
    type(gpumem_layout) :: by_columns, by_rows, of_reals
    type(gpumem_plan) :: plan
    type(gpumem_view) :: of_x(3), of_y(3), of_z(3)
    real(real64) :: value, expected, low, high
    integer :: i
    allocate (x(rows, cols), y(rows, cols), z(rows, cols))
    call random_number(x)
    call random_number(y)
    x = x - 0.3
    z = real(x, real32)
    by_columns = gpumem_layout(8, shape(x))
    call by_columns%add([1, 1], [rows, 20])
    call by_columns%add([1, 21], [rows, cols])
    by_rows = gpumem_layout(8, shape(x))
    call by_rows%add([1, 1], [100, cols], high=[200, 0])
    call by_rows%add([101, 1], [rows, cols], low=[100, 0])
    call dist%plan_reduce(plan, by_columns)
    of_x = [gpumem_view(x(:, :20)), gpumem_view(x(:, 21:)), gpumem_view(x(:, :0))]
    of_y = [gpumem_view(y(:, :20)), gpumem_view(y(:, 21:)), gpumem_view(y)]
    do i = 1, 2
      call plan%reduce(gpumem_sum, of_x, value)
      call ctx%reduce(gpumem_sum, gpumem_view(x), expected)
      call expect(value == expected, 'a sum over members')
      call plan%dot(of_x, of_y, value)
      call ctx%dot(gpumem_view(x), gpumem_view(y), expected)
      call expect(value == expected, 'a dot product over members')
      call plan%dot(of_x, of_y, value, order_free=.true.)
      call ctx%dot(gpumem_view(x), gpumem_view(y), expected, order_free=.true.)
      call expect(value == expected, 'dot in any order')
      call plan%nrm2(of_x, value)
      call ctx%nrm2(gpumem_view(x), expected)
      call expect(value == expected, 'a norm over members')
      call plan%min_max(of_x, low, high)
      call expect(low == minval(x) .and. high == maxval(x), 'both ends over members')
      call plan%destroy()
      call dist%plan_reduce(plan, by_rows)
      of_x = gpumem_view(x)
      of_y = gpumem_view(y)
    end do
    call plan%destroy()
    of_reals = slabs(4, shape(z))
    call dist%plan_reduce(plan, of_reals, workspace_bytes=2_int64**20)
    of_z = [gpumem_view(z(:, :23)), gpumem_view(z(:, 24:46)), gpumem_view(z(:, 47:))]
    call plan%nrm2(of_z, value)
    call ctx%nrm2(gpumem_view(z), expected)
    call expect(value == expected, 'a norm of real32')
    call plan%destroy()
  end subroutine

  ! Places count from 1, in the order of the whole array.
  subroutine places
    integer(int64), target :: x(5, 6)
    real(real64), target :: y(5, 6)
    type(gpumem_layout) :: layout
    type(gpumem_plan) :: plan
    type(gpumem_view) :: rows(3), unsigned(3)
    integer(int64) :: value, place, high
    real(real64) :: real_value
    x = 7
    x(4, 3) = 99
    x(2, 5) = -99
    y = real(x, real64)
    layout = gpumem_layout(8, shape(x))
    call layout%add([1, 1], [2, 6], high=[3, 0])
    call layout%add([3, 1], [4, 6], low=[2, 0], high=[1, 0])
    call layout%add([5, 1], [5, 6], low=[4, 0])
    call dist%plan_reduce(plan, layout)
    rows = gpumem_view(x)
    call plan%argreduce(gpumem_max, rows, value, place)
    call expect(value == 99 .and. place == maxloc([x], 1), 'the place of the largest')
    call plan%argreduce(gpumem_min, rows, value, place)
    call expect(value == -99 .and. place == minloc([x], 1), 'the place of the smallest')
    rows = gpumem_view(y)
    call plan%argreduce(gpumem_max_abs, rows, real_value, place)
    call expect(real_value == 99 .and. place == maxloc([abs(x)], 1), 'the place of the largest magnitude')
    rows = gpumem_view(x)
    call plan%reduce(gpumem_sum, rows, value)
    call expect(value == sum(x), 'a sum of integers')
    call plan%min_max(rows, value, high)
    call expect(value == -99 .and. high == 99, 'both ends of integers')
    unsigned = rows(1)%as(gpumem_u64)
    call plan%reduce(gpumem_max, unsigned, value, stat)
    call expect(stat == gpumem_overflow, 'an unsigned result that no int64 holds')
    x = huge(x)
    call plan%reduce(gpumem_sum, rows, value, stat)
    call expect(stat == gpumem_overflow .and. value == -99, 'a sum that overflows leaves the value')
    call plan%reduce(gpumem_min_max, rows, value, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'min_max')
    call plan%destroy()
  end subroutine

  subroutine refusals_of_layouts
    type(gpumem_layout) :: layout, never_made
    type(gpumem_plan) :: plan
    layout = gpumem_layout(8, [10, 10])
    call layout%add([1], [10], stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'one number for each dimension')
    call layout%add([1, 1], [10, 10], low=[1], stat=stat)
    call expect(stat == gpumem_invalid_argument, 'low of another rank')
    call layout%add([1, 1], [10, 10], low=[huge(1), 1], high=[huge(1), huge(1)], offset=0_int64, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'int64')
    call layout%add([1, 1], [10, 10], low=[1, 1], strides=[1_int64, huge(1_int64)], stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'int64')
    call layout%add([1, 1], [10, 10], strides=[1_int64], stat=stat)
    call expect(stat == gpumem_invalid_argument, 'strides of another rank')
    call never_made%add([1], [10], stat=stat)
    call expect(stat == gpumem_invalid_argument, 'a box of no layout')
    call layout%add([1, 1], [10, 6])
    call layout%add([1, 6], [10, 10])
    call dist%plan_reduce(plan, layout, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'shares elements with')
    call dist%plan_redistribute(plan, never_made, layout, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'element_bytes')
    layout = gpumem_layout(8, [10, 10])
    call layout%add([1, 1], [10, 11])
    call dist%plan_reduce(plan, layout, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'upper is 11') ! of axis 0 of C, which is dimension 2
    layout = gpumem_layout(8, [10, 10])
    call layout%add([1, 1], [10, 10], member=4)
    call dist%plan_halo(plan, layout, [0, 0], [0, 0], stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'member 3')
    call dist%plan_halo(plan, layout, [0], [0, 0], stat=stat)
    call expect(stat == gpumem_invalid_argument, 'a halo of another rank')
    call dist%plan_halo(plan, layout, [0, 0], [0, 0], [.true.], stat=stat)
    call expect(stat == gpumem_invalid_argument, 'periodic of another rank')
    layout = slabs(8, [10, 10])
    call dist%plan_redistribute(plan, layout, layout, [1, 3], stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'order')
    call dist%plan_redistribute(plan, layout, layout, [1, 1], stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'order')
    call dist%plan_redistribute(plan, layout, slabs(8, [9, 10]), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'dst->extents[1] is 9')
    call dist%plan_reduce(plan, layout, workspace_bytes=1_int64, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'workspace_bytes')
  end subroutine

  subroutine refusals_of_operands
    real(real64), target :: a(10, 3), b(10, 3)
    real(real32), target :: c(10)
    integer(int64), target :: counts(10)
    type(gpumem_view) :: x(3), y(3), bad(3), gaps
    type(gpumem_layout) :: layout
    type(gpumem_plan) :: move, sums
    real(real64) :: value
    integer :: m
    a = 1
    layout = slabs(8, [10, 3])
    do m = 1, 3
      x(m) = gpumem_view(a(:, m))
      y(m) = gpumem_view(b(:, m))
    end do
    call dist%plan_redistribute(move, layout, layout)
    call dist%plan_reduce(sums, layout)
    call move%execute(x(:2), y, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'src has 2 views')
    bad = y
    bad(2) = gpumem_view(b(:9, 2))
    call move%execute(x, bad, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'dst of member 2 has 9 elements')
    bad(2) = gpumem_view(c)
    call move%execute(x, bad, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'of 4 bytes')
    gaps = gpumem_view(b)
    bad(2) = gaps%section([1, 1], [5, 3])
    call move%execute(x, bad, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'padding')
    call move%execute(x, x, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'overlaps')
    call move%execute(x, stat=stat)
    call expect(stat == gpumem_invalid_argument, 'a redistribution without dst')
    call sums%execute(x, y, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'gpumem_dist_plan_reduce()')
    call move%nrm2(x, value, stat)
    call expect(stat == gpumem_invalid_argument, 'a norm by another plan')
    bad = x
    bad(3) = gpumem_view(counts)
    call sums%reduce(gpumem_sum, bad, value, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'expected elements of one type')
    bad = gpumem_view(counts)
    call sums%reduce(gpumem_sum, bad, value, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'int64')
    call sums%dot(x, bad, value, stat)
    call expect(stat == gpumem_invalid_argument, 'a dot product with integers')
    call sums%nrm2(x(:0), value, stat)
    call expect(stat == gpumem_invalid_argument, 'a norm of nothing')
    call move%destroy()
    call sums%destroy()
  end subroutine

  subroutine lifetimes
    type(gpumem_dist) :: short, never_made
    type(gpumem_plan) :: plan, none
    type(gpumem_layout) :: layout
    type(gpumem_dist_info) :: info
    real(real64), target :: a(10)
    real(real64) :: value
    character(:), allocatable :: text
    layout = gpumem_layout(8, [10])
    call layout%add([1], [10])
    call short%create([ctx], stat=stat)
    call expect(stat == 0, 'create')
    call short%create([ctx], stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'live')
    call short%plan_reduce(plan, layout)
    call short%plan_reduce(plan, layout, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'live')
    call plan%explain(text)
    call expect(len(text) > 0 .and. index(text, '{') == 0, 'explain')
    call plan%explain(text, gpumem_format_json)
    call expect(index(text, '{') == 1, 'explain as JSON')
    call short%destroy(stat, errmsg)
    call expect_refusal(gpumem_busy, stat, errmsg, '1 live plans')
    call short%abort()
    a = 1
    call plan%nrm2([gpumem_view(a)], value, stat, errmsg)
    call expect_refusal(gpumem_peer_lost, stat, errmsg, 'gpumem_dist_abort()')
    call short%query(info)
    call expect(info%status == gpumem_peer_lost, 'the status that sticks')
    call plan%destroy()
    call plan%nrm2([gpumem_view(a)], value, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'destroyed')
    call none%execute([gpumem_view(a)], stat=stat)
    call expect(stat == gpumem_invalid_argument, 'a plan that was never made')
    call none%execute_async([gpumem_view(a)], stat=stat)
    call expect(stat == gpumem_invalid_argument, 'a plan that was never made, enqueued')
    call none%destroy()
    call short%destroy()
    call never_made%plan_reduce(plan, layout, stat=stat)
    call expect(stat == gpumem_invalid_argument, 'a plan of nothing')
    call never_made%plan_halo(plan, layout, [0], [0], stat=stat)
    call expect(stat == gpumem_invalid_argument, 'a halo of nothing')
    call never_made%query(info, stat)
    call expect(stat == gpumem_invalid_argument, 'a question about nothing')
    call never_made%destroy()
  end subroutine

  subroutine transports_of_the_program
    type(gpumem_dist) :: alone
    type(gpumem_context) :: none(0)
    type(gpumem_dist_info) :: info
    call alone%create([ctx, ctx], fill_alone, 4711, deadline_s=5.0_real64)
    call alone%query(info)
    call expect(asked_for == 4711 .and. info%size == 1 .and. info%members == 2 .and. released == 0, 'a transport')
    call alone%destroy()
    call expect(released == 1, 'the transport is released')
    call alone%create([ctx], fill_alone, -1, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_unsupported, stat, errmsg, 'no transport')
    call alone%create([ctx], fill_alone, 1, deadline_s=-1.0_real64, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'deadline_s')
    call expect(released == 2, 'the transport is released by a failure')
    call alone%create([ctx], fill_alone, stat=stat)
    call expect(stat == gpumem_invalid_argument, 'a transport without a communicator')
    call alone%create(none, stat=stat)
    call expect(stat == gpumem_invalid_argument, 'no members')
  end subroutine

end program
