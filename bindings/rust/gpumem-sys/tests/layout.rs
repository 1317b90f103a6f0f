// Made of gpumem.h by bindings/rust/generate.
//! The structs lie in memory as in C.
#![cfg_attr(rustfmt, rustfmt_skip)]
use gpumem_sys::*;
use std::mem::{align_of, size_of, MaybeUninit};
use std::ptr::addr_of;

macro_rules! offset {
    ($of:ty, $member:ident) => {{
        let room = MaybeUninit::<$of>::uninit();
        let start = room.as_ptr();
        (unsafe { addr_of!((*start).$member) } as usize) - start as usize
    }};
}

#[test]
fn gpumem_ctx_options_is_as_in_c() {
    assert_eq!((size_of::<gpumem_ctx_options>(), align_of::<gpumem_ctx_options>()), (80, 8));
    assert_eq!(offset!(gpumem_ctx_options, struct_size), 0);
    assert_eq!(offset!(gpumem_ctx_options, device), 8);
    assert_eq!(offset!(gpumem_ctx_options, host_threads), 12);
    assert_eq!(offset!(gpumem_ctx_options, non_blocking_stream), 16);
    assert_eq!(offset!(gpumem_ctx_options, reserved0), 20);
    assert_eq!(offset!(gpumem_ctx_options, parallel_for), 24);
    assert_eq!(offset!(gpumem_ctx_options, parallel_for_user), 32);
    assert_eq!(offset!(gpumem_ctx_options, stream_host_data), 40);
    assert_eq!(offset!(gpumem_ctx_options, reserved1), 44);
    assert_eq!(offset!(gpumem_ctx_options, device_memory_limit), 48);
    assert_eq!(offset!(gpumem_ctx_options, pinned_memory_kept), 56);
    assert_eq!(offset!(gpumem_ctx_options, debug_memory), 64);
    assert_eq!(offset!(gpumem_ctx_options, reserved2), 68);
    assert_eq!(offset!(gpumem_ctx_options, strict_host), 72);
    assert_eq!(offset!(gpumem_ctx_options, reserved3), 76);
}

#[test]
fn gpumem_device_info_is_as_in_c() {
    assert_eq!((size_of::<gpumem_device_info>(), align_of::<gpumem_device_info>()), (456, 8));
    assert_eq!(offset!(gpumem_device_info, struct_size), 0);
    assert_eq!(offset!(gpumem_device_info, backend), 8);
    assert_eq!(offset!(gpumem_device_info, device), 12);
    assert_eq!(offset!(gpumem_device_info, reason_code), 16);
    assert_eq!(offset!(gpumem_device_info, compute_major), 20);
    assert_eq!(offset!(gpumem_device_info, compute_minor), 24);
    assert_eq!(offset!(gpumem_device_info, multiprocessors), 28);
    assert_eq!(offset!(gpumem_device_info, driver_version), 32);
    assert_eq!(offset!(gpumem_device_info, managed_memory), 36);
    assert_eq!(offset!(gpumem_device_info, concurrent_managed), 40);
    assert_eq!(offset!(gpumem_device_info, pageable_access), 44);
    assert_eq!(offset!(gpumem_device_info, memory_bytes), 48);
    assert_eq!(offset!(gpumem_device_info, l2_bytes), 56);
    assert_eq!(offset!(gpumem_device_info, bandwidth_bytes_per_s), 64);
    assert_eq!(offset!(gpumem_device_info, name), 72);
    assert_eq!(offset!(gpumem_device_info, reason), 200);
}

#[test]
fn gpumem_pointer_info_is_as_in_c() {
    assert_eq!((size_of::<gpumem_pointer_info>(), align_of::<gpumem_pointer_info>()), (48, 8));
    assert_eq!(offset!(gpumem_pointer_info, struct_size), 0);
    assert_eq!(offset!(gpumem_pointer_info, kind), 8);
    assert_eq!(offset!(gpumem_pointer_info, device), 12);
    assert_eq!(offset!(gpumem_pointer_info, ours), 16);
    assert_eq!(offset!(gpumem_pointer_info, reserved0), 20);
    assert_eq!(offset!(gpumem_pointer_info, size_bytes), 24);
    assert_eq!(offset!(gpumem_pointer_info, offset_bytes), 32);
    assert_eq!(offset!(gpumem_pointer_info, base), 40);
}

#[test]
fn gpumem_managed_info_is_as_in_c() {
    assert_eq!((size_of::<gpumem_managed_info>(), align_of::<gpumem_managed_info>()), (32, 8));
    assert_eq!(offset!(gpumem_managed_info, struct_size), 0);
    assert_eq!(offset!(gpumem_managed_info, host_bytes), 8);
    assert_eq!(offset!(gpumem_managed_info, last_prefetch), 16);
    assert_eq!(offset!(gpumem_managed_info, preferred_location), 20);
    assert_eq!(offset!(gpumem_managed_info, read_mostly), 24);
    assert_eq!(offset!(gpumem_managed_info, accessed_by), 28);
}

