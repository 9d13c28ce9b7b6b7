#include "delivery/pipeline/history_command.h"

#include <fmt/format.h>

#include <map>

#include "delivery/family/text.h"
#include "delivery/pipeline/log_read.h"
#include "json/text.h"

namespace slipway::delivery::pipeline {
namespace {

constexpr int kBroken = 1;

bool is_shown(const DeliveryEntry& entry, const HistoryQuery& query) {
  if (query.since && entry.at < *query.since) return false;
  return query.environment.empty() || entry.environment.empty() || entry.environment == query.environment;
}

template <class Call>
void each_shown(const std::vector<Chain>& chains, const HistoryQuery& query, Call call) {
  for (const Chain& chain : chains) {
    for (const Segment& segment : chain.segments) {
      for (const DeliveryEntry& entry : segment.spec.entries) {
        if (is_shown(entry, query)) call(chain, entry);
      }
    }
  }
}

/// By time: what targets did is logged a little later than it happened.
std::string table(const std::vector<Chain>& chains, const HistoryQuery& query) {
  std::multimap<Time, const DeliveryEntry*> shown;
  each_shown(chains, query, [&](const Chain&, const DeliveryEntry& entry) { shown.emplace(entry.at, &entry); });
  std::vector<std::vector<std::string>> rows{{"TIME", "WHAT", "ENVIRONMENT", "VERSION", "BY", "WHY"}};
  for (const auto& [at, entry] : shown) {
    std::string version = entry->version;
    if (!entry->before.empty() && entry->before != version) version = fmt::format("{} → {}", entry->before, version);
    rows.push_back({to_rfc3339(at), entry->what, one_line(entry->environment), one_line(version), one_line(entry->by),
                    one_line(entry->text)});
  }
  return rows.size() == 1 ? "nothing is told of that time\n" : aligned(rows);
}

std::string as_json(const std::vector<Chain>& chains, const HistoryQuery& query) {
  json::ArrayBuilder entries;
  each_shown(chains, query, [&](const Chain& chain, const DeliveryEntry& entry) {
    entries.add(json::encode(entry).with("pipelineUID", chain.uid));
  });
  return json::print_pretty(json::object({{"items", entries.build()}})) + "\n";
}

std::string as_csv(const std::vector<Chain>& chains, const HistoryQuery& query) {
  std::vector<std::vector<std::string>> rows{
      {"time", "what", "environment", "release", "version", "digest", "before", "by", "text", "pipelineUID", "hash"}};
  each_shown(chains, query, [&](const Chain& chain, const DeliveryEntry& entry) {
    rows.push_back({to_rfc3339(entry.at), entry.what, entry.environment, entry.release, entry.version, entry.digest,
                    entry.before, entry.by, entry.text, chain.uid, entry.hash});
  });
  return csv(rows);
}

/// A note for each chain; whether all are whole.
bool verify_all(const std::vector<Chain>& chains, std::vector<std::string>& notes) {
  bool is_whole = true;
  for (const Chain& chain : chains) {
    const Verified found = verify(chain);
    is_whole = is_whole && found.is_whole();
    if (!found.is_whole()) {
      notes.push_back(fmt::format("broken: the log of {} (uid {}): {}", chain.pipeline, chain.uid, found.fault));
      continue;
    }
    const std::string from = found.first_segment == 0
                                 ? "from its beginning"
                                 : fmt::format("from segment {} on, older ones were pruned", found.first_segment);
    notes.push_back(fmt::format("whole: {} entries of {} (uid {}) {}, last hash {}", found.entries, chain.pipeline, chain.uid,
                                from, found.last_hash));
  }
  return is_whole;
}

Result<HistoryQuery> query_of(const CommandCall& call) {
  HistoryQuery query;
  const auto option = [&](const char* name) {
    const auto at = call.options.find(name);
    return at == call.options.end() ? std::string() : at->second;
  };
  query.environment = option("environment");
  if (const std::string since = option("since"); !since.empty()) {
    SLIPWAY_TRY(age, parse_days(since));
    query.since = call.env.clock.now() - age;
  }
  if (const std::string form = option("output"); !form.empty()) query.form = form;
  if (query.form != "table" && query.form != "json" && query.form != "csv") {
    return fail(Reason::BadRequest, fmt::format("-o {}: give table, json or csv", query.form));
  }
  return query;
}

Task<Result<CommandAnswer>> run_history(CommandCall call) {
  if (call.words.size() != 1) co_return fail(Reason::BadRequest, "give the name of one pipeline");
  const std::string name = call.words.front();
  SLIPWAY_CO_TRY(query, query_of(call));
  SLIPWAY_CO_TRY(found, co_await read_chains(*call.client, call.ns, name));
  const std::vector<Chain>& chains = found[name];
  if (chains.empty()) {
    co_return fail(
        Reason::NotFound,
        fmt::format("namespace {} has no log of a pipeline {}: the controller delivery-log writes them", call.ns, name));
  }
  CommandAnswer answer{.text = history_text(chains, query)};
  if (call.options.contains("verify") && !verify_all(chains, answer.notes)) answer.exit_code = kBroken;
  co_return answer;
}

}  // namespace

std::string history_text(const std::vector<Chain>& chains, const HistoryQuery& query) {
  if (query.form == "json") return as_json(chains, query);
  return query.form == "csv" ? as_csv(chains, query) : table(chains, query);
}

Command history_command() {
  return {.verb = "pipeline history",
          .help = "what happened in a pipeline, and who decided it",
          .cluster = Command::Cluster::Always,
          .input = Command::Input::Words,
          .words_name = "NAME",
          .words_help = "name of the pipeline; it may be gone",
          .options = {{"output", "table, json or csv"},
                      {"environment", "only this environment, and what is about none"},
                      {"since", "only what is younger, e.g. 30d or 12h"},
                      {"verify", "check the hash chain; exit code 1 when it is broken", true}},
          .run = run_history,
          .only_reads = true};
}

}  // namespace slipway::delivery::pipeline
