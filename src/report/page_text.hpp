// SPDX-License-Identifier: Apache-2.0
// The parts of the page that are always the same.
#pragma once
#include <string_view>

namespace sinter::detail::report {

inline constexpr std::string_view style = R"(
body { font: 15px/1.45 system-ui, sans-serif; color: #222; background: #fff;
  max-width: 1360px; margin: 2rem auto; padding: 0 1rem; }
h1, p { overflow-wrap: anywhere; } h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.headline { font-size: 1.15rem; }
small { color: #666; font-weight: 400; }
table { border-collapse: collapse; font-size: 14px; }
.wide { overflow-x: auto; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .5rem; text-align: left;
  vertical-align: top; }
tbody th { font-weight: 600; }
.number, .time { white-space: nowrap; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
td.bars { width: 16rem; }
tr.differs td { background: #fff6df; }
tr.best > * { background: #e6f3ea; } tr.best th::after { content: ' (best)'; color: #00523b; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 520px), 1fr));
  gap: 1.5rem; margin-top: 1rem; }
figure { margin: 0; min-width: 0; } figcaption { font-weight: 600; }
figcaption label { font-weight: 400; margin-left: 1rem; white-space: nowrap; }
.smoothing { margin-top: 1.5rem; } .smoothing input { vertical-align: middle; }
.plot { position: relative; height: 300px; }
.beyond { margin: .2rem 0 0; font-size: 13px; color: #804000; }
summary { cursor: pointer; }
svg { width: 100%; height: auto; } svg text { font-size: 12px; fill: #555; }
.grid { stroke: #e4e4e4; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1rem; padding: 0; margin: 0;
  font-size: 13px; overflow-wrap: anywhere; }
.legend span { display: inline-block; width: 1rem; height: .25rem; margin-right: .4rem;
  vertical-align: middle; }
.legend span.marks { width: .65rem; height: .65rem; border-radius: 50%; }
.bar { display: inline-block; height: .8rem; background: #0072b2; min-width: 1px; }
pre { background: #f6f6f6; padding: .8rem; overflow: auto; max-height: 36rem; font-size: 13px; }
.note { color: #804000; }
@media (max-width: 700px) {
  body { margin: 1rem auto; }
  table, tbody, tr, tbody th, td { display: block; }
  thead, td:empty { display: none; }
  tr { border: 1px solid #ccc; border-radius: .4rem; margin: 0 0 .7rem; overflow: hidden; }
  tbody th { overflow-wrap: anywhere; }
  td { display: flex; justify-content: space-between; gap: 1rem; text-align: right; border: 0;
    overflow-wrap: anywhere; }
  td::before { content: attr(data-name); color: #666; text-align: left; flex: none;
    max-width: 50%; }
  td.bars { width: auto; justify-content: flex-start; }
  svg text { font-size: 20px; }
}
@media print { pre { max-height: none; } }
)";

/// Draws the charts of the element "data" with Chart.js. A smoothed curve is two data sets, the
/// values and their average, which the legend names once.
inline constexpr std::string_view draw = R"(
const charts = JSON.parse(document.getElementById('data').textContent);
const slider = document.getElementById('smoothing');
function smoothed(means, weight) {
  let sum = 0, missing = 1;
  return means.map(([x, y, values]) => {
    const kept = Math.pow(weight, values);
    sum = kept * sum + (1 - kept) * y;
    missing *= kept;
    return { x, y: sum / (1 - missing) };
  });
}
function beyond(curve, axis) {
  return curve.points.filter(p => axis && (p.y > axis.high || p.y < axis.low)).map(p =>
    ({ x: p.x, y: p.y > axis.high ? axis.high : axis.low, value: p.y }));
}
function setsOf(chart, curve, name) {
  const line = { label: curve.name, name, borderColor: curve.colour, backgroundColor: curve.colour,
    borderDash: curve.dashes, borderWidth: curve.marks ? 2 : 1, pointHitRadius: 6,
    pointStyle: curve.marks ? 'circle' : 'line',
    pointRadius: curve.marks ? 3 : curve.points.length == 1 ? 2 : 0 };
  const edge = { ...line, part: 'edge', data: beyond(curve, chart.axis), showLine: false, clip: 8,
    pointStyle: 'triangle', pointRadius: 5 };
  const values = { ...line, part: 'values', data: curve.points };
  if (!curve.means.length) return [{ ...values, main: true }, edge];
  return [{ ...line, main: true, part: 'average', means: curve.means, data: [], borderWidth: 1.5 },
    { ...values, borderColor: curve.colour + '50', borderWidth: 1 }, edge];
}
charts.forEach((chart, k) => {
  const nameOf = (list, x) => list[x] === undefined ? '' : list[x];
  const drawn = new Chart(document.getElementById('chart' + k), {
    type: 'line',
    data: { datasets: chart.curves.flatMap((curve, c) => setsOf(chart, curve, c)) },
    options: { animation: false, parsing: false, normalized: true, responsive: true,
      maintainAspectRatio: false, interaction: { mode: 'nearest', axis: 'x', intersect: false },
      scales: {
        x: { type: 'linear', title: { display: true, text: chart.x },
          ticks: chart.names.length
            ? { maxRotation: 0, callback: value => nameOf(chart.briefly, value) } : {} },
        y: { type: 'linear', beginAtZero: chart.from_zero } },
      plugins: {
        tooltip: { callbacks: {
          title: items => items.map(item => nameOf(chart.names, item.parsed.x))[0] ||
            chart.x + ' ' + items[0].label,
          label: item => item.dataset.label + (item.dataset.part == 'average' ? ', smoothed: ' :
            ': ') + (item.raw.value === undefined ? item.formattedValue : item.raw.value) } },
        legend: { display: chart.curves.length > 1,
          labels: { usePointStyle: true, boxHeight: 6,
            filter: (item, data) => data.datasets[item.datasetIndex].main },
          onClick: (event, item, legend) => {
            const sets = drawn.data.datasets, hide = legend.chart.isDatasetVisible(item.datasetIndex);
            sets.forEach((set, s) => {
              if (set.name == sets[item.datasetIndex].name) drawn.setDatasetVisibility(s, !hide);
            });
            drawn.update();
          } } } } });
  const log = document.getElementById('log' + k), all = document.getElementById('all' + k);
  const update = () => {
    const y = drawn.options.scales.y, weight = slider ? Number(slider.value) : 0;
    const whole = !chart.axis || log && log.checked || all && all.checked;
    y.type = log && log.checked ? 'logarithmic' : 'linear';
    y.min = whole ? undefined : chart.axis.low;
    y.max = whole ? undefined : chart.axis.high;
    drawn.data.datasets.forEach(set => {
      if (set.means) set.data = smoothed(set.means, weight);
      if (set.part == 'edge') set.pointRadius = whole ? 0 : 5;
    });
    drawn.update();
  };
  for (const control of [log, all]) if (control) control.addEventListener('change', update);
  if (slider) slider.addEventListener('input', update);
  update();
});
if (slider) slider.addEventListener('input', () =>
  document.getElementById('weight').textContent = Number(slider.value).toFixed(3));
document.body.dataset.ready = 'true';
)";

}  // namespace sinter::detail::report
