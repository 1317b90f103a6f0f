//! The library's structs as Rust types.
use crate::error::Status;
use gpumem_sys as sys;
use std::ffi::CStr;
use std::os::raw::c_char;
use std::time::Duration;

/// A kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// Pageable host memory.
    Pageable,
    /// Page-locked host memory.
    Pinned,
    /// Device memory.
    Device,
    /// Memory with one address on host and device.
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
    // The library ends its texts with a NUL.
    unsafe { CStr::from_ptr(chars.as_ptr()) }.to_string_lossy().into_owned()
}

/// Converts a time of the library.
pub(crate) fn duration(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.max(0.0)) // 0 for NaN
}

/// Describes a device. `gpumem_device_info`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// True for a GPU.
    pub is_cuda: bool,
    /// The CUDA ordinal. -1 for the host.
    pub device: i32,
    /// The status of a request for CUDA, if the host replaces a GPU.
    pub reason_code: Status,
    /// The compute capability.
    pub compute: (i32, i32),
    /// Multiprocessors, or threads of the host.
    pub multiprocessors: i32,
    /// The driver's CUDA version, as CUDA encodes it.
    pub driver_version: i32,
    /// True if managed memory can be allocated.
    pub managed_memory: bool,
    /// True if host and device may use managed memory at the same time.
    pub concurrent_managed: bool,
    /// True if kernels can read pageable host memory.
    pub pageable_access: bool,
    /// The bytes of device memory.
    pub memory_bytes: i64,
    /// The bytes of the last-level cache.
    pub l2_bytes: i64,
    /// The theoretical bandwidth, in bytes per second.
    pub bandwidth_bytes_per_s: i64,
    /// The name of the device.
    pub name: String,
    /// The reason why the device was chosen.
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

/// Describes a pointer. `gpumem_pointer_info`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct PointerInfo {
    /// The kind of memory.
    pub kind: MemoryKind,
    /// The device of the memory: an ordinal, or -1 for the host.
    pub device: i32,
    /// True if gpumem allocated the memory.
    pub ours: bool,
    /// The bytes of the allocation. 0 if unknown.
    pub size_bytes: i64,
    /// The offset of the pointer in the allocation, in bytes.
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

/// Describes managed memory. `gpumem_managed_info`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ManagedInfo {
    /// The bytes of the range that are in host memory.
    pub host_bytes: i64,
    /// The device of the last prefetch. `None` without a prefetch, or after one of a part.
    pub last_prefetch: Option<i32>,
    /// The preferred location by advice. `None` if not advised, or only for a part.
    pub preferred_location: Option<i32>,
    /// True if advised as read-mostly.
    pub read_mostly: bool,
    /// True if advised as accessed by the context's device.
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
        /// The memory of a context. `gpumem_memory_stats_info` explains each member.
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
