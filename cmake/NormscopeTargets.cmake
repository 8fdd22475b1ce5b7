# SPDX-License-Identifier: GPL-3.0-or-later
# Defines how Normscope targets are compiled. A folder's CMakeLists.txt is then only a list of
# sources and of the libraries it may use; that list of DEPS keeps the dependencies pointing down.

function(_normscope_compile_rules target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wimplicit-fallthrough)
  # Loops marked `omp simd` become vector code (no OpenMP library, no threads), and so do those with functions of <cmath>:
  # none of these changes a result.
  target_compile_options(${target} PRIVATE -fopenmp-simd -fno-math-errno -fno-trapping-math)
  if(NORMSCOPE_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # Without this GCC collects its garbage again and again while it compiles so much at once: a tenth of the time.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-heapsize=2000000>)
  endif()
  if(NORMSCOPE_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(NORMSCOPE_UNITY AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # False alarms of GCC 12 inside std::string::operator+ (GCC bugs 105329, 105651), which are silent for a system header
    # but not for a precompiled one. The preset dev has these warnings.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-restrict -Wno-stringop-overread
                           $<$<CONFIG:Release>:-Wno-stringop-overflow>)
  endif()
  if(NORMSCOPE_SANITIZE)
    # A finding ends the program: undefined behaviour that is only printed would leave the test green.
    target_compile_options(${target} PRIVATE -fsanitize=${NORMSCOPE_SANITIZE} -fno-sanitize-recover=all
                           -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${NORMSCOPE_SANITIZE})
  endif()
endfunction()

# Precompiled headers: the standard library's and Qt's take more time than the sources themselves (those of nlohmann and
# CLI11 take as long precompiled). None of the project's own: after an edit only what includes it is compiled again.
# NORMSCOPE_UNITY precompiles more, and also for the libraries without Qt.
set(_normscope_std_headers <algorithm> <cmath> <functional> <map> <memory> <optional> <string> <variant> <vector>)
set(_normscope_qt_core_headers <QObject> <QString> <QStringList> <QVariant>)
set(_normscope_widget_headers <QAbstractButton> <QPainter> <QWidget>)
set(_normscope_test_headers <QtTest>)
if(NORMSCOPE_UNITY)
  list(APPEND _normscope_std_headers <array> <atomic> <chrono> <condition_variable> <cstdint> <cstring> <filesystem>
       <fstream> <iostream> <limits> <mutex> <numeric> <set> <span> <sstream> <stdexcept> <thread> <unordered_map>)
  list(APPEND _normscope_qt_core_headers <QCoreApplication> <QDateTime> <QDir> <QFileInfo> <QHash> <QMetaType> <QPointer>
       <QSet> <QThread> <QTimer>)
  list(APPEND _normscope_widget_headers <QAction> <QApplication> <QBoxLayout> <QComboBox> <QDialog> <QKeyEvent> <QLabel>
       <QLineEdit> <QMainWindow> <QMenu> <QPainterPath> <QPushButton> <QScrollArea> <QToolButton> <QToolTip>)
  list(APPEND _normscope_test_headers ${_normscope_std_headers} <QTemporaryDir>)
endif()

# normscope_headers(<name>): what the libraries without Qt share.
function(normscope_headers name)
  add_library(${name} OBJECT ${CMAKE_SOURCE_DIR}/cmake/precompiled.cpp)
  _normscope_compile_rules(${name})
  target_precompile_headers(${name} PRIVATE ${_normscope_std_headers})
endfunction()

# Sources with options of their own cannot use headers that were precompiled without them, or be joined with others.
function(_normscope_set_apart)
  foreach(source ${ARGN})
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    if(options)
      set_source_files_properties(${source} PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# With NORMSCOPE_UNITY, several sources of a target are compiled at once. Their anonymous namespaces are then one, so that a
# name in one is taken in its whole target: what two sources share belongs in a header, and other names tell of what they are.
function(_normscope_join target)
  if(NORMSCOPE_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 18)
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)  # of types in what is a header only to the compiler
  endif()
endfunction()

# normscope_library(<name> SOURCES … DEPS … [QT|QT_CORE] [APART]): a static library. QT and QT_CORE turn on moc. APART:
# one source at a time and without precompiled headers, for kernels, whose options are their own.
function(normscope_library name)
  cmake_parse_arguments(ARG "QT;QT_CORE;APART" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  _normscope_compile_rules(${name})
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
  if(ARG_APART)
    return()
  endif()
  _normscope_set_apart(${ARG_SOURCES})
  _normscope_join(${name})
  if(ARG_QT OR ARG_QT_CORE)
    set_target_properties(${name} PROPERTIES AUTOMOC ON AUTORCC ON)
    target_compile_definitions(${name} PRIVATE QT_NO_KEYWORDS QT_NO_FOREACH QT_NO_CAST_FROM_BYTEARRAY)
    set(headers ${_normscope_qt_core_headers} ${_normscope_std_headers})
    if(ARG_QT)
      list(PREPEND headers ${_normscope_widget_headers})
    endif()
    target_precompile_headers(${name} PRIVATE ${headers})
  elseif(NORMSCOPE_UNITY)
    target_precompile_headers(${name} REUSE_FROM normscope_core_headers)
    # GCC 12 takes sound appends to a std::string for writes out of bounds (GCC bug 105329) where <string> is precompiled.
    target_compile_options(${name} PRIVATE -Wno-array-bounds -Wno-restrict)
  endif()
endfunction()

# normscope_kernels(<name> SOURCES … DEPS …): sources of CUDA kernels for the emulated grid. Instrumented as for
# ThreadSanitizer, whose runtime is not linked: core/backend/grid/hooks.cpp takes its place and checks every access. A
# sanitized build brings its own runtime, and then nothing is checked here.
function(normscope_kernels name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  normscope_library(${name} APART SOURCES ${ARG_SOURCES} DEPS ${ARG_DEPS} normscope_grid)
  if(NORMSCOPE_SANITIZE)
    target_compile_definitions(${name} PUBLIC NORMSCOPE_UNCHECKED_KERNELS)
  else()
    target_compile_options(${name} PRIVATE -fsanitize=thread)
  endif()
endfunction()

# normscope_program(<name> SOURCES … DEPS … [QT])
function(normscope_program name)
  cmake_parse_arguments(ARG "QT" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  _normscope_compile_rules(${name})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  if(ARG_QT)
    set_target_properties(${name} PROPERTIES AUTOMOC ON AUTORCC ON)
    target_compile_definitions(${name} PRIVATE QT_NO_KEYWORDS QT_NO_FOREACH QT_NO_CAST_FROM_BYTEARRAY)
  endif()
  _normscope_join(${name})
endfunction()

# A test runs a few times for each time it is compiled, and what it tests is optimised: -O1 takes a quarter less time than
# -O2. The precompiled headers need the same options.
function(_normscope_test_rules target)
  _normscope_compile_rules(${target})
  target_compile_options(${target} PRIVATE -O1)
endfunction()

# _normscope_moc_of_tests(<target>): turns moc on, by the script moc_without_includes.
function(_normscope_moc_of_tests target)
  set(script ${CMAKE_BINARY_DIR}/moc_without_includes)
  get_target_property(NORMSCOPE_MOC Qt6::moc IMPORTED_LOCATION)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/moc_without_includes.in ${script} @ONLY
                 FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  set_target_properties(${target} PROPERTIES AUTOMOC ON AUTOMOC_EXECUTABLE ${script} AUTOMOC_COMPILER_PREDEFINES OFF)
endfunction()

# normscope_test_headers(<name> [WINDOW]): the precompiled headers of the tests. Those of the tests that link the window's
# libraries (WINDOW) are another set, since Qt Test then supports widgets.
function(normscope_test_headers name)
  cmake_parse_arguments(ARG "WINDOW" "" "" ${ARGN})
  add_library(${name} OBJECT ${CMAKE_SOURCE_DIR}/cmake/precompiled.cpp)
  _normscope_test_rules(${name})
  target_compile_definitions(${name} PRIVATE ${_normscope_test_definitions})
  target_link_libraries(${name} PRIVATE Qt6::Test)
  set(headers ${_normscope_test_headers})
  if(ARG_WINDOW)
    target_link_libraries(${name} PRIVATE Qt6::Widgets Qt6::Charts Qt6::Svg)
    if(NORMSCOPE_UNITY)
      list(APPEND headers ${_normscope_widget_headers})
    endif()
  endif()
  target_precompile_headers(${name} PRIVATE ${headers})
endfunction()

set(_normscope_test_definitions QT_NO_KEYWORDS NORMSCOPE_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    NORMSCOPE_BINARY_DIR="${CMAKE_BINARY_DIR}")

# normscope_test(<name> [SOURCES …] DEPS … [WINDOW] [ALONE]): the class of <name>_test.cpp as a test, part of the program of its
# folder, build/…/tests/<folder>_tests, with what else SOURCES lists. A test is named after the folder under tests/:
# tests/widgets/plots/ticks_test.cpp is widgets_plots_ticks. Where normscope_test_program is set, folders below share it.
# WINDOW tests open real windows: tests/with_display gives them an X server (Xvfb where there is none). ALONE: a program of
# its own, <test>_tests, for a test that replaces a function of the whole program.
function(normscope_test source)
  cmake_parse_arguments(ARG "WINDOW;ALONE" "" "SOURCES;DEPS" ${ARGN})
  _normscope_test_room(room)
  set(name ${room}_${source})
  _normscope_test_program(program)
  if(ARG_ALONE)
    set(program ${name}_tests)
  endif()
  set_property(GLOBAL APPEND PROPERTY normscope_test_sources ${CMAKE_CURRENT_SOURCE_DIR}/${source}_test.cpp)
  if(NOT TARGET ${program})
    if(NOT ARG_ALONE)
      set_property(GLOBAL APPEND PROPERTY normscope_test_programs ${program})
    endif()
    add_executable(${program})
    _normscope_test_rules(${program})
    _normscope_moc_of_tests(${program})
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_compile_definitions(${program} PRIVATE ${_normscope_test_definitions})
    target_link_libraries(${program} PRIVATE normscope_test_main Qt6::Test)
    if("${ARG_DEPS}" MATCHES "normscope_(widgets|app)")
      target_precompile_headers(${program} REUSE_FROM normscope_window_test_headers)
    else()
      target_precompile_headers(${program} REUSE_FROM normscope_test_headers)
    endif()
    if(NORMSCOPE_SANITIZE MATCHES thread)
      target_sources(${program} PRIVATE ${CMAKE_SOURCE_DIR}/tests/sanitizers/qt_handover.cpp)
    endif()
  endif()
  get_target_property(present ${program} SOURCES)
  foreach(file ${source}_test.cpp ${ARG_SOURCES})
    get_filename_component(file ${file} ABSOLUTE)
    if(NOT file IN_LIST present)
      target_sources(${program} PRIVATE ${file})
    endif()
  endforeach()
  target_link_libraries(${program} PRIVATE ${ARG_DEPS})
  if(ARG_WINDOW)
    add_test(NAME ${name} COMMAND ${CMAKE_SOURCE_DIR}/tests/with_display $<TARGET_FILE:${program}> ${source})
    set_tests_properties(${name} PROPERTIES COST 20)  # CTest starts the long ones first
  else()
    add_test(NAME ${name} COMMAND ${program} ${source})
    set_tests_properties(${name} PROPERTIES ENVIRONMENT "QT_QPA_PLATFORM=offscreen")
  endif()
  # Results are the CPU's on a machine with a card too.
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "NORMSCOPE_CUDA_PLUGIN=")
  if(NORMSCOPE_SANITIZE)  # three to ten times slower
    set_tests_properties(${name} PROPERTIES TIMEOUT 1800)
  else()
    set_tests_properties(${name} PROPERTIES TIMEOUT 900)  # on a slow processor, beside others
  endif()
endfunction()

function(_normscope_test_room result)
  file(RELATIVE_PATH room ${CMAKE_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE "/" "_" room ${room})
  set(${result} ${room} PARENT_SCOPE)
endfunction()

function(_normscope_test_program result)
  _normscope_test_room(room)
  if(normscope_test_program)
    set(${result} ${normscope_test_program} PARENT_SCOPE)
  else()
    set(${result} ${room}_tests PARENT_SCOPE)
  endif()
endfunction()

# With NORMSCOPE_UNITY, several tests of a program are compiled at once, each in a namespace of its own: a header with
# what all of them include comes first, so that the namespace holds only what a test itself defines.
function(normscope_join_tests)
  get_property(programs GLOBAL PROPERTY normscope_test_programs)
  foreach(program ${programs})
    get_target_property(sources ${program} SOURCES)
    set(includes "")
    foreach(source ${sources})
      if(NOT source MATCHES "_test\\.cpp$")
        set_source_files_properties(${source} TARGET_DIRECTORY ${program} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
        continue()
      endif()
      get_filename_component(folder ${source} DIRECTORY)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})  # the header follows its includes
      file(STRINGS ${source} lines REGEX "^#include ")
      foreach(line ${lines})
        string(REGEX REPLACE "^#include [\"<](.*)[\">].*" "\\1" name ${line})
        if(EXISTS ${folder}/${name})
          set(line "#include \"${folder}/${name}\"")
        endif()
        list(APPEND includes ${line})
      endforeach()
    endforeach()
    list(REMOVE_DUPLICATES includes)
    list(FILTER includes EXCLUDE REGEX "\\.moc\"")
    list(JOIN includes "\n" includes)
    set(header ${CMAKE_BINARY_DIR}/tests/joined/${program}.h)
    file(CONFIGURE OUTPUT ${header} CONTENT "#pragma once\n${includes}\n" @ONLY)
    set_target_properties(${program} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 14
      UNITY_BUILD_UNIQUE_ID NORMSCOPE_TEST_SOURCE
      UNITY_BUILD_CODE_BEFORE_INCLUDE "#include \"${header}\"\nnamespace NORMSCOPE_TEST_SOURCE {"
      UNITY_BUILD_CODE_AFTER_INCLUDE "}  // namespace NORMSCOPE_TEST_SOURCE")
    target_compile_options(${program} PRIVATE -Wno-subobject-linkage)  # of types in what is a header only to the compiler
  endforeach()
endfunction()

# normscope_test_runs(<program>… [DEFINITIONS …]): the tests of this folder run these programs, or load these plug-ins,
# whose paths they know by definitions of the form NORMSCOPE_CLI="$<TARGET_FILE:normscope-cli>".
function(normscope_test_runs)
  cmake_parse_arguments(ARG "" "" "DEFINITIONS" ${ARGN})
  _normscope_test_program(program)
  target_compile_definitions(${program} PRIVATE ${ARG_DEFINITIONS})
  add_dependencies(${program} ${ARG_UNPARSED_ARGUMENTS})
endfunction()

# normscope_emulated_test(<name> …): a normscope_test with kernels on the emulated grid, of the label `emulated`: `ctest -L
# emulated` runs them all. Not with ThreadSanitizer, which does not know the grid's fibers.
function(normscope_emulated_test name)
  if(NORMSCOPE_SANITIZE MATCHES thread)
    return()
  endif()
  normscope_test(${name} ${ARGN})
  _normscope_test_room(room)
  set_property(TEST ${room}_${name} APPEND PROPERTY LABELS emulated)
  set_tests_properties(${room}_${name} PROPERTIES COST 100)
  if(NORMSCOPE_SANITIZE MATCHES address)
    # AddressSanitizer would make a second stack for every thread of every launch: forty times slower.
    set_property(TEST ${room}_${name} PROPERTY ENVIRONMENT_MODIFICATION
                 "ASAN_OPTIONS=string_append::detect_stack_use_after_return=0")
  endif()
endfunction()
