# MaxText arguments, one checked configuration, and the constraints it has to keep.
target_sources(shardplan_planner PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/argument_lookup.cpp
  ${CMAKE_CURRENT_LIST_DIR}/argument_precedence.cpp
  ${CMAKE_CURRENT_LIST_DIR}/argument_table.cpp
  ${CMAKE_CURRENT_LIST_DIR}/argument_values.cpp
  ${CMAKE_CURRENT_LIST_DIR}/config_file.cpp
  ${CMAKE_CURRENT_LIST_DIR}/configuration.cpp
  ${CMAKE_CURRENT_LIST_DIR}/constraints.cpp
  ${CMAKE_CURRENT_LIST_DIR}/context_constraints.cpp
  ${CMAKE_CURRENT_LIST_DIR}/divisibility.cpp
  ${CMAKE_CURRENT_LIST_DIR}/given_arguments.cpp
  ${CMAKE_CURRENT_LIST_DIR}/ignored_arguments.cpp
  ${CMAKE_CURRENT_LIST_DIR}/machine_arguments.cpp
  ${CMAKE_CURRENT_LIST_DIR}/maxtext_arguments.cpp
  ${CMAKE_CURRENT_LIST_DIR}/mesh_arguments.cpp
  ${CMAKE_CURRENT_LIST_DIR}/model_arguments.cpp
  ${CMAKE_CURRENT_LIST_DIR}/remat_arguments.cpp
  ${CMAKE_CURRENT_LIST_DIR}/rule_arguments.cpp
  ${CMAKE_CURRENT_LIST_DIR}/train_arguments.cpp)
target_link_libraries(shardplan_planner
  PUBLIC shardplan_values shardplan_hardware shardplan_models shardplan_rules
  PRIVATE shardplan_formats yaml-cpp)
