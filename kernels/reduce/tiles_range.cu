// Minimum and maximum in one pass. MIN, MAX, MIN_MAX and MAX_ABS derive from them, and they reveal NaNs.
#include "kernels/reduce/keys.cuh"
#include "kernels/reduce/unordered.cuh"

namespace gpumem::kernels {
namespace {

template <int kSize>
class RangeState {
 public:
  using Node = typename RangeElement<kSize>::Node;
  static constexpr int kBytes = kSize;
  static constexpr Values kValues = Values::pair;

  __device__ RangeState(gpumem_dtype dtype, gpumem_reduce_op op) : element_(dtype, op) {}
  __device__ void begin(int64_t) {}
  __device__ void take(const uint4& w, int) { element_.enter_words(keys_, w); }
  __device__ void end() {}
  __device__ void take_element(uint64_t bits, int64_t) { element_.enter(keys_, static_cast<UnsignedOf<kSize>>(bits)); }
  __device__ Node node(const WordSpan&, Node* shared) { return block_tree(Node(keys_), shared); }

  __device__ static ReduceValue value(gpumem_dtype dtype, gpumem_reduce_op op, const Node& whole) {
    const RangeNode range(whole.stored());
    return for_type<kSize>(dtype, [&](gpumem_dtype type) { return value_of(type, op, range); });
  }

 private:
  RangeElement<kSize> element_;
  typename RangeElement<kSize>::Partial keys_;
};

}  // namespace

LaunchResult reduce_tiles_range(const ReduceLaunch& launch, Stream stream) {
  return for_element_size(launch.dtype, [&]<int kSize>() { return start_tiles<RangeState<kSize>>(launch, stream); });
}

}  // namespace gpumem::kernels
