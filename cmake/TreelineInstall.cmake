# Installs, by component: `program` (with the catalogue, the examples, its manual page and completions) and `development` (the libraries with
# their headers, and the package that find_package(treeline) reads). `python` is in python/CMakeLists.txt.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS treeline RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
treeline_catalogue_files(catalogue_files)
foreach(file ${catalogue_files})
  get_filename_component(folder ${file} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/treeline/${folder} COMPONENT program)
endforeach()

# The program itself writes its manual page and completions, so only one that runs here has them.
find_program(TREELINE_GZIP gzip)
if(NOT CMAKE_CROSSCOMPILING)
  set(manual treeline.1)
  if(TREELINE_GZIP)
    set(manual treeline.1.gz)
  endif()
  set(shell_files ${PROJECT_BINARY_DIR}/shell)
  install(CODE "
    file(MAKE_DIRECTORY \"${shell_files}\")
    foreach(words \"manual:treeline.1\" \"completions bash:treeline\" \"completions zsh:_treeline\" \"completions fish:treeline.fish\")
      string(REGEX MATCH \"^(.*):(.*)$\" matched \"\${words}\")
      set(file \"${shell_files}/\${CMAKE_MATCH_2}\")
      string(REPLACE \" \" \";\" words \"\${CMAKE_MATCH_1}\")
      execute_process(COMMAND \"$<TARGET_FILE:treeline>\" \${words} OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
    if(${manual} MATCHES gz)
      execute_process(COMMAND \"${TREELINE_GZIP}\" -9nf treeline.1 WORKING_DIRECTORY \"${shell_files}\" COMMAND_ERROR_IS_FATAL ANY)
    endif()" COMPONENT program)
  install(FILES ${shell_files}/${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
  install(FILES ${shell_files}/treeline DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
  install(FILES ${shell_files}/_treeline DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
  install(FILES ${shell_files}/treeline.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
endif()

# A portable build is the program alone: its libraries name no library that others could link with.
if(TREELINE_PORTABLE)
  return()
endif()

get_property(folders GLOBAL PROPERTY TREELINE_FOLDERS)
foreach(folder ${folders})
  install(TARGETS treeline_${folder} EXPORT treelineTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/${folder}/*.h)
  list(FILTER headers EXCLUDE REGEX "/page/")
  foreach(header ${headers})
    get_filename_component(of_header ${header} DIRECTORY)
    install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/treeline/${of_header} COMPONENT development)
  endforeach()
endforeach()

# The facade's headers are written <treeline/recommend.h>.
set(left_out "")
if(NOT TREELINE_VALIDATION)
  set(left_out PATTERN validate.h EXCLUDE)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/treeline DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.h" ${left_out})

# Its headers are among those of kernels/.
install(TARGETS treeline_kernels_hls EXPORT treelineTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)

install(EXPORT treelineTargets NAMESPACE treeline:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/treeline COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/treelineConfig.cmake.in
  ${PROJECT_BINARY_DIR}/treelineConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/treeline)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/treelineConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/treelineConfig.cmake ${PROJECT_BINARY_DIR}/treelineConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/treeline COMPONENT development)
