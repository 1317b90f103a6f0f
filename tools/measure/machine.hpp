// A results file's description of its machine.
#pragma once

#include <string>

namespace measure {

std::string cpu_name();        // "Intel(R) Xeon(R) Platinum 8480C"
std::string driver_release();  // of NVIDIA's kernel module: "580.95.05"; empty if absent
std::string utc_now();         // "2026-11-21T10:00:00Z"

// The commit of the build, from the environment variable GPUMEM_COMMIT; empty if unset.
std::string commit();

// "NVIDIA H200" becomes "nvidia-h200"; "Intel(R) Xeon(R) Processor" becomes "intel-xeon-processor".
std::string slug(const std::string& name);

}  // namespace measure
