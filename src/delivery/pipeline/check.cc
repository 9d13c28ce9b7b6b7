#include "delivery/pipeline/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "json/quoted.h"
#include "kube/names.h"

namespace slipway::delivery::pipeline {
namespace {

using json::quoted;

bool is_git_url(std::string_view url) {
  for (const std::string_view begin : {"https://", "http://", "ssh://", "file://", "/"}) {
    if (url.starts_with(begin)) return true;
  }
  const auto colon = url.find(':');  // user@host:path
  return colon != std::string_view::npos && colon > 0 && url.substr(0, colon).find('/') == std::string_view::npos &&
         !url.substr(colon).starts_with("://");
}

class Check {
 public:
  Check(const PipelineSpec& spec, std::string_view ns) : spec_(spec), ns_(ns) {}

  std::vector<Cause> run() {
    check_app();
    if (spec_.promotion) check_promotion(*spec_.promotion, "spec.promotion");
    for (std::size_t i = 0; i < spec_.environments.size(); ++i) {
      check_environment(spec_.environments[i], fmt::format("spec.environments[{}]", i));
    }
    check_order();
    return std::move(causes_);
  }

 private:
  void add(Cause cause) { causes_.push_back(std::move(cause)); }
  void add_faults(const kube::Faults& faults, const std::string& field, const std::string& value) {
    for (const std::string& fault : faults) add(field::invalid(field, quoted(value), fault));
  }

  void check_app() {
    const std::string& version = spec_.app.api_version;
    const auto slashes = std::ranges::count(version, '/');
    const bool is_parsable = slashes <= 1 && !version.starts_with('/') && !version.ends_with('/');
    if (!is_parsable) add(field::invalid("spec.appRef.apiVersion", quoted(version), "must be VERSION or GROUP/VERSION"));
    add_faults(kube::dns1123_subdomain_faults(spec_.app.name), "spec.appRef.name", spec_.app.name);
  }

  void check_environment(const Environment& one, const std::string& field) {
    add_faults(kube::label_value_faults(one.name), field + ".name", one.name);
    if (!names_.insert(one.name).second) add(field::duplicate(field + ".name", quoted(one.name)));
    for (std::size_t i = 0; i < one.targets.size(); ++i) check_target(one.targets[i], fmt::format("{}.targets[{}]", field, i));
    if (one.promotion) check_promotion(*one.promotion, field + ".promotion");
    if (one.soak && *one.soak < Duration::zero()) {
      add(field::invalid(field + ".soak", quoted(to_string(*one.soak)), "must not be negative"));
    }
    std::set<std::string> gates;
    for (std::size_t i = 0; i < one.gates.size(); ++i) {
      const std::string place = fmt::format("{}.gates[{}]", field, i);
      std::ranges::move(gate::check(one.gates[i], place), std::back_inserter(causes_));
      if (one.gates[i].at != "before" && one.gates[i].at != "after") {
        add(field::not_supported(place + ".at", quoted(one.gates[i].at), {"before", "after"}));
      }
      if (!gates.insert(one.gates[i].name).second) add(field::duplicate(place + ".name", quoted(one.gates[i].name)));
    }
  }

  /// A workload in two environments would have two versions to be at.
  void check_target(const Target& target, const std::string& field) {
    add_faults(kube::dns1123_label_faults(target.ns), field + ".namespace", target.ns);
    std::string place = target.ns;
    if (target.cluster) {
      add_faults(kube::dns1123_subdomain_faults(target.cluster->name), field + ".clusterRef.name", target.cluster->name);
      place =
          fmt::format("{} of {}/{}", target.ns, target.cluster->ns.empty() ? ns_ : target.cluster->ns, target.cluster->name);
    }
    if (!targets_.insert(place).second) add(field::duplicate(field, quoted(place)));
  }

  void check_promotion(const Promotion& promotion, const std::string& field) {
    const Strategy& strategy = promotion.strategy.value_or(Strategy{});
    const PullRequest* const requests[] = {strategy.pull_request ? &*strategy.pull_request : nullptr,
                                           promotion.pull_request ? &*promotion.pull_request : nullptr};
    int strategies = (strategy.notification ? 1 : 0) + (promotion.notification ? 1 : 0) + (strategy.commit ? 1 : 0);
    for (const PullRequest* request : requests) {
      if (request == nullptr) continue;
      ++strategies;
      // With apiUrl the forge is elsewhere, and the repository may be a path here.
      const bool is_path = request->url.starts_with('/') && !request->api_url.empty();
      const bool is_url = request->url.starts_with("https://") || request->url.starts_with("http://");
      if (!is_url && !is_path)
        add(field::invalid(field + ".strategy.pull-request.url", quoted(request->url), "must be an HTTP URL"));
    }
    if (strategy.commit && !is_git_url(strategy.commit->url))
      add(field::invalid(field + ".strategy.commit.url", quoted(strategy.commit->url),
                         "must be an https, http or ssh URL, user@host:path, or a path that begins with /"));
    if (strategies > 1) add(field::forbidden(field + ".strategy", "give one of pull-request, notification and commit"));
    if (promotion.strategy && strategies == 0)
      add(field::required(field + ".strategy", "give pull-request, notification or commit"));
  }

  /// Environments whose predecessors all come before them are taken away; what is left waits for itself.
  void check_order() {
    if (names_.size() != spec_.environments.size()) return;  // names do not tell which is meant
    std::map<std::string, std::set<std::string>> waiting;
    for (std::size_t i = 0; i < spec_.environments.size(); ++i) {
      const Environment& one = spec_.environments[i];
      std::set<std::string>& before = waiting[one.name];
      if (!one.depends_on) {
        if (i > 0) before.insert(spec_.environments[i - 1].name);
        continue;
      }
      for (std::size_t j = 0; j < one.depends_on->size(); ++j) {
        const std::string& name = (*one.depends_on)[j];
        const std::string field = fmt::format("spec.environments[{}].dependsOn[{}]", i, j);
        if (!names_.contains(name)) add(field::not_found(field, quoted(name)));
        if (names_.contains(name) && !before.insert(name).second) add(field::duplicate(field, quoted(name)));
      }
    }
    while (true) {
      const auto first = std::ranges::find_if(waiting, [](const auto& one) { return one.second.empty(); });
      if (first == waiting.end()) break;
      const std::string name = first->first;
      waiting.erase(first);
      for (auto& [left, before] : waiting) before.erase(name);
    }
    if (waiting.empty()) return;
    add(field::invalid("spec.environments", quoted(waiting.begin()->first), "environments depend on each other in a circle"));
  }

  const PipelineSpec& spec_;
  std::string ns_;
  std::vector<Cause> causes_{};
  std::set<std::string> names_{};
  std::set<std::string> targets_{};
};

}  // namespace

std::vector<Cause> check(const PipelineSpec& spec, std::string_view ns) { return Check(spec, ns).run(); }

std::vector<Cause> check(const GitopsClusterSpec& spec) {
  if (spec.capi_cluster.has_value() != spec.secret.has_value()) return {};
  return {spec.secret ? field::forbidden("spec.secretRef", "give one of capiClusterRef and secretRef")
                      : field::required("spec.secretRef", "give capiClusterRef or secretRef")};
}

}  // namespace slipway::delivery::pipeline
