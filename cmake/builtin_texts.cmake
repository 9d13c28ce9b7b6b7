# The CUE texts of definitions/ as a table in the program (src/delivery/workflow/builtin_texts.h). Included while configuring, it
# sets `builtin_texts_source`; run as a script with -DOUT=FILE -DROOT=FOLDER it writes that source.

set(builtin_texts_folders component trait policy step package view)

if(CMAKE_SCRIPT_MODE_FILE)
  set(rows "")
  foreach(folder IN LISTS builtin_texts_folders)
    file(GLOB files RELATIVE ${ROOT} ${ROOT}/${folder}/*.cue)
    foreach(path IN LISTS files)
      file(READ ${ROOT}/${path} text)
      string(APPEND rows "    {\"${path}\", R\"SLIPWAY(${text})SLIPWAY\"},\n")
    endforeach()
  endforeach()
  file(WRITE ${OUT} "#include \"delivery/workflow/builtin_texts.h\"

namespace slipway::delivery::workflow {
namespace {
constexpr BuiltinText kTexts[] = {
${rows}};
}  // namespace

std::span<const BuiltinText> builtin_texts() { return kTexts; }

}  // namespace slipway::delivery::workflow
")
  return()
endif()

set(builtin_texts_root ${CMAKE_SOURCE_DIR}/definitions)
set(builtin_texts_source ${CMAKE_BINARY_DIR}/generated/builtin_texts.cc)
list(TRANSFORM builtin_texts_folders REPLACE "(.+)" "${builtin_texts_root}/\\1/*.cue" OUTPUT_VARIABLE patterns)
file(GLOB builtin_texts_files CONFIGURE_DEPENDS ${patterns})
# The list of names is written only when it changes, so that a removed file makes the table anew too.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/builtin_texts.list CONTENT "${builtin_texts_files}" @ONLY)
add_custom_command(
  OUTPUT ${builtin_texts_source}
  COMMAND ${CMAKE_COMMAND} -DOUT=${builtin_texts_source} -DROOT=${builtin_texts_root} -P ${CMAKE_CURRENT_LIST_FILE}
  DEPENDS ${builtin_texts_files} ${CMAKE_BINARY_DIR}/generated/builtin_texts.list ${CMAKE_CURRENT_LIST_FILE}
  COMMENT "Table of the texts in definitions/"
  VERBATIM)
