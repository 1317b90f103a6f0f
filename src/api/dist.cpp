// Entry points for arrays over several contexts and processes.
#include "dist/dist.hpp"

#include "api/guard.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

namespace {

constexpr double kMostSeconds = 1e9;
constexpr gpumem_dist_transport kDefaultTransport = {
    sizeof(gpumem_dist_transport), nullptr, 0, 1, nullptr, nullptr, nullptr, nullptr};
constexpr gpumem_dist_info kDefaultInfo = {sizeof(gpumem_dist_info), 0, 0, 0, 0, 0, GPUMEM_OK, 0, 0};
constexpr gpumem_dist_layout kDefaultLayout = {
    sizeof(gpumem_dist_layout), 0, 0, 0, nullptr, 0, nullptr, nullptr, nullptr, nullptr, nullptr};

Dist& resolve_dist(const gpumem_dist* dist) { return resolve<Dist>(dist, HandleType::dist, "dist"); }
DistPlan& resolve_plan(const gpumem_dist_plan* plan) { return resolve<DistPlan>(plan, HandleType::dist_plan, "plan"); }

void check_transport(const gpumem_dist_transport& transport) {
  if (transport.size < 1 || transport.rank < 0 || transport.rank >= transport.size) {
    fail(GPUMEM_INVALID_ARGUMENT, "transport: rank is %d of size %d; expected 0 to size - 1", transport.rank,
         transport.size);
  }
  if (transport.isend == nullptr || transport.irecv == nullptr || transport.test == nullptr) {
    fail(GPUMEM_INVALID_ARGUMENT, "transport: isend, irecv or test is NULL; expected functions");
  }
}

std::vector<Context*> read_contexts(const gpumem_dist_options& options) {
  require_zero("reserved0", options.reserved0);
  if (options.members < 1) fail(GPUMEM_INVALID_ARGUMENT, "members is %d; expected 1 or more", options.members);
  require(options.contexts, "contexts");
  std::vector<Context*> contexts;
  for (int32_t i = 0; i < options.members; ++i) {
    const std::string argument = "contexts[" + std::to_string(i) + "]";
    contexts.push_back(&resolve<Context>(options.contexts[i], HandleType::context, argument.c_str()));
    contexts.back()->throw_if_faulted();
  }
  return contexts;
}

// Argument errors reach the other processes as soon as a connection exists.
std::unique_ptr<Dist> create(const gpumem_dist_options& options, const gpumem_dist_transport* transport) {
  const bool sound = options.deadline_s > 0 && options.deadline_s <= kMostSeconds;
  return std::make_unique<Dist>(transport, sound ? options.deadline_s : kDefaultDistOptions.deadline_s, [&] {
    if (!sound)
      fail(GPUMEM_INVALID_ARGUMENT, "deadline_s is out of range; expected more than 0 and at most 1e9 seconds");
    return read_contexts(options);
  });
}

std::unique_ptr<Dist> create(const gpumem_dist_options* given) {
  const gpumem_dist_options options = read_struct(given, kDefaultDistOptions, "options");
  if (options.transport == nullptr) return create(options, nullptr);
  const gpumem_dist_transport transport = read_struct(options.transport, kDefaultTransport, "transport");
  try {
    check_transport(transport);
  } catch (const Error&) {
    if (transport.release != nullptr) transport.release(transport.user);
    throw;
  }
  return create(options, &transport);
}

void keep_faults(Dist& dist) noexcept {
  for (Context* context : dist.contexts) {
    try {
      context->device().check_health();
    } catch (const Error& error) {
      context->keep_fault(error.what());
    }
  }
}

std::vector<NativeStream> read_streams(const Dist& dist, gpumem_stream* const* given) {
  std::vector<NativeStream> streams;
  for (size_t i = 0; i < dist.contexts.size(); ++i) {
    Context& context = *dist.contexts[i];
    if (given == nullptr || given[i] == nullptr) {
      streams.push_back(context.own_stream());
      continue;
    }
    const std::string argument = "streams[" + std::to_string(i) + "]";
    Stream& stream = resolve<Stream>(given[i], HandleType::stream, argument.c_str());
    streams.push_back(child_of(context, stream, argument.c_str(), "the member's").native);
  }
  return streams;
}

// Pairs of local participants without peer reads.
int32_t staged_pairs(const Dist& dist) noexcept {
  int32_t pairs = 0;
  for (size_t a = 0; a < dist.contexts.size(); ++a) {
    for (size_t b = 0; b < a; ++b) pairs += dist.peers.reads(a, b) && dist.peers.reads(b, a) ? 0 : 1;
  }
  return pairs;
}

template <class F>
void keeping_faults(Dist& dist, const F& f) {
  for (Context* context : dist.contexts) context->throw_if_faulted();
  try {
    f();
  } catch (const Error& error) {
    if (error.status() == GPUMEM_DEVICE_FAULT) keep_faults(dist);
    throw;
  }
}

// The other processes may not know of an error that a thread of the library found.
void require_sound(Dist& dist) {
  try {
    dist.communicator.require_sound();
  } catch (const Error& error) {
    dist.communicator.give_up(error);
    throw;
  }
}

template <class F>
void collectively(Dist& dist, const F& f) {
  const std::lock_guard<std::mutex> lock(dist.calls);
  if (dist.background) dist.background->finish();
  require_sound(dist);
  try {
    keeping_faults(dist, f);
  } catch (const Error& error) {
    if (error.status() == GPUMEM_PEER_LOST || error.status() == GPUMEM_TIMED_OUT) dist.communicator.give_up(error);
    throw;
  }
}

template <class Make>
gpumem_status make_plan(gpumem_dist* dist, const gpumem_dist_plan_options* options, gpumem_dist_plan** plan,
                        const Make& make) noexcept {
  return guard([&] {
    require(plan, "plan");
    *plan = nullptr;
    Dist& resolved = resolve_dist(dist);
    const ReadWorkspace workspace = [&] {
      return options == nullptr ? kDefaultPlanOptions.workspace_bytes
                                : read_struct(options, kDefaultPlanOptions, "options").workspace_bytes;
    };
    collectively(resolved, [&] {
      std::unique_ptr<DistPlan> made = make(resolved, workspace);
      *plan = as_handle<gpumem_dist_plan>(process().handles.insert(HandleType::dist_plan, made.get()));
      static_cast<void>(made.release());  // the handle owns it from here on
    });
  });
}

ReadLayout reader(const gpumem_dist_layout* layout, const char* argument) {
  return [=] {
    const gpumem_dist_layout read = read_struct(layout, kDefaultLayout, argument);
    require_zero("reserved0", read.reserved0);
    return read;
  };
}

// Calls store(value) on success. An argument error of one process reaches the others too.
template <class Store>
gpumem_status reduce_to(gpumem_dist_plan* plan, const Reduction::Read& what, const void* const* x, const void* const* y,
                        const Store& store) noexcept {
  return guard([&] {
    DistPlan& resolved = resolve_plan(plan);
    collectively(resolved.dist, [&] { store(reduce(resolved, what, x, y)); });
  });
}

ReduceParams checked_params(const void* result, const char* argument, gpumem_dtype dtype, gpumem_reduce_op op) {
  require(result, argument);
  return {.dtype = dtype, .op = op};
}

void store_words(void* to, const ReduceValue& value, int words) noexcept {
  std::memcpy(to, value.word, static_cast<size_t>(words) * sizeof value.word[0]);
}

}  // namespace

