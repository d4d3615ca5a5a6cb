// The mesh on the machine as a card: an axis at a time.
const bytesOver = (e, axis) => sum(e.collectives.filter((c) => c.axes.includes(axis)).map((c) => c.bytes * c.executions));

const axisTable = (e) => dataTable("Mesh axes on the machine's links, rates of a device and direction", [
  { title: "axis", text: (a) => a.axis }, { title: "size", number: true, text: (a) => countText(a.size) },
  { title: "links", text: (a) => a.description },
  { title: "gather", number: true, text: (a) => rateText(a.ring_bytes_per_second) },
  { title: "exchange", number: true, text: (a) => rateText(a.exchange_bytes_per_second) },
  { title: "shift", number: true, text: (a) => rateText(a.shift_bytes_per_second) },
  { title: "latency", number: true, text: (a) => timeText(a.latency_seconds) },
  { title: "bytes a step", number: true, text: (a) => trafficText(bytesOver(e, a.axis)) }], e.network.axes);

const graphText = ({ devices, switches, links, bisection_bytes_per_second: halves }) =>
  `a graph of ${countText(devices)} devices, ${countText(switches)} switches and ${countText(links)} links; ${rateText(halves)} from one half of the run's devices to the other`;

const shapeText = (network) => (network.fabric === "graph" ? graphText(network.graph) : network.fabric === "torus"
  ? `${network.torus.join("×")} chips${network.wraps.some(Boolean) ? ", dashed links close into rings" : ", no wraparound"}`
  : `${network.chips_per_node} a node, ${network.fabric === "full_mesh" ? "a link between every two" : "on one switch"}`);

function fabricCard(e) {
  const { network } = e;
  if (!network || !network.axes.length) return null;
  const axes = [...network.axes].sort((a, b) => bytesOver(e, b.axis) - bytesOver(e, a.axis));
  let chosen = axes[0], width = 0;
  const said = el("p", { role: "status", class: "num" }), stage = el("div", {});
  const buttons = axes.map((axis) => el("button", { type: "button", "aria-pressed": "false", onclick: () => choose(axis) }, `${axis.axis}=${axis.size}`));
  const isDrawn = (axis) => network.positions || axis.first_group;
  const draw = () => { if (width && isDrawn(chosen)) stage.replaceChildren(drawFabric(e, chosen, width)); };
  function choose(axis) {
    chosen = axis;
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(axes[i] === axis)));
    said.textContent = `${axis.axis}: ${axis.description}. All-gathers at ${rateText(axis.ring_bytes_per_second)}, exchanges at ${rateText(axis.exchange_bytes_per_second)}, shifts at ${rateText(axis.shift_bytes_per_second)} into or out of a device; ${trafficText(bytesOver(e, axis.axis))} a step.`;
    draw();
  }
  choose(chosen);
  const host = responsive((now) => { width = now; draw(); return stage; });
  const missing = network.positions ? null : el("p", { class: "soft" }, axes.every(isDrawn)
    ? "Too many devices to draw: the outline of the slice, and the chips that the axis joins with the first." : "Too many devices to draw; the table has every axis.");
  return card("The mesh on the machine", figure("fabric", `${network.slice}: ${shapeText(network)}`,
    el("div", {}, el("div", { class: "buttons", role: "group", "aria-label": "Mesh axis to show" }, buttons), said, host, missing), axisTable(e)));
}
