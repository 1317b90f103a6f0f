// Sums of scaled operands, and products, over views, on the host.
#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <optional>
#include <type_traits>

#include "backend/host/host_backend.hpp"
#include "backend/host/implementations.hpp"
#include "backend/host/parallel.hpp"
#include "backend/host/sequence.hpp"
#include "base/checked.hpp"
#include "base/float_environment.hpp"
#include "kernels/elements.hpp"

namespace gpumem {
namespace {

// The view's last axis if it is short. Looping over rows of a few elements costs more than striding over them.
struct ShortAxis {
  int64_t extent = 1;
  int64_t z_stride = 0;
  int64_t x_strides[kMaxTerms] = {};
};

ShortAxis take_short_axis(ArithmeticParams& a) noexcept {
  constexpr int64_t kShort = 8;
  ShortAxis axis;
  const int32_t last = a.rank - 1;
  if (last < 1 || a.extents[last] < 2 || a.extents[last] >= kShort || a.extents[last - 1] <= a.extents[last]) {
    return axis;
  }
  axis.extent = a.extents[last];
  axis.z_stride = a.z_strides[last];
  for (int32_t k = 0; k < a.terms; ++k) axis.x_strides[k] = a.x_strides[k][last];
  a.rank = last;
  return axis;
}

// The terms in the groups that a loop takes. Groups after the first continue the sum of the groups before: 1 * x is x.
struct TermGroups {
  static constexpr int64_t kBytes = 2048;
  ArithmeticRow row[3];
  int32_t count = 0;
  alignas(64) char partial[kBytes];

  TermGroups(const ArithmeticParams& a, const ArithmeticRow& common) noexcept {
    const int64_t bytes = element_bytes(a.dtype);
    const uint64_t one = bytes == 4 ? std::bit_cast<uint32_t>(1.0f) : std::bit_cast<uint64_t>(1.0);
    int32_t k = 0;
    do {
      ArithmeticRow& group = row[count] = common;
      if (count > 0) {
        group.x[0] = partial;
        group.factor[0] = one;
        group.step[0] = bytes;
        group.terms = 1;
      }
      for (; group.terms < ArithmeticRow::kMost && k < a.terms; ++k) {
        group.factor[group.terms] = a.factors[k];
        group.step[group.terms++] = a.x_strides[k][a.rank - 1] * bytes;
      }
      ++count;
      if (k == a.terms) return;
      group.z = partial;
      group.z_step = bytes;
      group.stream = false;
    } while (true);
  }
};

// large: z is larger than the caches.
[[gnu::noinline]] void rows(const Loops& loops, const ArithmeticParams& a, const ShortAxis& behind, int64_t first,
                            int64_t last, bool large) {
  constexpr int64_t kAtOnce = 512;  // with a short axis, whose later elements then find the caches warm
  constexpr int64_t kLongRow = int64_t{4} << 10;
  const auto loop = for_float_or_double(
      a.dtype, [&]<class T>() { return sizeof(T) == 4 ? loops.arithmetic.f32 : loops.arithmetic.f64; });
  const int64_t bytes = element_bytes(a.dtype);
  const int32_t inner = a.rank - 1;
  const int64_t of_groups = a.terms > ArithmeticRow::kMost ? TermGroups::kBytes / bytes : a.extents[inner];
  const int64_t longest = behind.extent > 1 ? std::min(kAtOnce, of_groups) : of_groups;
  const bool reads_z = std::find(a.x, a.x + a.terms, a.z) != a.x + a.terms;
  // Stores around the caches lose if z has just been read into them.
  TermGroups groups(a, {.product = a.op == Arithmetic::multiply,
                        .z_step = a.z_strides[inner] * bytes,
                        .ahead = large,
                        .stream = large && !reads_z && a.dots == 0 && a.extents[inner] * bytes >= kLongRow});
  int64_t at[kMaxViewRank];
  int64_t left = first;
  for (int32_t d = inner; d >= 0; left /= a.extents[d--]) at[d] = left % a.extents[d];
  const auto offset = [&](const int64_t* strides, int64_t after) {
    int64_t elements = after;
    for (int32_t d = 0; d < a.rank; ++d) elements += at[d] * strides[d];
    return elements * bytes;
  };
  int64_t n = 0;
  for (int64_t i = first; i < last; i += n) {
    n = std::min({a.extents[inner] - at[inner], last - i, longest});
    for (int64_t b = 0; b < behind.extent; ++b) {
      int32_t k = 0;
      for (int32_t g = 0; g < groups.count; ++g) {
        ArithmeticRow& row = groups.row[g];
        row.n = n;
        if (g == groups.count - 1) row.z = static_cast<char*>(a.z) + offset(a.z_strides, b * behind.z_stride);
        for (int32_t t = g > 0 ? 1 : 0; t < row.terms; ++t, ++k) {
          row.x[t] = static_cast<const char*>(a.x[k]) + offset(a.x_strides[k], b * behind.x_strides[k]);
        }
        loop(row);
      }
    }
    at[inner] += n;
    for (int32_t d = inner; d > 0 && at[d] == a.extents[d]; --d) {
      at[d] = 0;
      ++at[d - 1];
    }
  }
}

// Short rows, some at a time, if each operand is contiguous or repeats elements or rows. Repeated ones are copied before
// the loop, and a row that all rows repeat is copied once.
class ShortRows {
 public:
  static constexpr int64_t kBytes = 4096;  // of a block of rows
  static constexpr int64_t kAllBytes = kBytes * ArithmeticRow::kMost;
  static constexpr int64_t kLongest = 256;  // elements

