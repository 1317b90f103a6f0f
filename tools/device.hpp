// What the commands say about a device.
#pragma once

#include <gpumem.h>

#include <string>

#include "json.hpp"

namespace tool {

gpumem_device_info device_of(gpumem_ctx* ctx);

// "host", or the ordinal.
std::string device_id(const gpumem_device_info& device);

// "NVIDIA H200 (CUDA device 0, sm_90)" or "AMD EPYC (host, 16 threads)".
std::string device_title(const gpumem_device_info& device);

// "host", "cuda" or an ordinal, as GPUMEM_DEVICE_* or the ordinal; else a UsageError.
int32_t parse_device(const std::string& word);

void write_device(Json& json, const gpumem_device_info& device);

}  // namespace tool
