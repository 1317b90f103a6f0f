// Describes a plan in words.
#include <map>

#include "dist/dist.hpp"

namespace gpumem {
namespace {

struct Traffic {
  int64_t messages = 0;
  int64_t bytes = 0;
};

std::map<int32_t, Traffic> by_process(const std::vector<Message>& messages) {
  std::map<int32_t, Traffic> all;
  for (const Message& message : messages) {
    ++all[message.process].messages;
    all[message.process].bytes += message.bytes;
  }
  return all;
}

std::map<int32_t, Traffic> by_process(const std::vector<std::vector<Message>>& rounds, const Members& members) {
  std::map<int32_t, Traffic> all;
  for (const std::vector<Message>& packets : rounds) {
    std::map<int32_t, int64_t> bytes;
    for (const Message& packet : packets) bytes[members.process_of(packet.process)] += packet.bytes;
    for (const auto& [process, of_round] : bytes) {
      ++all[process].messages;
      all[process].bytes += of_round;
    }
  }
  return all;
}

struct Way {
  const char* variant;
  const char* unit;
};
constexpr Way kStaged = {"staged", "messages"};
constexpr Way kLinked = {"nccl", "rounds"};

Traffic within(const std::vector<BoxOverlap>& pieces) {
  Traffic all;
  for (const BoxOverlap& piece : pieces) {
    ++all.messages;
    all.bytes += piece.shape.bytes();
  }
  return all;
}

std::string number(int64_t v) { return std::to_string(v); }

void add_here_text(std::string& text, const char* variant, const Traffic& traffic) {
  text.append("  between members here: ").append(number(traffic.bytes)).append(" bytes, ").append(variant);
  text.append(", pieces: ").append(number(traffic.messages)).append("\n");
}

void add_here_json(std::string& text, const char* name, const char* variant, const Traffic& traffic) {
  text.append(", \"").append(name).append("\": {\"variant\": \"").append(variant);
  text.append("\", \"pieces\": ").append(number(traffic.messages));
  text.append(", \"bytes\": ").append(number(traffic.bytes)).append("}");
}

void add_text(std::string& text, const char* verb, const Way& way, const std::map<int32_t, Traffic>& all) {
  for (const auto& [process, traffic] : all) {
    text.append("  ")
        .append(verb)
        .append(" process ")
        .append(number(process))
        .append(": ")
        .append(number(traffic.bytes));
    text.append(" bytes, ").append(way.variant).append(", ").append(way.unit).append(": ");
    text.append(number(traffic.messages)).append("\n");
  }
}

void add_json(std::string& text, const char* name, const std::map<int32_t, Traffic>& staged,
              const std::map<int32_t, Traffic>& linked) {
  text.append(", \"").append(name).append("\": [");
  const char* between = "";
  const auto add = [&](const Way& way, const std::map<int32_t, Traffic>& all) {
    for (const auto& [process, traffic] : all) {
      text.append(between).append("{\"process\": ").append(number(process));
      text.append(", \"variant\": \"").append(way.variant).append("\", \"").append(way.unit).append("\": ");
      text.append(number(traffic.messages)).append(", \"bytes\": ").append(number(traffic.bytes)).append("}");
      between = ", ";
    }
  };
  add(kStaged, staged);
  add(kLinked, linked);
  text += "]";
}

void add_ways(std::string& text, const Reduction& reduction) {
  const std::string partial = number(sizeof(Subtree)) + " bytes per process";
  text.append("  floating-point sums in order: ");
  if (reduction.moves_array()) {
    text.append("all elements move, because some boxes are not contiguous in the array\n");
    text.append("  order-free sums: elements stay in their boxes, ").append(partial).append(" move; they are ");
    text.append("GPUMEM_SUM_ORDER_FREE, GPUMEM_NRM2_ORDER_FREE and gpumem_dist_dot_order_free()\n");
    return;
  }
  text.append("elements stay in their boxes, except for the incomplete 1024-element blocks at the ends of boxes\n");
  text.append("  order-free sums: elements stay in their boxes, ").append(partial).append(" move\n");
}

}  // namespace

std::string explain(const DistPlan& plan, gpumem_format format) {
  const Exchange& exchange = plan.its_exchange();
  const Route& route = exchange.its_route();
  const Traffic pulled = within(route.pulls);
  const Traffic staged = within(route.staged);
  const auto linked_sends = by_process(route.linked_sends, exchange.members());
  const auto linked_receives = by_process(route.linked_receives, exchange.members());
  const int64_t room = plan.reduction != nullptr ? plan.reduction->room() * plan.reduction->element_bytes() : 0;
  std::string text;
  if (format == GPUMEM_FORMAT_JSON) {
    text.append("{\"schema\": \"gpumem.dist/1\", \"plan\": \"").append(kind_name(plan.kind)).append("\"");
    text.append(", \"process\": ").append(number(plan.dist.communicator.rank()));
    text.append(", \"processes\": ").append(number(plan.dist.communicator.size()));
    text.append(", \"workspace_bytes\": ").append(number(exchange.workspace_bytes()));
    text.append(", \"room_bytes\": ").append(number(room));
    add_here_json(text, "here", "pull", pulled);
    if (staged.messages != 0) add_here_json(text, "staged_here", "staged", staged);
    if (plan.reduction != nullptr) {
      text.append(", \"ordered_sums\": \"").append(plan.reduction->moves_array() ? "moved" : "in place");
      text.append("\", \"result_bytes\": ").append(number(sizeof(Subtree)));
    }
    add_json(text, "sends", by_process(route.sends), linked_sends);
    add_json(text, "receives", by_process(route.receives), linked_receives);
    return text + "}";
  }
  text.append(kind_name(plan.kind)).append(", process ").append(number(plan.dist.communicator.rank()));
  text.append(" of ").append(number(plan.dist.communicator.size())).append("\n");
  add_here_text(text, "pull", pulled);
  if (staged.messages != 0) add_here_text(text, "staged", staged);
  add_text(text, "to", kStaged, by_process(route.sends));
  add_text(text, "to", kLinked, linked_sends);
  add_text(text, "from", kStaged, by_process(route.receives));
  add_text(text, "from", kLinked, linked_receives);
  text.append("  memory for messages: ").append(number(exchange.workspace_bytes())).append(" bytes\n");
  if (plan.reduction == nullptr) return text;
  text.append("  memory for terms of sums: ").append(number(room)).append(" bytes during a call\n");
  add_ways(text, *plan.reduction);
  return text;
}

}  // namespace gpumem
