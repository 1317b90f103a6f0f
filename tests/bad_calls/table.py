"""Facts on parameters that the header's types do not have: one valid call of each function, and where NULL is permitted."""

INT32_MAX, INT64_MAX = 2**31 - 1, 2**63 - 1

# Valid values by the parameter's name. SOUND_OF has exceptions by function. Each size matters to its call.
SOUND = {
    "n": 16, "stride": 2, "x_stride": 2, "y_stride": 2, "alpha": 2, "beta": 3,
    "rows": 4, "cols": 8, "ld": 8, "batches": 2, "batch_stride": 32, "segments": 2, "bins": 4,
    "src_ld": 8, "dst_ld": 4, "src_batch_stride": 32, "dst_batch_stride": 32, "element_bytes": 4,
    "bytes": 64, "alignment": 256, "keep_bytes": 0, "row_bytes": 8, "slices": 2, "count": 16, "pattern_bytes": 4,
    "src_pitch_bytes": 16, "dst_pitch_bytes": 64, "src_slice_bytes": 64, "dst_slice_bytes": 512,
    "src_rows": 4, "src_cols": 8, "dst_rows": 4, "dst_cols": 8, "channels": 1, "ndim": 2, "terms": 2,
    "cap": 64, "index": 0, "device": -1, "pool_high": 0, "pool_low": 1,
    "dtype": 4, "op": 0, "axis": 0, "axes": 1, "src_type": 4, "dst_type": 10, "index_type": 4, "order_type": 6, "places_n": 16,
    "descending": 0, "exclusive": 0, "result_type": 6, "filter": 0, "family": 1,
    "format": 0, "advice": 3, "fn": None, "user": None, "native_stream": None, "param": None,
    "path": None, "name": None, "label": b"label", "line": b"reduce dtype=i32 op=sum n=8 x=pageable",
    "extents": [4, 2], "order": [1, 0], "x_strides": [2, 1, 2, 1], "y_strides": [2, 1], "z_strides": [2, 1],
    "src_strides": [2, 1], "dst_strides": [4, 1], "mask_strides": [2, 1], "result_strides": [2, 1],
    "w_strides": [2, 1, 2, 1], "dots": 2, "scale_strides": [2, 1], "offset_strides": [2, 1], "nan_value": 0, "factors": [2.0, 3.0], "most_records": 16,
}  # fmt: skip

SOUND_OF = {
    "gpumem_resize_2d_batch": {"count": 2, "dtype": 1, "dst_pitch_bytes": 16, "dst_image_stride_bytes": 64,
                               "src": "two_images", "src_rows": [4, 3], "src_cols": [8, 5], "src_pitch_bytes": [16, 8]},
    "gpumem_copy_boxes": {"count": 2, "ndim": 2, "extents": [4, 2, 2, 3], "src": "two_images", "dst": "two_results",
                          "src_strides": [4, 1, 4, 1], "dst_strides": [4, 1, 4, 1]},
    "gpumem_resize_2d": {"dtype": 1, "dst_pitch_bytes": 16},
    "gpumem_sort": {"order": "managed"},
    "gpumem_multiply": {"x_strides": [2, 1]},
    "gpumem_map": {"op": 16, "x_strides": [2, 1]},
    "gpumem_compare": {"x_strides": [2, 1]},
    "gpumem_where": {"x_strides": [2, 1]},
    "gpumem_convert_scaled": {"dst_strides": [2, 1]},
    "gpumem_argreduce": {"op": 1},
    **{f"gpumem_{name}_view": {"x_strides": [2, 1]} for name in ("reduce", "argreduce", "dot", "nrm2")},
    "gpumem_reduce_axes": {"x_strides": [2, 1]},
    "gpumem_dot_order_free": {"dtype": 10, "x_strides": [2, 1]},
    "gpumem_scan_axis": {"x_strides": [2, 1]},
    "gpumem_reduce_rows_by_index": {"rows": 16},
    "gpumem_managed": {"p": "managed"},
    "gpumem_host_register": {"p": "page"},
    "gpumem_profile_report": {"cap": 1},
    "gpumem_profile_write": {"path": b"/dev/null"},
    "gpumem_tuning": {"path": b"/dev/null"},
    "gpumem_dist_plan_redistribute": {"order": [0]},
    "gpumem_dist_plan_halo": {"low": [1], "high": [1], "periodic": [1]},
    "gpumem_dist_execute": {"src": "one_x", "dst": "one_dst"},
    "gpumem_dist_e": {"plan": "plan"},
    "gpumem_dist_argreduce": {"op": 1},
    "gpumem_dist_dot": {"dtype": 10, "y": "one_y"},
    "gpumem_dist_nrm2": {"dtype": 10},
    "gpumem_dist": {"dist": "dist", "plan": "reduce_plan", "x": "one_x"},
}  # fmt: skip

