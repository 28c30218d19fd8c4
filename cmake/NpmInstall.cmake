# Packages from npm at build time, exactly those of a package-lock.json.
#
# treeline_npm_install(folder stamp): a rule that makes `stamp`, after which <folder>/node_modules holds the locked packages. npm runs only when the
# lock holds something else than what was installed last (its content counts, not its time stamp), so that a build needs no network where
# node_modules is already there.
find_program(TREELINE_NPM npm)
find_program(TREELINE_NODE NAMES node nodejs)

function(treeline_npm_install folder stamp)
  if(NOT TREELINE_NPM OR NOT TREELINE_NODE)
    message(FATAL_ERROR "Node.js and npm are needed to build the HTML report; on Debian: apt-get install nodejs npm")
  endif()
  add_custom_command(OUTPUT ${stamp}
    COMMAND ${CMAKE_COMMAND} -D NPM=${TREELINE_NPM} -D FOLDER=${folder} -P ${PROJECT_SOURCE_DIR}/cmake/npm_ci.cmake
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${folder}/package-lock.json ${folder}/package.json
    COMMENT "Installing the npm packages of ${folder}" VERBATIM)
endfunction()
