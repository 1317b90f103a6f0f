! SPDX-License-Identifier: Apache-2.0
! Measurements of a context: the measured peak, a profile of its calls, and the fastest variants.
module gpumem_measurements
  use, intrinsic :: iso_c_binding
  use gpumem_constants
  use gpumem_c
  use gpumem_errors, only: finish
  use gpumem_values
  implicit none
  private
  public :: gpumem_measured_queue

  type, abstract, extends(gpumem_blocking_queue) :: gpumem_measured_queue
  contains
    procedure :: ceiling => measure_ceiling
    procedure :: profile_begin
    procedure :: profile_end
    procedure :: profile_report
    procedure :: profile_write
    procedure :: tune
    procedure :: tuning_load
    procedure :: tuning_save
    procedure :: tuning_clear
  end type

contains

  ! Bytes per second of the device's memory, and of PCIe or NVLink. The first call measures them.
  subroutine measure_ceiling(self, info, stat, errmsg)
    class(gpumem_measured_queue), intent(in) :: self
    type(gpumem_ceiling_info), intent(out) :: info
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    code = gpumem_ceiling_info_init(info, c_sizeof(info))
    if (code == gpumem_ok) code = gpumem_ceiling(self%ctx, info)
    call finish(code, stat, errmsg)
  end subroutine

  ! Records each call from now on, at most 2**14 or most_records at a time.
  subroutine profile_begin(self, most_records, stat, errmsg)
    class(gpumem_measured_queue), intent(in) :: self
    integer, intent(in), optional :: most_records
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int64_t) :: most
    most = 2**14
    if (present(most_records)) most = most_records
    call finish(gpumem_profile_begin(self%ctx, most), stat, errmsg)
  end subroutine

  subroutine profile_end(self, stat, errmsg)
    class(gpumem_measured_queue), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_profile_end(self%ctx), stat, errmsg)
  end subroutine

  ! One row per operation descriptor and variant, by falling time, then one per pair of memory kinds.
  subroutine profile_report(self, rows, stat, errmsg)
    class(gpumem_measured_queue), intent(in) :: self
    type(gpumem_profile_row), allocatable, intent(out) :: rows(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    integer(c_int64_t) :: needed, room
    room = 0
    code = gpumem_profile_report(self%ctx, cap=0_c_int64_t, needed=room)
    allocate(rows(room))
    if (code == gpumem_ok .and. room > 0) then
      code = gpumem_profile_row_init(rows(1), c_sizeof(rows(1)))
      if (code == gpumem_ok) code = gpumem_profile_report(self%ctx, rows, room, needed)
      if (code == gpumem_ok .and. needed < room) rows = rows(:needed) ! another thread began a new profile
    end if
    call finish(code, stat, errmsg)
  end subroutine

  ! Writes these rows to a file, by default as a table.
  subroutine profile_write(self, file, format, stat, errmsg)
    class(gpumem_measured_queue), intent(in) :: self
    character(*), intent(in) :: file
    integer(c_int32_t), intent(in), optional :: format
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: form
    form = gpumem_format_text
    if (present(format)) form = format
    call finish(gpumem_profile_write(self%ctx, form, trim(file) // c_null_char), stat, errmsg)
  end subroutine

  ! Measures the variants for an operation descriptor for about budget_s seconds, and uses the fastest from now on. If
  ! progress, called with `user`, returns a value other than 0, the tuning stops.
  subroutine tune(self, line, info, budget_s, progress, user, stat, errmsg)
    class(gpumem_measured_queue), intent(in) :: self
    character(*), intent(in) :: line
    type(gpumem_tune_info), intent(out) :: info
    real(c_double), intent(in), optional :: budget_s
    procedure(gpumem_progress_fn), optional :: progress
    type(c_ptr), intent(in), optional :: user
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_tune_options) :: options
    integer(c_int32_t) :: code
    code = gpumem_tune_options_init(options, c_sizeof(options))
    if (present(budget_s)) options%budget_s = budget_s
    if (present(progress)) options%progress = c_funloc(progress)
    if (present(user)) options%user = user
    if (code == gpumem_ok) code = gpumem_tune_info_init(info, c_sizeof(info))
    if (code == gpumem_ok) code = gpumem_tune(self%ctx, trim(line) // c_null_char, options, info)
    call finish(code, stat, errmsg)
  end subroutine

  ! Loads tuned choices from a file. `taken` and `skipped` count its lines.
  subroutine tuning_load(self, file, taken, skipped, stat, errmsg)
    class(gpumem_measured_queue), intent(in) :: self
    character(*), intent(in) :: file
    integer(c_int64_t), intent(out), optional :: taken, skipped
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_tuning_load(self%ctx, trim(file) // c_null_char, taken, skipped), stat, errmsg)
  end subroutine

  subroutine tuning_save(self, file, stat, errmsg)
    class(gpumem_measured_queue), intent(in) :: self
    character(*), intent(in) :: file
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_tuning_save(self%ctx, trim(file) // c_null_char), stat, errmsg)
  end subroutine

  ! Forgets all tuned choices.
  subroutine tuning_clear(self, stat, errmsg)
    class(gpumem_measured_queue), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_tuning_clear(self%ctx), stat, errmsg)
  end subroutine

end module
