#include <fmt/format.h>

#include <algorithm>
#include <audit/audit_findings.hpp>
#include <audit/culprits.hpp>
#include <audit/traffic_groups.hpp>
#include <map>
#include <set>

namespace shardplan {
namespace {

class Auditor {
 public:
  Auditor(const std::vector<TrafficItem>& found, const std::vector<TrafficChange>& changes, const AuditView& view)
      : found_(found), view_(view), groups_(traffic_groups(changes)) {
    for (const auto& group : groups_) {
      all_found_ += group.found;
      all_expected_ += group.expected;
    }
  }

  std::vector<Finding> findings() {
    expert_axis();
    if (view_.against != Against::nothing)
      for (const auto& group : groups_) compare(group);
    scattered_all_reduces();
    odd_groups();
    rematerialized_gathers();
    std::stable_sort(findings_.begin(), findings_.end(),
                     [](const auto& a, const auto& b) { return a.severity > b.severity; });
    return std::move(findings_);
  }

 private:
  std::vector<std::string> axis_names(const AxisList& axes) const { return names_of(axes, view_.mesh); }
  std::string axes_text(const AxisList& axes) const { return join_axes(axis_names(axes)); }

  std::string amount(const Traffic& traffic) const {
    const std::string size = in_words(traffic.bytes);
    return view_.priced ? fmt::format("{}, {}", size, in_words(traffic.seconds)) : size;
  }

  bool matters(std::int64_t difference, std::int64_t expected) const {
    return difference > view_.thresholds.ignore_below.value &&
           static_cast<double>(difference) > view_.thresholds.tolerance * static_cast<double>(expected);
  }

  Severity severity_of(std::int64_t difference) const {
    const double expected = static_cast<double>(all_expected_.bytes.value);
    return static_cast<double>(difference) > view_.thresholds.tolerance * expected ? Severity::error
                                                                                   : Severity::warning;
  }

  /// A program that moves more of one class and less of another is another program, not a worse one: what it costs in
  /// all decides, in seconds where they are known.
  bool costs_more() const {
    return view_.priced ? all_found_.seconds > all_expected_.seconds : all_found_.bytes > all_expected_.bytes;
  }

  /// What of a group has no counterpart, phases in which no more than expected is moved left out.
  template <class Counts>
  Culprits culprits(const TrafficGroup& group, Counts counts) const {
    Culprits result;
    std::map<std::string, std::int64_t> bytes_of;
    for (const auto* change : group.phases) {
      if (change->found.bytes <= change->expected.bytes) continue;
      for (const auto& extra : change->extra) {
        if (!counts(extra) || extra.traffic.bytes <= view_.thresholds.ignore_below) continue;
        bytes_of[extra.tensor] += extra.traffic.bytes.value;
        result.phases.insert(change->phase);
        result.traffic += extra.traffic;
      }
    }
    // Collectives that one side combines have no counterpart either; names are for what makes the difference.
    std::erase_if(bytes_of, [&](const auto& tensor) { return tensor.second * 20 < group.excess(); });
    result.tensors = heaviest_first(bytes_of);
    return result;
  }

  bool over_experts(const AxisList& axes) const {
    return !view_.expert_axes.empty() && std::any_of(axes.begin(), axes.end(), [&](AxisId axis) {
      return std::find(view_.expert_axes.begin(), view_.expert_axes.end(), axis) != view_.expert_axes.end();
    });
  }

  /// What moves of expert weights over their own axis, whether or not it is expected.
  Culprits expert_weights(TrafficClass traffic) const {
    Culprits all;
    std::set<std::string> tensors;
    all.output_alone = true;
    for (const auto& item : found_) {
      const Collective& c = item.collective;
      if (item.traffic != traffic || !over_experts(c.axes) || item.expert_weight == ExpertWeight::none) continue;
      if (c.moved() <= view_.thresholds.ignore_below) continue;
      tensors.insert(item.tensor);
      all.output_alone = all.output_alone && item.expert_weight == ExpertWeight::out;
      all.phases.insert(c.phase);
      all.traffic += Traffic{c.moved(), c.seconds};
    }
    all.tensors.assign(tensors.begin(), tensors.end());
    return all;
  }

