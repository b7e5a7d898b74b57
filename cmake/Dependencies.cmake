# Dependencies of the core: the system's package first, then the copy inside an sdist, then a pinned commit.
# All of them are private: none shows in a public header.
include(FetchContent)

set(_chakra_core_apt_line "apt-get install -y g++ libprotozero-dev zlib1g-dev libzstd-dev libisal-dev pkg-config")
set(_protozero_repository https://github.com/mapbox/protozero.git)
set(_protozero_commit 89a55ad2962cca3adbe8383a4b6d9a8411352ef2) # v1.8.1

find_package(Threads REQUIRED)

find_package(ZLIB QUIET)
if(NOT ZLIB_FOUND)
  message(FATAL_ERROR "chakra_core needs zlib with its headers, which was not found.\n"
                      "  On Debian or Ubuntu:  ${_chakra_core_apt_line}")
endif()

# zstd is optional: without it, files compressed with it are refused with an error that says so.
set(CHAKRA_CORE_HAVE_ZSTD FALSE)
if(NOT CHAKRA_CORE_WITH_ZSTD STREQUAL "OFF")
  find_package(ZstdLibrary MODULE QUIET)
  set(CHAKRA_CORE_HAVE_ZSTD ${ZstdLibrary_FOUND})
  if(NOT ZstdLibrary_FOUND AND NOT CHAKRA_CORE_WITH_ZSTD STREQUAL "AUTO")
    message(FATAL_ERROR "CHAKRA_CORE_WITH_ZSTD is on, but zstd with its headers was not found.\n"
                        "  On Debian or Ubuntu:  apt-get install -y libzstd-dev\n"
                        "  Or build without it:  -DCHAKRA_CORE_WITH_ZSTD=OFF")
  endif()
endif()

# ISA-L is optional: without it, gzip is inflated by zlib, which takes three times as long.
set(CHAKRA_CORE_HAVE_ISAL FALSE)
if(NOT CHAKRA_CORE_WITH_ISAL STREQUAL "OFF")
  find_package(IsalLibrary MODULE QUIET)
  set(CHAKRA_CORE_HAVE_ISAL ${IsalLibrary_FOUND})
  if(NOT IsalLibrary_FOUND AND NOT CHAKRA_CORE_WITH_ISAL STREQUAL "AUTO")
    message(FATAL_ERROR "CHAKRA_CORE_WITH_ISAL is on, but libisal with its headers was not found.\n"
                        "  On Debian or Ubuntu:  apt-get install -y libisal-dev pkg-config\n"
                        "  Or build without it:  -DCHAKRA_CORE_WITH_ISAL=OFF")
  endif()
endif()

set(_bundled_protozero "${PROJECT_SOURCE_DIR}/third_party/protozero")
if(SKBUILD_STATE STREQUAL "sdist")
  # An sdist carries the headers, so that building from it needs no network.
  find_package(protozero 1.7 MODULE QUIET)
  if(protozero_FOUND)
    file(COPY "${protozero_INCLUDE_DIR}/protozero" DESTINATION "${_bundled_protozero}/include")
  else()
    FetchContent_Declare(
      protozero
      GIT_REPOSITORY ${_protozero_repository}
      GIT_TAG ${_protozero_commit}
      SOURCE_DIR "${_bundled_protozero}"
      SOURCE_SUBDIR cmake)
    FetchContent_MakeAvailable(protozero)
  endif()
endif()

add_library(chakra_core_protozero INTERFACE)
if(EXISTS "${_bundled_protozero}/include/protozero/version.hpp")
  set(_protozero_include "${_bundled_protozero}/include")
else()
  find_package(protozero 1.7 MODULE QUIET)
  if(protozero_FOUND)
    set(_protozero_include "${protozero_INCLUDE_DIR}")
  else()
    find_package(Git QUIET)
    if(NOT FETCHCONTENT_SOURCE_DIR_PROTOZERO AND GIT_FOUND)
      # A quick question instead of FetchContent's long retries, so that an unconnected machine gets a clear answer.
      execute_process(
        COMMAND "${GIT_EXECUTABLE}" ls-remote --exit-code ${_protozero_repository} HEAD
        RESULT_VARIABLE _protozero_unreachable
        OUTPUT_QUIET ERROR_QUIET
        TIMEOUT 60)
    elseif(NOT FETCHCONTENT_SOURCE_DIR_PROTOZERO)
      set(_protozero_unreachable TRUE)
    endif()
    if(_protozero_unreachable)
      message(FATAL_ERROR "chakra_core needs protozero (headers only): it is not installed and cannot be fetched.\n"
                          "  On Debian or Ubuntu:  ${_chakra_core_apt_line}\n"
                          "  Or point to a copy:   -DFETCHCONTENT_SOURCE_DIR_PROTOZERO=<folder>")
    endif()
    FetchContent_Declare(
      protozero
      GIT_REPOSITORY ${_protozero_repository}
      GIT_TAG ${_protozero_commit}
      SOURCE_SUBDIR cmake)
    FetchContent_MakeAvailable(protozero)
    set(_protozero_include "${protozero_SOURCE_DIR}/include")
  endif()
endif()
target_include_directories(chakra_core_protozero SYSTEM INTERFACE "${_protozero_include}")
