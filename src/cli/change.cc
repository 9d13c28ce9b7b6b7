// run, rerun, delete: commands that change something and see it through.
#include <fmt/format.h>

#include <cstdio>
#include <set>

#include "cli/commands.h"
#include "cli/target.h"
#include "client/informer.h"
#include "plane/store_view.h"

namespace slipway::cli {
namespace {

Result<DeliverOptions> deliver_options(const Arguments& arguments) {
  DeliverOptions options;
  options.output = arguments.output == "json" ? Output::Json : Output::Table;
  if (arguments.timeout.empty()) return options;
  SLIPWAY_TRY(timeout, parse_duration(arguments.timeout));
  if (timeout <= Duration{0}) return fail(Reason::BadRequest, "--timeout must be more than 0");
  options.timeout = timeout;
  return options;
}

/// Whether the object of a target is gone, told by an informer that the session keeps.
struct Departure {
  Departure(Session& session, const kube::Resource& resource)
      : informer(session.env(), session.server(), resource), tasks(session.env()), changed(session.env()) {
    informer.add_handler([this](const kube::Object&, const kube::Object&) { changed.notify(); });
    tasks.spawn(informer.run());
  }
  client::Informer informer;
  Tasks tasks;
  Signal changed;
};

/// Whether anything is owned by one of `uids`; the owned ones join them, so that what they own is found as well.
bool owns_something(const plane::StoreView& view, const server::Registry& registry, std::set<std::string>& uids) {
  bool is_found = false;
  for (const server::TypePtr& type : registry.all()) {
    for (const kube::Object& object : view.all(type->kind, "")) {
      for (const json::Value& owner : object["metadata"]["ownerReferences"].items()) {
        if (!uids.contains(owner["uid"].str())) continue;
        uids.insert(std::string(kube::uid(object)));
        is_found = true;
      }
    }
  }
  return is_found;
}

std::string cascade_of(const std::string& cascade) {
  if (cascade == "foreground") return "Foreground";
  return cascade == "orphan" ? "Orphan" : "Background";
}

}  // namespace

Task<int> run(Session& session, Arguments arguments) {
  const auto options = deliver_options(arguments);
  if (!options) co_return report(options.error());
  auto manifests = read_manifests(session.env().files, arguments.files);
  if (!manifests) co_return report(manifests.error());
  auto deliveries = co_await apply_all(session, std::move(*manifests), arguments.ns);
  if (!deliveries) {
    report(deliveries.error());
    co_return kBadInput;
  }
  co_return co_await follow(session, std::move(*deliveries), *options);
}

Task<int> rerun(Session& session, Arguments arguments) {
  const auto options = deliver_options(arguments);
  if (!options) co_return report(options.error());
  const auto target = find_target(session.server().registry(), arguments.target);
  if (!target) co_return report(target.error());
  const std::string from = arguments.from.empty() ? target->part : arguments.from;
  if (target->type->kind.kind != "Workflow" || target->name.empty()) {
    Status status;
    status.reason = Reason::BadRequest;
    status.message = "say which workflow: slipway rerun workflow/NAME [--from STEP]";
    co_return report(status);
  }
  const kube::ObjectKey key{arguments.ns, target->name};
  // Null takes away the `from` of a rerun before: without one, all steps run again.
  const json::Value step = from.empty() ? json::Value() : json::Value(from);
  const json::Value patch = json::object(
      {{"spec", json::object({{"rerun", json::object({{"id", name_suffix(session.env().random)}, {"from", step}})}})}});
  const auto patched = co_await client::merge_patch(session.server(), target->type->resource, key, patch, "slipway-rerun");
  if (!patched) co_return report(patched.error());
  co_return co_await follow(session, {Delivery{target->type, key}}, *options);
}

Task<int> remove(Session& session, Arguments arguments) {
  const auto target = find_target(session.server().registry(), arguments.target);
  if (!target) co_return report(target.error());
  if (target->name.empty() || !target->part.empty()) {
    Status status;
    status.reason = Reason::BadRequest;
    status.message = fmt::format("say which object: slipway delete {}/NAME", target->type->singular);
    co_return report(status);
  }
  const kube::ObjectKey key{target->type->is_namespaced ? arguments.ns : "", target->name};
  client::DeleteQuery query;
  query.propagation = cascade_of(arguments.cascade);
  const auto present = co_await client::get(session.server(), target->type->resource, key);
  if (!present) co_return report(present.error());
  const auto removed = co_await client::remove(session.server(), target->type->resource, key, query);
  if (!removed) co_return report(removed.error());
  auto departure = std::make_shared<Departure>(session, target->type->resource);
  session.hold(departure);
  session.start_controllers();
  co_await departure->informer.wait_synced();
  std::set<std::string> uids{std::string(kube::uid(*present))};
  const auto is_left = [&] {
    if (departure->informer.find(key) != nullptr) return true;
    const plane::StoreView view(session.server(), session.store(), session.env().clock.now());
    return arguments.cascade != "orphan" && owns_something(view, session.server().registry(), uids);
  };
  while (is_left() && !session.is_interrupted()) {
    co_await departure->changed.wait_until(session.env().clock.steady() + std::chrono::milliseconds{50});
  }
  if (session.is_interrupted()) co_return kInterrupted;
  fmt::print("{} \"{}\" deleted\n", target->type->resource.group_resource(), target->name);
  co_return kDelivered;
}

}  // namespace slipway::cli
