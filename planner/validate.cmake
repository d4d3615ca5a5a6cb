# Predictions against recorded programs. The records are test data that the binary carries along.
target_sources(shardplan_planner PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/validate/recorded_program.cpp
  ${CMAKE_CURRENT_LIST_DIR}/validate/score.cpp)
file(GLOB records CONFIGURE_DEPENDS "${CMAKE_CURRENT_LIST_DIR}/../tests/data/oracle/programs/*.json")
list(SORT records)
embed_files(shardplan_planner embedded_records ${records})
