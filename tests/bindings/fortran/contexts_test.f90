! Contexts, streams, events, memory, and failures.
module callbacks
  use checks
  implicit none
  integer :: messages = 0
  integer(c_int64_t) :: tasks_run = 0
  logical, volatile :: go = .true.
contains
  subroutine on_message(user, level, message) bind(c)
    type(c_ptr), value :: user, message
    integer(c_int32_t), value :: level
    if (c_associated(user) .and. c_associated(message) .and. level == gpumem_log_warning) messages = messages + 1
  end subroutine

  subroutine on_tasks(user, tasks, task, task_state) bind(c)
    type(c_ptr), value :: user, task_state
    integer(c_int64_t), value :: tasks
    procedure(gpumem_task_fn) :: task
    integer(c_int64_t) :: i
    if (c_associated(user)) return
    do while (.not. go)
    end do
    do i = 0, tasks - 1
      call task(task_state, i)
    end do
    tasks_run = tasks_run + tasks
  end subroutine

  integer(c_int32_t) function stop_at_once(user, done) bind(c) result(stops)
    type(c_ptr), value :: user
    real(c_double), value :: done
    integer, pointer :: asked
    call c_f_pointer(user, asked)
    if (done > 0) asked = asked + 1
    stops = 1
  end function
end module

program contexts_test
  use callbacks
  implicit none
  type(gpumem_context) :: ctx
  character(300) :: errmsg
  integer :: stat

  call open_context(ctx)
  call library
  call memory
  call streams
  call failures_are_told
  call logs_and_pools
  call variants
  call profiles
  call tuning
  call close_context(ctx)

