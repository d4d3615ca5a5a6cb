room_tests(planner_search "shardplan_planner" search_batches_test.cpp search_bounds_test.cpp search_front_test.cpp
           search_meshes_test.cpp search_parallelism_test.cpp search_pipelines_test.cpp
           search_plan_test.cpp search_select_test.cpp search_strategies_test.cpp)
