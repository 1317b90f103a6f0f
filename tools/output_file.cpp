#include "output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "failure.hpp"

namespace tool {
namespace {

mode_t default_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// Removed by a signal that ends the process.
std::atomic<const char*> g_aside{nullptr};

void on_end(int signal) {
  if (const char* const aside = g_aside) ::unlink(aside);
  ::raise(signal);  // with the default action, because of SA_RESETHAND
}

// Signals that are ignored, or watched by a sub-command, keep their action.
void watch_ends() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = on_end;
    action.sa_flags = SA_RESETHAND;
    ::sigaction(signal, &action, nullptr);
  }
}

// The standard stream that writes there, or -1.
int stream_to(const struct stat& there) {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat own {};
    if (::fstat(stream, &own) == 0 && own.st_dev == there.st_dev && own.st_ino == there.st_ino) return stream;
  }
  return -1;
}

// The target of a link, which need not exist yet.
std::string behind_links(std::string path) {
  constexpr int kMost = 40;  // the system's limit
  std::error_code error;
  for (int i = 0; i < kMost && std::filesystem::is_symlink(path, error); ++i) {
    path = std::filesystem::path(path).parent_path() / std::filesystem::read_symlink(path, error);
  }
  return path;
}

}  // namespace

// /dev/stdout may be a file; output is appended to it.
OutputFile::OutputFile(const std::string& path) : path_(path) {
  struct stat there {};
  const bool exists = ::stat(path.c_str(), &there) == 0;
  if (!exists && errno != ENOENT) fail("opening it");
  const int stream = exists ? stream_to(there) : -1;
  if (stream >= 0 || (exists && !S_ISREG(there.st_mode))) {
    std::fflush(stdout);
    file_ = stream >= 0 ? ::fcntl(stream, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file_ < 0) fail("opening it");
    return;
  }
  path_ = behind_links(path);
  aside_ = path_ + ".XXXXXX";
  watch_ends();
  g_aside = aside_.c_str();
  file_ = ::mkostemp(aside_.data(), O_CLOEXEC);
  if (file_ < 0) {
    g_aside = nullptr;
    fail("writing beside it");
  }
  if (::fchmod(file_, exists ? there.st_mode & 0777 : default_mode()) != 0) fail("setting its mode");
}

OutputFile::~OutputFile() {
  if (file_ >= 0) ::close(file_);
  if (aside_.empty()) return;
  ::unlink(aside_.c_str());
  g_aside = nullptr;
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) fail("writing");
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

// The data is on the disk before the rename, so a crash of the machine leaves either the old or the new file.
void OutputFile::finish() {
  if (!aside_.empty() && ::fsync(file_) != 0) fail("writing");
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0) fail("writing");
  if (aside_.empty()) return;
  if (::rename(aside_.c_str(), path_.c_str()) != 0) fail("moving it to its place");
  g_aside = nullptr;
  aside_.clear();
}

void OutputFile::fail(const char* doing) const {
  throw Failure(path_ + ": " + doing + " failed: " + std::generic_category().message(errno));
}

// A pipe would see the end of its input.
void try_output(const std::string& path) {
  std::error_code error;
  if (path.empty() || std::filesystem::is_other(path, error)) return;
  const OutputFile tried(path);
}

}  // namespace tool