contains

  subroutine library
    integer(c_int32_t) :: major, minor, patch, status
    type(gpumem_device_info) :: info
    integer :: devices
    status = gpumem_version(major, minor, patch)
    call expect(minor == gpumem_version_minor .and. major == gpumem_version_major .and. status == 0, 'the version')
    call expect(gpumem_status_name(100) == 'GPUMEM_OUT_OF_MEMORY', 'the name of a status')
    call gpumem_count_devices(devices)
    call expect(devices >= 0, 'the number of devices')
    call gpumem_find_device(gpumem_device_host, info)
    call expect(info%backend == gpumem_backend_host .and. len(gpumem_text(info%name)) > 0, 'the host as a device')
    call ctx%device(info)
    call expect(len(gpumem_text(info%reason)) > 10, 'why the context is where it is')
    call ctx%warmup()
    call ctx%check()
  end subroutine

  subroutine memory
    type(gpumem_memory) :: device, pinned, managed, copy, never
    type(gpumem_pointer_info) :: info
    type(gpumem_managed_info) :: pages
    type(gpumem_device_info) :: here
    type(gpumem_memory_stats_info) :: stats
    real(real32), pointer :: p(:, :)
    real(real32), target :: mine(10000)
    type(gpumem_view) :: v
    call ctx%alloc(device, gpumem_memory_device, gpumem_f32, [10, 20])
    call ctx%alloc(pinned, gpumem_memory_pinned, gpumem_f32, [10_int64, 20_int64])
    call ctx%alloc(managed, gpumem_memory_managed, gpumem_f32, [1000])
    call ctx%query(device%view(), info)
    call expect(info%kind == gpumem_memory_device .and. info%size_bytes == 800, 'device memory')
    v = device%view()
    call ctx%query(v%section([1, 2], [10, 2]), info)
    call expect(info%offset_bytes == 40, 'a section of device memory')
    call ctx%query(managed%view(), info)
    call expect(info%kind == gpumem_memory_managed, 'managed memory')
    call c_f_pointer(pinned%host_address(), p, [10, 20])
    p = 3
    call ctx%copy(device%view(), pinned%view())
    call ctx%fill(pinned%view(), 0.0_real32)
    call ctx%copy(pinned%view(), device%view())
    call expect(all(p == 3), 'there and back')
    call ctx%label(device%view(), 'a field')
    call ctx%memory_stats(stats)
    call expect(stats%device_bytes == 800 .and. stats%pinned_bytes == 800 .and. stats%managed_bytes == 4000, 'statistics')
    call ctx%device(here)
    if (here%backend == gpumem_backend_host .or. here%concurrent_managed == 1) then
      call ctx%advise(managed%view(), gpumem_advise_read_mostly)
      call ctx%prefetch(managed%view(), gpumem_device_host)
      call ctx%query_managed(managed%view(), pages)
      call expect(pages%host_bytes >= 0, 'where managed memory lies')
    end if
    call ctx%register_host(gpumem_view(mine))
    call ctx%query(gpumem_view(mine), info)
    call expect(info%kind == gpumem_memory_pinned, 'registered memory')
    call ctx%unregister_host(gpumem_view(mine))
    v = gpumem_view(mine)
    call ctx%register_host(v%section([1], [10000], [2]), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'padding')
    call ctx%alloc(device, gpumem_memory_device, gpumem_f32, [5], stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'free it first')
    call ctx%memory_stats(stats)
    call expect(stats%device_blocks == 1, 'what was refused allocated nothing')
    copy = device
    call copy%free()
    call ctx%alloc(device, gpumem_memory_device, gpumem_f32, [5], stat, errmsg)
    call expect(stat == 0, 'a variable whose memory was freed by another name')
    call device%free()
    call device%free()  ! there is nothing left to free
    call views_of_nothing(device%view())
    call views_of_nothing(never%view())
    call pinned%free()
    call managed%free()
    call ctx%trim()
    call ctx%alloc(device, gpumem_memory_device, gpumem_f64, [2_int64**62], stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'int64')
    call ctx%alloc(device, gpumem_memory_device, gpumem_f64, [-1], stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, '0 or more')
    call ctx%alloc(device, gpumem_memory_pageable, gpumem_f64, [1], stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'kind')
    call ctx%alloc(device, gpumem_memory_device, 99, [1], stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'dtype')
    call ctx%check_memory(stat, errmsg)
    call expect_refusal(gpumem_unsupported, stat, errmsg, '')
    call ctx%trace('/nowhere/trace', stat, errmsg)
    call expect_refusal(gpumem_file_error, stat, errmsg, '')
    call ctx%trace()
  end subroutine

  subroutine views_of_nothing(v)
    type(gpumem_view), intent(in) :: v
    character(*), parameter :: why = 'freed or never allocated'
    type(gpumem_pointer_info) :: info
    type(gpumem_view) :: matrix
    real(real64), target :: x(4)
    real(real64) :: value
    integer(int64) :: place
    matrix = gpumem_view(x)
    matrix = matrix%reshaped([2, 2])
    call ctx%copy(gpumem_view(x), v, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, why)
    call ctx%fill(v, 1.0_real64, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'fill: dst is a view that was never set')
    call ctx%reduce(gpumem_sum, v, value, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'reduce: x is a view that was never set')
    call ctx%reduce_to(gpumem_sum, gpumem_view(x), v, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'reduce: result is a view that was never set')
    call ctx%argreduce(gpumem_max, v, value, place, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, why)
    call ctx%reduce_axis(gpumem_sum, v, 1, gpumem_view(x), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, why)
    call ctx%reduce_segments(gpumem_sum, v, [1], gpumem_view(x), stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, why)
    call ctx%transpose(v, matrix, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, why)
    call ctx%permute(matrix, [2, 1], v, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, why)
    call ctx%convert(v, gpumem_view(x), stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, why)
    call ctx%resize(gpumem_filter_nearest, v, matrix, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, why)
    call ctx%gather(v, [1], matrix, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'gather: src is a view that was never set')
    call ctx%lincomb([1.0_real64], [gpumem_view(x)], v, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'lincomb: z is a view that was never set')
    call ctx%query(v, info, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, why)
    call ctx%register_host(v, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, why)
  end subroutine

  subroutine streams
    type(gpumem_stream) :: first, second, own, wrapped
    type(c_ptr) :: native
    type(gpumem_event) :: begin, end
    type(gpumem_memory) :: x, total
    type(gpumem_device_info) :: info
    integer(int64), target :: here(1)
    integer(int64), pointer :: sum_of(:)
    real(real64) :: seconds
    logical :: done
    call own%fill(gpumem_view(here), 7_int64, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'was not created')
    call first%create(ctx)
    call second%create(first)
    call first%create(ctx, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'destroy it first')
    call first%wrap(ctx, c_null_ptr, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'destroy it first')
    call first%own(ctx, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'destroy it first')
    call begin%create(ctx)
    call begin%create(ctx, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'destroy it first')
    call end%create(ctx)
    call ctx%alloc(total, gpumem_memory_pinned, gpumem_i64, [1])
    call c_f_pointer(total%host_address(), sum_of, [1])
    call first%alloc(x, gpumem_i32, [1000])
    call first%record(begin)
    call first%fill(x%view(), 3)
    call first%record(end)
    call second%wait(end)
    call second%uses(x)
    call second%reduce_to(gpumem_sum, x%view(), total%view())
    call first%free(x)
    call second%synchronize()
    call expect(sum_of(1) == 3000, 'streams in order')
    call second%query(done)
    call expect(done, 'a stream without work')
    call end%synchronize()
    call begin%seconds_until(end, seconds)
    call expect(seconds >= 0, 'the time between events')
    call own%own(ctx)
    call own%fill(total%view(), 7_int64)
    call own%synchronize()
    call expect(sum_of(1) == 7, 'the stream of the context')
    call ctx%destroy(stat, errmsg)
    call expect_refusal(gpumem_busy, stat, errmsg, '')
    call wrapped%wrap(ctx, c_null_ptr)
    call wrapped%native(native, stat, errmsg)
    call ctx%device(info)
    if (info%backend == gpumem_backend_cuda) then
      call expect(stat == 0 .and. c_associated(native), 'the CUDA stream of a stream')
    else
      call expect_refusal(gpumem_unsupported, stat, errmsg, 'host context')
    end if
    call wrapped%synchronize()
    call wrapped%destroy()
    call begin%destroy()
    call end%destroy()
    call first%destroy()
    call second%destroy()
    call second%synchronize(stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'it was destroyed')
    call second%create(ctx)
    wrapped = second
    call wrapped%destroy()
    call second%create(ctx, stat, errmsg)
    call expect(stat == 0, 'a variable whose stream was destroyed by another name')
    call second%destroy()
    call first%free(x)
    call total%free()
  end subroutine

  subroutine failures_are_told
    type(gpumem_context) :: none, shared, other
    character(5) :: short
    call none%create(77777, stat=stat, errmsg=errmsg)
    call expect(stat /= 0, 'there is no such device')
    call expect(errmsg == gpumem_last_error(), 'the sentence is the library''s')
    call expect(.not. c_associated(none%ctx), 'there is no context')
    short = 'left'
    call ctx%check(stat, short)
    call expect(stat == 0 .and. short == 'left', 'errmsg is left alone after a success')
    call none%check(stat, short)
    call expect(stat == gpumem_invalid_argument .or. stat == gpumem_invalid_handle, 'no context')
    call expect(short /= 'left', 'errmsg is cut')
    call shared%share(gpumem_device_host)
    call shared%share(gpumem_device_host)
    call shared%synchronize()
    call shared%create(gpumem_device_host, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'destroy it first')
    call none%create(gpumem_device_host)
    call none%share(gpumem_device_host, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'destroy it first')
    other = none
    call other%destroy()
    call none%create(gpumem_device_host, stat=stat, errmsg=errmsg)
    call expect(stat == 0, 'a variable whose context was destroyed by another name')
    call none%destroy()
    call shared%destroy(stat, errmsg)
    call expect_refusal(gpumem_busy, stat, errmsg, '')
  end subroutine

  subroutine logs_and_pools
    type(gpumem_context) :: other
    type(gpumem_ctx_options) :: options
    type(gpumem_memory) :: lost
    type(gpumem_stream) :: stream
    integer, target :: state
    logical :: done
    integer(int32), allocatable, target :: x(:)
    integer(int64) :: total
    options = gpumem_default_options()
    options%device = gpumem_device_host
    options%host_threads = 2
    options%parallel_for = c_funloc(on_tasks)
    call other%create(options=options)
    call other%set_log(on_message, c_loc(state))
    allocate (x(4000000))
    x = 1
    call other%reduce(gpumem_sum, gpumem_view(x), total)
    call expect(total == size(x) .and. tasks_run > 0, 'the pool of the program')
    call stream%create(other)
    go = .false.
    call stream%fill(gpumem_view(x), 2)
    call stream%query(done)
    call expect(.not. done, 'a stream with work to do')
    go = .true.
    call stream%synchronize()
    call expect(all(x == 2), 'its work')
    call stream%destroy()
    call other%alloc(lost, gpumem_memory_device, gpumem_i8, [10])
    call other%destroy()
    call expect(messages > 0, 'what was left is in the log')
    call ctx%set_log()
  end subroutine

  subroutine variants
    character(:), allocatable :: names(:), text
    integer(int32), target :: x(10)
    integer(int64) :: total
    x = 2
    call gpumem_variants(gpumem_family_reduce, names)
    call expect(size(names) > 3, 'the names of variants')
    call ctx%reduce(gpumem_sum, gpumem_view(x), total)
    call expect(index(gpumem_last_problem(), 'reduce') > 0, 'the last problem')
    call ctx%explain(gpumem_last_problem(), text)
    call expect(len(text) > 40, 'an explanation')
    call ctx%explain('reduce nonsense', text, gpumem_format_json, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'nonsense')
    call ctx%force(gpumem_family_reduce, 'nonsense', stat, errmsg)
    call expect_refusal(gpumem_not_found, stat, errmsg, 'nonsense')
    call ctx%force(gpumem_family_reduce, names(size(names)))
    call ctx%force(gpumem_family_reduce)
    call ctx%reduce(gpumem_sum, gpumem_view(x), total)
    call expect(total == 20, 'the choice is given back')
  end subroutine

  subroutine profiles
    character(:), allocatable :: file
    type(gpumem_ceiling_info) :: speed
    type(gpumem_profile_row), allocatable :: rows(:)
    integer(int32), target :: x(10)
    integer(int64) :: total
    integer :: i
    call ctx%ceiling(speed)
    call expect(min(speed%read, speed%write, speed%copy) > 0, 'the speed of the memory')
    call ctx%profile_report(rows)
    call expect(size(rows) == 0, 'no profile, no rows')
    x = 2
    call ctx%profile_begin()
    do i = 1, 3
      call ctx%reduce(gpumem_sum, gpumem_view(x), total)
    end do
    call ctx%profile_end()
    call ctx%reduce(gpumem_sum, gpumem_view(x(:9)), total)
    call ctx%profile_report(rows)
    call expect(size(rows) == 2, 'a row for the problem, and one for its memory')
    call expect(all(rows%calls == 3) .and. all(rows%bytes == 3 * 40), 'the calls of each')
    call expect(index(gpumem_text(rows(1)%problem), 'reduce') == 1 .and. index(gpumem_text(rows(2)%problem), 'pageable') == 1, &
        'the problem, and the memory')
    file = own_file('profile')
    call ctx%profile_write(file, gpumem_format_csv)
    call expect(lines_of(file) == 3, 'the file of a head and two rows')
    call ctx%profile_write('/nowhere/profile', stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_file_error, stat, errmsg, '/nowhere/profile')
    call ctx%profile_begin(0, stat, errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'most_records')
  end subroutine

  subroutine tuning
    character(*), parameter :: line = 'transpose bytes=4 rows=50 cols=60 src=pageable dst=pageable'
    character(:), allocatable :: file
    type(gpumem_tune_info) :: info
    integer, target :: asked
    integer :: unit
    integer(int64) :: taken, skipped
    file = own_file('tuning')
    asked = 0
    call ctx%tune(line, info, 0.01_c_double, stop_at_once, c_loc(asked))
    call expect(asked == 1 .and. info%adopted == 0 .and. gpumem_text(info%reason) == 'it was stopped', 'progress stops the tuning')
    call ctx%tune(line, info, budget_s=0.01_c_double)
    call expect(info%candidates > 0 .and. info%table_s > 0 .and. gpumem_text(info%table) /= '', 'the variants were timed')
    open (newunit=unit, file=file, action='write')
    write (unit, '(9a)') 'another device', achar(9), line, achar(9), 'host_serial', achar(9), '1', achar(9), '1.5'
    close (unit)
    call ctx%tuning_save(file)
    call ctx%tuning_clear()
    call ctx%tuning_load(file, taken, skipped)
    call expect(taken == info%adopted .and. skipped == 1, 'what was tuned, and what another device was')
    call expect(lines_of(file) >= 1 + info%adopted, 'the line of the other device is kept')
    call ctx%tuning_load(file, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_file_error, stat, errmsg, file)
    call ctx%tune(line, info, 0.0_c_double, stat=stat, errmsg=errmsg)
    call expect_refusal(gpumem_invalid_argument, stat, errmsg, 'budget_s')
  end subroutine

  ! The name of a file that no test of another device uses.
  function own_file(what) result(file)
    character(*), intent(in) :: what
    character(:), allocatable :: file
    character(16) :: device
    call get_command_argument(1, device)
    file = 'gpumem_fortran_' // what // '.' // trim(device)
  end function

  ! Of a file that is to be there, and is deleted.
  integer function lines_of(file) result(lines)
    character(*), intent(in) :: file
    integer :: unit, code
    lines = 0
    open (newunit=unit, file=file, status='old', action='readwrite')
    do
      read (unit, '()', iostat=code)
      if (code /= 0) exit
      lines = lines + 1
    end do
    close (unit, status='delete')
  end function

end program
