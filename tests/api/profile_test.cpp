// Profiles: what is recorded, what is reported of it, and the files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/contexts.hpp"
#include "support/environment.hpp"
#include "support/json.hpp"
#include "support/memory.hpp"

namespace gpumem_test {
namespace {

std::vector<gpumem_profile_row> rows_of(gpumem_ctx* ctx) {
  int64_t count = 0;
  EXPECT_TRUE(ok(gpumem_profile_report(ctx, nullptr, 0, &count)));
  std::vector<gpumem_profile_row> rows(static_cast<size_t>(count) + 1);
  EXPECT_TRUE(ok(gpumem_profile_row_init(rows.data(), sizeof rows[0])));
  EXPECT_TRUE(ok(gpumem_profile_report(ctx, rows.data(), count, &count)));
  rows.resize(static_cast<size_t>(count));
  return rows;
}

std::string last_problem() {
  char line[512];
  EXPECT_TRUE(ok(gpumem_last_problem(line, sizeof line, nullptr)));
  return line;
}

std::string contents_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class Profile : public OnEachContext {
 protected:
  static constexpr int64_t kN = 10000;

  void TearDown() override {
    EXPECT_TRUE(ok(gpumem_profile_end(ctx)));
    std::filesystem::remove_all(folder);
    x.reset();
    z.reset();
    OnEachContext::TearDown();
  }

  // Each call three times: a fill, a sum, z = x + x; the problem lines.
  std::vector<std::string> work() {
    std::vector<std::string> lines;
    const unsigned char pattern = 0;
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(ok(gpumem_fill(ctx, x->get(), &pattern, 1, kN * 4)));
      if (i == 0) lines.push_back(last_problem());
      double sum = 1;
      EXPECT_TRUE(ok(gpumem_reduce_f32(ctx, GPUMEM_SUM, static_cast<float*>(x->get()), kN, 1, &sum)));
      if (i == 0) lines.push_back(last_problem());
      EXPECT_TRUE(ok(gpumem_axpby_f32_async(ctx, 1, static_cast<float*>(x->get()), 1, static_cast<float*>(x->get()),
                                            static_cast<float*>(z->get()), kN, nullptr)));
      if (i == 0) lines.push_back(last_problem());
    }
    EXPECT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
    return lines;
  }

  std::unique_ptr<Memory> x = std::make_unique<Memory>(ctx, GPUMEM_MEMORY_DEVICE, kN * 4);
  std::unique_ptr<Memory> z = std::make_unique<Memory>(ctx, GPUMEM_MEMORY_DEVICE, kN * 4);
  std::string folder = make_folder();

 private:
  static std::string make_folder() {
    std::string name = testing::TempDir() + "gpumem_profile_XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    return name;
  }
};

TEST_P(Profile, HasARowForEachProblemAndOneForKindsOfMemory) {
  work();
  EXPECT_TRUE(rows_of(ctx).empty()) << "recorded while off";
  ASSERT_TRUE(ok(gpumem_profile_begin(ctx, 100)));
  const std::vector<std::string> lines = work();
  ASSERT_TRUE(ok(gpumem_profile_end(ctx)));
  work();
  const auto rows = rows_of(ctx);
  ASSERT_EQ(rows.size(), 4u) << "three problems, device to device";
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return lines[i] == r.problem; });
    ASSERT_NE(row, rows.end()) << lines[i];
    EXPECT_EQ(row->calls, 3);
    EXPECT_EQ(row->timed, 3);
    const int64_t arrays[] = {1, 1, 3};
    EXPECT_EQ(row->bytes, 3 * arrays[i] * kN * 4) << lines[i];
    EXPECT_GT(row->median_s, 0);
    EXPECT_LT(row->median_s, 10);
    EXPECT_GT(row->total_s, row->median_s);
    EXPECT_NEAR(row->bytes_per_s, static_cast<double>(row->bytes) / row->total_s, 1e-6 * row->bytes_per_s);
    EXPECT_EQ(row->flops_per_s > 0, i == 2) << lines[i];
    char text[4096];
    ASSERT_TRUE(ok(gpumem_explain(ctx, row->problem, GPUMEM_FORMAT_TEXT, text, sizeof text, nullptr)));
    EXPECT_NE(std::string(text).find(std::string("variant   ") + row->variant + ","), std::string::npos) << text;
  }
  EXPECT_STREQ(rows[3].problem, "device to device");
  EXPECT_EQ(rows[3].calls, 9);
  EXPECT_GE(rows[0].total_s, rows[1].total_s);
}

