// Conjugate gradients with the Laplacian of seven points on n x n x n cells, f64: the time of an iteration by our calls,
// and by two programs of a CUDA programmer in the same run.
//   blocking  Our calls with factors as values: two blocking dot products per iteration.
//   enqueued  Four asynchronous calls with factors in memory, without a graph.
//   chain     The same in a CUDA graph of ten iterations.
//   graph     The same, with the update of the solution on a branch of the graph.
//   cublas    cuBLAS with its scalars on the device, and a kernel for the operator, in a graph of ten.
//   fused     Three kernels that fuse all passes, and one for the scalars, in a graph of ten. Their sums use atomics.
// Each way begins with the same residual, and prints r.r after all iterations.
// usage: bench_cg [FILE.json]
#include <cublas_v2.h>
#include <gpumem.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

constexpr int kAtOnce = 10;
constexpr int kReplays = 20;
constexpr int kSamples = 7;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}
void check(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "%s\n", cublasGetStatusString(status));
  std::exit(1);
}
void check(gpumem_status status) {
  if (status == GPUMEM_OK) return;
  char text[512];
  gpumem_last_error(text, sizeof text, nullptr);
  std::fprintf(stderr, "%s: %s\n", gpumem_status_name(status), text);
  std::exit(1);
}

__device__ double laplacian(const double* p, size_t c, size_t m) {
  return 6 * p[c] - p[c - 1] - p[c + 1] - p[c - m] - p[c + m] - p[c - m * m] - p[c + m * m];
}

// The sum over a block, in its thread 0.
__device__ double block_sum(double v) {
  __shared__ double warps[32];
  for (int half = 16; half > 0; half /= 2) v += __shfl_xor_sync(~0u, v, half);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? warps[threadIdx.x] : 0;
  for (int half = 16; half > 0; half /= 2) v += __shfl_xor_sync(~0u, v, half);
  return v;
}

struct Scalars {
  double rr, pq, next, alpha, minus_alpha, beta, one;
};

// A block per row of cells.
__global__ void apply(const double* p, double* q, int n) {
  const size_t m = n + 2;
  const size_t row = ((blockIdx.y + 1) * m + blockIdx.x + 1) * m + 1;
  for (int i = threadIdx.x; i < n; i += blockDim.x) q[row + i] = laplacian(p, row + i, m);
}
__global__ void apply_and_dot(const double* p, double* q, int n, Scalars* s) {
  const size_t m = n + 2;
  const size_t row = ((blockIdx.y + 1) * m + blockIdx.x + 1) * m + 1;
  double sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    const double value = laplacian(p, row + i, m);
    q[row + i] = value;
    sum += value * p[row + i];
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) atomicAdd(&s->pq, sum);
}
__global__ void update_and_dot(double* x, double* r, const double* p, const double* q, size_t cells, Scalars* s) {
  const double alpha = s->rr / s->pq;
  double sum = 0;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < cells; i += size_t{gridDim.x} * blockDim.x) {
    x[i] += alpha * p[i];
    const double value = r[i] - alpha * q[i];
    r[i] = value;
    sum += value * value;
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) atomicAdd(&s->next, sum);
}
__global__ void turn(const double* r, double* p, size_t cells, const Scalars* s) {
  const double beta = s->next / s->rr;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < cells; i += size_t{gridDim.x} * blockDim.x) {
    p[i] = r[i] + beta * p[i];
  }
}
__global__ void keep(Scalars* s) { *s = {s->next, 0, 0, 0, 0, 0, 1}; }
__global__ void find_alpha(Scalars* s) {
  s->alpha = s->rr / s->pq;
  s->minus_alpha = -s->alpha;
}
__global__ void find_beta(Scalars* s) {
  s->beta = s->next / s->rr;
  s->rr = s->next;
}

