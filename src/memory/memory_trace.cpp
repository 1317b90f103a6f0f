#include "memory/memory_trace.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "base/caller_state.hpp"
#include "base/error.hpp"
#include "base/names.hpp"
#include "base/sentences.hpp"

namespace gpumem {
namespace {

constexpr char kHeading[] = "gpumem-trace 1\n";
constexpr size_t kLongestLine = 192;

// Ordinary files only: a pipe may block or end the program, and a link may lead to any file of this user.
int open_file(const char* path) {
  const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
  struct stat status {};
  int error = file < 0 || ::fstat(file, &status) != 0 ? errno : 0;
  const bool ordinary = error == 0 && S_ISREG(status.st_mode);
  const bool alone = ordinary && ::flock(file, LOCK_EX | LOCK_NB) == 0;
  if (alone && ::ftruncate(file, 0) != 0) error = errno;
  if (alone && error == 0) return file;
  if (file >= 0) ::close(file);
  const char* reason = error == ELOOP ? "it is a link; expected an ordinary file"
                       : error != 0   ? reason_of(error)
                       : ordinary     ? "another trace is written there"
                                      : "expected an ordinary file";
  fail(GPUMEM_FILE_ERROR, "the trace '%s' can't be opened: %s", path, reason);
}

uint64_t largest_file() noexcept {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

}  // namespace

void MemoryTrace::begin(const char* path) {
  end();
  const int file = open_file(path);
  bool complete = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (file_ >= 0) ::close(file_);
    file_ = file;
    room_ = largest_file();
    error_ = 0;
    start_ = std::chrono::steady_clock::now();
    write(kHeading, sizeof kHeading - 1);
    complete = error_ == 0;
    on_.store(complete, std::memory_order_relaxed);
  }
  if (!complete) end();
}

int MemoryTrace::close() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  on_.store(false, std::memory_order_relaxed);
  if (file_ < 0) return 0;
  const bool closed = ::close(file_) == 0;
  const int error = error_ == 0 && !closed ? errno : error_;
  file_ = -1;
  error_ = 0;
  return error;
}

void MemoryTrace::end() {
  const int error = close();
  if (error == 0) return;
  fail(GPUMEM_FILE_ERROR, "the trace is not complete: %s", reason_of(error));
}

void MemoryTrace::write(const char* text, size_t length) noexcept {
  while (error_ == 0 && length > 0) {
    const ssize_t written = room_ < length ? -1 : ::write(file_, text, length);
    if (written >= 0) {
      text += written;
      length -= static_cast<size_t>(written);
      room_ -= static_cast<uint64_t>(written);
    } else if (room_ < length) {
      error_ = EFBIG;
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  if (error_ != 0) on_.store(false, std::memory_order_relaxed);
}

void MemoryTrace::line(char event, const char* format, ...) noexcept {
  const KeptThreadState kept;
  const int thread = ::gettid();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (file_ < 0) return;
  const auto since = std::chrono::steady_clock::now() - start_;
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
  char text[kLongestLine];
  int length = std::snprintf(text, sizeof text, "%c %lld %d ", event, static_cast<long long>(ns), thread);
  va_list arguments;
  va_start(arguments, format);
  length += std::vsnprintf(text + length, sizeof text - static_cast<size_t>(length), format, arguments);
  va_end(arguments);
  text[length++] = '\n';
  write(text, static_cast<size_t>(length));
}

void MemoryTrace::allocated(const void* p, size_t bytes, gpumem_memory_kind kind, size_t alignment,
                            NativeStream stream) noexcept {
  if (on()) line('a', "0x%llx %zu %s %zu 0x%llx", number(p), bytes, kind_name(kind), alignment, number(stream));
}

void MemoryTrace::freed(uintptr_t p, NativeStream stream) noexcept {
  if (on()) line('f', "0x%" PRIxPTR " 0x%llx", p, number(stream));
}

void MemoryTrace::used(uintptr_t p, NativeStream stream) noexcept {
  if (on()) line('u', "0x%" PRIxPTR " 0x%llx", p, number(stream));
}

void MemoryTrace::trimmed(int64_t keep_bytes) noexcept {
  if (on()) line('t', "%lld", ll(keep_bytes));
}

}  // namespace gpumem