TEST_P(Profile, HasAShareOfTheCeilingOnlyOfWhatCachesCanNotHold) {
  gpumem_device_info device;
  ASSERT_TRUE(ok(gpumem_device_info_init(&device, sizeof device)));
  ASSERT_TRUE(ok(gpumem_ctx_device(ctx, &device)));
  const int64_t cached = 2 * device.l2_bytes;
  const bool has_room = cached <= int64_t{1} << 30 && std::getenv("GPUMEM_TEST_QUICK") == nullptr;
  const int64_t more = has_room ? cached + 4096 : kN;
  gpumem_ceiling_info ceiling;
  ASSERT_TRUE(ok(gpumem_ceiling_info_init(&ceiling, sizeof ceiling)));
  ASSERT_TRUE(ok(gpumem_ceiling(ctx, &ceiling)));
  const Memory large(ctx, GPUMEM_MEMORY_DEVICE, more);
  const unsigned char pattern = 0;
  ASSERT_TRUE(ok(gpumem_profile_begin(ctx, 100)));
  for (const int64_t bytes : {int64_t{4096}, more}) {
    uint64_t sum = 0;
    ASSERT_TRUE(ok(gpumem_fill(ctx, large.get(), &pattern, 1, bytes)));
    ASSERT_TRUE(ok(gpumem_reduce(ctx, GPUMEM_U8, GPUMEM_SUM, large.get(), bytes, 1, &sum)));
    ASSERT_TRUE(ok(gpumem_copy(ctx, large.get(), static_cast<char*>(large.get()) + bytes / 2, bytes / 2)));
  }
  ASSERT_TRUE(ok(gpumem_profile_end(ctx)));
  const auto rows = rows_of(ctx);
  ASSERT_EQ(rows.size(), 7u) << "two of each, and the kinds of memory";
  for (const gpumem_profile_row& row : rows) {
    const std::string problem = row.problem;
    const int64_t most = problem.starts_with("fill")     ? ceiling.write
                         : problem.starts_with("reduce") ? ceiling.read
                         : problem.starts_with("copy")   ? ceiling.copy
                                                         : 0;
    const double share = row.bytes > cached && most > 0 ? row.bytes_per_s / static_cast<double>(most) : 0;
    EXPECT_NEAR(row.of_ceiling, share, 1e-9 * share) << problem;
  }
}

TEST_P(Profile, OldRecordsMakeRoomAndCountByKindsOfMemory) {
  ASSERT_TRUE(ok(gpumem_profile_begin(ctx, 2)));
  const unsigned char pattern = 0;
  for (int64_t n = 1; n <= 20; ++n) EXPECT_TRUE(ok(gpumem_fill_async(ctx, x->get(), &pattern, 1, n, nullptr)));
  EXPECT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
  const auto rows = rows_of(ctx);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_NE(std::string(rows[0].problem) + rows[1].problem, "");
  for (size_t i = 0; i < 2; ++i) {
    const std::string line = rows[i].problem;
    EXPECT_TRUE(line.find("n=19 ") != std::string::npos || line.find("n=20 ") != std::string::npos) << line;
  }
  EXPECT_EQ(rows[2].calls, 20);
  EXPECT_EQ(rows[2].bytes, 20 * 21 / 2);
}

