# cold_room(TARGET): a room in which no search spends its time: it reads words, prints answers, or asks for a few evaluations.
# What its sources take to build is templates of the libraries that they include, so they are compiled several at a time, which
# says those once, and with -O1. Two sources of such a room can't have a helper of the same name; -DSHARDPLAN_UNITY=OFF
# compiles each by itself.
function(cold_room target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${SHARDPLAN_UNITY} UNITY_BUILD_BATCH_SIZE 8
                                             DISABLE_PRECOMPILE_HEADERS ON)
endfunction()
