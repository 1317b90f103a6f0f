# gpumem_core: every object of the library. Unit tests link these objects, because the internals are not exported.
set(core_sources
  src/api/arithmetic.cpp
  src/api/axpby.cpp
  src/api/convert.cpp
  src/api/context.cpp
  src/api/copy.cpp
  src/api/copy_boxes.cpp
  src/api/dist.cpp
  src/api/fill.cpp
  src/api/resize.cpp
  src/api/reduce_by_index.cpp
  src/api/select.cpp
  src/api/library.cpp
  src/api/map.cpp
  src/api/measure.cpp
  src/api/memory.cpp
  src/api/permute.cpp
  src/api/plugins.cpp
  src/api/reduce.cpp
  src/api/gather_scatter.cpp
  src/api/scan.cpp
  src/api/sort.cpp
  src/api/streams.cpp
  src/api/transpose.cpp
  src/api/variants.cpp
  src/ops/managed_prefetch.cpp
  src/ops/arithmetic/arithmetic.cpp
  src/ops/axpby/axpby.cpp
  src/ops/convert/convert.cpp
  src/ops/map/map.cpp
  src/memory/arena.cpp
  src/memory/block_guards.cpp
  src/memory/block_pool.cpp
  src/memory/block_source.cpp
  src/memory/block_supply.cpp
  src/memory/cached_supply.cpp
  src/memory/mapped_supply.cpp
  src/context/context.cpp
  src/ops/create_context.cpp
  src/ops/ceiling.cpp
  src/ops/copy/copy.cpp
  src/ops/copy_boxes/copy_boxes.cpp
  src/context/devices.cpp
  src/dist/background.cpp
  src/dist/batches.cpp
  src/dist/communicator.cpp
  src/dist/peer_copy_pipeline.cpp
  src/dist/dist.cpp
  src/dist/enqueue.cpp
  src/dist/exchange.cpp
  src/dist/explain.cpp
  src/dist/layout.cpp
  src/dist/managed_staging.cpp
  src/dist/movement.cpp
  src/dist/peers.cpp
  src/dist/pulls.cpp
  src/dist/reduction.cpp
  src/dist/rounds.cpp
  src/dist/route.cpp
  src/dist/device_transport.cpp
  src/base/error.cpp
  src/base/files.cpp
  src/base/limits.cpp
  src/ops/explain.cpp
  src/ops/call_record.cpp
  src/ops/call_timer.cpp
  src/ops/call_work.cpp
  src/ops/planner.cpp
  src/ops/problem_line.cpp
  src/memory/fences.cpp
  src/ops/fill/fill.cpp
  src/context/handles.cpp
  src/memory/labels.cpp
  src/ops/bounce_buffers.cpp
  src/base/log.cpp
  src/base/printable.cpp
  src/ops/memory/graph_pools.cpp
  src/ops/memory/managed.cpp
  src/ops/memory/memory.cpp
  src/memory/memory_trace.cpp
  src/context/objects.cpp
  src/ops/operand.cpp
  src/ops/operands_of_line.cpp
  src/ops/outputs.cpp
  src/memory/page_map.cpp
  src/ops/permute/permute.cpp
  src/memory/pinned_rings.cpp
  src/ops/placement.cpp
  src/ops/profile.cpp
  src/ops/profile_report.cpp
  src/context/process.cpp
  src/ops/reduce/reduce.cpp
  src/ops/reduce/reduce_axes.cpp
  src/ops/reduce/reduce_check.cpp
  src/ops/reduce/reduce_lines.cpp
  src/ops/reduce/reduce_streamed.cpp
  src/ops/reduce/reduce_view.cpp
  src/memory/registry.cpp
  src/ops/copy/ring_copy.cpp
  src/ops/gather_scatter/gather_scatter.cpp
  src/ops/resize/batch.cpp
  src/ops/rows.cpp
  src/ops/reduce_by_index/reduce_by_index.cpp
  src/ops/select/select.cpp
  src/ops/resize/resize.cpp
  src/ops/scan/scan.cpp
  src/ops/sort/sort.cpp
  src/ops/memory/shared_contexts.cpp
  src/ops/sources.cpp
  src/ops/staging.cpp
  src/memory/stream_cache.cpp
  src/context/streams.cpp
  src/ops/strides.cpp
  src/ops/tune.cpp
  src/ops/tuning.cpp
  src/ops/workspace.cpp
  src/ops/transpose/transpose.cpp
  src/ops/transpose/transpose_across.cpp
  src/select/variants.cpp
  src/backend/host/reduce_axis.cpp
  src/backend/host/cpu_budget.cpp
  src/backend/host/foreign_cuda.cpp
  src/backend/host/arithmetic.cpp
  src/backend/host/axpby.cpp
  src/backend/host/convert.cpp
  src/backend/host/host_backend.cpp
  src/backend/host/copy.cpp
  src/backend/host/copy_boxes.cpp
  src/backend/host/host_families.cpp
  src/backend/host/permute.cpp
  src/backend/host/host_queue.cpp
  src/backend/host/lent_threads.cpp
  src/backend/host/map.cpp
  src/backend/host/queue_workers.cpp
  src/backend/host/resize.cpp
  src/backend/host/scan.cpp
  src/backend/host/scan_lines.cpp
  src/backend/host/scan_serial.cpp
  src/backend/host/gather_scatter.cpp
  src/backend/host/by_index_leaves.cpp
  src/backend/host/reduce_by_index.cpp
  src/backend/host/reduce_rows_by_index.cpp
  src/backend/host/sort.cpp
  src/backend/host/select.cpp
  src/backend/host/transpose.cpp
  src/backend/host/transpose_in_place.cpp
  src/backend/host/loops/dispatch.cpp
  src/backend/host/mappings.cpp
  src/backend/host/probe.cpp
  src/backend/host/reduce_segments.cpp
  src/backend/host/sequence.cpp
  src/backend/host/reduce_vector.cpp
  src/backend/host/worker_pool.cpp)

