#include "cuda/run.hpp"

#include <utility>

#include "cuda/kernels.hpp"

namespace bench {
namespace {

// The expected result comes from the host backend, which the tests compare with exact values.
void write_by_host(const Run& r, void* to) {
  const Context host = make_context(GPUMEM_DEVICE_HOST);
  const tool::Instance there = make_instance(host.get(), r.problem, tool::Place::host);
  there.reset();
  check(there.call(false));
  check_cuda(cudaMemcpy(to, there.output->get(), r.output_bytes(), cudaMemcpyHostToDevice));
}

void write_expected(const Run& r, void* to) {
  const std::string& family = r.problem.family();
  const bool by_host = family == "convert" || family == "resize" || family == "map" || family == "scan" ||
                       family == "sort" || family == "select" || family == "reduce_by_index";
  if (by_host) return write_by_host(r, to);
  if (family == "fill") {
    const tool::Pattern pattern = tool::fill_pattern(r.number("uniform", 0) != 0);
    return fill_plainly(to, r.instance.output->bytes(), pattern, r.number("bytes"));
  }
  if (family == "axpby") {  // the factors of make_axpby()
    const bool in_place = r.problem.text("z") == "y";
    return axpby_plainly(r.problem.dtype(), in_place ? 0.5 : 1, r.at("x"), in_place ? 1 : 0.5, r.at("y"), to,
                         r.number("n"));
  }
  if (family == "gather" || family == "scatter") {
    return index_plainly(to, r.at("src"), r.at<int64_t>("index"), r.number("n"), r.number("row_bytes"),
                         family == "scatter");
  }
  move_plainly(to, r.on_device(*r.instance.operands.at("src")), axes_of(r.problem));
}

}  // namespace

Run::Run(GpuPtr on, const std::string& line) : gpu(std::move(on)), problem(line) {
  Gpu::Room room;
  instance = make_instance(gpu->ctx.get(), problem, tool::Place::as_given, {},
                           [&](const std::string& key, const std::string& kind, int64_t bytes, int64_t misaligned) {
                             return gpu->operand(room, key, kind, bytes, misaligned);
                           });
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total));
  if (output_bytes() > free) throw Skip("there is no memory for what is expected");
  expected = std::make_shared<DeviceBytes>(output_bytes());
  check_cuda(cudaMemset(expected->as(), kSpoiled, output_bytes()));
  write_expected(*this, expected->as());
  check_cuda(cudaDeviceSynchronize());
}

gpumem_status Run::enqueue() const {
  const bool has_index = instance.operands.count("index") > 0;
  return instance.call({gpu->shared_stream, has_index ? gpu->status() : nullptr});
}

std::string Run::verify() const {
  return wrong_count(count_different(on_device(*instance.output), expected->as(), instance.output->bytes()));
}

std::string Run::verify_copied() const {
  const void* const src = on_device(*instance.operands.at("src"));
  return wrong_count(count_different(on_device(*instance.output), src, instance.output->bytes()));
}

const void* Run::on_device(const tool::Operand& operand) const {
  if (!operand.on_host()) return operand.get();
  const auto bytes = static_cast<std::size_t>(operand.bytes());
  void* const copy = &operand == instance.output.get() ? gpu->dst(bytes) : gpu->src(bytes);
  check_cuda(cudaMemcpy(copy, operand.get(), bytes, cudaMemcpyDefault));
  return copy;
}

Side run_side(const RunPtr& run, std::function<void()> enqueue, const Gated& how) {
  return {run->gpu->device_time(std::move(enqueue), how), [run] { run->instance.reset(); },
          [run] { return run->verify(); }};
}

Side our_side(const RunPtr& run, const Gated& how) {
  return run_side(
      run, [run] { check(run->enqueue()); }, how);
}

Side memcpy_side(const GpuPtr& gpu, std::size_t bytes, bool cold) {
  void *src = gpu->src(bytes), *dst = gpu->dst(bytes);
  const auto copy = [=] {
    check_cuda(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDeviceToDevice, gpu->peer_stream.get()));
  };
  return {gpu->device_time(copy, gpu->one_stream(cold)), [dst, bytes] { check_cuda(cudaMemset(dst, kSpoiled, bytes)); },
          [=] { return wrong_count(count_different(dst, src, static_cast<int64_t>(bytes))); }};
}

Peer by_call(std::function<void(const Run& run)> enqueue) {
  return [enqueue = std::move(enqueue)](const RunPtr& run, bool cold) {
    return run_side(
        run, [run, enqueue] { enqueue(*run); }, run->gpu->one_stream(cold));
  };
}

Peer by_memcpy(std::size_t bytes) {
  return [bytes](const RunPtr& run, bool cold) {
    return memcpy_side(run->gpu, bytes != 0 ? bytes : static_cast<std::size_t>(run->instance.bytes / 2), cold);
  };
}

bool cacheable(double bytes) { return bytes <= 8.0 * static_cast<double>(kCacheableElements); }

Case& Lines::add(const Line& line, bool cold) const {
  Case c;
  c.family = line.family;
  c.name = line.name + (line.cacheable ? (cold ? "/cold" : "/warm") : "");
  c.peer = line.peer_name;
  c.bar = line.bar;
  c.bytes = line.bytes > 0 ? line.bytes : static_cast<double>(counted_bytes(Problem(line.line)));
  if (cold || !line.cacheable) c.ceiling = line.ceiling;
  c.quick = line.quick;
  c.device_timed = true;
  c.open = [gpu = gpu_, line, cold] {
    const auto run = std::make_shared<Run>(gpu, line.line);
    return Pair{our_side(run, gpu->one_stream(cold)), line.peer ? line.peer(run, cold) : Side{}};
  };
  return cases_.emplace_back(std::move(c));
}

void Lines::add_warm_and_cold(const Line& line) const {
  if (line.cacheable) add(line, false);
  add(line, true);
}

void Lines::add_ladder(const Line& line, bool cold, const std::string& unchecked) const {
  add(line, cold);
  Case base = std::move(cases_.back());
  cases_.pop_back();
  const std::string family = line.line.substr(0, line.line.find(' '));
  bench::add_ladder(cases_, std::move(base), family, [=, gpu = gpu_](const std::string& variant) {
    const auto run = std::make_shared<Run>(gpu, line.line);
    Side ours = our_side(run, gpu->one_stream(cold));
    if (variant == unchecked) ours.verify = nullptr;
    return Pair{
        with_variant(gpu->ctx, tool::family_of(family), variant, std::move(ours), [run] { return run->enqueue(); }),
        line.peer ? line.peer(run, cold) : Side{}};
  });
}

}  // namespace bench
