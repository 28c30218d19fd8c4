# Looks for pybind11 and sets TREELINE_HAS_PYTHON. The module links the libraries statically, which takes position-independent code. With hidden
# symbols that is as fast as the code of a program: nothing can be replaced at load time, so calls stay direct and inlining stays free. It is
# compiled like that with or without pybind11, so that installing pybind11 later does not compile everything again.
option(TREELINE_PYTHON "Build the Python module where there is pybind11 (and all that it answers)" ON)
set(TREELINE_HAS_PYTHON OFF)

if(TREELINE_PYTHON)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  set(CMAKE_CXX_VISIBILITY_PRESET hidden)
  set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
  # Debian's interpreter has the packages that apt installs, whatever else comes first on the path.
  if(NOT DEFINED Python_EXECUTABLE AND NOT DEFINED ENV{VIRTUAL_ENV} AND NOT TREELINE_WHEEL AND EXISTS /usr/bin/python3)
    set(Python_EXECUTABLE /usr/bin/python3)
  endif()
  find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module)
  if(Python_FOUND)
    find_package(pybind11 2.10 CONFIG QUIET)
  endif()
  if(NOT TREELINE_VALIDATION)
    message(STATUS "Without TREELINE_VALIDATION there is no Python module")
  elseif(pybind11_FOUND)
    set(TREELINE_HAS_PYTHON ON)
  else()
    message(STATUS "No Python with pybind11: the Python module is left out (Debian: pybind11-dev python3-dev)")
  endif()
endif()
