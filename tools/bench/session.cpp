#include "bench/session.hpp"

#include <algorithm>

#include "device.hpp"
#include "failure.hpp"
#include "interrupted.hpp"
#include "measure/host_clock.hpp"
#include "measure/machine.hpp"
#include "measure/statistics.hpp"

namespace tool {
namespace {

constexpr int kFewestSamples = 5;
constexpr int64_t kUnknownCache = 64 << 20;

measure::Machine machine_of(gpumem_ctx* ctx, gpumem_ctx* host) {
  const gpumem_device_info info = device_of(ctx);
  const bool on_host = info.backend == GPUMEM_BACKEND_HOST;
  measure::Machine machine;
  machine.program = "gpumem";
  machine.version = library_version();
  machine.device = on_host ? "host: " + std::string(info.name) : info.name;
  machine.driver = on_host ? "" : measure::driver_release();
  machine.cpu = measure::cpu_name();
  machine.threads = device_of(host).multiprocessors;
  machine.date = measure::utc_now();
  machine.commit = measure::commit();
  return machine;
}

}  // namespace

Session::Session(int32_t device, int samples, bool quick)
    : ctx_(create_context(device)), reference_(create_context(GPUMEM_DEVICE_HOST)), quick_(quick), samples_(samples) {
  check(gpumem_ctx_warmup(ctx()), "warming up");
  const gpumem_device_info info = device_of(ctx());
  device_ = info.device;
  on_device_ = info.backend != GPUMEM_BACKEND_HOST;
  cached_bytes_ = 2 * (info.l2_bytes > 0 ? info.l2_bytes : kUnknownCache);
  results_.machine = machine_of(ctx(), reference());
  results_.quick = quick;
  if (!on_device_) return;
  const int64_t bytes =
      quick ? 1 << 20 : std::min(std::max<int64_t>(256 << 20, 2 * cached_bytes_), info.memory_bytes / 32);
  prepare_emptying(bytes);
}

void Session::prepare_emptying(int64_t bytes) {
  void* native = nullptr;
  gpumem_stream* stream = nullptr;
  emptying_ = create_context(device_);
  check(gpumem_stream_native(ctx(), nullptr, &native), "asking for the context's stream");
  check(gpumem_stream_wrap(emptying_.get(), native, &stream), "wrapping the context's stream");
  emptying_stream_.reset(stream);
  read_ = std::make_shared<Operand>(emptying_.get(), "device", bytes, 0);
  found_ = std::make_shared<Operand>(emptying_.get(), "device", 8, 0);
  read_->fill(1);
}

void Session::measure_ceilings() { results_.ceilings = ceilings_of(ctx()); }

double Session::ceiling(Limit limit) const {
  switch (limit) {
    case Limit::read:
      return results_.ceilings.read;
    case Limit::write:
      return results_.ceilings.write;
    case Limit::copy:
      return results_.ceilings.copy;
    case Limit::to_device:
      return results_.ceilings.to_device;
    case Limit::from_device:
      return results_.ceilings.from_device;
    case Limit::none:
      break;
  }
  return 0;
}

// Empties the cache by reads, because dirty lines would be written back during the call and use bandwidth.
double Session::time_by_events(const std::function<void()>& enqueue) {
  const Event start = create_event(ctx());
  const Event end = create_event(ctx());
  check(gpumem_reduce_async(emptying_.get(), GPUMEM_U8, GPUMEM_MAX, read_->get(), read_->bytes(), 1, found_->get(),
                            nullptr, emptying_stream_.get()),
        "emptying the device's cache");
  check(gpumem_event_record(ctx(), start.get(), nullptr), "recording an event");
  enqueue();
  check(gpumem_event_record(ctx(), end.get(), nullptr), "recording an event");
  check(gpumem_event_synchronize(end.get()), "waiting for an event");
  double seconds = 0;
  check(gpumem_event_elapsed(start.get(), end.get(), &seconds), "reading the time between two events");
  return seconds;
}

void Session::take(Row& row, const std::function<double()>& sample, Limit limit) {
  const std::vector<double> seconds = measure::take_samples(
      [&] {
        stop_if_interrupted();
        return sample();
      },
      std::min(kFewestSamples, samples_), samples_);
  const measure::Summary summary = measure::summary(seconds);
  row.samples = summary.samples;
  row.median_us = summary.median * 1e6;
  row.q1_us = summary.q1 * 1e6;
  row.q3_us = summary.q3 * 1e6;
  if (row.bytes == 0) return;
  row.gbs = static_cast<double>(row.bytes) / summary.median / 1e9;
  const double most = ceiling(limit);
  // With the host's clock, data may stay in a cache from the last call. PCIe and NVLink have no cache.
  const bool over_link = limit == Limit::to_device || limit == Limit::from_device;
  const bool uncached = over_link || row.timer == "events" || row.bytes > cached_bytes_;
  if (most <= 0) return;
  if (uncached) {
    row.of_ceiling = row.gbs * 1e9 / most;
  } else {
    results_.cached_bytes = cached_bytes_;
  }
}

Subject::Subject(Session& session, const std::string& line, const Kinds& kinds)
    : session_(session),
      line_(with_operands(line)),
      problem_(explained(session.ctx(), line_).line),
      instance_(make_instance(session.ctx(), problem_, Place::as_given, kinds)) {}

Row Subject::measured(const std::string& variant, Timer timer) {
  const Forced forced(session_.ctx(), family_of(problem_.family()), variant);
  const Explained choice = explained(session_.ctx(), line_);
  const bool async = timer == Timer::automatic && instance_.device_only && choice.on_device;
  Row row;
  row.problem = choice.line;
  row.variant = choice.variant;
  row.chosen_by = choice.chosen_by;
  row.timer = async ? "events" : "host";
  row.bytes = instance_.bytes;
  const auto call = [&] { check(instance_.call(async), "running '" + choice.line + "'"); };
  row.verified = right(async);  // loads kernels, and touches every page
  if (async) {
    session_.take(
        row, [&] { return session_.time_by_events(call); }, instance_.limit);
  } else {
    constexpr double kLongSeconds = 2e-3;  // longer calls are a sample each
    const auto once = measure::one_call_sampler(call);
    session_.take(row, once() < kLongSeconds ? measure::host_sampler(call, {}) : once, instance_.limit);
  }
  row.verified = *row.verified && right(async);
  return row;
}

// The host backend's result. If the host is measured, its plainest implementation that fits.
void Subject::make_reference() {
  gpumem_ctx* const host = session_.reference();
  const gpumem_family family = family_of(problem_.family());
  reference_ = make_instance(host, problem_, Place::host);
  stop_if_interrupted();
  reference_->reset();
  const std::vector<const char*> variants = variants_of(family);
  for (std::size_t i = variants.size(); i-- > 0 && !session_.on_device();) {
    const Forced forced(host, family, variants[i]);
    const gpumem_status status = reference_->call(false);
    if (status == GPUMEM_UNSUPPORTED) continue;
    return check(status, "working out the reference");
  }
  check(reference_->call(false), "working out the reference");
}

bool Subject::right(bool async) {
  stop_if_interrupted();  // each part takes seconds for large operands
  if (!reference_) make_reference();
  stop_if_interrupted();
  instance_.reset();
  check(instance_.call(async), "checking '" + line_ + "'");
  check(gpumem_ctx_synchronize(session_.ctx()), "waiting for the device");
  return instance_.output->same_as(*reference_->output);
}

}  // namespace tool
