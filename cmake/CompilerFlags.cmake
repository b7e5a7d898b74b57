# One interface target that every target of ours links privately: language level, warnings, sanitizers.
add_library(chakra_core_flags INTERFACE)
target_compile_features(chakra_core_flags INTERFACE cxx_std_20)

if(MSVC)
  target_compile_options(chakra_core_flags INTERFACE /W4)
else()
  target_compile_options(chakra_core_flags INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow)
endif()

if(CHAKRA_CORE_WARNINGS_AS_ERRORS)
  target_compile_options(chakra_core_flags INTERFACE $<IF:$<CXX_COMPILER_ID:MSVC>,/WX,-Werror>)
endif()

if(CHAKRA_CORE_SANITIZE)
  target_compile_options(chakra_core_flags INTERFACE -fsanitize=${CHAKRA_CORE_SANITIZE} -fno-omit-frame-pointer
                                                     -fno-sanitize-recover=all)
  target_link_options(chakra_core_flags INTERFACE -fsanitize=${CHAKRA_CORE_SANITIZE})
endif()
