# SPDX-License-Identifier: GPL-3.0-or-later
# Finds nvcc (on the PATH, in /usr/local/cuda/bin, or of the Python packages of the active virtual environment or of
# build/cuda-toolkit, which packaging/launch --cuda makes) with what the CUDA plug-in is built from, and sets NORMSCOPE_NVCC. Not
# CMake's own language CUDA: CMake 3.25 has no default architecture that nvcc 13 supports.

set(NORMSCOPE_CUDA AUTO CACHE STRING "Build the CUDA plug-in: ON, OFF, or AUTO (where nvcc is found)")
set_property(CACHE NORMSCOPE_CUDA PROPERTY STRINGS AUTO ON OFF)
set(NORMSCOPE_CUDA_ARCHITECTURES 80 86 89 90 100 120 CACHE STRING
    "Compute capabilities of the CUDA plug-in, ascending; the last one also as PTX for later cards")
option(NORMSCOPE_CUDA_UNOPTIMISED "Compile the kernels quickly and slow: to see that they compile and link" OFF)

set(NORMSCOPE_NVCC "")
if(NORMSCOPE_CUDA STREQUAL "OFF" OR (NORMSCOPE_SANITIZE AND NOT NORMSCOPE_CUDA STREQUAL "ON"))
  message(STATUS "CUDA plug-in: not built (NORMSCOPE_CUDA, NORMSCOPE_SANITIZE)")
  return()
endif()
set(_environments ${CMAKE_SOURCE_DIR}/build/cuda-toolkit)
if(DEFINED ENV{VIRTUAL_ENV})
  list(PREPEND _environments $ENV{VIRTUAL_ENV})
endif()
list(TRANSFORM _environments APPEND /lib/python3*/site-packages/nvidia/cu*/bin)
file(GLOB _python_packages ${_environments})
find_program(NORMSCOPE_NVCC_PROGRAM nvcc HINTS /usr/local/cuda/bin ${_python_packages})
if(NORMSCOPE_NVCC_PROGRAM)
  get_filename_component(_cuda ${NORMSCOPE_NVCC_PROGRAM} REALPATH)
  get_filename_component(_cuda ${_cuda} DIRECTORY)
  get_filename_component(_cuda ${_cuda} DIRECTORY)
  find_path(NORMSCOPE_CUDA_INCLUDE cublasLt.h HINTS ${_cuda}/include ${_cuda}/targets/x86_64-linux/include)
  find_library(NORMSCOPE_CUDART cudart_static HINTS ${_cuda}/lib64 ${_cuda}/lib ${_cuda}/targets/x86_64-linux/lib)
endif()
set(_missing "")
foreach(part NORMSCOPE_NVCC_PROGRAM NORMSCOPE_CUDA_INCLUDE NORMSCOPE_CUDART)
  if(NOT ${part} AND NOT _missing)
    string(REPLACE "NORMSCOPE_NVCC_PROGRAM" "nvcc" _missing ${part})
    string(REPLACE "NORMSCOPE_CUDA_INCLUDE" "cublasLt.h" _missing ${_missing})
    string(REPLACE "NORMSCOPE_CUDART" "libcudart_static.a" _missing ${_missing})
  endif()
endforeach()
if(NOT _missing)
  set(NORMSCOPE_NVCC ${NORMSCOPE_NVCC_PROGRAM})
  list(JOIN NORMSCOPE_CUDA_ARCHITECTURES ", " _list)
  message(STATUS "CUDA plug-in: ${NORMSCOPE_NVCC}, compute capabilities ${_list}")
elseif(NORMSCOPE_CUDA STREQUAL "ON")
  message(FATAL_ERROR "NORMSCOPE_CUDA is ON, but ${_missing} is not found")
else()
  message(STATUS "CUDA plug-in: not built, ${_missing} is not found")
endif()

# normscope_nvcc(<objects variable> [HOST] SOURCES …): compiles with nvcc, warnings as errors; HOST: sources without
# kernels, which need no code per architecture.
function(normscope_nvcc objects)
  cmake_parse_arguments(ARG "HOST" "" "SOURCES" ${ARGN})
  set(architectures ${NORMSCOPE_CUDA_ARCHITECTURES})
  if(ARG_HOST)
    list(GET architectures 0 architectures)
  endif()
  set(code "")
  foreach(number ${architectures})
    list(APPEND code -gencode arch=compute_${number},code=sm_${number})
    set(last ${number})
  endforeach()
  if(NOT ARG_HOST)
    list(APPEND code -gencode arch=compute_${last},code=compute_${last})
  endif()
  set(warnings "")
  if(NORMSCOPE_WERROR)
    # Not -Wpedantic, which nvcc's generated host code does not pass.
    set(warnings -Werror all-warnings -Xcompiler -Wall,-Wextra,-Wshadow)
  endif()
  if(NOT NORMSCOPE_TESTS)
    set(assertions -DNORMSCOPE_ASSERTIONS=0)  # core/base/assert.h
  endif()
  set(optimisation -O3)
  if(NORMSCOPE_CUDA_UNOPTIMISED)
    set(optimisation --Ofast-compile=max)
  endif()
  set(made "")
  foreach(source ${ARG_SOURCES})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/nvcc/${source}.o)
    get_filename_component(folder ${object} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${NORMSCOPE_NVCC} -ccbin ${CMAKE_CXX_COMPILER} -std=c++20 -x cu ${optimisation} -DNDEBUG ${assertions}
              --expt-relaxed-constexpr --compress-mode=size ${warnings}
              -Xcompiler -fPIC,-fvisibility=hidden,-fvisibility-inlines-hidden ${code} -I${CMAKE_SOURCE_DIR}
              -isystem ${NORMSCOPE_CUDA_INCLUDE} -MD -MF ${object}.d -MT ${object}
              -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
      DEPENDS ${source} DEPFILE ${object}.d COMMENT "nvcc ${source}" VERBATIM)
    list(APPEND made ${object})
  endforeach()
  set(${objects} ${made} PARENT_SCOPE)
endfunction()
