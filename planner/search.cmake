# The search behind `plan`: which candidates there are, what they cost, which to recommend.
find_package(Threads REQUIRED)
target_sources(shardplan_planner PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/search/batch_options.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/candidate.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/comparison.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/enumerate_meshes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/exploration.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/explore.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/front.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/parallelism.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/pipeline_bounds.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/pipeline_options.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/plan.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/plan_machine.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/present.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/reasons.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/rejections.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/remat_order.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/search_space.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/select.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/strategies.cpp
  ${CMAKE_CURRENT_LIST_DIR}/search/would_fit.cpp)
target_link_libraries(shardplan_planner PRIVATE Threads::Threads)
