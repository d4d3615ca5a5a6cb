target_sources(shardplan_report PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/check_report.cpp
  ${CMAKE_CURRENT_LIST_DIR}/github.cpp
  ${CMAKE_CURRENT_LIST_DIR}/json_check.cpp
  ${CMAKE_CURRENT_LIST_DIR}/sarif.cpp)
