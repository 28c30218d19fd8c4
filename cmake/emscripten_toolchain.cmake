# Emscripten's own toolchain file, wherever it is installed, with what Treeline needs of it. Exceptions are WebAssembly's own (Chrome 95,
# Firefox 100, Safari 15.2): without them each call of a function that may throw goes through JavaScript.
find_program(TREELINE_EMCC em++)
if(NOT TREELINE_EMCC)
  message(FATAL_ERROR "Emscripten is needed for the live page's module; on Debian: apt-get install --no-install-recommends emscripten")
endif()
file(REAL_PATH ${TREELINE_EMCC} emcc_itself)
get_filename_component(emscripten_root ${emcc_itself} DIRECTORY)
# Debian keeps the linker's JavaScript parser there, where a Node.js from elsewhere does not look.
if(EXISTS /usr/share/nodejs/acorn)
  set(ENV{NODE_PATH} /usr/share/nodejs)
  set(CMAKE_CXX_LINKER_LAUNCHER ${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs)
endif()
include(${emscripten_root}/cmake/Modules/Platform/Emscripten.cmake)

# No name of a folder of this machine: the module is the same wherever it is built.
set(CMAKE_CXX_FLAGS_INIT "-fwasm-exceptions -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=build")
set(CMAKE_EXE_LINKER_FLAGS_INIT -fwasm-exceptions)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "Flags of a release")
