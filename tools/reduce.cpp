// gpumem reduce: reduces a file to one number and prints its bits, for comparison between machines.
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "commands.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "npy.hpp"
#include "problems/operand.hpp"
#include "problems/problem.hpp"
#include "resources.hpp"
#include "text.hpp"

namespace tool {
namespace {

std::string decimal(gpumem_dtype dtype, uint64_t bits) {
  if (dtype >= GPUMEM_F16) return format("%.17g", std::bit_cast<double>(bits));
  return dtype % 2 == 0 ? format("%" PRId64, std::bit_cast<int64_t>(bits)) : format("%" PRIu64, bits);
}

std::string hexadecimal(uint64_t bits) { return format("0x%016" PRIx64, bits); }

}  // namespace

int run_reduce(const ReduceOptions& options) {
  const gpumem_reduce_op op = reduce_op(options.op, false);
  NpyReader reader(options.file, NpyReader::Takes::array);
  const NpyHeader& header = reader.header();
  const Context ctx = create_context(options.device);
  const Operand heap(ctx.get(), "pageable", header.elements * header.element_bytes, 0);
  reader.read_as_stored(heap.get());
  // On a host device this is heap memory too.
  const Operand device(ctx.get(), "device", heap.bytes(), 0);
  check(gpumem_copy(ctx.get(), device.get(), heap.get(), heap.bytes()), "copying the array to the device");
  uint64_t values[2] = {};
  check(gpumem_reduce(ctx.get(), header.type, op, device.get(), header.elements, 1, values), "reducing the array");

  const std::size_t results = op == GPUMEM_MIN_MAX ? 2 : 1;
  nlohmann::ordered_json json = {
      {"file", options.file}, {"dtype", kDtypes[header.type]}, {"n", header.elements}, {"op", options.op}};
  for (std::size_t i = 0; i < results; ++i) {
    json["results"].push_back({{"decimal", decimal(header.type, values[i])}, {"bits", hexadecimal(values[i])}});
    if (!options.json) std::printf("%s  %s\n", decimal(header.type, values[i]).c_str(), hexadecimal(values[i]).c_str());
  }
  json["device"] = device_json(device_of(ctx.get()));
  if (options.json) print_json("reduce", json);
  return 0;
}

}  // namespace tool
