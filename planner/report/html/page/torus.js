// A mesh axis on the chips of a torus or mesh of links.
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

/** A torus of too many devices to draw them all: its outline, and the chips that the axis joins with the first. */
function drawCloud(network, axis, colour, width) {
  const [right, down, back] = network.torus.map((size, dim) => ({ size, dim })).sort((a, b) => b.size - a.size);
  const slant = 0.35, pad = 26, step = Math.min((Math.min(width - 8, 620) - 2 * pad) / (right.size + slant * back.size), 300 / (down.size + slant * back.size));
  const place = (x, y, z) => ({ x: pad + (x + slant * z) * step, y: pad + (y + slant * (back.size - z)) * step });
  const marks = [], corner = (i) => place(right.size * (i & 1), down.size * ((i >> 1) & 1), back.size * ((i >> 2) & 1));
  for (let from = 0; from < 8; from += 1)
    for (const bit of [1, 2, 4]) if (!(from & bit)) marks.push(line(corner(from), corner(from | bit), { stroke: "var(--slate)", "stroke-width": 1.2, opacity: 0.6, "data-link": axis.axis }));
  const chips = new Set(axis.first_group.map((position) => Math.floor(position / network.devices_per_chip)));
  for (const chip of chips) {
    const at = [];
    for (let dim = 2, rest = chip; dim >= 0; dim -= 1) { at[dim] = rest % network.torus[dim]; rest = Math.floor(rest / network.torus[dim]); }
    const centre = place(at[right.dim] + 0.5, at[down.dim] + 0.5, at[back.dim] + 0.5);
    marks.push(svgEl("circle", { cx: centre.x, cy: centre.y, r: Math.max(1.5, Math.min(6, step * 0.22)), fill: `var(--${colour})`, "data-device": chip, "data-tip": `chip ${at.join(",")} (${["x", "y", "z"].join(",")})` }));
  }
  const names = ["x", "y", "z"], said = ({ size, dim }) => `${names[dim]}: ${size}${network.wraps[dim] ? ", ring" : ""}`;
  const height = (down.size + slant * back.size) * step + 2 * pad, used = (right.size + slant * back.size) * step + 2 * pad;
  marks.push(svgEl("text", { x: pad + (right.size * step) / 2, y: height - 8, "text-anchor": "middle" }, said(right)),
    svgEl("text", { x: 12, y: height - pad - (down.size * step) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${height - pad - (down.size * step) / 2})` }, said(down)),
    svgEl("text", { x: pad + (slant * back.size * step) / 2 - 6, y: pad + (slant * back.size * step) / 2 - 6, "text-anchor": "end" }, said(back)));
  return { marks, width: used, height };
}
