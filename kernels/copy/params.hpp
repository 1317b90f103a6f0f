// Parameters of a copy and the arithmetic of its rows. Row r of slice s is at p + s * slice + r * pitch on each side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernels/limits.hpp"

namespace gpumem {

// The kind of host memory on one side. The driver accesses locked pages directly. It rejects partly registered memory.
enum class HostSide : int32_t { locked, pageable, mixed };

enum class Across : int32_t { nothing, link, devices };

// In bytes. Valid extents are 1 or more. The pitch of a single row and the distance of a single slice are ignored.
struct CopyParams {
  char* dst = nullptr;
  int64_t dst_pitch = 0;
  int64_t dst_slice = 0;
  const char* src = nullptr;
  int64_t src_pitch = 0;
  int64_t src_slice = 0;
  int64_t row_bytes = 0;
  int64_t rows = 1;
  int64_t slices = 1;
  int32_t rank = 1;         // of gpumem_copy(), gpumem_copy_2d(), gpumem_copy_3d()
  bool reached = false;     // the caller has opened a side on another device to this one
  int32_t dst_device = -1;  // with this side: another device, or this one
  int32_t src_device = -1;
  // A side is memory of a device that is not open to this one. The driver guarantees only copies of one range there. It
  // is set before the launch.
  bool row_by_row = false;
  bool managed = false;
  Across across = Across::nothing;
  HostSide host_side = HostSide::locked;  // across PCIe
  bool to_device = false;                 // across PCIe
  bool enqueued = false;                  // the stream's order also applies to pageable memory
  int32_t host_threads = 1;

  bool one_range() const noexcept { return rows == 1 && slices == 1; }
  int64_t bytes() const noexcept { return row_bytes * rows * slices; }
  int64_t elements() const noexcept { return bytes(); }
  // The widest access that every row is aligned for, on both sides.
  int64_t access() const noexcept {
    return widest_access(starts(dst, dst_pitch, dst_slice) | starts(src, src_pitch, src_slice));
  }
  // Bytes per word of a row: 16 (4 or 8 for short rows) if every row begins at such words on both sides. 0: words are
  // shifted.
  int64_t row_access() const noexcept {
    const int64_t word = access();
    return word == 16 || (word >= 4 && row_bytes <= 16 * word) ? word : 0;
  }
  int64_t words_of_row() const noexcept {
    if (const int64_t word = row_access(); word != 0) return ceil_div(row_bytes, word);
    return ceil_div(row_bytes + 16 - widest_access(starts(dst, dst_pitch, dst_slice)), 16);
  }
  int64_t src_extent() const noexcept { return extent(src_pitch, src_slice); }
  int64_t dst_extent() const noexcept { return extent(dst_pitch, dst_slice); }

 private:
  int64_t extent(int64_t pitch, int64_t slice) const noexcept {
    return (slices - 1) * slice + (rows - 1) * pitch + row_bytes;
  }
  uint64_t starts(const void* side, int64_t pitch, int64_t slice) const noexcept {
    return reinterpret_cast<uintptr_t>(side) | static_cast<uint64_t>((rows > 1 ? pitch : 0) | (slices > 1 ? slice : 0));
  }
};

inline CopyParams one_range(void* dst, const void* src, int64_t bytes) noexcept {
  return {.dst = static_cast<char*>(dst),
          .dst_pitch = bytes,
          .dst_slice = bytes,
          .src = static_cast<const char*>(src),
          .src_pitch = bytes,
          .src_slice = bytes,
          .row_bytes = bytes};
}

// The same bytes in as few rows and slices as possible. Ignored pitches and distances become tight.
inline CopyParams merged(CopyParams b) noexcept {
  const auto merge_slices = [&b] {  // slices of one row are rows
    if (b.rows > 1) return;
    b.rows = b.slices;
    b.dst_pitch = b.dst_slice;
    b.src_pitch = b.src_slice;
    b.slices = 1;
  };
  merge_slices();
  if (b.rows > 1 && b.dst_pitch == b.row_bytes && b.src_pitch == b.row_bytes) {
    b.row_bytes *= b.rows;
    b.rows = 1;
    merge_slices();
  }
  if (b.slices > 1 && b.dst_slice == b.rows * b.dst_pitch && b.src_slice == b.rows * b.src_pitch) {
    b.rows *= b.slices;
    b.slices = 1;
  }
  if (b.rows > 1 && b.dst_pitch == b.row_bytes && b.src_pitch == b.row_bytes && b.slices == 1) {
    b.row_bytes *= b.rows;
    b.rows = 1;
  }
  if (b.rows == 1) b.dst_pitch = b.src_pitch = b.row_bytes;
  if (b.slices == 1) {
    b.dst_slice = b.rows * b.dst_pitch;
    b.src_slice = b.rows * b.src_pitch;
  }
  return b;
}

// The copy of the rows into a chunk of memory without padding, and out of it.
inline CopyParams into(const CopyParams& rows, void* chunk) noexcept {
  CopyParams in = rows;
  in.dst = static_cast<char*>(chunk);
  in.dst_pitch = rows.row_bytes;
  in.dst_slice = rows.row_bytes * rows.rows;
  return in;
}
inline CopyParams out_of(const CopyParams& rows, const void* chunk) noexcept {
  CopyParams out = rows;
  out.src = static_cast<const char*>(chunk);
  out.src_pitch = rows.row_bytes;
  out.src_slice = rows.row_bytes * rows.rows;
  return out;
}

// Calls f(dst, src, bytes) for each part of a row in bytes [first, last), counted without padding.
template <class F>
void for_each_row_part(const CopyParams& b, int64_t first, int64_t last, const F& f) {
  int64_t at = first % b.row_bytes;
  int64_t row = first / b.row_bytes % b.rows;
  int64_t slice = first / b.row_bytes / b.rows;
  while (first < last) {
    const int64_t bytes = std::min(b.row_bytes - at, last - first);
    f(b.dst + slice * b.dst_slice + row * b.dst_pitch + at, b.src + slice * b.src_slice + row * b.src_pitch + at,
      bytes);
    first += bytes;
    at = 0;
    if (++row == b.rows) {
      row = 0;
      ++slice;
    }
  }
}

inline void copy_rows(const CopyParams& b) noexcept {
  for_each_row_part(b, 0, b.bytes(), [](char* dst, const char* src, int64_t bytes) {
    std::memcpy(dst, src, static_cast<size_t>(bytes));
  });
}

}  // namespace gpumem
