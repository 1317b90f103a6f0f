#include "fault/scenario.hpp"

#include <array>
#include <cstring>

#include "fault/tour.hpp"

namespace gpumem_test {
namespace {

constexpr int64_t kElements = 1 << 18;  // enough for the host backend to share out
constexpr int64_t kRows = 512, kCols = kElements / kRows;

std::array<int32_t, kElements> g_x, g_y;
std::array<int64_t, kRows> g_results;
std::array<char, 1 << 14> g_text;

void ignore(void*, gpumem_log_level, const char*) {}

class Scenario {
 public:
  explicit Scenario(const Setting& setting) noexcept : tour_(setting) {}

  Verdict run() noexcept {
    gpumem_ctx_options options;
    sound("gpumem_ctx_options_init", gpumem_ctx_options_init(&options, sizeof options));
    options.device = tour_.setting().device;
    options.debug_memory = tour_.setting().debug_memory;
    options.host_threads = 3;
    if (!good("gpumem_ctx_create", gpumem_ctx_create(&options, &ctx_))) {
      if (ctx_ != nullptr) tour_.wrong("gpumem_ctx_create: *ctx after a failure");
      return tour_.verdict();
    }
    sound("gpumem_ctx_set_log", gpumem_ctx_set_log(ctx_, ignore, nullptr));
    good("gpumem_ctx_warmup", gpumem_ctx_warmup(ctx_));
    allocate();
    operations();
    reductions();
    enqueued();
    run_families(tour_, ctx_);
    run_memory(tour_, ctx_);
    variants();
    mistakes();
    clean_up();
    return tour_.verdict();
  }

 private:
  bool good(const char* call, gpumem_status status, gpumem_status also = GPUMEM_OUT_OF_MEMORY) noexcept {
    return tour_.good(call, status, also);
  }
  void sound(const char* call, gpumem_status status) noexcept { tour_.sound(call, status); }

  void allocate() noexcept {
    constexpr const char* kNames[] = {"gpumem_alloc_pinned", "gpumem_alloc_device", "gpumem_alloc_managed"};
    constexpr gpumem_status (*kAllocate[])(gpumem_ctx*, int64_t, void**) = {gpumem_alloc_pinned, gpumem_alloc_device,
                                                                            gpumem_alloc_managed};
    for (size_t i = 0; i < 3; ++i) {
      blocks_[i] = &blocks_;
      const bool allocated = good(kNames[i], kAllocate[i](ctx_, kElements * 4, &blocks_[i]));
      if (!allocated && blocks_[i] != nullptr) tour_.wrong(kNames[i]);
    }
    gpumem_pointer_info info;
    sound("gpumem_pointer_info_init", gpumem_pointer_info_init(&info, sizeof info));
    good("gpumem_pointer_query", gpumem_pointer_query(ctx_, g_x.data(), &info));
    if (blocks_[2] != nullptr) {
      good("gpumem_managed_prefetch", gpumem_managed_prefetch(ctx_, blocks_[2], kElements, GPUMEM_DEVICE_HOST));
    }
  }

  void operations() noexcept {
    const int32_t three = 3;
    const bool filled = good("gpumem_fill", gpumem_fill(ctx_, g_x.data(), &three, 4, kElements));
    if (!filled) g_x.fill(3);
    int64_t sum = -1;
    const bool reduced = good("gpumem_reduce_i32", gpumem_reduce_i32(ctx_, GPUMEM_SUM, g_x.data(), kElements, 1, &sum));
    if (sum != (reduced ? 3 * kElements : -1)) tour_.wrong_result("gpumem_reduce_i32: the sum");
    int64_t squares = -1;
    const bool strided =
        good("gpumem_reduce_i32", gpumem_reduce_i32(ctx_, GPUMEM_SUM_SQUARES, g_x.data(), kElements / 2, 2, &squares));
    if (squares != (strided ? 9 * (kElements / 2) : -1)) tour_.wrong_result("gpumem_reduce_i32: the sum of squares");
    g_x[1] = 8;  // row 0, column 1
    const bool turned =
        good("gpumem_transpose", gpumem_transpose(ctx_, 4, kRows, kCols, g_x.data(), kCols, g_y.data(), kRows));
    if (turned && (g_y[kRows] != 8 || g_y[kElements - 1] != 3)) tour_.wrong_result("gpumem_transpose: the elements");
    static_assert(kRows == kCols, "a matrix that can be transposed in its place by swaps");
    const bool back = good("gpumem_transpose, in place",
                           gpumem_transpose(ctx_, 4, kCols, kRows, g_y.data(), kRows, g_y.data(), kCols));
    if (turned && g_y[back ? 1 : kRows] != 8) tour_.wrong_result("gpumem_transpose, in place: the elements");
    if (blocks_[0] == nullptr) return;
    if (good("gpumem_copy", gpumem_copy(ctx_, blocks_[0], g_x.data(), kElements * 4))) {
      if (std::memcmp(blocks_[0], g_x.data(), kElements * 4) != 0) tour_.wrong_result("gpumem_copy: the bytes");
    }
  }

