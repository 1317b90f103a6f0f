#include <algorithm>

#include "cuda/cuda_cases.hpp"
#include "cuda/kernels.hpp"

namespace bench {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 30;  // 2^31 eight-byte elements
constexpr std::size_t kAlignment = 256;

class DeviceOperand : public tool::Operand {
 public:
  DeviceOperand(gpumem_ctx* ctx, void* p, int64_t bytes) : Operand(ctx, {p, [](void*) {}}, bytes, false) {}
  void fill(const tool::Contents& contents) const override { write_contents(get(), bytes(), contents); }
  void fill(unsigned char value) const override {
    check_cuda(cudaMemset(get(), value, static_cast<std::size_t>(bytes())));
  }
};

}  // namespace

Gpu::Gpu(const Context& context) : ctx(context), info(device_of(context.get())) {
  timer = std::make_shared<GatedTimer>(static_cast<std::size_t>(info.l2_bytes));
  blas = Blas::make(peer_stream.get());
  check(gpumem_stream_wrap(ctx.get(), peer_stream.get(), &shared_stream));
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total));
  bytes_ = std::min(kMostBytes, free / 5 * 2 / kAlignment * kAlignment);
  check(gpumem_alloc_device(ctx.get(), static_cast<int64_t>(bytes_), &src_));
  check(gpumem_alloc_device(ctx.get(), static_cast<int64_t>(bytes_), &dst_));
  check(gpumem_alloc_device(ctx.get(), kAlignment, &status_));
}

Gpu::~Gpu() {
  cudaDeviceSynchronize();
  gpumem_stream_destroy(shared_stream);
  gpumem_free(ctx.get(), status_);
  gpumem_free(ctx.get(), src_);
  gpumem_free(ctx.get(), dst_);
}

void* Gpu::part(void* buffer, std::size_t bytes) const {
  if (bytes > bytes_)
    throw Skip("it needs " + std::to_string(bytes >> 20) + " MiB twice, more than this device has free");
  return buffer;
}

OperandPtr Gpu::operand(Room& room, const std::string& key, const std::string& kind, int64_t bytes,
                        int64_t misaligned) const {
  if (kind != "device") return std::make_shared<tool::Operand>(ctx.get(), kind, bytes, misaligned);
  constexpr int64_t kPage = 4096;
  const bool is_result = key == "dst" || key == "z" || key == "result";
  int64_t& used = is_result ? room.dst : room.src;
  const int64_t begin = used + misaligned;
  used = (begin + bytes + kPage - 1) / kPage * kPage;
  char* const buffer = static_cast<char*>(part(is_result ? dst_ : src_, static_cast<std::size_t>(begin + bytes)));
  return std::make_shared<DeviceOperand>(ctx.get(), buffer + begin, bytes);
}

}  // namespace bench
