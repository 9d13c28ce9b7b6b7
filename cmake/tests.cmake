# Tests that need more than one room: each folder below tests/ with sources is one program, linked with the highest rooms it uses.

foreach(folder IN ITEMS house world jobflow cli sockets)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/*.cc)
  if(sources)
    set(link)
    set(rooms sim os)
    if(folder STREQUAL sockets)
      set(rooms os net)  # builds without the rest of the tree
    endif()
    foreach(room IN LISTS rooms)
      if(TARGET slipway_${room})
        list(APPEND link slipway_${room})
      endif()
    endforeach()
    slipway_test(${folder}_test SOURCES ${sources} LINK ${link} fmt::fmt)
    target_compile_definitions(${folder}_test PRIVATE SLIPWAY_SOURCE_DIR="${CMAKE_SOURCE_DIR}" SLIPWAY_BINARY_DIR="${CMAKE_BINARY_DIR}")
  endif()
endforeach()
