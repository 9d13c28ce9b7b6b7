// run, the actions of families, delete: commands that change something and see it through.
#include <fmt/format.h>

#include <cstdio>
#include <set>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/place.h"
#include "cli/target.h"
#include "client/informer.h"
#include "plane/show.h"
#include "plane/store_view.h"

namespace slipway::cli {
namespace {

Result<DeliverOptions> deliver_options(const Arguments& arguments) {
  DeliverOptions options;
  options.output = arguments.output == "json" ? Output::Json : Output::Table;
  options.approves_all = arguments.approves_all;
  options.place = !arguments.is_elsewhere        ? "--data-dir " + arguments.data_dir
                  : arguments.kubeconfig.empty() ? ""
                                                 : "--kubeconfig " + arguments.kubeconfig;
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

void print_answer(const delivery::CommandAnswer& answer, std::FILE* out = stdout) {
  fmt::print(out, "{}", answer.text);
  for (const std::string& note : answer.notes) fmt::print(stderr, "{}\n", note);
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
  auto deliveries = co_await apply_all(site_of(session.env(), session.server()), std::move(*manifests), arguments.ns);
  if (!deliveries) {
    report(deliveries.error());
    co_return kBadInput;
  }
  co_return co_await follow(session, std::move(*deliveries), *options);
}

Task<int> apply(Session& session, Arguments arguments) {
  auto options = deliver_options(arguments);
  if (!options) co_return report(options.error());
  const auto place = place_of(session, arguments);
  if (!place) co_return report(place.error());
  auto manifests = read_manifests(session.env().files, arguments.files);
  if (!manifests) co_return report(manifests.error());
  const Site site = place->elsewhere ? site_of(session.env(), place->client) : site_of(session.env(), session.server());
  const auto deliveries = co_await apply_all(site, std::move(*manifests), place->ns);
  if (!deliveries) co_return report(deliveries.error());
  for (const Delivery& delivery : *deliveries) {
    fmt::print(options->output == Output::Json ? stderr : stdout, "{}/{} applied\n", lower(delivery.type->kind.kind),
               delivery.key.name);
  }
  if (!arguments.waits) co_return kDelivered;
  options->elsewhere = place->elsewhere;
  co_return co_await follow(session, *deliveries, *options);
}

Task<int> act(Session& session, Arguments arguments) {
  auto options = deliver_options(arguments);
  if (!options) co_return report(options.error());
  auto named = subject_of(arguments.action, arguments.target);
  if (!named) co_return report(named.error());
  const auto place = place_of(session, arguments);
  if (!place) co_return report(place.error());
  const auto subject = co_await find_kind(*place->client, place->ns, std::move(*named));
  if (!subject) co_return report(subject.error());
  const kube::GroupVersionKind& kind = subject->type->kind;
  const delivery::Action* action = plane::find_action(plane::find_row(kind.group, kind.kind), arguments.action);
  std::erase_if(arguments.action_options, [&](const auto& given) { return given.second.empty(); });
  const kube::ObjectKey key{subject->type->is_namespaced ? place->ns : "", subject->name};
  const auto done = co_await action->run({.env = session.env(),
                                          .client = *place->client,
                                          .resource = subject->type->resource,
                                          .key = key,
                                          .part = subject->part,
                                          .options = arguments.action_options,
                                          .say = [&session](const std::string& text) {
                                            fmt::print("{}", text);
                                            std::fflush(stdout);
                                            return !session.is_interrupted();
                                          }});
  if (!done) co_return report(done.error());
  print_answer(*done, done->follows && options->output == Output::Json ? stderr : stdout);
  if (!done->follows || (place->elsewhere && !arguments.waits)) co_return done->exit_code;
  options->elsewhere = place->elsewhere;
  co_return co_await follow(session, {Delivery{subject->type, key}}, *options);
}

Task<int> family_command(Session& session, Arguments arguments) {
  const delivery::Command& command = *arguments.command;
  delivery::CommandCall call{.env = session.env(),
                             .client = nullptr,
                             .ns = arguments.ns.empty() ? "default" : arguments.ns,
                             .words = arguments.target,
                             .objects = {},
                             .options = {},
                             .http = command.calls_out ? session.http() : nullptr};
  std::optional<Place> place;
  if (arguments.has_cluster) {
    auto found = place_of(session, arguments);
    if (!found) co_return report(found.error());
    place = std::move(*found);
    call.client = place->client.get();
    call.ns = place->ns;
  }
  if (command.input == delivery::Command::Input::Files) {
    auto manifests = read_manifests(session.env().files, arguments.files);
    if (!manifests) co_return report(manifests.error());
    call.objects = std::move(*manifests);
  }
  std::erase_if(arguments.action_options, [&](const auto& given) { return given.second.empty(); });
  call.options = arguments.action_options;
  const auto answer = co_await command.run(std::move(call));
  if (!answer) co_return report(answer.error());
  print_answer(*answer);
  co_return answer->exit_code;
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
    if (departure->informer.contains(key)) return true;
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
