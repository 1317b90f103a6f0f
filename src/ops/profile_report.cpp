// Summarises a profile in rows and writes the file formats.
#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/float_environment.hpp"
#include "base/names.hpp"
#include "base/numbers.hpp"
#include "context/context.hpp"
#include "ops/operations.hpp"
#include "ops/problem_line.hpp"
#include "ops/profile.hpp"
#include "select/variants.hpp"

namespace gpumem {
namespace {

const char* variant_of(const CallRecord& record) noexcept {
  if (record.row < 0) return "";
  return family_names(record.family()).variant(record.row);
}

// The measured peak that applies to the call; 0 if it was not measured.
int64_t ceiling_of(const Ceilings& c, const CallRecord& record, const CallWork& work) noexcept {
  const bool to_device = work.to == GPUMEM_MEMORY_DEVICE || work.to == GPUMEM_MEMORY_MANAGED;
  if (work.crosses) return to_device ? c.to_device : c.from_device;
  switch (static_cast<decltype(GPUMEM_FAMILY_REDUCE)>(record.family())) {
    case GPUMEM_FAMILY_REDUCE:
    case GPUMEM_FAMILY_REDUCE_AXIS:
    case GPUMEM_FAMILY_REDUCE_SEGMENTS:
      return c.read;
    case GPUMEM_FAMILY_FILL:
      return c.write;
    case GPUMEM_FAMILY_TRANSPOSE:
    case GPUMEM_FAMILY_COPY:
    case GPUMEM_FAMILY_AXPBY:
    case GPUMEM_FAMILY_GATHER:
    case GPUMEM_FAMILY_SCATTER:
    case GPUMEM_FAMILY_PERMUTE:
    case GPUMEM_FAMILY_RESIZE:
    case GPUMEM_FAMILY_CONVERT:
    case GPUMEM_FAMILY_ARITHMETIC:
    case GPUMEM_FAMILY_MAP:
    case GPUMEM_FAMILY_SCAN:
    case GPUMEM_FAMILY_SORT:
    case GPUMEM_FAMILY_SELECT:
    case GPUMEM_FAMILY_REDUCE_BY_INDEX:
    case GPUMEM_FAMILY_COPY_BOXES:
      break;
  }
  return c.copy;
}

struct Group {
  ProfileRow row;
  std::vector<double> seconds;
};

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 != 0 ? values[half] : (values[half - 1] + values[half]) / 2;
}

const char* const kColumns[] = {"calls",      "timed",  "median_us", "total_ms", "gbs",    "of_theoretical",
                                "of_ceiling", "gflops", "bytes",     "variant",  "problem"};

std::vector<std::string> cells(const ProfileRow& row) {
  const auto known = [](double value, int digits) { return value > 0 ? decimal(value, digits) : std::string(); };
  return {std::to_string(row.calls),
          std::to_string(row.timed),
          known(row.median_s * 1e6, 3),  // down to nanoseconds, the clock's resolution
          known(row.total_s * 1e3, 6),
          known(row.bytes_per_s() * 1e-9, 6),
          known(row.share_of(row.theoretical), 6),
          known(row.share_of(row.ceiling), 6),
          known(row.flops_per_s() * 1e-9, 6),
          std::to_string(row.bytes),
          row.variant,
          row.problem};
}

constexpr size_t kNumbers = std::size(kColumns) - 2;

std::string table(const std::vector<ProfileRow>& rows) {
  std::vector<std::vector<std::string>> lines{{std::begin(kColumns), std::end(kColumns)}};
  for (const ProfileRow& row : rows) lines.push_back(cells(row));
  size_t width[std::size(kColumns)] = {};
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) width[i] = std::max(width[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string space(width[i] - line[i].size(), ' ');
      text += i < kNumbers ? space + line[i] : i + 1 < line.size() ? line[i] + space : line[i];
      text += i + 1 < line.size() ? "  " : "\n";
    }
  }
  return text;
}

std::string csv(const std::vector<ProfileRow>& rows) {
  std::string text;
  const auto line = [&](const auto& values) {
    for (size_t i = 0; i < std::size(values); ++i) {  // a descriptor may contain a comma, but no quotes
      const bool quoted = std::string_view(values[i]).find(',') != std::string_view::npos;
      text.append(i == 0 ? "" : ",").append(quoted ? "\"" : "").append(values[i]).append(quoted ? "\"" : "");
    }
    text += '\n';
  };
  line(kColumns);
  for (const ProfileRow& row : rows) line(cells(row));
  return text;
}

std::string json(const std::vector<ProfileRow>& rows) {
  std::string text = "{\"schema\": \"gpumem.profile/1\", \"rows\": [";
  for (const ProfileRow& row : rows) {
    const std::vector<std::string> values = cells(row);
    text += &row == rows.data() ? "\n  {" : ",\n  {";
    for (size_t i = 0; i < values.size(); ++i) {
      text.append(i == 0 ? "\"" : ", \"").append(kColumns[i]).append("\": ");
      if (i >= kNumbers) {
        text.append("\"").append(values[i]).append("\"");
      } else {
        text.append(values[i].empty() ? "null" : values[i]);
      }
    }
    text += '}';
  }
  return text.append("\n]}\n");
}

}  // namespace

