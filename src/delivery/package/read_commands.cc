// list (also get), inbox, why.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "delivery/family/kind_mapper.h"
#include "delivery/package/commands.h"
#include "delivery/package/explain.h"
#include "delivery/package/kind.h"
#include "delivery/package/kinds.h"
#include "delivery/package/output.h"
#include "delivery/package/show.h"
#include "delivery/probe/zone.h"
#include "json/text.h"
#include "kube/table.h"

namespace slipway::delivery::package {
namespace {

using json::Value;

/// Options that become field selectors, as Porch's client has them.
std::string field_selector(const CommandCall& call) {
  constexpr std::pair<const char*, const char*> kFields[] = {{"name", "spec.packageName"},
                                                             {"repository", "spec.repository"},
                                                             {"workspace", "spec.workspaceName"},
                                                             {"revision", "spec.revision"},
                                                             {"lifecycle", "spec.lifecycle"}};
  std::string made;
  for (const auto& [name, field] : kFields) {
    if (!option(call, name).empty()) made += fmt::format("{}{}={}", made.empty() ? "" : ",", field, option(call, name));
  }
  return made;
}

Task<Result<std::vector<ShownRevision>>> listed(CommandCall call) {
  std::vector<ShownRevision> all;
  if (call.words.empty()) {
    const std::string ns = has_flag(call, "all-namespaces") ? "" : call.ns;
    co_return co_await fetch_revisions(*call.client, ns, field_selector(call), option(call, "selector"));
  }
  for (const std::string& word : call.words) {
    SLIPWAY_CO_TRY(one, co_await fetch_revision(*call.client, call.ns, plain_name(word)));
    all.push_back(std::move(one));
  }
  co_return all;
}

std::string names_text(const std::vector<kube::Object>& objects) {
  std::string text;
  for (const kube::Object& one : objects) text += fmt::format("{}/{}\n", kRevisions.group_resource(), kube::name(one));
  return text;
}

Task<Result<CommandAnswer>> list(CommandCall call) {
  SLIPWAY_CO_TRY_VOID(check_output(call, {"table", "wide", "json", "yaml", "name"}));
  const std::string form = option(call, "output");
  const bool is_one = call.words.size() == 1;
  const bool is_everywhere = has_flag(call, "all-namespaces");
  const Time now = call.env.clock.now();
  const std::string ns = call.ns;
  SLIPWAY_CO_TRY(revisions, co_await listed(call));
  std::vector<kube::Object> objects;
  objects.reserve(revisions.size());
  for (const ShownRevision& one : revisions) objects.push_back(one.object);
  if (const auto chosen = chosen_output(call, objects)) co_return CommandAnswer{.text = *chosen};
  if (form == "name") co_return CommandAnswer{.text = names_text(objects)};
  if (form == "json" || form == "yaml") {
    const Value whole =
        is_one
            ? objects.front()
            : json::object({{"apiVersion", "v1"}, {"kind", "List"}, {"items", json::array(std::span<const Value>(objects))}});
    co_return CommandAnswer{.text = form == "json" ? json::print_pretty(whole) + "\n" : json::print_yaml(whole)};
  }
  if (objects.empty()) {
    co_return CommandAnswer{
        .notes = {is_everywhere ? std::string("no revisions found") : fmt::format("no revisions found in namespace {}", ns)}};
  }
  kube::TableStyle style;
  style.is_wide = form == "wide";
  style.has_namespace = is_everywhere;
  kube::ResourceType type = revision_type();
  type.is_custom = true;  // names come first
  co_return CommandAnswer{.text = kube::print_table(kube::make_table(type, objects, now), style)};
}

Task<Result<CommandAnswer>> inbox(CommandCall call) {
  const std::string owner = option(call, "owner");
  const std::string ns = has_flag(call, "all-namespaces") ? "" : call.ns;
  SLIPWAY_CO_TRY(revisions, co_await fetch_revisions(*call.client, ns, "", option(call, "selector")));
  const std::string text = inbox_table(revisions, owner, call.env.clock.now());
  if (!text.empty()) co_return CommandAnswer{.text = text};
  co_return CommandAnswer{
      .notes = {owner.empty() ? std::string("nothing waits for anybody") : fmt::format("nothing waits for {}", owner)}};
}

/// What was fetched for one explanation.
class Fetched : public control::View {
 public:
  explicit Fetched(Time now) : now_(now) {}
  void add(Value object) { objects_.push_back(std::move(object)); }

  Value find(const Value& reference) const override {
    const auto kind = kube::GroupVersionKind::of(reference);
    for (const Value& one : objects_) {
      const auto its = kube::GroupVersionKind::of(one);
      if (!kind || !its || its->group != kind->group || its->kind != kind->kind) continue;
      if (kube::name(one) == reference["name"].as_string()) return one;
    }
    return {};
  }
  std::vector<Value> owned_by(const Value&, const kube::GroupVersionKind&) const override { return {}; }
  Time now() const override { return now_; }

