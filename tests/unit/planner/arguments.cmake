room_tests(planner_arguments "shardplan_planner;shardplan_formats" argument_errors_test.cpp argument_table_test.cpp
           config_file_test.cpp constraints_test.cpp machine_arguments_test.cpp mesh_arguments_test.cpp
           model_arguments_test.cpp records_test.cpp train_arguments_test.cpp)
