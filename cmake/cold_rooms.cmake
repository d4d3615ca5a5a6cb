# cold_room(TARGET): a room in which no search spends its time: it reads words, prints answers, or asks for a few evaluations.
# What its sources take to build is templates of the libraries that they include, so it is compiled with -O1.
function(cold_room target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  set_target_properties(${target} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
endfunction()
