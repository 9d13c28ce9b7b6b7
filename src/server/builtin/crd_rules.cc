#include "server/builtin/crd_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "base/text.h"
#include "json/text.h"
#include "kube/names.h"
#include "server/schema_cache.h"

namespace slipway::server {

namespace {

using json::Value;
using kube::Object;

constexpr std::size_t kMostSelectableFields = 8;
constexpr std::size_t kMostWarningCharacters = 256;

std::string version_path(std::size_t index, std::string_view rest) { return fmt::format("spec.versions[{}]{}", index, rest); }

void text_causes(const kube::Faults& faults, std::string path, const Value& value, std::vector<Cause>& causes) {
  for (const std::string& fault : faults) causes.push_back(field::invalid(path, json::print(value), fault));
}

void names_causes(const Object& crd, std::vector<Cause>& causes) {
  const Value& names = crd["spec"]["names"];
  for (const char* key : {"plural", "singular"}) {
    const Value& word = names[key];
    if (word.as_string().empty()) {
      causes.push_back(field::required(fmt::format("spec.names.{}", key)));
    } else {
      text_causes(kube::dns1035_label_faults(word.as_string()), fmt::format("spec.names.{}", key), word, causes);
    }
  }
  for (const char* key : {"kind", "listKind"}) {
    const Value& word = names[key];
    const std::string path = fmt::format("spec.names.{}", key);
    if (word.as_string().empty()) {
      causes.push_back(field::required(path));
      continue;
    }
    for (const std::string& fault : kube::dns1035_label_faults(lower(word.as_string()))) {
      causes.push_back(field::invalid(path, json::print(word), "may have mixed case, but should otherwise match: " + fault));
    }
  }
  if (!names["kind"].as_string().empty() && names["kind"] == names["listKind"]) {
    causes.push_back(
        field::invalid("spec.names.listKind", json::print(names["listKind"]), "kind and listKind may not be the same"));
  }
  for (const char* key : {"shortNames", "categories"}) {
    for (std::size_t i = 0; i < names[key].size(); ++i) {
      const Value& word = names[key].item(i);
      text_causes(kube::dns1035_label_faults(word.as_string()), fmt::format("spec.names.{}[{}]", key, i), word, causes);
    }
  }
}

void head_causes(const Object& crd, std::vector<Cause>& causes) {
  const Value& spec = crd["spec"];
  const std::string_view group = spec["group"].as_string();
  if (kube::name(crd) != fmt::format("{}.{}", spec["names"]["plural"].as_string(), group)) {
    causes.push_back(
        field::invalid("metadata.name", json::print(crd["metadata"]["name"]), "must be spec.names.plural+\".\"+spec.group"));
  }
  if (group.empty()) {
    causes.push_back(field::required("spec.group"));
  } else {
    text_causes(kube::dns1123_subdomain_faults(group), "spec.group", spec["group"], causes);
    if (group.find('.') == std::string_view::npos) {
      causes.push_back(field::invalid("spec.group", json::print(spec["group"]), "should be a domain with at least one dot"));
    }
  }
  const std::string_view scope = spec["scope"].as_string();
  if (scope.empty()) {
    causes.push_back(field::required("spec.scope"));
  } else if (scope != "Cluster" && scope != "Namespaced") {
    causes.push_back(field::not_supported("spec.scope", json::print(spec["scope"]), {"Cluster", "Namespaced"}));
  }
  // DIVERGES: no conversion webhooks yet.
  if (const Value& strategy = spec["conversion"]["strategy"]; strategy.as_string() != "None") {
    causes.push_back(field::not_supported("spec.conversion.strategy", json::print(strategy), {"None"}));
  }
  if (spec["preserveUnknownFields"].as_bool()) {
    causes.push_back(field::invalid("spec.preserveUnknownFields", "true",
                                    "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                                    "spec.versions[*].schema instead"));
  }
}

/// A path of names behind dots; `path` is where it stands.
bool is_simple_path(const Value& text, const std::string& path, std::vector<Cause>& causes) {
  const std::string_view json_path = text.as_string();
  if (json_path.starts_with('.')) return true;
  causes.push_back(field::invalid(path, json::print(text),
                                  json_path.empty() ? "must not be empty" : "must be a simple json path starting with ."));
  return false;
}

void warning_causes(const Value& version, std::size_t index, std::vector<Cause>& causes) {
  const Value* warning = version.find("deprecationWarning");
  if (warning == nullptr || warning->is_null()) return;
  const auto refuse = [&](std::string detail) {
    causes.push_back(field::invalid(version_path(index, ".deprecationWarning"), json::print(*warning), std::move(detail)));
  };
  const std::string_view text = warning->as_string();
  if (!version["deprecated"].as_bool()) return refuse("can only be set for deprecated versions");
  if (text.size() > kMostWarningCharacters) refuse("must be <= 256 characters long");
  if (text.empty()) refuse("must not be an empty string");
  const auto odd = std::ranges::find_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (odd != text.end()) {
    refuse(fmt::format("must only contain printable UTF-8 characters; non-printable character found at index {}",
                       odd - text.begin()));
  }
}

void scale_causes(const Value& scale, std::size_t index, std::vector<Cause>& causes) {
  if (!scale.is_object()) return;
  struct Row {
    const char* key;
    bool is_required;
    std::array<std::string_view, 2> below;
    const char* detail;
  };
  static constexpr std::array kRows{
      Row{"specReplicasPath", true, {".spec.", ".spec."}, "should be a json path under .spec"},
      Row{"statusReplicasPath", true, {".status.", ".status."}, "should be a json path under .status"},
      Row{"labelSelectorPath", false, {".status.", ".spec."}, "should be a json path under either .spec or .status"}};
  for (const Row& row : kRows) {
    const std::string path = version_path(index, fmt::format(".subresources.scale.{}", row.key));
    const Value& value = scale[row.key];
    const std::string_view text = value.as_string();
    if (text.empty()) {
      if (row.is_required) causes.push_back(field::required(path));
      continue;
    }
    if (!is_simple_path(value, path, causes)) continue;
    if (text.starts_with(row.below[0]) || text.starts_with(row.below[1])) continue;
    causes.push_back(field::invalid(path, json::print(value), row.detail));
  }
}

void column_causes(const Value& columns, std::size_t index, std::vector<Cause>& causes) {
  constexpr std::array<std::string_view, 5> kTypes{"boolean", "date", "integer", "number", "string"};
  constexpr std::array<std::string_view, 8> kFormats{"byte",  "date",  "date-time", "double",
                                                     "float", "int32", "int64",     "password"};
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Value& column = columns.item(i);
    const auto at = [&](std::string_view key) {
      return version_path(index, fmt::format(".additionalPrinterColumns[{}].{}", i, key));
    };
    if (column["name"].as_string().empty()) causes.push_back(field::required(at("name")));
    constexpr const char* kOneOf = "must be one of boolean,date,integer,number,string";
    if (column["type"].as_string().empty()) {
      causes.push_back(field::required(at("type"), kOneOf));
    } else if (std::ranges::find(kTypes, column["type"].as_string()) == kTypes.end()) {
      causes.push_back(field::invalid(at("type"), json::print(column["type"]), kOneOf));
    }
    const std::string_view format = column["format"].as_string();
    if (!format.empty() && std::ranges::find(kFormats, format) == kFormats.end()) {
      causes.push_back(field::invalid(at("format"), json::print(column["format"]),
                                      "must be one of byte,date,date-time,double,float,int32,int64,password"));
    }
    if (column["jsonPath"].as_string().empty()) {
      causes.push_back(field::required(at("jsonPath")));
    } else {
      is_simple_path(column["jsonPath"], at("jsonPath"), causes);
    }
  }
}

/// The schema a path of plain names leads to; nothing when it leads nowhere.
const Value* schema_at(const Value& schema, std::string_view json_path) {
  const Value* at = &schema;
  while (json_path.starts_with('.')) {
    json_path.remove_prefix(1);
    const std::string_view name = json_path.substr(0, json_path.find('.'));
    at = (*at)["properties"].find(name);
    if (at == nullptr) return nullptr;
    json_path.remove_prefix(name.size());
  }
  return json_path.empty() ? at : nullptr;
}

void selectable_causes(const Value& version, std::size_t index, std::vector<Cause>& causes) {
  const Value& fields = version["selectableFields"];
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const Value& path = fields.item(i)["jsonPath"];
    const std::string at = version_path(index, fmt::format(".selectableFields[{}].jsonPath", i));
    const auto refuse = [&](std::string detail) { causes.push_back(field::invalid(at, json::print(path), std::move(detail))); };
    if (path.as_string().empty()) {
      causes.push_back(field::required(at));
      continue;
    }
    const Value* schema = schema_at(version["schema"]["openAPIV3Schema"], path.as_string());
    if (path.as_string().starts_with(".metadata")) {
      refuse("must not point to fields in metadata");
    } else if (schema == nullptr || !path.as_string().starts_with('.')) {
      refuse(fmt::format("is an invalid path: does not refer to a valid field"));
    } else if (const std::string_view type = (*schema)["type"].as_string();
               type != "string" && type != "boolean" && type != "integer") {
      refuse(
          "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.");
    }
    if (!seen.insert(path.as_string()).second) causes.push_back(field::duplicate(at, json::print(path)));
  }
  if (seen.size() > kMostSelectableFields) {
    causes.push_back(field::too_many(version_path(index, ".selectableFields"), seen.size(), kMostSelectableFields));
  }
}

void version_causes(const Value& version, std::size_t index, std::vector<Cause>& causes) {
  text_causes(kube::dns1035_label_faults(version["name"].as_string()), version_path(index, ".name"), version["name"], causes);
  const Value& schema = version["schema"]["openAPIV3Schema"];
  const std::string path = version_path(index, ".schema.openAPIV3Schema");
  if (schema.is_null()) {
    causes.push_back(field::required(path, "schemas are required"));
  } else if (SchemaCache::shared().compile(schema, path, causes) != nullptr) {
    selectable_causes(version, index, causes);
  }
  warning_causes(version, index, causes);
  scale_causes(version["subresources"]["scale"], index, causes);
  column_causes(version["additionalPrinterColumns"], index, causes);
}

void versions_causes(const Object& crd, const Object& old, std::vector<Cause>& causes) {
  const Value& versions = crd["spec"]["versions"];
  std::set<std::string_view> names;
  std::size_t storage = 0;
  bool is_unique = true;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const Value& version = versions.item(i);
    if (version != old["spec"]["versions"].item(i)) version_causes(version, i, causes);
    is_unique &= names.insert(version["name"].as_string()).second;
    storage += version["storage"].as_bool() ? 1 : 0;
  }
  if (!is_unique) causes.push_back(field::invalid("spec.versions", "[]", "must contain unique version names"));
  if (storage != 1)
    causes.push_back(field::invalid("spec.versions", "[]", "must have exactly one version marked as storage version"));
  const Value& stored = crd["status"]["storedVersions"];
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const std::string_view name = stored.item(i).as_string();
    if (names.contains(name)) continue;
    causes.push_back(
        field::invalid(fmt::format("status.storedVersions[{}]", i), json::print(stored.item(i)),
                       fmt::format("missing from spec.versions; {0} was previously a storage version, and must remain in "
                                   "spec.versions until a storage migration ensures no data remains persisted in {0} and "
                                   "removes {0} from status.storedVersions",
                                   name)));
  }
}

