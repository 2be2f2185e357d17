# The page of `rarebit report`, src/io/page/, as a C source. Included, it says how that is made; run as a
# script (cmake -DFOLDER= -DOUT= -P), it makes it: style and script go into the HTML, which is cut in two
# where the document stands.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(RAREBIT_PAGE ${PROJECT_BINARY_DIR}/page_text.c)
  set(folder ${PROJECT_SOURCE_DIR}/src/io/page)
  add_custom_command(OUTPUT ${RAREBIT_PAGE}
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${folder} -DOUT=${RAREBIT_PAGE}
      -P ${PROJECT_SOURCE_DIR}/cmake/Page.cmake
    DEPENDS ${folder}/page.html ${folder}/page.css ${folder}/page.js ${folder}/charts.js
      ${PROJECT_SOURCE_DIR}/cmake/Page.cmake
    VERBATIM COMMENT "Embedding the page of the report")
  return()
endif()

# The bytes of a file as hexadecimal digits, which no character in it can disturb.
function(read_hex name)
  file(READ ${FOLDER}/${name} hex HEX)
  set(${name} ${hex} PARENT_SCOPE)
endfunction()
foreach(name page.html page.css page.js charts.js)
  read_hex(${name})
endforeach()
function(put_in what value) # the text of a comment in the page becomes the value
  string(HEX "<!--${what}-->" mark)
  string(REPLACE "${mark}" "${value}" page "${page.html}")
  set(page.html "${page}" PARENT_SCOPE)
endfunction()
put_in(style "${page.css}")
put_in(script "${charts.js}${page.js}")
string(HEX "<!--document-->" mark)
string(FIND "${page.html}" "${mark}" place)
string(LENGTH "${mark}" length)
string(SUBSTRING "${page.html}" 0 ${place} head)
math(EXPR after "${place} + ${length}")
string(SUBSTRING "${page.html}" ${after} -1 tail)
set(text "extern const char page_head[], page_tail[];\n")
foreach(part head tail)
  string(REGEX REPLACE "(................................)" "\\1\n" lines "${${part}}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${lines}")
  string(APPEND text "const char page_${part}[] = {\n${bytes}0};\n")
endforeach()
file(WRITE ${OUT} "${text}")
