! SPDX-License-Identifier: Apache-2.0
! Arrays over several contexts, in one process or in many.
!
! Order       Dimension 1 varies fastest. Indices, dimensions, places and the participants of this process count from 1.
!             Processes count from 0, as in MPI.
! Collective  All processes call create, plan_... and the operations of plans except execute_async. If the
!             binding refuses a call of one process, the others get an error as if the library did.
module gpumem_distributed
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env
  use gpumem_constants
  use gpumem_c
  use gpumem_errors, only: finish, refuse, fail, is_live
  use gpumem_layouts
  use gpumem_plans
  use gpumem_contexts
  implicit none
  private
  public :: gpumem_dist, gpumem_mpi_transport_f

  interface
    ! The adapter for MPI fills the transport for the processes of a communicator. A program that names it also links
    ! it. A function of your own has the same interface.
    integer(c_int32_t) function gpumem_mpi_transport_f(comm, transport) bind(c)
      import
      integer(c_int), value :: comm
      type(gpumem_dist_transport), intent(inout) :: transport
    end function
  end interface

  ! Joined contexts. The type is a handle.
  type :: gpumem_dist
    type(c_ptr) :: handle = c_null_ptr
    type(c_ptr), allocatable, private :: contexts(:)
  contains
    procedure :: create => create_dist
    procedure :: query => query_dist
    procedure :: abort => abort_dist
    procedure :: destroy => destroy_dist
    procedure :: plan_redistribute
    procedure :: plan_halo
    procedure :: plan_reduce
  end type

