// Arrays over two GPUs of this process, compared with NCCL's grouped send and receive by the host's clock. Our calls
// block; the baseline enqueues on a stream of each device and waits for both.
#include <dlfcn.h>

#include <array>

#include "cuda/cuda_cases.hpp"
#include "cuda/kernels.hpp"
#include "measure/host_clock.hpp"

namespace bench {
namespace {

constexpr int kGpus = 2;
constexpr int64_t kMiB = int64_t{1} << 20;

// NCCL, loaded at run time; names and numbers are from its nccl.h.
class Nccl {
 public:
  Nccl() {
    void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw Skip("there is no libnccl.so.2");
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (function == nullptr) throw Skip(std::string("libnccl.so.2 has no ") + name);
    };
    int (*init_all)(void**, int, const int*) = nullptr;
    find(init_all, "ncclCommInitAll");
    find(destroy_, "ncclCommDestroy");
    find(group_start_, "ncclGroupStart");
    find(group_end_, "ncclGroupEnd");
    find(send_, "ncclSend");
    find(recv_, "ncclRecv");
    require(init_all(comms_.data(), kGpus, nullptr));
  }
  ~Nccl() {
    for (void* comm : comms_) destroy_(comm);
  }
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  void exchange(const std::array<void*, kGpus>& from, const std::array<void*, kGpus>& to, int64_t bytes,
                const std::array<cudaStream_t, kGpus>& streams) const {
    constexpr int kBytes = 0;  // ncclInt8
    require(group_start_());
    for (size_t d = 0; d < kGpus; ++d) {
      const int other = 1 - static_cast<int>(d);
      require(send_(from[d], static_cast<size_t>(bytes), kBytes, other, comms_[d], streams[d]));
      require(recv_(to[d], static_cast<size_t>(bytes), kBytes, other, comms_[d], streams[d]));
    }
    require(group_end_());
  }

 private:
  static void require(int result) {
    if (result != 0) throw std::runtime_error("NCCL failed: ncclResult_t " + std::to_string(result));
  }

