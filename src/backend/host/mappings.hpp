// What the process has mapped, as the system lists it (/proc/self/maps).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace gpumem {

// Addresses from begin to before end.
struct AddressRange {
  uintptr_t begin;
  uintptr_t end;

  size_t bytes() const noexcept { return end - begin; }
};

// How the list is read. Linux 6.11 answers for an address in less than a microsecond; the text takes tens of them, and more.
enum class MappingList { asked, text };

// The first part of the range that is longer than `gap` bytes and can't be accessed. nullopt where there is none, and where the
// list can't be read in that way: known tells which.
struct HoleSearch {
  bool known = false;
  std::optional<AddressRange> hole;
};
HoleSearch find_hole(const AddressRange& range, size_t gap, bool writable, MappingList by) noexcept;

// The list, held open to be asked: opening it takes several times as long as an answer. It is that of the process which opened it.
class MappingsFile {
 public:
  MappingsFile() noexcept;
  ~MappingsFile();
  MappingsFile(const MappingsFile&) = delete;
  MappingsFile& operator=(const MappingsFile&) = delete;

  int file() const noexcept { return file_; }  // -1: it can't be opened
  // As above; known is false too where the program has closed the file.
  HoleSearch find_hole(const AddressRange& range, size_t gap, bool writable) const noexcept;

 private:
  int file_;
  uint64_t device_ = 0;
  uint64_t inode_ = 0;
};

// Of a range whose first and last byte can be accessed: where the first part of it begins that is longer than `gap` bytes and
// can't be. nullptr: the system reports none.
const void* host_hole(const MappingsFile& mappings, const void* p, size_t bytes, size_t gap, bool writable) noexcept;

}  // namespace gpumem
