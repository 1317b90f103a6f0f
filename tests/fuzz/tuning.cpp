// Tuning files: lines that are taken or skipped. What is saved is taken again, all of it, and saved as the same text.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.hpp"
#include "fuzz/fuzz.hpp"
#include "ops/tuning.hpp"

namespace {

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// For the process; a file that is replaced needs a folder.
const std::filesystem::path& folder() {
  static const struct Folder {
    std::filesystem::path path = std::filesystem::temp_directory_path() / ("fuzz_tuning." + std::to_string(getpid()));
    Folder() { std::filesystem::create_directory(path); }
    ~Folder() { std::filesystem::remove_all(path); }
  } own;
  return own.path;
}

}  // namespace

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using gpumem_fuzz::require;
  const std::string given = folder() / "given";
  const std::string saved = folder() / "saved";
  const std::vector<std::string> keys = {"here", "host:here:0:0:1:0"};
  std::ofstream(given, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  std::filesystem::remove(saved);
  gpumem::Log log;
  gpumem::Tuning first;
  gpumem::TuningLoaded loaded;
  try {
    loaded = first.load(given.c_str(), keys, log);
  } catch (const gpumem::Error& error) {
    require(error.status() == GPUMEM_FILE_ERROR && first.empty(), "no tuning file, and something was taken from it");
    return 0;
  }
  require(loaded.taken >= 0 && loaded.skipped >= 0, "how many lines");
  first.save(saved.c_str(), keys);
  const std::string text = contents_of(saved);
  gpumem::Tuning second;
  const gpumem::TuningLoaded again = second.load(saved.c_str(), keys, log);
  require(again.skipped == 0 && again.taken <= loaded.taken, "a line that was saved is skipped");
  require((again.taken == 0) == (loaded.taken == 0), "nothing of what was taken is saved");
  second.save(saved.c_str(), keys);
  require(contents_of(saved) == text, "saved once more, the file is another one");
  return 0;
}
