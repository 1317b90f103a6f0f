// gpumem_copy and gpumem_fill on the host backend against memcpy, memset and their OpenMP forms.
#include <algorithm>
#include <cstring>
#include <utility>

#include "host/host_cases.hpp"
#include "host/openmp_peers.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

constexpr std::size_t kLarge = std::size_t{1} << 28;  // well past the caches

std::string size_name(std::size_t bytes) {
  const bool mib = bytes >= (1u << 20);
  return std::to_string(bytes >> (mib ? 20 : 10)) + (mib ? "MiB" : "KiB");
}

struct Buffers {
  HostBuffer src, dst;
  explicit Buffers(std::size_t bytes) : src(bytes), dst(bytes) {
    auto* x = src.as<uint64_t>();
#pragma omp parallel for
    for (int64_t i = 0; i < static_cast<int64_t>(bytes / 8); ++i) x[i] = random_bits(static_cast<uint64_t>(i));
  }
};

using Copier = void (*)(void*, const void*, std::size_t);

void by_memcpy(void* dst, const void* src, std::size_t bytes) { std::memcpy(dst, src, bytes); }

Side copy_side(const std::shared_ptr<Buffers>& b, std::function<void()> call) {
  Side side;
  side.sample = host_sampler(std::move(call), kHostClock);
  side.poison = [b] { b->dst.poison(); };
  side.verify = [b]() -> std::string {
    return std::memcmp(b->dst.as<void>(), b->src.as<void>(), b->dst.bytes()) == 0 ? "" : "the copy differs";
  };
  return side;
}

Case copy_case(const Context& ctx, std::size_t bytes, Copier peer, const char* peer_name) {
  Case c;
  c.family = "copy";
  c.name = "host/" + size_name(bytes);
  c.peer = peer_name;
  c.bytes = 2.0 * static_cast<double>(bytes);
  if (bytes == kLarge) c.ceiling = Ceiling::copy;
  c.quick = bytes == kLarge;
  c.open = [ctx, bytes, peer] {
    const auto b = std::make_shared<Buffers>(bytes);
    Pair pair;
    pair.ours = copy_side(b, [ctx, b, bytes] {
      check(gpumem_copy(ctx.get(), b->dst.as<void>(), b->src.as<void>(), static_cast<int64_t>(bytes)));
    });
    pair.peer = copy_side(b, [b, bytes, peer] { peer(b->dst.as<void>(), b->src.as<void>(), bytes); });
    return pair;
  };
  return c;
}

// The left half of a matrix's rows to one without gaps.
Case rows_case(const Context& ctx, std::size_t row_bytes) {
  const auto rows = static_cast<int64_t>(kLarge / 2 / row_bytes);
  const auto width = static_cast<int64_t>(row_bytes);
  Case c;
  c.family = "copy_2d";
  c.name = "host/rows" + std::to_string(row_bytes);
  c.peer = "OpenMP memcpy of rows";
  c.bytes = static_cast<double>(kLarge);
  c.open = [=] {
    const auto whole = std::make_shared<Buffers>(kLarge);  // its dst takes the half
    const auto side_of = [=](std::function<void()> call) {
      Side side;
      side.sample = host_sampler(std::move(call), kHostClock);
      side.poison = [whole] { whole->dst.poison(); };
      side.verify = [=]() -> std::string {
        int64_t wrong = 0;
        for (int64_t row = 0; row < rows; ++row) {
          const auto at = static_cast<std::size_t>(row) * row_bytes;
          wrong += std::memcmp(whole->dst.as<char>() + at, whole->src.as<char>() + 2 * at, row_bytes) != 0;
        }
        return wrong == 0 ? "" : std::to_string(wrong) + " rows are wrong";
      };
      return side;
    };
    Pair pair;
    pair.ours = side_of([=] {
      check(gpumem_copy_2d(ctx.get(), whole->dst.as<void>(), width, whole->src.as<void>(), 2 * width, width, rows));
    });
    pair.peer = side_of([=] {
      openmp::copy_rows(whole->dst.as<void>(), row_bytes, whole->src.as<void>(), 2 * row_bytes, row_bytes, rows);
    });
    return pair;
  };
  return c;
}

// Compared in blocks of a page, each a whole number of patterns.
std::string verify_fill(const HostBuffer& dst, std::size_t pattern_bytes) {
  constexpr std::size_t page = 4096;
  unsigned char expected[page];
  for (std::size_t i = 0; i < page; ++i) expected[i] = kPattern[i % pattern_bytes];
  const auto* y = dst.as<const unsigned char>();
  int64_t wrong = 0;
#pragma omp parallel for reduction(+ : wrong)
  for (std::size_t at = 0; at < dst.bytes(); at += page) {
    wrong += std::memcmp(y + at, expected, std::min(page, dst.bytes() - at)) != 0;
  }
  return wrong == 0 ? "" : std::to_string(wrong) + " pages are wrong";
}

