# cmake -D COMPILER=... -D CASE=file.cpp -D INCLUDE=folder -P check.cmake
#
# The case must compile as it stands (the control: headers are found, the rest is right) and must not compile with MUST_NOT_COMPILE
# defined, for the reason that its line "// expected: <regular expression>" gives.
set(command ${COMPILER} -std=c++20 -fsyntax-only -I ${INCLUDE})

execute_process(COMMAND ${command} ${CASE} RESULT_VARIABLE control ERROR_VARIABLE report)
if(NOT control EQUAL 0)
  message(FATAL_ERROR "the control does not compile:\n${report}")
endif()

file(STRINGS ${CASE} expected REGEX "^// expected: ")
if(NOT expected)
  message(FATAL_ERROR "${CASE} does not say which error it expects")
endif()
string(REPLACE "// expected: " "" expected "${expected}")

set(ENV{LC_ALL} C)
execute_process(COMMAND ${command} -DMUST_NOT_COMPILE ${CASE} RESULT_VARIABLE result ERROR_VARIABLE report)
if(result EQUAL 0)
  message(FATAL_ERROR "${CASE} compiles, but must not")
endif()
if(NOT report MATCHES "${expected}")
  message(FATAL_ERROR "refused for another reason than \"${expected}\":\n${report}")
endif()
message("refused: ${CMAKE_MATCH_0}")
