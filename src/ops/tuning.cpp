#include "ops/tuning.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/room.hpp"
#include "ops/call_work.hpp"
#include "ops/problem_line.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

constexpr const char* kWhat = "the tuning file";
constexpr size_t kFewestSlots = 64;  // every size is a power of two
// The range of ratios that save() can write with three decimals.
constexpr double kLeastRatio = 0.001;
constexpr double kMostRatio = 1e6;
constexpr std::string_view kHostPrefix = "host:";
constexpr std::string_view kMark = "# gpumem tuning";
constexpr std::string_view kHeading =
    "# gpumem tuning: device, problem, variant, its revision, times as fast as the table's\n";

constexpr uint64_t pack(TunedRow row) noexcept {
  return static_cast<uint64_t>(row.revision) << 32 | static_cast<uint32_t>(row.row + 1);
}
constexpr TunedRow unpack(uint64_t word) noexcept {
  return {static_cast<int32_t>(word & 0xffffffffu) - 1, static_cast<int32_t>(word >> 32)};
}

int32_t revision_here(const Tuning::Entry& entry) noexcept {
  int32_t revision = 0;
  Families::for_each([&]<class Family>() {
    if (Family::id == entry.family) revision = Family::table()[static_cast<size_t>(entry.row.row)].revision;
  });
  return revision;
}

// Drops the comment and a carriage return. A device's name may contain a #, but no blank before it.
std::string_view content_of(std::string_view line) noexcept {
  constexpr std::string_view kBlanks = " \t";
  if (line.ends_with('\r')) line.remove_suffix(1);
  for (size_t at = line.find('#'); at < line.size(); at = line.find('#', at + 1)) {
    if (at > 0 && kBlanks.find(line[at - 1]) == std::string_view::npos) continue;
    return line.substr(0, line.substr(0, at).find_last_not_of(kBlanks) + 1);
  }
  return line;
}

using Fields = std::array<std::string_view, 5>;
std::optional<Fields> fields_of(std::string_view line) noexcept {
  Fields fields;
  for (std::string_view& field : fields) {
    const size_t tab = std::min(line.find('\t'), line.size());
    field = line.substr(0, tab);
    if (field.empty()) return std::nullopt;
    line.remove_prefix(std::min(tab + 1, line.size()));
  }
  return line.empty() ? std::optional(fields) : std::nullopt;
}

// Returns why a line can't be read, or nullptr. The entry's revision may differ from this library's.
const char* read_entry(std::string_view line, Tuning::Entry& entry) {
  const std::optional<Fields> fields = fields_of(line);
  if (!fields) return "it has not five fields";
  const auto& [device, problem, variant, revision, ratio] = *fields;
  entry.device = device;
  const bool numbers = parse_number(revision, entry.row.revision) && parse_number(ratio, entry.ratio);
  if (!numbers || !(entry.ratio >= kLeastRatio && entry.ratio <= kMostRatio)) {
    return "its revision is not a number, or its ratio is outside 0.001 to 1000000";
  }
  try {
    const CallRecord record = parse_line(problem);
    entry.problem = problem_class(record);
    entry.line = line_of(record);
    entry.family = record.family();
  } catch (const Error&) {
    return "its problem can't be read";
  }
  entry.row.row = find_variant(family_names(entry.family), std::string(variant).c_str());
  return entry.row.row < 0 ? "no variant has this name" : nullptr;
}

template <class F>
void for_each_line(std::string_view text, const F& f) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    f(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// True for our heading, for any line of five fields, or for nothing but comments.
bool is_tuning_file(std::string_view text) {
  bool is_one = text.starts_with(kMark);
  bool has_comments_alone = true;
  for_each_line(text, [&](std::string_view whole) {
    const std::string_view line = content_of(whole);
    is_one = is_one || fields_of(line);
    has_comments_alone = has_comments_alone && line.empty();
  });
  return is_one || has_comments_alone;
}

bool is_among(const std::string& key, const std::vector<std::string>& keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// A device's name may contain colons. The fields after its compute capability contain none.
std::string_view without_amounts(std::string_view key) noexcept {
  for (int i = 0; i < 2; ++i) key = key.substr(0, key.rfind(':'));
  return key;
}

std::vector<std::string> keys_of(Context& context) {
  return {device_key(context.device().props()), device_key(context.host().props())};
}

const char* why_another_device(const std::string& key, const std::vector<std::string>& keys) {
  if (is_among(key, keys)) return nullptr;
  const bool is_alike = std::any_of(
      keys.begin(), keys.end(), [&](const std::string& own) { return without_amounts(own) == without_amounts(key); });
  if (!is_alike) return "it is of another device";
  return key.starts_with(kHostPrefix) ? "it is of this processor with another number of threads"
                                      : "it is of this device with another driver or number of multiprocessors";
}

}  // namespace

std::string device_key(const DeviceProps& props) {
  std::string key(props.backend == ExecutionSpace::cuda ? "cuda:" : kHostPrefix);
  for (const char* c = props.name; *c != '\0'; ++c) key += *c > ' ' && *c < 0x7f ? *c : '_';
  for (const int32_t number : {props.compute_major, props.compute_minor, props.multiprocessors, props.driver_version}) {
    key.append(":").append(std::to_string(number));
  }
  return key;
}

Tuning::Slot& Tuning::Table::at(uint64_t problem) const noexcept {
  size_t place = problem & mask;
  for (;; place = (place + 1) & mask) {
    const uint64_t there = slot[place].problem.load(std::memory_order_acquire);
    if (there == problem || there == 0) return slot[place];
  }
}

TunedRow Tuning::find(uint64_t problem) const noexcept {
  const Table* table = current_.load(std::memory_order_acquire);
  if (table == nullptr) return {};
  const Slot& slot = table->at(problem);
  // A slot that was empty may hold another problem by now.
  if (slot.problem.load(std::memory_order_acquire) != problem) return {};
  return unpack(slot.row.load(std::memory_order_relaxed));
}

void Tuning::put(Entry entry) {
  const std::lock_guard<std::mutex> lock(mutex_);
  reserve_doubling(entries_, entries_.size() + 1);  // before any change, because it can fail
  const auto place = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& there) { return there.problem == entry.problem; });
  if (tables_.empty() || 2 * (used_ + 1) > tables_.back()->mask + 1) {
    const size_t slots = tables_.empty() ? kFewestSlots : 2 * (tables_.back()->mask + 1);
    auto larger = std::make_unique<Table>(slots);
    used_ = entries_.size();
    for (const Entry& there : entries_) {
      larger->at(there.problem).row.store(pack(there.row), std::memory_order_relaxed);
      larger->at(there.problem).problem.store(there.problem, std::memory_order_release);
    }
    tables_.push_back(std::move(larger));
  }
  Slot& slot = tables_.back()->at(entry.problem);
  slot.row.store(pack(entry.row), std::memory_order_relaxed);
  if (slot.problem.exchange(entry.problem, std::memory_order_release) == 0) ++used_;
  current_.store(tables_.back().get(), std::memory_order_release);
  std::erase(settled_, std::pair(entry.problem, entry.device));
  if (place != entries_.end()) {
    *place = std::move(entry);
  } else {
    entries_.push_back(std::move(entry));
  }
}

