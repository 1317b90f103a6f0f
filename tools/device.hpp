// Descriptions of devices in the commands' output.
#pragma once

#include <gpumem.h>

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "measure/results.hpp"

namespace tool {

gpumem_device_info device_of(gpumem_ctx* ctx);
gpumem_device_info query_device(int32_t device);  // an ordinal, or a GPUMEM_DEVICE_* value
std::vector<gpumem_device_info> cuda_devices();

std::string library_version();

std::string device_id(const gpumem_device_info& device);

// "NVIDIA H200 (CUDA device 0, sm_90)" or "AMD EPYC (host, 16 threads)".
std::string device_title(const gpumem_device_info& device);

measure::Ceilings ceilings_of(gpumem_ctx* ctx);

// Prints one line: the object, with "schema": "gpumem.<what>/1" before its members.
void print_json(const char* what, const nlohmann::ordered_json& members);

nlohmann::ordered_json device_json(const gpumem_device_info& device);

}  // namespace tool
