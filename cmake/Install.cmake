# The same relative layout in the wheel (under site-packages/chakra_core) and in `cmake --install`.
include(CMakePackageConfigHelpers)

# `cmake --install <build> --component package` leaves the Python extension out.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME package)
set(_lib_dir lib)
set(_include_dir include)
set(_package_dir lib/cmake/chakra_core)

install(
  TARGETS chakra_core chakra_core_c chakra_core_astra_sim
  EXPORT chakra_core_targets
  ARCHIVE DESTINATION ${_lib_dir}
  LIBRARY DESTINATION ${_lib_dir}
  RUNTIME DESTINATION bin
  INCLUDES
  DESTINATION ${_include_dir})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/cpp/include/" DESTINATION ${_include_dir})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/cpp/astra_sim_paths" DESTINATION ${_include_dir})
install(FILES "${PROJECT_SOURCE_DIR}/schema/et_def.proto" DESTINATION share/chakra_core)
install(
  EXPORT chakra_core_targets
  NAMESPACE chakra_core::
  DESTINATION ${_package_dir})

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/chakra_coreConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/chakra_coreConfig.cmake" INSTALL_DESTINATION ${_package_dir})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/chakra_coreConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/chakra_coreConfig.cmake" "${PROJECT_BINARY_DIR}/chakra_coreConfigVersion.cmake"
        DESTINATION ${_package_dir})
install(FILES "${PROJECT_SOURCE_DIR}/cmake/EtDefMessages.cmake" DESTINATION ${_package_dir})
if(CHAKRA_CORE_HAVE_ZSTD)
  install(FILES "${PROJECT_SOURCE_DIR}/cmake/FindZstdLibrary.cmake" DESTINATION ${_package_dir})
endif()
if(CHAKRA_CORE_HAVE_ISAL)
  install(FILES "${PROJECT_SOURCE_DIR}/cmake/FindIsalLibrary.cmake" DESTINATION ${_package_dir})
endif()