  // Of other types, of places, of lines, and enqueued: g_x holds integers from 3 to 8 by now.
  void reductions() noexcept {
    const auto* const floats = reinterpret_cast<const float*>(g_y.data());
    const float half = 0.5f;
    const bool filled = good("gpumem_fill", gpumem_fill(ctx_, g_y.data(), &half, 4, kElements));
    double result = -1;
    const bool summed = good("gpumem_reduce_f32", gpumem_reduce_f32(ctx_, GPUMEM_SUM, floats, kElements, 1, &result));
    if (filled && result != (summed ? kElements / 2 : -1)) tour_.wrong_result("gpumem_reduce_f32: the sum");
    result = -1;
    const bool dot = good("gpumem_dot_f32", gpumem_dot_f32(ctx_, floats, floats, kElements / 2, 2, 2, &result));
    if (filled && result != (dot ? kElements / 8 : -1)) tour_.wrong_result("gpumem_dot_f32: the product");
    int64_t index = -1;
    g_x[kElements / 2] = 9;
    const bool found =
        good("gpumem_argreduce_i32", gpumem_argreduce_i32(ctx_, GPUMEM_MAX, g_x.data(), kElements, 1, nullptr, &index));
    if (index != (found ? kElements / 2 : -1)) tour_.wrong_result("gpumem_argreduce_i32: the index");
    for (const gpumem_axis axis : {GPUMEM_AXIS_ROWS, GPUMEM_AXIS_COLS}) {
      g_results.fill(-1);
      const bool reduced = good("gpumem_reduce_axis", gpumem_reduce_axis(ctx_, GPUMEM_I32, GPUMEM_MIN, axis, g_x.data(),
                                                                         kRows, kCols, kCols, 1, 0, g_results.data()));
      if (g_results[kRows - 1] != (reduced ? 3 : -1)) tour_.wrong_result("gpumem_reduce_axis: the minima");
    }
    const int64_t offsets[3] = {0, 10, kElements};
    g_results.fill(-1);
    const bool reduced =
        good("gpumem_reduce_segments",
             gpumem_reduce_segments(ctx_, GPUMEM_I32, GPUMEM_MAX, g_x.data(), kElements, offsets, 2, g_results.data()));
    if (g_results[1] != (reduced ? 9 : -1)) tour_.wrong_result("gpumem_reduce_segments: the maxima");
    reduce_enqueued(floats, filled);
  }

  // What was enqueued is done, or was refused. A device writes to memory that it can reach.
  void reduce_enqueued(const float* floats, bool filled) noexcept {
    struct Results {
      double norm, sum;
      gpumem_status status;
    };
    if (blocks_[0] == nullptr) return;
    auto& results = *static_cast<Results*>(blocks_[0]);
    results = {-1, -1, -1};
    const bool first =
        good("gpumem_nrm2_f32_async", gpumem_nrm2_f32_async(ctx_, floats, kElements, 1, &results.norm, nullptr));
    const bool second =
        good("gpumem_reduce_f32_async",
             gpumem_reduce_f32_async(ctx_, GPUMEM_MAX, floats, kElements, 1, &results.sum, &results.status, nullptr));
    const bool waited = good("gpumem_stream_synchronize", gpumem_stream_synchronize(ctx_, nullptr));
    if (!waited) good("gpumem_ctx_synchronize", gpumem_ctx_synchronize(ctx_));
    if (filled && results.norm != (first ? 256 : -1)) tour_.wrong_result("gpumem_nrm2_f32_async: the norm");
    if (filled && results.sum != (second ? 0.5 : -1)) tour_.wrong_result("gpumem_reduce_f32_async: the maximum");
    if (results.status != (second ? gpumem_status{GPUMEM_OK} : -1)) {
      tour_.wrong_result("gpumem_reduce_f32_async: the status word");
    }
  }

