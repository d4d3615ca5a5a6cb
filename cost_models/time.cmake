# Pricing: seconds of collectives, of compute, of the step.
target_sources(shardplan_cost_models PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/time/collective_time.cpp
  ${CMAKE_CURRENT_LIST_DIR}/time/compute_time.cpp
  ${CMAKE_CURRENT_LIST_DIR}/time/overlap.cpp
  ${CMAKE_CURRENT_LIST_DIR}/time/step_time.cpp)
