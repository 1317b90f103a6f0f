// dst[i] = src[i] as another type, on the host.
#include <algorithm>
#include <cstring>

#include "backend/host/host_backend.hpp"
#include "backend/host/implementations.hpp"
#include "base/checked.hpp"
#include "base/float_environment.hpp"
#include "kernels/convert/element.hpp"

namespace gpumem::host {

// Stores around the caches lose if dst has just been read into them.
void convert_parallel(const HostTeam& team, const ConvertParams& p, const Config& config, char*) {
  const int64_t from = element_bytes(p.src_type);
  const int64_t to = element_bytes(p.dst_type);
  const bool stream = p.dst != p.src && team.larger_than_caches(p.n * to);
  team.parallel(ceil_div(p.n, config.tile), [&](int64_t i) {
    const DefaultFloatEnvironment of_thread;
    const int64_t first = i * config.tile;
    team.loops.convert({p.src_type, static_cast<const char*>(p.src) + first * from, p.dst_type,
                        static_cast<char*>(p.dst) + first * to, std::min(config.tile, p.n - first), stream});
  });
}

// The definition only: the reference for the loops.
void convert_serial(const HostTeam&, const ConvertParams& p, const Config&, char*) {
  const DefaultFloatEnvironment environment;
  for_types(p, [&]<class To, class From>() {
    for (int64_t i = 0; i < p.n; ++i) {
      From v;
      std::memcpy(&v, static_cast<const From*>(p.src) + i, sizeof v);
      const To result = converted<To>(v);
      std::memcpy(static_cast<To*>(p.dst) + i, &result, sizeof result);
    }
  });
}

}  // namespace gpumem::host
