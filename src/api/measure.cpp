// Entry points: measured peaks, profiles, tuning.
#include "api/guard.hpp"
#include "base/files.hpp"
#include "base/float_environment.hpp"
#include "context/ceilings.hpp"
#include "ops/operations.hpp"
#include "ops/tune.hpp"
#include "ops/tuning.hpp"

using namespace gpumem;
using namespace gpumem::api;

namespace {

template <size_t kSize>
void put(char (&member)[kSize], std::string_view text) noexcept {
  std::memcpy(member, text.data(), std::min(text.size(), kSize - 1));
}

const char* named(const char* path) {
  require(path, "path");
  if (path[0] == '\0') fail(GPUMEM_INVALID_ARGUMENT, "path is ''; expected the name of a file");
  return path;
}

constexpr gpumem_tune_options kDefaultTuneOptions = {sizeof(gpumem_tune_options), TuneOptions{}.budget_s, nullptr,
                                                     nullptr};

gpumem_profile_row filled(const ProfileRow& from) {
  gpumem_profile_row row{};
  row.calls = from.calls;
  row.timed = from.timed;
  row.bytes = from.bytes;
  row.median_s = from.median_s;
  row.total_s = from.total_s;
  row.bytes_per_s = from.bytes_per_s();
  row.of_theoretical = from.share_of(from.theoretical);
  row.of_ceiling = from.share_of(from.ceiling);
  row.flops_per_s = from.flops_per_s();
  put(row.variant, from.variant);
  put(row.problem, from.problem);
  return row;
}

}  // namespace

gpumem_status gpumem_ceiling_info_init(gpumem_ceiling_info* info, int64_t size) {
  return guard([&] { init_struct(info, size, {}, "info"); });
}

gpumem_status gpumem_ceiling(gpumem_ctx* ctx, gpumem_ceiling_info* info) {
  return with_context(ctx, [&](Context& context) {
    const DefaultFloatEnvironment environment;
    static_cast<void>(struct_size_of(info, "info"));
    const Ceilings c = ceilings(context);
    const gpumem_ceiling_info filled{sizeof filled,
                                     c.read,
                                     c.write,
                                     c.copy,
                                     c.to_device,
                                     c.from_device,
                                     context.device().props().bandwidth_bytes_per_s()};
    write_struct(info, filled, "info");
  });
}

gpumem_status gpumem_profile_begin(gpumem_ctx* ctx, int64_t most_records) {
  return with_context(ctx, [&](Context& context) { context.profile().begin(most_records); });
}

gpumem_status gpumem_profile_end(gpumem_ctx* ctx) {
  return guard([&] { resolve(ctx).profile().end(); });
}

gpumem_status gpumem_profile_row_init(gpumem_profile_row* row, int64_t size) {
  return guard([&] { init_struct(row, size, {}, "row"); });
}

gpumem_status gpumem_profile_report(gpumem_ctx* ctx, gpumem_profile_row* rows, int64_t cap, int64_t* needed) {
  return guard([&] {
    const DefaultFloatEnvironment environment;
    Context& context = resolve(ctx);
    if (cap < 0) fail(GPUMEM_INVALID_ARGUMENT, "cap is %lld; expected 0 or more", ll(cap));
    const int64_t size = cap > 0 ? struct_size_of(rows, "rows") : 0;
    const std::vector<ProfileRow> all = context.profile().rows();
    const auto count = std::min(static_cast<size_t>(cap), all.size());
    for (size_t i = 0; i < count; ++i) {
      auto* const row =
          reinterpret_cast<gpumem_profile_row*>(reinterpret_cast<char*>(rows) + i * static_cast<size_t>(size));
      std::memcpy(row, &size, sizeof size);
      write_struct(row, filled(all[i]), "rows");
    }
    if (needed != nullptr) *needed = static_cast<int64_t>(all.size());
  });
}

gpumem_status gpumem_profile_write(gpumem_ctx* ctx, gpumem_format format, const char* path) {
  return guard([&] {
    Context& context = resolve(ctx);
    const std::string text = context.profile().as_text(format);
    replace_file("the profile", named(path), text);
  });
}

gpumem_status gpumem_tune_options_init(gpumem_tune_options* options, int64_t size) {
  return guard([&] { init_struct(options, size, kDefaultTuneOptions, "options"); });
}

gpumem_status gpumem_tune_info_init(gpumem_tune_info* info, int64_t size) {
  return guard([&] { init_struct(info, size, {}, "info"); });
}

gpumem_status gpumem_tune(gpumem_ctx* ctx, const char* line, const gpumem_tune_options* options,
                          gpumem_tune_info* info) {
  return with_context(ctx, [&](Context& context) {
    const DefaultFloatEnvironment environment;
    require(line, "line");
    const gpumem_tune_options given =
        options != nullptr ? read_struct(options, kDefaultTuneOptions, "options") : kDefaultTuneOptions;
    if (!(given.budget_s > 0 && given.budget_s <= 86400)) {
      fail(GPUMEM_INVALID_ARGUMENT, "options->budget_s is %g; expected more than 0 seconds, and at most a day",
           given.budget_s);
    }
    static_cast<void>(struct_size_of(info, "info"));
    const TuneResult result = tune(context, line, {given.budget_s, given.progress, given.user});
    gpumem_tune_info told{};
    told.adopted = result.adopted ? 1 : 0;
    told.candidates = result.candidates;
    told.table_s = result.table_s;
    told.winner_s = result.winner_s;
    told.ratio = result.ratio();
    told.spread = result.spread;
    put(told.table, result.table);
    put(told.winner, result.winner);
    put(told.reason, result.reason);
    write_struct(info, told, "info");
  });
}

gpumem_status gpumem_tuning_load(gpumem_ctx* ctx, const char* path, int64_t* taken, int64_t* skipped) {
  return guard([&] {
    const DefaultFloatEnvironment environment;
    const TuningLoaded loaded = load_tuning(resolve(ctx), named(path));
    if (taken != nullptr) *taken = loaded.taken;
    if (skipped != nullptr) *skipped = loaded.skipped;
  });
}

gpumem_status gpumem_tuning_save(gpumem_ctx* ctx, const char* path) {
  return guard([&] {
    const DefaultFloatEnvironment environment;
    save_tuning(resolve(ctx), named(path));
  });
}

gpumem_status gpumem_tuning_clear(gpumem_ctx* ctx) {
  return guard([&] { resolve(ctx).tuning().clear(); });
}
