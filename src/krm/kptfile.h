// The Kptfile, kpt.dev/v1: what a package is, where it came from, what its pipeline does, what must be True before it is ready,
// and what actors have said so far. Decoding is strict, as kpt's: a field that it does not have is an error with its line.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "json/codec.h"
#include "json/value.h"

namespace slipway::krm {

struct KptGit {
  std::string repo;
  std::string directory;
  std::string ref;
  static void describe(auto& d) {
    d.doc("Where in a git repository a package lies.");
    d.field("repo", &KptGit::repo, "The repository's address.");
    d.field("directory", &KptGit::directory, "The folder of the package.");
    d.field("ref", &KptGit::ref, "A branch, a tag or a commit.");
  }
  bool operator==(const KptGit&) const = default;
};

struct KptGitLock {
  std::string repo;
  std::string directory;
  std::string ref;
  std::string commit;
  static void describe(auto& d) {
    d.doc("What was fetched, exactly.");
    d.field("repo", &KptGitLock::repo, "The repository's address.");
    d.field("directory", &KptGitLock::directory, "The folder of the package.");
    d.field("ref", &KptGitLock::ref, "What was asked for.");
    d.field("commit", &KptGitLock::commit, "The commit that it was then.");
  }
  bool operator==(const KptGitLock&) const = default;
};

struct KptGenericLock {
  std::string store_id;
  std::string resource_id;
  std::string resource_version;
  static void describe(auto& d) {
    d.doc("Origins other than git.");
    d.field("storeID", &KptGenericLock::store_id, "The store.");
    d.field("resourceID", &KptGenericLock::resource_id, "The thing in the store.");
    d.field("resourceVersion", &KptGenericLock::resource_version, "Its version.");
  }
  bool operator==(const KptGenericLock&) const = default;
};

struct KptUpstream {
  std::string type;
  std::optional<KptGit> git;
  std::string update_strategy;
  static void describe(auto& d) {
    d.doc("Where the package was taken from, and how it follows.");
    d.field("type", &KptUpstream::type, "git.");
    d.field("git", &KptUpstream::git, "The place in git.");
    d.field("updateStrategy", &KptUpstream::update_strategy,
            "resource-merge (the default), fast-forward, force-delete-replace or copy-merge.");
  }
  bool operator==(const KptUpstream&) const = default;
};

struct KptUpstreamLock {
  std::string type;
  std::optional<KptGitLock> git;
  std::optional<KptGenericLock> generic;
  static void describe(auto& d) {
    d.doc("The upstream that the package was last made or upgraded from.");
    d.field("type", &KptUpstreamLock::type, "git or generic.");
    d.field("git", &KptUpstreamLock::git, "The commit in git.");
    d.field("generic", &KptUpstreamLock::generic, "Elsewhere.");
  }
  bool operator==(const KptUpstreamLock&) const = default;
};

struct KptGate {
  std::string condition_type;
  static void describe(auto& d) {
    d.doc("A condition that must be True before the package is ready.");
    d.field("conditionType", &KptGate::condition_type, "The condition's type.");
  }
  bool operator==(const KptGate&) const = default;
};

struct KptInfo {
  std::string site;
  std::vector<std::string> emails;
  std::string license;
  std::string license_file;
  std::string description;
  std::vector<std::string> keywords;
  std::string man;
  std::vector<KptGate> readiness_gates;
  static void describe(auto& d) {
    d.doc("About the package.");
    d.field("site", &KptInfo::site, "Its page.");
    d.field("emails", &KptInfo::emails, "Its authors.");
    d.field("license", &KptInfo::license, "The SPDX name.");
    d.field("licenseFile", &KptInfo::license_file, "The file with the license.");
    d.field("description", &KptInfo::description, "In a line.");
    d.field("keywords", &KptInfo::keywords, "To be found by.");
    d.field("man", &KptInfo::man, "The file with the manual.");
    d.field("readinessGates", &KptInfo::readiness_gates, "Conditions that must be True before the package is ready.");
  }
};

struct KptSelector {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string namespace_name;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  static void describe(auto& d) {
    d.doc("Resources that have all that is named.");
    d.field("apiVersion", &KptSelector::api_version, "apiVersion.");
    d.field("kind", &KptSelector::kind, "kind.");
    d.field("name", &KptSelector::name, "metadata.name.");
    d.field("namespace", &KptSelector::namespace_name, "metadata.namespace.");
    d.field("labels", &KptSelector::labels, "Labels.");
    d.field("annotations", &KptSelector::annotations, "Annotations.");
  }
  bool operator==(const KptSelector&) const = default;
};

struct KptFunction {
  std::string image;
  std::string exec;
  std::string tag;
  std::string config_path;
  std::map<std::string, std::string> config_map;
  std::string name;
  std::vector<KptSelector> selectors;
  std::vector<KptSelector> exclude;
  static void describe(auto& d) {
    d.doc("One step of the pipeline.");
    d.field("image", &KptFunction::image, "The function by the image that holds it.");
    d.field("exec", &KptFunction::exec, "The function as a program of this machine.");
    d.field("tag", &KptFunction::tag, "A constraint on the image's version.");
    d.field("configPath", &KptFunction::config_path, "The file in this package with the function's configuration.");
    d.field("configMap", &KptFunction::config_map, "The configuration as the data of a ConfigMap.");
    d.field("name", &KptFunction::name, "Tells functions apart when packages are merged.");
    d.field("selectors", &KptFunction::selectors, "Only resources that one of these takes.");
    d.field("exclude", &KptFunction::exclude, "But not those that one of these takes.");
  }
};

struct KptPipeline {
  std::vector<KptFunction> mutators;
  std::vector<KptFunction> validators;
  static void describe(auto& d) {
    d.doc("What `render` does.");
    d.field("mutators", &KptPipeline::mutators, "Functions that change resources, in order.");
    d.field("validators", &KptPipeline::validators, "Functions that judge them then; what they change is dropped.");
  }
};

struct KptInventory {
  std::string namespace_name;
  std::string name;
  std::string inventory_id;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  static void describe(auto& d) {
    d.doc("The object that lists what of the package is in a cluster.");
    d.field("namespace", &KptInventory::namespace_name, "Its namespace.");
    d.field("name", &KptInventory::name, "Its name.");
    d.field("inventoryID", &KptInventory::inventory_id, "Tells packages apart.");
    d.field("labels", &KptInventory::labels, "Its labels.");
    d.field("annotations", &KptInventory::annotations, "Its annotations.");
  }
};

struct KptCondition {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;
  static void describe(auto& d) {
    d.doc("What an actor found out about the package.");
    d.field("type", &KptCondition::type, "What it is about.").required();
    d.field("status", &KptCondition::status, "True, False or Unknown.").required().one_of({"True", "False", "Unknown"});
    d.field("reason", &KptCondition::reason, "Why, in a word.");
    d.field("message", &KptCondition::message, "Why, for people.");
  }
  bool operator==(const KptCondition&) const = default;
};

struct KptStatus {
  std::vector<KptCondition> conditions;
  json::Value render_status;
  static void describe(auto& d) {
    d.doc("What was found out.");
    d.field("conditions", &KptStatus::conditions, "By type.");
    d.field("renderStatus", &KptStatus::render_status, "What the last render did, step by step.").any_object();
  }
};

struct KptMetadata {
  std::string name;
  std::string namespace_name;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::string creation_timestamp;
  static void describe(auto& d) {
    d.doc("The package's name and marks.");
    d.field("name", &KptMetadata::name, "The package's name.");
    d.field("namespace", &KptMetadata::namespace_name, "Not used.");
    d.field("labels", &KptMetadata::labels, "Labels.");
    d.field("annotations", &KptMetadata::annotations, "Annotations.");
    d.field("creationTimestamp", &KptMetadata::creation_timestamp, "Not used.");
  }
};

struct Kptfile {
  std::string api_version;
  std::string kind;
  KptMetadata metadata;
  std::optional<KptUpstream> upstream;
  std::optional<KptUpstreamLock> upstream_lock;
  std::optional<KptInfo> info;
  std::optional<KptPipeline> pipeline;
  std::optional<KptInventory> inventory;
  std::optional<KptStatus> status;
  static void describe(auto& d) {
    d.doc("A package.");
    d.field("apiVersion", &Kptfile::api_version, "kpt.dev/v1.");
    d.field("kind", &Kptfile::kind, "Kptfile.");
    d.field("metadata", &Kptfile::metadata, "Name and marks.");
    d.field("upstream", &Kptfile::upstream, "Where it was taken from.");
    d.field("upstreamLock", &Kptfile::upstream_lock, "What was taken.");
    d.field("info", &Kptfile::info, "About it.");
    d.field("pipeline", &Kptfile::pipeline, "What `render` does.");
    d.field("inventory", &Kptfile::inventory, "What `live apply` made.");
    d.field("status", &Kptfile::status, "What was found out.");
  }
};

/// BadRequest, worded as kpt's, with the line of what is wrong: "yaml: unmarshal errors:\n  line 13: field x not found in type
/// v1.Function (Kptfile:13)". `path` is the file's, for messages.
Result<Kptfile> read_kptfile(std::string_view text, std::string_view path = "Kptfile");

/// A gate that is not met.
struct UnmetGate {
  std::string type;
  std::string status;  // False or Unknown; "" when there is no such condition
  std::string reason;
  std::string message;
  bool operator==(const UnmetGate&) const = default;
};

/// The punch list: the gates without a condition that is True, in the order of the gates. Conditions without a gate do not
/// count.
std::vector<UnmetGate> unmet_gates(const Kptfile& kptfile);
inline bool is_ready(const Kptfile& kptfile) { return unmet_gates(kptfile).empty(); }
/// A line per gate for people: "ipam: False, Pending: no prefix left".
std::string punch_list(const std::vector<UnmetGate>& unmet);

/// A Kptfile's text with the condition set (or its gate added or removed), all other bytes as they were.
Result<std::string> with_condition(std::string text, const KptCondition& condition);
Result<std::string> with_gate(std::string text, std::string_view type);
/// NotFound when there is no such gate.
Result<std::string> without_gate(std::string text, std::string_view type);

}  // namespace slipway::krm
