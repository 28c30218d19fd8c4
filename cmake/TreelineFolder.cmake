# One folder of the architecture = one library. Its public include path holds that folder alone (through a link in the build tree), so
# a source file can include only its own folder and those named after USES: the picture in the README is what compiles.

set(TREELINE_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
# GCC 12 warns about its own std::string in `"text" + std::string` (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND TREELINE_WARNINGS -Wno-restrict)
endif()

# What computes for long. With sanitizers it is optimised a little more than the rest, which takes twice as long to compile as -Og:
# unoptimised, a fit by Eigen takes a quarter of an hour.
set(TREELINE_COMPUTING_FOLDERS numerics kernels decoder calibrate)

# What loops over many points, elements or characters. In the rest optimising more would not be felt (3 % of the instructions of a
# recommendation), and it costs a quarter to a third more time to compile, in a page size as well.
set(TREELINE_FAST_FOLDERS sim numerics sweeps kernels decoder json text)
set(TREELINE_LIGHTLY $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-Og>)
if(EMSCRIPTEN)
  set(TREELINE_FAST_FOLDERS sim numerics)
  set(TREELINE_LIGHTLY -Os)
endif()

function(treeline_compile_options target)
  target_compile_options(${target} PRIVATE ${TREELINE_WARNINGS})
  if(TREELINE_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(TREELINE_SANITIZE)
    # Left out is what AddressSanitizer finds as well (null, object-size), what only kernels do (loads of vectors: alignment, see below)
    # and what nobody does (casts down a hierarchy: vptr): a third of the time to compile.
    target_compile_options(${target} PRIVATE -fsanitize=address,undefined -fno-sanitize=null,object-size,alignment,vptr
      -fno-sanitize-recover=all -fno-omit-frame-pointer)
    # Optimised, GCC takes members of an empty std::optional for uninitialised.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
    target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  endif()
  if(TREELINE_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
  endif()
endfunction()

# AddressSanitizer's checks as calls, where little is computed: GCC takes a fifth less time. What computes would run for twice as long with
# them, and reading long logs (runs) for longer, too.
function(treeline_watch_by_calls target)
  if(TREELINE_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE "SHELL:--param asan-instrumentation-with-call-threshold=0")
  endif()
endfunction()

# Compiles the files of each folder as one translation unit: most of what they instantiate (JSON, command line, test macros) is the same in
# every file. `sources` are absolute, or relative to the calling list. Names in the files of a folder must differ, also unnamed ones.
function(treeline_one_unit_a_folder target)
  treeline_units_of(1000 ${target} ${ARGN})
endfunction()

# The same with at most `most` files in a unit.
function(treeline_units_of most target)
  if(NOT TREELINE_UNITS)
    return()
  endif()
  foreach(source ${ARGN})
    get_filename_component(source ${source} ABSOLUTE)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${source})
    get_filename_component(folder ${folder} DIRECTORY)
    string(MAKE_C_IDENTIFIER ${folder} counter)
    math(EXPR unit "${files_of_${counter}} + 0")
    math(EXPR files_of_${counter} "${unit} + 1")
    math(EXPR unit "${unit} / ${most}")
    if(unit EQUAL 0)
      set(unit "")
    endif()
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}${unit})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Compiles all files of a small program as one translation unit.
function(treeline_one_unit target)
  if(TREELINE_UNITS)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  endif()
endfunction()

# treeline_folder(NAME SOURCES file... [USES folder...] [LIBRARIES public...] [PRIVATE_LIBRARIES ...])
function(treeline_folder name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  if(NOT TREELINE_VALIDATION)  # with what reads its rows and writes its answers
    list(REMOVE_ITEM ARG_USES validation)
    list(FILTER ARG_SOURCES EXCLUDE REGEX "/(requests|reports)/validate/|/library/validate\\.cpp$")
  endif()
  set(target treeline_${name})
  set(include_dir ${PROJECT_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${include_dir})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${name} ${include_dir}/${name} SYMBOLIC)

  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(treeline::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${include_dir}> $<INSTALL_INTERFACE:include/treeline>)
  foreach(used ${ARG_USES})
    target_link_libraries(${target} PUBLIC treeline_${used})
  endforeach()
  target_link_libraries(${target} PUBLIC ${ARG_LIBRARIES} PRIVATE ${ARG_PRIVATE_LIBRARIES})
  treeline_compile_options(${target})
  if(NOT name IN_LIST TREELINE_FAST_FOLDERS)
    target_compile_options(${target} PRIVATE ${TREELINE_LIGHTLY})
  endif()
  if(name IN_LIST TREELINE_READING_FOLDERS)
    treeline_harden(${target})
  endif()
  if(NOT name IN_LIST TREELINE_FAST_FOLDERS AND NOT name IN_LIST TREELINE_COMPUTING_FOLDERS AND NOT name STREQUAL "runs")
    treeline_watch_by_calls(${target})
  endif()
  if(TREELINE_SANITIZE AND name IN_LIST TREELINE_COMPUTING_FOLDERS)
    target_compile_options(${target} PRIVATE -O1)
  endif()
  if(TREELINE_SANITIZE AND name MATCHES "^(kernels|decoder)$")
    target_compile_options(${target} PRIVATE -fsanitize=alignment)
  endif()
  set_property(GLOBAL APPEND PROPERTY TREELINE_FOLDERS ${name})
endfunction()