 private:
  std::vector<Value> objects_;
  Time now_;
};

/// An object that is not there, or that the user may not see, is not told of.
Task<> fetch_into(Fetched& view, client::Client& client, kube::Resource resource, kube::GroupVersionKind kind, std::string ns,
                  std::string name) {
  const auto found = co_await client::get(client, resource, kube::ObjectKey{ns, name});
  if (found) view.add(found->with("apiVersion", kind.api_version()).with("kind", kind.kind));
}

/// The objects that its gates and conditions speak of.
Task<> fetch_around(Fetched& view, client::Client& client, ShownRevision revision) {
  const std::string ns(kube::ns(revision.object));
  KindMapper mapper;
  for (const ReadinessGate& gate : revision.spec.gates) {
    const Value reference = object_of_condition(gate.type);
    const auto kind = kube::GroupVersionKind::of(reference);
    if (kind) {
      const auto mapped = co_await mapper.find(client, "", *kind);
      const std::string name = reference["name"].str();
      if (mapped) {
        co_await fetch_into(view, client, mapped->resource, mapped->kind, mapped->is_namespaced ? ns : "", name);
      }
    }
    for (const std::string& source : gate.sources) {
      const std::string name = source.substr(std::min(source.find(':') + 1, source.size()));
      if (source.starts_with("variant:")) co_await fetch_into(view, client, kVariants, kVariantKind, ns, name);
      if (source.starts_with("rollout:")) co_await fetch_into(view, client, kRollouts, kRolloutKind, ns, name);
      if (source.starts_with("policy:")) co_await fetch_into(view, client, kApprovalPolicies, kApprovalPolicyKind, ns, name);
    }
  }
}

/// What its policies wait for; nothing where the user may not list policies or revisions.
Task<std::vector<control::Wait>> waits_of_policies(CommandCall call, ShownRevision revision) {
  const bool is_proposal = revision.lifecycle() == Lifecycle::Proposed || revision.lifecycle() == Lifecycle::DeletionProposed;
  client::ListQuery query;
  query.ns = kube::ns(revision.object);
  const auto list = is_proposal ? co_await client::list(*call.client, kApprovalPolicies, query) : Result<Value>(Value());
  if (!list) co_return std::vector<control::Wait>{};
  const auto items = (*list)["items"].items();
  PolicySight sight{.now = call.env.clock.now()};
  for (const Value& policy : items) {
    for (const Value& window : policy["spec"]["windows"].items()) {
      const std::string name = window["timeZone"].str();
      if (auto zone = probe::load_zone(call.env.files, name)) sight.zones.emplace(name, *std::move(zone));
    }
  }
  const std::string fields =
      fmt::format("spec.repository={},spec.packageName={}", revision.spec.repository, revision.spec.package_name);
  const auto all = co_await fetch_revisions(*call.client, query.ns, fields, "");
  sight.has_published = all && std::ranges::any_of(*all, [&](const ShownRevision& one) {
                          return is_published(one.lifecycle()) && one.spec.revision > 0 && one.name() != revision.name();
                        });
  co_return policy_waits(revision, {items.begin(), items.end()}, sight);
}

Task<Result<CommandAnswer>> why(CommandCall call) {
  SLIPWAY_CO_TRY(words, words_of(call, 1, "pkg why REVISION"));
  SLIPWAY_CO_TRY(revision, co_await fetch_revision(*call.client, call.ns, plain_name(words[0])));
  Fetched view(call.env.clock.now());
  view.add(revision.object);
  co_await fetch_around(view, *call.client, revision);
  auto told = control::explain(explain_rows(), revision.object, "", view);
  for (control::Wait& one : co_await waits_of_policies(call, revision))
    told.push_back({.wait = std::move(one), .because = {}, .cut = {}});
  std::string text = revision_summary(revision.object, view);
  text = text.substr(0, text.find('\n') + 1);
  text += told.empty() ? std::string("it waits for nothing\n") : control::print(told, view.now());
  co_return CommandAnswer{.text = text};
}

}  // namespace

std::vector<Command> reading_commands() {
  const std::vector<CommandOption> options{
      {.name = "output", .help = "table, wide, json, yaml, name, custom-columns=NAME:.path,… or jsonpath=…"},
      {.name = "name", .help = "only revisions of this package"},
      {.name = "repository", .help = "only of this Repository"},
      {.name = "workspace", .help = "only of this workspace"},
      {.name = "revision", .help = "only with this number"},
      {.name = "lifecycle", .help = "only Draft, Proposed, Published or DeletionProposed"},
      {.name = "selector", .help = "-l: only with these labels"},
      {.name = "all-namespaces", .help = "of all namespaces", .is_flag = true}};
  const auto listing = [&](const char* verb, const char* help) {
    return looking({.verb = verb, .help = help, .words_name = "[REVISION]", .words_help = "only these", .options = options},
                   list);
  };
  return {listing("pkg list", "list revisions"), listing("pkg get", "list revisions, or show some"),
          looking({.verb = "pkg inbox",
                   .help = "list what revisions wait for, by who has to see to it",
                   .options = {{.name = "owner", .help = "only what waits for this person or group"},
                               {.name = "selector", .help = "-l: only revisions with these labels"},
                               {.name = "all-namespaces", .help = "of all namespaces", .is_flag = true}}},
                  inbox),
          looking({.verb = "pkg why",
                   .help = "say why a revision is not published: gate, condition, owner, object",
                   .words_name = "REVISION",
                   .words_help = "the revision"},
                  why)};
}

}  // namespace slipway::delivery::package
