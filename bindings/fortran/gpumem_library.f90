! SPDX-License-Identifier: Apache-2.0
! The functions that need no context.
module gpumem_library
  use, intrinsic :: iso_c_binding
  use gpumem_constants
  use gpumem_c
  use gpumem_errors, only: finish, text_of
  implicit none
  private
  public :: gpumem_default_options, gpumem_count_devices, gpumem_find_device, gpumem_variants

contains

  ! The names of an operation's variants, in the order of selection.
  subroutine gpumem_variants(family, names, stat, errmsg)
    integer(c_int32_t), intent(in) :: family
    character(:), allocatable, intent(out) :: names(:)
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    character(64), allocatable :: found(:)
    type(c_ptr) :: name
    integer(c_int32_t) :: code, count, i
    count = 0
    code = gpumem_variant_count(family, count)
    allocate(found(count))
    do i = 1, count
      code = gpumem_variant_name(family, int(i - 1, c_int32_t), name)
      if (code == gpumem_ok) found(i) = text_of(name)
    end do
    names = found
    call finish(code, stat, errmsg)
  end subroutine

  ! The default options of create().
  type(gpumem_ctx_options) function gpumem_default_options() result(options)
    call finish(gpumem_ctx_options_init(options, c_sizeof(options)))
  end function

  ! The number of CUDA devices that this process can use.
  subroutine gpumem_count_devices(count, stat, errmsg)
    integer, intent(out) :: count
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: found
    found = 0
    call finish(gpumem_device_count(found), stat, errmsg)
    count = int(found)
  end subroutine

  ! The properties of a device.
  subroutine gpumem_find_device(device, info, stat, errmsg)
    integer(c_int32_t), intent(in) :: device
    type(gpumem_device_info), intent(out) :: info
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    code = gpumem_device_info_init(info, c_sizeof(info))
    if (code == gpumem_ok) code = gpumem_device_query(device, info)
    call finish(code, stat, errmsg)
  end subroutine

end module
