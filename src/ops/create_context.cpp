#include "ops/create_context.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "base/error.hpp"
#include "base/files.hpp"
#include "ops/operations.hpp"
#include "ops/profile.hpp"
#include "ops/tuning.hpp"

namespace gpumem {
namespace {

std::string from_environment(const char* name) {
  const char* value = ::secure_getenv(name);
  return value == nullptr ? "" : value;
}

// One file per context, because processes that are started together share an environment.
std::string file_of(Context& context, const std::string& path) {
  return path + "." + std::to_string(::getpid()) + "." + std::to_string(context.number());
}

struct Measurements {
  explicit Measurements(Context& of) : context(of), profile(of) {}
  ~Measurements();
  Measurements(const Measurements&) = delete;
  Measurements& operator=(const Measurements&) = delete;

  Context& context;
  Tuning tuning;
  Profile profile;
  std::string path;  // written when the context ends; "": not written
  gpumem_format format = GPUMEM_FORMAT_TEXT;
};

Measurements::~Measurements() {
  if (path.empty()) return;
  try {
    replace_file("the profile", path, profile.as_text(format));
  } catch (const std::exception& error) {
    context.log.write(GPUMEM_LOG_ERROR, "%s", error.what());
  }
}

void read_variants(Context& context) {
  Families::for_each([&context]<class Family>() {
    const FamilyNames& names = family_names(Family::id);
    std::string variable = "GPUMEM_VARIANT_";
    // ASCII only: std::toupper() depends on the locale, and Turkish has another capital for i.
    for (const char* c = names.name; *c != '\0'; ++c)
      variable += *c >= 'a' && *c <= 'z' ? static_cast<char>(*c - 32) : *c;
    const std::string value = from_environment(variable.c_str());
    if (value.empty()) return;
    const int32_t row = find_variant(names, value.c_str());
    if (row < 0) {
      fail(GPUMEM_NOT_FOUND,
           "the environment's %s is '%s'; expected a variant of %s, as gpumem_variant_name() lists them",
           variable.c_str(), value.c_str(), names.name);
    }
    context.force(Family::id, {row, ChosenBy::environment});
  });
}

void trace(Context& context) {
  const std::string path = from_environment("GPUMEM_TRACE");
  if (!path.empty()) context.trace.begin(file_of(context, path).c_str());
}

// Judged by the path before file_of() appends its suffix.
gpumem_format format_of(std::string_view path) noexcept {
  if (path.ends_with(".csv")) return GPUMEM_FORMAT_CSV;
  if (path.ends_with(".json")) return GPUMEM_FORMAT_JSON;
  return path.ends_with(".trace") ? GPUMEM_FORMAT_TRACE : GPUMEM_FORMAT_TEXT;
}

void measure(Measurements& measurements) {
  const std::string tuned = from_environment("GPUMEM_TUNING");
  if (!tuned.empty()) load_tuning(measurements.context, tuned.c_str());
  const std::string path = from_environment("GPUMEM_PROFILE");
  if (path.empty()) return;
  measurements.format = format_of(path);
  // Absolute, because the program may have changed its working directory by the time of writing.
  std::error_code none;
  const std::string absolute = std::filesystem::absolute(path, none).string();
  const std::string file = file_of(measurements.context, absolute.empty() ? path : absolute);
  replace_file("the profile", file, "");  // reports an unwritable file now
  measurements.path = file;
  measurements.profile.begin(int64_t{1} << 14);
}

}  // namespace

uint64_t create_context(const gpumem_ctx_options& options) {
  auto context = std::make_unique<Context>(options);
  const auto measurements = std::make_shared<Measurements>(*context);
  context->keep({measurements, &measurements->tuning}, {measurements, &measurements->profile});
  read_variants(*context);
  trace(*context);
  measure(*measurements);
  return enlist(std::move(context));
}

}  // namespace gpumem