class Solver {
 public:
  explicit Solver(int n) : n_(n), m_(n + 2), cells_(size_t{1} * m_ * m_ * m_), source_(cells_) {
    for (int k = 1; k <= n; ++k) {
      for (int j = 1; j <= n; ++j) {
        for (int i = 1; i <= n; ++i) source_[(size_t{1} * k * m_ + j) * m_ + i] = std::sin(0.1 * i) * j + k * 0.01;
      }
    }
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    for (double** grid : {&x_, &r_, &p_, &q_}) check(cudaMalloc(grid, cells_ * 8));
    check(cudaMalloc(&rr_, (kAtOnce + 2) * 8));
    check(cudaMalloc(&scalars_, sizeof *scalars_));
    check(gpumem_ctx_create(nullptr, &ctx_));
    check(gpumem_stream_wrap(ctx_, stream_, &wrapped_));
    check(cudaStreamCreateWithFlags(&second_, cudaStreamNonBlocking));
    check(gpumem_stream_wrap(ctx_, second_, &wrapped_second_));
    for (cudaEvent_t* event : {&product_, &solution_}) check(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    check(cublasCreate(&cublas_));
    check(cublasSetStream(cublas_, stream_));
    check(cublasSetPointerMode(cublas_, CUBLAS_POINTER_MODE_DEVICE));
  }
  ~Solver() {
    cublasDestroy(cublas_);
    gpumem_stream_destroy(wrapped_);
    gpumem_stream_destroy(wrapped_second_);
    gpumem_ctx_destroy(ctx_);
    for (double* memory : {x_, r_, p_, q_, rr_}) cudaFree(memory);
    cudaFree(scalars_);
    for (cudaStream_t stream : {stream_, second_}) cudaStreamDestroy(stream);
    for (cudaEvent_t event : {product_, solution_}) cudaEventDestroy(event);
  }
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  struct Time {
    double us;  // of an iteration
    double rr;  // after all of them
  };
  // `ten` makes ten iterations.
  Time measure(const std::function<void()>& ten, const std::function<double()>& residual) {
    std::vector<double> us;
    for (int sample = 0; sample <= kSamples; ++sample) {
      reset();
      const auto begin = std::chrono::steady_clock::now();
      for (int k = 0; k < kReplays; ++k) ten();
      check(cudaDeviceSynchronize());
      const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
      if (sample > 0) us.push_back(took.count() / (kReplays * kAtOnce));
    }
    std::nth_element(us.begin(), us.begin() + kSamples / 2, us.end());
    return {us[kSamples / 2], residual()};
  }
  Time in_graph(const std::function<void()>& ten, const std::function<double()>& residual) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    ten();
    check(cudaStreamEndCapture(stream_, &graph));
    check(cudaGraphInstantiate(&executable, graph, 0));
    const Time time = measure([&] { check(cudaGraphLaunch(executable, stream_)); }, residual);
    check(cudaGraphExecDestroy(executable));
    check(cudaGraphDestroy(graph));
    return time;
  }

