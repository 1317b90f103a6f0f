//! The library's structs as Rust has them.
use crate::error::Status;
use gpumem_sys as sys;
use std::ffi::CStr;
use std::os::raw::c_char;
use std::time::Duration;

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// Ordinary memory of the host.
    Pageable,
    /// Page-locked memory of the host.
    Pinned,
    /// Memory of a device.
    Device,
    /// One address on host and device.
    Managed,
}

/// Hints for managed memory. `gpumem_managed_advise()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
#[allow(missing_docs)]
pub enum Advice {
    ReadMostly = sys::GPUMEM_ADVISE_READ_MOSTLY,
    UnsetReadMostly = sys::GPUMEM_ADVISE_UNSET_READ_MOSTLY,
    PreferredLocation = sys::GPUMEM_ADVISE_PREFERRED_LOCATION,
    UnsetPreferredLocation = sys::GPUMEM_ADVISE_UNSET_PREFERRED_LOCATION,
    AccessedBy = sys::GPUMEM_ADVISE_ACCESSED_BY,
    UnsetAccessedBy = sys::GPUMEM_ADVISE_UNSET_ACCESSED_BY,
}

pub(crate) fn text(chars: &[c_char]) -> String {
    // The library ends what it writes with a NUL.
    unsafe { CStr::from_ptr(chars.as_ptr()) }.to_string_lossy().into_owned()
}

/// A time that the library measured.
pub(crate) fn duration(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.max(0.0)) // not a number: 0
}

/// A device, and why a context got it. `gpumem_device_info`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Whether it is a GPU.
    pub is_cuda: bool,
    /// The ordinal of CUDA; -1 for the host.
    pub device: i32,
    /// What asking for CUDA would have given, where the host stands in.
    pub reason_code: Status,
    /// The compute capability.
    pub compute: (i32, i32),
    /// Multiprocessors, or threads of the host.
    pub multiprocessors: i32,
    /// As CUDA counts.
    pub driver_version: i32,
    /// Whether managed memory can be allocated.
    pub managed_memory: bool,
    /// Whether host and device may use it at the same time.
    pub concurrent_managed: bool,
    /// Whether kernels can read ordinary memory of the host.
    pub pageable_access: bool,
    /// Memory of the device.
    pub memory_bytes: i64,
    /// Its last cache.
    pub l2_bytes: i64,
    /// Theoretical bytes a second.
    pub bandwidth_bytes_per_s: i64,
    /// Its name.
    pub name: String,
    /// Why it was taken.
    pub reason: String,
}

impl From<sys::gpumem_device_info> for DeviceInfo {
    fn from(info: sys::gpumem_device_info) -> DeviceInfo {
        DeviceInfo {
            is_cuda: info.backend == sys::GPUMEM_BACKEND_CUDA,
            device: info.device,
            reason_code: Status(info.reason_code),
            compute: (info.compute_major, info.compute_minor),
            multiprocessors: info.multiprocessors,
            driver_version: info.driver_version,
            managed_memory: info.managed_memory != 0,
            concurrent_managed: info.concurrent_managed != 0,
            pageable_access: info.pageable_access != 0,
            memory_bytes: info.memory_bytes,
            l2_bytes: info.l2_bytes,
            bandwidth_bytes_per_s: info.bandwidth_bytes_per_s,
            name: text(&info.name),
            reason: text(&info.reason),
        }
    }
}

/// What a pointer is. `gpumem_pointer_info`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PointerInfo {
    /// The kind of memory.
    pub kind: MemoryKind,
    /// Where it lies: an ordinal, or -1 for the host.
    pub device: i32,
    /// Whether gpumem allocated it.
    pub ours: bool,
    /// Of the allocation; 0 if unknown.
    pub size_bytes: i64,
    /// Of the pointer in it.
    pub offset_bytes: i64,
}

impl From<sys::gpumem_pointer_info> for PointerInfo {
    fn from(info: sys::gpumem_pointer_info) -> PointerInfo {
        let kind = match info.kind {
            sys::GPUMEM_MEMORY_PINNED => MemoryKind::Pinned,
            sys::GPUMEM_MEMORY_DEVICE => MemoryKind::Device,
            sys::GPUMEM_MEMORY_MANAGED => MemoryKind::Managed,
            _ => MemoryKind::Pageable,
        };
        let (device, ours) = (info.device, info.ours != 0);
        PointerInfo { kind, device, ours, size_bytes: info.size_bytes, offset_bytes: info.offset_bytes }
    }
}

/// Where managed memory lies. `gpumem_managed_info`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ManagedInfo {
    /// Of the range, in memory of the host.
    pub host_bytes: i64,
    /// Where it was last brought to; `None` where it was not, or not all of it.
    pub last_prefetch: Option<i32>,
    /// By advice, likewise.
    pub preferred_location: Option<i32>,
    /// By advice.
    pub read_mostly: bool,
    /// By advice, the context's device.
    pub accessed_by: bool,
}

impl From<sys::gpumem_managed_info> for ManagedInfo {
    fn from(info: sys::gpumem_managed_info) -> ManagedInfo {
        let some = |device| if device == sys::GPUMEM_DEVICE_NONE { None } else { Some(device) };
        ManagedInfo {
            host_bytes: info.host_bytes,
            last_prefetch: some(info.last_prefetch),
            preferred_location: some(info.preferred_location),
            read_mostly: info.read_mostly != 0,
            accessed_by: info.accessed_by != 0,
        }
    }
}

macro_rules! memory_stats {
    ($($member:ident,)*) => {
        /// What a context has allocated. `gpumem_memory_stats_info` has the meaning of each member.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        #[allow(missing_docs)]
        pub struct MemoryStats { $(pub $member: i64,)* }

        impl From<sys::gpumem_memory_stats_info> for MemoryStats {
            fn from(stats: sys::gpumem_memory_stats_info) -> MemoryStats {
                MemoryStats { $($member: stats.$member,)* }
            }
        }
    };
}
memory_stats! {
    device_bytes, device_blocks, device_peak_bytes, pinned_bytes, pinned_blocks, pinned_peak_bytes, managed_bytes,
    managed_blocks, managed_peak_bytes, allocations, frees, device_reserved_bytes, device_reserved_peak_bytes,
    pinned_reserved_bytes, pinned_reserved_peak_bytes, device_allocations, pinned_allocations, managed_allocations,
    device_hits, device_misses, pinned_hits, pinned_misses, registered_bytes, registered_ranges,
}
