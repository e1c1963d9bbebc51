# Writes text files into a C++ source as string literals, one for each piece of at most 8000
# characters, for compilers limit the length of one:
#   cmake -DOUT=file -DIN=a.md;b.md -P EmbedText.cmake
set(result "")
foreach(file IN LISTS IN)
  file(READ ${file} text)
  string(LENGTH "${text}" length)
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND result "R\"ftdoc(${piece})ftdoc\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
endforeach()
file(WRITE ${OUT} "${result}")