  // On the context's own stream. Blocking calls wait for it.
  Time blocking() {
    double rr = 0;
    const auto ten = [&] {
      for (int k = 0; k < kAtOnce; ++k) {
        check(
            gpumem_lincomb_f64_async(ctx_, 3, inner(), 7, kLaplacian, around(), strides(), at(q_), strides(), nullptr));
        double pq, next;
        check(gpumem_dot_f64(ctx_, p_, q_, elements(), 1, 1, &pq));
        check(gpumem_axpby_f64_async(ctx_, rr / pq, p_, 1, x_, x_, elements(), nullptr));
        check(gpumem_axpby_f64_async(ctx_, -rr / pq, q_, 1, r_, r_, elements(), nullptr));
        check(gpumem_dot_f64(ctx_, r_, r_, elements(), 1, 1, &next));
        check(gpumem_axpby_f64_async(ctx_, 1, r_, next / rr, p_, p_, elements(), nullptr));
        rr = next;
      }
    };
    start_ = [&](double first) { rr = first; };
    const Time time = measure(ten, [&] { return rr; });
    start_ = nullptr;
    return time;
  }
  // branches: the solution is on a second stream, beside the residual.
  void iterate(bool branches) {
    static constexpr double kPlus[2] = {1, 1}, kMinus[2] = {1, -1};
    double* const pq = rr_ + kAtOnce + 1;
    for (int k = 0; k < kAtOnce; ++k) {
      const double* const old_rr[2] = {nullptr, rr_ + k};
      const double* const new_rr[2] = {nullptr, rr_ + k + 1};
      const double* const of_pq[2] = {nullptr, pq};
      const double* const xp[2] = {at(x_), at(p_)};
      const double* const rq[2] = {at(r_), at(q_)};
      const double* const rp[2] = {at(r_), at(p_)};
      const double* const w[1] = {at(p_)};
      const double* const itself[1] = {nullptr};
      check(gpumem_lincomb_dot_f64_async(ctx_, 3, inner(), 7, kLaplacian, nullptr, nullptr, around(), strides(), at(q_),
                                         strides(), 1, w, nullptr, pq, wrapped_));
      if (branches) {
        check(cudaEventRecord(product_, stream_));
        check(cudaStreamWaitEvent(second_, product_));
      }
      check(gpumem_lincomb_at_f64_async(ctx_, 3, inner(), 2, kPlus, old_rr, of_pq, xp, strides(), at(x_), strides(),
                                        branches ? wrapped_second_ : wrapped_));
      if (branches) check(cudaEventRecord(solution_, second_));
      check(gpumem_lincomb_dot_f64_async(ctx_, 3, inner(), 2, kMinus, old_rr, of_pq, rq, strides(), at(r_), strides(),
                                         1, itself, nullptr, rr_ + k + 1, wrapped_));
      if (branches) check(cudaStreamWaitEvent(stream_, solution_));
      check(gpumem_lincomb_at_f64_async(ctx_, 3, inner(), 2, kPlus, new_rr, old_rr, rp, strides(), at(p_), strides(),
                                        wrapped_));
    }
    check(gpumem_copy_async(ctx_, rr_, rr_ + kAtOnce, 8, wrapped_));
  }
  double residual() const { return value(rr_); }
  double scalar_residual() const { return value(&scalars_->rr); }
  void by_cublas() {
    const auto cells = static_cast<int>(cells_);
    for (int k = 0; k < kAtOnce; ++k) {
      apply<<<rows(), row_threads(), 0, stream_>>>(p_, q_, n_);
      check(cublasDdot(cublas_, cells, p_, 1, q_, 1, &scalars_->pq));
      find_alpha<<<1, 1, 0, stream_>>>(scalars_);
      check(cublasDaxpy(cublas_, cells, &scalars_->alpha, p_, 1, x_, 1));
      check(cublasDaxpy(cublas_, cells, &scalars_->minus_alpha, q_, 1, r_, 1));
      check(cublasDdot(cublas_, cells, r_, 1, r_, 1, &scalars_->next));
      find_beta<<<1, 1, 0, stream_>>>(scalars_);
      check(cublasDscal(cublas_, cells, &scalars_->beta, p_, 1));
      check(cublasDaxpy(cublas_, cells, &scalars_->one, r_, 1, p_, 1));
    }
  }
  void by_fused() {
    const unsigned blocks = static_cast<unsigned>(std::min<size_t>((cells_ + 255) / 256, 1056));
    for (int k = 0; k < kAtOnce; ++k) {
      apply_and_dot<<<rows(), row_threads(), 0, stream_>>>(p_, q_, n_, scalars_);
      update_and_dot<<<blocks, 256, 0, stream_>>>(x_, r_, p_, q_, cells_, scalars_);
      turn<<<blocks, 256, 0, stream_>>>(r_, p_, cells_, scalars_);
      keep<<<1, 1, 0, stream_>>>(scalars_);
    }
  }

 private:
  static constexpr double kLaplacian[7] = {6, -1, -1, -1, -1, -1, -1};

