target_sources(shardplan_report PRIVATE ${CMAKE_CURRENT_LIST_DIR}/json_audit.cpp ${CMAKE_CURRENT_LIST_DIR}/text_audit.cpp)
target_link_libraries(shardplan_report PUBLIC shardplan_audit)