  /// A warning where the plan or the baseline gathers them too.
  Severity severity_of_stolen_axis() const {
    if (view_.against == Against::nothing) return Severity::error;
    const auto of_experts = [](const TensorTraffic& tensor) { return tensor.expert_weight != ExpertWeight::none; };
    std::int64_t extra = 0;
    for (const auto& group : groups_)
      if (group.traffic == TrafficClass::gather && over_experts(group.axes))
        extra += culprits(group, of_experts).traffic.bytes.value;
    return severity_of(extra);
  }

  std::string gradients_too() const {
    const Culprits reduced = expert_weights(TrafficClass::reduce);
    if (reduced.tensors.empty()) return "";
    return fmt::format("; the gradients of {} are reduced over it in {} ({} a step)", tensor_words(reduced.tensors),
                       phase_words(reduced.phases), amount(reduced.traffic));
  }

  void expert_axis() {
    const Culprits gathered = expert_weights(TrafficClass::gather);
    if (gathered.tensors.empty()) return;
    const auto axes = axis_names(view_.expert_axes);
    const std::string tensors = tensor_words(gathered.tensors);
    const std::string what = fmt::format("gathered over '{}' in {} ({} a step){}", join_axes(axes),
                                         phase_words(gathered.phases), amount(gathered.traffic), gradients_too());
    if (gathered.output_alone)
      findings_.push_back(
          {FindingId::expert_output_not_peeled, Severity::warning,
           "the constraint on wo's output gives the experts' axis to the batch: expert weight wo is " + what, "wo",
           axes, "use the expert axis as the only batch axis, or sparse_matmul=True"});
    else
      findings_.push_back({FindingId::expert_axis_stolen, severity_of_stolen_axis(),
                           fmt::format("expert double-mapping: the batch dim of the dispatch holds the experts' axis, "
                                       "so expert weights {} are {}",
                                       tensors, what),
                           tensors, axes, "moe_dispatch_no_expert_sharding=True"});
  }

  void compare(const TrafficGroup& group) {
    if (matters(group.excess(), group.expected.bytes.value)) unexpected(group);
    if (matters(-group.excess(), group.expected.bytes.value)) missing(group);
    if (group.traffic == TrafficClass::reduce) all_reduces(group);
  }

  std::string against(const TrafficGroup& group) const {
    const std::string found = amount(group.found);
    return group.expected.bytes.value == 0
               ? fmt::format("move {} a step where nothing is expected", found)
               : fmt::format("move {} a step where {} are expected", found, amount(group.expected));
  }

  void unexpected(const TrafficGroup& group) {
    const Culprits extra = culprits(group, [](const TensorTraffic&) { return true; });
    std::string message = fmt::format("{}s over {} {}", noun_of(group.traffic), axes_text(group.axes), against(group));
    if (!extra.tensors.empty())
      message += fmt::format(": {} in {}", tensor_words(extra.tensors), phase_words(extra.phases));
    if (!costs_more())
      message += fmt::format("; all collectives together ({}) cost no more than expected ({})", amount(all_found_),
                             amount(all_expected_));
    findings_.push_back({unexpected_traffic(group.traffic), costs_more() ? severity_of(group.excess()) : Severity::note,
                         message, tensor_words(extra.tensors), axis_names(group.axes), ""});
  }

  void missing(const TrafficGroup& group) {
    std::set<std::string> tensors;
    for (const auto* change : group.phases)
      for (const auto& gone : change->missing)
        if (gone.traffic.bytes > view_.thresholds.ignore_below) tensors.insert(gone.tensor);
    const std::vector<std::string> names(tensors.begin(), tensors.end());
    const bool exchange = group.traffic == TrafficClass::exchange;
    findings_.push_back({exchange ? FindingId::missing_all_to_all : FindingId::less_traffic_than_expected,
                         exchange ? Severity::warning : Severity::note,
                         fmt::format("{}s over {} {}", noun_of(group.traffic), axes_text(group.axes), against(group)),
                         tensor_words(names), axis_names(group.axes), ""});
  }

