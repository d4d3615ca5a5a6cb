# `audit`: compiled programs against plans and earlier programs.
target_sources(shardplan_planner PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/audit/audit.cpp
  ${CMAKE_CURRENT_LIST_DIR}/audit/price_traffic.cpp)
target_link_libraries(shardplan_planner PUBLIC shardplan_audit)
