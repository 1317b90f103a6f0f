// gpumem_memory_trace(): what is in the file, and what is said where it can't be written.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/contexts.hpp"
#include "support/environment.hpp"

namespace gpumem_test {
namespace {

using Words = std::vector<std::string>;

class Trace : public OnEachContext {
 protected:
  void TearDown() override {
    EXPECT_TRUE(ok(gpumem_memory_trace(ctx, nullptr)));
    std::filesystem::remove_all(folder);
    OnEachContext::TearDown();
  }

  // The events so far: the letter, and what comes behind the time and the thread.
  std::vector<Words> events() const { return events_in(path); }

  static std::vector<Words> events_in(const std::string& file) {
    std::ifstream in(file);
    std::string line;
    EXPECT_TRUE(std::getline(in, line));
    EXPECT_EQ(line, "gpumem-trace 1");
    std::vector<Words> events;
    int64_t before = 0;
    while (std::getline(in, line)) {
      std::istringstream fields(line);
      Words event(1);
      int64_t ns = 0;
      int64_t thread = 0;
      fields >> event[0] >> ns >> thread;
      EXPECT_GE(ns, before) << line;
      EXPECT_GT(thread, 0) << line;
      before = ns;
      for (std::string word; fields >> word;) event.push_back(word);
      events.push_back(event);
    }
    return events;
  }

  std::string folder = make_folder();
  std::string path = folder + "/trace";