contains

  ! Each context is one participant; one context may serve several. `fill` makes the transport to the other processes of
  ! `comm`. Without it, this process has all participants. Calls fail after deadline_s seconds (60) without a message.
  subroutine create_dist(self, contexts, fill, comm, deadline_s, stat, errmsg)
    class(gpumem_dist), intent(inout) :: self
    type(gpumem_context), intent(in) :: contexts(:)
    procedure(gpumem_mpi_transport_f), optional :: fill
    integer, intent(in), optional :: comm
    real(real64), intent(in), optional :: deadline_s
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(gpumem_dist_options) :: options
    type(gpumem_dist_transport), target :: transport
    type(gpumem_dist_info) :: info
    type(c_ptr), target :: handles(size(contexts))
    integer(c_int32_t) :: code
    integer :: i
    if (c_associated(self%handle)) then
      code = gpumem_dist_info_init(info, c_sizeof(info))
      if (is_live('create: the gpumem_dist', gpumem_dist_query(self%handle, info), stat, errmsg)) return
    end if
    if (size(contexts) == 0 .or. (present(fill) .neqv. present(comm))) then
      call refuse('create: expected one context or more, and fill and comm together or neither', stat, errmsg)
      return
    end if
    handles = [(contexts(i)%ctx, i = 1, size(contexts))]
    code = gpumem_dist_options_init(options, c_sizeof(options))
    options%contexts = c_loc(handles)
    options%members = size(handles, kind=c_int32_t)
    if (present(deadline_s)) options%deadline_s = deadline_s
    if (present(fill)) then
      code = gpumem_dist_transport_init(transport, c_sizeof(transport))
      code = fill(int(comm, c_int), transport)
      if (code /= gpumem_ok) then
        call fail(code, 'create: fill returned no transport for comm', stat, errmsg)
        return
      end if
      options%transport = c_loc(transport)
    end if
    code = gpumem_dist_create(options, self%handle)
    if (code == gpumem_ok) self%contexts = handles
    call finish(code, stat, errmsg)
  end subroutine

  ! The numbers of participants and processes, and the persistent error. `rank` and `first_member` count from 0.
  subroutine query_dist(self, info, stat, errmsg)
    class(gpumem_dist), intent(in) :: self
    type(gpumem_dist_info), intent(out) :: info
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    code = gpumem_dist_info_init(info, c_sizeof(info))
    if (code == gpumem_ok) code = gpumem_dist_query(self%handle, info)
    call finish(code, stat, errmsg)
  end subroutine

  ! From any thread: running and later calls of this process fail with gpumem_peer_lost.
  subroutine abort_dist(self, stat, errmsg)
    class(gpumem_dist), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_dist_abort(self%handle), stat, errmsg)
  end subroutine

  ! Fails with gpumem_busy while it has plans.
  subroutine destroy_dist(self, stat, errmsg)
    class(gpumem_dist), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: code
    code = gpumem_dist_destroy(self%handle)
    if (code == gpumem_ok) self%handle = c_null_ptr
    call finish(code, stat, errmsg)
  end subroutine

  ! ----------------------------------------------------------------------------------------------------------------- plans

  ! Plans to move an array from one layout to another. Dimension d of dst is dimension order(d) of src, as in permute;
  ! by default the order stays. workspace_bytes, by default 256 MiB, bounds the memory that this process keeps for
  ! messages and for managed memory that another device reads. It also bounds the memory that a participant keeps for
  ! the data that it fetches.
  subroutine plan_redistribute(self, plan, src, dst, order, workspace_bytes, stat, errmsg)
    class(gpumem_dist), intent(in) :: self
    type(gpumem_plan), intent(inout) :: plan
    type(gpumem_layout), intent(in) :: src, dst
    integer, intent(in), optional :: order(:)
    integer(int64), intent(in), optional :: workspace_bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int32_t) :: axes(max(rank_of(src), 0)), code
    integer :: r, d
    if (names_plan(plan, stat, errmsg)) return
    r = size(axes)
    axes = [(int(d - 1, c_int32_t), d = 1, r)]
    if (present(order)) then
      if (size(order) /= r .or. any(order < 1 .or. order > r)) then
        call refuse_plan(self, 'plan_redistribute: order needs one dimension of src, from 1, for each of dst', stat, errmsg)
        return
      end if
      axes = int(r - order(r:1:-1), c_int32_t)
    end if
    code = gpumem_dist_plan_redistribute(self%handle, c_layout(src), c_layout(dst), axes, plan_options(workspace_bytes), made)
    if (code == gpumem_ok) call take(plan, self%contexts, made, src%element_bytes, room(src, size(self%contexts)), &
        room(dst, size(self%contexts)))
    call finish(code, stat, errmsg)
  end subroutine

  ! Plans to fill the ghost cells of each box, corners included, from the boxes that have them: low(d) before the box in
  ! dimension d and high(d) behind it. If periodic(d), the array continues with its other end; else nothing is written
  ! past its ends, which is the default. The layout needs room for the ghost cells: see its add().
  subroutine plan_halo(self, plan, layout, low, high, periodic, workspace_bytes, stat, errmsg)
    class(gpumem_dist), intent(in) :: self
    type(gpumem_plan), intent(inout) :: plan
    type(gpumem_layout), intent(in) :: layout
    integer, intent(in) :: low(:), high(:)
    logical, intent(in), optional :: periodic(:)
    integer(int64), intent(in), optional :: workspace_bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(int64), target :: before(max(rank_of(layout), 1)), behind(max(rank_of(layout), 1))
    integer(int32), target :: around(max(rank_of(layout), 1))
    integer(int64), allocatable :: needed(:)
    integer(c_int32_t) :: code
    integer :: r
    if (names_plan(plan, stat, errmsg)) return
    r = size(before)
    around = 0
    if (size(low) /= r .or. size(high) /= r) then
      call refuse_plan(self, 'plan_halo: expected one number per dimension of the array in low and in high', stat, errmsg)
      return
    else if (present(periodic)) then
      if (size(periodic) /= r) then
        call refuse_plan(self, 'plan_halo: expected one value per dimension of the array in periodic', stat, errmsg)
        return
      end if
      around = merge(1, 0, periodic(r:1:-1))
    end if
    before = low(r:1:-1)
    behind = high(r:1:-1)
    if (allocated(self%contexts)) then
      needed = room(layout, size(self%contexts), before, behind, around)
      if (any(needed < 0)) then
        call refuse_plan(self, 'plan_halo: the ghost cells of a box would begin before the memory of its member', stat, errmsg)
        return
      end if
    end if
    code = gpumem_dist_plan_halo(self%handle, c_layout(layout), c_loc(before), c_loc(behind), c_loc(around), &
        plan_options(workspace_bytes), made)
    if (code == gpumem_ok) call take(plan, self%contexts, made, layout%element_bytes, needed, needed)
    call finish(code, stat, errmsg)
  end subroutine

  ! Plans reductions over all elements of an array, in array element order.
  subroutine plan_reduce(self, plan, layout, workspace_bytes, stat, errmsg)
    class(gpumem_dist), intent(in) :: self
    type(gpumem_plan), intent(inout) :: plan
    type(gpumem_layout), intent(in) :: layout
    integer(int64), intent(in), optional :: workspace_bytes
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: made
    integer(c_int32_t) :: code
    if (names_plan(plan, stat, errmsg)) return
    code = gpumem_dist_plan_reduce(self%handle, c_layout(layout), plan_options(workspace_bytes), made)
    if (code == gpumem_ok) call take(plan, self%contexts, made, layout%element_bytes, room(layout, size(self%contexts)), &
        room(layout, size(self%contexts)))
    call finish(code, stat, errmsg)
  end subroutine

  ! The library refuses a plan without a layout, and tells the other processes.
  subroutine refuse_plan(self, sentence, stat, errmsg)
    class(gpumem_dist), intent(in) :: self
    character(*), intent(in) :: sentence
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    type(c_ptr) :: none
    integer(c_int32_t) :: code
    code = gpumem_dist_plan_reduce(self%handle, plan=none)
    call refuse(sentence, stat, errmsg)
  end subroutine

  type(gpumem_dist_plan_options) function plan_options(workspace_bytes) result(options)
    integer(int64), intent(in), optional :: workspace_bytes
    call finish(gpumem_dist_plan_options_init(options, c_sizeof(options)))
    if (present(workspace_bytes)) options%workspace_bytes = workspace_bytes
  end function

end module
