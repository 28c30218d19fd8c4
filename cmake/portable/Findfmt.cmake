# Its headers alone: Debian has no static library of it.
if(NOT TARGET fmt::fmt)
  find_path(TREELINE_FMT_HEADERS fmt/format.h REQUIRED)
  add_library(fmt::fmt INTERFACE IMPORTED GLOBAL)
  target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY=1)
  target_include_directories(fmt::fmt SYSTEM INTERFACE ${TREELINE_FMT_HEADERS})
endif()
set(fmt_FOUND ON)
