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

const linkTip = (axis, network) => `${axis.axis}=${axis.size}: ${axis.description}\na link carries ${rateText(network.link_bytes_per_second)} one way; gathers ${rateText(axis.ring_bytes_per_second)}, exchanges ${rateText(axis.exchange_bytes_per_second)}, shifts ${rateText(axis.shift_bytes_per_second)} a device`;

/** What the scale-out network joins. */
const placesOf = (network) => (["torus", "graph"].includes(network.fabric) ? "slice" : "node");

/** One slice or node is drawn; what joins several is a bar below it. */
function drawFabric(e, axis, width) {
  const { network } = e, order = network.axes.findIndex((a) => a.axis === axis.axis);
  const colour = axisColours[order % axisColours.length];
  const ofKind = { torus: () => (network.positions ? drawTorus(e, axis.axis, colour, width) : drawCloud(network, axis, colour, width)), graph: () => drawGraph(e, axis.axis, width) };
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
  const svg = svgEl("svg", { viewBox: `0 0 ${drawn.width} ${height}`, width: drawn.width, height, role: "img",
    "aria-label": `${axis.axis} on ${network.slice}: ${axis.description}` }, drawn.marks);
  for (const link of svg.querySelectorAll("[data-link]")) link.dataset.tip = linkTip(axis, network);
  return svg;
}