gpumem_status gpumem_dist_transport_init(gpumem_dist_transport* transport, int64_t size) {
  return guard([&] { init_struct(transport, size, kDefaultTransport, "transport"); });
}
gpumem_status gpumem_dist_options_init(gpumem_dist_options* options, int64_t size) {
  return guard([&] { init_struct(options, size, kDefaultDistOptions, "options"); });
}
gpumem_status gpumem_dist_info_init(gpumem_dist_info* info, int64_t size) {
  return guard([&] { init_struct(info, size, kDefaultInfo, "info"); });
}
gpumem_status gpumem_dist_layout_init(gpumem_dist_layout* layout, int64_t size) {
  return guard([&] { init_struct(layout, size, kDefaultLayout, "layout"); });
}
gpumem_status gpumem_dist_plan_options_init(gpumem_dist_plan_options* options, int64_t size) {
  return guard([&] { init_struct(options, size, kDefaultPlanOptions, "options"); });
}

gpumem_status gpumem_dist_create(const gpumem_dist_options* options, gpumem_dist** dist) {
  return guard([&] {
    require(dist, "dist");
    *dist = nullptr;
    std::unique_ptr<Dist> made = create(options);
    *dist = as_handle<gpumem_dist>(process().handles.insert(HandleType::dist, made.get()));
    static_cast<void>(made.release());
  });
}

