// A transport that breaks its promises, and a process that sends what none may: every call gives the right result, or a status and a sentence
// that can be believed, in time. GPUMEM_DIST_LIES=all tells each lie at each message; otherwise some of them.
#include <gtest/gtest.h>

#include <atomic>

#include "dist/worker.hpp"

namespace gpumem_test {
namespace {

constexpr int kRanks = 3;
constexpr double kPatience = 0.2;  // deadline_s; where a machine is that slow, TIMED_OUT is right, too

bool all_lies() {
  const char* asked = std::getenv("GPUMEM_DIST_LIES");
  return asked != nullptr && std::string(asked) == "all";
}

// Of several calls, until one fails.
class Calls {
 public:
  // right: the results, where there are any.
  Calls(Rank& rank, bool right, double patience) : rank_(rank), right_(right), patience_(patience) {}

  gpumem_status make() {
    gpumem_dist* made = nullptr;
    const gpumem_status status = rank_.create(patience_, &made);
    rank_.dist.reset(made);
    if (status != GPUMEM_OK) return status;
    const gpumem_dist_plan_options small = plan_options(4096);
    const auto& part = rank_.part;
    move_.emplace(rank_.dist.get(), part, all_to_all(part, 20), &small, rank_.own);
    if (move_->status() != GPUMEM_OK) return move_->status();
    Layout ghosts = slabs(part, 60);
    for (Box& box : ghosts.boxes) box.offset = 2;
    halo_.emplace(rank_.dist.get(), part, ghosts, Halo{{2}, {1}, {1}}, nullptr, rank_.own);
    if (halo_->status() != GPUMEM_OK) return halo_->status();
    sum_.emplace(rank_.dist.get(), part, slabs(part, 9001), nullptr, rank_.own);
    return sum_->status();
  }
  gpumem_status run() {
    struct Kind {
      gpumem_dtype dtype;
      gpumem_reduce_op op;
    };
    gpumem_status status = right_ ? move_->attempt(rank_.shared) : move_->execute();
    if (status == GPUMEM_OK) status = right_ ? halo_->attempt(rank_.shared) : halo_->execute();
    for (const Kind& kind : {Kind{GPUMEM_F64, GPUMEM_SUM}, Kind{GPUMEM_F64, GPUMEM_DOT},
                             Kind{GPUMEM_F64, GPUMEM_ARG_MAX}, Kind{GPUMEM_I64, GPUMEM_MIN_MAX}}) {
      if (status != GPUMEM_OK) return status;
      status = right_ ? sum_->attempt(rank_.contexts[1], kind.dtype, kind.op, rank_.shared)
                      : sum_->execute(kind.dtype, kind.op);
    }
    return status;
  }

