# cold_room(TARGET): a room in which no search spends its time: it reads words and files, prints answers, or asks for a few
# evaluations. What its sources take to build is templates of the libraries that they include, so it is compiled with -O1, in
# larger pieces than others, and the headers of those libraries are parsed once for all such rooms.
function(cold_room target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 12)
  if(SHARDPLAN_PCH)
    cold_headers()
    target_precompile_headers(${target} REUSE_FROM shardplan_cold_headers)
  endif()
endfunction()

function(cold_headers)
  if(TARGET shardplan_cold_headers)
    return()
  endif()
  set(empty "${PROJECT_BINARY_DIR}/cold_headers.cpp")
  file(CONFIGURE OUTPUT "${empty}" CONTENT "")
  add_library(shardplan_cold_headers STATIC "${empty}")
  target_link_libraries(shardplan_cold_headers PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
  target_compile_options(shardplan_cold_headers PRIVATE $<$<CONFIG:Release>:-O1>)
  target_precompile_headers(shardplan_cold_headers PRIVATE <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp> <algorithm>
                            <functional> <map> <memory> <optional> <set> <string> <string_view> <variant> <vector>)
endfunction()
