//! Joins contexts of one or many processes, so that an array can be spread over them.
use crate::boxes::{numbers, Boxes, Halos, Layout};
use crate::context::{filled, Context};
use crate::element::Type;
use crate::error::{check, Error, Result, Status};
use crate::layout::number;
use crate::plans::{Halo, Plan, Redistribution, Reduction};
use gpumem_sys as sys;
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::time::Duration;

pub(crate) struct Joined {
    pub api: &'static sys::Functions,
    pub dist: *mut sys::gpumem_dist,
    pub contexts: Vec<Context>,
}

// Any thread may call the library, which runs one call of a gpumem_dist at a time.
unsafe impl Send for Joined {}
unsafe impl Sync for Joined {}

impl Drop for Joined {
    fn drop(&mut self) {
        unsafe { (self.api.gpumem_dist_destroy)(self.dist) };
    }
}

impl Joined {
    /// Converts a status. A panic of a context's callback is an error too.
    pub fn check(&self, status: i32) -> Result<()> {
        self.contexts.iter().try_for_each(|ctx| ctx.check(status))
    }
}

/// Joined contexts, so that an array can be spread over them. It keeps the contexts alive, and ends with its last plan.
///
/// A *member* is one context's part. The contexts are members 0, 1, ... of this process. All processes make and execute
/// plans together. If this crate refuses a call of one process, the others get an error as if the library did.
///
/// ```
/// use gpumem::{Block, Context, Dist, Layout, Op, View, ViewMut};
/// # fn main() -> gpumem::Result<()> {
/// let ctx = Context::new()?;
/// let dist = Dist::new(&[ctx.clone(), ctx.clone()])?;
/// // Four rows of three columns: two rows per member. The transpose: one row, and two rows.
/// let rows = Layout::new::<i32>(&[4, 3]).block(Block::new(&[0, 0], &[2, 3])).block(Block::new(&[2, 0], &[4, 3]));
/// let turned = Layout::new::<i32>(&[3, 4]).block(Block::new(&[0, 0], &[1, 4])).block(Block::new(&[1, 0], &[3, 4]));
/// let (x, mut y) = ((0..12).collect::<Vec<i32>>(), [0; 12]);
/// let x = [View::from(&x[..6]), View::from(&x[6..])];
///
/// let (first, second) = y.split_at_mut(4);
/// let transpose = dist.plan_redistribute(&rows, &turned, Some(&[1, 0]), None)?;
/// transpose.execute(&x, &mut [ViewMut::from(first), ViewMut::from(second)])?;
/// assert_eq!(y, [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]);
///
/// assert_eq!(dist.plan_reduce(&rows, None)?.reduce(&x, Op::Sum)?, 66);
/// # Ok(())
/// # }
/// ```
pub struct Dist {
    joined: Arc<Joined>,
}

/// Describes a [`Dist`]. `gpumem_dist_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DistInfo {
    /// The number of this process.
    pub rank: usize,
    /// The number of processes.
    pub size: usize,
    /// The number of this process's first member among all members.
    pub first_member: usize,
    /// The number of members of this process.
    pub members: usize,
    /// The number of members of all processes.
    pub all_members: usize,
    /// [`Status::OK`], or the persistent error that every call returns.
    pub status: Status,
    /// The number of pairs of members of this process whose data goes through host memory.
    pub staged_pairs: usize,
}

impl Dist {
    /// Joins contexts of this process only. A context may be several members. `gpumem_dist_create()`.
    pub fn new(contexts: &[Context]) -> Result<Dist> {
        unsafe { Dist::create(contexts, null(), None) }
    }

    /// Joins these contexts and the contexts of the other processes of a transport. Calls fail after `deadline` (60
    /// seconds) without a message. `gpumem_dist_create()`.
    ///
    /// A transport is a table of functions, initialised by [`Dist::transport`]. `gpumem_mpi_transport_f()` of the MPI
    /// adapter fills it.
    ///
    /// # Safety
    ///
    /// The functions meet the contract of `gpumem_dist_transport` in `gpumem.h`. Each thread that uses the `Dist` or
    /// its plans may call them. They are valid until `release` is called, at the end of the last plan, or in this call
    /// if it fails.
    pub unsafe fn with_transport(
        contexts: &[Context],
        transport: sys::gpumem_dist_transport,
        deadline: Option<Duration>,
    ) -> Result<Dist> {
        Dist::create(contexts, &transport, deadline)
    }

