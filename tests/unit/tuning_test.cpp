// Tuning: what is measured, what is kept of it, and files that several processes write.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "context/process.hpp"
#include "gpumem.h"
#include "ops/call_work.hpp"
#include "ops/problem_line.hpp"
#include "ops/tune.hpp"
#include "ops/tuning.hpp"
#include "select/variants.hpp"
#include "tests/support/sanitizers.hpp"

namespace gpumem {
namespace {

constexpr const char* kLine = "reduce dtype=f32 op=sum n=3000000 x=pageable";

TunedRow row_of(const char* variant) {
  const int32_t row = find_variant(family_names(GPUMEM_FAMILY_REDUCE), variant);
  return {row, row < 0 ? 1 : ReduceFamily::table()[static_cast<size_t>(row)].revision};
}

uint64_t class_of(const std::string& line) { return problem_class(parse_line(line)); }

class TuningOf : public testing::Test {
 protected:
  TuningOf() {
    gpumem_ctx_options options;
    gpumem_ctx_options_init(&options, sizeof options);
    options.device = GPUMEM_DEVICE_HOST;
    EXPECT_EQ(gpumem_ctx_create(&options, &handle), GPUMEM_OK);
    context = &object_of<Context>(reinterpret_cast<uintptr_t>(handle), HandleType::context, "ctx");
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    path = folder + "/tuning";
  }
  ~TuningOf() override {
    gpumem_ctx_destroy(handle);
    std::filesystem::remove_all(folder);
  }

  std::string key() const { return device_key(context->host().props()); }
  // A line of a file.
  std::string entry(const std::string& line, const char* variant, int later = 0) const {
    return key() + "\t" + line + "\t" + variant + "\t" + std::to_string(row_of(variant).revision + later) + "\t1.5\n";
  }
  void write(const std::string& text) const { std::ofstream(path) << text; }
  std::string explained(const char* line = kLine) const {
    char text[4096] = {};
    EXPECT_EQ(gpumem_explain(handle, line, GPUMEM_FORMAT_TEXT, text, sizeof text, nullptr), GPUMEM_OK);
    return text;
  }
  bool says(const char* what) const { return explained().find(what) != std::string::npos; }