gpumem_status gpumem_dist_query(gpumem_dist* dist, gpumem_dist_info* info) {
  return guard([&] {
    const Dist& of = resolve_dist(dist);
    write_struct(info,
                 {.struct_size = sizeof *info,
                  .rank = of.communicator.rank(),
                  .size = of.communicator.size(),
                  .first_member = of.members.first(),
                  .members = of.members.here(),
                  .all_members = of.members.all(),
                  .status = of.communicator.status(),
                  .staged_pairs = staged_pairs(of),
                  .reserved0 = 0},
                 "info");
    try {
      of.communicator.require_sound();
    } catch (const Error& error) {
      set_last_error(error.what());
    }
  });
}

gpumem_status gpumem_dist_abort(gpumem_dist* dist) {
  return guard([&] { resolve_dist(dist).communicator.abort(); });
}

gpumem_status gpumem_dist_destroy(gpumem_dist* dist) {
  if (dist == nullptr) return GPUMEM_OK;
  return guard([&] {
    Dist& resolved = resolve_dist(dist);
    if (const int64_t plans = resolved.plans.load(); plans != 0) {
      fail(GPUMEM_BUSY, "dist has %lld live plans; expected them to be destroyed first", ll(plans));
    }
    process().handles.erase(as_number(dist));
    const std::unique_ptr<Dist> owned(&resolved);
  });
}

gpumem_status gpumem_dist_plan_redistribute(gpumem_dist* dist, const gpumem_dist_layout* src,
                                            const gpumem_dist_layout* dst, const int32_t* order,
                                            const gpumem_dist_plan_options* options, gpumem_dist_plan** plan) {
  return make_plan(dist, options, plan, [&](Dist& of, const ReadWorkspace& workspace) {
    return plan_redistribution(of, reader(src, "src"), reader(dst, "dst"), order, workspace);
  });
}

gpumem_status gpumem_dist_plan_halo(gpumem_dist* dist, const gpumem_dist_layout* layout, const int64_t* low,
                                    const int64_t* high, const int32_t* periodic,
                                    const gpumem_dist_plan_options* options, gpumem_dist_plan** plan) {
  return make_plan(dist, options, plan, [&](Dist& of, const ReadWorkspace& workspace) {
    return plan_halo(of, reader(layout, "layout"), low, high, periodic, workspace);
  });
}

gpumem_status gpumem_dist_plan_reduce(gpumem_dist* dist, const gpumem_dist_layout* layout,
                                      const gpumem_dist_plan_options* options, gpumem_dist_plan** plan) {
  return make_plan(dist, options, plan, [&](Dist& of, const ReadWorkspace& workspace) {
    return plan_reduction(of, reader(layout, "layout"), workspace);
  });
}

