// What the system leaves the process of the machine, by files of a machine that the tests make.
#include "base/limits.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.hpp"

namespace gpumem {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;

class Limits : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
    write("/proc/meminfo", "MemTotal: 16777216 kB\nMemFree: 1 kB\nHugePages_Free: 0\nMemAvailable:    8388608 kB\n");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  // One line of each file of a group.
  void write(const std::string& folder, const std::vector<std::pair<std::string, std::string>>& files) const {
    for (const auto& [name, text] : files) write(folder + "/" + name, text + "\n");
  }
  void is_in(const std::string& groups, const std::string& mounts) const {
    write("/proc/self/cgroup", groups);
    write("/proc/self/mountinfo", "22 27 0:21 / /proc rw,nosuid - proc proc rw\nnonsense\n\n" + mounts);
  }
  void expect(int64_t bytes, int64_t available, int32_t processors = INT32_MAX) const {
    const MemoryLimits limits = memory_limits(root_);
    EXPECT_EQ(limits.bytes, bytes);
    EXPECT_EQ(limits.available, available);
    EXPECT_EQ(processor_quota(root_), processors);
  }

  static constexpr const char* kUnified =
      "30 29 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
  std::string root_ = testing::TempDir() + "gpumem_limits_XXXXXX";
};

TEST_F(Limits, AMachineWithoutGroupsIsAsLargeAsItSays) {
  expect(16384 * kMiB, 8192 * kMiB);
  is_in("0::/\n", kUnified);
  expect(16384 * kMiB, 8192 * kMiB);
  std::filesystem::remove_all(root_ + "/proc");
  const int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  expect(bytes, bytes);
}

TEST_F(Limits, TheSmallestLimitOnTheWayUpCounts) {
  is_in("0::/a/b b/c\n", kUnified);
  write("/sys/fs/cgroup/a/b b/c", {{"memory.max", "max"}, {"memory.high", "max"}, {"cpu.max", "max 100000"}});
  write("/sys/fs/cgroup/a/b b",
        {{"memory.max", "734003200"}, {"memory.current", "1000"}, {"cpu.max", "250000 100000"}});
  write("/sys/fs/cgroup/a",
        {{"memory.max", "900000000"}, {"memory.current", "899999000"}, {"cpu.max", "800000 100000"}});
  write("/sys/fs/cgroup/a/b b/c/d", {{"memory.max", "1"}, {"memory.current", "0"}, {"cpu.max", "1 100000"}});
  write("/sys/fs/cgroup",
        {{"memory.max", "99999999999999"}, {"memory.current", "99999999999999"}});  // beyond the machine
  expect(734003200, 1000, 3);
  write("/sys/fs/cgroup/a/b b/c", {{"memory.high", "50000"}, {"memory.current", "20000"}, {"cpu.max", "1000 100000"}});
  expect(50000, 1000, 1);
}

TEST_F(Limits, FilesInTheCacheMakeRoom) {
  is_in("0::/a\n", kUnified);
  write("/sys/fs/cgroup/a", {{"memory.max", "1000000"},
                             {"memory.current", "900000"},
                             {"memory.stat", "anon 100000\nfile 800000\ninactive_file 500000\nactive_file 250000"}});
  expect(1000000, 850000);
  write("/sys/fs/cgroup/a", {{"memory.stat", "active_file 750000\nslab_reclaimable 60000\nslab_unreclaimable 30000"}});
  expect(1000000, 910000);
  write("/sys/fs/cgroup/a", {{"memory.current", "2000000"}});  // a limit that was set later
  expect(1000000, 0);
}

