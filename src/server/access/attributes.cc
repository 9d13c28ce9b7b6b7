#include "server/access/attributes.h"

#include <fmt/format.h>

#include "json/quoted.h"
#include "json/text.h"
#include "kube/selector.h"
#include "server/builtin/strategy.h"

namespace slipway::server {

using json::quoted;

namespace {

/// The name that a list or watch is limited to by a field selector metadata.name=x, or "". A selector that cannot be read, or
/// a value that cannot stand in a path, names nothing.
std::string selected_name(std::string_view selector) {
  if (selector.empty()) return {};
  const auto fields = kube::FieldSelector::parse(selector);
  std::string name = fields ? fields->demanded("metadata.name").value_or("") : "";
  return path_segment_faults(name).empty() ? name : "";
}

std::string action_text(const kube::UserInfo& user, const Attributes& what) {
  if (!what.is_resource()) return fmt::format("User {} cannot {} path {}", quoted(user.name), what.verb, quoted(what.path));
  const std::string resource = what.subresource.empty() ? what.resource : what.resource + "/" + what.subresource;
  const std::string where = what.ns.empty() ? "at the cluster scope" : "in the namespace " + quoted(what.ns);
  return fmt::format("User {} cannot {} resource {} in API group {} {}", quoted(user.name), what.verb, quoted(resource),
                     quoted(what.group), where);
}

}  // namespace

Attributes Attributes::of(const client::Request& request) {
  Attributes made{.verb = std::string(client::to_string(request.verb)),
                  .group = request.resource.group,
                  .version = request.resource.version,
                  .resource = request.resource.plural,
                  .subresource = request.subresource,
                  .ns = request.ns,
                  .name = request.name};
  const bool may_select = request.verb == client::Verb::List || request.verb == client::Verb::Watch;
  if (may_select && made.name.empty()) made.name = selected_name(request.field_selector);
  // Of a create the URL has no name, whatever the request of a client in process says.
  if (request.verb == client::Verb::Create && request.subresource.empty()) made.name.clear();
  if (made.group.empty() && made.resource == "namespaces") made.ns = request.name;
  return made;
}

Attributes Attributes::of_path(std::string_view verb, std::string_view path) {
  return {.verb = std::string(verb), .path = std::string(path)};
}

Status forbidden_because(const kube::Resource& resource, std::string_view name, std::string_view why) {
  Status status;
  status.reason = Reason::Forbidden;
  status.name = std::string(name);
  status.group = resource.group;
  status.kind = resource.plural;
  if (resource.plural.empty()) {
    status.message = fmt::format("forbidden: {}", why);
  } else if (name.empty()) {
    status.message = fmt::format("{} is forbidden: {}", resource.group_resource(), why);
  } else {
    status.message = fmt::format("{} {} is forbidden: {}", resource.group_resource(), quoted(name), why);
  }
  return status;
}

Status forbidden(const kube::UserInfo& user, const Attributes& attributes, std::string_view reason) {
  std::string why = action_text(user, attributes);
  if (!reason.empty()) why += fmt::format(": {}", reason);
  return forbidden_because({attributes.group, attributes.version, attributes.resource}, attributes.name, why);
}

}  // namespace slipway::server
