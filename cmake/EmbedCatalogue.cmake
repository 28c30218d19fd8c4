# TREELINE_EMBED_CATALOGUE: programs carry the catalogue and the examples among their read-only data (text/catalogue_folder.h), so that they
# need no file beside them. What a flag, the environment or an installation names wins over it.
include(EmbedFile)
option(TREELINE_EMBED_CATALOGUE "Carry the catalogue in the program" ON)

# What readers look for, as paths from the source folder.
function(treeline_catalogue_files out)
  set(files "")
  set(folders models hardware)
  if(NOT EMSCRIPTEN)  # the live page copies no examples, and reads neither measured rows nor published results
    list(APPEND files validation/serving/names.json validation/serving/evidence.json)
    list(APPEND folders examples calibrate/published)
  endif()
  foreach(folder ${folders})
    file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${folder}/*.json
         ${PROJECT_SOURCE_DIR}/${folder}/*.csv)
    list(APPEND files ${found})
  endforeach()
  list(SORT files)
  set(${out} ${files} PARENT_SCOPE)
endfunction()

function(treeline_embed_catalogue target)
  treeline_catalogue_files(files)
  set(archive ${CMAKE_CURRENT_BINARY_DIR}/catalogue.archive)
  list(JOIN files "\n" lines)
  file(CONFIGURE OUTPUT ${archive}.list CONTENT "${lines}\n" @ONLY)
  list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE depends)
  add_custom_command(OUTPUT ${archive}
    COMMAND ${CMAKE_COMMAND} -D SOURCE=${PROJECT_SOURCE_DIR} -D LIST=${archive}.list -D ARCHIVE=${archive} -D STRIP=$<BOOL:${EMSCRIPTEN}>
            -P ${PROJECT_SOURCE_DIR}/cmake/pack_files.cmake
    DEPENDS ${depends} ${archive}.list ${PROJECT_SOURCE_DIR}/cmake/pack_files.cmake COMMENT "Packing the catalogue" VERBATIM)
  treeline_embed_file(${target} treeline_catalogue ${archive})
  target_compile_definitions(${target} PRIVATE TREELINE_EMBED_CATALOGUE)
endfunction()

# The day of its last change, where this is a checkout.
set(TREELINE_CATALOGUE_DATE "a day that the build did not know")
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${PROJECT_SOURCE_DIR} log -1 --format=%cs -- models hardware
                  OUTPUT_VARIABLE catalogue_date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(catalogue_date MATCHES "^[0-9-]+$")
    set(TREELINE_CATALOGUE_DATE ${catalogue_date})
  endif()
endif()