TEST_F(Limits, VersionOneHasAHierarchyForEachController) {
  is_in("12:cpu,cpuacct:/user.slice/job\n7:memory:/user.slice/job\n3:cpuset:/\n1:name=systemd:/user.slice\n",
        "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "36 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw master:9 - cgroup cgroup rw,memory\n");
  const std::string cpu = "/sys/fs/cgroup/cpu,cpuacct/";
  write(cpu + "user.slice/job", {{"cpu.cfs_quota_us", "-1"}, {"cpu.cfs_period_us", "100000"}});
  write(cpu + "user.slice", {{"cpu.cfs_quota_us", "150000"}, {"cpu.cfs_period_us", "100000"}});
  write(cpu, {{"cpu.cfs_quota_us", "-1"}, {"cpu.cfs_period_us", "100000"}});
  const std::string memory = "/sys/fs/cgroup/memory/";
  write(memory + "user.slice/job", {{"memory.limit_in_bytes", "9223372036854771712"}, {"memory.usage_in_bytes", "77"}});
  write(memory + "user.slice", {{"memory.limit_in_bytes", "734003200"},
                                {"memory.usage_in_bytes", "734000000"},
                                {"memory.stat", "inactive_file 5\ntotal_inactive_file 500000\ntotal_active_file 400"}});
  expect(734003200, 503600, 2);
}

// Version 2 is mounted too, where it has some controllers or none.
TEST_F(Limits, BothVersionsAtOnce) {
  is_in("4:memory:/a\n1:cpu:/\n0::/b\n",
        "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  write("/sys/fs/cgroup/memory/a", {{"memory.limit_in_bytes", "5000000"}, {"memory.usage_in_bytes", "1000000"}});
  write("/sys/fs/cgroup/memory/b", {{"memory.limit_in_bytes", "1"}});
  write("/sys/fs/cgroup/cpu", {{"cpu.cfs_quota_us", "400000"}, {"cpu.cfs_period_us", "100000"}});
  write("/sys/fs/cgroup/unified/b", {{"memory.max", "6000000"}, {"memory.current", "5000000"}, {"cpu.max", "6 2"}});
  expect(5000000, 1000000, 3);
}

// The path is the host's, and the mount shows the container's part of it. Those of others lie there too.
TEST_F(Limits, AContainerSeesItsOwnPart) {
  is_in("4:memory:/docker/abc/sub\n0::/docker/abc/sub\n",
        "35 31 0:32 /docker/other /other rw - cgroup cgroup rw,memory\n"
        "36 31 0:32 /docker/ab /prefix rw - cgroup cgroup rw,memory\n"
        "38 31 0:32 /docker/other /odd\\x\\04 rw - cgroup cgroup rw,memory\n"
        "37 31 0:32 /docker/abc /a\\040place\\134 ro - cgroup cgroup rw,memory\n");
  write("/other", {{"memory.limit_in_bytes", "1"}});
  write("/prefix", {{"memory.limit_in_bytes", "2"}});
  write("/prefixc/sub", {{"memory.limit_in_bytes", "3"}});
  write("/a place\\/sub", {{"memory.limit_in_bytes", "7000000"}, {"memory.usage_in_bytes", "1"}});
  write("/a place\\", {{"memory.limit_in_bytes", "6000000"}, {"memory.usage_in_bytes", "2000000"}});
  expect(6000000, 4000000);
}

TEST_F(Limits, OutsideTheNamespace) {
  // The host's mount: an ancestor of the groups that can be named here.
  is_in("0::/a\n", "30 29 0:26 /../.. /host rw - cgroup2 cgroup2 rw\n31 29 0:26 /../x /x rw - cgroup2 cgroup2 rw\n");
  write("/host", {{"memory.max", "8000000"}, {"memory.current", "0"}});
  write("/host/a", {{"memory.max", "1"}});
  write("/x", {{"memory.max", "2"}});
  expect(8000000, 8000000);
  // A process that was put into a group beside the namespace.
  is_in("0::/../b\n", kUnified);
  write("/sys/fs/cgroup", {{"memory.max", "3"}});
  expect(16384 * kMiB, 8192 * kMiB);
}

TEST_F(Limits, PathsOfAnyLength) {
  std::string path;
  for (int i = 0; i < 15; ++i) path += "/" + std::string(200, static_cast<char>('a' + i));
  is_in("0::" + path + "\n", kUnified);
  write("/sys/fs/cgroup" + path, {{"memory.max", "4000000"}, {"memory.current", "0"}, {"cpu.max", "100 100"}});
  expect(4000000, 4000000, 1);
}

TEST_F(Limits, WhatIsNoNumberIsNoLimit) {
  is_in("0::/a\n", kUnified);
  for (const char* text : {"", "-", "x1", "12x", "99999999999999999999", "max"}) {
    write("/sys/fs/cgroup/a", {{"memory.max", text}, {"memory.high", text}, {"cpu.max", text}});
    expect(16384 * kMiB, 8192 * kMiB);
  }
  std::filesystem::remove(root_ + "/sys/fs/cgroup/a/memory.max");
  std::filesystem::create_directory(root_ + "/sys/fs/cgroup/a/memory.max");  // it can't be read
  for (const char* text : {"0 100000", "-1 100000", "100000", "100000 0"}) {
    write("/sys/fs/cgroup/a", {{"cpu.max", text}});
    expect(16384 * kMiB, 8192 * kMiB);
  }
}

TEST(RequireAvailable, SaysHowMuchIsAskedForAndHowMuchThereIs) {
  EXPECT_NO_THROW(require_available(4096));
  EXPECT_TRUE(is_available(4096));
  const size_t all = static_cast<size_t>(memory_limits().bytes);
  EXPECT_FALSE(is_available(all));
  EXPECT_FALSE(is_available(SIZE_MAX / 2));
  try {
    require_available(all);
    ADD_FAILURE() << "all of the memory was there";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), GPUMEM_OUT_OF_MEMORY);
    EXPECT_NE(std::string(error.what()).find(std::to_string(all) + " bytes"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("are available"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace gpumem
