# protozero is headers only and distributions ship no CMake package for it.
# Sets protozero_FOUND, protozero_VERSION and protozero_INCLUDE_DIR.
find_path(protozero_INCLUDE_DIR NAMES protozero/version.hpp)

if(protozero_INCLUDE_DIR)
  file(STRINGS "${protozero_INCLUDE_DIR}/protozero/version.hpp" _protozero_version_line
       REGEX "define PROTOZERO_VERSION_STRING")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" protozero_VERSION "${_protozero_version_line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  protozero
  REQUIRED_VARS protozero_INCLUDE_DIR
  VERSION_VAR protozero_VERSION)
mark_as_advanced(protozero_INCLUDE_DIR)
