"use strict";
(async () => {
  const status = document.getElementById("status");
  if (typeof DecompressionStream === "undefined") {
    status.textContent = "This browser is too old to draw the plots (it has no DecompressionStream).";
    return;
  }

  async function unpacked(id) {
    const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (one) => one.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  const library = document.createElement("script");
  library.textContent = await unpacked("plotly");
  document.head.appendChild(library);
  const figures = JSON.parse(await unpacked("figures"));

  const plotOptions = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"] };

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  }

  function isPlain(value) {
    return value !== null && typeof value === "object" && !Array.isArray(value);
  }

  function joined(base, more) {
    const result = { ...base };
    for (const [key, value] of Object.entries(more)) {
      result[key] = isPlain(value) && isPlain(result[key]) ? joined(result[key], value) : value;
    }
    return result;
  }

  function themed(layout) {
    const axis = { gridcolor: colour("grid"), linecolor: colour("line"), zerolinecolor: colour("line"), automargin: true,
      tickfont: { size: 12.5 }, title: { font: { size: 13 }, standoff: 10 } };
    const base = {
      autosize: true,
      font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: colour("text") },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      margin: { l: 70, r: 24, t: 44, b: 54 },
      legend: { orientation: "h", x: 0, xanchor: "left", y: 1, yanchor: "bottom", font: { size: 13 } },
      hoverlabel: { bgcolor: colour("hover"), bordercolor: colour("line"), font: { color: colour("text"), size: 13 }, align: "left" },
      modebar: { color: colour("soft"), activecolor: colour("accent"), bgcolor: "rgba(0,0,0,0)" },
      xaxis: axis,
      yaxis: axis,
    };
    const result = joined(base, layout);
    for (const shape of result.shapes || []) shape.line.color = colour("line");
    for (const note of result.annotations || []) note.font = joined({ color: colour("text") }, note.font || {});
    return result;
  }

  /* Timelines: of the levels of detail, the finest that has few enough slices in view is drawn. */
  const MOST_DRAWN = 6000;
  const FEWEST_PIXELS = 1;

  function expanded(level) {
    let start = 0;
    level.start_ns = level.start_step_ns.map((step) => (start += step));
    level.of_joined = new Map(level.joined.map((place, number) => [place, number]));
  }

  function inView(level, low, high, most) {
    const found = [];
    for (let place = 0; place < level.start_ns.length && level.start_ns[place] <= high; place += 1) {
      if (level.start_ns[place] + level.length_ns[place] < low) continue;
      found.push(place);
      if (found.length > most) return null;
    }
    return found;
  }

  function chosen(timeline, low, high) {
    for (let number = timeline.levels.length - 1; number > 0; number -= 1) {
      const places = inView(timeline.levels[number], low, high, MOST_DRAWN);
      if (places) return [timeline.levels[number], places];
    }
    return [timeline.levels[0], inView(timeline.levels[0], low, high, Infinity)];
  }

  function timeText(ns) {
    for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["us", 1e3]]) {
      if (ns >= size) return (ns / size).toFixed(3) + " " + unit;
    }
    return ns + " ns";
  }

  function slices(figure, low, high, width) {
    const timeline = figure.timeline;
    const [level, places] = chosen(timeline, low, high);
    const shortest = (FEWEST_PIXELS * (high - low)) / width;
    const traces = figure.data.map((legend) => ({
      ...legend, x: [], y: [], base: [], width: 0.82, hovertext: [], hoverinfo: "text",
      marker: { ...legend.marker, opacity: [], line: { width: 0 } },
    }));
    const trace_of = new Map(timeline.categories.map((category, number) => [category, traces[number]]));
    for (const place of places) {
      const trace = trace_of.get(level.category[place]);
      const start = level.start_ns[place];
      const length = level.length_ns[place];
      const number = level.of_joined.get(place);
      trace.base.push(start / timeline.unit_ns);
      trace.x.push(Math.max(length, shortest) / timeline.unit_ns);
      trace.y.push(level.lane[place]);
      const what = `${trace.name}, ${timeText(length)} from ${timeText(start)}`;
      if (number === undefined) {
        trace.hovertext.push(`<b>${timeline.names[level.name[place]]}</b><br>${what}`);
        trace.marker.opacity.push(1);
      } else {
        const busy = level.busy_ns[number];
        trace.hovertext.push(`<b>${level.count[number]} nodes</b>, together ${timeText(busy)}<br>${what}<br>zoom in to see them`);
        trace.marker.opacity.push(0.45 + 0.55 * Math.min(1, busy / Math.max(length, 1)));
      }
    }
    /* An empty bar keeps the legend's entry. */
    for (const trace of traces) {
      if (trace.x.length > 0) continue;
      trace.x.push(null); trace.y.push(0); trace.base.push(0); trace.hovertext.push(""); trace.marker.opacity.push(1);
    }
    return traces;
  }

  function drawTimeline(element, figure) {
    const [low, high] = element.layout ? element.layout.xaxis.range : figure.layout.xaxis.range;
    const unit = figure.timeline.unit_ns;
    const data = slices(figure, low * unit, high * unit, Math.max(element.clientWidth, 400));
    const layout = themed(joined(figure.layout, { xaxis: { range: [low, high] } }));
    return Plotly.react(element, data, layout, { ...plotOptions, scrollZoom: true });
  }

  function watchTimeline(element, figure) {
    element.on("plotly_relayout", (change) => {
      const keys = Object.keys(change);
      if (keys.some((key) => key === "xaxis.autorange")) {
        element.layout.xaxis.range = [...figure.layout.xaxis.range];
        element.layout.xaxis.autorange = false;
      }
      if (keys.some((key) => key.startsWith("xaxis"))) drawTimeline(element, figure);
    });
  }

  function drawFigure(element, figure) {
    if (figure.timeline) return drawTimeline(element, figure);
    const shown = figure.choices ? figure.choices[figure.chosen || 0] : figure;
    element.style.height = shown.layout.height + "px";
    /* Plotly writes into what it is given. */
    return Plotly.react(element, structuredClone(shown.data), themed(structuredClone(shown.layout)), plotOptions);
  }

  function offerChoices(element, figure) {
    const select = document.createElement("select");
    select.setAttribute("aria-label", "what is shown");
    figure.choices.forEach((choice, number) => select.add(new Option(choice.label, String(number))));
    select.addEventListener("change", () => { figure.chosen = Number(select.value); drawFigure(element, figure); });
    const row = document.createElement("div");
    row.className = "choice";
    row.appendChild(select);
    element.before(row);
  }

  const drawn = Object.entries(figures).map(([id, figure]) => [document.getElementById(id), figure]);
  async function drawAll() {
    for (const [element, figure] of drawn) await drawFigure(element, figure);
  }

  for (const [element, figure] of drawn) {
    if (figure.timeline) figure.timeline.levels.forEach(expanded);
    if (figure.choices) offerChoices(element, figure);
  }
  await drawAll();
  for (const [element, figure] of drawn) if (figure.timeline) watchTimeline(element, figure);

  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  button.hidden = false;
  button.addEventListener("click", () => {
    const root = document.documentElement;
    const isDark = root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
    root.dataset.theme = isDark ? "light" : "dark";
    drawAll();
  });
  dark.addEventListener("change", drawAll);
  status.remove();
  document.body.dataset.drawn = String(drawn.length);
})();