 private:
  Rank& rank_;
  bool right_;
  double patience_;
  std::optional<PlannedMove> move_;
  std::optional<PlannedHalo> halo_;
  std::optional<PlannedReduction> sum_;
};

// A status that the header has, and words.
void expect_sane(gpumem_status status) {
  const std::string sentence = last_error();
  EXPECT_STRNE(gpumem_status_name(status), "GPUMEM_UNKNOWN_STATUS") << status << ": " << sentence;
  EXPECT_EQ(sentence.find("424242"), std::string::npos) << "no sentence: " << sentence;
  EXPECT_TRUE(std::all_of(sentence.begin(), sentence.end(), [](char c) {
    return static_cast<unsigned char>(c) >= ' ';
  })) << sentence;
}

// What each rank comes to when rank `liar` is prepared so. Whatever it is, it takes no longer than the deadline that each of them may wait for
// the others, and some work.
std::vector<gpumem_status> outcomes(int liar, bool right, const std::function<void(SocketTransport&)>& prepare,
                                    const std::function<void(SocketTransport&)>& after = {},
                                    double patience = kPatience) {
  std::vector<gpumem_status> all(kRanks);
  std::vector<std::string> sentences(kRanks);
  const Clock::time_point start = Clock::now();
  in_threads(kRanks, [&](Rank& rank) {
    rank.transport.allow_longer();
    if (rank.rank == liar) prepare(rank.transport);
    {
      Calls calls(rank, right, patience);
      forget_last_error();
      gpumem_status status = calls.make();
      if (status == GPUMEM_OK) status = calls.run();
      if (status != GPUMEM_OK) expect_sane(status);
      EXPECT_TRUE(rank.dist == nullptr || !lost(status) || info_of(rank.dist.get()).status == status);
      all[static_cast<size_t>(rank.rank)] = status;
    }
    rank.dist.reset();
    if (rank.rank == liar && after) after(rank.transport);
  });
  EXPECT_LT(seconds_since(start), kRanks * patience + 20);
  return all;
}

constexpr Fault::What kLies[] = {Fault::drop, Fault::twice, Fault::cut, Fault::lengthen, Fault::garble, Fault::swap};
constexpr const char* kNames[] = {"drop", "twice", "cut", "lengthen", "garble", "swap"};

TEST(DistLies, OfATransportGiveTheRightResultOrAStatus) {
  const auto tells_no_lie = [](SocketTransport&) {};
  EXPECT_EQ(outcomes(0, true, tells_no_lie, {}, kLong), std::vector<gpumem_status>(kRanks));
  for (size_t lie = 0; lie < std::size(kLies); ++lie) {
    int64_t told = 0;
    int64_t noticed = 0;
    for (int liar = 0; liar < kRanks; ++liar) {
      bool is_there = true;  // a message of that number
      for (int64_t at = all_lies() ? 1 : 1 + liar; is_there; at += all_lies() ? 1 : 29) {
        SCOPED_TRACE(std::string(kNames[lie]) + ", message " + std::to_string(at) + " of rank " + std::to_string(liar));
        const std::vector<gpumem_status> all = outcomes(
            liar, true,
            [&](SocketTransport& transport) {
              transport.order({kLies[lie], at});
            },
            [&](SocketTransport& transport) { is_there = transport.is_done(); });
        for (const gpumem_status status : all) EXPECT_TRUE(status == GPUMEM_OK || lost(status));
        told += is_there ? 1 : 0;
        noticed += is_there && all != std::vector<gpumem_status>(kRanks) ? 1 : 0;
        if (HasFailure()) return;
      }
    }
    EXPECT_GT(told, 3);
    // A lie can stay unnoticed if it is about a last message, or about data after an end.
    EXPECT_TRUE(noticed >= told / 2 || kLies[lie] == Fault::lengthen) << noticed << " of " << told;
  }
}

// As src/dist/communicator.hpp has it. What follows lies behind it in memory, also where it is another message.
struct Header {
  uint32_t magic;
  uint32_t version;
  int64_t sequence, call, plan;
  uint16_t kind, part;
  int32_t rank;
  int64_t bytes;
  uint64_t of_body;
  uint64_t sum;
};

uint64_t sum_of(const char* p, size_t bytes) {
  uint64_t sum = bytes;
  for (size_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, p + at, std::min<size_t>(bytes - at, 8));
    sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
    sum ^= sum >> 32;
  }
  return sum;
}

// A header of an agreement, its body, and what is changed of them before they are sealed again.
using Change = std::function<void(Header&, char* body)>;

// Of the number `at` of those headers.
std::function<void(char*, int64_t)> reseal(int64_t at, const Change& change) {
  return [=, seen = int64_t{0}](char* p, int64_t bytes) mutable {
    Header header;
    if (bytes != sizeof header) return;
    std::memcpy(&header, p, sizeof header);
    char* const body = p + sizeof header;
    const auto length = static_cast<size_t>(header.bytes);
    const bool sealed = header.sum == sum_of(p, sizeof header - 8) && header.of_body == sum_of(body, length);
    if (!sealed || ++seen != at) return;
    change(header, body);
    header.of_body = sum_of(body, length);
    std::memcpy(p, &header, sizeof header);
    header.sum = sum_of(p, sizeof header - 8);
    std::memcpy(p, &header, sizeof header);
  };
}

// In front of each body: rank, status, number of the call, sentence.
constexpr int64_t kHeadBytes = 416;

TEST(DistLies, OfAProcessInAnyWordOfWhatItTells) {
  constexpr int64_t kValues[] = {0, 1, -1, INT64_MAX, INT64_MIN, int64_t{1} << 40, 803235924};
  Random random(0x11E);
  int64_t there = 0;
  const int most = all_lies() ? 2000 : quick_run() ? 15 : 30;
  for (int i = 0; i < most && !HasFailure(); ++i) {
    const int liar = static_cast<int>(random.below(kRanks));
    const int64_t at = random.between(1, 12);
    const int64_t value = kValues[random.below(std::size(kValues))];
    const bool in_head = random.below(4) == 0, half = random.below(2) == 0;
    const uint64_t place = random.bits();
    std::atomic<bool> changed{false};
    SCOPED_TRACE("change " + std::to_string(i) + ", in message " + std::to_string(at) + " of rank " +
                 std::to_string(liar));
    outcomes(liar, false, [&](SocketTransport& transport) {
      transport.edit = reseal(at, [&](Header& header, char* body) {
        const uint64_t first = in_head ? 0 : kHeadBytes;
        const uint64_t end = in_head ? 16 : static_cast<uint64_t>(header.bytes);
        if (first + 8 > end) return;
        char* const word = body + first + place % ((end - first) / 4) * 4;
        std::memcpy(word, &value, half || word + 8 > body + header.bytes ? 4 : 8);
        changed = true;
      });
    });
    there += changed ? 1 : 0;
  }
  EXPECT_GT(there, most / 3);
}

// One lie of rank 1, as rank 0 hears it: the first that it is told.
void expect_told(const Change& change, std::initializer_list<std::string> words) {
  const std::vector<std::string> all(words);
  in_threads(2, [&](Rank& rank) {
    if (rank.rank == 1) rank.transport.edit = reseal(1, change);
    gpumem_dist* made = nullptr;
    forget_last_error();
    EXPECT_TRUE(gives(GPUMEM_PEER_LOST, rank.create(10, &made)));
    if (rank.rank == 1) return;  // perhaps it still sends when rank 0 has gone
    const std::string sentence = last_error();
    for (const std::string& word : all) EXPECT_TRUE(contains_word(sentence, word)) << word << ": " << sentence;
  });
}

TEST(DistLies, AreNamed) {
  const auto put = [](char* to, int32_t value) { std::memcpy(to, &value, sizeof value); };
  expect_told([](Header& header, char*) { header.version = 1; }, {"process", "1", "version"});
  expect_told([](Header& header, char*) { header.rank = 0; }, {"process", "1"});
  expect_told([](Header& header, char*) { header.sequence = 7; }, {"process", "1", "message", "7", "0"});
  expect_told([](Header& header, char*) { header.call = 3; }, {"process", "1", "3", "gpumem_dist_create"});
  expect_told([](Header& header, char*) { header.kind = 9; }, {"process", "1", "gpumem_dist_create"});
  expect_told([](Header& header, char*) { header.bytes = -5; }, {"process", "1", "-5"});
  expect_told([](Header& header, char*) { header.part = 3; }, {"process", "1", "3"});
  expect_told([&](Header&, char* body) { put(body + 4, 803235924); }, {"process", "1", "803235924"});
  expect_told([&](Header&, char* body) { put(body, 2); }, {"process", "1", "2"});
  // Members of a process: behind the head and the length of the part.
  expect_told([&](Header&, char* body) { put(body + kHeadBytes + 8, -3); }, {"process", "1", "members", "-3"});
  expect_told([&](Header&, char* body) { put(body + kHeadBytes + 8, INT32_MAX); }, {"process", "1", "members"});
}

// A sentence without an end, with what no terminal should get.
TEST(DistLies, ASentenceWithoutAnEnd) {
  in_threads(2, [](Rank& rank) {
    if (rank.rank == 1) {
      rank.transport.edit = reseal(1, [](Header&, char* body) {
        const int32_t status = GPUMEM_UNSUPPORTED;
        std::memcpy(body + 4, &status, sizeof status);
        std::memset(body + 16, '\x1b', kHeadBytes - 16);
      });
    }
    gpumem_dist* made = nullptr;
    EXPECT_TRUE(gives(GPUMEM_UNSUPPORTED, rank.create(10, &made)));
    EXPECT_EQ(last_error().find('\x1b'), std::string::npos);
    EXPECT_TRUE(contains_word(last_error(), "process"));
  });
}

// ---- Programs whose processes are not in the same call

// Each rank makes its calls until one fails, which comes long before the deadline, and says where others are.
void expect_named(const std::function<gpumem_status(Rank&, PlannedMove&, PlannedMove&, PlannedReduction&)>& calls) {
  in_threads(kRanks, [&](Rank& rank) {
    rank.transport.allow_longer();
    rank.start(kLong);
    PlannedMove one(rank.dist.get(), rank.part, all_to_all(rank.part, 20), nullptr, rank.own);
    PlannedMove other(rank.dist.get(), rank.part, all_to_all(rank.part, 30), nullptr, rank.own);
    PlannedReduction sum(rank.dist.get(), rank.part, slabs(rank.part, 9001), nullptr, rank.own);
    one.run(rank.shared);
    sum.run(rank.contexts[1], GPUMEM_F64, GPUMEM_SUM, rank.shared);
    forget_last_error();
    const Clock::time_point start = Clock::now();
    const gpumem_status status = calls(rank, one, other, sum);
    EXPECT_LT(seconds_since(start), kLong / 2) << "it is not the deadline that ends it";
    EXPECT_TRUE(gives(GPUMEM_PEER_LOST, status));
    const std::string sentence = last_error();
    for (const char* word : {"process", "call", "plan"}) EXPECT_TRUE(contains_word(sentence, word)) << sentence;
    expect_stuck(rank, status);
  });
}

template <class... Calls_>
gpumem_status until_one_fails(const Calls_&... calls) {
  gpumem_status status = GPUMEM_OK;
  static_cast<void>(((status = calls(), status == GPUMEM_OK) && ...));
  return status;
}

TEST(DistMixes, AProcessThatReducesWhileOthersExecute) {
  expect_named([](Rank& rank, PlannedMove& one, PlannedMove&, PlannedReduction& sum) {
    const auto move = [&] { return one.execute(); };
    const auto reduce = [&] { return sum.execute(GPUMEM_F64, GPUMEM_SUM); };
    return rank.rank == 0 ? until_one_fails(reduce, move) : until_one_fails(move, reduce);
  });
}

TEST(DistMixes, AProcessThatSkipsACall) {
  for (int skips = 0; skips < kRanks; ++skips) {
    SCOPED_TRACE(skips);
    expect_named([=](Rank& rank, PlannedMove& one, PlannedMove&, PlannedReduction& sum) {
      const auto move = [&] { return one.execute(); };
      const auto reduce = [&] { return sum.execute(GPUMEM_F64, GPUMEM_MAX); };
      return rank.rank == skips ? until_one_fails(reduce, move, reduce) : until_one_fails(move, reduce, move);
    });
  }
}

TEST(DistMixes, TwoPlansInAnotherOrder) {
  for (const bool larger_first : {false, true}) {
    SCOPED_TRACE(larger_first);
    expect_named([=](Rank& rank, PlannedMove& one, PlannedMove& other, PlannedReduction&) {
      const auto first = [&] { return one.execute(); };
      const auto second = [&] { return other.execute(); };
      return (rank.rank == 1) == larger_first ? until_one_fails(first, second) : until_one_fails(second, first);
    });
  }
}

TEST(DistMixes, AProcessThatPlansWhileOthersExecute) {
  expect_named([](Rank& rank, PlannedMove& one, PlannedMove&, PlannedReduction&) {
    gpumem_dist_plan* plan = nullptr;
    return rank.rank == 2 ? plan_sum(rank, &plan)
                          : until_one_fails([&] { return one.execute(); }, [&] { return plan_sum(rank, &plan); });
  });
}

}  // namespace
}  // namespace gpumem_test