    unsafe fn create(
        contexts: &[Context],
        transport: *const sys::gpumem_dist_transport,
        deadline: Option<Duration>,
    ) -> Result<Dist> {
        let api = crate::error::api()?;
        let handles: Vec<_> = contexts.iter().map(Context::as_raw).collect();
        let mut options = filled(api.gpumem_dist_options_init, |_| sys::GPUMEM_OK)?;
        options.contexts = handles.as_ptr();
        options.members = i32::try_from(handles.len()).unwrap_or(i32::MAX);
        options.transport = transport;
        if let Some(deadline) = deadline {
            options.deadline_s = deadline.as_secs_f64();
        }
        let mut dist = null_mut();
        check((api.gpumem_dist_create)(&options, &mut dist))?;
        Ok(Dist { joined: Arc::new(Joined { api, dist, contexts: contexts.to_vec() }) })
    }

    /// An empty table for [`Dist::with_transport`]. `gpumem_dist_transport_init()`.
    pub fn transport() -> Result<sys::gpumem_dist_transport> {
        filled(crate::error::api()?.gpumem_dist_transport_init, |_| sys::GPUMEM_OK)
    }

    /// The numbers of members and processes, and the persistent error. `gpumem_dist_query()`.
    pub fn info(&self) -> Result<DistInfo> {
        let Joined { api, dist, .. } = *self.joined;
        let info = filled(api.gpumem_dist_info_init, |info| unsafe { (api.gpumem_dist_query)(dist, info) })?;
        Ok(DistInfo {
            rank: info.rank as usize,
            size: info.size as usize,
            first_member: info.first_member as usize,
            members: info.members as usize,
            all_members: info.all_members as usize,
            status: Status(info.status),
            staged_pairs: info.staged_pairs as usize,
        })
    }

    /// Makes pending and later calls of this process give [`Status::PEER_LOST`]. You may call it from any thread.
    /// `gpumem_dist_abort()`.
    pub fn abort(&self) -> Result<()> {
        self.joined.check(unsafe { (self.joined.api.gpumem_dist_abort)(self.joined.dist) })
    }

    /// The handle for functions of [`crate::sys`].
    pub fn as_raw(&self) -> *mut sys::gpumem_dist {
        self.joined.dist
    }

    /// Plans to move an array from one layout to another. Axis `d` of dst is axis `order[d]` of src. `workspace` limits
    /// three uses of memory, in bytes: this process's messages, its managed memory that another device reads, and each
    /// member's fetched data. The default is 256 MiB. `gpumem_dist_plan_redistribute()`.
    pub fn plan_redistribute(
        &self,
        src: &Layout,
        dst: &Layout,
        order: Option<&[usize]>,
        workspace: Option<usize>,
    ) -> Result<Redistribution> {
        let (from, to, order) = self.told(redistributed(src, dst, order))?;
        let members = self.joined.contexts.len();
        let needed = (self.told(from.needed(members, None, "src"))?, self.told(to.needed(members, None, "dst"))?);
        let axes = order.as_ref().map_or(null(), |order| order.as_ptr());
        let (api, dist) = (self.joined.api, self.joined.dist);
        let (src, dst) = (self.told(from.as_c(api))?, self.told(to.as_c(api))?);
        let plan = self.plan(from.element, workspace, |options, plan| unsafe {
            (api.gpumem_dist_plan_redistribute)(dist, &src, &dst, axes, options, plan)
        })?;
        Ok(Redistribution { plan, src: needed.0, dst: needed.1 })
    }

