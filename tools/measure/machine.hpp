// What a results file says of the machine it was made on.
#pragma once

#include <string>

namespace measure {

std::string cpu_name();        // "Intel(R) Xeon(R) Platinum 8480C"
std::string driver_release();  // of NVIDIA's kernel module: "580.95.05"; empty where there is none
std::string utc_now();         // "2026-11-21T10:00:00Z"

// The commit that was built, as the environment variable GPUMEM_COMMIT states it; empty when unset.
std::string commit();

// "NVIDIA H200" -> "nvidia-h200"; "Intel(R) Xeon(R) Processor" -> "intel-xeon-processor".
std::string slug(const std::string& name);

}  // namespace measure
