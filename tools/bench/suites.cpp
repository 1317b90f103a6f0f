#include "bench/suites.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "failure.hpp"
#include "text.hpp"

namespace tool {
namespace {

using Steps = std::vector<Step>;

// Larger than a GPU's caches, but small enough for the host of a laptop.
struct Scale {
  int64_t bytes;
  int64_t side;  // of a matrix of 4-byte elements with that many bytes
};

Scale scale_of(const Session& session) {
  if (session.quick()) return {1 << 20, 512};
  return session.on_device() ? Scale{256 << 20, 8192} : Scale{64 << 20, 4096};
}

std::string number(int64_t value) { return std::to_string(value); }

void add_line(Steps& steps, const std::string& group, const std::string& label, const std::string& line,
              const std::string& variant = "", const Kinds& kinds = {}) {
  steps.push_back({group, label, [line, variant, kinds](Session& session) {
                     return Subject(session, line, kinds).measured(variant, Timer::automatic);
                   }});
}

// ---------------------------------------------------------------------------------------------------------- suites

// Host memory is pageable, pageable through the library's pinned staging buffer, pinned, or registered.
void add_transfer(Steps& steps, const Session& session) {
  struct Way {
    const char* name;
    const char* kind;
    const char* variant;  // on a CUDA context
  };
  constexpr Way kWays[] = {{"pageable", "pageable", "driver"},
                           {"staged", "pageable", "rings"},
                           {"pinned", "pinned", ""},
                           {"registered", "registered", ""}};
  const int64_t most = session.quick() ? 1 << 20 : (session.on_device() ? 256 << 20 : 64 << 20);
  for (const bool to_device : {true, false}) {
    const char* const host_side = to_device ? "src" : "dst";
    const std::string group = to_device ? "transfer to the device" : "transfer from the device";
    for (const Way& way : kWays) {
      // To an operation descriptor, registered memory is pinned memory.
      const std::string kind = std::string(way.kind) == "registered" ? "pinned" : way.kind;
      const bool staged = std::string(way.name) == "staged";
      const std::string variant = session.on_device() || staged ? way.variant : "";
      for (int64_t bytes = 64 << 10; bytes <= most; bytes *= 16) {
        const std::string line = "copy bytes=" + number(bytes) + " src=" + (to_device ? kind : "device") +
                                 " dst=" + (to_device ? "device" : kind);
        add_line(steps, group, std::string(way.name) + ", " + format_size(bytes), line, variant,
                 {{host_side, way.kind}});
      }
    }
  }
}

void add_copy(Steps& steps, const Session& session) {
  const int64_t most = scale_of(session).bytes;
  for (int64_t bytes = 64 << 10; bytes <= most; bytes *= 8) {
    add_line(steps, "copy", format_size(bytes), "copy bytes=" + number(bytes));
  }
  const std::string large = "copy bytes=" + number(most);
  add_line(steps, "copy", format_size(most) + ", src 1 byte off", large + " src_misaligned=1");
  const std::string rows = " rows=" + number(most / 4096);
  add_line(steps, "copy", "rows of 4000 B, pitch 4096", "copy bytes=4000 src_pitch=4096 dst_pitch=4096" + rows);
  add_line(steps, "copy", "rows of 60 B, pitch 64",
           "copy bytes=60 src_pitch=64 dst_pitch=64 rows=" + number(most / 64));
  add_line(steps, "fill", format_size(most) + " of zero", "fill bytes=1 n=" + number(most));
  add_line(steps, "fill", format_size(most) + " of 16 bytes each", "fill bytes=16 n=" + number(most / 16));
}

void add_reduce(Steps& steps, const Session& session) {
  const auto [bytes, side] = scale_of(session);
  const auto line = [&, all = bytes](const char* op, const char* dtype, int64_t size) {
    add_line(steps, "reduce", std::string(op) + " " + dtype,
             std::string("reduce dtype=") + dtype + " op=" + op + " n=" + number(all / size));
  };
  line("sum", "i32", 4);
  line("sum", "f32", 4);
  line("sum", "f64", 8);
  line("sum", "f16", 2);
  line("sum", "u8", 1);
  line("sum_compensated", "f64", 8);
  line("min_max", "i32", 4);
  line("arg_max", "f32", 4);
  line("nrm2", "f64", 8);
  line("dot", "f64", 8);
  const std::string axis = "reduce_axis dtype=f32 op=sum rows=" + number(side) + " cols=" + number(side);
  add_line(steps, "reduce", "sum f32 of rows", axis + " axis=rows");
  add_line(steps, "reduce", "sum f32 of columns", axis + " axis=cols");
  add_line(steps, "reduce", "sum f32 of segments of 100",
           "reduce_segments dtype=f32 op=sum n=" + number(bytes / 4) + " segments=" + number(bytes / 400));
}

void add_transpose(Steps& steps, const Session& session) {
  const auto [bytes, side] = scale_of(session);
  const auto shape = [](int64_t size, int64_t rows, int64_t cols) {
    return "transpose bytes=" + number(size) + " rows=" + number(rows) + " cols=" + number(cols);
  };
  for (const int64_t size : {1, 2, 4, 8, 16}) {
    add_line(steps, "transpose", "elements of " + number(size) + " B", shape(size, side, side));
  }
  add_line(steps, "transpose", "4 B, in place", shape(4, side, side) + " src=device dst=src");
  add_line(steps, "transpose", "4 B, 3 columns (AoS to SoA)", shape(4, bytes / 12, 3));
  add_line(steps, "transpose", "4 B, one side odd", shape(4, side - 1, side));
  add_line(steps, "transpose", "8 B, matrices of 32 x 32", shape(8, 32, 32) + " batches=" + number(bytes / 8192));
}

void add_permute(Steps& steps, const Session& session) {
  const int64_t batch = scale_of(session).bytes / 4 / (int64_t{256} * 64);
  const auto line = [&](const char* label, const std::string& extents, const char* order) {
    add_line(steps, "permute", label, "permute bytes=4 extents=" + extents + " order=" + order);
  };
  line("NCHW to NHWC", number(batch) + "x64x256", "0,2,1");
  line("NHWC to NCHW", number(batch) + "x256x64", "0,2,1");
  line("axes reversed", number(batch) + "x64x256", "2,1,0");
  line("first two axes swapped", number(batch) + "x64x256", "1,0,2");
  line("three axes rotated", number(batch) + "x64x256", "1,2,0");
}

// ---------------------------------------------------------------------------------------------------------- ladder

// Every implementation of the line's operation in turn. The first one allocates the memory, the last one frees it.
void add_variants(Steps& steps, const Session& session, const std::string& line, const std::string& group, Timer timer,
                  const std::vector<std::string>& only = {}) {
  const auto subject = std::make_shared<std::unique_ptr<Subject>>();
  const std::string chosen = explained(session.ctx(), with_operands(line)).variant;
  for (const std::string variant : variants_of(family_of(Problem(line).family()))) {
    if (!only.empty() && std::find(only.begin(), only.end(), variant) == only.end()) continue;
    const std::string label =
        variant + (timer == Timer::host ? ", host's timer" : "") + (variant == chosen && only.empty() ? " *" : "");
    steps.push_back({group, label, [=](Session& s) {
                       if (!*subject) *subject = std::make_unique<Subject>(s, line, Kinds{});
                       return (*subject)->measured(variant, timer);
                     }});
  }
}

// The cost of uncoalesced access, by events and by a block's clock, and the overhead of the host's clock.
void add_access(Steps& steps, const Session& session) {
  const int64_t bytes = scale_of(session).bytes;
  const std::string cubes = "reduce dtype=i32 op=sum_cubes n=" + number(bytes / 4);
  const std::string axpby = "axpby dtype=f32 n=" + number(bytes / 4);
  const bool gpu = session.on_device();
  const std::vector<std::string> reductions =
      gpu ? std::vector<std::string>{"strided", "coalesced"} : std::vector<std::string>{"host_vector", "host_serial"};
  const std::vector<std::string> updates = gpu ? std::vector<std::string>{"strided", "coalesced", "vec16"}
                                               : std::vector<std::string>{"host_parallel", "host_serial"};
  add_variants(steps, session, cubes, "sum of cubes", Timer::automatic, reductions);
  add_clocked(steps, session, bytes / 4);
  if (gpu) add_variants(steps, session, axpby, "axpby", Timer::automatic, updates);
  add_variants(steps, session, axpby, "axpby", Timer::host, updates);
}

// words: "reduce", then the keys of a line or a whole line.
void add_ladder(Steps& steps, const Session& session, const std::string& words) {
  const std::string name = words.substr(0, words.find(' '));
  std::string rest = words.size() > name.size() ? words.substr(name.size() + 1) : "";
  if (rest.starts_with(name + " ")) rest.erase(0, name.size() + 1);
  if (name == "access") {
    if (!rest.empty()) throw Mistake("'ladder access' takes no line, and '" + rest + "' was given");
    return add_access(steps, session);
  }
  const auto [bytes, side] = scale_of(session);
  const std::map<std::string, std::string> lines = {
      {"reduce", "dtype=i32 op=sum n=" + number(bytes / 4)},
      {"transpose", "bytes=4 rows=" + number(side) + " cols=" + number(side)},
      {"copy", "bytes=" + number(bytes)}};
  const auto found = lines.find(name);
  if (found == lines.end()) throw Mistake("'" + name + "' is not a ladder: expected reduce, transpose, copy or access");
  const std::string line = name + " " + (rest.empty() ? found->second : rest);
  add_variants(steps, session, line, explained(session.ctx(), with_operands(line)).line, Timer::automatic);
}

}  // namespace

Steps steps_of(const std::vector<std::string>& words, const Session& session) {
  using Add = void (*)(Steps&, const Session&);
  constexpr std::pair<const char*, Add> kSuites[] = {
      {"transfer", add_transfer}, {"copy", add_copy},   {"reduce", add_reduce},  {"transpose", add_transpose},
      {"permute", add_permute},   {"alloc", add_alloc}, {"managed", add_managed}};
  Steps steps;
  const std::string line = joined(words);
  if (words.front() == "ladder") {
    add_ladder(steps, session, joined(words, 1));
  } else if (line.find('=') != std::string::npos) {
    const std::string whole = explained(session.ctx(), with_operands(line)).line;
    add_line(steps, "line", whole, whole);
  } else {
    for (const auto& [name, add] : kSuites) {
      if (line == name || line == "all") add(steps, session);
    }
    if (steps.empty()) {
      throw Mistake("'" + line +
                    "' is neither a benchmark nor an operation descriptor: expected transfer, copy, reduce, "
                    "transpose, permute, alloc, managed, all, ladder or a line");
    }
  }
  return steps;
}

}  // namespace tool