  static bool accepts(const ArithmeticParams& a) noexcept {
    const int32_t inner = a.rank - 1;
    if (inner < 1 || a.extents[inner] > kLongest || a.terms > ArithmeticRow::kMost || !joins(a, a.z_strides))
      return false;
    return std::all_of(a.x_strides, a.x_strides + a.terms, [&](const int64_t* strides) {
      return joins(a, strides) || strides[inner] == 0 || strides[inner - 1] == 0;
    });
  }

  // large: z is larger than the caches. buffers: of kAllBytes.
  ShortRows(const Loops& loops, const ArithmeticParams& a, bool large, char* buffers) noexcept
      : a_(a), bytes_(element_bytes(a.dtype)), length_(a.extents[a.rank - 1]), buffers_(buffers) {
    loop_ = bytes_ == 4 ? loops.arithmetic.f32 : loops.arithmetic.f64;
    row_ = TermGroups(a, {.product = a.op == Arithmetic::multiply, .z_step = bytes_, .ahead = large}).row[0];
    std::fill_n(row_.step, row_.terms, bytes_);
  }

  // Elements [first, last), which are whole rows.
  void run(int64_t first, int64_t last) noexcept {
    const int32_t outer = a_.rank - 2;
    int64_t at[kMaxViewRank];
    int64_t left = first / length_;
    for (int32_t d = outer; d >= 0; left /= a_.extents[d--]) at[d] = left % a_.extents[d];
    const auto offset = [&](const int64_t* strides) {
      int64_t elements = 0;
      for (int32_t d = 0; d <= outer; ++d) elements += at[d] * strides[d];
      return elements * bytes_;
    };
    for (int64_t i = first; i < last; i += row_.n) {
      const int64_t rows = std::min({kBytes / bytes_ / length_, a_.extents[outer] - at[outer], (last - i) / length_});
      row_.n = rows * length_;
      row_.z = static_cast<char*>(a_.z) + offset(a_.z_strides);
      for (int32_t k = 0; k < a_.terms; ++k) {
        const char* from = static_cast<const char*>(a_.x[k]) + offset(a_.x_strides[k]);
        row_.x[k] = joins(a_, a_.x_strides[k]) ? from : copied(k, from, rows);
      }
      loop_(row_);
      at[outer] += rows;
      for (int32_t d = outer; d > 0 && at[d] == a_.extents[d]; --d) {
        at[d] = 0;
        ++at[d - 1];
      }
    }
  }

 private:
  static bool joins(const ArithmeticParams& a, const int64_t* strides) noexcept {
    return strides[a.rank - 1] == 1 && strides[a.rank - 2] == a.extents[a.rank - 1];
  }

  const char* copied(int32_t k, const char* from, int64_t rows) noexcept {
    char* const to = buffers_ + k * kBytes;
    const int64_t down = a_.x_strides[k][a_.rank - 2] * bytes_;
    if (down == 0 && from == repeated_[k] && rows <= copies_[k]) return to;
    const int64_t across = a_.x_strides[k][a_.rank - 1] * bytes_;
    bytes_ == 4 ? copy<uint32_t>(from, down, across, rows, to) : copy<uint64_t>(from, down, across, rows, to);
    repeated_[k] = from;
    copies_[k] = rows;
    return to;
  }

  template <class Word>
  void copy(const char* from, int64_t down, int64_t across, int64_t rows, char* buffer) const noexcept {
    auto* to = reinterpret_cast<Word*>(buffer);
    for (int64_t r = 0; r < rows; ++r, from += down, to += length_) {
      Word first;
      std::memcpy(&first, from, sizeof first);
      if (across == 0) {
        std::fill_n(to, length_, first);
      } else {
        for (int64_t i = 0; i < length_; ++i) std::memcpy(to + i, from + i * across, sizeof first);
      }
    }
  }

  const ArithmeticParams& a_;
  const int64_t bytes_;
  const int64_t length_;
  char* const buffers_;
  void (*loop_)(const ArithmeticRow&);
  ArithmeticRow row_;
  const char* repeated_[ArithmeticRow::kMost] = {};
  int64_t copies_[ArithmeticRow::kMost] = {};
};

// Not inlined beside rows(), because the frames of both would add up.
[[gnu::noinline]] void short_rows(const Loops& loops, const ArithmeticParams& a, bool large, void* buffers,
                                  int64_t first, int64_t last) {
  ShortRows(loops, a, large, static_cast<char*>(buffers)).run(first, last);
}

// When the work runs, not before: earlier work may write them.
void read_factors(ArithmeticParams& a) noexcept {
  const DefaultFloatEnvironment of_thread;
  for (int32_t k = 0; k < a.terms; ++k) {
    if (!a.has_factor_in_memory(k)) continue;
    for_float_or_double(a.dtype, [&]<class T>() {
      T factor;
      std::memcpy(&factor, &a.factors[k], sizeof factor);
      factor = factor_in_memory(factor, a.numerators[k], a.denominators[k]);
      std::memcpy(&a.factors[k], &factor, sizeof factor);
    });
  }
}

struct Dot {
  ReduceView view;
  Sequence sequence;

