# Links the bytes of a file into a target. The assembler's .incbin takes a file of any size in no time, where a C array of a megabyte costs the
# compiler seconds.
enable_language(ASM)

set(TREELINE_EMBED_TEMPLATE ${CMAKE_CURRENT_LIST_DIR}/embed.S.in)
if(EMSCRIPTEN)
  set(TREELINE_EMBED_TEMPLATE ${CMAKE_CURRENT_LIST_DIR}/embed_wasm.S.in)
endif()

# treeline_embed_file(target symbol file): `file` (an absolute path, possibly made by the build) becomes
#   extern "C" const char <symbol>_begin[], <symbol>_end[];
function(treeline_embed_file target symbol file)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.S)
  configure_file(${TREELINE_EMBED_TEMPLATE} ${source} @ONLY)
  set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS ${file})
  target_sources(${target} PRIVATE ${source})
endfunction()