#[test]
fn gpumem_memory_stats_info_is_as_in_c() {
    assert_eq!((size_of::<gpumem_memory_stats_info>(), align_of::<gpumem_memory_stats_info>()), (200, 8));
    assert_eq!(offset!(gpumem_memory_stats_info, struct_size), 0);
    assert_eq!(offset!(gpumem_memory_stats_info, device_bytes), 8);
    assert_eq!(offset!(gpumem_memory_stats_info, device_blocks), 16);
    assert_eq!(offset!(gpumem_memory_stats_info, device_peak_bytes), 24);
    assert_eq!(offset!(gpumem_memory_stats_info, pinned_bytes), 32);
    assert_eq!(offset!(gpumem_memory_stats_info, pinned_blocks), 40);
    assert_eq!(offset!(gpumem_memory_stats_info, pinned_peak_bytes), 48);
    assert_eq!(offset!(gpumem_memory_stats_info, managed_bytes), 56);
    assert_eq!(offset!(gpumem_memory_stats_info, managed_blocks), 64);
    assert_eq!(offset!(gpumem_memory_stats_info, managed_peak_bytes), 72);
    assert_eq!(offset!(gpumem_memory_stats_info, allocations), 80);
    assert_eq!(offset!(gpumem_memory_stats_info, frees), 88);
    assert_eq!(offset!(gpumem_memory_stats_info, device_reserved_bytes), 96);
    assert_eq!(offset!(gpumem_memory_stats_info, device_reserved_peak_bytes), 104);
    assert_eq!(offset!(gpumem_memory_stats_info, pinned_reserved_bytes), 112);
    assert_eq!(offset!(gpumem_memory_stats_info, pinned_reserved_peak_bytes), 120);
    assert_eq!(offset!(gpumem_memory_stats_info, device_allocations), 128);
    assert_eq!(offset!(gpumem_memory_stats_info, pinned_allocations), 136);
    assert_eq!(offset!(gpumem_memory_stats_info, managed_allocations), 144);
    assert_eq!(offset!(gpumem_memory_stats_info, device_hits), 152);
    assert_eq!(offset!(gpumem_memory_stats_info, device_misses), 160);
    assert_eq!(offset!(gpumem_memory_stats_info, pinned_hits), 168);
    assert_eq!(offset!(gpumem_memory_stats_info, pinned_misses), 176);
    assert_eq!(offset!(gpumem_memory_stats_info, registered_bytes), 184);
    assert_eq!(offset!(gpumem_memory_stats_info, registered_ranges), 192);
}

#[test]
fn gpumem_ceiling_info_is_as_in_c() {
    assert_eq!((size_of::<gpumem_ceiling_info>(), align_of::<gpumem_ceiling_info>()), (56, 8));
    assert_eq!(offset!(gpumem_ceiling_info, struct_size), 0);
    assert_eq!(offset!(gpumem_ceiling_info, read), 8);
    assert_eq!(offset!(gpumem_ceiling_info, write), 16);
    assert_eq!(offset!(gpumem_ceiling_info, copy), 24);
    assert_eq!(offset!(gpumem_ceiling_info, to_device), 32);
    assert_eq!(offset!(gpumem_ceiling_info, from_device), 40);
    assert_eq!(offset!(gpumem_ceiling_info, theoretical), 48);
}

#[test]
fn gpumem_profile_row_is_as_in_c() {
    assert_eq!((size_of::<gpumem_profile_row>(), align_of::<gpumem_profile_row>()), (656, 8));
    assert_eq!(offset!(gpumem_profile_row, struct_size), 0);
    assert_eq!(offset!(gpumem_profile_row, calls), 8);
    assert_eq!(offset!(gpumem_profile_row, timed), 16);
    assert_eq!(offset!(gpumem_profile_row, bytes), 24);
    assert_eq!(offset!(gpumem_profile_row, median_s), 32);
    assert_eq!(offset!(gpumem_profile_row, total_s), 40);
    assert_eq!(offset!(gpumem_profile_row, bytes_per_s), 48);
    assert_eq!(offset!(gpumem_profile_row, of_theoretical), 56);
    assert_eq!(offset!(gpumem_profile_row, of_ceiling), 64);
    assert_eq!(offset!(gpumem_profile_row, flops_per_s), 72);
    assert_eq!(offset!(gpumem_profile_row, variant), 80);
    assert_eq!(offset!(gpumem_profile_row, problem), 144);
}

#[test]
fn gpumem_tune_options_is_as_in_c() {
    assert_eq!((size_of::<gpumem_tune_options>(), align_of::<gpumem_tune_options>()), (32, 8));
    assert_eq!(offset!(gpumem_tune_options, struct_size), 0);
    assert_eq!(offset!(gpumem_tune_options, budget_s), 8);
    assert_eq!(offset!(gpumem_tune_options, progress), 16);
    assert_eq!(offset!(gpumem_tune_options, user), 24);
}