  Dot(const Loops& loops, const ArithmeticParams& a, int32_t k) noexcept
      : view(view_of(a)),
        sequence(loops, a.dtype, GPUMEM_DOT, operand(a, a.z, a.z_strides), operand(a, a.w[k], a.w_strides[k]), false,
                 &view) {}

 private:
  static ReduceView view_of(const ArithmeticParams& a) noexcept {
    ReduceView view{.rank = a.rank};
    std::copy_n(a.extents, a.rank, view.extents);
    return view;
  }
  static PitchedElements operand(const ArithmeticParams& a, const void* p, const int64_t* strides) noexcept {
    const int32_t inner = a.rank - 1;
    return {static_cast<const char*>(p), strides[inner] * element_bytes(a.dtype), inner > 0 ? strides : nullptr};
  }
};

// In the workspace and not on the stack, with the nodes behind it.
struct DotsWork {
  ArithmeticParams a;
  std::optional<Dot> dot[kMaxDots];

  DotsWork(const Loops& loops, const ArithmeticParams& params) noexcept : a(params) {
    read_factors(a);
    for (int32_t k = 0; k < a.dots; ++k) dot[k].emplace(loops, a, k);
  }
};
static_assert(sizeof(DotsWork) <= host::kDotNodesAt && std::is_trivially_destructible_v<DotsWork>);

// Not inlined, so that its frame does not lie below those of the tasks.
[[gnu::noinline]] void write_dots(const ArithmeticParams& a, ReduceNode* nodes, int64_t tasks) noexcept {
  const DefaultFloatEnvironment environment;
  for (int32_t k = 0; k < a.dots; ++k) {
    const ReduceNode node = fold_all(NodeKind::sum, nodes + k * tasks, 1, tasks);
    write_value(a.dtype, GPUMEM_DOT, node, reinterpret_cast<char*>(a.results + k));
  }
}

// A task forms the dot products of its elements of z while they are in the caches.
void with_dots(const HostTeam& team, const ArithmeticParams& params, const Config& config, char* workspace) noexcept {
  const auto& work = *new (workspace) DotsWork(team.loops, params);
  const ArithmeticParams& a = work.a;
  auto* const nodes = reinterpret_cast<ReduceNode*>(workspace + host::kDotNodesAt);
  const int64_t n = a.elements();
  const bool large = team.larger_than_caches(n * element_bytes(a.dtype));
  const int64_t tasks = ceil_div(n, config.tile);
  team.parallel(tasks, [&](int64_t i) {
    const DefaultFloatEnvironment of_thread;
    const int64_t first = i * config.tile;
    const int64_t last = std::min(first + config.tile, n);
    rows(team.loops, a, {}, first, last, large);
    for (int32_t k = 0; k < a.dots; ++k) nodes[k * tasks + i] = work.dot[k]->sequence.node(first, last);
  });
  write_dots(a, nodes, tasks);
}

void without_dots(const HostTeam& team, const ArithmeticParams& params, const Config& config) noexcept {
  ArithmeticParams a = params;
  read_factors(a);
  const ShortAxis behind = take_short_axis(a);
  const bool are_short = behind.extent == 1 && ShortRows::accepts(a);
  const int64_t step = are_short ? a.extents[a.rank - 1] : 1;
  const int64_t tile = std::max<int64_t>(1, config.tile / behind.extent / step) * step;
  const int64_t n = a.elements();
  const bool large = team.larger_than_caches(n * behind.extent * element_bytes(a.dtype));
  team.parallel(ceil_div(n, tile), [&](int64_t i) {
    const DefaultFloatEnvironment of_thread;
    const TaskMemory room(are_short ? ShortRows::kAllBytes : 0);
    const int64_t last = std::min((i + 1) * tile, n);
    if (room.get() != nullptr) return short_rows(team.loops, a, large, room.get(), i * tile, last);
    rows(team.loops, a, behind, i * tile, last, large);
  });
}

}  // namespace

namespace host {

void arithmetic_parallel(const HostTeam& team, const ArithmeticParams& a, const Config& config, char* workspace) {
  a.dots > 0 ? with_dots(team, a, config, workspace) : without_dots(team, a, config);
}

void arithmetic_serial(const HostTeam&, const ArithmeticParams& a, const Config& config, char* workspace) {
  arithmetic_parallel(no_team(), a, config, workspace);
}

}  // namespace host

}  // namespace gpumem