TEST_P(Profile, CallsThatDoNothingOrFailAreNoRecords) {
  ASSERT_TRUE(ok(gpumem_profile_begin(ctx, 10)));
  const unsigned char pattern = 0;
  EXPECT_TRUE(ok(gpumem_fill(ctx, x->get(), &pattern, 1, 0)));
  EXPECT_FALSE(gpumem_fill(ctx, nullptr, &pattern, 1, 1) == GPUMEM_OK);
  EXPECT_FALSE(gpumem_fill(ctx, x->get(), &pattern, 3, 1) == GPUMEM_OK);
  double sum = 1;
  EXPECT_TRUE(ok(gpumem_reduce_f32(ctx, GPUMEM_SUM, static_cast<float*>(x->get()), 0, 1, &sum)));
  EXPECT_EQ(sum, 0);
  EXPECT_TRUE(ok(gpumem_reduce_async(ctx, GPUMEM_F32, GPUMEM_SUM, x->get(), 0, 1, z->get(), nullptr, nullptr)));
  EXPECT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
  EXPECT_TRUE(rows_of(ctx).empty());
}

TEST_P(Profile, CopiesOfHeapMemoryHaveATimeAndTheBytesThatCross) {
  std::vector<char> heap(1 << 20, 1);
  const Memory room(ctx, GPUMEM_MEMORY_DEVICE, heap.size());
  ASSERT_TRUE(ok(gpumem_profile_begin(ctx, 10)));
  EXPECT_TRUE(ok(gpumem_copy(ctx, room.get(), heap.data(), static_cast<int64_t>(heap.size()))));
  EXPECT_TRUE(ok(gpumem_copy_async(ctx, heap.data(), room.get(), static_cast<int64_t>(heap.size()), nullptr)));
  EXPECT_TRUE(ok(gpumem_ctx_synchronize(ctx)));
  const auto rows = rows_of(ctx);
  ASSERT_EQ(rows.size(), 4u);
  for (const auto& row : rows) {
    EXPECT_EQ(row.calls, 1) << row.problem;
    EXPECT_EQ(row.timed, 1) << row.problem;
    EXPECT_GT(row.total_s, 0) << row.problem;
    EXPECT_EQ(row.bytes, int64_t{1} << 20) << row.problem;
  }
  EXPECT_STREQ(rows[2].problem, "pageable to device");
  EXPECT_STREQ(rows[3].problem, "device to pageable");
}

// The threads of a pool may take all pieces of a copy, and leave the calling thread none.
TEST_P(Profile, CopiesThatOtherThreadsMoveAreRecorded) {
  gpumem_ctx_options options = options_for(GetParam(), 4);
  options.parallel_for = [](void*, int64_t tasks, gpumem_task_fn task, void* state) {
    std::thread([=] {
      for (int64_t i = 0; i < tasks; ++i) task(state, i);
    }).join();
  };
  const Context other(options);
  std::vector<char> heap(4 << 20, 1);
  const Memory room(other, GPUMEM_MEMORY_DEVICE, heap.size());
  ASSERT_TRUE(ok(gpumem_profile_begin(other, 10)));
  EXPECT_TRUE(ok(gpumem_copy(other, room.get(), heap.data(), static_cast<int64_t>(heap.size()))));
  EXPECT_TRUE(ok(gpumem_copy(other, heap.data(), room.get(), static_cast<int64_t>(heap.size()))));
  EXPECT_EQ(rows_of(other).size(), 4u);
}

