# What a build for WebAssembly leaves out, and where it finds what it needs: headers alone, since Debian's libraries are made for Linux.
list(PREPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR}/wasm)
set(Eigen3_DIR /usr/share/eigen3/cmake CACHE PATH "Eigen, which is headers everywhere")

# treeline_headers_alone(target name): an imported library of the headers in /usr/include/<name>. They are linked one by one: all of
# /usr/include would hide Emscripten's own C library.
function(treeline_headers_alone target name)
  set(folder ${PROJECT_BINARY_DIR}/third_party)
  file(MAKE_DIRECTORY ${folder})
  file(CREATE_LINK /usr/include/${name} ${folder}/${name} SYMBOLIC)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE ${folder})
endfunction()
