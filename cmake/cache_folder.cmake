# SPDX-License-Identifier: Apache-2.0
# Sets RESULT to the folder where Sinter keeps what it downloads.
function(sinter_cache_folder result)
  if(NOT "$ENV{SINTER_CACHE}" STREQUAL "")
    set(cache "$ENV{SINTER_CACHE}")
  elseif(NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
    set(cache "$ENV{XDG_CACHE_HOME}/sinter")
  else()
    set(cache "$ENV{HOME}/.cache/sinter")
  endif()
  set(${result} "${cache}" PARENT_SCOPE)
endfunction()