  void enqueued() noexcept {
    gpumem_stream* stream = nullptr;
    gpumem_stream* wrapped = nullptr;
    gpumem_event* event = nullptr;
    good("gpumem_stream_create", gpumem_stream_create(ctx_, &stream));
    good("gpumem_stream_wrap", gpumem_stream_wrap(ctx_, nullptr, &wrapped));
    good("gpumem_event_create", gpumem_event_create(ctx_, &event));
    const int32_t five = 5;
    const bool filled = good("gpumem_fill_async", gpumem_fill_async(ctx_, g_y.data(), &five, 4, kElements, stream));
    bool ordered = event != nullptr && good("gpumem_event_record", gpumem_event_record(ctx_, event, stream));
    ordered = ordered && good("gpumem_stream_wait_event", gpumem_stream_wait_event(ctx_, wrapped, event));
    g_x[kElements - 1] = 0;
    const bool copied =
        ordered && good("gpumem_copy_async", gpumem_copy_async(ctx_, g_x.data(), g_y.data(), kElements * 4, wrapped));
    const bool waited = ordered && good("gpumem_event_synchronize", gpumem_event_synchronize(event));
    double seconds = 0;
    if (waited) good("gpumem_event_elapsed", gpumem_event_elapsed(event, event, &seconds));
    void* native = nullptr;
    gpumem_device_info device;
    gpumem_device_info_init(&device, sizeof device);
    sound("gpumem_ctx_device", gpumem_ctx_device(ctx_, &device));
    const gpumem_status asked = gpumem_stream_native(ctx_, stream, &native);
    if (device.backend == GPUMEM_BACKEND_HOST) {
      tour_.mistake(GPUMEM_UNSUPPORTED, asked);
    } else {
      good("gpumem_stream_native", asked);
    }
    const gpumem_status passed = gpumem_stream_query(ctx_, nullptr);
    if (passed != GPUMEM_NOT_READY) good("gpumem_stream_query", passed);
    good("gpumem_ctx_status", gpumem_ctx_status(ctx_));
    if (!good("gpumem_ctx_synchronize", gpumem_ctx_synchronize(ctx_))) {
      sound("gpumem_ctx_synchronize", gpumem_ctx_synchronize(ctx_));
    }
    if (filled && g_y[kElements - 1] != 5) tour_.wrong_result("gpumem_fill_async: the pattern");
    if (g_x[kElements - 1] != (copied ? g_y[kElements - 1] : 0)) tour_.wrong_result("gpumem_copy_async: the bytes");
    sound("gpumem_event_destroy", gpumem_event_destroy(event));
    sound("gpumem_stream_destroy", gpumem_stream_destroy(wrapped));
    sound("gpumem_stream_destroy", gpumem_stream_destroy(stream));
  }

  void variants() noexcept {
    sound("gpumem_variant_force", gpumem_variant_force(ctx_, GPUMEM_FAMILY_REDUCE, nullptr));
    for (const gpumem_format format : {GPUMEM_FORMAT_TEXT, GPUMEM_FORMAT_JSON}) {
      good("gpumem_explain", gpumem_explain(ctx_, "reduce dtype=i32 op=sum n=1000 x=pageable", format, g_text.data(),
                                            g_text.size(), nullptr));
    }
    good("gpumem_last_problem", gpumem_last_problem(g_text.data(), g_text.size(), nullptr));
  }

  void mistakes() noexcept {
    tour_.mistake(GPUMEM_INVALID_ARGUMENT, gpumem_copy(ctx_, g_x.data(), g_y.data(), -1));
    tour_.mistake(GPUMEM_INVALID_POINTER, gpumem_free(ctx_, g_x.data()));
    tour_.mistake(GPUMEM_NOT_FOUND, gpumem_variant_force(ctx_, GPUMEM_FAMILY_REDUCE, "no_such_variant"));
  }

  // Giving back needs nothing: it works when everything has run out.
  void clean_up() noexcept {
    tour_.free(ctx_, blocks_[0]);
    tour_.free(ctx_, blocks_[1]);
    if (gpumem_ctx_destroy(ctx_) != GPUMEM_OK)
      tour_.wrong("gpumem_ctx_destroy");  // with the third block still there, if it ever was
  }

  Tour tour_;
  gpumem_ctx* ctx_ = nullptr;
  void* blocks_[3] = {};
};

}  // namespace

Verdict run_scenario(const Setting& setting) noexcept { return Scenario(setting).run(); }

}  // namespace gpumem_test
