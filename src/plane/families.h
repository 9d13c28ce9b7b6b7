// The families that this program has, and what follows from their rows (delivery/family.h): lookups by group and kind, and the
// tables that server, controllers and command line are made with. Every function takes the list, so that a test can add a
// family of its own; the program's list is families().
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/explain.h"
#include "delivery/family.h"
#include "kube/admission.h"
#include "kube/resource.h"

namespace slipway::plane {

using Families = std::span<const delivery::Family* const>;

/// `kFamilies` in families.cc, which is the only list of them.
Families families();

/// Admission rows of the built-in kinds and of all families.
std::vector<kube::AdmissionRow> admission_rows(Families of = families(), delivery::OnFault on_fault = delivery::OnFault::Refuse,
                                               const std::map<std::string, std::string>& options = {});
/// Explain rows of the built-in kinds and of all families, made anew.
std::vector<control::ExplainRow> explain_rows(Families of = families());
/// CustomResourceDefinition objects of all families, as in crds/.
std::vector<json::Value> custom_resource_definitions(Families of = families());
/// Kinds and paths that functions of the families answer. What paths remember between calls is made with them.
std::vector<client::AnsweredKind> answered_kinds(Families of = families());
std::vector<client::UnservedVersion> unserved_versions(Families of = families());
std::vector<client::HttpPath> http_paths(Families of = families());
/// API groups that are the families' own, each once, in order.
std::vector<std::string> own_groups(Families of = families());
/// Likewise those whose objects are rights that the role edit does not give.
std::vector<std::string> guarded_groups(Families of = families());

/// One version of each kind that the families define: that in which objects are stored. Names and scope only; no schema.
std::vector<kube::ResourceType> defined_types(Families of = families());
/// Those, and the kinds that functions of the families answer.
std::vector<kube::ResourceType> own_types(Families of = families());
/// The kinds that descriptions and explain rows may look at: those with explain rows, the families' own, what these follow,
/// and events. Each once, in order of group and kind.
std::vector<kube::GroupVersionKind> followed_kinds(Families of = families());
/// Kinds of others that descriptions and explain rows are for, and whose versions only a cluster knows, such as HelmRelease:
/// group and kind, no version.
std::vector<kube::GroupVersionKind> foreign_kinds(Families of = families());
/// Names of a kind: of a family's, a built-in one, or one that our own clusters have (cluster_definitions()). Null when it is
/// none of them.
std::shared_ptr<const kube::ResourceType> find_type(std::string_view group, std::string_view kind, Families of = families());

/// Whether objects of files may name this one, and so must come after it (Family::named_by_others).
bool is_named_by_others(const kube::Object& object, Families of = families());

/// The row of an object's kind, or of a kind. Null when no family has one.
const delivery::KindRow* find_row(const kube::Object& object, Families of = families());
const delivery::KindRow* find_row(std::string_view group, std::string_view kind, Families of = families());

/// The verbs that families offer, each once, with the options of all: what the command line adds to its commands.
std::vector<delivery::Action> actions(Families of = families());
/// The kinds that have the action `verb`, by their names.
std::vector<kube::ResourceType> types_with_action(std::string_view verb, Families of = families());
/// The verbs of families that are not about one object, and the forms of files that they read.
std::vector<delivery::Command> commands(Families of = families());
std::vector<delivery::SourceForm> source_forms(Families of = families());
/// Those of the commands that run the families' controllers, and whether what was given of them can be used: BadRequest.
std::vector<delivery::CommandOption> controller_options(Families of = families());
Result<void> check_options(const std::map<std::string, std::string>& options, Families of = families());
/// The action `verb` of the row; null when it has none of that name, or is null itself.
const delivery::Action* find_action(const delivery::KindRow* row, std::string_view verb);

}  // namespace slipway::plane