 private:
  static std::string make_folder() {
    std::string name = testing::TempDir() + "gpumem_trace_XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    return name;
  }
};

std::string hex(const void* p) {
  std::ostringstream out;
  out << "0x" << std::hex << reinterpret_cast<uintptr_t>(p);
  return out.str();
}

constexpr const char* kAllStreams = "0x0";

TEST_P(Trace, GoesThroughNoLink) {
  const std::string file = folder + "/file";
  std::ofstream(file) << "kept";
  std::filesystem::create_symlink(file, path);
  EXPECT_TRUE(refused(GPUMEM_FILE_ERROR, gpumem_memory_trace(ctx, path.c_str()), {path, "link"}));
  EXPECT_EQ(std::filesystem::file_size(file), 4U);
}

TEST_P(Trace, HasEachAllocationAndFreeOfEachKind) {
  ASSERT_TRUE(ok(gpumem_memory_trace(ctx, path.c_str())));
  void* device = nullptr;
  void* pinned = nullptr;
  void* managed = nullptr;
  ASSERT_TRUE(ok(gpumem_alloc_device(ctx, 1000, &device)));
  ASSERT_TRUE(ok(gpumem_alloc_pinned(ctx, 1, &pinned)));
  ASSERT_TRUE(ok(gpumem_alloc_managed(ctx, 70000, &managed)));
  ASSERT_TRUE(ok(gpumem_free(ctx, managed)));
  ASSERT_TRUE(ok(gpumem_free(ctx, device)));
  ASSERT_TRUE(ok(gpumem_memory_trim(ctx, 4096)));
  ASSERT_TRUE(ok(gpumem_free(ctx, pinned)));
  const std::vector<Words> expected = {{"a", hex(device), "1000", "device", "256", kAllStreams},
                                       {"a", hex(pinned), "1", "pinned", "256", kAllStreams},
                                       {"a", hex(managed), "70000", "managed", "256", kAllStreams},
                                       {"f", hex(managed), kAllStreams},
                                       {"f", hex(device), kAllStreams},
                                       {"t", "4096"},
                                       {"f", hex(pinned), kAllStreams}};
  EXPECT_EQ(events(), expected);
}

TEST_P(Trace, TellsStreamsApart) {
  gpumem_stream* stream = nullptr;
  ASSERT_TRUE(ok(gpumem_stream_create(ctx, &stream)));
  ASSERT_TRUE(ok(gpumem_memory_trace(ctx, path.c_str())));
  void* a = nullptr;
  void* b = nullptr;
  ASSERT_TRUE(ok(gpumem_alloc_async(ctx, 100, 4096, stream, &a)));
  ASSERT_TRUE(ok(gpumem_alloc_async(ctx, 200, 1, nullptr, &b)));
  ASSERT_TRUE(ok(gpumem_memory_used_on(ctx, b, stream)));
  ASSERT_TRUE(ok(gpumem_free_async(ctx, a, nullptr)));
  ASSERT_TRUE(ok(gpumem_free_async(ctx, b, nullptr)));
  const std::vector<Words> seen = events();
  ASSERT_EQ(seen.size(), 5u);
  // A device may be without stream-ordered memory: it is for all streams then.
  const bool for_all = on_cuda() && seen[0][5] == kAllStreams;
  const std::string& own = seen[1][5];
  const std::string& other = seen[0][5];
  if (!for_all) {
    EXPECT_NE(own, other);
    EXPECT_NE(own, kAllStreams);
    EXPECT_NE(other, kAllStreams);
  }
  EXPECT_NE(seen[2][2], kAllStreams);
  EXPECT_EQ(seen[0], (Words{"a", hex(a), "100", "device", "4096", other}));
  EXPECT_EQ(seen[2], (Words{"u", hex(b), for_all ? seen[2][2] : other}));
  EXPECT_EQ(seen[3], (Words{"f", hex(a), own}));
  EXPECT_EQ(seen[4], (Words{"f", hex(b), own}));
  ASSERT_TRUE(ok(gpumem_stream_destroy(stream)));
}

TEST_P(Trace, HasNothingOfWhatFailed) {
  ASSERT_TRUE(ok(gpumem_memory_trace(ctx, path.c_str())));
  void* p = nullptr;
  EXPECT_TRUE(gives(GPUMEM_OUT_OF_MEMORY, gpumem_alloc_device(ctx, INT64_MAX, &p)));
  EXPECT_TRUE(gives(GPUMEM_INVALID_POINTER, gpumem_free(ctx, &p)));
  EXPECT_TRUE(gives(GPUMEM_INVALID_ARGUMENT, gpumem_memory_trim(ctx, -1)));
  ASSERT_TRUE(ok(gpumem_alloc_device(ctx, 0, &p)));
  ASSERT_TRUE(ok(gpumem_free(ctx, nullptr)));
  EXPECT_TRUE(events().empty());
}

TEST_P(Trace, EndsAndBeginsAnew) {
  ASSERT_TRUE(ok(gpumem_memory_trace(ctx, path.c_str())));
  void* p = nullptr;
  ASSERT_TRUE(ok(gpumem_alloc_device(ctx, 1000, &p)));
  ASSERT_TRUE(ok(gpumem_memory_trace(ctx, nullptr)));
  ASSERT_TRUE(ok(gpumem_memory_trace(ctx, nullptr)));
  ASSERT_TRUE(ok(gpumem_free(ctx, p)));
  EXPECT_EQ(events().size(), 1u);
  ASSERT_TRUE(ok(gpumem_memory_trace(ctx, path.c_str())));
  EXPECT_TRUE(events().empty()) << "the file is made anew";
  ASSERT_TRUE(ok(gpumem_memory_trace(ctx, (path + "2").c_str())));
  ASSERT_TRUE(ok(gpumem_alloc_device(ctx, 1000, &p)));
  ASSERT_TRUE(ok(gpumem_free(ctx, p)));
  EXPECT_TRUE(events().empty());
  EXPECT_EQ(events_in(path + "2").size(), 2u);
}

// A block is another's only once its free is in the file.
TEST_P(Trace, OfManyThreadsNeverGivesABlockTwice) {
  ASSERT_TRUE(ok(gpumem_memory_trace(ctx, path.c_str())));
  constexpr int kThreads = 4;
  constexpr int kRounds = 300;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < kRounds; ++i) {
        void* p = nullptr;
        EXPECT_TRUE(ok(gpumem_alloc_async(ctx, 512, 1, nullptr, &p)));
        EXPECT_TRUE(ok(t % 2 == 0 ? gpumem_free_async(ctx, p, nullptr) : gpumem_free(ctx, p)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> live;
  for (const Words& event : events()) {
    if (event[0] == "a") {
      ASSERT_TRUE(live.insert(event[1]).second) << event[1] << " was given twice";
    } else {
      ASSERT_EQ(live.erase(event[1]), 1u) << event[1] << " was freed twice";
    }
  }
  EXPECT_TRUE(live.empty());
  EXPECT_EQ(events().size(), 2u * kThreads * kRounds);
}

TEST_P(Trace, WantsAnOrdinaryFile) {
  EXPECT_TRUE(refused(GPUMEM_INVALID_ARGUMENT, gpumem_memory_trace(ctx, ""), {"path", "''"}));
  const std::string nowhere = folder + "/nowhere/trace";
  EXPECT_TRUE(refused(GPUMEM_FILE_ERROR, gpumem_memory_trace(ctx, nowhere.c_str()), {nowhere, "No such file"}));
  EXPECT_TRUE(refused(GPUMEM_FILE_ERROR, gpumem_memory_trace(ctx, folder.c_str()), {folder, "directory"}));
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(gives(GPUMEM_FILE_ERROR, gpumem_memory_trace(ctx, path.c_str()))) << "nobody reads the pipe";
  EXPECT_TRUE(refused(GPUMEM_FILE_ERROR, gpumem_memory_trace(ctx, "/dev/null"), {"/dev/null", "ordinary file"}));
}

TEST_P(Trace, TwoAreNeverWrittenToOneFile) {
  const Context other(GetParam());
  ASSERT_TRUE(ok(gpumem_memory_trace(ctx, path.c_str())));
  EXPECT_TRUE(refused(GPUMEM_FILE_ERROR, gpumem_memory_trace(other, path.c_str()), {path, "another trace"}));
  ASSERT_TRUE(ok(gpumem_memory_trace(ctx, nullptr)));
  EXPECT_TRUE(ok(gpumem_memory_trace(other, path.c_str())));
}

// The system would end the process by a signal.
TEST_P(Trace, StopsAtTheLargestFileThatTheProcessMayWrite) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{200, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  ASSERT_TRUE(ok(gpumem_memory_trace(ctx, path.c_str())));
  for (int i = 0; i < 5; ++i) {
    void* p = nullptr;
    ASSERT_TRUE(ok(gpumem_alloc_device(ctx, 1000, &p)));
    ASSERT_TRUE(ok(gpumem_free(ctx, p)));
  }
  EXPECT_TRUE(refused(GPUMEM_FILE_ERROR, gpumem_memory_trace(ctx, nullptr), {"not complete", "large"}));
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  const auto whole = events();
  EXPECT_LT(whole.size(), 10u);
  EXPECT_FALSE(whole.empty());
  EXPECT_TRUE(ok(gpumem_memory_trace(ctx, nullptr))) << "it has ended";
}

TEST_P(Trace, TheEnvironmentGivesEachContextAFile) {
  const ScopedVariable variable("GPUMEM_TRACE", path.c_str());
  for (int i = 0; i < 2; ++i) {
    Context traced(GetParam());
    void* p = nullptr;
    ASSERT_TRUE(ok(gpumem_alloc_device(traced, 1000, &p)));
    ASSERT_TRUE(ok(gpumem_free(traced, p)));
  }
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    EXPECT_EQ(name.rfind("trace." + std::to_string(::getpid()) + ".", 0), 0u) << name;
    EXPECT_EQ(events_in(entry.path()).size(), 2u);
    ++files;
  }
  EXPECT_EQ(files, 2);
}

TEST_P(Trace, TheEnvironmentsFileMustBeThere) {
  const std::string nowhere = folder + "/nowhere/trace";
  const ScopedVariable variable("GPUMEM_TRACE", nowhere.c_str());
  gpumem_ctx* refused_ctx = nullptr;
  const gpumem_ctx_options options = options_for(GetParam());
  EXPECT_TRUE(refused(GPUMEM_FILE_ERROR, gpumem_ctx_create(&options, &refused_ctx), {nowhere}));
  EXPECT_EQ(refused_ctx, nullptr);
}

INSTANTIATE_TEST_SUITE_P(On, Trace, testing::ValuesIn(contexts_here()), OnEachContext::name);

}  // namespace
}  // namespace gpumem_test
