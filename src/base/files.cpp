#include "base/files.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <iterator>

#include "base/error.hpp"
#include "base/scope_exit.hpp"
#include "base/sentences.hpp"

namespace gpumem {
namespace {

constexpr off_t kLargest = off_t{64} << 20;

[[noreturn]] void fail_file(const char* what, const char* path, const char* verb, const char* reason) {
  fail(GPUMEM_FILE_ERROR, "%s '%s' can't be %s: %s", what, path, verb, reason);
}

int write_all(int file, std::string_view text) noexcept {
  rlimit limit{};  // a larger size raises a signal that ends the process
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < text.size()) return EFBIG;
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

std::optional<std::string> read_file(const char* what, const char* path) {
  const int file = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0 && errno == ENOENT) return std::nullopt;
  if (file < 0) fail_file(what, path, "read", reason_of(errno));
  const ScopeExit close([file] { ::close(file); });
  struct stat status {};
  if (::fstat(file, &status) != 0) fail_file(what, path, "read", reason_of(errno));
  if (!S_ISREG(status.st_mode)) fail_file(what, path, "read", "expected an ordinary file");
  if (status.st_size > kLargest) fail_file(what, path, "read", "it has more than 64 MiB");
  std::string text(static_cast<size_t>(status.st_size), '\0');
  size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = ::read(file, text.data() + length, text.size() - length);
    if (got < 0 && errno != EINTR) fail_file(what, path, "read", reason_of(errno));
    if (got == 0) break;
    if (got > 0) length += static_cast<size_t>(got);
  }
  text.resize(length);
  return text;
}

void replace_file(const char* what, const std::string& path, std::string_view text) {
  static std::atomic<unsigned> written{0};
  struct stat status {};
  const bool exists = ::lstat(path.c_str(), &status) == 0;
  if (exists && S_ISLNK(status.st_mode)) {
    fail_file(what, path.c_str(), "written", "it is a symbolic link; expected an ordinary file");
  }
  if (exists && !S_ISREG(status.st_mode)) {
    fail_file(what, path.c_str(), "written", "expected an ordinary file");
  }
  const std::string aside = path + "." + std::to_string(::getpid()) + "." + std::to_string(++written) + ".part";
  const int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, exists ? 0600 : 0666);
  if (file < 0) fail_file(what, path.c_str(), "written", reason_of(errno));
  ScopeExit remove([&] { ::unlink(aside.c_str()); });
  int error = exists && ::fchmod(file, status.st_mode & 0777) != 0 ? errno : 0;
  if (error == 0) error = write_all(file, text);
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(aside.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) fail_file(what, path.c_str(), "written", reason_of(error));
  remove.release();
}

void read_beginning(const char* path, char* text, size_t capacity) noexcept {
  size_t length = 0;
  if (const int file = ::open(path, O_RDONLY | O_CLOEXEC); file >= 0) {
    ssize_t got = 1;
    while (length + 1 < capacity && (got > 0 || (got < 0 && errno == EINTR))) {
      got = ::read(file, text + length, capacity - 1 - length);
      if (got > 0) length += static_cast<size_t>(got);
    }
    ::close(file);
  }
  text[length] = '\0';
}

}  // namespace gpumem
