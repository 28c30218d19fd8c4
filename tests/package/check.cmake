# cmake -D BUILD=... -D CONSUMER=... -D WORK=... -D COMPILER=... -D GENERATOR=... -D FLAGS=... -P check.cmake
#
# Installs the build into an empty folder, builds the consumer against it, and runs both programs from there.
function(run what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what} failed (${result}):\n${output}")
  endif()
  message("${what}: done")
endfunction()

file(REMOVE_RECURSE ${WORK})
run("install" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/installed)
run("configure the consumer" ${CMAKE_COMMAND} -S ${CONSUMER} -B ${WORK}/build -G ${GENERATOR}
  -D CMAKE_PREFIX_PATH=${WORK}/installed -D CMAKE_CXX_COMPILER=${COMPILER} "-DCMAKE_CXX_FLAGS=${FLAGS}")
run("build the consumer" ${CMAKE_COMMAND} --build ${WORK}/build)
run("run the consumer" ${WORK}/build/consumer ${WORK}/installed/share/treeline/hardware)
run("run the installed program" ${WORK}/installed/bin/treeline --help)