  gpumem_ctx* handle = nullptr;
  Context* context = nullptr;
  std::string folder = testing::TempDir() + "gpumem_tuning_XXXXXX";
  std::string path;
};

TEST_F(TuningOf, IsTakenForItsClassAlone) {
  write("# a comment\n" + entry(kLine, "host_serial"));
  int64_t taken = -1, skipped = -1;
  ASSERT_EQ(gpumem_tuning_load(handle, path.c_str(), &taken, &skipped), GPUMEM_OK);
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(skipped, 0);
  EXPECT_TRUE(says("host_serial, chosen by the tuning")) << explained();
  for (const char* like :
       {"reduce dtype=f32 op=sum n=4000000 x=pageable", "reduce dtype=f32 op=sum n=3000001 x=pageable"}) {
    EXPECT_NE(explained(like).find("chosen by the tuning"), std::string::npos) << explained(like);
  }
  for (const char* other :
       {"reduce dtype=f32 op=sum n=5000000 x=pageable", "reduce dtype=f64 op=sum n=3000000 x=pageable",
        "reduce dtype=f32 op=sum n=3000000 x=pinned", "reduce dtype=f32 op=sum n=3000000 stride=2 x=pageable",
        "reduce dtype=f32 op=sum n=3000000 x=pageable x_misaligned=4"}) {
    EXPECT_NE(explained(other).find("chosen by the table"), std::string::npos) << explained(other);
  }
  ASSERT_EQ(gpumem_variant_force(handle, GPUMEM_FAMILY_REDUCE, "host_strided"), GPUMEM_OK);
  EXPECT_TRUE(says("host_strided, chosen by the program"));
  ASSERT_EQ(gpumem_variant_force(handle, GPUMEM_FAMILY_REDUCE, nullptr), GPUMEM_OK);
  ASSERT_EQ(gpumem_tuning_clear(handle), GPUMEM_OK);
  EXPECT_TRUE(says("chosen by the table"));
}

TEST_F(TuningOf, ClassesAreOfSizesByPowersOfTwoAndOfStridesByWhatDividesThem) {
  struct Case {
    const char* line;
    std::vector<const char*> like;
    std::vector<const char*> other;
  };
  for (const Case& c : {
           Case{"fill bytes=4 n=1000 dst=device",
                {"fill bytes=4 n=512 dst=device", "fill bytes=4 n=1001 dst=device", "fill bytes=4 n=1023 dst=device"},
                {"fill bytes=4 n=511 dst=device", "fill bytes=4 n=1024 dst=device", "fill bytes=8 n=1000 dst=device"}},
           Case{"convert from=f32 to=f16 n=16 src=device dst=device",
                {},
                {"convert from=f32 to=f16 n=15 src=device dst=device",
                 "convert from=f32 to=f16 n=17 src=device dst=device"}},
           Case{"copy bytes=1000 src=device dst=device", {"copy bytes=1001 src=device dst=device"}, {}},
           Case{"copy bytes=1000 rows=30 src=device dst=device",
                {"copy bytes=1016 rows=31 src=device dst=device"},
                {"copy bytes=1004 rows=30 src=device dst=device", "copy bytes=1000 rows=32 src=device dst=device"}},
           Case{"transpose bytes=4 rows=64 cols=64 src=device dst=device",
                {"transpose bytes=4 rows=80 cols=112 src=device dst=device"},
                {"transpose bytes=4 rows=63 cols=64 src=device dst=device",
                 "transpose bytes=4 rows=65 cols=64 src=device dst=device",
                 "transpose bytes=4 rows=64 cols=72 src=device dst=device",
                 "transpose bytes=4 rows=64 cols=64 src=device dst=src"}},
           Case{"transpose bytes=4 rows=100 cols=100 src_ld=128 dst_ld=128 src=device dst=device",
                {"transpose bytes=4 rows=101 cols=99 src_ld=144 dst_ld=240 src=device dst=device"},
                {"transpose bytes=4 rows=100 cols=100 src_ld=132 dst_ld=128 src=device dst=device"}},
           Case{"reduce dtype=f32 op=sum extents=50x40x30 strides=3000,60,1 x=device",
                {"reduce dtype=f32 op=sum extents=54x40x26 strides=2088,52,1 x=device"},
                {"reduce dtype=f32 op=sum n=60000 x=device", "reduce dtype=f32 op=sum extents=50x40x30 x=device",
                 "reduce dtype=f32 op=sum extents=50x40x31 strides=3000,60,1 x=device"}},
           Case{"reduce_axis dtype=f32 op=sum axis=rows rows=50 cols=40 batches=20 x=device",
                {"reduce_axis dtype=f32 op=sum axis=rows rows=54 cols=56 batches=21 x=device"},
                {"reduce_axis dtype=f32 op=sum axis=rows rows=50 cols=44 batches=20 x=device",
                 "reduce_axis dtype=f32 op=sum axis=cols rows=50 cols=40 batches=20 x=device"}},
           Case{"gather row_bytes=48 n=500 src_rows=300 index_type=i32 src=device index=device dst=device",
                {"gather row_bytes=48 n=501 src_rows=299 index_type=i32 src=device index=device dst=device"},
                {"gather row_bytes=49 n=500 src_rows=300 index_type=i32 src=device index=device dst=device",
                 "gather row_bytes=48 n=500 src_rows=300 index_type=i64 src=device index=device dst=device"}},
           Case{"select row_bytes=8 n=500 src=device mask=device dst=device",
                {"select row_bytes=8 n=501 src=device mask=device dst=device"},
                {"select row_bytes=12 n=500 src=device mask=device dst=device",
                 "select of=places index_type=i64 n=500 mask=device dst=device",
                 "select row_bytes=8 n=500 dst_rows=0 mask=device"}},
           Case{"reduce_by_index dtype=f32 op=sum n=500 bins=300 index_type=i32 x=device index=device",
                {"reduce_by_index dtype=f32 op=sum n=501 bins=299 index_type=i32 x=device index=device"},
                {"reduce_by_index dtype=f64 op=sum n=500 bins=300 index_type=i32 x=device index=device",
                 "reduce_by_index dtype=f32 op=sum n=500 cols=2 bins=300 index_type=i32 x=device index=device",
                 "reduce_by_index n=500 bins=300 index_type=i32 x=none index=device"}},
           Case{"copy_boxes bytes=8 count=500 extents=20x30x40 src=device dst=device",
                {"copy_boxes bytes=8 count=400 extents=28x18x56 src=device dst=device"},
                {"copy_boxes bytes=4 count=500 extents=20x30x40 src=device dst=device",
                 "copy_boxes bytes=8 count=500 extents=20x30x41 src=device dst=device",
                 "copy_boxes bytes=8 count=5 extents=20x30x40 src=device dst=device"}},
           Case{"permute bytes=4 extents=20x30x40 order=2,0,1 src=device dst=device",
                {"permute bytes=4 extents=28x18x56 order=2,0,1 src=device dst=device"},
                {"permute bytes=4 extents=21x30x40 order=2,0,1 src=device dst=device",
                 "permute bytes=4 extents=20x30x40 order=2,1,0 src=device dst=device"}},
           Case{"arithmetic op=multiply dtype=f64 extents=1000 x0=device x1=device z=device",
                {"arithmetic op=multiply dtype=f64 extents=1001 x0=device x1=device z=device"},
                {"arithmetic op=multiply dtype=f64 extents=1000 x0=device x1=x0 z=device"}},
           Case{"map kind=map op=add dtype=f64 extents=1000 x=device y=device z=device",
                {"map kind=map op=add dtype=f64 extents=1001 x=device y=device z=device"},
                {"map kind=map op=add dtype=f64 extents=1000 x=device y=device y_strides=0 z=device",
                 "map kind=map op=divide dtype=f64 extents=1000 x=device y=device z=device"}},
       }) {
    for (const char* like : c.like) EXPECT_EQ(class_of(c.line), class_of(like)) << c.line << "\n" << like;
    for (const char* other : c.other) EXPECT_NE(class_of(c.line), class_of(other)) << c.line << "\n" << other;
  }
}

// As older files have them, whose classes were smaller.
TEST_F(TuningOf, TakesTheLastLineOfAClass) {
  write(entry(kLine, "host_serial") + entry("reduce dtype=f32 op=sum n=3000001 x=pageable", "host_strided"));
  ASSERT_EQ(gpumem_tuning_load(handle, path.c_str(), nullptr, nullptr), GPUMEM_OK);
  EXPECT_TRUE(says("host_strided, chosen by the tuning")) << explained();
  ASSERT_EQ(gpumem_tuning_save(handle, path.c_str()), GPUMEM_OK);
  const std::string saved = *read_file("", path.c_str());
  EXPECT_EQ(saved.find("host_serial"), std::string::npos) << saved;
  EXPECT_NE(saved.find("n=3000001"), std::string::npos) << saved;
}

TEST_F(TuningOf, IsTakenFromTheFileOfTheEnvironment) {
  write(entry(kLine, "host_serial"));
  ::setenv("GPUMEM_TUNING", path.c_str(), 1);
  gpumem_ctx_destroy(std::exchange(handle, nullptr));
  gpumem_ctx_options options;
  gpumem_ctx_options_init(&options, sizeof options);
  options.device = GPUMEM_DEVICE_HOST;
  EXPECT_EQ(gpumem_ctx_create(&options, &handle), GPUMEM_OK);
  EXPECT_TRUE(says("host_serial, chosen by the tuning")) << explained();
  write("int main(void) { return 0; }\n");
  for (const std::string& bad : {path, path + "_missing"}) {
    ::setenv("GPUMEM_TUNING", bad.c_str(), 1);
    gpumem_ctx* none = nullptr;
    EXPECT_EQ(gpumem_ctx_create(&options, &none), GPUMEM_FILE_ERROR) << bad;
    EXPECT_EQ(none, nullptr);
  }
  ::unsetenv("GPUMEM_TUNING");
}

TEST_F(TuningOf, StaysWhereThereIsNoMemoryToTuneIn) {
  write(entry(kLine, "host_serial"));
  ASSERT_EQ(gpumem_tuning_load(handle, path.c_str(), nullptr, nullptr), GPUMEM_OK);
  gpumem_tune_info info;
  gpumem_tune_info_init(&info, sizeof info);
  const char* huge = "reduce dtype=f32 op=sum n=1000000000000000 x=pageable";
  EXPECT_EQ(gpumem_tune(handle, huge, nullptr, &info), GPUMEM_OUT_OF_MEMORY);
  EXPECT_TRUE(says("host_serial, chosen by the tuning")) << explained();
}

TEST(TuningKey, HasOneWordForAnyName) {
  DeviceProps props;
  std::snprintf(props.name, sizeof props.name, "a b\tc\xc3\xa9\x7f");
  props.multiprocessors = 3;
  EXPECT_EQ(device_key(props), "host:a_b_c___:0:0:3:0");
}

TEST_F(TuningOf, SkipsWhatItCanNotTakeAndTellsTheLog) {
  const std::string bad[] = {
      "nonsense\n",
      "\t\t\t\t\n",
      key() + "\t" + kLine + "\thost_serial\t1\n",
      entry(kLine, "host_serial", 99),
      entry(kLine, "no_such"),
      entry("reduce dtype=f32", "host_serial"),
      entry("no_family n=3", "host_serial"),
      key() + "\t" + kLine + "\thost_serial\tone\t1.5\n",
      key() + "\t" + kLine + "\thost_serial\t1\tnan\n",
      key() + "\t" + kLine + "\thost_serial\t1\t-2\n",
      key() + "\t" + kLine + "\thost_serial\t1\t1e7\n",
      "cuda:another\t" + std::string(kLine) + "\thost_serial\t1\t1.5\n",
      std::string("\0\xff\xfe", 3) + "\n",
  };
  std::string text;
  for (const std::string& line : bad) text += line;
  int told = 0;
  gpumem_ctx_set_log(
      handle, [](void* user, gpumem_log_level, const char*) { ++*static_cast<int*>(user); }, &told);
  write(text + entry(kLine, "host_strided"));
  int64_t taken = 0, skipped = 0;
  ASSERT_EQ(gpumem_tuning_load(handle, path.c_str(), &taken, &skipped), GPUMEM_OK);
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(skipped, static_cast<int64_t>(std::size(bad)));
  EXPECT_EQ(told, static_cast<int>(std::size(bad)));
  EXPECT_TRUE(says("host_strided, chosen by the tuning"));
  for (const std::string& no_file : {folder + "/none", folder, std::string("/dev/zero")}) {
    EXPECT_EQ(gpumem_tuning_load(handle, no_file.c_str(), nullptr, nullptr), GPUMEM_FILE_ERROR) << no_file;
  }
  EXPECT_TRUE(says("host_strided, chosen by the tuning")) << "a file that can't be read took it away";
}

TEST_F(TuningOf, TakesCommentsBehindALineAndEndsOfWindows) {
  const std::string plain = entry(kLine, "host_serial");
  const std::string bare = plain.substr(0, plain.size() - 1);
  for (const char* end : {"\r\n", " # slow\n", "\t# slow\r\n", " #"}) {
    ASSERT_EQ(gpumem_tuning_clear(handle), GPUMEM_OK);
    write("# a comment\r\n\r\n  # another\n" + bare + end);
    int64_t taken = 0, skipped = -1;
    ASSERT_EQ(gpumem_tuning_load(handle, path.c_str(), &taken, &skipped), GPUMEM_OK);
    EXPECT_EQ(taken, 1) << end;
    EXPECT_EQ(skipped, 0) << end;
    EXPECT_TRUE(says("host_serial, chosen by the tuning")) << end;
  }
  const std::string named = "cuda:A#1:9:0:132:13000" + bare.substr(bare.find('\t')) + " # kept\n";
  write(named);
  ASSERT_EQ(gpumem_tuning_save(handle, path.c_str()), GPUMEM_OK);
  EXPECT_NE(read_file("", path.c_str())->find("\n" + named), std::string::npos);
}

TEST_F(TuningOf, RefusesAndLeavesAloneAFileOfSomethingElse) {
  for (const char* content : {"#include <stdio.h>\nint main(void) { return 0; }\n", "{}", "# notes\nabout tuning",
                              "\x7f"
                              "ELF\t"}) {
    write(content);
    EXPECT_EQ(gpumem_tuning_save(handle, path.c_str()), GPUMEM_FILE_ERROR) << content;
    char error[512] = {};
    gpumem_last_error(error, sizeof error, nullptr);
    EXPECT_EQ(std::string(error), "'" + path + "' is not a tuning file; it was not changed");
    EXPECT_EQ(*read_file("", path.c_str()), content);
    EXPECT_EQ(gpumem_tuning_load(handle, path.c_str(), nullptr, nullptr), GPUMEM_FILE_ERROR) << content;
    gpumem_last_error(error, sizeof error, nullptr);
    EXPECT_EQ(std::string(error), "'" + path + "' is not a tuning file: no line has five fields");
  }
  for (const char* content : {"", "# notes\n", "# gpumem tuning: ...\nbroken\n"}) {
    write(content);
    EXPECT_EQ(gpumem_tuning_load(handle, path.c_str(), nullptr, nullptr), GPUMEM_OK) << content;
  }
  write("");
  EXPECT_EQ(gpumem_tuning_save(handle, path.c_str()), GPUMEM_OK) << "there was nothing to lose";
}

// The system would end the process by a signal.
TEST_F(TuningOf, IsNotWrittenWhereTheProcessMayNotWriteSoMuch) {
  write("# mine\n");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{4, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_EQ(gpumem_tuning_save(handle, path.c_str()), GPUMEM_FILE_ERROR);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(*read_file("", path.c_str()), "# mine\n");
}

TEST_F(TuningOf, IsNotReadFromAHugeFile) {
  write("");
  std::filesystem::resize_file(path, (uintmax_t{64} << 20) + 1);  // a hole
  EXPECT_EQ(gpumem_tuning_load(handle, path.c_str(), nullptr, nullptr), GPUMEM_FILE_ERROR);
  char error[512] = {};
  gpumem_last_error(error, sizeof error, nullptr);
  EXPECT_NE(std::string(error).find("64 MiB"), std::string::npos) << error;
}

TEST_F(TuningOf, KeepsAFilesModeAndComments) {
  write("# mine\n" + entry(kLine, "host_serial"));
  const auto mode =
      std::filesystem::perms::owner_read | std::filesystem::perms::owner_write | std::filesystem::perms::group_write;
  std::filesystem::permissions(path, mode);
  ASSERT_EQ(gpumem_tuning_save(handle, path.c_str()), GPUMEM_OK);
  ASSERT_EQ(gpumem_tuning_save(handle, path.c_str()), GPUMEM_OK);
  EXPECT_EQ(std::filesystem::status(path).permissions(), mode);
  const std::string saved = *read_file("", path.c_str());
  EXPECT_EQ(saved.find("# gpumem tuning"), 0u) << saved;
  EXPECT_EQ(saved.rfind("# gpumem tuning"), 0u) << saved;
  EXPECT_NE(saved.find("\n# mine\n"), std::string::npos) << saved;
}

TEST_F(TuningOf, SavesIntoAFileOfOthers) {
  const std::string foreign = "cuda:another\t" + std::string(kLine) + "\tlast_block\t1\t1.25\n";
  const std::string newer = key() + "\tfuture n=3\tfuturistic\t1\t2\n";
  const std::string other = entry("reduce dtype=f32 op=sum n=100 x=pageable", "host_serial");
  write("# gpumem tuning\nbroken\n" + foreign + newer + other + entry(kLine, "host_strided"));
  context->tuning().put({key(), kLine, class_of(kLine), GPUMEM_FAMILY_REDUCE, row_of("host_serial"), 1.75});
  ASSERT_EQ(gpumem_tuning_save(handle, path.c_str()), GPUMEM_OK);
  const std::string saved = *read_file("", path.c_str());
  for (const std::string& kept : {foreign, newer, other}) EXPECT_NE(saved.find(kept), std::string::npos) << saved;
  EXPECT_NE(saved.find("\n# broken\n"), std::string::npos) << saved;
  EXPECT_EQ(saved.find("host_strided"), std::string::npos) << saved;
  EXPECT_NE(
      saved.find(std::string(kLine) + "\thost_serial\t" + std::to_string(row_of("host_serial").revision) + "\t1.750\n"),
      std::string::npos)
      << saved;
  EXPECT_EQ(gpumem_tuning_save(handle, folder.c_str()), GPUMEM_FILE_ERROR);
  EXPECT_EQ(gpumem_tuning_save(handle, "/dev/full"), GPUMEM_FILE_ERROR);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "something was left behind";
}

TEST_F(TuningOf, SavingDropsWhatAnOlderRevisionWasMeasuredBy) {
  const std::string older = entry(kLine, "host_serial", -1);
  const std::string later = entry(kLine, "host_serial", 1);
  const std::string elsewhere = "host:another" + older.substr(older.find('\t'));
  write(older + later + elsewhere);
  ASSERT_EQ(gpumem_tuning_save(handle, path.c_str()), GPUMEM_OK);
  const std::string saved = *read_file("", path.c_str());
  EXPECT_EQ(saved.find("\n" + older), std::string::npos) << saved;
  for (const std::string& kept : {later, elsewhere}) EXPECT_NE(saved.find("\n" + kept), std::string::npos) << saved;
}

TEST_F(TuningOf, SavesWhatItLoadsWhereAFileIsDamaged) {
  const std::string good = entry(kLine, "host_serial");
  write("cut off\n" + good + "{}\n");
  int64_t taken = 0, skipped = 0;
  ASSERT_EQ(gpumem_tuning_load(handle, path.c_str(), &taken, &skipped), GPUMEM_OK);
  EXPECT_EQ(std::pair(taken, skipped), std::pair(int64_t{1}, int64_t{2}));
  ASSERT_EQ(gpumem_tuning_save(handle, path.c_str()), GPUMEM_OK);
  EXPECT_NE(read_file("", path.c_str())->find("\n# cut off\n# {}\n" + good.substr(0, good.find("1.5"))),
            std::string::npos);
  ASSERT_EQ(gpumem_tuning_load(handle, path.c_str(), &taken, &skipped), GPUMEM_OK);
  EXPECT_EQ(std::pair(taken, skipped), std::pair(int64_t{1}, int64_t{0}));
}

TEST_F(TuningOf, SaysWhatOfADeviceIsAnother) {
  std::string told;
  gpumem_ctx_set_log(
      handle, [](void* user, gpumem_log_level, const char* text) { *static_cast<std::string*>(user) = text; }, &told);
  const std::string same = key().substr(0, key().size() - std::string_view(":0").size());
  const std::string other = same.substr(0, same.rfind(':')) + ":9999:0";
  const std::pair<std::string, const char*> devices[] = {
      {other, "it is of this processor with another number of threads: "},
      {"host:another:0:0:2:0", "it is of another device: "}};
  for (const auto& [device, reason] : devices) {
    write(device + "\t" + kLine + "\thost_serial\t" + std::to_string(row_of("host_serial").revision) + "\t1.5\n");
    ASSERT_EQ(gpumem_tuning_load(handle, path.c_str(), nullptr, nullptr), GPUMEM_OK);
    EXPECT_NE(told.find(reason), std::string::npos) << told;
  }
}

// Whoever reads meanwhile sees a whole file.
TEST_F(TuningOf, EightProcessesThatSaveOneFileLeaveItWhole) {
  std::vector<pid_t> children;
  for (int child = 0; child < 8; ++child) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    Tuning own;
    for (int64_t i = 0; i < 50; ++i) {
      const std::string line = "reduce dtype=f64 op=sum n=" + std::to_string(int64_t{1} << (4 + i % 30)) +
                               " stride=" + std::to_string(2 + child) + " x=pageable";
      own.put({key(), line, class_of(line), GPUMEM_FAMILY_REDUCE, row_of("host_serial"), 1.5});
      own.save(path.c_str(), {key()});
    }
    ::_exit(0);
  }
  const auto whole = [&] {
    int64_t skipped = 0;
    return gpumem_tuning_load(handle, path.c_str(), nullptr, &skipped) != GPUMEM_OK || skipped == 0;
  };
  for (const pid_t child : children) {
    int status = 0;
    while (::waitpid(child, &status, WNOHANG) == 0) ASSERT_TRUE(whole());
    EXPECT_EQ(status, 0);
  }
  int64_t taken = 0, skipped = 0;
  ASSERT_EQ(gpumem_tuning_load(handle, path.c_str(), &taken, &skipped), GPUMEM_OK);
  EXPECT_EQ(skipped, 0);
  EXPECT_GE(taken, 30) << "the last one's lines, at least";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1) << "something was left behind";
}

TEST_F(TuningOf, IsFoundWhileOthersAddToIt) {
  Tuning tuning;
  EXPECT_TRUE(tuning.empty());
  EXPECT_EQ(tuning.find(1).row, -1);
  std::atomic<bool> end{false};
  std::thread reader([&] {
    while (!end) {
      for (uint64_t c = 1; c <= 2000; ++c) {
        const TunedRow found = tuning.find(c * 0x10001);
        EXPECT_TRUE(found.row == -1 || found.row == static_cast<int32_t>(c));
      }
    }
  });
  for (uint64_t c = 1; c <= 2000; ++c) {
    tuning.put({"d", "l", c * 0x10001, GPUMEM_FAMILY_REDUCE, {static_cast<int32_t>(c), 1}, 2});
  }
  end = true;
  reader.join();
  for (uint64_t c = 1; c <= 2000; ++c) EXPECT_EQ(tuning.find(c * 0x10001).row, static_cast<int32_t>(c));
  tuning.settle(0x10001, "d");
  EXPECT_EQ(tuning.find(0x10001).row, -1);
  EXPECT_EQ(tuning.find(2 * 0x10001).row, 2);
  tuning.clear();
  EXPECT_EQ(tuning.find(2 * 0x10001).row, -1);
}

TEST_F(TuningOf, MeasuresInMemoryOfItsOwn) {
  gpumem_memory_stats_info before, after;
  gpumem_memory_stats_init(&before, sizeof before);
  gpumem_memory_stats_init(&after, sizeof after);
  gpumem_memory_stats(handle, &before);
  float sum_of[] = {1, 2, 3};
  double sum = 0;
  ASSERT_EQ(gpumem_reduce_f32(handle, GPUMEM_SUM, sum_of, 3, 1, &sum), GPUMEM_OK);
  char line[256];
  gpumem_last_problem(line, sizeof line, nullptr);
  gpumem_tune_options options;
  gpumem_tune_options_init(&options, sizeof options);
  options.budget_s = 0.01;
  std::vector<double> progress;
  options.progress = [](void* user, double done) -> int32_t {
    static_cast<std::vector<double>*>(user)->push_back(done);
    return 0;
  };
  options.user = &progress;
  int line_number = 0;
  for (const char* problem :
       {"transpose bytes=4 rows=100 cols=70 src=device dst=pageable",
        "fill bytes=4 n=1000 dst=managed",
        "permute bytes=2 extents=10x20x30 order=2,0,1 src=pinned dst=pageable",
        "transpose bytes=8 rows=64 cols=64 src=pageable dst=src",
        "gather row_bytes=12 n=500 src_rows=300 index_type=i32 src=pageable index=pageable dst=pageable",
        "scatter row_bytes=8 n=200 dst_rows=300 index_type=u64 src=pageable index=pageable dst=pageable",
        "select row_bytes=12 n=5000 src=pageable mask=pageable dst=pageable",
        "select of=places index_type=i32 n=5000 mask=pageable dst=pageable",
        "select row_bytes=4 n=5000 dst_rows=0 mask=pageable",
        "reduce_by_index dtype=f64 op=sum n=5000 bins=300 index_type=i32 x=pageable index=pageable",
        "reduce_by_index dtype=f32 op=max n=500 cols=7 ld=9 bins=3 index_type=i32 x=pageable index=pageable",
        "reduce_by_index dtype=i16 op=max n=500 bins=3000 index_type=u64 x=pageable index=pageable",
        "reduce_by_index n=5000 bins=30 index_type=u32 x=none index=pageable form=async",
        "reduce_axis dtype=i16 op=sum_cubes axis=cols rows=50 cols=40 x=pageable",
        "reduce_axis dtype=f32 op=arg_max axis=rows rows=50 cols=40 x=pageable form=async",
        "reduce_segments dtype=f64 op=sum_squares n=1000 segments=30 x=pageable offsets=pageable",
        "reduce dtype=i64 op=arg_min n=1000 x=pageable form=async",
        "reduce dtype=u8 op=min_max n=1000 x=pageable x_misaligned=3",
        "axpby dtype=f64 n=1000 x=pageable y=pageable z=y",
        "arithmetic op=lincomb dtype=f32 extents=10x20 terms=3 x0=pageable x1=none x2=x0 z=pageable",
        "arithmetic op=multiply dtype=f64 extents=100 x0=pageable x1=pageable z=pageable form=async",
        "arithmetic op=lincomb dtype=f64 extents=40x50 terms=2 dots=2 x0=pageable x1=pageable z=pageable w0=z w1=x0",
        "convert from=f64 to=i8 n=1000 src=pageable dst=pageable",
        "map kind=map op=divide dtype=i32 extents=100 x=pageable y=pageable z=pageable",
        "map kind=map op=divide dtype=i32 extents=10x20 x=pageable y=pageable y_strides=0,1 z=pageable",
        "map kind=compare op=less dtype=f32 extents=1000 x=pageable y=pageable mask=pageable form=async",
        "map kind=where bytes=4 extents=1000 mask=pageable x=pageable y=pageable z=x",
        "map kind=convert_scaled from=u8 to=f32 extents=1000 src=pageable scale=pageable offset=none dst=pageable",
        "scan dtype=f64 op=sum n=1000 exclusive=1 x=pageable result=pageable",
        "scan dtype=i8 op=sum n=1000 result_type=i8 x=pageable result=x",
        "scan dtype=i16 op=max extents=10x20x5 axis=1 result_strides=1,50,10 x=pageable result=pageable",
        "scan dtype=f32 op=sum n=1000 segments=30 x=pageable result=pageable offsets=pageable",
        "copy bytes=100 rows=7 src_pitch=200 dst_pitch=120 src=pageable dst=pageable",
        "copy_boxes bytes=4 count=20 extents=5x6x7 src_strides=70,8,1 src=pageable dst=pageable",
        "resize filter=bilinear dtype=u8 channels=3 src_rows=20 src_cols=30 dst_rows=50 dst_cols=40 "
        "src=pageable dst=pageable",
        "resize filter=nearest dtype=u8 channels=3 src_rows=20 src_cols=30 dst_rows=50 dst_cols=40 batches=5 "
        "src=pageable dst=pageable",
        "permute bytes=4 extents=30x20 order=1,0 src_strides=25,1 dst_strides=32,1 src=pageable dst=pageable",
        "sort dtype=f32 n=1000 keys=pageable order=none sorted=pageable",
        "sort dtype=u16 n=1000 descending=1 keys=pageable order=pageable order_type=i32 sorted=keys",
        "sort dtype=f64 n=1000 segments=30 keys=pageable order=none sorted=pageable offsets=pageable",
        "convert from=f16 to=f32 n=1000 src=pageable dst=pageable",
        "convert from=bf16 to=f16 n=1000 src=pageable dst=pageable"}) {
    // Each empties the caches before every run, which the sanitizers make slow.
    if (std::getenv("GPUMEM_TEST_QUICK") != nullptr && ++line_number % 4 != 1) continue;
    gpumem_tune_info info;
    gpumem_tune_info_init(&info, sizeof info);
    char error[512] = {};
    const gpumem_status status = gpumem_tune(handle, problem, &options, &info);
    gpumem_last_error(error, sizeof error, nullptr);
    ASSERT_EQ(status, GPUMEM_OK) << problem << ": " << error;
    EXPECT_STRNE(info.table, "") << problem;
    EXPECT_STRNE(info.reason, "") << problem;
    EXPECT_EQ(info.adopted == 1, std::string(info.reason) == "it won both rounds") << problem;
    if (info.candidates > 0) {
      EXPECT_GT(info.table_s, 0) << problem;
      EXPECT_NEAR(info.ratio, info.table_s / info.winner_s, 1e-9 * info.ratio) << problem;
      EXPECT_STRNE(info.table, info.winner) << problem;
    }
  }
  EXPECT_FALSE(progress.empty());
  EXPECT_EQ(*std::max_element(progress.begin(), progress.end()), 1.0);
  char now[256];
  gpumem_last_problem(now, sizeof now, nullptr);
  EXPECT_STREQ(now, line) << "tuning is no operation of the program";
  gpumem_memory_stats(handle, &after);
  EXPECT_EQ(after.device_bytes + after.pinned_bytes + after.managed_bytes,
            before.device_bytes + before.pinned_bytes + before.managed_bytes);
}

// What an enqueued form leaves as it was, it must leave in every variant and in the reference.
TEST_F(TuningOf, ComparesTheResultsOfEveryEnqueuedForm) {
  TuneOptions options{.budget_s = 0.001};
  options.progress = [](void*, double) -> int32_t { return 1; };  // after the first that is timed
  std::vector<std::string> lines = {
      "reduce_axis dtype=f32 op=min_max axis=rows rows=50 cols=40 x=pageable",
      "reduce_axis dtype=f32 op=arg_min axis=cols rows=50 cols=40 x=pageable",
      "reduce_segments dtype=i32 op=min_max n=1000 segments=30 x=pageable offsets=pageable",
      "transpose bytes=4 rows=100 cols=70 src=pageable dst=pageable",
      "copy bytes=1000 src=pageable dst=pageable",
      "copy_boxes bytes=2 count=7 extents=10x20 dst_strides=30,1 src=pageable dst=pageable",
      "fill bytes=4 n=1000 dst=pageable",
      "permute bytes=2 extents=10x20x30 order=2,0,1 src=pageable dst=pageable",
      "gather row_bytes=12 n=500 src_rows=300 index_type=i32 src=pageable index=pageable dst=pageable",
      "scatter row_bytes=8 n=200 dst_rows=300 index_type=u64 src=pageable index=pageable dst=pageable",
      "select row_bytes=8 n=200 src=pageable mask=pageable dst=pageable",
      "reduce_by_index dtype=f32 op=min_max n=1000 bins=30 index_type=i64 x=pageable index=pageable",
      "axpby dtype=f64 n=1000 x=pageable y=pageable z=pageable",
      "arithmetic op=multiply dtype=f64 extents=100 x0=pageable x1=pageable z=pageable",
      "convert from=f64 to=i8 n=1000 src=pageable dst=pageable",
      "map kind=map op=divide dtype=f32 extents=10x20 x=pageable y=pageable y_strides=0,1 z=pageable",
      "scan dtype=f32 op=prod n=1000 x=pageable result=pageable",
      "scan dtype=f32 op=sum extents=10x20 axis=0 x=pageable result=pageable",
      "sort dtype=f32 n=1000 keys=pageable order=pageable sorted=pageable",
      "sort dtype=f32 n=1000 segments=30 keys=pageable order=pageable sorted=pageable offsets=pageable",
      "resize filter=bilinear dtype=u8 channels=3 src_rows=20 src_cols=30 dst_rows=50 dst_cols=40 "
      "src=pageable dst=pageable",
  };
  for (const char* op : {"sum", "min", "max", "sum_squares", "min_max", "arg_min", "arg_max"}) {
    lines.push_back("reduce dtype=f32 n=1 x=pageable op=" + std::string(op));
  }
  lines.emplace_back("reduce dtype=f32 op=dot n=1000 x=pageable y=pageable");
  std::set<size_t> families;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string enqueued = lines[i] + " form=async";
    families.insert(parse_line(enqueued).call.index());
    if (std::getenv("GPUMEM_TEST_QUICK") != nullptr && i % 4 != 0) continue;
    EXPECT_NO_THROW(static_cast<void>(tune(*context, enqueued, options))) << enqueued;
  }
  EXPECT_EQ(families.size(), static_cast<size_t>(Families::count)) << "a family has no line";
}

