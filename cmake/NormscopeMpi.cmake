# SPDX-License-Identifier: GPL-3.0-or-later
# Finds MPI, for the plug-in with which several processes train one stack, and sets NORMSCOPE_MPI_FOUND.

set(NORMSCOPE_MPI AUTO CACHE STRING "Build the MPI plug-in: ON, OFF, or AUTO (where MPI is found)")
set_property(CACHE NORMSCOPE_MPI PROPERTY STRINGS AUTO ON OFF)

set(NORMSCOPE_MPI_FOUND OFF)
if(NORMSCOPE_MPI STREQUAL "OFF" OR (NORMSCOPE_SANITIZE AND NOT NORMSCOPE_MPI STREQUAL "ON"))
  message(STATUS "MPI plug-in: not built (NORMSCOPE_MPI, NORMSCOPE_SANITIZE)")
  return()
endif()
find_package(MPI QUIET COMPONENTS C)
if(MPI_C_FOUND)
  set(NORMSCOPE_MPI_FOUND ON)
  message(STATUS "MPI plug-in: ${MPI_C_LIBRARIES}")
elseif(NORMSCOPE_MPI STREQUAL "ON")
  message(FATAL_ERROR "NORMSCOPE_MPI is ON, but MPI is not found")
else()
  message(STATUS "MPI plug-in: not built, MPI is not found")
endif()
