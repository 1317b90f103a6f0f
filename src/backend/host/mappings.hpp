// The mappings of the process, as the system lists them (/proc/self/maps).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace gpumem {

// [begin, end).
struct AddressRange {
  uintptr_t begin;
  uintptr_t end;

  size_t bytes() const noexcept { return end - begin; }
};

// Linux 6.11 answers for one address in less than a microsecond; the text takes tens of them or more.
enum class MappingList { asked, text };

// The first inaccessible part that is longer than `gap` bytes. If it is nullopt, `known` tells whether the list was
// read.
struct HoleSearch {
  bool known = false;
  std::optional<AddressRange> hole;
};
HoleSearch find_hole(const AddressRange& range, size_t gap, bool writable, MappingList by) noexcept;

// Held open, because opening it takes several times as long as an answer. Describes the process that opened it.
class MappingsFile {
 public:
  MappingsFile() noexcept;
  ~MappingsFile();
  MappingsFile(const MappingsFile&) = delete;
  MappingsFile& operator=(const MappingsFile&) = delete;

  int file() const noexcept { return file_; }  // -1: it cannot be opened
  // As above; `known` is also false if the program has closed the file.
  HoleSearch find_hole(const AddressRange& range, size_t gap, bool writable) const noexcept;

 private:
  int file_;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
};

// For a range whose first and last byte are accessible: the start of the first inaccessible part longer than `gap`
// bytes. nullptr: the system reports none.
const void* host_hole(const MappingsFile& mappings, const void* p, size_t bytes, size_t gap, bool writable) noexcept;

}  // namespace gpumem
