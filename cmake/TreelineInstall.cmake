# Installs the program, the libraries with their headers, the catalogues, and the package that find_package(treeline) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(folders GLOBAL PROPERTY TREELINE_FOLDERS)
foreach(folder ${folders})
  install(TARGETS treeline_${folder} EXPORT treelineTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/treeline/${folder}
          FILES_MATCHING PATTERN "*.h" PATTERN "page" EXCLUDE)
endforeach()

# The facade's headers are written <treeline/recommend.h>.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/treeline DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

# Its headers are among those of kernels/.
install(TARGETS treeline_kernels_hls EXPORT treelineTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

install(TARGETS treeline RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(catalogue models hardware examples)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${catalogue} DESTINATION ${CMAKE_INSTALL_DATADIR}/treeline
          FILES_MATCHING PATTERN "*.json" PATTERN "*.csv")
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/calibrate/published DESTINATION ${CMAKE_INSTALL_DATADIR}/treeline/calibrate
        FILES_MATCHING PATTERN "*.json")
install(FILES ${PROJECT_SOURCE_DIR}/validation/serving/names.json ${PROJECT_SOURCE_DIR}/validation/serving/evidence.json DESTINATION ${CMAKE_INSTALL_DATADIR}/treeline/validation/serving)

install(EXPORT treelineTargets NAMESPACE treeline:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/treeline)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/treelineConfig.cmake.in
  ${PROJECT_BINARY_DIR}/treelineConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/treeline)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/treelineConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/treelineConfig.cmake ${PROJECT_BINARY_DIR}/treelineConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/treeline)