    /// Plans to fill the ghost cells of each block, also at corners, from the blocks that own the elements. There are
    /// `low[d]` before the block along axis `d`, and `high[d]` after it. If `periodic[d]`, the axis wraps around.
    /// Otherwise nothing is written past the ends of the array. [`crate::Block::ghosts`] adds the memory for them.
    /// `gpumem_dist_plan_halo()`.
    pub fn plan_halo(
        &self,
        layout: &Layout,
        low: &[usize],
        high: &[usize],
        periodic: &[bool],
        workspace: Option<usize>,
    ) -> Result<Halo> {
        let (boxes, halo) = self.told(surrounded(layout, low, high, periodic))?;
        let needed = self.told(boxes.needed(self.joined.contexts.len(), Some(&halo), "layout"))?;
        let (api, dist) = (self.joined.api, self.joined.dist);
        let (layout, low, high) = (self.told(boxes.as_c(api))?, halo.low.as_ptr(), halo.high.as_ptr());
        let plan = self.plan(boxes.element, workspace, |options, plan| unsafe {
            (api.gpumem_dist_plan_halo)(dist, &layout, low, high, halo.periodic.as_ptr(), options, plan)
        })?;
        Ok(Halo { plan, needed })
    }

    /// Plans reductions of the sequence of an array's elements, the last axis fastest. `gpumem_dist_plan_reduce()`.
    pub fn plan_reduce(&self, layout: &Layout, workspace: Option<usize>) -> Result<Reduction> {
        let boxes = self.told(Boxes::of(layout, "layout"))?;
        let needed = self.told(boxes.needed(self.joined.contexts.len(), None, "layout"))?;
        let (api, dist) = (self.joined.api, self.joined.dist);
        let layout = self.told(boxes.as_c(api))?;
        let plan = self.plan(boxes.element, workspace, |options, plan| unsafe {
            (api.gpumem_dist_plan_reduce)(dist, &layout, options, plan)
        })?;
        Ok(Reduction { plan, needed })
    }

    /// What a plan needs. If this crate refuses it, the library refuses a null layout, and tells the other processes.
    fn told<T>(&self, checked: Result<T>) -> Result<T> {
        if checked.is_err() {
            let Joined { api, dist, .. } = *self.joined;
            unsafe { (api.gpumem_dist_plan_reduce)(dist, null(), null(), &mut null_mut()) };
        }
        checked
    }

    fn plan(
        &self,
        element: Type,
        workspace: Option<usize>,
        make: impl FnOnce(*const sys::gpumem_dist_plan_options, *mut *mut sys::gpumem_dist_plan) -> i32,
    ) -> Result<Plan> {
        let mut options = filled(self.joined.api.gpumem_dist_plan_options_init, |_| sys::GPUMEM_OK)?;
        if let Some(workspace) = workspace {
            options.workspace_bytes = number(workspace)?;
        }
        let mut plan = null_mut();
        check(make(&options, &mut plan))?;
        let plan = Plan { dist: self.joined.clone(), plan, element };
        plan.dist.check(sys::GPUMEM_OK).map(|_| plan)
    }
}

/// Both sides of a redistribution, and the order of its axes.
fn redistributed(src: &Layout, dst: &Layout, order: Option<&[usize]>) -> Result<(Boxes, Boxes, Option<Vec<i32>>)> {
    let (from, to) = (Boxes::of(src, "src")?, Boxes::of(dst, "dst")?);
    if let Some(order) = order.filter(|order| order.len() != src.extents.len()) {
        let sentence = format!("order has {} axes; expected {}, like src", order.len(), src.extents.len());
        return Err(Error::argument(sentence));
    }
    if from.element != to.element {
        let sentence =
            format!("src has elements of {}, but dst of {}; expected the same", from.element.name, to.element.name);
        return Err(Error::argument(sentence));
    }
    let axis = |&axis: &usize| i32::try_from(axis).unwrap_or(i32::MAX);
    Ok((from, to, order.map(|order| order.iter().map(axis).collect())))
}

/// A layout and its ghost cells.
fn surrounded(layout: &Layout, low: &[usize], high: &[usize], periodic: &[bool]) -> Result<(Boxes, Halos)> {
    let (rank, boxes) = (layout.extents.len(), Boxes::of(layout, "layout")?);
    if [low.len(), high.len(), periodic.len()] != [rank; 3] {
        let sentence = format!("low, high or periodic does not have one value per axis; the array has {} axes", rank);
        return Err(Error::argument(sentence));
    }
    let periodic = periodic.iter().map(|&periodic| periodic.into()).collect();
    Ok((boxes, Halos { low: numbers(low)?, high: numbers(high)?, periodic }))
}