TEST_F(TuningOf, StopsWhereTheProgramSaysSo) {
  write(entry(kLine, "host_serial"));
  ASSERT_EQ(gpumem_tuning_load(handle, path.c_str(), nullptr, nullptr), GPUMEM_OK);
  gpumem_tune_options options;
  gpumem_tune_options_init(&options, sizeof options);
  options.budget_s = 0.01;
  options.progress = [](void*, double) -> int32_t { return 1; };
  gpumem_tune_info info;
  gpumem_tune_info_init(&info, sizeof info);
  EXPECT_EQ(gpumem_tune(handle, kLine, &options, &info), GPUMEM_OK);
  EXPECT_STREQ(info.reason, "it was stopped");
  EXPECT_EQ(info.adopted, 0);
  EXPECT_TRUE(says("host_serial, chosen by the tuning")) << explained();
}

TEST_F(TuningOf, RefusesWhatTheOperationWould) {
  gpumem_tune_info info;
  gpumem_tune_info_init(&info, sizeof info);
  EXPECT_EQ(gpumem_tune(handle, "reduce", nullptr, &info), GPUMEM_INVALID_ARGUMENT);
  EXPECT_EQ(gpumem_tune(handle, "reduce dtype=f32 op=min n=0 x=pageable", nullptr, &info), GPUMEM_EMPTY);
  for (const char* no_rows : {"gather row_bytes=4 n=9 src_rows=0", "scatter row_bytes=4 n=9 dst_rows=0"}) {
    const std::string line = std::string(no_rows) + " index_type=i64 src=pageable index=pageable dst=pageable";
    EXPECT_EQ(gpumem_tune(handle, line.c_str(), nullptr, &info), GPUMEM_OUT_OF_RANGE) << line;
  }
  EXPECT_EQ(gpumem_tune(handle, "copy bytes=8 src=device:1 dst=device", nullptr, &info), GPUMEM_UNSUPPORTED);
  const char* meeting = "scatter row_bytes=4 n=9 dst_rows=8 index_type=i64 src=pageable index=pageable dst=pageable";
  EXPECT_EQ(gpumem_tune(handle, meeting, nullptr, &info), GPUMEM_UNSUPPORTED) << "which rows stay is not defined";
  gpumem_tune_options options;
  gpumem_tune_options_init(&options, sizeof options);
  for (const double budget : {0.0, -1.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    options.budget_s = budget;
    EXPECT_EQ(gpumem_tune(handle, kLine, &options, &info), GPUMEM_INVALID_ARGUMENT) << budget;
  }
}

TEST_F(TuningOf, TakesWhateverStrideTheOneMatrixHas) {
  const std::string matrix = "reduce_axis dtype=f32 op=sum axis=cols rows=3 cols=4 x=pageable";
  EXPECT_EQ(class_of(matrix), class_of(matrix + " batch_stride=12"));
  EXPECT_NE(class_of(matrix), class_of(matrix + " batches=2 batch_stride=14"));
}

// Variants that take the times they are told, whatever the machine does beside.
struct Times {
  static inline std::string fast;      // the variant that the others are behind
  static inline double behind = 2;     // by so much
  static inline double when_warm = 2;  // with caches that were not emptied
  static inline int until = 1 << 30;   // for so many samples
  static inline double scatter = 0;    // of every other sample
  static inline int samples = 0;

  static void tell(const char* variant) {
    fast = variant;
    behind = when_warm = 2;
    until = 1 << 30;
    scatter = 0;
    samples = 0;
  }
  static double of(const char* variant, bool emptied) {
    const int sample = samples++;
    const double others = sample >= until ? 1 : emptied ? behind : when_warm;
    return (variant == fast ? 1e-3 : others * 1e-3) * (1 + (sample / 2 % 2 == 0 ? scatter : 0));
  }
};

// Five samples a round.
const TuneOptions kTold{.budget_s = 1e-9, .time_of = Times::of};

TEST_F(TuningOf, FindsTheTablesChoiceAgainWhereTheTableIsReversed) {
  for (const char* line : {
           "reduce dtype=f32 op=sum n=3000000 x=pageable",
           "reduce dtype=i32 op=arg_min n=1000 x=pageable",
           "permute bytes=4 extents=100x50x200 order=2,1,0 src=pageable dst=pageable",
           "transpose bytes=4 rows=300 cols=200 src=pageable dst=pageable",
           "convert from=f32 to=f16 n=1000000 src=pageable dst=pageable",
           "copy bytes=5000000 src=pageable dst=pageable",
       }) {
    TuneOptions options = kTold;
    Times::tell(tune(*context, line, options).table);
    options.reversed = true;
    const TuneResult result = tune(*context, line, options);
    EXPECT_STRNE(result.table, Times::fast.c_str()) << line << " has one row";
    EXPECT_TRUE(result.adopted) << line << ": " << result.reason;
    EXPECT_EQ(result.winner, Times::fast) << line;
    EXPECT_DOUBLE_EQ(result.ratio(), 2) << line;
    EXPECT_NE(explained(line).find(Times::fast + ", chosen by the tuning"), std::string::npos) << explained(line);
  }
}

// A line with two rows, whose table takes host_parallel.
constexpr const char* kTwo = "convert from=f32 to=f16 n=1000 src=pageable dst=pageable";

TEST_F(TuningOf, AdoptsWhatWinsByMoreThanThreePercentAndTheSpread) {
  const auto expect = [&](bool adopted, const char* reason) {
    Times::samples = 0;
    const TuneResult result = tune(*context, kTwo, kTold);
    EXPECT_EQ(result.candidates, 1);
    EXPECT_EQ(result.adopted, adopted) << result.reason;
    EXPECT_STREQ(result.reason, reason);
    EXPECT_EQ(explained(kTwo).find("chosen by the tuning") != std::string::npos, adopted);
  };
  constexpr const char* kNone = "no variant won by 3 % and twice the spread";
  Times::tell("host_serial");
  expect(true, "it won both rounds");
  Times::behind = 1.02;
  expect(false, kNone);
  Times::behind = 1.04;
  expect(true, "it won both rounds");
  Times::scatter = 0.1;
  expect(false, kNone);
  Times::scatter = 0;
  Times::until = 10;
  expect(false, "it won one round of two");
  Times::until = 1 << 30;
  Times::when_warm = 0.9;
  expect(false, "it is faster only with empty caches");
  Times::tell("host_parallel");
  expect(false, kNone);
}

TEST_F(TuningOf, TakesALineThatLostOutOfTheFile) {
  const std::string other = "reduce dtype=f32 op=sum n=70000000 x=pageable";
  write(entry(kLine, "host_serial") + entry(other, "host_serial"));
  ASSERT_EQ(gpumem_tuning_load(handle, path.c_str(), nullptr, nullptr), GPUMEM_OK);
  Times::tell("host_vector");
  EXPECT_FALSE(tune(*context, kLine, kTold).adopted);
  EXPECT_FALSE(says("chosen by the tuning"));
  ASSERT_EQ(gpumem_tuning_save(handle, path.c_str()), GPUMEM_OK);
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text.find(kLine), std::string::npos) << text;
  EXPECT_NE(text.find(other), std::string::npos) << text;
}

}  // namespace
}  // namespace gpumem
