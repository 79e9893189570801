# SPDX-License-Identifier: Apache-2.0
# The blocks of C++ on a page, for the tests that compile or compare them.

# next_cpp_block(TEXT BLOCK): moves the first block of C++ from the variable TEXT into BLOCK, and sets
# BLOCK_before to what stood above it. TEXT keeps what stands below. Without a block, BLOCK is empty.
function(next_cpp_block text_name block_name)
  set(rest "${${text_name}}")
  set(found "")
  set(before "")
  string(FIND "${rest}" "```cpp\n" begin)
  if(NOT begin EQUAL -1)
    math(EXPR begin "${begin} + 7")
    string(SUBSTRING "${rest}" 0 ${begin} before)
    string(SUBSTRING "${rest}" ${begin} -1 rest)
    string(FIND "${rest}" "```" end)
    if(end EQUAL -1)
      message(FATAL_ERROR "A block of C++ has no end:\n${rest}")
    endif()
    string(SUBSTRING "${rest}" 0 ${end} found)
    string(SUBSTRING "${rest}" ${end} -1 rest)
  endif()
  set(${text_name} "${rest}" PARENT_SCOPE)
  set(${block_name} "${found}" PARENT_SCOPE)
  set(${block_name}_before "${before}" PARENT_SCOPE)
endfunction()