void memset_peer(const HostBuffer& b, std::size_t) { std::memset(b.as<void>(), kPattern[0], b.bytes()); }

void openmp_peer(const HostBuffer& b, std::size_t pattern_bytes) {
  uint64_t words[2];
  std::memcpy(words, kPattern, sizeof words);
  if (pattern_bytes == 1) {
    openmp::fill_bytes(b.as<void>(), kPattern[0], b.bytes());
  } else if (pattern_bytes == 4) {
    openmp::fill_u32(b.as<uint32_t>(), static_cast<uint32_t>(words[0]), static_cast<int64_t>(b.bytes() / 4));
  } else {
    openmp::fill_u64_pairs(b.as<uint64_t>(), words[0], words[1], static_cast<int64_t>(b.bytes() / 16));
  }
}

using Filler = void (*)(const HostBuffer&, std::size_t pattern_bytes);

Side fill_side(const std::shared_ptr<HostBuffer>& b, std::size_t pattern_bytes, std::function<void()> call) {
  Side side;
  side.sample = host_sampler(std::move(call), kHostClock);
  side.poison = [b] { b->poison(); };
  side.verify = [b, pattern_bytes] { return verify_fill(*b, pattern_bytes); };
  return side;
}

gpumem_status ours_fill(gpumem_ctx* ctx, const HostBuffer& b, std::size_t pattern_bytes) {
  return gpumem_fill(ctx, b.as<void>(), kPattern, static_cast<int64_t>(pattern_bytes),
                     static_cast<int64_t>(b.bytes() / pattern_bytes));
}

Pair open_fill(const Context& ctx, const std::shared_ptr<HostBuffer>& b, std::size_t pattern_bytes, Filler peer) {
  Pair pair;
  pair.ours = fill_side(b, pattern_bytes, [ctx, b, pattern_bytes] { check(ours_fill(ctx.get(), *b, pattern_bytes)); });
  pair.peer = fill_side(b, pattern_bytes, [b, pattern_bytes, peer] { peer(*b, pattern_bytes); });
  return pair;
}

Case fill_case(const Context& ctx, std::size_t pattern_bytes, Filler peer, const char* peer_name) {
  Case c;
  c.family = "fill";
  c.name = "host/" + size_name(kLarge) + "/pattern" + std::to_string(pattern_bytes);
  c.peer = peer_name;
  c.bytes = static_cast<double>(kLarge);
  c.ceiling = Ceiling::write;
  c.quick = pattern_bytes == 1;
  c.open = [=] { return open_fill(ctx, std::make_shared<HostBuffer>(kLarge), pattern_bytes, peer); };
  return c;
}

Case ladder_case(const Context& ctx, const std::string& variant) {
  Case c = fill_case(ctx, 16, openmp_peer, "OpenMP loop");
  c.family = "ladder";
  c.name = "fill/" + c.name + "/" + variant;
  c.quick = false;
  c.open = [ctx, variant] {
    const auto b = std::make_shared<HostBuffer>(kLarge);
    return with_variant(ctx, GPUMEM_FAMILY_FILL, variant, open_fill(ctx, b, 16, openmp_peer),
                        [ctx, b] { return ours_fill(ctx.get(), *b, 16); });
  };
  return c;
}

}  // namespace

void add_host_movement(std::vector<Case>& cases, const Context& ctx) {
  for (const std::size_t bytes : {std::size_t{1} << 16, std::size_t{1} << 20, std::size_t{1} << 24, kLarge}) {
    cases.push_back(copy_case(ctx, bytes, by_memcpy, "memcpy"));
    cases.push_back(copy_case(ctx, bytes, openmp::copy, "OpenMP memcpy"));
  }
  for (const std::size_t row_bytes : {std::size_t{16}, std::size_t{256}, std::size_t{4096}, std::size_t{1} << 16}) {
    cases.push_back(rows_case(ctx, row_bytes));
  }
  cases.push_back(fill_case(ctx, 1, memset_peer, "memset"));
  cases.push_back(fill_case(ctx, 1, openmp_peer, "OpenMP memset"));
  cases.push_back(fill_case(ctx, 4, openmp_peer, "OpenMP loop"));
  cases.push_back(fill_case(ctx, 16, openmp_peer, "OpenMP loop"));
  for (const std::string& variant : variant_names(GPUMEM_FAMILY_FILL)) cases.push_back(ladder_case(ctx, variant));
}

}  // namespace bench
