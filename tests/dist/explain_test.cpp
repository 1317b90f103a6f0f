// What a plan says of itself.
#include <gtest/gtest.h>

#include <optional>

#include "dist/ranks.hpp"
#include "dist/two_members.hpp"
#include "support/json.hpp"

namespace gpumem_test {
namespace {

class DistExplain : public TwoMembers {};

std::string explained(gpumem_dist_plan* plan, gpumem_format format) {
  int64_t needed = 0;
  EXPECT_TRUE(ok(gpumem_dist_explain(plan, format, nullptr, 0, &needed)));
  std::string text(static_cast<size_t>(needed), '\1');
  EXPECT_TRUE(ok(gpumem_dist_explain(plan, format, text.data(), needed, nullptr)));
  EXPECT_EQ(text.find('\0'), text.size() - 1);
  text.resize(text.size() - 1);
  return text;
}

// Rows dealt out in turn, 100 from each slab to each member: a row of pieces at even distances is one.
TEST_P(DistExplain, BlocksDealtOutInTurnAreFewPieces) {
  Move move{{4, {400, 6}, {}}, {4, {400, 6}, {}}, {}};
  for (int64_t m = 0; m < 2; ++m) move.src.boxes.push_back({m, {200 * m, 0}, {200 * m + 200, 6}, 0, {6, 1}});
  for (int64_t i = 0; i < 400; ++i) move.dst.boxes.push_back({i % 2, {i, 0}, {i + 1, 6}, i / 2 * 6, {6, 1}});
  Random random{0x7E};
  PlannedMove planned(dist_.get(), part_, move, nullptr, random);
  planned.run(random);
  const std::string text = explained(planned.plan(), GPUMEM_FORMAT_TEXT);
  const size_t pieces = text.find("pieces: ");
  ASSERT_NE(pieces, std::string::npos) << text;
  EXPECT_LE(std::stoll(text.substr(pieces + 8)), 8) << text;
}

TEST_P(DistExplain, PlansAreExplained) {
  const Plan plans[] = {make_redistribution(), make_halo(), make_reduction()};
  for (const Plan& plan : plans) {
    const std::string text = explained(plan.get(), GPUMEM_FORMAT_TEXT);
    EXPECT_TRUE(contains_word(text, "bytes")) << text;
    const std::string json = explained(plan.get(), GPUMEM_FORMAT_JSON);
    const auto parsed = parse_json(json);
    ASSERT_TRUE(parsed.has_value()) << json;
    EXPECT_EQ(parsed->type, Json::Type::object) << json;
    EXPECT_FALSE(parsed->members.empty());
    char few[5] = {1, 1, 1, 1, 1};
    EXPECT_TRUE(ok(gpumem_dist_explain(plan.get(), GPUMEM_FORMAT_TEXT, few, 4, nullptr)));
    EXPECT_EQ(std::string(few), text.substr(0, 3));
    EXPECT_EQ(few[4], 1);
  }
  char buf[8];
  gpumem_dist_plan* const plan = plans[0].get();
  EXPECT_TRUE(refused(kBad, gpumem_dist_explain(nullptr, GPUMEM_FORMAT_TEXT, buf, 8, nullptr), {"plan", "NULL"}));
  for (const gpumem_format format : {int32_t{GPUMEM_FORMAT_CSV}, int32_t{GPUMEM_FORMAT_TRACE}, -1, 4}) {
    EXPECT_TRUE(refused(kBad, gpumem_dist_explain(plan, format, buf, 8, nullptr), {"format", std::to_string(format)}));
  }
  EXPECT_TRUE(refused(kBad, gpumem_dist_explain(plan, GPUMEM_FORMAT_TEXT, buf, -1, nullptr), {"cap", "-1"}));
  EXPECT_TRUE(refused(kBad, gpumem_dist_explain(plan, GPUMEM_FORMAT_TEXT, nullptr, 8, nullptr), {"buf", "NULL"}));
}

// A plan over blocks, whose ordered sums move the array, offers those that do not.
TEST_P(DistExplain, BothWaysOfSums) {
  const Plan slabs = make_reduction();
  const std::string in_place = explained(slabs.get(), GPUMEM_FORMAT_TEXT);
  EXPECT_EQ(in_place.find("all elements move"), std::string::npos) << in_place;
  EXPECT_NE(in_place.find("order-free sums"), std::string::npos) << in_place;
  const Layout halves{4, {2, 4}, {{0, {0, 2}, {2, 4}, 0, {2, 1}}, {1, {0, 0}, {2, 2}, 0, {2, 1}}}};
  const View view(halves, 0, 2);
  gpumem_dist_plan* made = nullptr;
  ASSERT_TRUE(ok(reduce(&view.raw, &made)));
  const Plan blocks(made);
  const std::string moved = explained(made, GPUMEM_FORMAT_TEXT);
  EXPECT_NE(moved.find("all elements move"), std::string::npos) << moved;
  EXPECT_NE(moved.find("GPUMEM_SUM_ORDER_FREE"), std::string::npos) << moved;
  EXPECT_EQ(parse_json(explained(made, GPUMEM_FORMAT_JSON))->member("ordered_sums").text, "moved");
  EXPECT_EQ(parse_json(explained(slabs.get(), GPUMEM_FORMAT_JSON))->member("ordered_sums").text, "in place");
}

// Of several processes: what goes to and comes from each, and the workspace, which is no more than was asked for.
TEST(DistExplainOfSeveral, NamesEachProcess) {
  in_threads(3, [](Rank& rank) {
    rank.start();
    Layout all{8, {6000}, {}};
    const Layout one{8, {6000}, {cutting::whole_array({6000}, 0)}};
    for (int64_t i = 0; i < rank.part.all; ++i) all.boxes.push_back({i, {1000 * i}, {1000 * (i + 1)}, 0, {1}});
    const gpumem_dist_plan_options small = plan_options(4096);
    PlannedMove gather(rank.dist.get(), rank.part, {all, one, {}}, &small, rank.own);
    gather.run(rank.shared);
    const std::string text = explained(gather.plan(), GPUMEM_FORMAT_TEXT);
    const std::string json = explained(gather.plan(), GPUMEM_FORMAT_JSON);
    const std::optional<Json> parsed = parse_json(json);
    ASSERT_TRUE(parsed.has_value()) << json;
    EXPECT_EQ(parsed->member("process").text, std::to_string(rank.rank));
    EXPECT_EQ(parsed->member("processes").text, "3");
    EXPECT_LE(std::stoll(parsed->member("workspace_bytes").text), 4096) << json;
    // Rank 0 has the first member, which all others send to.
    const std::vector<Json>& sends = parsed->member("sends").items;
    const std::vector<Json>& receives = parsed->member("receives").items;
    EXPECT_EQ(sends.size(), rank.rank == 0 ? 0 : 1) << json;
    EXPECT_EQ(receives.size(), rank.rank == 0 ? 2 : 0) << json;
    for (const Json& peer : rank.rank == 0 ? receives : sends) {
      const int process = std::stoi(peer.member("process").text);
      const std::string bytes = std::to_string(8000 * members_of(rank.rank == 0 ? process : rank.rank));
      EXPECT_EQ(peer.member("bytes").text, bytes) << json;
      EXPECT_GE(std::stoll(peer.member("messages").text), 2) << json;
      EXPECT_TRUE(contains_word(text, bytes)) << text;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(On, DistExplain, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