#[test]
fn gpumem_tune_info_is_as_in_c() {
    assert_eq!((size_of::<gpumem_tune_info>(), align_of::<gpumem_tune_info>()), (304, 8));
    assert_eq!(offset!(gpumem_tune_info, struct_size), 0);
    assert_eq!(offset!(gpumem_tune_info, adopted), 8);
    assert_eq!(offset!(gpumem_tune_info, candidates), 12);
    assert_eq!(offset!(gpumem_tune_info, table_s), 16);
    assert_eq!(offset!(gpumem_tune_info, winner_s), 24);
    assert_eq!(offset!(gpumem_tune_info, ratio), 32);
    assert_eq!(offset!(gpumem_tune_info, spread), 40);
    assert_eq!(offset!(gpumem_tune_info, table), 48);
    assert_eq!(offset!(gpumem_tune_info, winner), 112);
    assert_eq!(offset!(gpumem_tune_info, reason), 176);
}

#[test]
fn gpumem_dist_transport_is_as_in_c() {
    assert_eq!((size_of::<gpumem_dist_transport>(), align_of::<gpumem_dist_transport>()), (56, 8));
    assert_eq!(offset!(gpumem_dist_transport, struct_size), 0);
    assert_eq!(offset!(gpumem_dist_transport, user), 8);
    assert_eq!(offset!(gpumem_dist_transport, rank), 16);
    assert_eq!(offset!(gpumem_dist_transport, size), 20);
    assert_eq!(offset!(gpumem_dist_transport, isend), 24);
    assert_eq!(offset!(gpumem_dist_transport, irecv), 32);
    assert_eq!(offset!(gpumem_dist_transport, test), 40);
    assert_eq!(offset!(gpumem_dist_transport, release), 48);
}

#[test]
fn gpumem_dist_options_is_as_in_c() {
    assert_eq!((size_of::<gpumem_dist_options>(), align_of::<gpumem_dist_options>()), (40, 8));
    assert_eq!(offset!(gpumem_dist_options, struct_size), 0);
    assert_eq!(offset!(gpumem_dist_options, contexts), 8);
    assert_eq!(offset!(gpumem_dist_options, members), 16);
    assert_eq!(offset!(gpumem_dist_options, reserved0), 20);
    assert_eq!(offset!(gpumem_dist_options, transport), 24);
    assert_eq!(offset!(gpumem_dist_options, deadline_s), 32);
}

#[test]
fn gpumem_dist_info_is_as_in_c() {
    assert_eq!((size_of::<gpumem_dist_info>(), align_of::<gpumem_dist_info>()), (40, 8));
    assert_eq!(offset!(gpumem_dist_info, struct_size), 0);
    assert_eq!(offset!(gpumem_dist_info, rank), 8);
    assert_eq!(offset!(gpumem_dist_info, size), 12);
    assert_eq!(offset!(gpumem_dist_info, first_member), 16);
    assert_eq!(offset!(gpumem_dist_info, members), 20);
    assert_eq!(offset!(gpumem_dist_info, all_members), 24);
    assert_eq!(offset!(gpumem_dist_info, status), 28);
    assert_eq!(offset!(gpumem_dist_info, staged_pairs), 32);
    assert_eq!(offset!(gpumem_dist_info, reserved0), 36);
}

#[test]
fn gpumem_dist_layout_is_as_in_c() {
    assert_eq!((size_of::<gpumem_dist_layout>(), align_of::<gpumem_dist_layout>()), (80, 8));
    assert_eq!(offset!(gpumem_dist_layout, struct_size), 0);
    assert_eq!(offset!(gpumem_dist_layout, element_bytes), 8);
    assert_eq!(offset!(gpumem_dist_layout, rank), 16);
    assert_eq!(offset!(gpumem_dist_layout, reserved0), 20);
    assert_eq!(offset!(gpumem_dist_layout, extents), 24);
    assert_eq!(offset!(gpumem_dist_layout, boxes), 32);
    assert_eq!(offset!(gpumem_dist_layout, members), 40);
    assert_eq!(offset!(gpumem_dist_layout, lower), 48);
    assert_eq!(offset!(gpumem_dist_layout, upper), 56);
    assert_eq!(offset!(gpumem_dist_layout, offsets), 64);
    assert_eq!(offset!(gpumem_dist_layout, strides), 72);
}

#[test]
fn gpumem_dist_plan_options_is_as_in_c() {
    assert_eq!((size_of::<gpumem_dist_plan_options>(), align_of::<gpumem_dist_plan_options>()), (16, 8));
    assert_eq!(offset!(gpumem_dist_plan_options, struct_size), 0);
    assert_eq!(offset!(gpumem_dist_plan_options, workspace_bytes), 8);
}
