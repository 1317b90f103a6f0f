// What memory can do at most.
#include "api/guard.hpp"
#include "context/ceilings.hpp"
#include "ops/operations.hpp"

using namespace gpumem;
using namespace gpumem::api;

gpumem_status gpumem_ceiling_info_init(gpumem_ceiling_info* info, int64_t size) {
  return guard([&] { init_struct(info, size, {}, "info"); });
}

gpumem_status gpumem_ceiling(gpumem_ctx* ctx, gpumem_ceiling_info* info) {
  return with_context(ctx, [&](Context& context) {
    static_cast<void>(struct_size_of(info, "info"));
    const Ceilings c = ceilings(context);
    const gpumem_ceiling_info filled{sizeof filled,
                                     c.read,
                                     c.write,
                                     c.copy,
                                     c.to_device,
                                     c.from_device,
                                     context.device().props().bandwidth_bytes_per_s()};
    write_struct(info, filled, "info");
  });
}
