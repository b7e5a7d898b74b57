# For the installed package of chakra_core: generates protobuf's classes from et_def.proto and lets chakra_core::astra_sim
# use them. A program that has an et_def.pb.h of its own sets CHAKRA_CORE_ET_DEF_TARGET to the target that carries it.
if(CHAKRA_CORE_ET_DEF_TARGET)
  add_library(chakra_core_et_def INTERFACE)
  target_link_libraries(chakra_core_et_def INTERFACE ${CHAKRA_CORE_ET_DEF_TARGET})
else()
  find_dependency(Protobuf)
  set(_et_def_folder "${CMAKE_CURRENT_BINARY_DIR}/chakra_core_et_def")
  file(MAKE_DIRECTORY "${_et_def_folder}")
  add_custom_command(
    OUTPUT "${_et_def_folder}/et_def.pb.cc" "${_et_def_folder}/et_def.pb.h"
    COMMAND protobuf::protoc "--proto_path=${PACKAGE_PREFIX_DIR}/share/chakra_core" "--cpp_out=${_et_def_folder}"
            "${PACKAGE_PREFIX_DIR}/share/chakra_core/et_def.proto"
    DEPENDS "${PACKAGE_PREFIX_DIR}/share/chakra_core/et_def.proto" protobuf::protoc)
  add_library(chakra_core_et_def STATIC "${_et_def_folder}/et_def.pb.cc")
  target_include_directories(chakra_core_et_def SYSTEM PUBLIC "${_et_def_folder}")
  target_link_libraries(chakra_core_et_def PUBLIC protobuf::libprotobuf)
endif()
set_property(
  TARGET chakra_core::astra_sim
  APPEND
  PROPERTY INTERFACE_LINK_LIBRARIES chakra_core_et_def)
set_property(
  TARGET chakra_core::astra_sim
  APPEND
  PROPERTY INTERFACE_COMPILE_DEFINITIONS CHAKRA_CORE_ASTRA_SIM_PROTOBUF)