  void reset() {
    check(cudaMemset(x_, 0, cells_ * 8));
    check(cudaMemset(q_, 0, cells_ * 8));
    for (double* grid : {r_, p_}) check(cudaMemcpy(grid, source_.data(), cells_ * 8, cudaMemcpyHostToDevice));
    double rr;
    check(gpumem_dot_view_f64(ctx_, 3, inner(), at(r_), strides(), at(r_), strides(), &rr));
    check(cudaMemcpy(rr_, &rr, 8, cudaMemcpyHostToDevice));
    const Scalars scalars{rr, 0, 0, 0, 0, 0, 1};
    check(cudaMemcpy(scalars_, &scalars, sizeof scalars, cudaMemcpyHostToDevice));
    if (start_) start_(rr);
    check(cudaDeviceSynchronize());
  }
  static double value(const double* on_device) {
    double v;
    check(cudaMemcpy(&v, on_device, 8, cudaMemcpyDeviceToHost));
    return v;
  }
  int64_t elements() const { return static_cast<int64_t>(cells_); }
  double* at(double* grid) const { return grid + (size_t{1} * m_ + 1) * m_ + 1; }
  const int64_t* inner() {
    extents_.assign(3, n_);
    return extents_.data();
  }
  const int64_t* strides() {
    strides_.clear();
    for (int k = 0; k < 7; ++k) strides_.insert(strides_.end(), {int64_t{m_} * m_, m_, 1});
    return strides_.data();
  }
  const double* const* around() {
    const double* const p = at(p_);
    const std::ptrdiff_t m = m_;
    around_ = {p, p - m * m, p - m, p - 1, p + 1, p + m, p + m * m};
    return around_.data();
  }
  dim3 rows() const { return {static_cast<unsigned>(n_), static_cast<unsigned>(n_)}; }
  int row_threads() const { return std::min(256, (n_ + 31) / 32 * 32); }

  int n_;
  int m_;
  size_t cells_;
  std::vector<double> source_;
  std::vector<int64_t> extents_;
  std::vector<int64_t> strides_;
  std::vector<const double*> around_;
  cudaStream_t stream_ = nullptr;
  cudaStream_t second_ = nullptr;
  cudaEvent_t product_ = nullptr;
  cudaEvent_t solution_ = nullptr;
  double* x_ = nullptr;
  double* r_ = nullptr;
  double* p_ = nullptr;
  double* q_ = nullptr;
  double* rr_ = nullptr;
  Scalars* scalars_ = nullptr;
  gpumem_ctx* ctx_ = nullptr;
  gpumem_stream* wrapped_ = nullptr;
  gpumem_stream* wrapped_second_ = nullptr;
  cublasHandle_t cublas_ = nullptr;
  std::function<void(double)> start_;
};

}  // namespace

int main(int argc, char** argv) {
  std::FILE* const json = argc > 1 ? std::fopen(argv[1], "w") : nullptr;
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0));
  if (json != nullptr) std::fprintf(json, "{\"device\": \"%s\", \"rows\": [", properties.name);
  bool first = true;
  for (const int n : {32, 64, 128, 256}) {
    Solver solver(n);
    const auto ours = [&] { solver.iterate(false); };
    const auto branches = [&] { solver.iterate(true); };
    const auto residual = [&] { return solver.residual(); };
    const auto scalar = [&] { return solver.scalar_residual(); };
    const Solver::Time blocking = solver.blocking();
    const Solver::Time enqueued = solver.measure(ours, residual);
    const Solver::Time chain = solver.in_graph(ours, residual);
    const Solver::Time graph = solver.in_graph(branches, residual);
    const Solver::Time cublas = solver.in_graph([&] { solver.by_cublas(); }, scalar);
    const Solver::Time fused = solver.in_graph([&] { solver.by_fused(); }, scalar);
    std::printf(
        "%3d^3 blocking %7.1f enqueued %7.1f chain %7.1f graph %7.1f cublas %7.1f (%.2f) fused %7.1f (%.2f) us\n", n,
        blocking.us, enqueued.us, chain.us, graph.us, cublas.us, cublas.us / graph.us, fused.us, fused.us / graph.us);
    const bool same = enqueued.rr == graph.rr && enqueued.rr == chain.rr;
    std::printf("      r.r %.17g %.17g (%s in the graphs) %.6e %.6e\n", blocking.rr, enqueued.rr,
                same ? "the same" : "OTHERS", cublas.rr, fused.rr);
    if (json != nullptr) {
      std::fprintf(
          json,
          "%s\n  {\"n\": %d, \"blocking_us\": %.2f, \"enqueued_us\": %.2f, \"chain_us\": %.2f, \"graph_us\": %.2f, "
          "\"cublas_us\": %.2f, \"fused_us\": %.2f, \"same_bits\": %s}",
          first ? "" : ",", n, blocking.us, enqueued.us, chain.us, graph.us, cublas.us, fused.us,
          same ? "true" : "false");
    }
    first = false;
  }
  if (json != nullptr) {
    std::fprintf(json, "\n]}\n");
    std::fclose(json);
  }
  return 0;
}
