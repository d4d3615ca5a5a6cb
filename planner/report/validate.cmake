# `validate`: predictions against recorded programs.
target_sources(shardplan_report PRIVATE ${CMAKE_CURRENT_LIST_DIR}/validate_report.cpp)
