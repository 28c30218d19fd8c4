# What may be left out of a build. The program then says so where it is asked for it, and does not offer it in --help.
option(TREELINE_KERNELS "Build the kernels, the real decoder and what measures this machine (OpenMP, OpenBLAS)" ON)
option(TREELINE_SCRAPE "Import runs from a server's address (libcurl)" ON)
option(TREELINE_PORTABLE "Link third-party libraries statically, so that the program runs where they are not installed" OFF)
if(TREELINE_PORTABLE)
  list(PREPEND CMAKE_MODULE_PATH ${PROJECT_SOURCE_DIR}/cmake/portable)
endif()
