// gpumem doctor: checks this machine's setup, and explains how to fix it.
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench/session.hpp"
#include "commands.hpp"
#include "device.hpp"
#include "failure.hpp"
#include "measure/machine.hpp"
#include "measure/progress.hpp"
#include "problems/problem.hpp"
#include "resources.hpp"
#include "text.hpp"

namespace tool {
namespace {

namespace fs = std::filesystem;

enum class Verdict { ok, warn, fail };
constexpr const char* kVerdicts[] = {"ok", "warn", "fail"};

struct Finding {
  std::string what;
  Verdict verdict = Verdict::ok;
  std::string text;  // the finding, and for a warning or a failure the fix
};
using Findings = std::vector<Finding>;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// --------------------------------------------------------------------------------------------------- driver, files

void check_driver(Findings& findings) {
  const gpumem_device_info info = query_device(GPUMEM_DEVICE_BEST);
  if (info.backend == GPUMEM_BACKEND_CUDA) {
    const std::string release = measure::driver_release();
    const int cuda = info.driver_version;
    findings.push_back(
        {"driver", Verdict::ok,
         (release.empty() ? "" : "release " + release + ", ") + format("CUDA %d.%d", cuda / 1000, cuda % 1000 / 10)});
    return;
  }
  const char* advice = "";
  if (info.reason_code == GPUMEM_NO_DRIVER) advice = "; with an NVIDIA GPU, install its driver";
  if (info.reason_code == GPUMEM_DRIVER_TOO_OLD) advice = "; install a newer driver";
  if (info.reason_code == GPUMEM_NO_DEVICE) advice = "; look at CUDA_VISIBLE_DEVICES, and at what nvidia-smi lists";
  if (info.reason_code == GPUMEM_NOT_BUILT) advice = "; for a GPU, use a build with the CUDA backend";
  findings.push_back({"driver", Verdict::warn, info.reason + std::string(advice)});
}

void check_permissions(Findings& findings) {
  std::string files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename();
    const bool is_used = name == "nvidiactl" || name == "nvidia-uvm" ||
                         (name.rfind("nvidia", 0) == 0 && name.size() > 6 && std::isdigit(name[6]) != 0);
    if (!is_used) continue;
    if (access(entry.path().c_str(), R_OK | W_OK) == 0) {
      files += (files.empty() ? "" : " ") + name;
    } else {
      findings.push_back(
          {"permissions", Verdict::fail,
           entry.path().string() + " can't be read and written: join the group that owns it, or ask for its mode"});
    }
  }
  if (!files.empty()) findings.push_back({"permissions", Verdict::ok, "/dev: " + files});
}

bool names_family(std::string word) {
  for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return is_family(word);
}

// Variables that change the library's behaviour, and unknown ones that resemble them.
void check_environment(Findings& findings) {
  constexpr std::string_view kRead[] = {"DEVICE", "HOST_SIMD", "DEBUG", "TRACE", "PROFILE", "DIST_LINK"};
  constexpr std::string_view kOthers[] = {"LIBRARY", "LIB_DIR", "COMMIT"};  // of the bindings, and of results files
  constexpr std::string_view kPrefix = "GPUMEM_";
  constexpr std::string_view kVariant = "VARIANT_";
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string set = *variable;
    if (!set.starts_with(kPrefix)) continue;
    const std::string name = set.substr(kPrefix.size(), set.find('=') - kPrefix.size());
    const auto is = [&](std::string_view known) { return name == known; };
    if (std::any_of(std::begin(kOthers), std::end(kOthers), is) || is("TUNING")) continue;  // check_tuning() reports it
    const bool read = std::any_of(std::begin(kRead), std::end(kRead), is) ||
                      (name.starts_with(kVariant) && names_family(name.substr(kVariant.size())));
    findings.push_back({"environment", Verdict::warn,
                        set + (read ? " is set: unset it, if you did not mean to"
                                    : " is set, and nothing of gpumem reads it: is it misspelt?")});
  }
}

// Contexts skip bad entries silently: a log does not exist yet.
void check_tuning(Findings& findings) {
  const char* const path = std::getenv("GPUMEM_TUNING");
  if (path == nullptr || path[0] == '\0') return;
  std::string last;
  const Context ctx = create_context(GPUMEM_DEVICE_BEST);
  const auto keep = [](void* user, gpumem_log_level, const char* message) {
    *static_cast<std::string*>(user) = message;
  };
  check(gpumem_ctx_set_log(ctx.get(), keep, &last), "setting the log");
  int64_t taken = 0;
  int64_t skipped = 0;
  check(gpumem_tuning_load(ctx.get(), path, &taken, &skipped), "loading GPUMEM_TUNING");
  findings.push_back({"tuning", skipped > 0 ? Verdict::warn : Verdict::ok,
                      std::string("GPUMEM_TUNING=") + path +
                          format(": lines taken: %lld, skipped: %lld", static_cast<long long>(taken),
                                 static_cast<long long>(skipped)) +
                          (last.empty() ? "" : "; the last: " + last)});
}

// ------------------------------------------------------------------------------------------------------------ host

