# Compiler options every target of the project shares. Third-party headers come in as SYSTEM and stay quiet.
add_library(rdmascope_options INTERFACE)
target_include_directories(rdmascope_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(rdmascope_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Wold-style-cast)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Designated or short initialisers leave members at their defaults on purpose (header tables).
  target_compile_options(rdmascope_options INTERFACE -Wno-missing-field-initializers)
else()
  target_compile_options(rdmascope_options INTERFACE -Wno-missing-field-initializers -Wno-missing-braces)
endif()
if(RDMASCOPE_WERROR)
  target_compile_options(rdmascope_options INTERFACE -Werror)
endif()
if(RDMASCOPE_SANITIZE)
  target_compile_options(rdmascope_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(rdmascope_options INTERFACE -fsanitize=address,undefined)
endif()
if(RDMASCOPE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "RDMASCOPE_FUZZ needs clang: configure with the preset 'fuzz'")
  endif()
  target_compile_options(rdmascope_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_package(PkgConfig REQUIRED)

# Headers that nearly every file of a target includes are parsed once: a file of rules then takes a fifth of the time.
# Sources still include what they use (-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON shows what is missing). ccache needs the
# options and CCACHE_SLOPPINESS, which ./run sets.
function(rdmascope_precompile TARGET)
  target_precompile_headers(${TARGET} PRIVATE ${ARGN})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${TARGET} PRIVATE -fpch-preprocess)
  else()
    target_compile_options(${TARGET} PRIVATE -Xclang -fno-pch-timestamp)
  endif()
endfunction()

# For libraries that the plugin takes in, too. Calls inside of them stay direct.
function(rdmascope_position_independent TARGET)
  if(RDMASCOPE_WIRESHARK AND NOT RDMASCOPE_FUZZ)
    set_target_properties(${TARGET} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_options(${TARGET} PRIVATE -fno-semantic-interposition)
  endif()
endfunction()
