use gpumem_sys as sys;
use std::any::{type_name, TypeId};
use std::mem::size_of;

/// An element type of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum Dtype {
    I8 = sys::GPUMEM_I8,
    U8 = sys::GPUMEM_U8,
    I16 = sys::GPUMEM_I16,
    U16 = sys::GPUMEM_U16,
    I32 = sys::GPUMEM_I32,
    U32 = sys::GPUMEM_U32,
    I64 = sys::GPUMEM_I64,
    U64 = sys::GPUMEM_U64,
    F16 = sys::GPUMEM_F16,
    Bf16 = sys::GPUMEM_BF16,
    F32 = sys::GPUMEM_F32,
    F64 = sys::GPUMEM_F64,
}

/// The bits of a half-precision number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct F16(pub u16);

/// The bits of a bfloat16, which are the upper half of an `f32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bf16(pub u16);

/// Types that can be moved: copied, filled, transposed.
///
/// # Safety
///
/// Every sequence of bytes is a value of the type, and it has no padding.
pub unsafe trait Plain: Copy + Send + Sync + 'static {}

/// Identifies the element type, so that memory of another type is refused.
#[derive(Clone, Copy, Debug, Eq)]
pub(crate) struct Type {
    id: TypeId,
    pub name: &'static str,
    pub bytes: usize,
}

impl Type {
    pub fn of<T: Plain>() -> Type {
        const WIDE: bool = cfg!(target_pointer_width = "64");
        let id = match TypeId::of::<T>() {
            id if id == TypeId::of::<usize>() && WIDE => TypeId::of::<u64>(), // usize counts as u64
            id if id == TypeId::of::<isize>() && WIDE => TypeId::of::<i64>(),
            id => id,
        };
        Type { id, name: type_name::<T>(), bytes: size_of::<T>() }
    }
}

impl PartialEq for Type {
    fn eq(&self, other: &Type) -> bool {
        self.id == other.id
    }
}

/// Types that can be computed with. They include `usize` and `isize` if these have 64 bits.
pub trait Element: Plain + sealed::Sealed {
    /// The result type of a reduction: `i64`, `u64` or `f64`.
    type Result: Plain + Default + PartialEq + std::fmt::Debug;
    /// The library's number for the type.
    const DTYPE: Dtype;
}

/// `f32` and `f64`.
pub trait Float: Element<Result = f64> {}
impl Float for f32 {}
impl Float for f64 {}

/// Types of the indices of [`crate::Context::gather`].
pub trait IndexElement: Element {}
impl IndexElement for i32 {}
impl IndexElement for u32 {}
impl IndexElement for i64 {}
impl IndexElement for u64 {}
#[cfg(target_pointer_width = "64")]
impl IndexElement for isize {}
#[cfg(target_pointer_width = "64")]
impl IndexElement for usize {}

/// Types of the channels of an image.
pub trait Pixel: Element {}
impl Pixel for u8 {}
impl Pixel for u16 {}
impl Pixel for f32 {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($type:ty = $dtype:ident -> $result:ty,)*) => {$(
        unsafe impl Plain for $type {}
        impl sealed::Sealed for $type {}
        impl Element for $type {
            type Result = $result;
            const DTYPE: Dtype = Dtype::$dtype;
        }
    )*};
}
elements! {
    i8 = I8 -> i64, i16 = I16 -> i64, i32 = I32 -> i64, i64 = I64 -> i64,
    u8 = U8 -> u64, u16 = U16 -> u64, u32 = U32 -> u64, u64 = U64 -> u64,
    F16 = F16 -> f64, Bf16 = Bf16 -> f64, f32 = F32 -> f64, f64 = F64 -> f64,
}
#[cfg(target_pointer_width = "64")]
elements! { isize = I64 -> i64, usize = U64 -> u64, }
unsafe impl Plain for i128 {}
unsafe impl Plain for u128 {}
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}