void check_memlock(Findings& findings) {
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  if (limit.rlim_cur == RLIM_INFINITY) {
    findings.push_back({"memlock", Verdict::ok, "no limit"});
  } else {
    findings.push_back({"memlock", Verdict::warn,
                        format_size(static_cast<int64_t>(limit.rlim_cur)) +
                            " may be locked: if gpumem_host_register() fails, raise it (ulimit -l unlimited, "
                            "or LimitMEMLOCK=infinity)"});
  }
}

void check_huge_pages(Findings& findings) {
  const std::string modes = first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  const auto begin = modes.find('[');
  if (begin == std::string::npos) return;
  const std::string mode = modes.substr(begin + 1, modes.find(']') - begin - 1);
  if (mode == "never") {
    findings.push_back(
        {"huge pages", Verdict::warn,
         "transparent huge pages are off: echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"});
  } else {
    findings.push_back({"huge pages", Verdict::ok, "transparent huge pages: " + mode});
  }
}

// "0-15,32-47" as single processors.
std::vector<int> processors_of(const std::string& list) {
  std::vector<int> processors;
  std::istringstream ranges(list);
  for (std::string range; std::getline(ranges, range, ',');) {
    int first = 0;
    int last = 0;
    const int read = std::sscanf(range.c_str(), "%d-%d", &first, &last);
    for (int i = first; read > 0 && i <= (read == 2 ? last : first); ++i) processors.push_back(i);
  }
  return processors;
}

void check_node(Findings& findings, const std::string& bus) {
  const fs::path device = fs::path("/sys/bus/pci/devices") / bus;
  const std::string node = first_line(device / "numa_node");
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  const std::vector<int> near = processors_of(first_line(device / "local_cpulist"));
  const auto usable =
      std::count_if(near.begin(), near.end(), [&](int i) { return i < CPU_SETSIZE && CPU_ISSET(i, &allowed); });
  const std::string what = "node of " + bus;
  if (node.empty() || node == "-1") {
    findings.push_back({what, Verdict::ok, "this machine does not say, as it has one or is virtual"});
  } else if (usable > 0) {
    findings.push_back({what, Verdict::ok,
                        format("NUMA node %s, %d of its %zu processors to be used", node.c_str(),
                               static_cast<int>(usable), near.size())});
  } else {
    findings.push_back(
        {what, Verdict::warn,
         "NUMA node " + node + ", and this process runs on none of its processors: numactl --cpunodebind=" + node});
  }
}

// The kernel module lists GPUs by bus address.
void check_gpus(Findings& findings) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc/driver/nvidia/gpus", error))
    check_node(findings, entry.path().filename());
}

void check_mig(Findings& findings, const std::vector<gpumem_device_info>& devices) {
  std::string slices;
  for (const gpumem_device_info& device : devices) {
    if (std::strstr(device.name, "MIG") != nullptr) slices += (slices.empty() ? "" : ", ") + std::string(device.name);
  }
  if (!slices.empty()) {
    findings.push_back(
        {"MIG", Verdict::warn,
         slices +
             ": a part of a GPU, with its part of the memory's rate; for all of it, ask for a device without MIG"});
  } else if (!devices.empty()) {
    findings.push_back({"MIG", Verdict::ok, "whole devices"});
  }
}

// ------------------------------------------------------------------------------------------------------ operations

constexpr const char* kProblems[] = {
    "reduce dtype=f32 op=sum n=100003",
    "reduce dtype=f64 op=sum_compensated n=50001",
    "reduce dtype=i32 op=min_max n=100003",
    "reduce dtype=f16 op=arg_max n=100003",
    "reduce dtype=f64 op=dot n=30001",
    "reduce dtype=f64 op=nrm2 n=30001",
    "reduce dtype=f32 op=sum extents=41x37x29 strides=1600,40,1",
    "reduce_axis dtype=f32 op=sum axis=rows rows=111 cols=2003",
    "reduce_axis dtype=f32 op=sum axis=cols rows=2003 cols=111",
    "reduce_segments dtype=f64 op=sum n=30001 segments=1009",
    "transpose bytes=4 rows=301 cols=515",
    "transpose bytes=2 rows=301 cols=515",
    "transpose bytes=8 rows=256 cols=256 src=device dst=src",
    "permute bytes=4 extents=13x64x129 order=2,0,1",
    "copy bytes=300007 src_misaligned=3",
    "copy bytes=999 rows=100 src_pitch=1024 dst_pitch=1111",
    "fill bytes=16 n=60001",
    "gather row_bytes=48 n=10007 src_rows=20011 index_type=i32",
    "scatter row_bytes=48 n=10007 dst_rows=20011 index_type=i64",
    "select row_bytes=12 n=100003",
    "copy_boxes bytes=8 count=200 extents=5x6x7 src_strides=90,9,1",
    "select of=places index_type=i32 n=100003",
    "axpby dtype=f32 n=100003",
    "convert from=f32 to=bf16 n=100003",
    "scan dtype=f32 op=sum n=100003",
    "scan dtype=i32 op=sum n=100003",
    "scan dtype=f32 op=sum extents=100x1003 axis=0",
    "scan dtype=i32 op=sum n=100003 segments=1000",
    "arithmetic op=lincomb dtype=f64 extents=100x1003 terms=3",
    "map kind=map op=divide dtype=f32 extents=100x1003 y_strides=1,0",
    "map kind=convert_scaled from=i16 to=f32 extents=100x1003 offset=none",
    "sort dtype=f32 n=100003 order=none",
    "sort dtype=i16 n=1009 descending=1 sorted=none",
    "sort dtype=f64 n=30001 segments=1009",
    "resize filter=bilinear dtype=u8 channels=3 src_rows=300 src_cols=401 dst_rows=517 dst_cols=233",
    "copy bytes=300007 src=pageable dst=device",
    "copy bytes=300007 src=device dst=pageable",
    "copy bytes=300007 src=pinned dst=device",
    "copy bytes=300007 src=device dst=pinned",
};

