if(NOT TARGET nlohmann_json::nlohmann_json)
  treeline_headers_alone(nlohmann_json::nlohmann_json nlohmann)
endif()
set(nlohmann_json_FOUND ON)