gpumem_status gpumem_dist_execute(gpumem_dist_plan* plan, const void* const* src, void* const* dst) {
  return guard([&] {
    DistPlan& resolved = resolve_plan(plan);
    collectively(resolved.dist, [&] { execute(resolved, src, dst); });
  });
}

gpumem_status gpumem_dist_execute_async(gpumem_dist_plan* plan, const void* const* src, void* const* dst,
                                        gpumem_stream* const* streams) {
  return guard([&] {
    DistPlan& resolved = resolve_plan(plan);
    Dist& dist = resolved.dist;
    const std::lock_guard<std::mutex> lock(dist.calls);
    require_sound(dist);
    keeping_faults(dist, [&] { execute_async(resolved, src, dst, [&] { return read_streams(dist, streams); }); });
  });
}

gpumem_status gpumem_dist_reduce(gpumem_dist_plan* plan, gpumem_dtype dtype, gpumem_reduce_op op, const void* const* x,
                                 void* result) {
  const auto what = [&] {
    require_general(op);
    return checked_params(result, "result", dtype, op);
  };
  return reduce_to(plan, what, x, nullptr,
                   [&](const ReduceValue& value) { store_words(result, value, value_words(op)); });
}

gpumem_status gpumem_dist_argreduce(gpumem_dist_plan* plan, gpumem_dtype dtype, gpumem_reduce_op op,
                                    const void* const* x, void* value, int64_t* index) {
  const auto what = [&] { return checked_params(index, "index", dtype, search_for(op)); };
  return reduce_to(plan, what, x, nullptr, [&](const ReduceValue& found) {
    if (value != nullptr) store_words(value, found, 1);
    *index = static_cast<int64_t>(found.word[1]);
  });
}

gpumem_status gpumem_dist_dot(gpumem_dist_plan* plan, gpumem_dtype dtype, const void* const* x, const void* const* y,
                              double* result) {
  const auto what = [&] { return checked_params(result, "result", dtype, GPUMEM_DOT); };
  return reduce_to(plan, what, x, y, [&](const ReduceValue& value) { store_words(result, value, 1); });
}

gpumem_status gpumem_dist_dot_order_free(gpumem_dist_plan* plan, gpumem_dtype dtype, const void* const* x,
                                         const void* const* y, double* result) {
  const auto what = [&] { return checked_params(result, "result", dtype, GPUMEM_DOT_ORDER_FREE); };
  return reduce_to(plan, what, x, y, [&](const ReduceValue& value) { store_words(result, value, 1); });
}

gpumem_status gpumem_dist_nrm2(gpumem_dist_plan* plan, gpumem_dtype dtype, const void* const* x, double* result) {
  const auto what = [&] { return checked_params(result, "result", dtype, GPUMEM_NRM2); };
  return reduce_to(plan, what, x, nullptr, [&](const ReduceValue& value) { store_words(result, value, 1); });
}

gpumem_status gpumem_dist_explain(gpumem_dist_plan* plan, gpumem_format format, char* buf, int64_t cap,
                                  int64_t* needed) {
  return guard([&] {
    if (format != GPUMEM_FORMAT_TEXT && format != GPUMEM_FORMAT_JSON) {
      fail(GPUMEM_INVALID_ARGUMENT, "format is %d; expected GPUMEM_FORMAT_TEXT (%d) or GPUMEM_FORMAT_JSON (%d)", format,
           GPUMEM_FORMAT_TEXT, GPUMEM_FORMAT_JSON);
    }
    write_text(explain(resolve_plan(plan), format), buf, cap, needed);
  });
}

gpumem_status gpumem_dist_plan_destroy(gpumem_dist_plan* plan) {
  if (plan == nullptr) return GPUMEM_OK;
  return guard([&] {
    const std::unique_ptr<DistPlan> owned(&resolve_plan(plan));
    process().handles.erase(as_number(plan));
  });
}