// A device is compared with the host, the host with its own plainest implementations.
void check_operations(Findings& findings, int32_t device, const std::string& name) {
  Session session(device, 1, true);
  const std::string what = "operations on " + name;
  std::size_t right = 0;
  for (const char* const line : kProblems) {
    try {
      if (Subject(session, line, {}).right()) {
        ++right;
      } else {
        findings.push_back(
            {what, Verdict::fail,
             std::string("'") + line + "' gives other bits than the host: don't use this device, and report it"});
      }
    } catch (const Failure& failure) {  // many problems may fail for one reason, such as a forced implementation
      const std::string text = failure.what();
      const auto told = [&](const Finding& finding) { return finding.what == what && finding.text == text; };
      if (std::none_of(findings.begin(), findings.end(), told)) findings.push_back({what, Verdict::fail, text});
    }
  }
  if (right == std::size(kProblems)) {
    findings.push_back(
        {what, Verdict::ok,
         format("%zu problems, the bits of the %s", right, session.on_device() ? "host" : "plainest loops")});
  }
}

// Some drivers report peer access that loses data.
void check_pair(Findings& findings, int32_t from, int32_t to) {
  constexpr int64_t kBytes = (8 << 20) + 1;
  const std::string what = format("copy from device %d to %d", from, to);
  const Context near = create_context(from);
  const Context far = create_context(to);
  const Context host = create_context(GPUMEM_DEVICE_HOST);
  const Operand source(near.get(), "device", kBytes, 0);
  const Operand target(far.get(), "device", kBytes, 0);
  const Operand wanted(host.get(), "pageable", kBytes, 0);
  const Contents pattern = elements(1);
  source.fill(pattern);
  wanted.fill(pattern);
  target.fill(static_cast<unsigned char>(0));
  check(gpumem_copy(far.get(), target.get(), source.get(), kBytes), "copying from device to device");
  findings.push_back(
      target.same_as(wanted)
          ? Finding{what, Verdict::ok, "every byte arrived"}
          : Finding{what, Verdict::fail,
                    "bytes were lost on the way: turn the IOMMU or PCIe ACS off, or take a newer driver"});
}

// ---------------------------------------------------------------------------------------------------------- report

void guarded(Findings& findings, const std::string& what, const std::function<void()>& check_it) {
  try {
    check_it();
  } catch (const Failure& failure) {
    findings.push_back({what, Verdict::fail, failure.what()});
  }
}

Findings all_findings() {
  Findings findings;
  measure::Progress progress;
  progress.step("looking at the machine");
  guarded(findings, "driver", [&] { check_driver(findings); });
  check_permissions(findings);
  const std::vector<gpumem_device_info> devices = cuda_devices();
  check_mig(findings, devices);
  check_memlock(findings);
  check_huge_pages(findings);
  check_gpus(findings);
  check_environment(findings);
  guarded(findings, "tuning", [&] { check_tuning(findings); });
  progress.step("running operations on the host");
  guarded(findings, "operations on the host", [&] { check_operations(findings, GPUMEM_DEVICE_HOST, "the host"); });
  for (const gpumem_device_info& device : devices) {
    const std::string name = device_title(device);
    progress.step("running operations on " + printable(name));
    guarded(findings, "operations on " + name, [&] { check_operations(findings, device.device, name); });
  }
  for (const gpumem_device_info& from : devices) {
    for (const gpumem_device_info& to : devices) {
      if (from.device == to.device) continue;
      progress.step(format("copying from device %d to %d", from.device, to.device));
      guarded(findings, "copies between devices", [&] { check_pair(findings, from.device, to.device); });
    }
  }
  return findings;
}

}  // namespace

int run_doctor(const DoctorOptions& options) {
  const Findings findings = all_findings();
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  bool failed = false;
  for (const Finding& finding : findings) {
    const char* const verdict = kVerdicts[static_cast<int>(finding.verdict)];
    failed = failed || finding.verdict == Verdict::fail;
    json.push_back({{"check", finding.what}, {"verdict", verdict}, {"text", finding.text}});
    if (!options.json)
      std::printf("%-4s  %s: %s\n", verdict, printable(finding.what).c_str(), printable(finding.text).c_str());
  }
  if (options.json) print_json("doctor", {{"findings", json}});
  return failed ? 1 : 0;
}

}  // namespace tool
