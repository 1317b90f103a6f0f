! What the test programs share: expectations that are counted, and a context on the device that the command line names.
module checks
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use gpumem
  implicit none

  interface
    subroutine exit_with(code) bind(c, name='exit')
      import
      integer(c_int), value :: code
    end subroutine
  end interface

  integer :: failures = 0, expectations = 0

contains

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    expectations = expectations + 1
    if (holds) return
    failures = failures + 1
    print '(2a)', 'failed: ', what
  end subroutine

  ! That a call was refused with a status, and with a sentence that has a word in it.
  subroutine expect_refusal(wanted, stat, errmsg, word)
    integer(c_int32_t), intent(in) :: wanted
    integer, intent(in) :: stat
    character(*), intent(in) :: errmsg, word
    call expect(stat == wanted .and. index(errmsg, word) > 0, &
        'expected ' // gpumem_status_name(int(wanted)) // ' with "' // word // '", got ' // gpumem_status_name(stat) // ': ' // &
        trim(errmsg))
  end subroutine

  subroutine open_context(ctx)
    type(gpumem_context), intent(out) :: ctx
    character(16) :: device
    character(256) :: reason
    integer :: stat
    device = 'host'
    if (command_argument_count() > 0) call get_command_argument(1, device)
    if (device == 'cuda') then
      call ctx%create(gpumem_device_cuda, stat=stat, errmsg=reason)
      if (stat == 0) return
      print '(2a)', 'there is no CUDA context: ', trim(reason)
      flush (output_unit)
      call exit_with(77)
    end if
    call ctx%create(gpumem_device_host)
  end subroutine

  ! Ends the program; nothing may be left allocated.
  subroutine close_context(ctx)
    type(gpumem_context), intent(inout) :: ctx
    type(gpumem_memory_stats_info) :: stats
    call ctx%memory_stats(stats)
    call expect(stats%device_blocks + stats%pinned_blocks + stats%managed_blocks == 0, 'no memory is left')
    call ctx%destroy()
    print '(i0, a, i0, a)', expectations, ' expectations, ', failures, ' failed'
    if (failures > 0 .or. expectations == 0) error stop 1
  end subroutine

end module
