# `tests` builds every test program and lists them for tools/run-tests.
get_property(programs GLOBAL PROPERTY SLIPWAY_TESTS)
add_custom_target(tests DEPENDS ${programs})
list(JOIN programs "\n" lines)
file(WRITE ${CMAKE_BINARY_DIR}/tests.txt "${lines}\n")
