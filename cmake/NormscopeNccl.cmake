# SPDX-License-Identifier: GPL-3.0-or-later
# Finds NCCL's header (of the system, in CUDA's folder, or of the Python packages that NormscopeCuda.cmake searches), for the
# plug-in with which ranks have a card each, and sets NORMSCOPE_NCCL_FOUND. The library itself is opened at run time.

set(NORMSCOPE_NCCL AUTO CACHE STRING "Build the NCCL plug-in: ON, OFF, or AUTO (where nvcc and nccl.h are found)")
set_property(CACHE NORMSCOPE_NCCL PROPERTY STRINGS AUTO ON OFF)

set(NORMSCOPE_NCCL_FOUND OFF)
if(NORMSCOPE_NCCL STREQUAL "OFF" OR NOT NORMSCOPE_NVCC)
  if(NORMSCOPE_NCCL STREQUAL "ON")
    message(FATAL_ERROR "NORMSCOPE_NCCL is ON, but the CUDA plug-in is not built")
  endif()
  message(STATUS "NCCL plug-in: not built (NORMSCOPE_NCCL, NORMSCOPE_CUDA)")
  return()
endif()
file(GLOB _nccl_packages ${_environments})
list(TRANSFORM _nccl_packages REPLACE "/cu[0-9]*/bin$" "/nccl")
list(TRANSFORM _nccl_packages APPEND /include OUTPUT_VARIABLE _nccl_headers)
list(TRANSFORM _nccl_packages APPEND /lib OUTPUT_VARIABLE _nccl_libraries)
find_path(NORMSCOPE_NCCL_INCLUDE nccl.h HINTS ${_nccl_headers} ${NORMSCOPE_CUDA_INCLUDE})
find_library(NORMSCOPE_NCCL_LIBRARY libnccl.so.2 HINTS ${_nccl_libraries} ${_cuda}/lib64 ${_cuda}/lib)
if(NORMSCOPE_NCCL_INCLUDE)
  set(NORMSCOPE_NCCL_FOUND ON)
  message(STATUS "NCCL plug-in: ${NORMSCOPE_NCCL_INCLUDE}/nccl.h")
elseif(NORMSCOPE_NCCL STREQUAL "ON")
  message(FATAL_ERROR "NORMSCOPE_NCCL is ON, but nccl.h is not found")
else()
  message(STATUS "NCCL plug-in: not built, nccl.h is not found")
endif()
