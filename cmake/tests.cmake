# Tests that need more than one room: each folder below tests/ with sources is one program, linked with the highest rooms it uses.

# Of the tests of room cue those in which threads share what they evaluate: for the thread sanitizer, whose tree then compiles no others.
if(TARGET slipway_cue)
  add_executable(cue_threads_test EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/src/cue/threads_test.cc ${CMAKE_SOURCE_DIR}/src/cue/cue_test.cc)
  target_link_libraries(cue_threads_test PRIVATE slipway_cue slipway_test_main)
  target_precompile_headers(cue_threads_test REUSE_FROM slipway_test_pch)
  set_target_properties(cue_threads_test PROPERTIES UNITY_BUILD OFF)
endif()

set(rooms_of_docs base)
set(rooms_of_up os net json remote)
set(sources_of_up ${CMAKE_SOURCE_DIR}/tests/application/kubevela_shop.cc)
set(rooms_of_attack plane os net json remote)
set(sources_of_attack ${CMAKE_SOURCE_DIR}/tests/up/up_process.cc)
set(rooms_of_sockets os net)  # builds without the rest of the tree
set(rooms_of_workloads cluster)
set(rooms_of_remotes os git)  # real servers: python3, sshd
set(rooms_of_forge os net git delivery_pipeline)
set(rooms_of_world sim os git)
set(rooms_of_application sim os git)
set(sources_of_application ${CMAKE_SOURCE_DIR}/tests/remotes/servers.cc)
set(rooms_of_handover sim os)
set(sources_of_handover
    ${CMAKE_SOURCE_DIR}/tests/application/oracle_plane.cc ${CMAKE_SOURCE_DIR}/tests/application/oracle_status.cc
    ${CMAKE_SOURCE_DIR}/tests/application/oracle_normalise.cc)
set(rooms_of_probe os net delivery_probe)
set(rooms_of_nginx delivery_rollout os net remote)
set(sources_of_nginx ${CMAKE_SOURCE_DIR}/tests/up/up_process.cc)
set(programs_of_nginx demo_service)
set(rooms_of_remote_plane cli)
set(rooms_of_serve serve plane os)
set(rooms_of_families serve plane os)
set(rooms_of_pipeline plane os net git sim)
set(sources_of_pipeline ${CMAKE_SOURCE_DIR}/tests/forge/forge_server.cc ${CMAKE_SOURCE_DIR}/tests/forge/dialects.cc)
set(rooms_of_pipeline_log plane os)
set(rooms_of_package plane os net git sim)
set(sources_of_package ${CMAKE_SOURCE_DIR}/tests/pipeline/landscape.cc ${CMAKE_SOURCE_DIR}/tests/nephio/actors.cc
                       ${CMAKE_SOURCE_DIR}/tests/nephio/inventory.cc)
set(rooms_of_nephio krm)
set(rooms_of_seeds plane os net git)
set(sources_of_seeds
    ${CMAKE_SOURCE_DIR}/tests/application/oracle_plane.cc ${CMAKE_SOURCE_DIR}/tests/application/oracle_status.cc
    ${CMAKE_SOURCE_DIR}/tests/application/oracle_normalise.cc
    ${CMAKE_SOURCE_DIR}/tests/rollout/rollout_fixture.cc ${CMAKE_SOURCE_DIR}/tests/package/package_fixture.cc
    ${CMAKE_SOURCE_DIR}/tests/pipeline/landscape.cc ${CMAKE_SOURCE_DIR}/tests/pipeline/commands_fixture.cc
    ${CMAKE_SOURCE_DIR}/tests/pipeline/stories_fixture.cc ${CMAKE_SOURCE_DIR}/tests/up/up_process.cc)
set(sources_of_nephio ${CMAKE_SOURCE_DIR}/src/krm/corpus_test.cc)

foreach(
  folder IN
  ITEMS house
        docs
        world
        jobflow
        application
        handover
        rollout
        pipeline
        families
        pipeline_log
        package
        nephio
        cli
        sockets
        probe
        remotes
        forge
        nginx
        seeds
        workloads
        serve
        remote_plane
        attack
        up)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/*.cc)
  if(sources)
    set(link)
    set(rooms sim os)
    if(rooms_of_${folder})
      set(rooms ${rooms_of_${folder}})
    endif()
    foreach(room IN LISTS rooms)
      if(TARGET slipway_${room})
        list(APPEND link slipway_${room})
      endif()
    endforeach()
    slipway_test(${folder}_test SOURCES ${sources} ${sources_of_${folder}} LINK ${link} fmt::fmt)
    target_compile_definitions(${folder}_test PRIVATE SLIPWAY_SOURCE_DIR="${CMAKE_SOURCE_DIR}" SLIPWAY_BINARY_DIR="${CMAKE_BINARY_DIR}")
    if(sources_of_${folder})
      target_include_directories(${folder}_test PRIVATE ${CMAKE_SOURCE_DIR}/tests/up ${CMAKE_SOURCE_DIR}/tests/application)
    endif()
    if(programs_of_${folder})
      add_dependencies(${folder}_test ${programs_of_${folder}})
    endif()
  endif()
endforeach()