TEST_P(Profile, IsWrittenInEachFormat) {
  ASSERT_TRUE(ok(gpumem_profile_begin(ctx, 100)));
  const std::vector<std::string> lines = work();
  const std::string path = folder + "/profile";
  const auto written = [&](gpumem_format format) {
    EXPECT_TRUE(ok(gpumem_profile_write(ctx, format, path.c_str())));
    return contents_of(path);
  };
  const std::string text = written(GPUMEM_FORMAT_TEXT);
  const std::string csv = written(GPUMEM_FORMAT_CSV);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);
  for (const std::string& line : lines) {
    EXPECT_NE(text.find(line), std::string::npos) << text;
    EXPECT_NE(csv.find(line), std::string::npos) << csv;
  }
  const auto json = JsonReader(written(GPUMEM_FORMAT_JSON)).read();
  ASSERT_TRUE(json);
  EXPECT_EQ(json->member("schema").text, "gpumem.profile/1");
  ASSERT_EQ(json->member("rows").items.size(), 4u);
  EXPECT_EQ(json->member("rows").items[3].member("problem").text, "device to device");
  EXPECT_EQ(json->member("rows").items[3].member("calls").text, "9");
  for (size_t i = 0; i < 4; ++i) {  // short calls too
    EXPECT_NEAR(std::stod(json->member("rows").items[i].member("total_ms").text), rows_of(ctx)[i].total_s * 1e3, 1e-6);
  }
  // What Perfetto and chrome://tracing read: complete events with a name, a begin and a duration in microseconds, and a track.
  const auto trace = JsonReader(written(GPUMEM_FORMAT_TRACE)).read();
  ASSERT_TRUE(trace);
  const auto& events = trace->member("traceEvents").items;
  ASSERT_EQ(events.size(), 9u);
  for (const Json& event : events) {
    EXPECT_EQ(event.member("ph").text, "X");
    EXPECT_NE(event.member("name").text, "");
    for (const char* number : {"pid", "tid", "ts", "dur"}) {
      EXPECT_EQ(event.member(number).type, Json::Type::number) << number;
    }
    EXPECT_GE(std::stod(event.member("dur").text), 0);
    EXPECT_GE(std::stod(event.member("ts").text), 0);
    EXPECT_LT(std::stod(event.member("ts").text), 60e6);
    EXPECT_TRUE(std::count(lines.begin(), lines.end(), event.member("args").member("problem").text) == 1);
  }
}

TEST_P(Profile, TheTraceHasATrackForEachThreadThatBlocks) {
  const std::vector<float> numbers(kN);
  ASSERT_TRUE(ok(gpumem_profile_begin(ctx, 100)));
  for (int i = 0; i < 2; ++i) {
    std::thread([&] {
      double sum = 0;
      EXPECT_TRUE(ok(gpumem_reduce_f32(ctx, GPUMEM_SUM, numbers.data(), kN, 1, &sum)));
    }).join();
  }
  const std::string path = folder + "/threads";
  ASSERT_TRUE(ok(gpumem_profile_write(ctx, GPUMEM_FORMAT_TRACE, path.c_str())));
  const auto trace = JsonReader(contents_of(path)).read();
  ASSERT_TRUE(trace);
  const auto& events = trace->member("traceEvents").items;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_NE(events[0].member("tid").text, events[1].member("tid").text);
}

TEST_P(Profile, AFactorOfZeroReadsNothing) {
  const auto* const from = static_cast<const float*>(x->get());
  auto* const to = static_cast<float*>(z->get());
  ASSERT_TRUE(ok(gpumem_profile_begin(ctx, 100)));
  for (const auto& [alpha, beta] : {std::pair(1.0f, 1.0f), {0.0f, 1.0f}, {1.0f, 0.0f}, {0.0f, 0.0f}}) {
    ASSERT_TRUE(ok(gpumem_axpby_f32(ctx, alpha, from, beta, from, to, kN)));
    const std::string line = last_problem();
    const auto rows = rows_of(ctx);
    const auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return line == r.problem; });
    ASSERT_NE(row, rows.end()) << line;
    EXPECT_EQ(row->bytes, (1 + (alpha != 0) + (beta != 0)) * kN * 4) << line;
  }
}

