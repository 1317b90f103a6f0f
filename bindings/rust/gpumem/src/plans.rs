//! Plans for a spread array. A plan is made once and can run many times.
use crate::context::Format;
use crate::copies::Src;
use crate::dist::Joined;
use crate::element::{Element, Float, Plain, Type};
use crate::error::{text_of, Error, Result, Status};
use crate::layout::enough;
use crate::queue::{Lent, LentMut, Queue};
use crate::reduce::{Extreme, Op};
use crate::view::{View, ViewMut};
use gpumem_sys as sys;
use std::ffi::c_void;
use std::ops::Deref;
use std::ptr::null;
use std::sync::Arc;

/// The common part of [`Redistribution`], [`Halo`] and [`Reduction`]. It keeps the [`crate::Dist`] alive.
pub struct Plan {
    pub(crate) dist: Arc<Joined>,
    pub(crate) plan: *mut sys::gpumem_dist_plan,
    pub(crate) element: Type,
}

unsafe impl Send for Plan {}
unsafe impl Sync for Plan {}

impl Drop for Plan {
    fn drop(&mut self) {
        unsafe { (self.dist.api.gpumem_dist_plan_destroy)(self.plan) };
    }
}

/// The members' memory, for the library.
struct Pointers(Vec<*mut c_void>);

impl Pointers {
    fn to_read(&self) -> *const *const c_void {
        self.0.as_ptr().cast()
    }

    fn to_write(&self) -> *const *mut c_void {
        self.0.as_ptr()
    }
}

impl Plan {
    /// Describes the work of this process in the plan, as text or JSON. `gpumem_dist_explain()`.
    pub fn explain(&self, format: Format) -> Result<String> {
        text_of(|buf, cap, needed| unsafe {
            (self.dist.api.gpumem_dist_explain)(self.plan, format as i32, buf, cap, needed)
        })
    }

    /// The handle, for functions of [`crate::sys`].
    pub fn as_raw(&self) -> *mut sys::gpumem_dist_plan {
        self.plan
    }

    /// An error if a member's memory is too small, or its element type is not the layout's.
    fn pointers<T: Plain>(
        &self,
        memory: impl ExactSizeIterator<Item = Result<Src<T>>>,
        needed: &[usize],
        name: &str,
    ) -> Result<Pointers> {
        if memory.len() != needed.len() {
            let sentence = format!("{} has memory of {} members; expected {}", name, memory.len(), needed.len());
            return Err(Error::argument(sentence));
        }
        let element = Type::of::<T>();
        if element != self.element {
            let sentence = format!(
                "{} has elements of {}; expected {}, the type of its layout",
                name, element.name, self.element.name
            );
            return Err(Error::argument(sentence));
        }
        let mut pointers = Pointers(Vec::with_capacity(needed.len()));
        for (i, (memory, &needed)) in memory.zip(needed).enumerate() {
            let (p, len) = memory?;
            enough(Some(needed), len, &format!("{}[{}]", name, i))?;
            pointers.0.push(p as *mut c_void);
        }
        Ok(pointers)
    }

