# The static library.
if(NOT TARGET yaml-cpp)
  find_library(TREELINE_YAML_CPP_STATIC libyaml-cpp.a REQUIRED)
  find_path(TREELINE_YAML_CPP_HEADERS yaml-cpp/yaml.h REQUIRED)
  add_library(yaml-cpp STATIC IMPORTED GLOBAL)
  set_target_properties(yaml-cpp PROPERTIES IMPORTED_LOCATION ${TREELINE_YAML_CPP_STATIC}
    INTERFACE_INCLUDE_DIRECTORIES ${TREELINE_YAML_CPP_HEADERS})
endif()
set(yaml-cpp_FOUND ON)
