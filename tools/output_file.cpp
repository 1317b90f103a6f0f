#include "output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <system_error>

#include "failure.hpp"

namespace tool {
namespace {

// Of a new file.
mode_t default_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// What a signal that ends the process removes first.
std::atomic<const char*> g_aside{nullptr};

void on_end(int signal) {
  if (const char* const aside = g_aside) ::unlink(aside);
  ::raise(signal);  // whose action is its own again
}

// Signals that are ignored, or that a sub-command watches, stay so.
void watch_ends() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = on_end;
    action.sa_flags = SA_RESETHAND;
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace

// A link stays one: what it leads to is replaced.
OutputFile::OutputFile(const std::string& path) : path_(path) {
  struct stat there {};
  const bool exists = ::stat(path.c_str(), &there) == 0;
  if (exists && !S_ISREG(there.st_mode)) {
    file_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file_ < 0) fail("opening it");
    return;
  }
  std::error_code error;
  if (const auto target = std::filesystem::weakly_canonical(path, error); !error) path_ = target.string();
  aside_ = path_ + ".XXXXXX";
  watch_ends();
  g_aside = aside_.c_str();
  file_ = ::mkostemp(aside_.data(), O_CLOEXEC);
  if (file_ < 0) {
    g_aside = nullptr;
    fail("writing beside it");
  }
  if (::fchmod(file_, exists ? there.st_mode & 07777 : default_mode()) != 0) fail("setting its mode");
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

// On the disk before it takes the other's place: a crash of the machine leaves one of the two.
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

// A pipe would take it for the end.
void try_output(const std::string& path) {
  std::error_code error;
  if (path.empty() || std::filesystem::is_other(path, error)) return;
  const OutputFile tried(path);
}

}  // namespace tool