  std::array<void*, kGpus> comms_{};
  int (*destroy_)(void*) = nullptr;
  int (*group_start_)() = nullptr;
  int (*group_end_)() = nullptr;
  int (*send_)(const void*, size_t, int, int, void*, cudaStream_t) = nullptr;
  int (*recv_)(void*, size_t, int, int, void*, cudaStream_t) = nullptr;
};

class OnDevice {
 public:
  explicit OnDevice(int device) {
    check_cuda(cudaGetDevice(&before_));
    check_cuda(cudaSetDevice(device));
  }
  ~OnDevice() { cudaSetDevice(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
};

template <class Work>
void on_each(const Work& work) {
  for (size_t d = 0; d < kGpus; ++d) {
    const OnDevice current(static_cast<int>(d));
    work(d);
  }
}

struct Gpus {
  std::array<Context, kGpus> contexts;
  std::array<gpumem_ctx*, kGpus> members{};
  std::array<cudaStream_t, kGpus> streams{};
  gpumem_dist* dist = nullptr;
  std::unique_ptr<Nccl> nccl;

  Gpus() {
    int count = 0;
    check_cuda(cudaGetDeviceCount(&count));
    if (count < kGpus) throw Skip("it takes two devices");
    nccl = std::make_unique<Nccl>();
    on_each([&](size_t d) {
      contexts[d] = make_context(static_cast<int32_t>(d));
      members[d] = contexts[d].get();
      check_cuda(cudaStreamCreateWithFlags(&streams[d], cudaStreamNonBlocking));
    });
    gpumem_dist_options options;
    check(gpumem_dist_options_init(&options, sizeof options));
    options.contexts = members.data();
    options.members = kGpus;
    check(gpumem_dist_create(&options, &dist));
    gpumem_dist_info info;
    check(gpumem_dist_info_init(&info, sizeof info));
    check(gpumem_dist_query(dist, &info));
    if (info.staged_pairs != 0) throw Skip("the devices don't read each other's memory");
  }
  ~Gpus() {
    gpumem_dist_destroy(dist);
    on_each([&](size_t d) { cudaStreamDestroy(streams[d]); });
  }
  Gpus(const Gpus&) = delete;
  Gpus& operator=(const Gpus&) = delete;

  void wait() const {
    for (const cudaStream_t stream : streams) check_cuda(cudaStreamSynchronize(stream));
  }
};
using GpusPtr = std::shared_ptr<Gpus>;

class OnBoth {
 public:
  OnBoth(GpusPtr gpus, int64_t bytes) : gpus_(std::move(gpus)) {
    for (size_t d = 0; d < kGpus; ++d) check(gpumem_alloc_device(gpus_->members[d], bytes, &p[d]));
  }
  ~OnBoth() {
    for (size_t d = 0; d < kGpus; ++d) gpumem_free(gpus_->members[d], p[d]);
  }
  OnBoth(const OnBoth&) = delete;
  OnBoth& operator=(const OnBoth&) = delete;

  std::array<void*, kGpus> p{};

 private:
  GpusPtr gpus_;
};

// Two subarrays of an array, one per participant, cut along an axis.
struct Halves {
  std::vector<int64_t> extents, lower, upper, strides;
  std::array<int64_t, kGpus> offsets{};
  gpumem_dist_layout raw;

  // margin: elements around each subarray along the cut axis; the strides leave space for them.
  Halves(std::vector<int64_t> of, size_t axis, int64_t element_bytes, int64_t margin = 0)
      : extents(std::move(of)), lower(kGpus * extents.size(), 0), strides(lower.size()) {
    for (size_t m = 0; m < kGpus; ++m) upper.insert(upper.end(), extents.begin(), extents.end());
    const int64_t half = (extents[axis] + 1) / 2;
    upper[axis] = lower[extents.size() + axis] = half;
    for (size_t m = 0; m < kGpus; ++m) {
      int64_t stride = 1;
      for (size_t d = extents.size(); d-- > 0;) {
        const size_t at = m * extents.size() + d;
        strides[at] = stride;
        if (d == axis) offsets[m] = margin * stride;
        stride *= upper[at] - lower[at] + (d == axis ? 2 * margin : 0);
      }
    }
    check(gpumem_dist_layout_init(&raw, sizeof raw));
    raw.element_bytes = element_bytes;
    raw.rank = static_cast<int32_t>(extents.size());
    raw.extents = extents.data();
    raw.boxes = kGpus;
    raw.lower = lower.data();
    raw.upper = upper.data();
    raw.offsets = offsets.data();
    raw.strides = strides.data();
  }
  Halves(const Halves&) = delete;
  Halves& operator=(const Halves&) = delete;

  int64_t room(size_t m) const { return strides[m * extents.size()] * (first_extent(m) + margin_rows(m)); }
  int64_t first_extent(size_t m) const { return upper[m * extents.size()] - lower[m * extents.size()]; }

 private:
  int64_t margin_rows(size_t m) const { return offsets[m] == 0 ? 0 : 2 * (offsets[m] / strides[m * extents.size()]); }
};

const void* const* as_sources(const std::array<void*, kGpus>& p) { return p.data(); }

struct PlanOf {
  explicit PlanOf(gpumem_dist_plan* made) : raw(made) {}
  ~PlanOf() { gpumem_dist_plan_destroy(raw); }
  PlanOf(const PlanOf&) = delete;
  PlanOf& operator=(const PlanOf&) = delete;
  gpumem_dist_plan* raw;
};

struct SlabTranspose {
  GpusPtr gpus;
  int64_t rows, cols, element_bytes;
  OnBoth whole, expected, dst;  // on each device: the whole matrix and its transpose, and the participant's slab
  Halves from, to;
  std::unique_ptr<PlanOf> plan;
  std::array<void*, kGpus> src{};

  SlabTranspose(const GpusPtr& g, int64_t r, int64_t c, int64_t bytes)
      : gpus(g),
        rows(r),
        cols(c),
        element_bytes(bytes),
        whole(g, r * c * bytes),
        expected(g, r * c * bytes),
        dst(g, (c + 1) / 2 * r * bytes),
        from({r, c}, 0, bytes),
        to({c, r}, 0, bytes) {
    on_each([&](size_t d) {
      write_contents(whole.p[d], rows * cols * element_bytes, elements(element_bytes));
      Axes axes{.element_bytes = static_cast<int>(element_bytes)};
      axes.add(cols, 1, rows);
      axes.add(rows, cols, 1);
      move_plainly(expected.p[d], whole.p[d], axes);
      src[d] = static_cast<char*>(whole.p[d]) + from.lower[d * 2] * cols * element_bytes;
    });
    const int32_t order[] = {1, 0};
    gpumem_dist_plan* made = nullptr;
    check(gpumem_dist_plan_redistribute(gpus->dist, &from.raw, &to.raw, order, nullptr, &made));
    plan = std::make_unique<PlanOf>(made);
  }

  int64_t slab_bytes(size_t m) const { return to.first_extent(m) * rows * element_bytes; }
  void poison() const {
    on_each([&](size_t d) {
      check_cuda(cudaMemset(dst.p[d], kSpoiled, static_cast<size_t>(slab_bytes(d))));
      check_cuda(cudaDeviceSynchronize());
    });
  }
  std::string verify() const {
    int64_t wrong = 0;
    on_each([&](size_t d) {
      const char* const right = static_cast<const char*>(expected.p[d]) + to.lower[d * 2] * rows * element_bytes;
      wrong += count_different(dst.p[d], right, slab_bytes(d));
    });
    return wrong_count(wrong);
  }
};

Side side(std::function<void()> call) { return {host_sampler(std::move(call), {}), {}, {}}; }

Side transposing(const std::shared_ptr<SlabTranspose>& t, std::function<void()> call) {
  return {host_sampler(std::move(call), {}), [t] { t->poison(); }, [t] { return t->verify(); }};
}

Side our_transpose(const std::shared_ptr<SlabTranspose>& t) {
  return transposing(t, [t] { check(gpumem_dist_execute(t->plan->raw, as_sources(t->src), t->dst.p.data())); });
}

// Only the bytes that must cross.
Side wire(const GpusPtr& gpus, int64_t bytes) {
  const auto from = std::make_shared<OnBoth>(gpus, bytes);
  const auto to = std::make_shared<OnBoth>(gpus, bytes);
  return side([=] {
    gpus->nccl->exchange(from->p, to->p, bytes, gpus->streams);
    gpus->wait();
  });
}

// The work of a program around an all-to-all: transposes each slab, exchanges blocks, and joins their rows.
Side by_hand(const std::shared_ptr<SlabTranspose>& t) {
  const int64_t bytes = t->slab_bytes(0);
  const auto turned = std::make_shared<OnBoth>(t->gpus, bytes);
  const auto arrived = std::make_shared<OnBoth>(t->gpus, bytes);
  std::array<gpumem_stream*, kGpus> streams{};
  for (size_t d = 0; d < kGpus; ++d) check(gpumem_stream_wrap(t->gpus->members[d], t->gpus->streams[d], &streams[d]));
  const auto wrapped = std::shared_ptr<void>(nullptr, [streams](void*) {
    for (gpumem_stream* stream : streams) gpumem_stream_destroy(stream);
  });
  const int64_t half_rows = t->rows / 2;
  const int64_t half_cols = t->cols / 2;
  const int64_t width = half_rows * t->element_bytes;
  const auto call = [=, keep = wrapped] {
    for (size_t d = 0; d < kGpus; ++d) {
      check(gpumem_transpose_async(t->gpus->members[d], t->element_bytes, half_rows, t->cols, t->src[d], t->cols,
                                   turned->p[d], half_rows, streams[d]));
    }
    std::array<void*, kGpus> from{};
    for (size_t d = 0; d < kGpus; ++d) {
      from[d] = static_cast<char*>(turned->p[d]) + static_cast<int64_t>(1 - d) * half_cols * width;
    }
    t->gpus->nccl->exchange(from, arrived->p, half_cols * width, t->gpus->streams);
    on_each([&](size_t d) {
      const auto copy = [&](size_t member, const void* block) {
        check_cuda(cudaMemcpy2DAsync(static_cast<char*>(t->dst.p[d]) + static_cast<int64_t>(member) * width,
                                     static_cast<size_t>(2 * width), block, static_cast<size_t>(width),
                                     static_cast<size_t>(width), static_cast<size_t>(half_cols), cudaMemcpyDefault,
                                     t->gpus->streams[d]));
      };
      copy(d, static_cast<const char*>(turned->p[d]) + static_cast<int64_t>(d) * half_cols * width);
      copy(1 - d, arrived->p[d]);
    });
    t->gpus->wait();
  };
  return transposing(t, call);
}

Case dist_case(const std::string& name, const std::string& peer, Bar bar, double bytes, std::function<Pair()> open) {
  return {"dist", name, peer, bar, bytes, Ceiling::none, 1, false, false, std::move(open)};
}

using Open = std::function<GpusPtr()>;

void add_transposes(std::vector<Case>& cases, const Open& gpus) {
  struct Sized {
    int64_t mib, rows, cols, element_bytes;
  };
  constexpr Sized kSized[] = {{128, 8192, 8192, 4},    {256, 8192, 16384, 4},   {512, 16384, 16384, 4},
                              {1024, 16384, 32768, 4}, {2048, 32768, 32768, 4}, {4096, 32768, 65536, 4},
                              {128, 8192, 4096, 8},    {512, 16384, 8192, 8},   {1024, 16384, 16384, 8},
                              {4096, 32768, 32768, 8}};
  for (const Sized& s : kSized) {
    const std::string name =
        std::string("slab_transpose/") + (s.element_bytes == 4 ? "f32/" : "f64/") + std::to_string(s.mib) + "MiB";
    const double bar = s.mib <= 256 ? 1.15 : s.mib <= 1024 ? 1.05 : 1.0;
    const double bytes = 2.0 * static_cast<double>(s.mib * kMiB);
    const int64_t crosses = s.mib * kMiB / 2;
    cases.push_back(dist_case(name, "ncclSend+ncclRecv", at_least(bar), bytes, [=] {
      const GpusPtr both = gpus();
      const auto t = std::make_shared<SlabTranspose>(both, s.rows, s.cols, s.element_bytes);
      return Pair{our_transpose(t), wire(both, crosses)};
    }));
    if (s.mib > 1024) continue;
    cases.push_back(dist_case(name, "transpose+NCCL+copy", at_least(1.25), bytes, [=] {
      const auto t = std::make_shared<SlabTranspose>(gpus(), s.rows, s.cols, s.element_bytes);
      return Pair{our_transpose(t), by_hand(t)};
    }));
  }
  cases.push_back(
      dist_case("slab_transpose/f32/10007x10007", "10008x10008", at_least(0.9), 2.0 * 10007 * 10007 * 4, [=] {
        const GpusPtr both = gpus();
        return Pair{our_transpose(std::make_shared<SlabTranspose>(both, 10007, 10007, 4)),
                    our_transpose(std::make_shared<SlabTranspose>(both, 10008, 10008, 4))};
      }));
}

// Two neighbouring subarrays of 512 x 512 x 512 along an axis, whose ends meet.
Pair open_halo(const GpusPtr& both, size_t axis, int64_t side_length, int64_t halo, int64_t crosses) {
  std::vector<int64_t> extents(3, side_length);
  extents[axis] *= 2;
  const auto layout = std::make_shared<Halves>(extents, axis, 4, halo);
  const auto memory = std::make_shared<OnBoth>(both, layout->room(0) * 4);
  std::array<int64_t, 3> width{};
  std::array<int32_t, 3> periodic{};
  width[axis] = halo;
  periodic[axis] = 1;
  gpumem_dist_plan* made = nullptr;
  check(gpumem_dist_plan_halo(both->dist, &layout->raw, width.data(), width.data(), periodic.data(), nullptr, &made));
  const auto plan = std::make_shared<PlanOf>(made);
  return {side([=, keep = layout] { check(gpumem_dist_execute(plan->raw, as_sources(memory->p), nullptr)); }),
          wire(both, crosses)};
}

void add_halos(std::vector<Case>& cases, const Open& gpus) {
  constexpr int64_t kSide = 512, kWidth = 2;
  constexpr int64_t kCrosses = 2 * kWidth * kSide * kSide * 4;
  const char* const names[] = {"x", "y", "z"};
  for (size_t axis = 0; axis < 3; ++axis) {
    cases.push_back(dist_case(std::string("halo/f32/512^3/") + names[axis], "ncclSend+ncclRecv", at_least(0.9),
                              4.0 * static_cast<double>(kCrosses),
                              [=] { return open_halo(gpus(), axis, kSide, kWidth, kCrosses); }));
  }
}

void add_sums(std::vector<Case>& cases, const Open& gpus) {
  for (const int log2 : {10, 20, 30}) {
    const int64_t n = int64_t{1} << log2;
    const Bar bar = log2 == 10 ? at_most_added_us(100) : log2 == 30 ? at_least(0.95) : Bar{};
    cases.push_back(
        dist_case("sum/f32/" + power_name(log2), "gpumem_reduce of one part", bar, 8.0 * static_cast<double>(n), [=] {
          const GpusPtr both = gpus();
          const auto x = std::make_shared<OnBoth>(both, n * 4);
          on_each([&](size_t d) { write_contents(x->p[d], n * 4, elements(4)); });
          const auto layout = std::make_shared<Halves>(std::vector<int64_t>{2 * n}, 0, 4);
          gpumem_dist_plan* made = nullptr;
          check(gpumem_dist_plan_reduce(both->dist, &layout->raw, nullptr, &made));
          const auto plan = std::make_shared<PlanOf>(made);
          const auto sum = std::make_shared<double>();
          return Pair{
              side([=] { check(gpumem_dist_reduce(plan->raw, GPUMEM_F32, GPUMEM_SUM, as_sources(x->p), sum.get())); }),
              side([=] { check(gpumem_reduce(both->members[0], GPUMEM_F32, GPUMEM_SUM, x->p[0], n, 1, sum.get())); })};
        }));
  }
}

}  // namespace

// Opened once, by the first case.
void add_cuda_dist(std::vector<Case>& cases) {
  const auto opened = std::make_shared<GpusPtr>();
  const Open gpus = [opened] {
    if (*opened == nullptr) *opened = std::make_shared<Gpus>();
    return *opened;
  };
  add_transposes(cases, gpus);
  add_halos(cases, gpus);
  add_sums(cases, gpus);
}

}  // namespace bench