    fn of_views<T: Plain>(&self, x: &[View<'_, T>], needed: &[usize], name: &str) -> Result<Pointers> {
        self.pointers(x.iter().map(|x| x.whole(name)), needed, name)
    }

    fn of_views_mut<T: Plain>(&self, x: &mut [ViewMut<'_, T>], needed: &[usize], name: &str) -> Result<Pointers> {
        self.pointers(x.iter().map(|x| Ok((x.ptr as *const T, x.len))), needed, name)
    }

    /// For memory that was given or lent to the members' queues. There is one queue per member.
    fn of_lent<T: Plain>(
        &self,
        queues: &[&Queue],
        x: &[LentMut<'_, T>],
        needed: &[usize],
        name: &str,
    ) -> Result<Pointers> {
        let memory = x.iter().enumerate().map(|(i, x)| queues[i].output(*x, name).map(|x| (x.ptr as *const T, x.len)));
        self.pointers(memory, needed, name)
    }

    /// The operands of a movement. If this crate refuses them, the library refuses null pointers, and tells the other
    /// processes.
    fn told<T>(&self, operands: Result<T>) -> Result<T> {
        if operands.is_err() {
            unsafe { (self.dist.api.gpumem_dist_execute)(self.plan, null(), null()) };
        }
        operands
    }

    fn run(&self, src: &Pointers, dst: &Pointers) -> Result<()> {
        let api = self.dist.api;
        self.dist.check(unsafe { (api.gpumem_dist_execute)(self.plan, src.to_read(), dst.to_write()) })
    }

    /// An error unless each queue belongs to its member's context. Memory that was lent to another queue would not be
    /// waited for.
    fn require_queues(&self, queues: &[&Queue]) -> Result<()> {
        let contexts = &self.dist.contexts;
        let own = queues.iter().zip(contexts).all(|(queue, ctx)| queue.context().as_raw() == ctx.as_raw());
        match own && queues.len() == contexts.len() {
            true => Ok(()),
            false => Err(Error::argument("queues needs one stream or scope of each member's context")),
        }
    }

    fn enqueue(&self, queues: &[&Queue], src: &Pointers, dst: &Pointers) -> Result<()> {
        let streams: Vec<_> = queues.iter().map(|queue| queue.as_raw()).collect();
        let (api, src, dst) = (self.dist.api, src.to_read(), dst.to_write());
        let status = unsafe { (api.gpumem_dist_execute_async)(self.plan, src, dst, streams.as_ptr()) };
        let result = self.dist.check(status);
        if status != sys::GPUMEM_OK {
            // Enqueued work may read the memory of a member whose stream does not wait for it. Under graph capture it
            // does not run.
            let ended = |status| Queue::is_over(status) || status == sys::GPUMEM_CAPTURING;
            if let Some(status) = queues.iter().map(|queue| queue.wait_status()).find(|&status| !ended(status)) {
                eprintln!("gpumem: work of members can't be waited for: {:?}", Status(status));
                std::process::abort();
            }
        }
        result
    }
}

/// Moves an array from one layout to another. Made by [`crate::Dist::plan_redistribute`].
pub struct Redistribution {
    pub(crate) plan: Plan,
    pub(crate) src: Vec<usize>,
    pub(crate) dst: Vec<usize>,
}

/// Fills the ghost cells of the blocks of an array. Made by [`crate::Dist::plan_halo`].
pub struct Halo {
    pub(crate) plan: Plan,
    pub(crate) needed: Vec<usize>,
}

/// Reduces an array to one value for all processes, with the same bits as on one device. Made by
/// [`crate::Dist::plan_reduce`].
pub struct Reduction {
    pub(crate) plan: Plan,
    pub(crate) needed: Vec<usize>,
}

macro_rules! is_a_plan {
    ($($name:ident,)*) => {$(
        impl Deref for $name {
            type Target = Plan;
            fn deref(&self) -> &Plan {
                &self.plan
            }
        }
    )*};
}
is_a_plan! { Redistribution, Halo, Reduction, }

impl Redistribution {
    /// Executes the plan, with memory of each member of this process. It is empty for a member without a block.
    /// `gpumem_dist_execute()`.
    pub fn execute<T: Plain>(&self, src: &[View<'_, T>], dst: &mut [ViewMut<'_, T>]) -> Result<()> {
        let src = self.plan.told(self.plan.of_views(src, &self.src, "src"))?;
        let dst = self.plan.told(self.plan.of_views_mut(dst, &self.dst, "dst"))?;
        self.plan.run(&src, &dst)
    }

    /// Executes the plan asynchronously, on one stream or scope per member. The member's memory was given or lent to
    /// it. If the call fails, it waits for the streams. `gpumem_dist_execute_async()`.
    ///
    /// ```
    /// use gpumem::{Block, Context, Dist, Layout};
    /// # fn main() -> gpumem::Result<()> {
    /// let (a, b) = (Context::new()?, Context::new()?);
    /// let dist = Dist::new(&[a.clone(), b.clone()])?;
    /// let halves = Layout::new::<u8>(&[4]).block(Block::new(&[0], &[2])).block(Block::new(&[2], &[4]));
    /// let swapped = Layout::new::<u8>(&[4]).block(Block::new(&[2], &[4])).block(Block::new(&[0], &[2]));
    /// let swap = dist.plan_redistribute(&halves, &swapped, None, None)?;
    /// let (s, t) = (a.stream()?, b.stream()?);
    /// let x = (s.give(a.device_from(&[1u8, 2])?), t.give(b.device_from(&[3u8, 4])?));
    /// let y = (s.give(a.device_buffer::<u8>(2)?), t.give(b.device_buffer::<u8>(2)?));
    /// swap.execute_async(&[&s, &t], &[x.0.lent().into(), x.1.lent().into()], &[y.0.lent(), y.1.lent()])?;
    /// assert_eq!(a.to_vec(&s.take(y.0)?)?, [3, 4]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn execute_async<T: Plain>(
        &self,
        queues: &[&Queue],
        src: &[Lent<'_, T>],
        dst: &[LentMut<'_, T>],
    ) -> Result<()> {
        self.plan.told(self.plan.require_queues(queues))?;
        let src = src.iter().enumerate().map(|(i, x)| queues[i].input(*x, "src")?.whole("src"));
        let src = self.plan.told(self.plan.pointers(src, &self.src, "src"))?;
        let dst = self.plan.told(self.plan.of_lent(queues, dst, &self.dst, "dst"))?;
        self.plan.enqueue(queues, &src, &dst)
    }
}

impl Halo {
    /// Executes the plan in memory of each member of this process. It is empty for a member without a block.
    /// `gpumem_dist_execute()`.
    pub fn execute<T: Plain>(&self, x: &mut [ViewMut<'_, T>]) -> Result<()> {
        let x = self.plan.told(self.plan.of_views_mut(x, &self.needed, "x"))?;
        self.plan.run(&x, &x)
    }

    /// Executes the plan asynchronously, as [`Redistribution::execute_async`]. `gpumem_dist_execute_async()`.
    pub fn execute_async<T: Plain>(&self, queues: &[&Queue], x: &[LentMut<'_, T>]) -> Result<()> {
        self.plan.told(self.plan.require_queues(queues))?;
        let x = self.plan.told(self.plan.of_lent(queues, x, &self.needed, "x"))?;
        self.plan.enqueue(queues, &x, &x)
    }
}

impl Reduction {
    /// The members' memory. If this crate refuses it, null, which the library refuses, and it tells the other processes.
    fn terms<T: Plain>(&self, x: &[View<'_, T>], name: &str) -> (Result<Pointers>, *const *const c_void) {
        let x = self.plan.of_views(x, &self.needed, name);
        let p = x.as_ref().map_or(null(), |x| x.to_read());
        (x, p)
    }

    fn reduce_to<T: Element>(&self, x: &[View<'_, T>], op: Op, result: *mut T::Result) -> Result<()> {
        let (x, p) = self.terms(x, "x");
        let api = self.plan.dist.api;
        let status = unsafe { (api.gpumem_dist_reduce)(self.plan.plan, T::DTYPE as i32, op as i32, p, result.cast()) };
        x.and_then(|_| self.plan.dist.check(status))
    }

    /// As [`crate::Context::reduce`], with memory of each member of this process. It is empty for a member without a
    /// block. `gpumem_dist_reduce()`.
    pub fn reduce<T: Element>(&self, x: &[View<'_, T>], op: Op) -> Result<T::Result> {
        let mut ends = [T::Result::default(); 2];
        let result = self.reduce_to(if op == Op::MinMax { &[] } else { x }, op, ends.as_mut_ptr());
        match op {
            Op::MinMax => Err(Error::argument("MinMax has two results; use min_max()")),
            _ => result.map(|_| ends[0]),
        }
    }

    /// As [`crate::Context::min_max`]. `gpumem_dist_reduce()`.
    pub fn min_max<T: Element>(&self, x: &[View<'_, T>]) -> Result<(T::Result, T::Result)> {
        let mut ends = [T::Result::default(); 2];
        self.reduce_to(x, Op::MinMax, ends.as_mut_ptr()).map(|_| (ends[0], ends[1]))
    }

    /// As [`crate::Context::argreduce`]. The index counts elements of the whole array. `gpumem_dist_argreduce()`.
    pub fn argreduce<T: Element>(&self, x: &[View<'_, T>], end: Extreme) -> Result<(T::Result, usize)> {
        let (x, terms) = self.terms(x, "x");
        let api = self.plan.dist.api;
        let (mut value, mut index) = (T::Result::default(), 0);
        let p = &mut value as *mut T::Result;
        let (dtype, end) = (T::DTYPE as i32, end as i32);
        let status = unsafe { (api.gpumem_dist_argreduce)(self.plan.plan, dtype, end, terms, p.cast(), &mut index) };
        x.and_then(|_| self.plan.dist.check(status)).map(|_| (value, index as usize))
    }

    /// As [`crate::Context::dot`]. `gpumem_dist_dot()`.
    pub fn dot<T: Float>(&self, x: &[View<'_, T>], y: &[View<'_, T>]) -> Result<f64> {
        let ((x, of_x), (y, of_y)) = (self.terms(x, "x"), self.terms(y, "y"));
        let (api, dtype) = (self.plan.dist.api, T::DTYPE as i32);
        let mut result = 0.0;
        let status = unsafe { (api.gpumem_dist_dot)(self.plan.plan, dtype, of_x, of_y, &mut result) };
        x.and(y).and_then(|_| self.plan.dist.check(status)).map(|_| result)
    }

    /// As [`crate::Context::dot_order_free`]. Each member reads its blocks where they are. `gpumem_dist_dot_order_free()`.
    pub fn dot_order_free<T: Float>(&self, x: &[View<'_, T>], y: &[View<'_, T>]) -> Result<f64> {
        let ((x, of_x), (y, of_y)) = (self.terms(x, "x"), self.terms(y, "y"));
        let (api, dtype) = (self.plan.dist.api, T::DTYPE as i32);
        let mut result = 0.0;
        let status = unsafe { (api.gpumem_dist_dot_order_free)(self.plan.plan, dtype, of_x, of_y, &mut result) };
        x.and(y).and_then(|_| self.plan.dist.check(status)).map(|_| result)
    }

    /// As [`crate::Context::nrm2`]. `gpumem_dist_nrm2()`.
    pub fn nrm2<T: Float>(&self, x: &[View<'_, T>]) -> Result<f64> {
        let (x, p) = self.terms(x, "x");
        let api = self.plan.dist.api;
        let mut result = 0.0;
        let status = unsafe { (api.gpumem_dist_nrm2)(self.plan.plan, T::DTYPE as i32, p, &mut result) };
        x.and_then(|_| self.plan.dist.check(status)).map(|_| result)
    }
}
