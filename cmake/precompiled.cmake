# precompile(TARGET HEADER...): parses HEADERs once for all sources of TARGET.
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

# precompile_rooms(): the standard headers and fmt once for all rooms, parsed with shardplan_values. Call it when every
# room has been added.
function(precompile_rooms)
  if(NOT SHARDPLAN_PCH)
    return()
  endif()
  target_precompile_headers(shardplan_values PRIVATE <fmt/format.h> <algorithm> <functional> <map> <memory> <optional> <set>
                            <string> <string_view> <variant> <vector>)
  set(folders "${PROJECT_SOURCE_DIR}")
  while(folders)
    list(POP_FRONT folders folder)
    get_property(inner DIRECTORY "${folder}" PROPERTY SUBDIRECTORIES)
    list(APPEND folders ${inner})
    get_property(rooms DIRECTORY "${folder}" PROPERTY BUILDSYSTEM_TARGETS)
    foreach(room IN LISTS rooms)
      get_target_property(own ${room} PRECOMPILE_HEADERS)
      get_target_property(shared ${room} PRECOMPILE_HEADERS_REUSE_FROM)
      get_target_property(type ${room} TYPE)
      if(type STREQUAL STATIC_LIBRARY AND NOT own AND NOT shared)
        target_precompile_headers(${room} REUSE_FROM shardplan_values)
      endif()
    endforeach()
  endwhile()
endfunction()