# The tables of implementations name functions of the CUDA backend, so they are compiled with it or with its substitute.
set(table_sources
  src/ops/arithmetic/implementations.cpp
  src/ops/axpby/implementations.cpp
  src/ops/convert/implementations.cpp
  src/ops/copy/implementations.cpp
  src/ops/copy_boxes/implementations.cpp
  src/ops/fill/implementations.cpp
  src/ops/gather_scatter/implementations.cpp
  src/ops/map/implementations.cpp
  src/ops/permute/implementations.cpp
  src/ops/reduce/implementations.cpp
  src/ops/reduce/implementations_lines.cpp
  src/ops/resize/implementations.cpp
  src/ops/scan/implementations.cpp
  src/ops/sort/implementations.cpp
  src/ops/reduce_by_index/implementations.cpp
  src/ops/select/implementations.cpp
  src/ops/transpose/implementations.cpp)

set(cuda_sources
  ${table_sources}
  src/backend/cuda/checker.cpp
  src/backend/cuda/cuda_backend.cpp
  src/backend/cuda/cuda_check.cpp
  src/backend/cuda/cuda_devices.cpp
  src/backend/cuda/cuda_managed.cpp
  src/backend/cuda/reduce.cpp
  src/backend/cuda/gather_scatter.cpp
  src/backend/cuda/cuda_streams.cpp
  src/backend/cuda/driver_api.cpp
  src/backend/cuda/driver_pool.cpp
  src/backend/cuda/peer.cpp
  src/backend/cuda/granules.cpp
  src/backend/cuda/launch_range.cpp
  src/backend/cuda/nccl.cpp
  src/backend/cuda/reduce_scratch.cpp
  src/backend/cuda/result_slots.cpp
  src/backend/cuda/stream_memory.cpp)
set(absent_sources src/backend/absent/cuda_absent.cpp ${table_sources})
set(kernel_sources
  kernels/arithmetic/arithmetic.cu
  kernels/arithmetic/lincomb_dot.cu
  kernels/axpby/axpby.cu
  kernels/ceiling/ceiling.cu
  kernels/convert/convert.cu
  kernels/copy/copy.cu
  kernels/copy_boxes/copy_boxes.cu
  kernels/fill/fill.cu
  kernels/map/map.cu
  kernels/permute/contiguous_boxes.cu
  kernels/permute/packed.cu
  kernels/permute/permute.cu
  kernels/permute/pieces.cu
  kernels/reduce/columns.cu
  kernels/reduce/few_rows.cu
  kernels/reduce/order_free.cu
  kernels/reduce/reduce.cu
  kernels/reduce/strided_scalar.cu
  kernels/reduce/tiles_arg.cu
  kernels/reduce/tiles_integer.cu
  kernels/reduce/tiles_range.cu
  kernels/reduce/tiles_sum.cu
  kernels/reduce/view.cu
  kernels/reduce/warp_lines.cu
  kernels/reduce/windows.cu
  kernels/resize/resize.cu
  kernels/resize/words.cu
  kernels/scan/columns.cu
  kernels/scan/each_line.cu
  kernels/scan/lines.cu
  kernels/scan/look_back.cu
  kernels/scan/ordered.cu
  kernels/scan/sums_of_lines.cu
  kernels/sort/radix_sort.cu
  kernels/sort/segments.cu
  kernels/sort/sort.cu
  kernels/sort/tiles.cu
  kernels/gather_scatter/gather_scatter.cu
  kernels/reduce_by_index/reduce_by_index.cu
  kernels/reduce_by_index/rows.cu
  kernels/reduce_by_index/block_per_bin.cu
  kernels/reduce_by_index/buckets.cu
  kernels/reduce_by_index/warp_per_bin.cu
  kernels/select/select.cu
  kernels/textbook/axpby.cu
  kernels/textbook/copy.cu
  kernels/textbook/reduce.cu
  kernels/textbook/resize.cu
  kernels/textbook/transpose.cu
  kernels/launch.cu
  kernels/transpose/aos_soa.cu
  kernels/transpose/batched_scalar.cu
  kernels/transpose/byte_perm_vec16.cu
  kernels/transpose/chunks.cu
  kernels/transpose/in_place_c2r.cu
  kernels/transpose/in_place_scratch.cu
  kernels/transpose/in_place_slots.cu
  kernels/transpose/in_place_shared.cu
  kernels/transpose/in_place_tiles.cu
  kernels/transpose/tile_realigned.cu
  kernels/transpose/transpose.cu)

