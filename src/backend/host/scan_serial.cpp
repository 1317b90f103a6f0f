// Scans by their definition, element by element.
#include "backend/host/implementations.hpp"
#include "backend/host/scan.hpp"
#include "base/float_environment.hpp"

namespace gpumem::host {
namespace {

// load: an element. store: a result.
template <class Scan, class Load, class Store>
bool define_words(const Scan& scan, const Line& line, bool exclusive, const Load& load, const Store& store) {
  auto before = scan.identity();
  bool fits = true;
  for (int64_t i = 0; i < line.n; ++i) {
    const auto term = scan.word(load.template operator()<typename Scan::T>(i));
    const auto after = Scan::combine(before, term);
    // An exclusive scan has no place for the sum of all elements.
    fits &= !Scan::overflows(before, term, after) || (exclusive && i + 1 == line.n);
    store(i, scan.value(exclusive ? before : after));
    before = after;
  }
  return fits;
}

// In a floating-point sum, each prefix is folded from the lanes of its last block.
template <class T, class Result, class Load, class Store>
void define_ordered(const ScanParams& p, const Line& line, const Load& load, const Store& store) {
  const NodeKind kind = node_kind(p.dtype, p.op);
  const bool product = p.op == GPUMEM_PROD;
  const auto combine = [product](double a, double b) { return product ? a * b : a + b; };
  ReduceNode levels[kTreeLevels];
  double lanes[kLeafLanes];
  ReduceNode before = empty_node(kind);
  for (int64_t i = 0; i < line.n; ++i) {
    if (i % kLeafTerms == 0) std::fill_n(lanes, kLeafLanes, product ? 1 : 0);
    double& lane = lanes[i % kLeafLanes];
    lane = combine(lane, converted<double>(load.template operator()<T>(i)));
    double folded[kLeafLanes];
    std::copy_n(lanes, kLeafLanes, folded);
    for (int half = kLeafLanes / 2; half > 0; half /= 2) {
      for (int m = 0; m < half; ++m) folded[m] = combine(folded[m], folded[m + half]);
    }
    push_node(kind, levels, 1, i / kLeafTerms, {{std::bit_cast<uint64_t>(folded[0])}});
    const ReduceNode after = fold_nodes(kind, levels, 1, i / kLeafTerms + 1);
    store(i, converted<Result>(canonical(std::bit_cast<double>((p.exclusive != 0 ? before : after).word[0]))));
    before = after;
  }
}

}  // namespace

void scan_serial(const HostTeam&, const ScanParams& p, const Config&, char*) {
  const DefaultFloatEnvironment environment;
  gpumem_status worst = GPUMEM_OK;
  for (int64_t l = 0; l < p.line_count(); ++l) {
    const Line line = line_of(p, l);
    if (!line.sound) worst = std::max<gpumem_status>(worst, GPUMEM_OUT_OF_RANGE);
    const auto load = [&]<class T>(int64_t i) { return element_at<T>(line.x, i * x_stride(p)); };
    const auto store = [&](int64_t i, const auto& value) {
      std::memcpy(line.result + i * result_stride(p) * int64_t{sizeof value}, &value, sizeof value);
    };
    bool fits = true;
    for_words(p, [&](const auto& scan) { fits = define_words(scan, line, p.exclusive != 0, load, store); });
    if (!fits) worst = GPUMEM_OVERFLOW;
    if (!is_ordered(p)) continue;
    for_scan_types(p, [&]<gpumem_dtype kType, gpumem_dtype kResult>() {
      if constexpr (is_floating(kType)) define_ordered<ElementOf<kType>, ElementOf<kResult>>(p, line, load, store);
    });
  }
  if (p.status != nullptr) *p.status = worst;
}

}  // namespace gpumem::host
