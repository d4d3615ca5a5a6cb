// A network that is a graph: devices in a row and their switches in tiers above, or in a circle where there are no switches.
function graphLayout(graph, width) {
  const rows = [Array.from({ length: graph.devices }, (_, node) => node)];
  graph.tiers.forEach((tier, i) => { rows[tier] = [...(rows[tier] || []), graph.devices + i]; });
  const height = rows.length > 1 ? 56 + (rows.length - 1) * 84 : Math.min(width, 300), places = [];
  const round = (i, n) => ({ x: height / 2 + (height / 2 - 24) * Math.sin((2 * Math.PI * i) / n), y: height / 2 - (height / 2 - 24) * Math.cos((2 * Math.PI * i) / n) });
  rows.forEach((row, tier) => row.forEach((node, i) => {
    places[node] = rows.length > 1 ? { x: ((i + 0.5) * width) / row.length, y: height - 28 - tier * 84 } : round(i, row.length);
  }));
  return { places, height, width: rows.length > 1 ? width : height };
}

/** A device's links have the colour of its group along the axis; what is between switches serves all. */
function drawGraph(e, axis, width) {
  const { network } = e, { graph } = network, layout = graphLayout(graph, Math.min(width - 8, 640)), groupOf = new Map();
  const groups = groupsAlong(e, axis), inside = groups.length > 0 && groups[0].length > 1;
  groups.forEach((group, g) => group.forEach((index) => groupOf.set(network.positions[index], g)));
  const colourOf = (node) => (inside && groupOf.has(node) ? `var(--${axisColours[groupOf.get(node) % axisColours.length]})` : "var(--slate)");
  const marks = graph.ends.map(([a, b]) => {
    const coloured = inside && (groupOf.has(a) || groupOf.has(b));
    return line(layout.places[a], layout.places[b], { stroke: colourOf(groupOf.has(a) ? a : b), "stroke-width": coloured ? 3 : 2, opacity: coloured ? 1 : 0.6, "data-link": coloured ? axis : null });
  });
  const radius = Math.min(15, layout.width / graph.devices / 2.6);
  const device = (node) => svgEl("circle", { cx: layout.places[node].x, cy: layout.places[node].y, r: radius, fill: groupOf.has(node) && inside ? colourOf(node) : "var(--card)",
    stroke: "var(--slate)", "stroke-width": 1.5, "data-device": groupOf.has(node) ? node : null, "data-tip": `${graph.names[node]}: ${groupOf.has(node) ? deviceText(e, network.positions.indexOf(node)) : "not in the run"}` });
  const knot = (node) => svgEl("rect", { x: layout.places[node].x - 13, y: layout.places[node].y - 9, width: 26, height: 18, rx: 5, fill: "var(--track)", stroke: "var(--slate)", "data-tip": graph.names[node] });
  layout.places.forEach((_, node) => marks.push(node < graph.devices ? device(node) : knot(node)));
  return { marks, width: layout.width, height: layout.height };
}
