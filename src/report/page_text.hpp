// SPDX-License-Identifier: Apache-2.0
// The parts of the page that are always the same.
#pragma once
#include <string_view>

namespace sinter::detail::report {

inline constexpr std::string_view style = R"(
body { font: 15px/1.45 system-ui, sans-serif; color: #222; background: #fff;
  max-width: 1360px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; }
.wide { overflow-x: auto; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .7rem; text-align: left;
  vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr.differs td { background: #fff6df; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr));
  gap: 1.5rem; margin-top: 1.5rem; }
figure { margin: 0; } figcaption { font-weight: 600; }
figcaption label { font-weight: 400; margin-left: 1rem; }
.plot { position: relative; height: 300px; }
svg { width: 100%; height: auto; } svg text { font-size: 12px; fill: #555; }
.grid { stroke: #e4e4e4; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1rem; padding: 0; margin: 0;
  font-size: 13px; }
.legend span { display: inline-block; width: 1rem; height: .25rem; margin-right: .4rem;
  vertical-align: middle; }
.bar { display: inline-block; height: .8rem; background: #0072b2; min-width: 1px; }
pre { background: #f6f6f6; padding: .8rem; overflow: auto; max-height: 36rem; font-size: 13px; }
.note { color: #804000; }
@media print { pre { max-height: none; } }
)";

/// Draws the charts of the element "data" with Chart.js.
inline constexpr std::string_view draw = R"(
const charts = JSON.parse(document.getElementById('data').textContent);
charts.forEach((chart, k) => {
  const scale = (title, zero) =>
    ({ type: 'linear', beginAtZero: zero, title: { display: true, text: title } });
  const drawn = new Chart(document.getElementById('chart' + k), {
    type: 'line',
    data: { datasets: chart.curves.map(curve => ({
      label: curve.name, data: curve.points, borderColor: curve.colour,
      backgroundColor: curve.colour, borderDash: curve.dashes, borderWidth: curve.marks ? 2 : 1,
      pointRadius: curve.marks ? 2.5 : curve.points.length == 1 ? 2 : 0 })) },
    options: { animation: false, parsing: false, normalized: true, responsive: true,
      maintainAspectRatio: false, interaction: { mode: 'nearest', axis: 'x', intersect: false },
      scales: { x: scale(chart.x, false), y: scale(chart.y, chart.from_zero) },
      plugins: { legend: { display: chart.curves.length > 1 } } } });
  const box = document.getElementById('log' + k);
  if (box) box.addEventListener('change', () => {
    drawn.options.scales.y.type = box.checked ? 'logarithmic' : 'linear';
    drawn.update();
  });
});
document.body.dataset.ready = 'true';
)";

}  // namespace sinter::detail::report