# The library has ranges of its own, and needs no NVTX of CUB.
set_source_files_properties(kernels/sort/radix_sort.cu PROPERTIES COMPILE_DEFINITIONS CCCL_DISABLE_NVTX)

if(GPUMEM_EMULATE)
  list(APPEND core_sources ${cuda_sources})
  gpumem_add_emulation(${kernel_sources})
elseif(NOT GPUMEM_HAS_CUDA)
  list(APPEND core_sources ${absent_sources})
endif()

function(gpumem_core_settings target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  set_target_properties(${target} PROPERTIES
    POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden
    CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  # Only explicit fused multiply-add, so results do not depend on the compiler.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>
    # Functions that host and kernels share are plain constexpr ones.
    $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false --expt-relaxed-constexpr --compress-mode=size>)
  gpumem_compile_options(${target})
  gpumem_harden(${target})
  # A caller's thread may have a small stack.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT GPUMEM_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wstack-usage=9216>)
  endif()
endfunction()

# The host's inner loops, once per instruction set.
set(loop_objects "")
set(loop_speed -O3)
set(base_speed -O2)  # a third less code, for the few processors before AVX2
if(GPUMEM_SANITIZE)
  set(loop_speed "")
  set(base_speed "")
endif()
# gcc vectorises their comparisons only if it may ignore floating-point exception flags, which nothing reads.
set_source_files_properties(src/backend/host/loops/convert.cpp src/backend/host/loops/resize.cpp PROPERTIES
                            COMPILE_OPTIONS -fno-trapping-math)
# Nor does anything read errno, which would make each square root a branch. clang warns of loops that it does not vectorise.
set_source_files_properties(src/backend/host/loops/map.cpp PROPERTIES
                            COMPILE_OPTIONS "-fno-trapping-math;-fno-math-errno;-Wno-pass-failed")
# Their vectors are written out. With more unrolling, they are four times as large. The base has them at half of the size.
if(NOT GPUMEM_SANITIZE)
  set_source_files_properties(src/backend/host/loops/arithmetic.cpp src/backend/host/loops/float_lines.cpp
                              src/backend/host/loops/order_free.cpp
                              PROPERTIES COMPILE_OPTIONS $<IF:$<BOOL:$<TARGET_PROPERTY:GPUMEM_SMALL>>,-Os,-O2>)
endif()
function(gpumem_loops name flags)
  add_library(gpumem_loops_${name} OBJECT
    src/backend/host/loops/arithmetic.cpp
    src/backend/host/loops/convert.cpp
    src/backend/host/loops/float_lines.cpp
    src/backend/host/loops/floats.cpp
    src/backend/host/loops/integers.cpp
    src/backend/host/loops/map.cpp
    src/backend/host/loops/move.cpp
    src/backend/host/loops/order_free.cpp
    src/backend/host/loops/ranges.cpp
    src/backend/host/loops/resize.cpp
    src/backend/host/loops/scan.cpp
    src/backend/host/loops/table.cpp
    src/backend/host/loops/word_lines.cpp)
  gpumem_core_settings(gpumem_loops_${name})
  target_compile_definitions(gpumem_loops_${name} PRIVATE GPUMEM_LOOPS=loops_${name})
  target_compile_options(gpumem_loops_${name} PRIVATE ${loop_speed} ${flags})
  set(loop_objects ${loop_objects} $<TARGET_OBJECTS:gpumem_loops_${name}> PARENT_SCOPE)
endfunction()

if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  gpumem_loops(base "")
else()
  gpumem_loops(base "${base_speed}")
  set_target_properties(gpumem_loops_base PROPERTIES GPUMEM_SMALL ON)
  gpumem_loops(avx2 "-mavx2;-mf16c")
  gpumem_loops(avx512 "-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mf16c;-mprefer-vector-width=512")
  set_source_files_properties(src/backend/host/loops/dispatch.cpp PROPERTIES COMPILE_DEFINITIONS GPUMEM_HAS_WIDE_LOOPS)
endif()

add_library(gpumem_core OBJECT ${core_sources})
gpumem_core_settings(gpumem_core)
if(GPUMEM_PRECOMPILE)
  target_precompile_headers(gpumem_core PRIVATE src/base/precompiled.hpp)
endif()
# Files compiled together take half the time. Some folders define the same names in each file, so their files stay separate.
# The build without sanitizers compiles each file separately.
if(GPUMEM_SANITIZE)
  set_target_properties(gpumem_core PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
  set(apart ${core_sources})
  list(FILTER apart INCLUDE REGEX "^src/(backend/host|ops/axpby)/|/implementations")
  set_source_files_properties(${apart} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endif()

# -O3 speeds up only loops of the host and loops over the boxes of a layout. Other code would only grow. Rarely called code has -Os.
# Files with other options than the precompiled headers do not use them, because gcc would apply the headers' options.
target_compile_options(gpumem_core PRIVATE $<$<CONFIG:Release>:-O2>)
# By default, gcc copies and clears structs of some hundred bytes with "rep" instructions, which take 10 ns to begin (AMD EPYC). A call on
# 10 elements of the host took 950 ns with them, and takes 790 with loops.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  foreach(function memcpy memset)
    target_compile_options(gpumem_core PRIVATE $<$<CONFIG:Release>:-m${function}-strategy=vector_loop:2048:noalign,libcall:-1:noalign>)
  endforeach()
endif()
set(loop_sources ${core_sources})
list(FILTER loop_sources INCLUDE REGEX "^src/(backend/host/|dist/layout)")
list(FILTER loop_sources EXCLUDE REGEX "reduce_rows_by_index|host_families|host_backend")  # they call the loops of others
set_source_files_properties(${loop_sources} PROPERTIES
  COMPILE_OPTIONS $<$<CONFIG:Release>:-O3> SKIP_PRECOMPILE_HEADERS ON)
set_source_files_properties(
  src/api/context.cpp src/api/dist.cpp src/api/library.cpp src/api/measure.cpp src/api/variants.cpp src/backend/cuda/nccl.cpp src/backend/host/scan_serial.cpp src/base/limits.cpp
  src/dist/background.cpp src/dist/batches.cpp src/dist/communicator.cpp src/dist/device_transport.cpp src/dist/dist.cpp src/dist/enqueue.cpp
  src/dist/exchange.cpp src/dist/explain.cpp src/dist/managed_staging.cpp src/dist/movement.cpp src/dist/peer_copy_pipeline.cpp
  src/dist/peers.cpp src/dist/pulls.cpp src/dist/reduction.cpp src/dist/rounds.cpp src/memory/block_guards.cpp
  src/ops/call_work.cpp src/ops/create_context.cpp src/ops/explain.cpp src/ops/operands_of_line.cpp src/ops/problem_line.cpp src/ops/profile_report.cpp src/ops/tune.cpp
  PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-Os> SKIP_PRECOMPILE_HEADERS ON)
if(GPUMEM_HAS_CUDA)
  target_include_directories(gpumem_core SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
endif()
if(GPUMEM_EMULATE)
  target_compile_definitions(gpumem_core PRIVATE GPUMEM_HAS_CUDA)
endif()

# Other libraries of every binary with these objects. Everything except the C and C++ runtime is static.
set(GPUMEM_CORE_OBJECTS $<TARGET_OBJECTS:gpumem_core> ${loop_objects})
set(GPUMEM_CORE_LIBRARIES Threads::Threads ${CMAKE_DL_LIBS})
if(GPUMEM_HAS_CUDA)
  list(APPEND GPUMEM_CORE_LIBRARIES ${GPUMEM_CUDA_LIBRARIES})
endif()
if(GPUMEM_EMULATE)
  list(APPEND GPUMEM_CORE_OBJECTS $<TARGET_OBJECTS:gpumem_kernels> $<TARGET_OBJECTS:gpumem_emulation>)
elseif(GPUMEM_HAS_CUDA)
  # Separate objects, so a test can link the library without them.
  foreach(part cuda absent)
    add_library(gpumem_${part} OBJECT EXCLUDE_FROM_ALL ${${part}_sources})
    gpumem_core_settings(gpumem_${part})
    target_include_directories(gpumem_${part} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  endforeach()
  target_sources(gpumem_cuda PRIVATE ${kernel_sources})
  target_compile_definitions(gpumem_cuda PRIVATE GPUMEM_HAS_CUDA)
  list(APPEND GPUMEM_CORE_OBJECTS $<TARGET_OBJECTS:gpumem_cuda>)
endif()