# The test makes no valid call of these first. Such a call does not exist, or it would end objects that other calls need.
NOT_MADE_FIRST = {
    "gpumem_ctx_destroy", "gpumem_stream_destroy", "gpumem_event_destroy", "gpumem_free", "gpumem_free_async",
    "gpumem_host_register", "gpumem_host_unregister", "gpumem_memory_check", "gpumem_ctx_set_log",
    "gpumem_torch_free", "gpumem_torch_record_stream", "gpumem_torch_begin_pool", "gpumem_torch_end_pool",
    "gpumem_torch_release_pool", "gpumem_torch_segment_malloc", "gpumem_torch_segment_free", "gpumem_cupy_free",
    "gpumem_cupy_malloc", "gpumem_torch_malloc",
    "gpumem_shared_ctx", "gpumem_alloc_device", "gpumem_alloc_async",
    "gpumem_dist_abort", "gpumem_dist_destroy", "gpumem_dist_plan_destroy",
    "gpumem_stream_native", "gpumem_profile_write", "gpumem_tuning_load", "gpumem_tuning_save",
}  # fmt: skip

# Operands in any kind of memory. The functions write to the outputs.
READ = {"x", "y", "src", "keys", "offsets", "pattern", "mask", "scale", "offset"}
NUMBERS = {"numerators", "denominators", "w"}  # arrays of addresses
WRITTEN = {"dst", "z", "sorted", "result", "results", "value", "places", "kept"}

# Parameters that may be NULL, by a prefix of the function's name.
NULLABLE = {
    "": {"stream", "status", "value", "native_stream", "param", "fn", "user", "needed", "label", "y_strides",
         "z_strides", "x_strides", "src_strides", "dst_strides", "mask_strides", "scale_strides", "offset_strides",
         "result_strides"},
    "gpumem_convert_scaled": {"scale", "offset"},
    "gpumem_lincomb_at": {"factors", "numerators", "denominators"},
    "gpumem_lincomb_dot": {"factors", "numerators", "denominators", "w", "w_strides"},
    "gpumem_sort": {"order", "sorted"},
    "gpumem_version": {"major", "minor", "patch"},
    "gpumem_ctx_create": {"options"}, "gpumem_ctx_destroy": {"ctx"}, "gpumem_stream_destroy": {"stream"},
    "gpumem_event_destroy": {"event"}, "gpumem_free": {"p"}, "gpumem_torch": {"p", "filter"}, "gpumem_cupy": {"p"},
    "gpumem_variant_force": {"name"}, "gpumem_memory_trace": {"path"}, "gpumem_tune": {"options"},
    "gpumem_tuning_load": {"taken", "skipped"},
    "gpumem_resize_2d_batch": {"src_pitch_bytes"},
    "gpumem_dist_plan": {"options", "order"}, "gpumem_dist_destroy": {"dist"}, "gpumem_dist_plan_destroy": {"plan"},
    "gpumem_dist_execute_async": {"streams"},
}  # fmt: skip

# Members of option structs that are not 0. A double is given by its bits.
MEMBERS = {
    "gpumem_ctx_options": {"device": -1}, "gpumem_tune_options": {"budget_s": 0x3F50624DD2F1A9FC},
    "gpumem_dist_options": {"contexts": "contexts", "members": 1, "deadline_s": 0x404E000000000000},
    "gpumem_dist_layout": {"element_bytes": 4, "rank": 1, "extents": "extents", "boxes": 1, "lower": "lower", "upper": "upper"},
    "gpumem_dist_plan_options": {"workspace_bytes": 4096},
}  # fmt: skip

# Members with invalid values.
NO_DURATION = (0, 0xBFF0000000000000, 0x7FF8000000000000, 0x7FF0000000000000)
BAD_MEMBERS = {
    "gpumem_ctx_options": {
        "device": (-4, -5, -99), "host_threads": (-1, -(2**31)), "non_blocking_stream": (2, -1), "reserved0": (1,),
        "stream_host_data": (2, -1), "reserved1": (1,), "device_memory_limit": (-1, -(2**63)),
        "pinned_memory_kept": (-2, -(2**63)), "debug_memory": (2, -1), "reserved2": (1,)},
    "gpumem_tune_options": {"budget_s": NO_DURATION},
    "gpumem_dist_options": {"contexts": (0,), "members": (0, -1, -(2**31)), "reserved0": (1,), "deadline_s": NO_DURATION},
    "gpumem_dist_layout": {
        "element_bytes": (0, 3, -1, 32, 2**62), "rank": (0, 9, -1, 2**31 - 1), "reserved0": (1,), "extents": (0,), "boxes": (-1, -(2**63)),
        "lower": (0,), "upper": (0,)},
    "gpumem_dist_plan_options": {"workspace_bytes": (0, -1, 4095, -(2**63))},
}  # fmt: skip

# ANY_VALUE: numbers that the program chooses.
# ANY_SIZE: sizes without an upper limit, as is the count of an array that the library can't check.
# FROM_MEMORY: functions whose limit is the available memory.
ANY_VALUE = {"pool_high", "pool_low"}
ANY_SIZE = ANY_VALUE | {"keep_bytes", "cap", "places_n"}
FROM_MEMORY = {"gpumem_alloc_device", "gpumem_alloc_pinned", "gpumem_alloc_managed", "gpumem_alloc_async",
               "gpumem_torch_malloc", "gpumem_torch_segment_malloc", "gpumem_cupy_malloc"}  # fmt: skip
