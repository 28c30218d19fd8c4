# Looks for a CUDA compiler and sets TREELINE_HAS_CUDA. The static run-time library needs nothing but a driver, and a program
# with it starts where there is none.
set(TREELINE_CUDA_ARCHITECTURES "few" CACHE STRING "Machine code for: few (A100 and H100, PTX for what is newer), all (80 to 120, as far as nvcc knows them, PTX for what is newer), or a list as of CMAKE_CUDA_ARCHITECTURES")
option(TREELINE_CUDA "Build the CUDA kernels where there is a CUDA compiler" ON)
set(TREELINE_HAS_CUDA OFF)

# Sets CMAKE_CUDA_ARCHITECTURES. Code for Ampere runs on Ada, and the driver compiles PTX for what came later.
macro(treeline_cuda_architectures)
  if(DEFINED CMAKE_CUDA_ARCHITECTURES)
    # As the user says.
  elseif(TREELINE_CUDA_ARCHITECTURES STREQUAL "few")
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
  elseif(TREELINE_CUDA_ARCHITECTURES STREQUAL "all")
    execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE known_code ERROR_QUIET)
    set(CMAKE_CUDA_ARCHITECTURES)
    foreach(number 80 86 89 90 100 120)
      if(known_code MATCHES "sm_${number}\n")
        list(APPEND CMAKE_CUDA_ARCHITECTURES ${number}-real)
        set(newest ${number})
      endif()
    endforeach()
    list(APPEND CMAKE_CUDA_ARCHITECTURES ${newest}-virtual)
  else()
    set(CMAKE_CUDA_ARCHITECTURES ${TREELINE_CUDA_ARCHITECTURES})
  endif()
endmacro()

if(TREELINE_CUDA)
  include(CheckLanguage)
  # nvcc is seldom on the path where it is installed.
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS /usr/local/cuda/bin/nvcc)
    set(ENV{CUDACXX} /usr/local/cuda/bin/nvcc)
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    treeline_cuda_architectures()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    # CMake 3.25 does not know how to ask nvcc 13 for C++20.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    set(TREELINE_HAS_CUDA ON)
  else()
    message(STATUS "No CUDA compiler: the CUDA kernels are left out")
  endif()
endif()

# treeline_cuda_objects(target file...): the files' objects in a library of their own. As sources of a library in C++ they would
# make whoever links it look for CUDA.
function(treeline_cuda_objects target)
  add_library(${target} OBJECT ${ARGN})
  set_target_properties(${target} PROPERTIES CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON
    CUDA_COMPILER_LAUNCHER "sh;${PROJECT_SOURCE_DIR}/cmake/keep_ptxas.sh")
  target_compile_options(${target} PRIVATE -Xptxas=-v $<$<BOOL:${TREELINE_WARNINGS_AS_ERRORS}>:-Werror=all-warnings>)
endfunction()
