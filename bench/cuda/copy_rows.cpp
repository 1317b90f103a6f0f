// gpumem_copy_2d and _3d, gather and scatter, on the device: against cudaMemcpy2DAsync, cudaMemcpy3DAsync, and cudaMemcpyAsync of
// the same bytes.
#include <algorithm>
#include <utility>

#include "cuda/device_kernels.hpp"
#include "cuda/moved.hpp"
#include "support/random.hpp"

namespace bench {
namespace {

constexpr int64_t kShortRow = 64;

// Rows of slices; a copy of two dimensions has one slice.
struct Block {
  int64_t row_bytes, rows, slices;
  int64_t src_pitch, dst_pitch;

  int64_t moved() const { return row_bytes * rows * slices; }
  int64_t src_slice() const { return src_pitch * (rows + 1); }
  int64_t dst_slice() const { return dst_pitch * (rows + 2); }
  std::size_t src_bytes() const { return static_cast<std::size_t>(src_slice() * slices); }
  std::size_t dst_bytes() const { return static_cast<std::size_t>(dst_slice() * slices); }
  std::string name() const {
    std::string text = slices == 1 ? "2d/" : "3d/" + std::to_string(slices) + "x";
    text += std::to_string(rows) + "x" + std::to_string(row_bytes) + "B";
    return text + "/pitch" + std::to_string(src_pitch) + "to" + std::to_string(dst_pitch);
  }
};

void copy_by_cuda(const Block& b, void* dst, const void* src, cudaStream_t stream) {
  const auto size = [](int64_t v) { return static_cast<std::size_t>(v); };
  if (b.slices == 1) {
    check_cuda(cudaMemcpy2DAsync(dst, size(b.dst_pitch), src, size(b.src_pitch), size(b.row_bytes), size(b.rows),
                                 cudaMemcpyDeviceToDevice, stream));
    return;
  }
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr(const_cast<void*>(src), size(b.src_pitch), size(b.row_bytes), size(b.rows + 1));
  p.dstPtr = make_cudaPitchedPtr(dst, size(b.dst_pitch), size(b.row_bytes), size(b.rows + 2));
  p.extent = make_cudaExtent(size(b.row_bytes), size(b.rows), size(b.slices));
  p.kind = cudaMemcpyDeviceToDevice;
  check_cuda(cudaMemcpy3DAsync(&p, stream));
}

struct BlockProblem {
  GpuPtr gpu;
  Block block;
  void *src, *dst;
  std::shared_ptr<DeviceBytes> expected;

  BlockProblem(const GpuPtr& g, const Block& b)
      : gpu(g), block(b), src(g->src(b.src_bytes())), dst(g->dst(b.dst_bytes())) {
    generate_elements(src, static_cast<int64_t>(b.src_bytes() / 8), 8);
    expected = expected_bytes(b.dst_bytes(), [&](void* p) { copy_by_cuda(b, p, src, cudaStreamLegacy); });
  }
  gpumem_status enqueue() const {
    const Block& b = block;
    if (b.slices == 1) {
      return gpumem_copy_2d_async(gpu->ctx.get(), dst, b.dst_pitch, src, b.src_pitch, b.row_bytes, b.rows,
                                  gpu->shared_stream);
    }
    return gpumem_copy_3d_async(gpu->ctx.get(), dst, b.dst_pitch, b.dst_slice(), src, b.src_pitch, b.src_slice(),
                                b.row_bytes, b.rows, b.slices, gpu->shared_stream);
  }
};

Pair open_block(const std::shared_ptr<BlockProblem>& p) {
  const std::size_t bytes = p->block.dst_bytes();
  return {moved_side(
              p->gpu, [p] { check(p->enqueue()); }, p->dst, bytes, p->expected->as(), true),
          moved_side(
              p->gpu, [p] { copy_by_cuda(p->block, p->dst, p->src, p->gpu->peer_stream.get()); }, p->dst, bytes,
              p->expected->as(), true)};
}

Case block_case(const GpuPtr& gpu, const Block& block) {
  Case c = moved_case("copy_rows", block.name(), block.slices == 1 ? "cudaMemcpy2DAsync" : "cudaMemcpy3DAsync",
                      2.0 * static_cast<double>(block.moved()), true);
  c.bar = at_least(block.row_bytes <= kShortRow ? 2.0 : 0.98);
  c.open = [=] { return open_block(std::make_shared<BlockProblem>(gpu, block)); };
  return c;
}

Case ladder_case(const GpuPtr& gpu, const Block& block, const std::string& variant) {
  Case c = block_case(gpu, block);
  c.family = "ladder";
  c.name = "copy/" + c.name + "/" + variant;
  c.bar = {};
  c.open = [=] {
    const auto p = std::make_shared<BlockProblem>(gpu, block);
    return with_variant(gpu->ctx, GPUMEM_FAMILY_COPY, variant, open_block(p), [p] { return p->enqueue(); });
  };
  return c;
}

struct Rows {
  int64_t row_bytes, n;  // n: a power of two
  bool scatter;