  // An all-reduce leaves on every device what a reduce-scatter leaves on one, for twice the time.
  void all_reduces(const TrafficGroup& group) {
    const auto difference = group.found_all_reduce.bytes.value - group.expected_all_reduce.bytes.value;
    if (!matters(difference, group.expected.bytes.value) || matters(group.excess(), group.expected.bytes.value)) return;
    findings_.push_back({FindingId::all_reduce_where_reduce_scatter_suffices,
                         view_.against == Against::plan ? Severity::note : Severity::warning,
                         fmt::format("{} over {} are all-reduced each step where a reduce-scatter is expected",
                                     amount({{difference}, group.found_all_reduce.seconds}), axes_text(group.axes)),
                         "", axis_names(group.axes), ""});
  }

  void scattered_all_reduces() {
    std::map<AxisList, std::pair<Traffic, std::vector<std::string>>> by_axes;
    for (const auto& item : found_) {
      if (!item.scattered) continue;
      auto& [traffic, tensors] = by_axes[item.collective.axes];
      traffic += Traffic{item.collective.moved(), item.collective.seconds};
      if (std::find(tensors.begin(), tensors.end(), item.tensor) == tensors.end()) tensors.push_back(item.tensor);
    }
    for (const auto& [axes, sum] : by_axes) {
      const auto names = axis_names(axes);
      const bool known = std::any_of(findings_.begin(), findings_.end(), [&](const Finding& f) {
        return f.id == FindingId::all_reduce_where_reduce_scatter_suffices && f.axes == names;
      });
      if (known || sum.first.bytes <= view_.thresholds.ignore_below) continue;
      findings_.push_back(
          {FindingId::all_reduce_where_reduce_scatter_suffices, Severity::note,
           fmt::format("all-reduces over {} ({} a step) are sliced right behind: a reduce-scatter moves half as much",
                       join_axes(names), amount(sum.first)),
           tensor_words(sum.second), names, ""});
    }
  }

  void odd_groups() {
    Traffic sum;
    std::vector<std::string> tensors;
    for (const auto& item : found_) {
      if (!item.matches_no_axes) continue;
      sum += Traffic{item.collective.moved(), item.collective.seconds};
      tensors.push_back(item.tensor);
    }
    if (sum.bytes <= view_.thresholds.ignore_below) return;
    findings_.push_back(
        {FindingId::groups_match_no_axes,
         Severity::warning,
         fmt::format("collectives of {} a step run in device groups that match no set of mesh axes; is the mesh right?",
                     amount(sum)),
         tensor_words(tensors),
         {},
         ""});
  }

  /// A program that would need more memory than there is runs cheap-looking instructions again, gathers among them.
  void rematerialized_gathers() {
    Culprits again;
    std::map<std::string, std::int64_t> bytes_of;
    std::set<AxisId> axes;
    for (const auto& item : found_) {
      if (!item.rematerialized || item.traffic != TrafficClass::gather) continue;
      const Collective& c = item.collective;
      bytes_of[item.tensor] += c.moved().value;
      again.traffic += Traffic{c.moved(), c.seconds};
      again.phases.insert(c.phase);
      axes.insert(c.axes.begin(), c.axes.end());
    }
    if (again.traffic.bytes <= view_.thresholds.ignore_below) return;
    again.tensors = heaviest_first(bytes_of);
    findings_.push_back({FindingId::rematerialized_all_gather, Severity::warning,
                         fmt::format("memory is short: the compiler gathers {} once more in {} rather than keep what "
                                     "was gathered ({} a step)",
                                     tensor_words(again.tensors), phase_words(again.phases), amount(again.traffic)),
                         tensor_words(again.tensors), axis_names(AxisList(axes.begin(), axes.end())),
                         "need less memory: a smaller per_device_batch_size, a remat_policy that saves less, or "
                         "optimizer_memory_host_offload=True"});
  }

  const std::vector<TrafficItem>& found_;
  const AuditView& view_;
  std::vector<TrafficGroup> groups_;
  Traffic all_found_, all_expected_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> audit_findings(const std::vector<TrafficItem>& found, const std::vector<TrafficChange>& changes,
                                    const AuditView& view) {
  return Auditor(found, changes, view).findings();
}

bool is_regression(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& f) { return f.severity == Severity::error; });
}

}  // namespace shardplan
