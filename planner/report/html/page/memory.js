// One evaluation: the memory of a device at the peak, with the range that it may be in and the capacity.
function memoryRows(m) {
  return [{ label: "at the peak", note: `${memoryText(m.peak_bytes)} of ${memoryText(m.capacity_bytes)}`, segments: [
    part("parameters", m.parameters_bytes, memoryText, "blue"), part("optimizer", m.optimizer_bytes, memoryText, "violet"),
    part("input batch", m.batch_bytes, memoryText, "slate"), part("gradients", m.gradients_bytes, memoryText, "amber"),
    part("activations", m.activations_bytes, memoryText, "teal"), part("temporaries", m.temporaries_bytes, memoryText, "red")] }];
}

function memoryCard(e) {
  const m = e.memory, rows = memoryRows(m), whole = Math.max(m.capacity_bytes, m.range.high_bytes, m.peak_bytes);
  const left = m.capacity_bytes - m.peak_bytes, limit = m.capacity_bytes - m.reserved_bytes;
  const over = [Plot.barX([m.range], { x1: "low_bytes", x2: "high_bytes", fill: "none", stroke: "var(--text)", strokeWidth: 1.5, insetTop: 8, insetBottom: 8 }),
    Plot.ruleX([limit], { stroke: "var(--text)", strokeWidth: 3 })];
  const key = [...legendOf(rows), { label: `from ${memoryText(m.range.low_bytes)} to ${memoryText(m.range.high_bytes)}`, form: "outline" },
    { label: `${limit === m.capacity_bytes ? "capacity" : "capacity less the reserve"} ${memoryText(limit)}`, form: "rule" }];
  return card("Memory of a device",
    figure("memory", `Peak in the ${m.peak_moment || "step"}; ${memoryText(m.range.low_bytes)} to ${memoryText(m.range.high_bytes)} if predictions are off by as much as they have been. ${memoryText(Math.abs(left))} ${left < 0 ? "too much" : "free"}.`,
      el("div", {}, barRow(rows[0], whole, true, over), scaleRow(whole, inGibibytes), legend(key)), barTable("Memory at the peak by part", rows, "memory")),
    largestBuffers(m));
}

/** What activations and temporaries are, for the most part. */
function largestBuffers(m) {
  const [first] = m.largest_buffers || [];
  if (!first) return null;
  return el("details", { "data-table": "buffers" }, el("summary", {}, `Largest: ${first.block}, ${first.name}, ${memoryText(first.bytes * first.count)}`),
    dataTable("Largest buffers at the peak", [
      { title: "buffer", text: (b) => b.name }, { title: "layers", text: (b) => b.block }, { title: "as", text: (b) => b.as },
      { title: "buffers", number: true, text: (b) => String(b.count) }, { title: "of each", number: true, text: (b) => memoryText(b.bytes) },
      { title: "together", number: true, text: (b) => memoryText(b.bytes * b.count) }], m.largest_buffers));
}
