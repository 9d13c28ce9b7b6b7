#include "cli/place.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "cli/remote_session.h"
#include "cli/snapshot.h"
#include "cli/target.h"
#include "kube/resource_word.h"
#include "plane/families.h"
#include "plane/store_view.h"

namespace slipway::cli {
namespace {

/// Each goes one object further into other namespaces.
constexpr int kMaxLooks = 10;

/// The kinds that have the verb, as people write them: "say which workflow: slipway rerun workflow/NAME".
Status what_to_act_on(const std::string& verb) {
  std::string kinds;
  std::string forms;
  for (const kube::ResourceType& type : plane::types_with_action(verb)) {
    kinds += (kinds.empty() ? "" : " or ") + type.singular;
    forms += fmt::format("{}slipway {} {}/NAME", forms.empty() ? "" : ", ", verb, type.singular);
  }
  Status status;
  status.reason = Reason::BadRequest;
  status.message = fmt::format("say which {}: {}", kinds, forms);
  return status;
}

/// KIND/NAME or KIND/NAME/PART among what was read.
Result<Found> choose(Place place, std::shared_ptr<Snapshot> view, const std::vector<std::string>& words) {
  SLIPWAY_TRY(target, split_target(words));
  if (target.name.empty()) {
    return fail(Reason::BadRequest, "name what you mean as KIND/NAME, KIND NAME or KIND/NAME/STEP, e.g. workflow/release");
  }
  const auto type = view->find_word(target.kind);
  if (!type && type.error().reason != Reason::NotFound) return fail(type.error());
  if (!type) {
    return fail(Reason::NotFound, fmt::format("slipway knows nothing of the kind \"{}\"; it knows {}", target.kind,
                                              fmt::join(view->words(), ", ")));
  }
  if (const Status* refusal = view->refusal((*type)->kind)) return fail(*refusal);
  for (const kube::Object& object : view->all((*type)->kind)) {
    if (kube::name(object) != target.name) continue;
    return Found{std::move(place), object, target.part, view->all({"", "v1", "Event"}), view, view};
  }
  return fail(kube::not_found((*type)->resource, target.name));
}

/// The kinds that take bare names, in the order of the families.
std::vector<kube::ResourceTypePtr> bare_types(const std::vector<kube::ResourceTypePtr>& types, const std::string& verb) {
  std::vector<kube::ResourceTypePtr> bare;
  std::ranges::copy_if(types, std::back_inserter(bare), [&](const kube::ResourceTypePtr& type) {
    return plane::find_action(plane::find_row(type->kind.group, type->kind.kind), verb)->takes_bare_name;
  });
  return bare;
}

}  // namespace

Result<Place> place_of(Session& session, const Arguments& arguments) {
  if (!arguments.is_elsewhere) {
    const std::shared_ptr<client::Client> here(std::shared_ptr<void>(), &session.server());
    return Place{.client = here, .elsewhere = nullptr, .ns = arguments.ns.empty() ? "default" : arguments.ns, .kubeconfig = ""};
  }
  SLIPWAY_TRY(connection, connection_of(session.env().files, arguments));
  const std::string ns = !arguments.ns.empty() ? arguments.ns : connection.ns.empty() ? "default" : connection.ns;
  const auto client = connect(session, connection);
  return Place{.client = client, .elsewhere = client, .ns = ns, .kubeconfig = arguments.kubeconfig};
}

Task<Result<Found>> find_object(Session& session, Arguments arguments) {
  SLIPWAY_CO_TRY(place, place_of(session, arguments));
  if (place.elsewhere) {
    SLIPWAY_CO_TRY(view, co_await Snapshot::read(*place.elsewhere, place.ns, session.env().clock.now()));
    if (const auto target = split_target(arguments.target); target && !target->name.empty()) {
      SLIPWAY_CO_TRY_VOID(co_await view.add_computed(*place.elsewhere, target->kind, {place.ns, target->name}));
    }
    co_return choose(std::move(place), std::make_shared<Snapshot>(std::move(view)), arguments.target);
  }
  SLIPWAY_CO_TRY(target, find_target(session.server().registry(), arguments.target));
  if (target.name.empty()) co_return fail(Reason::BadRequest, fmt::format("name one: {}/NAME", target.type->singular));
  const kube::ObjectKey key{target.type->is_namespaced ? place.ns : "", target.name};
  SLIPWAY_CO_TRY(object, co_await client::get(*place.client, target.type->resource, key));
  const auto view = std::make_shared<plane::StoreView>(session.server(), session.store(), session.env().clock.now());
  auto events = view->all({"", "v1", "Event"}, std::string(kube::ns(object)));
  co_return Found{std::move(place), std::move(object), target.part, std::move(events), view};
}

Task<Result<void>> look_at(Found found, std::function<void(const control::View& view)> look) {
  look(*found.view);
  std::vector<std::string> notes;
  for (int round = 0; found.snapshot && round < kMaxLooks; ++round) {
    SLIPWAY_CO_TRY(has_read, co_await found.snapshot->read_missed(*found.place.client, notes));
    if (!has_read) break;
    look(*found.view);
  }
  for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", note);
  co_return Result<void>{};
}

Result<std::shared_ptr<client::Client>> find_cluster(Session& session, Place place, std::string cluster) {
  if (cluster.empty()) return place.client;
  if (!place.elsewhere) {
    if (server::Server* server = session.find_server(cluster)) {
      return std::shared_ptr<client::Client>(std::shared_ptr<void>(), server);
    }
  }
  Arguments named;
  named.kubeconfig = place.kubeconfig;
  named.context = cluster;
  if (place.elsewhere) {
    if (const auto connection = connection_of(session.env().files, named)) return connect(session, *connection);
  }
  return fail(Reason::NotFound, fmt::format("cluster {} is no context of the kubeconfig", cluster));
}

Task<Result<ActedOn>> find_kind(client::Client& client, std::string ns, ActedOn subject) {
  std::vector<kube::ResourceTypePtr> all = subject.others;
  if (all.empty()) co_return subject;
  all.insert(all.begin(), subject.type);
  std::vector<kube::ResourceTypePtr> found;
  for (const kube::ResourceTypePtr& type : all) {
    auto object = co_await client::get(client, type->resource, {type->is_namespaced ? ns : "", subject.name});
    if (object) found.push_back(type);
    if (!object && object.error().reason != Reason::NotFound) co_return fail(std::move(object).error());
  }
  if (found.size() > 1) {
    std::vector<std::string> names;
    for (const kube::ResourceTypePtr& type : found) names.push_back(fmt::format("{}/{}", type->singular, subject.name));
    co_return fail(Reason::Conflict, fmt::format("{} means more than one: write {}", subject.name, fmt::join(names, " or ")));
  }
  if (found.empty()) {
    std::vector<std::string> kinds;
    for (const kube::ResourceTypePtr& type : all) kinds.push_back(type->singular);
    co_return fail(Reason::NotFound, fmt::format("no {} is called {}", fmt::join(kinds, " or "), subject.name));
  }
  subject.type = found.front();
  subject.others.clear();
  co_return subject;
}

Result<ActedOn> subject_of(const std::string& verb, const std::vector<std::string>& words) {
  std::vector<kube::ResourceTypePtr> types;
  for (const kube::ResourceType& type : plane::types_with_action(verb)) {
    types.push_back(std::make_shared<kube::ResourceType>(type));
  }
  SLIPWAY_TRY(target, split_target(words));
  if (words.size() == 1 && target.name.empty()) {
    std::vector<kube::ResourceTypePtr> bare = bare_types(types, verb);
    if (bare.empty()) return fail(what_to_act_on(verb));
    ActedOn subject{.type = bare.front(), .name = target.kind, .part = ""};
    subject.others.assign(bare.begin() + 1, bare.end());
    return subject;
  }
  auto type = kube::find_by_word(types, target.kind);
  if (!type && type.error().reason == Reason::NotFound) return fail(what_to_act_on(verb));
  if (!type) return fail(std::move(type).error());
  if (target.name.empty()) return fail(what_to_act_on(verb));
  return ActedOn{.type = *type, .name = target.name, .part = target.part};
}

}  // namespace slipway::cli
