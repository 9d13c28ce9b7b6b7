#include "plane/families.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "cluster/admission.h"
#include "cluster/cluster.h"
#include "cluster/explain.h"
#include "delivery/application/family.h"
#include "delivery/jobflow/family.h"
#include "delivery/package/family.h"
#include "delivery/pipeline/family.h"
#include "delivery/rollout/family.h"
#include "kube/builtin.h"
#include "server/create_check.h"

namespace slipway::plane {
namespace {

using Row = const delivery::Family& (*)();

/// Every family, in no order that means anything.
constexpr Row kFamilies[] = {delivery::jobflow::family, delivery::application::family, delivery::rollout::family,
                             delivery::pipeline::family, delivery::package::family};

const kube::GroupVersionKind kEventKind{"", "v1", "Event"};

template <class One>
void append(std::vector<One>& to, std::vector<One> rows) {
  to.insert(to.end(), std::make_move_iterator(rows.begin()), std::make_move_iterator(rows.end()));
}

const json::Value& storage_version(const json::Value& spec) {
  for (const json::Value& version : spec["versions"].items()) {
    if (version["storage"].as_bool()) return version;
  }
  return spec["versions"].item(0);
}

std::string or_else(const json::Value& text, std::string otherwise) {
  return text.is_null() ? std::move(otherwise) : text.str();
}

kube::ResourceType type_of(const json::Value& definition) {
  const json::Value& spec = definition["spec"];
  const json::Value& names = spec["names"];
  const std::string version = storage_version(spec)["name"].str();
  kube::ResourceType type;
  type.resource = {spec["group"].str(), version, names["plural"].str()};
  type.kind = {spec["group"].str(), version, names["kind"].str()};
  type.list_kind = or_else(names["listKind"], type.kind.kind + "List");
  type.singular = or_else(names["singular"], lower(type.kind.kind));
  for (const json::Value& name : names["shortNames"].items()) type.short_names.push_back(name.str());
  type.is_namespaced = spec["scope"].as_string() == "Namespaced";
  type.is_custom = true;
  return type;
}

std::vector<kube::ResourceType> types_of(const std::vector<json::Value>& definitions) {
  std::vector<kube::ResourceType> types;
  types.reserve(definitions.size());
  for (const json::Value& definition : definitions) types.push_back(type_of(definition));
  return types;
}

/// Of the one family that has plans.
delivery::CheckPlan check_plan(Families of) {
  const auto found = std::ranges::find_if(of, [](const delivery::Family* family) { return bool(family->check_plan); });
  return found == of.end() ? delivery::CheckPlan() : (*found)->check_plan;
}

}  // namespace

Families families() {
  static const auto all = [] {
    std::array<const delivery::Family*, std::size(kFamilies)> rows{};
    std::ranges::transform(kFamilies, rows.begin(), [](Row row) { return &row(); });
    return rows;
  }();
  return all;
}

std::vector<kube::AdmissionRow> admission_rows(Families of, delivery::OnFault on_fault,
                                               const std::map<std::string, std::string>& options) {
  std::vector<kube::AdmissionRow> rows = cluster::admission_rows();
  const delivery::AdmissionContext context{
      .create_check = [](const kube::GroupVersionKind& kind) { return server::CreateCheck(kind); },
      .on_fault = on_fault,
      .options = options,
      .check_plan = check_plan(of)};
  for (const delivery::Family* family : of) {
    if (family->admission) append(rows, family->admission(context));
  }
  return rows;
}

std::vector<control::ExplainRow> explain_rows(Families of) {
  std::vector<control::ExplainRow> rows = cluster::explain_rows();
  for (const delivery::Family* family : of) {
    if (family->explain) append(rows, family->explain());
  }
  return rows;
}

std::vector<json::Value> custom_resource_definitions(Families of) {
  std::vector<json::Value> definitions;
  for (const delivery::Family* family : of) append(definitions, family->definitions);
  return definitions;
}

std::vector<client::AnsweredKind> answered_kinds(Families of) {
  std::vector<client::AnsweredKind> kinds;
  for (const delivery::Family* family : of) append(kinds, family->answered);
  return kinds;
}

std::vector<client::UnservedVersion> unserved_versions(Families of) {
  std::vector<client::UnservedVersion> versions;
  for (const delivery::Family* family : of) append(versions, family->unserved);
  return versions;
}

std::vector<client::HttpPath> http_paths(Families of) {
  std::vector<client::HttpPath> paths;
  for (const delivery::Family* family : of) {
    if (family->paths) append(paths, family->paths());
  }
  return paths;
}

std::vector<std::string> own_groups(Families of) {
  std::set<std::string> groups;
  for (const delivery::Family* family : of) groups.insert(family->groups.begin(), family->groups.end());
  return {groups.begin(), groups.end()};
}

std::vector<std::string> guarded_groups(Families of) {
  std::set<std::string> groups;
  for (const delivery::Family* family : of) groups.insert(family->guarded_groups.begin(), family->guarded_groups.end());
  return {groups.begin(), groups.end()};
}

std::vector<kube::ResourceType> defined_types(Families of) { return types_of(custom_resource_definitions(of)); }

std::vector<kube::ResourceType> own_types(Families of) {
  std::vector<kube::ResourceType> types = defined_types(of);
  for (const client::AnsweredKind& kind : answered_kinds(of)) types.push_back(kind.type);
  return types;
}

std::shared_ptr<const kube::ResourceType> find_type(std::string_view group, std::string_view kind, Families of) {
  const auto is_it = [&](const kube::ResourceType& type) { return type.kind.group == group && type.kind.kind == kind; };
  const auto own = own_types(of);
  const auto of_cluster = types_of(cluster::cluster_definitions());
  for (const auto* types : {&own, &kube::builtin_types(), &of_cluster}) {
    if (const auto found = std::ranges::find_if(*types, is_it); found != types->end()) {
      return std::make_shared<const kube::ResourceType>(*found);
    }
  }
  return nullptr;
}

std::vector<kube::GroupVersionKind> followed_kinds(Families of) {
  std::set<kube::GroupVersionKind> kinds{kEventKind};
  for (const control::ExplainRow& row : explain_rows(of)) {
    if (const auto type = find_type(row.group, row.kind, of)) kinds.insert(type->kind);
  }
  for (const kube::ResourceType& type : own_types(of)) kinds.insert(type.kind);
  for (const delivery::Family* family : of) kinds.insert(family->follows.begin(), family->follows.end());
  return {kinds.begin(), kinds.end()};
}

std::vector<kube::GroupVersionKind> foreign_kinds(Families of) {
  std::set<kube::GroupVersionKind> kinds;
  const auto add = [&](const std::string& group, const std::string& kind) {
    if (!find_type(group, kind, of)) kinds.insert({group, "", kind});
  };
  for (const control::ExplainRow& row : explain_rows(of)) add(row.group, row.kind);
  for (const delivery::Family* family : of) {
    for (const delivery::KindRow& row : family->kinds) {
      if (row.describe) add(row.group, row.kind);
    }
  }
  return {kinds.begin(), kinds.end()};
}

const delivery::KindRow* find_row(std::string_view group, std::string_view kind, Families of) {
  for (const delivery::Family* family : of) {
    const auto at = std::ranges::find_if(family->kinds,
                                         [&](const delivery::KindRow& row) { return row.group == group && row.kind == kind; });
    if (at != family->kinds.end()) return &*at;
  }
  return nullptr;
}

bool is_named_by_others(const kube::Object& object, Families of) {
  const auto kind = kube::GroupVersionKind::of(object);
  return kind && std::ranges::any_of(of, [&](const delivery::Family* family) {
           return std::ranges::any_of(family->named_by_others, [&](const kube::GroupVersionKind& one) {
             return one.group == kind->group && one.kind == kind->kind;
           });
         });
}

const delivery::KindRow* find_row(const kube::Object& object, Families of) {
  const auto kind = kube::GroupVersionKind::of(object);
  return kind ? find_row(kind->group, kind->kind, of) : nullptr;
}

std::vector<delivery::Action> actions(Families of) {
  std::vector<delivery::Action> all;
  for (const delivery::Family* family : of) {
    for (const delivery::KindRow& row : family->kinds) {
      for (const delivery::Action& action : row.actions) {
        const auto known = std::ranges::find(all, action.verb, &delivery::Action::verb);
        if (known == all.end()) {
          all.push_back(action);
          continue;
        }
        for (const delivery::CommandOption& option : action.options) {
          const bool is_new =
              std::ranges::find(known->options, option.name, &delivery::CommandOption::name) == known->options.end();
          if (is_new) known->options.push_back(option);
        }
      }
    }
  }
  return all;
}

std::vector<kube::ResourceType> types_with_action(std::string_view verb, Families of) {
  std::vector<kube::ResourceType> types = own_types(of);
  std::erase_if(types, [&](const kube::ResourceType& type) {
    return find_action(find_row(type.kind.group, type.kind.kind, of), verb) == nullptr;
  });
  return types;
}

std::vector<delivery::Command> commands(Families of) {
  std::vector<delivery::Command> all;
  for (const delivery::Family* family : of) append(all, family->commands);
  return all;
}

std::vector<delivery::SourceForm> source_forms(Families of) {
  std::vector<delivery::SourceForm> all;
  for (const delivery::Family* family : of) append(all, family->source_forms);
  return all;
}

std::vector<delivery::CommandOption> controller_options(Families of) {
  std::vector<delivery::CommandOption> all;
  for (const delivery::Family* family : of) append(all, family->controller_options);
  return all;
}

Result<void> check_options(const std::map<std::string, std::string>& options, Families of) {
  for (const delivery::Family* family : of) {
    if (family->check_options) SLIPWAY_TRY_VOID(family->check_options(options));
  }
  return {};
}

const delivery::Action* find_action(const delivery::KindRow* row, std::string_view verb) {
  if (row == nullptr) return nullptr;
  const auto at = std::ranges::find(row->actions, verb, &delivery::Action::verb);
  return at == row->actions.end() ? nullptr : &*at;
}

}  // namespace slipway::plane
