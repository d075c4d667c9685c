(function () {
  "use strict";
  // the buttons are named one by one: some that plotly adds by itself send data away
  var config = {responsive: true, displaylogo: false, showSendToCloud: false, showEditInChartStudio: false};
  var buttons = {map: ["toImage"], other: ["toImage", "zoom2d", "pan2d", "resetScale2d"]};
  var charts = Array.prototype.slice.call(document.querySelectorAll(".chart[data-chart]"));
  charts.forEach(function (div) {
    var chart = JSON.parse(document.getElementById("data-" + div.dataset.chart).textContent);
    var own = buttons[div.dataset.chart] || buttons.other;
    Plotly.newPlot(div, chart.data, chart.layout, Object.assign({modeBarButtons: [own]}, config));
  });

  // on paper every chart is as wide as the page, and the tests are unfolded
  var folded = [];
  window.addEventListener("beforeprint", function () {
    folded = Array.prototype.slice.call(document.querySelectorAll("details.tests:not([open])"));
    folded.forEach(function (part) { part.open = true; });
    charts.forEach(function (div) { Plotly.relayout(div, {width: 670, autosize: false}); });
  });
  window.addEventListener("afterprint", function () {
    folded.forEach(function (part) { part.open = false; });
    charts.forEach(function (div) { Plotly.relayout(div, {width: null, autosize: true}); });
  });
})();
