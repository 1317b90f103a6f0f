/* As a profiler that reads NVTX is loaded into a program, by NVTX_INJECTION64_PATH: tells of the ranges on standard error. */
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>

static char domain_name[64];

static nvtxDomainHandle_t domain_made(const char* name) {
  snprintf(domain_name, sizeof domain_name, "%s", name);
  return (nvtxDomainHandle_t)domain_name;
}

static int range_begins(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* range) {
  fprintf(stderr, "nvtx %s %u %s\n", (const char*)domain, range->category, range->message.ascii);
  return 0;
}

static int range_ends(nvtxDomainHandle_t domain) {
  fprintf(stderr, "nvtx %s end\n", (const char*)domain);
  return 0;
}

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table);
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t export_table) {
  const NvtxExportTableCallbacks* callbacks = export_table(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable functions;
  unsigned count;
  if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &functions, &count)) return 0;
  *functions[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)domain_made;
  *functions[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)range_begins;
  *functions[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)range_ends;
  return 1;
}