TEST_P(Profile, AProblemWithCommasIsOneCellOfACsv) {
  const int64_t extents[] = {4, 5, 6};
  const int32_t order[] = {2, 0, 1};
  ASSERT_TRUE(ok(gpumem_profile_begin(ctx, 100)));
  ASSERT_TRUE(ok(gpumem_permute(ctx, 4, 3, extents, order, x->get(), nullptr, z->get(), nullptr)));
  const std::string line = last_problem();
  ASSERT_NE(line.find("order=2,0,1"), std::string::npos) << line;
  const std::string path = folder + "/profile";
  ASSERT_TRUE(ok(gpumem_profile_write(ctx, GPUMEM_FORMAT_CSV, path.c_str())));
  EXPECT_NE(contents_of(path).find(",\"" + line + "\"\n"), std::string::npos) << contents_of(path);
}

TEST_P(Profile, BadArgumentsAndPathsAreRefused) {
  for (const int64_t most : {int64_t{0}, int64_t{-1}, (int64_t{1} << 24) + 1, INT64_MAX}) {
    EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_profile_begin(ctx, most), {"most_records"}));
  }
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_profile_write(ctx, 4, "/dev/null"), {"format"}));
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_profile_write(ctx, GPUMEM_FORMAT_CSV, ""), {"path"}));
  EXPECT_TRUE(refused(GPUMEM_FILE_ERROR, gpumem_profile_write(ctx, GPUMEM_FORMAT_CSV, "/dev/null"), {"/dev/null"}));
  const std::string missing = folder + "/missing/profile";
  EXPECT_TRUE(refused(GPUMEM_FILE_ERROR, gpumem_profile_write(ctx, GPUMEM_FORMAT_CSV, missing.c_str()), {"missing"}));
  EXPECT_TRUE(std::filesystem::is_empty(folder)) << "something was left behind";
  const std::string link = folder + "/link";
  std::filesystem::create_symlink("target", link);
  EXPECT_TRUE(
      refused(GPUMEM_FILE_ERROR, gpumem_profile_write(ctx, GPUMEM_FORMAT_CSV, link.c_str()), {"symbolic link"}));
}

TEST_P(Profile, TheEnvironmentNeedsNoChangeToTheProgram) {
  const std::string path = folder + "/run.csv";
  const auto files = [&] {
    std::vector<std::string> found;
    for (const auto& file : std::filesystem::directory_iterator(folder)) found.push_back(file.path());
    return found;
  };
  {
    const ScopedVariable variable("GPUMEM_PROFILE", path.c_str());
    Context own(GetParam());
    const Memory room(own, GPUMEM_MEMORY_PINNED, 64);
    const unsigned char pattern = 0;
    EXPECT_TRUE(ok(gpumem_fill(own, room.get(), &pattern, 1, 64)));
    ASSERT_EQ(files().size(), 1u);
    EXPECT_EQ(contents_of(files()[0]), "") << "written before the context ended";
  }
  ASSERT_EQ(files().size(), 1u);
  const std::string file = files()[0];
  EXPECT_EQ(file.rfind(path + "." + std::to_string(::getpid()) + ".", 0), 0u) << file;
  EXPECT_NE(contents_of(file).find("fill bytes=1 n=64 dst=pinned"), std::string::npos) << contents_of(file);
  {
    const ScopedVariable variable("GPUMEM_PROFILE", (folder + "/run.trace").c_str());
    const Context own(GetParam());
  }
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  {
    const ScopedVariable variable("GPUMEM_PROFILE", "relative.trace");
    const Context own(GetParam());
    std::filesystem::current_path("/");
  }
  std::filesystem::current_path(before);
  EXPECT_EQ(files().size(), 3u);
  for (const std::string& trace : files()) {
    EXPECT_EQ(trace == file, contents_of(trace).find("traceEvents") == std::string::npos) << trace;
  }
  const ScopedVariable variable("GPUMEM_PROFILE", (folder + "/missing/run").c_str());
  gpumem_ctx* none = nullptr;
  const gpumem_ctx_options options = options_for(GetParam());
  EXPECT_TRUE(refused(GPUMEM_FILE_ERROR, gpumem_ctx_create(&options, &none), {"missing"}));
}

INSTANTIATE_TEST_SUITE_P(On, Profile, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
