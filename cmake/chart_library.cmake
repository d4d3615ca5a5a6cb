# chart_library(OUT): what draws the charts of pages, Observable Plot and the D3 that it stands on (both ISC), from the npm
# registry, as one script that has both licences; OUT is its path. Where there is no registry,
# -DSHARDPLAN_CHART_ARCHIVES=FOLDER has the two archives.
set(SHARDPLAN_CHART_ARCHIVES "" CACHE PATH "Folder with the archives that cmake/chart_library.cmake names, in place of the npm registry")

set(d3_sha512
    64a6ff98e34f54acda3b952571673037c6d2e1ecef41a62ef9bb28bbe5e034005d182f34d24c07eb9d400d36db4f130f1d6d77525bdb41a7dd989403935c3b32)
set(plot_sha512
    fea6973ffee67383144b4b3870f3c50120d18edb16a7ce7f4db7ec722a83814d47c188b16d26dbcad36e2270fc01c4d80b7c5ac400a0557d3a6a075f432f56fa)

# The minified script of a package of the registry and its licence, unpacked in FOLDER/package.
function(unpack_package path sha512 folder)
  get_filename_component(name "${path}" NAME)
  set(archive "${folder}/${name}")
  set(from "https://registry.npmjs.org/${path}")
  if(SHARDPLAN_CHART_ARCHIVES)
    set(from "file://${SHARDPLAN_CHART_ARCHIVES}/${name}")
  endif()
  set(found "")
  if(EXISTS "${archive}")
    file(SHA512 "${archive}" found)
  endif()
  foreach(attempt RANGE 1 4)  # registries fail now and then
    if(found STREQUAL sha512)
      break()
    endif()
    if(attempt GREATER 1)
      execute_process(COMMAND "${CMAKE_COMMAND}" -E sleep 3)
    endif()
    file(DOWNLOAD "${from}" "${archive}" INACTIVITY_TIMEOUT 30 STATUS status)
    file(SHA512 "${archive}" found)
  endforeach()
  if(NOT found STREQUAL sha512)
    file(REMOVE "${archive}")
    message(FATAL_ERROR "${from} could not be had, or is not what it was (${status}); "
                        "-DSHARDPLAN_CHART_ARCHIVES=FOLDER takes ${name} from a folder")
  endif()
  file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${folder}" PATTERNS package/LICENSE package/dist/*.min.js)
endfunction()

function(chart_library out)
  set(folder "${CMAKE_BINARY_DIR}/chart_library")
  unpack_package(d3/-/d3-7.9.2.tgz ${d3_sha512} "${folder}/d3")
  unpack_package(@observablehq/plot/-/plot-0.6.17.tgz ${plot_sha512} "${folder}/plot")
  set(script "")
  foreach(package IN ITEMS d3 plot)  # in the order in which they run
    file(GLOB minified "${folder}/${package}/package/dist/*.min.js")
    file(READ "${folder}/${package}/package/LICENSE" licence)
    file(READ "${minified}" text)
    string(APPEND script "/*\n${licence}*/\n${text}\n")
  endforeach()
  file(CONFIGURE OUTPUT "${folder}/chart_library.js" CONTENT "@script@" @ONLY)
  set(${out} "${folder}/chart_library.js" PARENT_SCOPE)
endfunction()
