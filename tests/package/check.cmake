# cmake -D BUILD=... -D CONSUMER=... -D EXAMPLES=... -D WORK=... -D COMPILER=... -D GENERATOR=... -D FLAGS=... -P check.cmake
#
# Installs the build into an empty folder; builds the consumer and the examples against it, with no other header in sight; and runs
# them and the program from there, each with the catalogue that was installed.
function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what} failed (${result}):\n${output}")
  endif()
  message("${what}: done")
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect pattern)
  if(NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "nothing like \"${pattern}\" in:\n${output}")
  endif()
endfunction()

function(build_against_installed name source)
  run("configure ${name}" ${CMAKE_COMMAND} -S ${source} -B ${WORK}/${name} -G ${GENERATOR}
    -D CMAKE_BUILD_TYPE=Debug -D CMAKE_PREFIX_PATH=${WORK}/installed -D CMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}")
  run("build ${name}" ${CMAKE_COMMAND} --build ${WORK}/${name})
endfunction()

file(REMOVE_RECURSE ${WORK})
unset(ENV{TREELINE_DATA})
set(data ${WORK}/installed/share/treeline)
run("install" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed)

build_against_installed(consumer ${CONSUMER})
run("recommend from a file and from structs" ${WORK}/consumer/consumer ${data}/examples/starter.json)
# The schedule that `treeline recommend examples/starter.json` prints.
expect("batch 1 to 32: 4 draft tokens, 1.[78]")
expect("workload: .*llama-3.1-8c.*did you mean \"llama-3.1-8b\"")
file(READ ${WORK}/consumer/CMakeCache.txt cache)
if(NOT cache MATCHES "treeline_DIR:PATH=${WORK}/installed")
  message(FATAL_ERROR "the consumer found another Treeline")
endif()

build_against_installed(examples ${EXAMPLES})
run("hello" ${WORK}/examples/hello ${data}/examples/starter.json)
expect("eagle3 on h100-sxm.*4 draft tokens.*batch 1 to 32: 4 draft tokens")
run("own_drafter" ${WORK}/examples/own_drafter)
expect("two layers.*ms a token")
run("sweep" ${WORK}/examples/sweep ${data}/examples/sweeps/million-points.json)
expect("1004288 points\nbest: .* tokens/s")

run("run the installed program" ${WORK}/installed/bin/treeline models)
