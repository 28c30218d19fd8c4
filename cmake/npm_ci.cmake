# cmake -D NPM=<npm> -D FOLDER=<folder with package-lock.json> -P npm_ci.cmake: see NpmInstall.cmake.
set(lock ${FOLDER}/package-lock.json)
set(installed_lock ${FOLDER}/node_modules/.installed-package-lock.json)

if(EXISTS ${installed_lock})
  file(SHA256 ${lock} wanted)
  file(SHA256 ${installed_lock} present)
  if(wanted STREQUAL present)
    return()
  endif()
endif()

# No script of a package runs: none that is locked here needs one.
execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error
                WORKING_DIRECTORY ${FOLDER} RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "npm ci failed in ${FOLDER}; the report needs its packages (see package-lock.json there).")
endif()
file(COPY_FILE ${lock} ${installed_lock})
