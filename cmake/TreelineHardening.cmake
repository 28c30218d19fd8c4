# What a Release program does against its own mistakes: addresses that differ from run to run, tables of addresses that are read-only once
# it runs, no executable stack; and where it reads what others wrote, a canary in frames with arrays and checked sizes in calls of the C
# library. tests/cli/hardened.sh looks at the built program.
option(TREELINE_HARDENING "Harden Release programs (stack protector, checked C library, PIE, RELRO)" ON)

if(EMSCRIPTEN)  # a module has a memory of its own, and its C library neither a canary nor checked calls
  set(TREELINE_HARDENING OFF)
elseif(TREELINE_SANITIZE)  # at fixed addresses these large programs start in three quarters of the time, and tests start them a thousand times
  set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
else()
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
if(TREELINE_HARDENING)
  include(CheckPIESupported)
  check_pie_supported(LANGUAGES CXX)
endif()

# Folders that take in files, flags, questions and answers of servers, or write out what came in.
set(TREELINE_READING_FOLDERS text json models hardware runs engines requests reports library store serve)

function(treeline_harden target)
  if(NOT TREELINE_HARDENING OR TREELINE_SANITIZE)
    return()
  endif()
  # Level 3 needs GCC 12 and glibc 2.34; older ones take it as 2.
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-fstack-protector-strong;-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    target_link_options(${target} PRIVATE $<$<CONFIG:Release>:-Wl,-z,relro,-z,now,-z,noexecstack>)
  endif()
endfunction()
