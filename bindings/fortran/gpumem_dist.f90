! SPDX-License-Identifier: Apache-2.0
! Arrays that are spread over several contexts, of one process or of many.
!
! Order       As everywhere here: dimension 1 varies fastest, and indices of the array, dimensions, members of this process and places that
!             are found count from 1. Processes count from 0, as those of MPI do.
! Collective  create, plan_... and what plans do but execute_async are called by all processes. What the binding itself refuses was not
!             called: the others wait for it, until it is called rightly or their deadline has passed.
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
    ! The adapter for MPI, which a program links that names it: it fills the table for the processes of a communicator. Functions of a
    ! program's own have this form too.
    integer(c_int32_t) function gpumem_mpi_transport_f(comm, transport) bind(c)
      import
      integer(c_int), value :: comm
      type(gpumem_dist_transport), intent(inout) :: transport
    end function
  end interface

  ! Contexts that are joined. It is a handle.
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

  ! A member of this process for each context; one context may stand for several. With `fill` they are joined with those of the other
  ! processes of `comm`, for which fill makes the transport; without, they are all. After deadline_s seconds (60) without a message
  ! calls give up.
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
      call refuse('create: there is no context, or one of fill and comm without the other', stat, errmsg)
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
        call fail(code, 'create: fill gives no transport for comm', stat, errmsg)
        return
      end if
      options%transport = c_loc(transport)
    end if
    code = gpumem_dist_create(options, self%handle)
    if (code == gpumem_ok) self%contexts = handles
    call finish(code, stat, errmsg)
  end subroutine

  ! How many members and processes there are, and the status that sticks. `rank` and `first_member` count from 0.
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

  ! From any thread: calls that are under way in this process, and all after them, give gpumem_peer_lost.
  subroutine abort_dist(self, stat, errmsg)
    class(gpumem_dist), intent(in) :: self
    integer, intent(out), optional :: stat
    character(*), intent(inout), optional :: errmsg
    call finish(gpumem_dist_abort(self%handle), stat, errmsg)
  end subroutine

  ! gpumem_busy while it has plans.
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

  ! Plans to move an array from one layout to another. Dimension d of dst is dimension order(d) of src, as permute has it; by default
  ! they stay. workspace_bytes is the most that this process keeps for messages, and for managed memory that another device reads, and a
  ! member for what it fetches, by default 256 MiB.
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
        call refuse('plan_redistribute: order is not one dimension of src for each of dst', stat, errmsg)
        return
      end if
      axes = int(r - order(r:1:-1), c_int32_t)
    end if
    code = gpumem_dist_plan_redistribute(self%handle, c_layout(src), c_layout(dst), axes, plan_options(workspace_bytes), made)
    if (code == gpumem_ok) call take(plan, self%contexts, made, src%element_bytes, room(src, size(self%contexts)), &
        room(dst, size(self%contexts)))
    call finish(code, stat, errmsg)
  end subroutine

  ! Plans to fill what lies round each box, low(d) elements before it in dimension d and high(d) behind it, corners too, from the
  ! boxes that have them. Past the ends of the array lies its other end where periodic(d), and nothing is written where it is not; by
  ! default nowhere. The layout has room for them: see its add().
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
      call refuse('plan_halo: low or high has not one number for each dimension of the array', stat, errmsg)
      return
    else if (present(periodic)) then
      if (size(periodic) /= r) then
        call refuse('plan_halo: periodic has not one value for each dimension of the array', stat, errmsg)
        return
      end if
      around = merge(1, 0, periodic(r:1:-1))
    end if
    before = low(r:1:-1)
    behind = high(r:1:-1)
    if (allocated(self%contexts)) then
      needed = room(layout, size(self%contexts), before, behind, around)
      if (any(needed < 0)) then
        call refuse('plan_halo: a box has no room in its member''s memory for what lies before it', stat, errmsg)
        return
      end if
    end if
    code = gpumem_dist_plan_halo(self%handle, c_layout(layout), c_loc(before), c_loc(behind), c_loc(around), &
        plan_options(workspace_bytes), made)
    if (code == gpumem_ok) call take(plan, self%contexts, made, layout%element_bytes, needed, needed)
    call finish(code, stat, errmsg)
  end subroutine

  ! Plans reductions over an array as the sequence of its elements, in their order.
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

  type(gpumem_dist_plan_options) function plan_options(workspace_bytes) result(options)
    integer(int64), intent(in), optional :: workspace_bytes
    call finish(gpumem_dist_plan_options_init(options, c_sizeof(options)))
    if (present(workspace_bytes)) options%workspace_bytes = workspace_bytes
  end function

end module