void Tuning::settle(uint64_t problem, const std::string& device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::pair settled(problem, device);
  if (std::find(settled_.begin(), settled_.end(), settled) == settled_.end()) settled_.push_back(settled);
  std::erase_if(entries_, [&](const Entry& there) { return there.problem == problem; });
  if (!tables_.empty()) tables_.back()->at(problem).row.store(0, std::memory_order_relaxed);
}

void Tuning::clear() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Entry& entry : entries_) tables_.back()->at(entry.problem).row.store(0, std::memory_order_relaxed);
  entries_.clear();
  settled_.clear();
}

TuningLoaded Tuning::load(const char* path, const std::vector<std::string>& keys, Log& log) {
  const std::optional<std::string> text = read_file(kWhat, path);
  if (!text) fail(GPUMEM_FILE_ERROR, "%s '%s' cannot be read: no such file", kWhat, path);
  if (!is_tuning_file(*text)) fail(GPUMEM_FILE_ERROR, "'%s' is not a tuning file: no line has five fields", path);
  TuningLoaded loaded;
  for_each_line(*text, [&](std::string_view whole) {
    const std::string_view line = content_of(whole);
    if (line.empty()) return;
    Entry entry;
    const char* reason = read_entry(line, entry);
    if (reason == nullptr && entry.row.revision != revision_here(entry)) reason = "the variant has changed since";
    if (reason == nullptr) reason = why_another_device(entry.device, keys);
    if (reason == nullptr) {
      put(std::move(entry));
      ++loaded.taken;
      return;
    }
    ++loaded.skipped;
    log.write(GPUMEM_LOG_WARNING, "%s '%s': a line is skipped: %s: %.*s", kWhat, path, reason,
              static_cast<int>(std::min<size_t>(line.size(), 200)), line.data());
  });
  return loaded;
}

// Keeps comments and lines of other devices and problems, including a later version's. A line without five fields
// becomes a comment, so the file loses nothing.
void Tuning::save(const char* path, const std::vector<std::string>& keys) const {
  std::string text(kHeading);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto goes = [&](std::string_view line) {
    Entry entry;
    if (read_entry(line, entry) != nullptr) return false;
    const int32_t revision = revision_here(entry);
    if (entry.row.revision != revision) return entry.row.revision < revision && is_among(entry.device, keys);
    const std::pair which(entry.problem, entry.device);
    if (std::find(settled_.begin(), settled_.end(), which) != settled_.end()) return true;
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const Entry& own) { return own.problem == entry.problem && own.device == entry.device; });
  };
  const std::string there = read_file(kWhat, path).value_or("");
  if (!is_tuning_file(there)) fail(GPUMEM_FILE_ERROR, "'%s' is not a tuning file; it was not changed", path);
  for_each_line(there, [&](std::string_view whole) {
    if (whole.empty() || whole.starts_with(kMark)) return;
    const std::string_view line = content_of(whole);
    const bool has_entry = fields_of(line).has_value();
    if (has_entry && goes(line)) return;
    text.append(line.empty() || has_entry ? "" : "# ").append(whole).append("\n");
  });
  for (const Entry& entry : entries_) {
    text.append(entry.device).append("\t").append(entry.line).append("\t");
    text.append(family_names(entry.family).variant(entry.row.row)).append("\t");
    text.append(std::to_string(entry.row.revision)).append("\t").append(decimal(entry.ratio, 3)).append("\n");
  }
  replace_file(kWhat, path, text);
}

TuningLoaded load_tuning(Context& context, const char* path) {
  return context.tuning().load(path, keys_of(context), context.log);
}

void save_tuning(Context& context, const char* path) { context.tuning().save(path, keys_of(context)); }

}  // namespace gpumem
