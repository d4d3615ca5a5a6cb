#pragma once
// HLO texts of a few lines.
#include <fmt/format.h>

#include <algorithm>
#include <audit/program_traffic.hpp>
#include <audit/hlo/read_hlo.hpp>
#include <cstring>
#include <string>
#include <vector>

namespace shardplan {

inline TextLines lines_of(std::string text) {
  auto rest = std::make_shared<std::pair<std::string, std::size_t>>(std::move(text), 0);
  return {"test.hlo", [rest](char* buffer, std::size_t size) {
            const std::size_t count = std::min(size, rest->first.size() - rest->second);
            std::memcpy(buffer, rest->first.data() + rest->second, count);
            rest->second += count;
            return count;
          }};
}

/// `instructions` as the ENTRY computation of a program on 8 devices, behind `computations`.
inline std::string program_text(const std::string& instructions, const std::string& computations = "") {
  return "HloModule jit_train_step, num_partitions=8\n\n" + computations +
         "ENTRY %main (p: f32[8]) -> f32[8] {\n  %p = f32[8]{0} parameter(0)\n" + instructions +
         "  ROOT %end = f32[8]{0} copy(%p)\n}\n";
}

inline Mesh mesh_2x4() { return {{{"fsdp", 2}, {"tensor", 4}}}; }

/// "forward all-gather tensor 4 x 64 B, 3 times: mul", one line a collective.
inline std::string summary(const ProgramTraffic& traffic) {
  std::string text;
  for (const auto& [c, shape, fit, ring, scattered, cloned, parts] : traffic.collectives) {
    std::string axes;
    for (const AxisId axis : c.axes) axes += (axes.empty() ? "" : "+") + traffic.mesh.axes[axis].name;
    text += fmt::format("{} {} {} of {}, {} B x {}: {}\n", name_of(c.phase), name_of(c.kind), axes, c.group_size,
                        c.bytes.value, c.executions, c.op);
  }
  return text;
}

inline std::string summary_of(const std::string& text) {
  return summary(count_traffic(read_hlo(lines_of(text)), mesh_2x4()));
}

}  // namespace shardplan
