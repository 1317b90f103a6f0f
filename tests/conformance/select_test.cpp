// gpumem_select and gpumem_select_places against their definition, over the list of cases, by every variant.
#include <algorithm>
#include <cstring>

#include "conformance/conformance.hpp"
#include "conformance/select_cases.hpp"
#include "support/selected.hpp"

namespace gpumem_test {
namespace {

Bytes mask_of(const SelectCase& c, Random& random) {
  Bytes mask(static_cast<size_t>(c.n));
  bool run = false;
  for (auto& byte : mask) {
    if (random.below(50) == 0) run = !run;
    const uint64_t dice = random.below(100);
    const bool keep = c.mask == Mask::everything || (c.mask == Mask::few && dice == 0) ||
                      (c.mask == Mask::half && dice < 50) || (c.mask == Mask::most && dice != 0) ||
                      (c.mask == Mask::runs && run);
    byte = keep ? static_cast<unsigned char>(1 + random.below(255)) : 0;  // any value but 0 keeps
  }
  return mask;
}

int64_t room_of(const SelectCase& c, int64_t kept) {
  switch (c.room) {
    case Room::for_all:
      return c.n;
    case Room::for_more:
      return c.n + 1000;
    case Room::for_kept:
      return kept;
    case Room::for_half:
      return kept / 2;
    case Room::for_nothing:
      break;
  }
  return 0;
}

bool on_host(gpumem_memory_kind kind) { return kind == GPUMEM_MEMORY_PAGEABLE || kind == GPUMEM_MEMORY_PINNED; }

std::string describe(const SelectCase& c) {
  return "offsets " + std::to_string(c.src_offset) + ", " + std::to_string(c.mask_offset) + " and " +
         std::to_string(c.dst_offset) + ", src in " + kind_name(c.src) + ", mask in " + kind_name(c.mask_kind) +
         ", dst in " + kind_name(c.dst) + ", kept in " + kind_name(c.kept);
}

class SelectConformance : public Conformance {
 protected:
  gpumem_memory_kind kind_of_kept(gpumem_memory_kind wanted) const {
    return on_cuda() && wanted == GPUMEM_MEMORY_PAGEABLE ? int32_t{GPUMEM_MEMORY_PINNED} : wanted;
  }
  // Whether the enqueued form, which moves no operand, can work with these.
  bool on_one_side(const SelectCase& c, const Selected& s) const {
    if (!on_cuda() || s.n == 0 || s.dst_rows == 0) return true;
    if (on_host(c.dst)) return (c.places || on_host(c.src)) && on_host(c.mask_kind);
    return (c.places || !on_host(c.src)) && c.mask_kind != GPUMEM_MEMORY_PAGEABLE;
  }

  struct Expected {
    Bytes before;
    Bytes after;
    int64_t kept;
    bool one_side;
  };

  void run_both(const Selected& s, GuardedBuffer& dst, GuardedBuffer& number, const Expected& e, bool accepted,
                const std::string& what) {
    const bool short_of_room = s.dst_rows > 0 && e.kept > s.dst_rows;
    for (const bool async : {false, true}) {
      dst.whole_image() = e.before;
      dst.write();
      poison(number.whole_image());
      number.write();
      auto* const kept = reinterpret_cast<int64_t*>(number.data());
      const gpumem_status status = async ? run_async(ctx, s, kept, nullptr) : run(ctx, s, kept);
      const bool runs = accepted && (!async || e.one_side);
      const gpumem_status ends = short_of_room && !async ? GPUMEM_OUT_OF_RANGE : GPUMEM_OK;
      ASSERT_TRUE(gives(runs ? ends : GPUMEM_UNSUPPORTED, status)) << async << ' ' << what;
      ASSERT_TRUE(ok(gpumem_stream_synchronize(ctx, nullptr)));
      if (runs) std::memcpy(number.image(), &e.kept, sizeof e.kept);
      ASSERT_TRUE(number.intact()) << async << " kept, expected " << e.kept << ": " << what;
      if (runs) dst.whole_image() = e.after;
      ASSERT_TRUE(dst.intact()) << async << ' ' << what;
    }
  }

  void run_case(const SelectCase& c, EveryVariant& variants, Random& random) {
    const Bytes bits = mask_of(c, random);
    const int64_t kept = std::count_if(bits.begin(), bits.end(), [](unsigned char b) { return b != 0; });
    const int64_t room = room_of(c, kept);
    const int64_t used = std::min(room, c.n);
    GuardedBuffer src = blocks.buffer(0, c.src, rows_extent(c.n, c.src_pitch, c.row_bytes), c.src_offset);
    GuardedBuffer mask = blocks.buffer(1, c.mask_kind, bits.size(), c.mask_offset);
    GuardedBuffer dst = blocks.buffer(2, c.dst, rows_extent(used, c.dst_pitch, c.row_bytes), c.dst_offset);
    GuardedBuffer number = blocks.buffer(3, kind_of_kept(c.kept), sizeof kept, 8);
    random.fill(src.whole_image());
    src.write();
    if (c.n > 0) mask.set(bits.data());
    const Selected s{c.row_bytes, src.data(),  c.src_pitch, reinterpret_cast<const uint8_t*>(mask.data()),
                     c.n,         dst.data(),  room,        c.dst_pitch,
                     c.places,    c.index_type};
    Expected e{dst.whole_image(), {}, kept, on_one_side(c, s)};
    int64_t k = 0;
    for (int64_t i = 0; i < c.n && k < used; ++i) {
      if (bits[static_cast<size_t>(i)] == 0) continue;
      const void* const row = c.places ? static_cast<const void*>(&i) : src.image() + i * c.src_pitch;
      std::memcpy(dst.image() + k++ * c.dst_pitch, row, static_cast<size_t>(c.row_bytes));
    }
    e.after = dst.whole_image();
    variants.for_each(line_of(ctx, s), c.n == 0, [&](bool accepted, const char* variant) {
      run_both(s, dst, number, e, accepted, variant + std::string(", ") + describe(s) + ", " + describe(c));
    });
    EXPECT_TRUE(src.intact() && mask.intact()) << "an input changed: " << describe(s) << ", " << describe(c);
  }
};

TEST_P(SelectConformance, KeepsWhatTheMaskNamesByEveryVariant) {
  EveryVariant variants(ctx, GPUMEM_FAMILY_SELECT);
  Random random(17);
  for (const SelectCase& c : select_cases(quick_run())) {
    run_case(c, variants, random);
    if (HasFatalFailure() || enough()) return;
  }
  variants.expect_all_used(on_cuda());
}

INSTANTIATE_TEST_SUITE_P(On, SelectConformance, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
