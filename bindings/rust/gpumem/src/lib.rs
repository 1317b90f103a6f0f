//! gpumem: the memory side of a GPU, for programs without CUDA code.
//!
//! ```
//! use gpumem::{Context, Op};
//! # fn main() -> gpumem::Result<()> {
//! let ctx = Context::new()?; // your current CUDA device, else the first one, else the host
//! let x: Vec<i32> = (0..1000).collect();
//! let d = ctx.device_from(&x)?; // a copy on the device
//! assert_eq!(ctx.reduce(&d, Op::Sum)?, 499500);
//! # Ok(())
//! # }
//! ```
//!
//! Operands are slices or [`Buffer`]s of any kind. Their location decides where the work runs. The functions of
//! [`Context`] are complete on return. The functions of a [`Stream`] and a [`Scope`] are asynchronous. A stream owns
//! its buffers. A scope borrows them until [`Context::scope`] has waited for the work. So no work outlives its memory,
//! even if a stream or a guard is leaked.
//!
//! A [`Dist`] joins contexts of one or many processes, so that arrays can be spread over them.
//!
//! The library is opened at run time. If it is missing, [`Context::new`] gives an error.
//!
//! `gpumem.h` has the contract of each operation, under the name in its documentation.

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
mod elementwise;
mod error;
mod info;
mod layout;
mod measure;
mod operations;
mod plans;
mod queue;
mod reduce;
mod select;
mod stream;
mod view;

pub use boxes::{Block, Layout};
pub use buffer::{Buffer, Device, DeviceBuffer, Kind, Managed, ManagedBuffer, Pinned, PinnedBuffer, Registered};
pub use builder::Builder;
pub use callbacks::{LogLevel, ParallelFor};
pub use context::{device_count, device_info, last_problem, variants, version, Context, DeviceChoice, Family, Format};
pub use dist::{Dist, DistInfo};
pub use element::{Bf16, Dtype, Element, Float, IndexElement, Pixel, Plain, F16};
pub use elementwise::{Binary, Comparison, Unary};
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
