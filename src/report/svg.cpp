// SPDX-License-Identifier: Apache-2.0
#include "report/svg.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "report/axis.hpp"
#include "report/smoothing.hpp"

namespace sinter::detail::report {
namespace {

constexpr double width = 640, height = 280, left = 70, right = 12, top = 12, bottom = 40;

/// The frame of a drawing.
struct Frame {
  Axis x, y;

  double across(double value) const { return left + x.at(value) * (width - left - right); }
  double down(double value) const {
    return height - bottom - y.at(value) * (height - top - bottom);
  }
};

Frame frame_of(const Chart& chart, bool whole) {
  Frame frame;
  for (const Curve& curve : chart.curves)
    for (const Point& p : curve.points) frame.x.include(p.x), frame.y.include(p.y);
  if (!whole && chart.axis) frame.y.low = chart.axis->low, frame.y.high = chart.axis->high;
  if (chart.from_zero) frame.y.include(0);
  frame.x.round(6, false);
  frame.y.round(5, true);
  return frame;
}

std::string polyline(const Curve& curve, std::span<const Point> points, const Frame& frame,
                     std::string_view style) {
  std::string places;
  for (const Point& p : points)
    places += fmt::format("{:.1f},{:.1f} ", frame.across(p.x), frame.down(p.y));
  return fmt::format(
      "<polyline fill=\"none\" stroke=\"{}\" {} stroke-dasharray=\"{}\" points=\"{}\"/>\n",
      colour(curve.colour, curve.dark), style, fmt::join(dashes(curve.colour), " "), places);
}

/// A triangle at the edge for a value that lies beyond it.
std::string at_the_edge(const Curve& curve, const Point& p, const Frame& frame) {
  const double x = frame.across(p.x), y = frame.down(p.y), to = p.y > frame.y.high ? 7 : -7;
  return fmt::format(
      "<path class=\"beyond\" d=\"M{:.1f},{:.1f}l4,{}h-8z\" fill=\"{}\"><title>{:.6g} at {:.6g}"
      "</title></path>\n",
      x, y, to, colour(curve.colour, curve.dark), p.y, p.x);
}

std::string svg_curve(const Curve& curve, const Frame& frame, double weight) {
  const bool averaged = weight > 0 && !curve.means.empty();
  std::string text = polyline(curve, curve.points, frame,
                              averaged      ? "stroke-width=\"1\" stroke-opacity=\".3\""
                              : curve.marks ? "stroke-width=\"2\""
                                            : "stroke-width=\"1\"");
  if (averaged)
    text += polyline(curve, smoothed(curve.means, weight), frame, "stroke-width=\"1.5\"");
  for (const Point& p : curve.points) {
    if (curve.marks)
      text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>",
                          frame.across(p.x), frame.down(p.y), colour(curve.colour, curve.dark));
    if (p.y > frame.y.high || p.y < frame.y.low) text += at_the_edge(curve, p, frame);
  }
  return text;
}

std::string x_mark(const Chart& chart, double mark) {
  if (chart.names.empty()) return fmt::format("{:.6g}", mark);
  const bool named = mark >= 0 && mark == std::floor(mark) && mark < double(chart.names.size());
  return named ? escaped(chart.names[std::size_t(mark)].brief) : "";
}

std::string grid(const Chart& chart, const Frame& frame) {
  std::string svg;
  for (double mark : frame.y.marks)
    svg += fmt::format(
        "<line x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\" class=\"grid\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.6g}</text>\n",
        left, width - right, frame.down(mark), left - 6, frame.down(mark) + 4, mark);
  for (double mark : frame.x.marks)
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" class=\"grid\"/>"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"{5}\">{4}</text>\n",
        frame.across(mark), top, height - bottom, height - bottom + 16, x_mark(chart, mark),
        frame.across(mark) > width - right - 30 ? "end" : "middle");
  return svg + fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                           (left + width - right) / 2, height - 4, escaped(chart.x));
}

std::string drawing(const Chart& chart, double weight, bool whole) {
  const Frame frame = frame_of(chart, whole);
  std::string svg = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                                width, height, escaped(chart.title)) +
                    grid(chart, frame);
  for (const Curve& curve : chart.curves) svg += svg_curve(curve, frame, weight);
  return svg + "</svg>\n";
}

std::string legend(const Chart& chart) {
  std::string text = "<ul class=\"legend\">";
  for (const Curve& curve : chart.curves) {
    if (curve.name.empty()) continue;
    text += fmt::format("<li><span{} style=\"background:{}\"></span>{}</li>",
                        curve.marks ? " class=\"marks\"" : "", colour(curve.colour, curve.dark),
                        escaped(curve.name));
  }
  return text + "</ul>\n";
}

}  // namespace

std::string svg_of(const Chart& chart, double weight) {
  std::string text = drawing(chart, weight, false) + legend(chart);
  if (!chart.beyond.empty())
    text += fmt::format("<details class=\"beyond\"><summary>{} Show all</summary>\n{}</details>\n",
                        escaped(chart.beyond), drawing(chart, weight, true));
  return text;
}

std::string svg_file_of(const Chart& chart) {
  constexpr double above = 44, line = 18;  // of the title and y's name, and of a name in the legend
  const Frame frame = frame_of(chart, false);
  std::string curves, names;
  double y = height + line;
  for (const Curve& curve : chart.curves) {
    curves += svg_curve(curve, frame, 0);
    if (curve.name.empty()) continue;
    names += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{}\"/>"
        "<text x=\"{}\" y=\"{}\">{}</text>\n",
        left, y - 10, colour(curve.colour, curve.dark), left + 16, y, escaped(curve.name));
    y += line;
  }
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 {} {} {}\" "
             "font-family=\"sans-serif\" "
             "font-size=\"12\">\n"
             "<style>.grid {{ stroke: #e4e4e4 }} text {{ fill: #555 }}</style>\n"
             "<rect y=\"{}\" width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
             "<text x=\"{}\" y=\"-24\" font-size=\"15\">{}</text><text x=\"4\" "
             "y=\"-4\">{}</text>\n",
             -above, width, above + y, -above, left, escaped(chart.title), escaped(chart.y)) +
         grid(chart, frame) + curves + names + "</svg>\n";
}

}  // namespace sinter::detail::report
