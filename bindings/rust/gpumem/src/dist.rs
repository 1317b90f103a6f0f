//! Contexts of one process or of many that are joined, so that an array can be spread over them.
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

// The library's functions may be called from any thread, and make one call of a gpumem_dist at a time.
unsafe impl Send for Joined {}
unsafe impl Sync for Joined {}

impl Drop for Joined {
    fn drop(&mut self) {
        unsafe { (self.api.gpumem_dist_destroy)(self.dist) };
    }
}

impl Joined {
    /// A status as a result; an error too where a callback of a context panicked.
    pub fn check(&self, status: i32) -> Result<()> {
        self.contexts.iter().try_for_each(|ctx| ctx.check(status))
    }
}

/// Contexts that are joined, so that an array can be spread over them. It ends with the last of its plans, and keeps the
/// contexts alive.
///
/// A *member* is one context's part: the contexts are members 0, 1, ... of this process. Plans are made and carried out by
/// all processes together. A call that this crate itself refuses was not made, and the others wait for it.
///
/// ```
/// use gpumem::{Block, Context, Dist, Layout, Op, View, ViewMut};
/// # fn main() -> gpumem::Result<()> {
/// let ctx = Context::new()?;
/// let dist = Dist::new(&[ctx.clone(), ctx.clone()])?;
/// // Four rows of three columns: two rows for each of two members. Its transpose: a row and two rows.
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

/// What is known of a [`Dist`]. `gpumem_dist_info`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DistInfo {
    /// Of this process.
    pub rank: usize,
    /// Processes.
    pub size: usize,
    /// Of this process, among all.
    pub first_member: usize,
    /// Of this process.
    pub members: usize,
    /// Of all processes.
    pub all_members: usize,
    /// [`Status::OK`], or what every call gives from now on.
    pub status: Status,
    /// Pairs of members of this process between which pieces are staged.
    pub staged_pairs: usize,
}

impl Dist {
    /// Of contexts that are all there are. One may stand for several members. `gpumem_dist_create()`.
    pub fn new(contexts: &[Context]) -> Result<Dist> {
        unsafe { Dist::create(contexts, null(), None) }
    }

    /// Of these contexts, and of those that the other processes of a transport give. Calls give up after `deadline` (60
    /// seconds) without a message. `gpumem_dist_create()`.
    ///
    /// A transport is a table of functions, begun by [`Dist::transport`]; `gpumem_mpi_transport_f()` of the adapter for MPI
    /// fills one.
    ///
    /// # Safety
    ///
    /// The functions are as `gpumem_dist_transport` in `gpumem.h` asks. They may be called from each thread that uses the
    /// `Dist` or its plans, until `release` has been called: at the end of the last of them, or in this call if it fails.
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

    /// A table for [`Dist::with_transport`], still without functions. `gpumem_dist_transport_init()`.
    pub fn transport() -> Result<sys::gpumem_dist_transport> {
        filled(crate::error::api()?.gpumem_dist_transport_init, |_| sys::GPUMEM_OK)
    }

    /// How many members and processes there are, and the status that sticks. `gpumem_dist_query()`.
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

    /// From any thread: calls that are under way in this process, and all after them, give [`Status::PEER_LOST`].
    /// `gpumem_dist_abort()`.
    pub fn abort(&self) -> Result<()> {
        self.joined.check(unsafe { (self.joined.api.gpumem_dist_abort)(self.joined.dist) })
    }

    /// The handle, for functions of [`crate::sys`].
    pub fn as_raw(&self) -> *mut sys::gpumem_dist {
        self.joined.dist
    }

    /// Plans to move an array from one layout to another, whose axis `d` is axis `order[d]` of the first. `workspace` is the
    /// most bytes that this process keeps for messages, and for managed memory that another device reads, and a member
    /// for what it fetches (256 MiB). `gpumem_dist_plan_redistribute()`.
    pub fn plan_redistribute(
        &self,
        src: &Layout,
        dst: &Layout,
        order: Option<&[usize]>,
        workspace: Option<usize>,
    ) -> Result<Redistribution> {
        let (from, to) = (Boxes::of(src, "src")?, Boxes::of(dst, "dst")?);
        let order: Option<Vec<i32>> =
            order.map(|order| order.iter().map(|&axis| i32::try_from(axis).unwrap_or(i32::MAX)).collect());
        if let Some(order) = order.as_ref().filter(|order| order.len() != src.extents.len()) {
            let sentence = format!("order has {} axes; expected src's, {}", order.len(), src.extents.len());
            return Err(Error::argument(sentence));
        }
        let members = self.joined.contexts.len();
        let needed = (from.needed(members, None, "src")?, to.needed(members, None, "dst")?);
        let axes = order.as_ref().map_or(null(), |order| order.as_ptr());
        let (api, dist) = (self.joined.api, self.joined.dist);
        let (src, dst) = (from.as_c(api)?, to.as_c(api)?);
        if from.element != to.element {
            let sentence =
                format!("src has elements of {}, dst of {}; expected the same", from.element.name, to.element.name);
            return Err(Error::argument(sentence));
        }
        let plan = self.plan(from.element, workspace, |options, plan| unsafe {
            (api.gpumem_dist_plan_redistribute)(dist, &src, &dst, axes, options, plan)
        })?;
        Ok(Redistribution { plan, src: needed.0, dst: needed.1 })
    }

    /// Plans to fill what lies round each block from the blocks that have it, corners too: `low[d]` elements before it along
    /// axis `d`, and `high[d]` behind it. Past the ends of the array lies its other end where `periodic[d]`; nothing is
    /// written where it is not. [`crate::Block::ghosts`] makes room for them. `gpumem_dist_plan_halo()`.
    pub fn plan_halo(
        &self,
        layout: &Layout,
        low: &[usize],
        high: &[usize],
        periodic: &[bool],
        workspace: Option<usize>,
    ) -> Result<Halo> {
        let (rank, boxes) = (layout.extents.len(), Boxes::of(layout, "layout")?);
        if [low.len(), high.len(), periodic.len()] != [rank; 3] {
            let sentence = format!("low, high or periodic has not one value an axis; the array has {}", rank);
            return Err(Error::argument(sentence));
        }
        let periodic = periodic.iter().map(|&periodic| periodic.into()).collect();
        let halo = Halos { low: numbers(low)?, high: numbers(high)?, periodic };
        let needed = boxes.needed(self.joined.contexts.len(), Some(&halo), "layout")?;
        let (api, dist) = (self.joined.api, self.joined.dist);
        let (layout, low, high) = (boxes.as_c(api)?, halo.low.as_ptr(), halo.high.as_ptr());
        let plan = self.plan(boxes.element, workspace, |options, plan| unsafe {
            (api.gpumem_dist_plan_halo)(dist, &layout, low, high, halo.periodic.as_ptr(), options, plan)
        })?;
        Ok(Halo { plan, needed })
    }

    /// Plans reductions over an array as the sequence of its elements, the last axis fastest. `gpumem_dist_plan_reduce()`.
    pub fn plan_reduce(&self, layout: &Layout, workspace: Option<usize>) -> Result<Reduction> {
        let boxes = Boxes::of(layout, "layout")?;
        let needed = boxes.needed(self.joined.contexts.len(), None, "layout")?;
        let (api, dist) = (self.joined.api, self.joined.dist);
        let layout = boxes.as_c(api)?;
        let plan = self.plan(boxes.element, workspace, |options, plan| unsafe {
            (api.gpumem_dist_plan_reduce)(dist, &layout, options, plan)
        })?;
        Ok(Reduction { plan, needed })
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
