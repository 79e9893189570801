# SPDX-License-Identifier: Apache-2.0
# Chart.js, which the verb `report` puts into its pages: chart.min.js as it is, for instance that of
# Debian's libjs-chart.js. Without it, or with -DSINTER_CHART_JS=OFF, pages draw their curves as SVG.
find_file(SINTER_CHART_JS chart.min.js PATHS /usr/share/javascript PATH_SUFFIXES chart.js
  NO_DEFAULT_PATH DOC "Chart.js 3 or newer for the pages of the verb report, or OFF")

set(script "")
if(SINTER_CHART_JS)
  file(READ "${SINTER_CHART_JS}" script)
  string(FIND "${script}" "</script" end_of_element)
  string(FIND "${script}" ")chart_js\"" end_of_literal)
  if(NOT end_of_element EQUAL -1 OR NOT end_of_literal EQUAL -1)
    message(WARNING "${SINTER_CHART_JS} cannot be put into a page; reports draw their curves as SVG.")
    set(script "")
  elseif(SINTER_CHART_JS STREQUAL "/usr/share/javascript/chart.js/chart.min.js")
    set_property(GLOBAL APPEND PROPERTY SINTER_DEBIAN_PACKAGES libjs-chart.js)
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${SINTER_CHART_JS}")
endif()

if(script)
  set(licence [[
/*!
The MIT License, under which Chart.js and @kurkle/color, which is in it, are:
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
associated documentation files (the "Software"), to deal in the Software without restriction,
including without limitation the rights to use, copy, modify, merge, publish, distribute,
sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:
The above copyright notice and this permission notice shall be included in all copies or substantial
portions of the Software.
THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES
OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/
]])
  set(script "R\"chart_js(${script}${licence})chart_js\"")
else()
  set(script "{}")
endif()
configure_file(cmake/chart_js.cpp.in "${PROJECT_BINARY_DIR}/chart_js.cpp" @ONLY)
