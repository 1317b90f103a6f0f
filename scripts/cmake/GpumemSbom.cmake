# Writes the software bill of materials, gpumem.spdx.json (SPDX 2.3): the linked packages and their sources.

# A package: its id, name, version, licence, and how gpumem uses it (an SPDX relationship).
function(gpumem_sbom_package id name version licence relationship comment)
  set(packages "${packages},
    {\"SPDXID\": \"SPDXRef-${id}\", \"name\": \"${name}\", \"versionInfo\": \"${version}\", \"downloadLocation\": \"NOASSERTION\",
     \"filesAnalyzed\": false, \"licenseConcluded\": \"${licence}\", \"licenseDeclared\": \"${licence}\",
     \"copyrightText\": \"NOASSERTION\", \"comment\": \"${comment}\"}" PARENT_SCOPE)
  set(relationships "${relationships},
    {\"spdxElementId\": \"SPDXRef-gpumem\", \"relationshipType\": \"${relationship}\", \"relatedSpdxElement\": \"SPDXRef-${id}\"}"
    PARENT_SCOPE)
endfunction()

function(gpumem_sbom file)
  set(packages "")
  set(relationships "")
  if(GPUMEM_HAS_CUDA)
    gpumem_sbom_package(cudart cudart_static "${CUDAToolkit_VERSION}" LicenseRef-NVIDIA-CUDA-EULA STATIC_LINK
      "the CUDA runtime, in the library")
    gpumem_sbom_package(cub CUB "${CUDAToolkit_VERSION}" BSD-3-Clause STATIC_LINK
      "headers of the CUDA Toolkit, in the library's kernels of sorts")
  endif()
  if(TARGET gpumem_tool)
    find_package(CLI11 QUIET)
    gpumem_sbom_package(CLI11 CLI11 "${CLI11_VERSION}" BSD-3-Clause STATIC_LINK "headers, in the gpumem command")
    gpumem_sbom_package(nlohmann-json nlohmann-json "${nlohmann_json_VERSION}" MIT STATIC_LINK "headers, in the gpumem command")
  endif()
  gpumem_sbom_package(libc libc NOASSERTION NOASSERTION DYNAMIC_LINK "of the system: libc, libm and the loader")
  gpumem_sbom_package(libstdcxx libstdc++ NOASSERTION NOASSERTION DYNAMIC_LINK "of the system: libstdc++ and libgcc_s")
  string(SHA256 id "${PROJECT_VERSION}${packages}")
  string(SUBSTRING ${id} 0 16 id)
  string(TIMESTAMP now UTC) # SOURCE_DATE_EPOCH, if it is set
  file(CONFIGURE OUTPUT ${file} @ONLY CONTENT [[{
  "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "gpumem-@PROJECT_VERSION@",
  "documentNamespace": "https://spdx.org/spdxdocs/gpumem-@PROJECT_VERSION@-@id@",
  "creationInfo": {"created": "@now@", "creators": ["Organization: the gpumem authors", "Tool: CMake-@CMAKE_VERSION@"]},
  "hasExtractedLicensingInfos": [
    {"licenseId": "LicenseRef-NVIDIA-CUDA-EULA", "extractedText": "https://docs.nvidia.com/cuda/eula/", "name": "NVIDIA CUDA Toolkit End User License Agreement"}],
  "packages": [
    {"SPDXID": "SPDXRef-gpumem", "name": "gpumem", "versionInfo": "@PROJECT_VERSION@", "downloadLocation": "NOASSERTION",
     "filesAnalyzed": false, "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0",
     "copyrightText": "Copyright 2026 the gpumem authors"}@packages@],
  "relationships": [
    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-gpumem"}@relationships@]
}
]])
endfunction()
