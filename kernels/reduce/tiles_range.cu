// Minimum and maximum, both at once: what MIN, MAX, MIN_MAX and MAX_ABS are made of, and by which NaNs are seen.
#include "kernels/reduce/keys.cuh"
#include "kernels/reduce/unordered.cuh"

namespace gpumem::kernels {
namespace {

template <gpumem_dtype kClass>
class RangeState {
 public:
  using Node = typename KeyRange<kClass>::Node;
  static constexpr int kBytes = element_bytes(kClass);
  static constexpr Values kValues = Values::pair;

  __device__ RangeState(gpumem_dtype dtype, gpumem_reduce_op) : dtype_(dtype), keys_(dtype) {}
  __device__ void begin(int64_t) {}
  __device__ void take(const uint4& w, int) { keys_.take(w); }
  __device__ void end() {}
  __device__ void take_element(uint64_t bits, int64_t) { keys_.take_key(key_of(dtype_, bits)); }
  __device__ Node node(const WordSpan&, Node* shared) { return block_tree(keys_.node(), shared); }

  __device__ static ReduceValue value(gpumem_dtype dtype, gpumem_reduce_op op, const Node& whole) {
    const RangeNode range(whole.stored());
    return for_type<kClass>(dtype, [&](gpumem_dtype type) { return value_of(type, op, range); });
  }

 private:
  gpumem_dtype dtype_;
  KeyRange<kClass> keys_;
};

}  // namespace

cudaError_t reduce_tiles_range(const ReduceLaunch& launch, Stream stream) {
  return for_key_class(launch.dtype,
                       [&]<gpumem_dtype kClass>() { return start_tiles<RangeState<kClass>>(launch, stream); });
}

}  // namespace gpumem::kernels
