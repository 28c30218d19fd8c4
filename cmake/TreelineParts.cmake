# What may be left out of a build. The program then says so where it is asked for it, and does not offer it in --help.
option(TREELINE_KERNELS "Build the kernels, the real decoder and what measures this machine (OpenMP, OpenBLAS)" ON)
option(TREELINE_SCRAPE "Import runs from a server's address (libcurl)" ON)
option(TREELINE_SERVE "Answer over HTTP (cpp-httplib); without it `treeline serve` has --stdio alone" ON)
option(TREELINE_VALIDATION "Build what predicts published results and measured runs (treeline validate)" ON)
option(TREELINE_WHEEL "Lay the Python package out as in a wheel" OFF)
option(TREELINE_PORTABLE "Link everything statically, so that the program runs on any Linux" OFF)
if(TREELINE_PORTABLE)
  # Of the C library, too: nothing here looks up names of hosts or users, or loads a library, which is what that breaks.
  add_link_options(-static -Wl,--gc-sections)
endif()
if(TREELINE_PORTABLE OR TREELINE_WHEEL)  # Debian's static libraries and headers alone
  list(PREPEND CMAKE_MODULE_PATH ${PROJECT_SOURCE_DIR}/cmake/portable)
  # The same options in both, so that a compiler cache compiles what they share once.
  add_compile_options(-ffunction-sections -fdata-sections)
  set(CMAKE_CXX_VISIBILITY_PRESET hidden)
  set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
endif()
