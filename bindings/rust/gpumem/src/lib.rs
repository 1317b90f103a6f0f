//! gpumem: the memory side of a GPU, for programs without a line of CUDA in them.
//!
//! ```
//! use gpumem::{Context, Op};
//! # fn main() -> gpumem::Result<()> {
//! let ctx = Context::new()?; // the best device, else the host
//! let x: Vec<i32> = (0..1000).collect();
//! let d = ctx.device_from(&x)?; // a copy on the device
//! assert_eq!(ctx.reduce(&d, Op::Sum)?, 499500);
//! # Ok(())
//! # }
//! ```
//!
//! Where the data lies decides where the work runs: operands are slices or [`Buffer`]s of any kind. The functions of
//! [`Context`] are complete on return. Those of a [`Stream`] and of a [`Scope`] only enqueue, on buffers that the stream
//! owns, or that are borrowed until [`Context::scope`] has waited for them: so that no work outlives what it works on, also
//! when a stream or a guard is leaked.
//!
//! A [`Dist`] joins contexts, of one process or of many, so that arrays can be spread over them.
//!
//! The library is opened at run time. Where it is missing, [`Context::new`] gives an error.
//!
//! Each operation's contract stands in `gpumem.h`, under the name that its documentation gives.

#![warn(missing_docs)]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod boxes;
mod buffer;
mod builder;
mod callbacks;
mod context;
mod copies;
mod dist;
mod element;
mod error;
mod info;
mod layout;
mod measure;
mod operations;
mod plans;
mod queue;
mod reduce;
mod stream;
mod view;

pub use boxes::{Block, Layout};
pub use buffer::{Buffer, Device, DeviceBuffer, Kind, Managed, ManagedBuffer, Pinned, PinnedBuffer, Registered};
pub use builder::Builder;
pub use callbacks::{LogLevel, ParallelFor};
pub use context::{device_count, device_info, last_problem, variants, version, Context, DeviceChoice, Family, Format};
pub use dist::{Dist, DistInfo};
pub use element::{Bf16, Dtype, Element, Float, IndexElement, Pixel, Plain, F16};
pub use error::{Error, Result, Status};
pub use gpumem_sys as sys;
pub use info::{Advice, DeviceInfo, ManagedInfo, MemoryKind, MemoryStats, PointerInfo};
pub use layout::{Array, Image, Matrix};
pub use measure::{Ceiling, ProfileRow, TuneInfo, TuneOptions, TuningLines};
pub use operations::Filter;
pub use plans::{Halo, Plan, Redistribution, Reduction};
pub use queue::{Given, Lent, LentMut, Queue};
pub use reduce::{Axis, Extreme, Op, Several};
pub use stream::{Event, Memory, Scope, Stream};
pub use view::{View, ViewMut};
