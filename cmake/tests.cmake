# Tests that need more than one room: each folder below tests/ with sources is one program, linked with the highest rooms it uses.

foreach(folder IN ITEMS house world jobflow)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/*.cc)
  if(sources)
    set(link)
    foreach(room IN ITEMS sim os)
      if(TARGET slipway_${room})
        list(APPEND link slipway_${room})
      endif()
    endforeach()
    slipway_test(${folder}_test SOURCES ${sources} LINK ${link} fmt::fmt)
    target_compile_definitions(${folder}_test PRIVATE SLIPWAY_SOURCE_DIR="${CMAKE_SOURCE_DIR}" SLIPWAY_BINARY_DIR="${CMAKE_BINARY_DIR}")
  endif()
endforeach()

# `tests` builds every test program and lists them for tools/run-tests.
get_property(programs GLOBAL PROPERTY SLIPWAY_TESTS)
add_custom_target(tests DEPENDS ${programs})
list(JOIN programs "\n" lines)
file(WRITE ${CMAKE_BINARY_DIR}/tests.txt "${lines}\n")