  std::size_t bytes() const { return static_cast<std::size_t>(row_bytes * n); }
};

struct RowsProblem {
  GpuPtr gpu;
  Rows rows;
  void *src, *dst;
  DeviceBytes index;
  std::shared_ptr<DeviceBytes> expected;

  RowsProblem(const GpuPtr& g, const Rows& r)
      : gpu(g), rows(r), src(g->src(r.bytes())), dst(g->dst(r.bytes())), index(static_cast<std::size_t>(r.n) * 8) {
    generate_elements(src, static_cast<int64_t>(r.bytes() / 4), 4);
    shuffled_index(index.as<int64_t>(), r.n);
    expected = expected_bytes(
        r.bytes(), [&](void* p) { gather_simply(p, src, index.as<int64_t>(), r.n, r.row_bytes, r.scatter); });
  }
  gpumem_status enqueue() const {
    auto* status = static_cast<gpumem_status*>(gpu->result(0));
    const Rows& r = rows;
    if (r.scatter) {
      return gpumem_scatter_async(gpu->ctx.get(), r.row_bytes, src, r.row_bytes, GPUMEM_I64, index.as<void>(), r.n, dst,
                                  r.n, r.row_bytes, status, gpu->shared_stream);
    }
    return gpumem_gather_async(gpu->ctx.get(), r.row_bytes, src, r.n, r.row_bytes, GPUMEM_I64, index.as<void>(), r.n,
                               dst, r.row_bytes, status, gpu->shared_stream);
  }
};

// The index is read as well, twice: its range is looked at before a row is touched.
Case rows_case(const GpuPtr& gpu, const Rows& rows) {
  Case c = moved_case(rows.scatter ? "scatter" : "gather",
                      std::to_string(rows.n) + "x" + std::to_string(rows.row_bytes) + "B", "cudaMemcpyAsync",
                      2.0 * static_cast<double>(rows.bytes()), true);
  c.open = [=] {
    const auto p = std::make_shared<RowsProblem>(gpu, rows);
    return Pair{moved_side(
                    gpu, [p] { check(p->enqueue()); }, p->dst, rows.bytes(), p->expected->as(), true),
                memcpy_side(gpu, rows.bytes(), true)};
  };
  return c;
}

}  // namespace

void add_cuda_copy_rows(std::vector<Case>& cases, const GpuPtr& gpu) {
  constexpr int64_t moved = int64_t{256} << 20;
  constexpr int64_t most_rows = int64_t{1} << 20;  // the peer takes a second for more of the shortest ones
  for (const int64_t row : {4, 8, 16, 32, 64, 96, 128, 192, 256, 512, 1024, 4096, 65536}) {
    cases.push_back(block_case(gpu, {row, std::min(moved / row, most_rows), 1, 2 * row, row + 16}));
  }
  cases.push_back(block_case(gpu, {63, most_rows, 1, 97, 71}));
  cases.push_back(block_case(gpu, {1000, moved / 1000, 1, 1001, 1003}));
  cases.push_back(block_case(gpu, {30000, moved / 30000, 1, 30001, 32768}));
  for (const int64_t row : {32, 64, 128, 256, 1024, 4096}) {
    cases.push_back(block_case(gpu, {row, 64, std::min(moved / row, most_rows) / 64, row + 32, row + 64}));
  }
  for (const int64_t row : {16, 128, 1024}) {
    for (const std::string& variant : variant_names(GPUMEM_FAMILY_COPY)) {
      const Block block{row, std::min(moved / row, most_rows), 1, 2 * row, row + 16};
      cases.push_back(ladder_case(gpu, block, variant));
    }
  }
  for (const bool scatter : {false, true}) {
    for (const int64_t row : {4, 16, 64, 256, 1024, 4096}) {
      cases.push_back(rows_case(gpu, {row, moved / row, scatter}));
    }
  }
}

}  // namespace bench
