# What is wrong with rules: findings of one evaluation, and `check`, which weighs them over models and meshes.
target_sources(shardplan_planner PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/findings/attention_findings.cpp
  ${CMAKE_CURRENT_LIST_DIR}/findings/collective_findings.cpp
  ${CMAKE_CURRENT_LIST_DIR}/findings/expert_findings.cpp
  ${CMAKE_CURRENT_LIST_DIR}/findings/findings.cpp
  ${CMAKE_CURRENT_LIST_DIR}/findings/setting_findings.cpp
  ${CMAKE_CURRENT_LIST_DIR}/findings/subject.cpp
  ${CMAKE_CURRENT_LIST_DIR}/findings/weight_findings.cpp)
target_sources(shardplan_planner PRIVATE
  ${CMAKE_CURRENT_LIST_DIR}/check/check.cpp
  ${CMAKE_CURRENT_LIST_DIR}/check/check_cases.cpp
  ${CMAKE_CURRENT_LIST_DIR}/check/check_configuration.cpp
  ${CMAKE_CURRENT_LIST_DIR}/check/check_meshes.cpp
  ${CMAKE_CURRENT_LIST_DIR}/check/group_findings.cpp
  ${CMAKE_CURRENT_LIST_DIR}/check/remedies.cpp
  ${CMAKE_CURRENT_LIST_DIR}/check/rule_places.cpp
  ${CMAKE_CURRENT_LIST_DIR}/check/rule_set_findings.cpp)
