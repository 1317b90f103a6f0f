#include "tests/unit/decisions.hpp"

#include <sstream>
#include <stdexcept>

#include "ops/plan.hpp"
#include "ops/problem_line.hpp"
#include "tests/fixtures/devices.hpp"

namespace gpumem::fixtures {
namespace {

template <class Family>
std::string print(const Plan<Family>& plan) {
  if (plan.empty) return "nothing to do";
  const auto& d = plan.selection;
  std::ostringstream out;
  out << Family::table()[d.row].name << ' ' << d.config.grid << " x " << d.config.block << ", " << d.config.per_thread
      << ", " << d.config.tile;
  return out.str();
}

}  // namespace

DecisionLine split(const std::string& line) {
  const size_t arrow = line.find(" -> ");
  if (arrow == std::string::npos) throw std::runtime_error("no arrow in: " + line);
  return {line.substr(0, arrow), line.substr(arrow + 4)};
}

std::string answer(const std::string& question) {
  const size_t space = question.find(' ');
  const std::string device = question.substr(0, space);
  const NamedDevice* found = find_device(device.c_str());
  if (found == nullptr || space == std::string::npos) throw std::runtime_error("no such device: " + device);
  const CallRecord record = parse_line(question.substr(space));
  const bool cuda = found->props.backend == ExecutionSpace::cuda;
  LinePlanner planner(found->props, cuda ? find_device("host64")->props : found->props, record);
  std::string text;
  Families::for_each([&]<class Family>() {
    const auto* call = std::get_if<static_cast<size_t>(Family::id)>(&record.call);
    if (call != nullptr) text = print<Family>(plan(planner, *call, record.completion));
  });
  return text;
}

}  // namespace gpumem::fixtures
