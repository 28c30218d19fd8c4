# cmake -D SOURCE=<folder> -D LIST=<file of names below it> -D ARCHIVE=<file> -P pack_files.cmake: a line "<bytes> <name>" for each file, an
# empty line, then their bytes one after the other. No time, owner or path of this machine is in it. With -D STRIP=ON lines lose what they are
# indented by, which JSON does not need.
file(STRINGS ${LIST} names)
function(read_into content name)
  file(READ ${SOURCE}/${name} text)
  if(STRIP)
    string(REGEX REPLACE "\n +" "\n" text "${text}")
  endif()
  set(${content} "${text}" PARENT_SCOPE)
endfunction()

set(index "")
foreach(name ${names})
  read_into(content ${name})
  string(LENGTH "${content}" bytes)
  string(APPEND index "${bytes} ${name}\n")
endforeach()
file(WRITE ${ARCHIVE}.new "${index}\n")
foreach(name ${names})
  read_into(content ${name})
  file(APPEND ${ARCHIVE}.new "${content}")
endforeach()
file(RENAME ${ARCHIVE}.new ${ARCHIVE})
