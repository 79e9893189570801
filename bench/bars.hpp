// SPDX-License-Identifier: Apache-2.0
// A picture of numbers: a bar for each, as SVG.
#pragma once
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "report/chart.hpp"

namespace sinter::detail::bench {

struct Bar {
  std::string name;
  double value;  // at least 0
};

/// Writes a picture of the bars, the first on top, to a file. Returns whether it is written, and
/// says on standard error if it is not.
inline bool write_bars(const std::string& path, const std::string& title,
                       const std::vector<Bar>& bars) {
  constexpr int longest = 450, right = 60, top = 40, height = 24, letter = 8;  // in pixels
  double largest = 0;
  std::size_t letters = 0;
  for (const Bar& bar : bars) {
    largest = std::max(largest, bar.value);
    letters = std::max(letters, bar.name.size());
  }
  const int left = letter * int(letters + 1), width = left + longest + right;
  std::ofstream file(path);
  char text[256];
  std::snprintf(text, sizeof text,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
                "font-family=\"sans-serif\" font-size=\"14\">\n",
                width, top + height * int(bars.size()) + 10);
  file << text << "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n<text x=\"" << left
       << "\" y=\"24\" font-weight=\"bold\">" << report::escaped(title) << "</text>\n";
  for (std::size_t k = 0; k < bars.size(); ++k) {
    const int y = top + height * int(k);
    const double length = largest > 0 ? bars[k].value / largest * longest : 0;
    std::snprintf(text, sizeof text, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", left - 8,
                  y + 16);
    file << text << report::escaped(bars[k].name) << "</text>\n";
    std::snprintf(text, sizeof text,
                  "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>"
                  "<text x=\"%.1f\" y=\"%d\">%.2f</text>\n",
                  left, y + 2, length, height - 4, report::colour(0).data(), left + length + 6,
                  y + 16, bars[k].value);
    file << text;
  }
  file << "</svg>\n";
  if (!file.flush()) std::fprintf(stderr, "error: cannot write %s\n", path.c_str());
  return bool(file);
}

}  // namespace sinter::detail::bench
