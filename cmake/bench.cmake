# The measurements (make bench) and the tools of developers.

file(GLOB bench_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bench/*.cc)
if(bench_sources AND TARGET slipway_sim AND TARGET slipway_os)
  add_executable(slipway_bench EXCLUDE_FROM_ALL ${bench_sources} ${CMAKE_SOURCE_DIR}/tests/up/up_process.cc)
  target_include_directories(slipway_bench PRIVATE ${CMAKE_SOURCE_DIR}/tests/up)
  target_compile_definitions(slipway_bench PRIVATE SLIPWAY_BINARY_DIR="${CMAKE_BINARY_DIR}")
  target_link_libraries(slipway_bench PRIVATE slipway_sim slipway_os slipway_net slipway_serve slipway_cue slipway_git)
  slipway_use_tcmalloc(slipway_bench)
  target_precompile_headers(slipway_bench REUSE_FROM slipway_pch)
  set_target_properties(slipway_bench PROPERTIES UNITY_BUILD OFF)  # not tried yet, nor below
endif()

if(EXISTS ${CMAKE_SOURCE_DIR}/tools/gen_crds.cc AND TARGET slipway_plane)
  add_executable(gen_crds EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tools/gen_crds.cc)
  target_link_libraries(gen_crds PRIVATE slipway_plane)
endif()
if(EXISTS ${CMAKE_SOURCE_DIR}/tools/gen_builtin.cc AND TARGET slipway_json)
  add_executable(gen_builtin EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tools/gen_builtin.cc)
  target_link_libraries(gen_builtin PRIVATE slipway_json)
endif()
if(EXISTS ${CMAKE_SOURCE_DIR}/tools/gen_protobuf.cc AND TARGET slipway_json)
  add_executable(gen_protobuf EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/tools/gen_protobuf.cc)
  target_link_libraries(gen_protobuf PRIVATE slipway_json)
endif()

# Each *_fuzz.cc is a program: with libFuzzer in the fuzz build (make fuzz), and in the others as a test that feeds it a fixed number of
# seeded inputs (tests/fuzz_main.cc).
file(GLOB_RECURSE fuzz_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/*_fuzz.cc)
set(fuzzers)
foreach(source IN LISTS fuzz_sources)
  file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR}/src ${source})
  get_filename_component(room ${name} DIRECTORY)
  string(REPLACE "/" "_" room ${room})
  get_filename_component(stem ${name} NAME_WE)
  set(program ${room}_${stem})
  if(CMAKE_CXX_FLAGS MATCHES "fsanitize=fuzzer")
    add_executable(${program} EXCLUDE_FROM_ALL ${source})
    target_link_libraries(${program} PRIVATE slipway_${room})
    target_link_options(${program} PRIVATE -fsanitize=fuzzer)
  else()
    slipway_test(${program} SOURCES ${source} ${CMAKE_SOURCE_DIR}/tests/fuzz_main.cc LINK slipway_${room})
  endif()
  list(APPEND fuzzers ${program})
endforeach()
add_custom_target(fuzzers DEPENDS ${fuzzers})
list(JOIN fuzzers "\n" lines)
file(WRITE ${CMAKE_BINARY_DIR}/fuzzers.txt "${lines}\n")

# The web service of examples/demo (make demo).
add_executable(demo_service EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/examples/demo/service/main.cc)
target_link_libraries(demo_service PRIVATE slipway_options)

# What `make demo-rollout` runs beside it: an ingress controller over a real nginx, and visitors.
add_executable(demo_visitors EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/examples/rollout/visitors/main.cc)
target_link_libraries(demo_visitors PRIVATE slipway_options)
if(TARGET slipway_remote AND TARGET slipway_control AND TARGET slipway_os)
  add_executable(demo_proxy EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/examples/rollout/proxy/main.cc
                                             ${CMAKE_SOURCE_DIR}/tests/nginx/config.cc ${CMAKE_SOURCE_DIR}/tests/nginx/process.cc
                                             ${CMAKE_SOURCE_DIR}/tests/nginx/proxy.cc)
  target_include_directories(demo_proxy PRIVATE ${CMAKE_SOURCE_DIR}/tests/nginx)
  target_link_libraries(demo_proxy PRIVATE slipway_remote slipway_control slipway_os fmt::fmt)
  target_precompile_headers(demo_proxy REUSE_FROM slipway_pch)
  set_target_properties(demo_proxy PROPERTIES UNITY_BUILD OFF)
endif()

# For make demo-pipeline: the forge of the tests, with a door for who plays the people.
if(TARGET slipway_net AND TARGET slipway_git AND TARGET slipway_os)
  add_executable(demo_forge EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/examples/pipeline/forge/main.cc
                                             ${CMAKE_SOURCE_DIR}/tests/forge/forge_server.cc
                                             ${CMAKE_SOURCE_DIR}/tests/forge/dialects.cc)
  target_include_directories(demo_forge PRIVATE ${CMAKE_SOURCE_DIR}/tests/forge)
  target_link_libraries(demo_forge PRIVATE slipway_net slipway_git slipway_os slipway_json fmt::fmt)
  target_precompile_headers(demo_forge REUSE_FROM slipway_pch)
  set_target_properties(demo_forge PROPERTIES UNITY_BUILD OFF)
endif()
