// As consumer.c, by the C++ headers.
#include <gpumem.hpp>

#include <vector>

int main() {
  const gpumem::context ctx;
  const std::vector<int> x{1, -20, 300};
  return ctx.reduce(gpumem::reduce_op::sum, x) == 281 ? 0 : 1;
}
