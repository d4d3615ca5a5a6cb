// The mesh on the machine's links: which devices an axis joins, over what, and how fast.
const axisColours = ["blue", "violet", "teal", "amber", "pink", "green", "red"];

/** The devices of one slice or node as groups along an axis, in mesh order: [[device, …], …]. */
function groupsAlong(e, axis) {
  const axes = Object.keys(e.mesh).map((name) => ({ name, size: e.mesh[name] / (e.mesh_between_slices[name] || 1) }));
  const at = axes.findIndex((a) => a.name === axis);
  const stride = axes.slice(at + 1).reduce((n, a) => n * a.size, 1), size = axes[at].size;
  const groups = new Map();
  for (let device = 0; device < axes.reduce((n, a) => n * a.size, 1); device += 1) {
    const index = Math.floor(device / stride) % size, group = device - index * stride;
    groups.set(group, [...(groups.get(group) || []), device]);
  }
  return [...groups.values()];
}

const line = (a, b, attributes) => svgEl("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y, "stroke-linecap": "round", ...attributes });
const bow = (a, b, attributes) => {
  const mx = (a.x + b.x) / 2 - (b.y - a.y) * 0.18, my = (a.y + b.y) / 2 + (b.x - a.x) * 0.18;
  return svgEl("path", { d: `M${a.x} ${a.y}Q${mx} ${my} ${b.x} ${b.y}`, fill: "none", "stroke-linecap": "round", ...attributes });
};

/** Chips of a torus or mesh, obliquely: the longest dim to the right, the shortest backwards. */
function torusLayout(network, width) {
  const dims = network.torus, order = dims.map((size, dim) => ({ size, dim })).sort((a, b) => b.size - a.size);
  const [right, down, back] = [order[0], order[1] || { size: 1 }, order[2] || { size: 1 }];
  const depth = Math.min(0.46, 0.92 / back.size), room = right.size - 1 + depth * (back.size - 1) + 1.3;
  const step = Math.min(110, (width - 8) / room, 330 / (down.size - 1 + depth * (back.size - 1) + 1.3));
  const pad = (network.wraps.some(Boolean) ? 0.6 : 0.3) * step, height = (down.size - 1 + depth * (back.size - 1)) * step + 2 * pad;
  const coordinates = (chip) => {
    const at = [];
    for (let dim = dims.length - 1; dim >= 0; dim -= 1) { at[dim] = chip % dims[dim]; chip = Math.floor(chip / dims[dim]); }
    return at;
  };
  const place = (at) => {
    const z = back.dim === undefined ? 0 : at[back.dim], y = down.dim === undefined ? 0 : at[down.dim];
    return { x: pad + at[right.dim] * step + z * depth * step, y: pad + y * step + (back.size - 1 - z) * depth * step };
  };
  const used = (right.size - 1 + depth * (back.size - 1)) * step + 2 * pad;
  return { dims, step, width: used, height, coordinates, place };
}

/** How two chips are joined: {direct}, {wrap: dim} or neither. */
function linkBetween(a, b, network) {
  const apart = a.map((v, dim) => Math.abs(v - b[dim]));
  const dims = apart.flatMap((n, dim) => (n > 0 ? [dim] : []));
  if (dims.length !== 1) return {};
  const [dim] = dims;
  if (apart[dim] === 1) return { direct: true };
  return network.wraps[dim] && apart[dim] === network.torus[dim] - 1 ? { wrap: dim } : {};
}

/** The two ends of a link that closes a dim, which stick out of the drawing. */
function stubs(layout, a, b, dim, attributes) {
  const end = (at, way) => {
    const beyond = [...at];
    beyond[dim] += way * 0.42;
    return line(layout.place(at), layout.place(beyond), { "stroke-dasharray": "3 4", ...attributes });
  };
  const [low, high] = a[dim] < b[dim] ? [a, b] : [b, a];
  return [end(low, -1), end(high, 1)];
}

function torusLinks(network, layout) {
  const chips = network.torus.reduce((n, size) => n * size, 1), links = [], style = { stroke: "var(--slate)", "stroke-width": 1.2, opacity: 0.45 };
  for (let chip = 0; chip < chips; chip += 1) {
    const at = layout.coordinates(chip);
    network.torus.forEach((size, dim) => {
      const next = [...at];
      next[dim] = (at[dim] + 1) % size;
      if (next[dim] > at[dim]) links.push(line(layout.place(at), layout.place(next), style));
      else if (network.wraps[dim] && size > 2) links.push(...stubs(layout, at, next, dim, style));
    });
  }
  return links;
}

/** Every link between two members of a group; members that have none to those before them, by a bow to the last one. */
function linksInside(members, network, layout, style) {
  const marks = [];
  members.forEach((member, i) => {
    let joined = i === 0;
    for (const other of members.slice(0, i)) {
      const link = linkBetween(other.chip, member.chip, network);
      if (link.wrap !== undefined) marks.push(...stubs(layout, other.chip, member.chip, link.wrap, style));
      else if (link.direct || other.chip.join() === member.chip.join()) marks.push(line(other.dot, member.dot, style));
      joined = joined || Object.keys(link).length > 0 || other.chip.join() === member.chip.join();
    }
    if (!joined && !members.some((m) => linkBetween(m.chip, member.chip, network).direct))
      marks.push(bow(members[i - 1].dot, member.dot, { ...style, "stroke-width": 2 }));
  });
  return marks;
}

function drawTorus(e, axis, colour, width) {
  const { network } = e, layout = torusLayout(network, width), cores = network.devices_per_chip;
  const radius = Math.max(3, Math.min(12, layout.step * 0.15));
  const chipOf = (device) => layout.coordinates(Math.floor(network.positions[device] / cores));
  const dot = (device) => {
    const at = layout.place(chipOf(device)), core = network.positions[device] % cores;
    return { x: at.x + (core - (cores - 1) / 2) * radius * 1.3, y: at.y };
  };
  const groups = groupsAlong(e, axis), marks = torusLinks(network, layout);
  groups.forEach((group, g) => {
    const style = { stroke: `var(--${colour})`, "stroke-width": g === 0 ? 4.5 : 1.8, opacity: g === 0 ? 1 : 0.45, "data-link": axis };
    marks.push(...linksInside(group.map((device) => ({ chip: chipOf(device), dot: dot(device) })), network, layout, style));
  });
  const first = new Set(groups[0]);
  network.positions.forEach((_, device) => {
    const at = dot(device), chosen = first.has(device);
    marks.push(svgEl("circle", { cx: at.x, cy: at.y, r: cores > 1 ? radius * 0.72 : radius, fill: chosen ? `var(--${colour})` : "var(--card)",
      stroke: chosen ? `var(--${colour})` : "var(--slate)", "stroke-width": 1.6, "data-device": device, "data-tip": deviceText(e, device) }));
  });
  return { marks, width: layout.width, height: layout.height };
}

/** "device 5: fsdp 1, expert 1" */
function deviceText(e, device) {
  const axes = Object.keys(e.mesh).filter((name) => e.mesh[name] / (e.mesh_between_slices[name] || 1) > 1).reverse();
  let rest = device;
  const parts = axes.map((name) => {
    const size = e.mesh[name] / (e.mesh_between_slices[name] || 1), index = rest % size;
    rest = Math.floor(rest / size);
    return `${name} ${index}`;
  });
  return `device ${device}${parts.length ? `: ${parts.reverse().join(", ")}` : ""}`;
}

/** One node: devices in a row on their switch, or in a circle of direct links. */
function drawNode(e, axis, width) {
  const { network } = e, n = network.positions.length, direct = network.fabric === "full_mesh";
  const size = Math.min(width - 8, direct ? 300 : 560), marks = [];
  const place = (i) => direct
    ? { x: size / 2 + (size / 2 - 26) * Math.sin((2 * Math.PI * i) / n), y: size / 2 - (size / 2 - 26) * Math.cos((2 * Math.PI * i) / n) }
    : { x: ((i + 0.5) * size) / n, y: 26 };
  const groupOf = new Map();
  groupsAlong(e, axis).forEach((group, g) => group.forEach((device) => groupOf.set(device, g)));
  const inside = groupOf.size > 0 && groupsAlong(e, axis)[0].length > 1;
  const colourOf = (device) => axisColours[groupOf.get(device) % axisColours.length];
  const height = direct ? size : 92;
  if (!direct) marks.push(svgEl("rect", { x: 8, y: 66, width: size - 16, height: 22, rx: 6, fill: "var(--track)", stroke: "var(--slate)" }),
    svgEl("text", { x: size / 2, y: 81, "text-anchor": "middle" }, `switch, ${rateText(network.link_bytes_per_second)} a device`));
  for (let a = 0; a < n; a += 1) {
    if (!direct) marks.push(line(place(a), { x: place(a).x, y: 66 }, { stroke: inside ? `var(--${colourOf(a)})` : "var(--slate)", "stroke-width": inside ? 4 : 1.5, "data-link": axis }));
    for (let b = a + 1; direct && b < n; b += 1) {
      const together = inside && groupOf.get(a) === groupOf.get(b);
      marks.push(line(place(a), place(b), { stroke: together ? `var(--${colourOf(a)})` : "var(--slate)", "stroke-width": together ? 2.6 : 1, opacity: together ? 0.85 : 0.3, "data-link": together ? axis : null }));
    }
  }
  for (let i = 0; i < n; i += 1) {
    const at = place(i);
    marks.push(svgEl("circle", { cx: at.x, cy: at.y, r: Math.min(15, size / n / 2.6), fill: inside ? `var(--${colourOf(i)})` : "var(--card)", stroke: "var(--slate)", "stroke-width": 1.5, "data-device": i, "data-tip": deviceText(e, i) }));
  }
  return { marks, width: size, height };
}

const placesOf = (network) => (["torus", "graph"].includes(network.fabric) ? "slice" : "node");

/** One slice or node is drawn; what joins several is a bar below it. */
function drawFabric(e, axis, width) {
  const { network } = e, order = network.axes.findIndex((a) => a.axis === axis.axis);
  const colour = axisColours[order % axisColours.length];
  const ofKind = { torus: () => drawTorus(e, axis.axis, colour, width), graph: () => drawGraph(e, axis.axis, width) };
  const drawn = (ofKind[network.fabric] || (() => drawNode(e, axis.axis, width)))();
  let { height } = drawn;
  if (network.slices > 1) {
    const crosses = axis.between_slices > 1, y = height + 12;
    const text = width < 440 ? `1 of ${network.slices} ${placesOf(network)}s` : `1 of ${network.slices} ${placesOf(network)}s, joined by ${rateText(network.scale_out_bytes_per_second)} a device`;
    const room = Math.max(drawn.width, Math.min(width - 8, 420));
    drawn.marks = [svgEl("g", { transform: `translate(${(room - drawn.width) / 2} 0)` }, drawn.marks)];
    drawn.width = room;
    drawn.marks.push(svgEl("rect", { x: 4, y, width: drawn.width - 8, height: 26, rx: 6, fill: "var(--card)", stroke: crosses ? `var(--${colour})` : "var(--slate)", "stroke-width": crosses ? 4 : 1.2, "data-link": crosses ? axis.axis : null }),
      svgEl("text", { x: drawn.width / 2, y: y + 17, "text-anchor": "middle" }, text));
    height = y + 32;
  }
  return svgEl("svg", { viewBox: `0 0 ${drawn.width} ${height}`, width: drawn.width, height, role: "img",
    "aria-label": `${axis.axis} on ${network.slice}: ${axis.description}` }, drawn.marks);
}
