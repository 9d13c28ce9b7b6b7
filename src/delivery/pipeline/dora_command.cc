#include "delivery/pipeline/dora_command.h"

#include <fmt/format.h>

#include "delivery/family/text.h"
#include "delivery/pipeline/delivery_log.h"
#include "delivery/pipeline/hooks.h"
#include "delivery/pipeline/kind.h"
#include "delivery/pipeline/log_read.h"
#include "delivery/pipeline/spec.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {
namespace {

using json::Value;

constexpr Duration kDefaultRange = std::chrono::days{90};
constexpr const char* kUnknown = "unknown";

double seconds_of(Duration duration) { return std::chrono::duration<double>(duration).count(); }

Value json_of(const std::optional<Spread>& one) {
  if (!one) return {};
  return json::object(
      {{"p50Seconds", seconds_of(one->p50)}, {"p90Seconds", seconds_of(one->p90)}, {"meanSeconds", seconds_of(one->mean)}});
}

Value json_of(const DoraKeys& keys) {
  return json::object({{"pipeline", keys.pipeline},
                       {"environment", keys.environment},
                       {"deployments", keys.deployments},
                       {"deploymentsPerDay", keys.per_day},
                       {"leadTime", json_of(keys.lead_time)},
                       {"unknownLeadTimes", keys.unknown_lead_times},
                       {"changes", keys.changes},
                       {"failedChanges", keys.failures},
                       {"changeFailureShare", keys.failure_share ? Value(*keys.failure_share) : Value()},
                       {"recovery", json_of(keys.recovery)},
                       {"outages", keys.outages},
                       {"openOutages", keys.open_outages}});
}

Value json_of(const std::vector<Deployment>& deployments) {
  json::ArrayBuilder items;
  for (const Deployment& one : deployments) {
    items.add(json::object({{"time", to_rfc3339(one.at)},
                            {"version", one.version},
                            {"digest", one.digest},
                            {"leadTimeSeconds", one.lead_time ? Value(seconds_of(*one.lead_time)) : Value()},
                            {"failed", one.has_failed}}));
  }
  return items.build();
}

Value details(const DoraFacts& facts) {
  json::ArrayBuilder outages;
  for (const Outage& one : facts.outages) {
    outages.add(json::object({{"time", to_rfc3339(one.at)},
                              {"version", one.version},
                              {"text", one.text},
                              {"recoverySeconds", one.recovery ? Value(seconds_of(*one.recovery)) : Value()}}));
  }
  return json::object(
      {{"deployments", json_of(facts.deployments)}, {"failedAttempts", json_of(facts.attempts)}, {"outages", outages.build()}});
}

std::vector<DoraKeys> all_keys(const std::vector<DoraFacts>& facts, Duration range) {
  std::vector<DoraKeys> keys;
  for (const DoraFacts& one : facts) keys.push_back(dora_keys({one}, range));
  if (facts.size() > 1) keys.push_back(dora_keys(facts, range));
  return keys;
}

std::string as_json(const std::vector<DoraFacts>& facts, Time from, Time to) {
  json::ArrayBuilder items;
  for (const DoraFacts& one : facts) {
    items.add(json_of(dora_keys({one}, to - from)).with("details", details(one)));
  }
  Value all = json::object({{"from", to_rfc3339(from)}, {"to", to_rfc3339(to)}, {"items", items.build()}});
  if (facts.size() > 1) all = all.with("all", json_of(dora_keys(facts, to - from)));
  return json::print_pretty(all) + "\n";
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.4g}", *value) : ""; }

std::string as_csv(const std::vector<DoraFacts>& facts, Time from, Time to) {
  std::vector<std::vector<std::string>> rows{
      {"pipeline", "environment", "from", "to", "deployments", "deploymentsPerDay", "leadTimeP50Seconds", "leadTimeP90Seconds",
       "unknownLeadTimes", "changes", "failedChanges", "changeFailureShare", "recoveryP50Seconds", "outages", "openOutages"}};
  for (const DoraKeys& keys : all_keys(facts, to - from)) {
    const auto of = [](const std::optional<Spread>& one, Duration Spread::* which) {
      return one ? fmt::format("{:.0f}", seconds_of((*one).*which)) : std::string();
    };
    rows.push_back({keys.pipeline, keys.environment, to_rfc3339(from), to_rfc3339(to), std::to_string(keys.deployments),
                    number(keys.per_day), of(keys.lead_time, &Spread::p50), of(keys.lead_time, &Spread::p90),
                    std::to_string(keys.unknown_lead_times), std::to_string(keys.changes), std::to_string(keys.failures),
                    number(keys.failure_share), of(keys.recovery, &Spread::p50), std::to_string(keys.outages),
                    std::to_string(keys.open_outages)});
  }
  return csv(rows);
}

std::string table(const std::vector<DoraFacts>& facts, Time from, Time to) {
  std::vector<std::vector<std::string>> rows{{"PIPELINE", "ENVIRONMENT", "DEPLOYMENTS", "PER DAY", "LEAD TIME P50", "P90",
                                              "UNKNOWN", "FAILED CHANGES", "RECOVERY P50", "OPEN"}};
  for (const DoraKeys& keys : all_keys(facts, to - from)) {
    const bool has_deployments = keys.deployments > 0;
    const auto of = [](const std::optional<Spread>& one, Duration Spread::* which, const char* otherwise) {
      return one ? human_duration((*one).*which) : std::string(otherwise);
    };
    rows.push_back(
        {one_line(keys.pipeline), one_line(keys.environment), std::to_string(keys.deployments),
         fmt::format("{:.2f}", keys.per_day), of(keys.lead_time, &Spread::p50, has_deployments ? kUnknown : "-"),
         of(keys.lead_time, &Spread::p90, has_deployments ? kUnknown : "-"),
         fmt::format("{} of {}", keys.unknown_lead_times, keys.deployments),
         keys.failure_share ? fmt::format("{} of {} ({:.0f}%)", keys.failures, keys.changes, *keys.failure_share * 100) : "-",
         of(keys.recovery, &Spread::p50, "-"), std::to_string(keys.open_outages)});
  }
  return aligned(rows);
}

struct Asked {
  std::string pipeline;     // empty: all
  std::string environment;  // empty: the last one of each
  Duration range = kDefaultRange;
  std::string form = "table";
};

Result<Asked> asked_of(const CommandCall& call) {
  if (call.words.size() > 1) return fail(Reason::BadRequest, "give the name of one pipeline, or none for all");
  const auto option = [&](const char* name) {
    const auto at = call.options.find(name);
    return at == call.options.end() ? std::string() : at->second;
  };
  Asked asked{.pipeline = call.words.empty() ? "" : call.words.front(), .environment = option("environment")};
  if (const std::string since = option("since"); !since.empty()) {
    SLIPWAY_TRY(age, parse_days(since));
    asked.range = age;
  }
  if (const std::string form = option("output"); !form.empty()) asked.form = form;
  if (asked.form != "table" && asked.form != "json" && asked.form != "csv") {
    return fail(Reason::BadRequest, fmt::format("-o {}: give table, json or csv", asked.form));
  }
  return asked;
}

/// The last environments by pipeline.
std::map<std::string, std::string> last_environments(const std::vector<kube::Object>& pipelines) {
  std::map<std::string, std::string> last;
  for (const kube::Object& pipeline : pipelines) {
    const Value& environments = pipeline["spec"]["environments"];
    if (environments.size() > 0)
      last[std::string(kube::name(pipeline))] = environments.item(environments.size() - 1)["name"].str();
  }
  return last;
}

Task<Result<CommandAnswer>> run_dora(CommandCall call) {
  SLIPWAY_CO_TRY(asked, asked_of(call));
  SLIPWAY_CO_TRY(logs, co_await read_chains(*call.client, call.ns, asked.pipeline));
  SLIPWAY_CO_TRY(pipelines, co_await read_all(*call.client, kPipelines, call.ns, ""));
  SLIPWAY_CO_TRY(releases, co_await read_all(*call.client, kReleases, call.ns, ""));
  if (!asked.pipeline.empty() && logs.empty()) {
    co_return fail(Reason::NotFound, fmt::format("namespace {} has no log of a pipeline {}", call.ns, asked.pipeline));
  }
  const std::map<std::string, std::string> last = last_environments(pipelines);
  const Time to = call.env.clock.now();
  CommandAnswer answer;
  std::vector<DoraFacts> facts;
  for (const auto& [name, chains] : logs) {
    DoraInput input{.pipeline = name, .environment = asked.environment, .entries = {}};
    const auto known = last.find(name);
    if (input.environment.empty() && known != last.end()) input.environment = known->second;
    if (input.environment.empty()) {
      answer.notes.push_back(fmt::format("{} is left out: the pipeline is gone; say --environment", name));
      continue;
    }
    for (const Chain& chain : chains) {
      for (const Segment& segment : chain.segments) {
        input.entries.insert(input.entries.end(), segment.spec.entries.begin(), segment.spec.entries.end());
      }
    }
    for (const kube::Object& release : releases) {
      if (release["spec"]["pipeline"].as_string() != name) continue;
      auto spec = json::decode<ReleaseSpec>(release["spec"], "spec", {.allow_unknown = true});
      if (!spec) continue;
      const auto told = parse_rfc3339(kube::annotation(release, kArtifactCreatedAnnotation));
      if (!spec->artifact_created && told) spec->artifact_created = *told;
      input.releases.push_back(std::move(*spec));
    }
    facts.push_back(dora_facts(input, to - asked.range, to));
  }
  answer.text = dora_text(facts, to - asked.range, to, asked.form);
  co_return answer;
}

}  // namespace

std::string dora_text(const std::vector<DoraFacts>& facts, Time from, Time to, const std::string& form) {
  if (form == "json") return as_json(facts, from, to);
  return form == "csv" ? as_csv(facts, from, to) : table(facts, from, to);
}

Command dora_command() {
  return {.verb = "pipeline dora",
          .help = "how often, how fast and how well pipelines deliver: the four keys of DORA",
          .cluster = Command::Cluster::Always,
          .input = Command::Input::Words,
          .words_name = "[NAME]",
          .words_help = "name of the pipeline (default: all of the namespace)",
          .options = {{"output", "table, json or csv"},
                      {"environment", "the environment that counts (default: the last of each pipeline)"},
                      {"since", "how far back, e.g. 90d (default)"}},
          .run = run_dora,
          .only_reads = true};
}

}  // namespace slipway::delivery::pipeline
