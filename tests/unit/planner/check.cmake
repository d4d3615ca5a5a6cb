room_tests(planner_check "shardplan_planner;shardplan_report;shardplan_formats;nlohmann_json::nlohmann_json" check_configuration_test.cpp
           check_healthy_test.cpp check_meshes_test.cpp check_reports_test.cpp check_rule_sets_test.cpp check_sweep_test.cpp)
