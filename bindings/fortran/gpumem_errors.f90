! SPDX-License-Identifier: Apache-2.0
! Reports a status as ALLOCATE does: by stat= and errmsg=, or by ending the program with the error message.
module gpumem_errors
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  use gpumem_constants
  use gpumem_c, only: c_last_error => gpumem_last_error, c_last_problem => gpumem_last_problem, &
      c_status_name => gpumem_status_name
  implicit none
  private
  public :: gpumem_last_error, gpumem_last_problem, gpumem_status_name, gpumem_text
  public :: finish, refuse, fail, failed, is_live, number, text_of

  interface gpumem_last_error
    module procedure last_error
  end interface
  interface gpumem_last_problem
    module procedure last_problem
  end interface
  interface gpumem_status_name
    module procedure status_name
  end interface
  interface gpumem_text
    module procedure text_of_array
  end interface

contains

  ! Reports the status of a call of the library.
  subroutine finish(code, stat, errmsg)
    integer(c_int32_t), intent(in) :: code
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    if (code == gpumem_ok) then
      if (present(stat)) stat = 0
    else
      call fail(code, explained(last_error()), stat, errmsg)
    end if
  end subroutine

  ! A handle is null before the object is created and after it is destroyed.
  function explained(sentence) result(text)
    character(*), intent(in) :: sentence
    character(:), allocatable :: text
    text = sentence
    if (index(sentence, ' is NULL; expected a live ') > 0) text = text // ': the variable was not created, or it was destroyed'
  end function

  ! Refuses to overwrite the handle of a live object, as ALLOCATE refuses an allocated variable. `code` is the status of
  ! a call with the old handle.
  logical function is_live(what, code, stat, errmsg)
    character(*), intent(in) :: what
    integer(c_int32_t), intent(in) :: code
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    is_live = all(code /= [gpumem_invalid_handle, gpumem_forked])
    if (is_live) call refuse(what // ' is live: destroy it first', stat, errmsg)
  end function

  ! Reports an error that the binding itself found in the arguments.
  subroutine refuse(sentence, stat, errmsg)
    character(*), intent(in) :: sentence
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call fail(gpumem_invalid_argument, sentence, stat, errmsg)
  end subroutine

  subroutine fail(code, sentence, stat, errmsg)
    integer(c_int32_t), intent(in) :: code
    character(*), intent(in) :: sentence
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(:), allocatable :: message
    message = status_name(int(code)) // ': ' // sentence
    if (.not. present(stat)) error stop message
    stat = int(code)
    if (present(errmsg)) errmsg = sentence
  end subroutine

  ! Whether a call failed. Without stat the program would have ended.
  pure logical function failed(stat)
    integer, intent(in), optional :: stat
    failed = .false.
    if (present(stat)) failed = stat /= 0
  end function

  ! The error message of this thread's last failure, or ''.
  function last_error() result(sentence)
    character(:), allocatable :: sentence
    character(kind=c_char), allocatable :: buffer(:)
    integer(c_int64_t) :: needed
    integer(c_int32_t) :: ignored
    needed = 0
    ignored = c_last_error(cap=0_c_int64_t, needed=needed)
    allocate(buffer(needed))
    ignored = c_last_error(buffer, size(buffer, kind=c_int64_t))
    sentence = text_of_array(buffer)
  end function

  ! The operation descriptor of this thread's last operation.
  function last_problem() result(line)
    character(:), allocatable :: line
    character(kind=c_char), allocatable :: buffer(:)
    integer(c_int64_t) :: needed
    integer(c_int32_t) :: ignored
    needed = 0
    ignored = c_last_problem(cap=0_c_int64_t, needed=needed)
    allocate(buffer(needed))
    ignored = c_last_problem(buffer, size(buffer, kind=c_int64_t))
    line = text_of_array(buffer)
  end function

  ! The name of a status in C, such as 'GPUMEM_OUT_OF_MEMORY'.
  function status_name(stat) result(name)
    integer, intent(in) :: stat
    character(:), allocatable :: name
    name = text_of(c_status_name(int(stat, c_int32_t)))
  end function

  ! A string of C, without its NUL.
  function text_of(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    call c_f_pointer(address, letters, [huge(0)])
    text = text_of_array(letters)
  end function

  ! The same for an array, such as a name in a struct.
  function text_of_array(letters) result(text)
    character(kind=c_char), intent(in) :: letters(:)
    character(:), allocatable :: text
    integer :: i, n
    n = 0
    do while (n < size(letters))
      if (letters(n + 1) == c_null_char) exit
      n = n + 1
    end do
    allocate(character(n) :: text)
    do i = 1, n
      text(i:i) = letters(i)
    end do
  end function

  ! A number as text.
  function number(value) result(text)
    integer(int64), intent(in) :: value
    character(:), allocatable :: text
    character(20) :: digits
    write (digits, '(i0)') value
    text = trim(digits)
  end function

end module
