#include "backend/host/mappings.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace gpumem {
namespace {

// PROCMAP_QUERY of linux/fs.h, which headers before 6.11 lack.
struct Query {
  uint64_t size;
  uint64_t flags;
  uint64_t address;
  uint64_t begin;
  uint64_t end;
  uint64_t not_asked_for[4];
  uint32_t nor[4];
  uint64_t these[2];
};
static_assert(sizeof(Query) == 104);
constexpr unsigned long kQuery = _IOWR('f', 17, Query);
constexpr uint64_t kReadable = 0x01;
constexpr uint64_t kWritable = 0x02;
constexpr uint64_t kCoveringOrNext = 0x10;

// Takes the accessible mappings in ascending order until the range is passed or a hole is found.
class Walk {
 public:
  Walk(const AddressRange& range, size_t gap) noexcept : range_(range), gap_(gap), at_(range.begin) {}

  void pass(const AddressRange& accessible) noexcept {
    const uintptr_t next = std::min(accessible.begin, range_.end);
    if (next > at_) whole_ = false;
    if (next > at_ && next - at_ > gap_) hole_ = AddressRange{at_, next};
    if (accessible.begin > run_.end) run_.begin = accessible.begin;
    run_.end = std::max(run_.end, accessible.end);
    at_ = std::max(at_, accessible.end);
  }
  void pass_rest() noexcept { pass({UINTPTR_MAX, UINTPTR_MAX}); }

  bool done() const noexcept { return hole_.has_value() || at_ >= range_.end; }
  uintptr_t at() const noexcept { return at_; }
  const std::optional<AddressRange>& hole() const noexcept { return hole_; }
  // nullopt if the range has a hole.
  std::optional<AddressRange> run() const noexcept { return whole_ ? std::optional(run_) : std::nullopt; }

 private:
  const AddressRange range_;
  const size_t gap_;
  uintptr_t at_;
  bool whole_ = true;
  AddressRange run_{0, 0};
  std::optional<AddressRange> hole_;
};

// False: the system does not answer.
bool ask(int file, bool writable, Walk& walk) noexcept {
  while (!walk.done()) {
    Query query{};
    query.size = sizeof query;
    query.flags = kReadable | (writable ? kWritable : 0) | kCoveringOrNext;
    query.address = walk.at();
    if (ioctl(file, kQuery, &query) == 0) {
      walk.pass({static_cast<uintptr_t>(query.begin), static_cast<uintptr_t>(query.end)});
    } else if (errno == ENOENT) {
      walk.pass_rest();
    } else {
      return false;
    }
  }
  return true;
}

class Characters {
 public:
  explicit Characters(int file) noexcept : file_(file) {}

  // -1: the end.
  int next() noexcept {
    if (at_ == size_) {
      at_ = 0;
      do {
        size_ = read(file_, buffer_, sizeof buffer_);
      } while (size_ < 0 && errno == EINTR);
      if (size_ <= 0) return size_ = 0, -1;
    }
    return static_cast<unsigned char>(buffer_[at_++]);
  }
  // A hexadecimal number; consumes the character after it.
  uintptr_t number() noexcept {
    uintptr_t value = 0;
    for (;;) {
      const int c = next();
      if (c >= '0' && c <= '9') {
        value = value << 4 | static_cast<uintptr_t>(c - '0');
      } else if (c >= 'a' && c <= 'f') {
        value = value << 4 | static_cast<uintptr_t>(c - 'a' + 10);
      } else {
        return value;
      }
    }
  }

 private:
  int file_;
  ssize_t size_ = 0;
  ssize_t at_ = 0;
  char buffer_[4096];
};

// Lines like "7f0000000000-7f0000021000 rw-p 00000000 00:00 0". False: the file is empty or unreadable.
bool read_text(int file, bool writable, Walk& walk) noexcept {
  Characters characters(file);
  bool any = false;
  while (!walk.done()) {
    const uintptr_t begin = characters.number();
    const uintptr_t end = characters.number();
    const bool may_read = characters.next() == 'r';
    const bool may_write = characters.next() == 'w';
    if (end == 0) break;
    any = true;
    if (end > walk.at() && may_read && (may_write || !writable)) walk.pass({begin, end});
    int c = 0;
    while (c != '\n' && c != -1) c = characters.next();
  }
  if (any && !walk.done()) walk.pass_rest();
  return any;
}

// Reading the text takes tens of microseconds or more. So a range that it showed to be accessible is not examined again
// by this thread for a while.
class CheckedRange {
 public:
  bool covers(const AddressRange& range, bool writable) const noexcept {
    return range_.begin <= range.begin && range.end <= range_.end && (writable_ || !writable) &&
           Clock::now() - when_ < std::chrono::milliseconds(10);
  }
  void keep(const AddressRange& range, bool writable) noexcept {
    range_ = range;
    writable_ = writable;
    when_ = Clock::now();
  }

 private:
  using Clock = std::chrono::steady_clock;
  AddressRange range_{0, 0};
  bool writable_ = false;
  Clock::time_point when_{};
};

}  // namespace

MappingsFile::MappingsFile() noexcept : file_(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {
  struct stat status {};
  if (file_ < 0) return;
  if (fstat(file_, &status) != 0) {  // it could not be told from another file when it is closed
    close(file_);
    file_ = -1;
    return;
  }
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

// A program may have closed every file that it does not know, and reused the descriptor.
MappingsFile::~MappingsFile() {
  struct stat status {};
  if (file_ >= 0 && fstat(file_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_) close(file_);
}

HoleSearch MappingsFile::find_hole(const AddressRange& range, size_t gap, bool writable) const noexcept {
  Walk walk(range, gap);
  const bool known = file_ >= 0 && ask(file_, writable, walk);
  return {known, known ? walk.hole() : std::nullopt};
}

HoleSearch find_hole(const AddressRange& range, size_t gap, bool writable, MappingList by) noexcept {
  if (by == MappingList::asked) return MappingsFile().find_hole(range, gap, writable);
  static thread_local CheckedRange seen;
  if (seen.covers(range, writable)) return {true, std::nullopt};
  const MappingsFile list;
  Walk walk(range, gap);
  const bool known = list.file() >= 0 && read_text(list.file(), writable, walk);
  if (!known) return {};
  if (const auto run = walk.run()) seen.keep(*run, writable);
  return {true, walk.hole()};
}

}  // namespace gpumem
