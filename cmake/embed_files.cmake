# embed_files(TARGET SYMBOL FILE...): compiles the text of each FILE into TARGET, so that the installed binary needs no
# data directory. Generates `std::span<const shardplan::EmbeddedFile> shardplan::SYMBOL()` (include/shardplan/embedded_file.hpp);
# a file's name is its stem ("mixtral-8x7b" for configs/mixtral-8x7b.json).
function(embed_files target symbol)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cpp")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  set(body "#include <array>\n#include <shardplan/embedded_file.hpp>\n\nnamespace shardplan {\n\n")
  string(APPEND body "using namespace std::string_view_literals;  // know their length: no constant evaluation counts it\n")
  list(LENGTH ARGN count)
  string(APPEND body "static constexpr std::array<EmbeddedFile, ${count}> files{{\n")
  foreach(path IN LISTS ARGN)
    get_filename_component(stem "${path}" NAME_WLE)
    file(READ "${path}" text)
    string(APPEND body "    {\"${stem}\", R\"~~~~(${text})~~~~\"sv},\n")
  endforeach()
  string(APPEND body "}};\n\nstd::span<const EmbeddedFile> ${symbol}();\nstd::span<const EmbeddedFile> ${symbol}() { return files; }\n\n}  // namespace shardplan\n")
  file(CONFIGURE OUTPUT "${output}" CONTENT "@body@" @ONLY)
  target_sources(${target} PRIVATE "${output}")
endfunction()
