// One rank of several, in a process or a thread of its own, with a few members.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "dist/members.hpp"
#include "dist/processes.hpp"
#include "dist/socket_transport.hpp"

namespace gpumem_test {

// Members of each rank: 1 to 3.
inline int64_t members_of(int rank) { return 1 + (2 * rank + 1) % 3; }

class Rank {
 public:
  Rank(On on, Mesh& mesh, int number)
      : rank(number), size(mesh.size()), transport(mesh, rank), own(0xA000 + static_cast<uint64_t>(number)) {
    contexts.emplace_back(on, 1);
    contexts.emplace_back(On::host, 1);
    for (int other = 0; other < size; ++other) {
      if (other < rank) part.first += members_of(other);
      part.all += members_of(other);
    }
    for (int64_t i = 0; i < members_of(rank); ++i) part.contexts.push_back(contexts[static_cast<size_t>(i % 2)]);
  }

  gpumem_status create(double deadline_s, gpumem_dist** made) {
    const gpumem_dist_transport table = transport.table();
    const gpumem_dist_options options = dist_options(part, &table, deadline_s);
    return gpumem_dist_create(&options, made);
  }
  void start(double deadline_s = 30) {
    gpumem_dist* made = nullptr;
    EXPECT_TRUE(ok(create(deadline_s, &made)));
    dist.reset(made);
  }

  int rank;
  int size;
  SocketTransport transport;  // is called until dist is gone
  std::deque<Context> contexts;
  Part part;
  Dist dist;
  Random shared{0x5A};  // the same numbers in every rank
  Random own;
};

// f(rank) in a process for each.
inline std::unique_ptr<Processes> in_processes(On on, int size, const std::function<void(Rank&)>& f,
                                               int seconds = 120) {
  test_seed();  // one for all
  Mesh mesh(size);
  return std::make_unique<Processes>(size, seconds, [&](int number) -> std::string {
    mesh.keep(number);
    Rank rank(on, mesh, number);
    f(rank);
    return "";
  });
}

// f(rank) in a thread for each: faster to start, and the library may have been called before.
inline void in_threads(int size, const std::function<void(Rank&)>& f) {
  test_seed();
  Mesh mesh(size);
  std::vector<std::thread> threads;
  for (int number = 0; number < size; ++number) {
    threads.emplace_back([&, number] {
      Rank rank(On::host, mesh, number);
      f(rank);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace gpumem_test
