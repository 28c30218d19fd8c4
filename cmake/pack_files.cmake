# cmake -D SOURCE=<folder> -D LIST=<file of names below it> -D ARCHIVE=<file> -P pack_files.cmake: a line "<bytes> <name>" for each file, an
# empty line, then their bytes one after the other. No time, owner or path of this machine is in it.
file(STRINGS ${LIST} names)
set(index "")
foreach(name ${names})
  file(SIZE ${SOURCE}/${name} bytes)
  string(APPEND index "${bytes} ${name}\n")
endforeach()
file(WRITE ${ARCHIVE}.new "${index}\n")
foreach(name ${names})
  file(READ ${SOURCE}/${name} content)
  file(APPEND ${ARCHIVE}.new "${content}")
endforeach()
file(RENAME ${ARCHIVE}.new ${ARCHIVE})