void approval_causes(const Object& crd, const Object& old, std::vector<Cause>& causes) {
  const Approval now = approval_of(crd);
  if (!now.is_needed || now.is_approved || now.reason == "UnapprovedAnnotation") return;
  if (!old.is_null() && approval_of(old).reason == now.reason) return;
  const std::string path = fmt::format("metadata.annotations[{}]", kApproved);
  causes.push_back(now.reason == "MissingAnnotation"
                       ? field::required(path, now.message)
                       : field::invalid(path, json::print(crd["metadata"]["annotations"][kApproved]), now.message));
}

}  // namespace

Approval approval_of(const Object& crd) {
  const std::string_view group = crd["spec"]["group"].as_string();
  Approval approval;
  approval.is_needed =
      group == "k8s.io" || group == "kubernetes.io" || group.ends_with(".k8s.io") || group.ends_with(".kubernetes.io");
  if (!approval.is_needed) return approval;
  const Value& annotation = crd["metadata"]["annotations"][kApproved];
  const std::string_view text = annotation.as_string();
  const std::size_t scheme = text.find("://");
  const bool is_url = scheme != std::string_view::npos && scheme > 0 && text.size() > scheme + 3 && text[scheme + 3] != '/';
  const auto demand = [](std::string_view rest) {
    return fmt::format(
        "protected groups must have approval annotation \"{}\"{}, see "
        "https://github.com/kubernetes/enhancements/pull/1111",
        kApproved, rest);
  };
  if (text.empty()) {
    approval.reason = "MissingAnnotation";
    approval.message = demand("");
  } else if (text.starts_with("unapproved")) {
    approval.reason = "UnapprovedAnnotation";
    approval.message = fmt::format("not approved: {}", json::print(annotation));
  } else if (is_url) {
    approval.is_approved = true;
    approval.reason = "ApprovedAnnotation";
    approval.message = fmt::format("approved in {}", text);
  } else {
    approval.reason = "InvalidAnnotation";
    approval.message = demand(" with either a URL or a reason starting with \"unapproved\"");
  }
  return approval;
}

void crd_causes(const Object& crd, const Object& old, std::vector<Cause>& causes) {
  head_causes(crd, causes);
  approval_causes(crd, old, causes);
  names_causes(crd, causes);
  versions_causes(crd, old, causes);
  if (!kube::is_true(old, "Established")) return;
  constexpr std::array<std::array<const char*, 2>, 2> kNames{{{"names", "kind"}, {"names", "plural"}}};
  for (const char* key : {"group", "scope"}) {
    if (crd["spec"][key] == old["spec"][key]) continue;
    causes.push_back(field::invalid(fmt::format("spec.{}", key), json::print(crd["spec"][key]), "field is immutable"));
  }
  for (const auto& [outer, key] : kNames) {
    const Value& value = crd["spec"][outer][key];
    if (value == old["spec"][outer][key]) continue;
    causes.push_back(field::invalid(fmt::format("spec.names.{}", key), json::print(value), "field is immutable"));
  }
}

}  // namespace slipway::server
