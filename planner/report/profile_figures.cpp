#include <formats/figure_units.hpp>
#include <planner/report/profile_figures.hpp>

namespace shardplan {

std::vector<NamedFigure> figures_of(const HardwareProfile& m) {
  std::vector<NamedFigure> figures;
  const auto add = [&](std::string_view key, Dimension dimension, const std::optional<Figure>& figure) {
    if (figure) figures.push_back({key, *figure, figure->value / si_factor(figure->unit, dimension, m.name)});
  };
  add("peak_bf16", Dimension::flops_per_second, m.peak_bf16);
  add("peak_int8", Dimension::flops_per_second, m.peak_int8);
  add("peak_fp8", Dimension::flops_per_second, m.peak_fp8);
  add("hbm_capacity", Dimension::bytes, m.hbm_capacity);
  add("process_memory_fraction", Dimension::share, m.process_memory_fraction);
  add("hbm_bandwidth", Dimension::bytes_per_second, m.hbm_bandwidth);
  add("matmul_efficiency", Dimension::share, m.matmul_efficiency);
  add("fp8_matmul_efficiency", Dimension::share, m.fp8_matmul_efficiency);
  add("vector_pass_rate", Dimension::elements_per_second, m.vector_pass_rate);
  add("vector_operand_rate", Dimension::elements_per_second, m.vector_operand_rate);
  add("clock", Dimension::cycles_per_second, m.clock);
  if (m.power_states) add("default_clock", Dimension::cycles_per_second, m.power_states->default_clock());
  add("attention_efficiency", Dimension::share, m.attention_efficiency);
  add("hbm_efficiency", Dimension::share, m.hbm_efficiency);
  add("elementwise_efficiency", Dimension::share, m.elementwise_efficiency);
  if (m.grouped_kernels) add("grouped_kernels.step", Dimension::seconds, m.grouped_kernels->step);
  add("link_bandwidth", Dimension::bytes_per_second, m.link_bandwidth);
  add("link_efficiency", Dimension::share, m.link_efficiency);
  add("exchange_efficiency", Dimension::share, m.exchange_efficiency);
  add("joint_ring_efficiency", Dimension::share, m.joint_ring_efficiency);
  add("hop_latency", Dimension::seconds, m.hop_latency);
  add("collective_latency", Dimension::seconds, m.collective_latency);
  add("collective_processors", Dimension::share, m.collective_processors);
  add("die_to_die_bandwidth", Dimension::bytes_per_second, m.die_to_die_bandwidth);
  add("host_link_bandwidth", Dimension::bytes_per_second, m.host_link_bandwidth);
  add("scale_out_bandwidth", Dimension::bytes_per_second, m.scale_out_bandwidth);
  add("scale_out_efficiency", Dimension::share, m.scale_out_efficiency);
  add("scale_out_latency", Dimension::seconds, m.scale_out_latency);
  add("published_mfu_dense", Dimension::share, m.published_mfu_dense);
  add("published_mfu_moe", Dimension::share, m.published_mfu_moe);
  add("power_per_chip", Dimension::watts, m.power_per_chip);
  add("price_per_chip_hour", Dimension::dollars_per_hour, m.price_per_chip_hour);
  return figures;
}

}  // namespace shardplan
