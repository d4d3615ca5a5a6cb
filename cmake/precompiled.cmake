# precompile(TARGET HEADER...): parses HEADERs once for all sources of TARGET. CLI11, nlohmann-json and GoogleTest are most
# of a fresh build otherwise.
function(precompile target)
  if(SHARDPLAN_PCH)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# precompile_like(TARGET OTHER): the same headers as OTHER, parsed once for both.
function(precompile_like target other)
  if(SHARDPLAN_PCH)
    target_precompile_headers(${target} REUSE_FROM ${other})
  endif()
endfunction()
