// gpumem_gather and gpumem_scatter on the host backend, by a random permutation, against an OpenMP loop that trusts its index.
#include <algorithm>
#include <cstring>
#include <utility>

#include "host/host_cases.hpp"
#include "host/openmp_peers.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

constexpr std::size_t kBytes = std::size_t{1} << 27;  // of each matrix

struct Rows {
  int64_t row_bytes, n;
  HostBuffer src, dst, index;

  explicit Rows(int64_t bytes)
      : row_bytes(bytes),
        n(static_cast<int64_t>(kBytes) / bytes),
        src(kBytes),
        dst(kBytes),
        index(static_cast<std::size_t>(n) * 8) {
    auto* x = src.as<uint64_t>();
#pragma omp parallel for
    for (int64_t i = 0; i < static_cast<int64_t>(kBytes / 8); ++i) x[i] = random_bits(static_cast<uint64_t>(i));
    auto* numbers = index.as<int64_t>();
    for (int64_t i = 0; i < n; ++i) numbers[i] = i;
    for (int64_t i = n; i > 1; --i) {
      std::swap(numbers[i - 1], numbers[random_bits(static_cast<uint64_t>(i)) % static_cast<uint64_t>(i)]);
    }
  }

  std::string verify(bool gathers) const {
    const auto* numbers = index.as<const int64_t>();
    int64_t wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = gathers ? numbers[i] : i, to = gathers ? i : numbers[i];
      wrong += std::memcmp(dst.as<char>() + to * row_bytes, src.as<char>() + from * row_bytes,
                           static_cast<std::size_t>(row_bytes)) != 0;
    }
    return wrong == 0 ? "" : std::to_string(wrong) + " rows are wrong";
  }
};

gpumem_status ours(gpumem_ctx* ctx, const Rows& r, bool gathers) {
  const int64_t b = r.row_bytes;
  const auto* numbers = r.index.as<void>();
  return gathers ? gpumem_gather(ctx, b, r.src.as<void>(), r.n, b, GPUMEM_I64, numbers, r.n, r.dst.as<void>(), b)
                 : gpumem_scatter(ctx, b, r.src.as<void>(), b, GPUMEM_I64, numbers, r.n, r.dst.as<void>(), r.n, b);
}

void peers(const Rows& r, bool gathers) {
  const auto call = gathers ? openmp::gather_rows : openmp::scatter_rows;
  call(r.dst.as<char>(), r.src.as<const char>(), r.index.as<const int64_t>(), r.n, r.row_bytes);
}

Side rows_side(const std::shared_ptr<Rows>& rows, bool gathers, std::function<void()> call) {
  Side side;
  side.sample = host_sampler(std::move(call), kHostClock);
  side.poison = [rows] { rows->dst.poison(); };
  side.verify = [rows, gathers] { return rows->verify(gathers); };
  return side;
}

Case rows_case(const Context& ctx, int64_t row_bytes, bool gathers) {
  Case c;
  c.family = gathers ? "gather" : "scatter";
  c.name = std::to_string(row_bytes) + "B rows/" + std::to_string(kBytes >> 20) + "MiB";
  c.peer = "OpenMP loop";
  c.bytes = 2.0 * static_cast<double>(kBytes) + 8.0 * static_cast<double>(static_cast<int64_t>(kBytes) / row_bytes);
  c.ceiling = Ceiling::copy;
  c.quick = row_bytes == 512;
  c.open = [ctx, row_bytes, gathers] {
    const auto rows = std::make_shared<Rows>(row_bytes);
    Pair pair;
    pair.ours = rows_side(rows, gathers, [ctx, rows, gathers] { check(ours(ctx.get(), *rows, gathers)); });
    pair.peer = rows_side(rows, gathers, [rows, gathers] { peers(*rows, gathers); });
    return pair;
  };
  return c;
}

}  // namespace

void add_host_rows(std::vector<Case>& cases, const Context& ctx) {
  for (const bool gathers : {true, false}) {
    for (const int64_t row_bytes : {4, 64, 512}) cases.push_back(rows_case(ctx, row_bytes, gathers));
  }
}

}  // namespace bench