std::vector<ProfileRow> Profile::rows() {
  std::map<std::pair<std::string, std::string>, Group> groups;
  const Ceilings of_device = measured_ceilings(context_.device().props());
  const Ceilings of_host = measured_ceilings(context_.host().props());
  const std::lock_guard<std::mutex> lock(mutex_);
  Totals totals = folded_;
  for (Record& record : records_) {
    static_cast<void>(read(record));
    const CallWork work = work_of(record.call);
    const double took = record.time.awaited() ? -1 : record.time.seconds;
    totals[static_cast<size_t>(work.from)][static_cast<size_t>(work.to)].add(work, took);
    const char* variant = variant_of(record.call);
    Group& group = groups[{line_of(record.call), variant}];
    ProfileRow& row = group.row;
    ++row.calls;
    row.bytes += work.bytes;
    row.flops = work.flops;
    if (took >= 0) {
      group.seconds.push_back(took);
      row.total_s += took;
      row.timed_bytes += work.bytes;
    }
    if (row.calls > 1) continue;
    const DeviceProps& props = context_.props(record.call.space);
    if (!work.crosses) row.theoretical = props.bandwidth_bytes_per_s();
    const bool of_host_alone = props.backend == ExecutionSpace::host && !work.crosses;
    if (!work.crosses && work.bytes <= 2 * props.l2_bytes) continue;  // caches may hold the operands
    row.ceiling = ceiling_of(of_host_alone ? of_host : of_device, record.call, work);
  }
  std::vector<ProfileRow> rows;
  for (auto& [key, group] : groups) {
    rows.push_back(std::move(group.row));
    rows.back().problem = key.first;
    rows.back().variant = key.second;
    rows.back().timed = static_cast<int64_t>(group.seconds.size());
    rows.back().median_s = median(group.seconds);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.total_s > b.total_s; });
  for (size_t from = 0; from < totals.size(); ++from) {
    for (size_t to = 0; to < totals.size(); ++to) {
      const Total& total = totals[from][to];
      if (total.calls == 0) continue;
      ProfileRow& row = rows.emplace_back();
      row.problem = std::string(kind_name(static_cast<gpumem_memory_kind>(from))) + " to " +
                    kind_name(static_cast<gpumem_memory_kind>(to));
      row.calls = total.calls;
      row.timed = total.timed;
      row.bytes = total.bytes;
      row.timed_bytes = total.timed_bytes;
      row.total_s = total.seconds;
    }
  }
  return rows;
}

// Chrome trace events, which Perfetto reads. One track per stream, and one per calling thread that worked.
std::string Profile::trace() {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::pair<NativeStream, pid_t>> tracks;
  std::string text = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [";
  const char* separator = "\n  ";
  for (Record& record : records_) {
    if (!read(record) || record.time.seconds < 0) continue;
    const std::pair key(record.thread == 0 ? record.time.stream : nullptr, record.thread);
    const auto place = std::find(tracks.begin(), tracks.end(), key);
    const auto track = place - tracks.begin();
    if (place == tracks.end()) tracks.push_back(key);
    const double start = std::chrono::duration<double, std::micro>(record.time.started - start_).count();
    text.append(separator).append("{\"ph\": \"X\", \"pid\": 0, \"tid\": ").append(std::to_string(track));
    text.append(", \"name\": \"").append(variant_of(record.call)).append("\", \"ts\": ").append(decimal(start, 3));
    text.append(", \"dur\": ").append(decimal(record.time.seconds * 1e6, 3));
    text.append(", \"args\": {\"problem\": \"").append(line_of(record.call)).append("\", \"bytes\": ");
    text.append(std::to_string(work_of(record.call).bytes)).append("}}");
    separator = ",\n  ";
  }
  return text.append("\n]}\n");
}

std::string Profile::as_text(gpumem_format format) {
  if (format < GPUMEM_FORMAT_TEXT || format > GPUMEM_FORMAT_TRACE) {
    fail(GPUMEM_INVALID_ARGUMENT, "format is %d; expected GPUMEM_FORMAT_TEXT (0) to GPUMEM_FORMAT_TRACE (3)", format);
  }
  const DefaultFloatEnvironment environment;
  switch (static_cast<decltype(GPUMEM_FORMAT_TEXT)>(format)) {
    case GPUMEM_FORMAT_TEXT:
      return table(rows());
    case GPUMEM_FORMAT_CSV:
      return csv(rows());
    case GPUMEM_FORMAT_JSON:
      return json(rows());
    case GPUMEM_FORMAT_TRACE:
      return trace();
  }
  __builtin_unreachable();
}

}  // namespace gpumem
