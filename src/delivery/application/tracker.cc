#include "delivery/application/tracker.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "delivery/application/compressed.h"
#include "delivery/family/handover.h"
#include "json/text.h"

namespace slipway::delivery::application {
namespace {

/// Entries beyond this are compressed, as KubeVela does with its feature GzipResourceTracker.
constexpr std::size_t kMaxPlainTracker = 1024;

std::string group_of(const std::string& api_version) {
  const auto slash = api_version.find('/');
  return slash == std::string::npos ? "" : api_version.substr(0, slash);
}

void set_text(json::ObjectBuilder& out, const char* key, const std::string& text) {
  if (!text.empty()) out.set(key, text);
}

bool is_same(const ManagedResource& a, const ManagedResource& b) {
  return a.raw == b.raw && a.is_whole == b.is_whole && a.digest == b.digest && a.skips_collection == b.skips_collection &&
         a.component == b.component && a.trait == b.trait;
}

}  // namespace

std::string ObjectId::to_string() const {
  const std::string place = ns.empty() ? name : ns + "/" + name;
  return cluster == kHub ? fmt::format("{} {}", kind, place) : fmt::format("{} {} (cluster {})", kind, place, cluster);
}

ObjectId ManagedResource::id() const { return {cluster, group_of(api_version), kind, ns, name}; }

Value ManagedResource::to_json() const {
  json::ObjectBuilder out;
  set_text(out, "apiVersion", api_version);
  set_text(out, "kind", kind);
  set_text(out, "namespace", ns);
  set_text(out, "name", name);
  if (cluster != kHub) set_text(out, "cluster", cluster);
  set_text(out, "creator", creator);
  set_text(out, "component", component);
  set_text(out, "trait", trait);
  if (skips_collection) out.set("skipGC", true);
  if (!is_whole) out.set("metadataOnly", true);
  set_text(out, "digest", digest);
  if (is_deleted) out.set("deleted", true);
  out.set("raw", raw);
  return out.build();
}

ManagedResource ManagedResource::from_json(const Value& entry) {
  ManagedResource made;
  made.cluster = entry["cluster"].as_string().empty() ? kHub : entry["cluster"].str();
  made.component = entry["component"].str();
  made.trait = entry["trait"].str();
  made.creator = entry["creator"].str();
  made.api_version = entry["apiVersion"].str();
  made.kind = entry["kind"].str();
  made.ns = entry["namespace"].str();
  made.name = entry["name"].str();
  made.raw = entry["raw"];
  made.is_whole = !entry["metadataOnly"].as_bool() && !entry["raw"].is_null();
  made.digest = entry["digest"].str();
  made.skips_collection = entry["skipGC"].as_bool();
  made.is_deleted = entry["deleted"].as_bool();
  return made;
}

const ManagedResource* Tracker::find(const ObjectId& id) const {
  const auto at = std::ranges::find_if(resources, [&](const ManagedResource& one) { return one.id() == id; });
  return at == resources.end() ? nullptr : &*at;
}

bool Tracker::record(const std::vector<ManagedResource>& entries) {
  bool has_changed = false;
  for (const ManagedResource& entry : entries) {
    const auto at = std::ranges::find_if(resources, [&](const ManagedResource& one) { return one.id() == entry.id(); });
    if (at == resources.end()) {
      resources.push_back(entry);
      has_changed = true;
    } else if (!is_same(*at, entry)) {
      *at = entry;
      has_changed = true;
    }
  }
  return has_changed;
}

Value Tracker::to_object(const kube::Object& application, const std::string& revision) const {
  json::ArrayBuilder entries;
  for (const ManagedResource& one : resources) entries.add(one.to_json());
  const Value labels = json::object({{kLabelName, Value(kube::name(application))},
                                     {kLabelNamespace, Value(kube::ns(application))},
                                     {kLabelUid, Value(kube::uid(application))},
                                     {kLabelRevision, revision}});
  Value made = object;
  if (made.is_null()) {
    made = json::object({{"apiVersion", kApiVersion},
                         {"kind", kTrackerKind.kind},
                         {"metadata", json::object({{"name", name}, {"labels", labels}})}});
  }
  const Value spec =
      json::object({{"type", type == TrackerType::Root ? "root" : "versioned"}, {"applicationGeneration", generation}});
  // Rollouts read theirs as they wrote it.
  if (!holder.empty()) return made.with_path({"spec", "managedResources"}, entries.build());
  return made.with("spec", with_entries(spec, entries.build()));
}

Value entries_of(const Value& tracker) {
  const Value& spec = tracker["spec"];
  return is_compressed(spec) ? uncompressed(spec) : spec["managedResources"];
}

Value with_entries(const Value& spec, const Value& entries) {
  const Value bare = spec.without("managedResources").without("compression");
  return json::print(entries).size() > kMaxPlainTracker ? bare.with("compression", compressed(entries))
                                                        : bare.with("managedResources", entries);
}

Tracker Tracker::from_object(const Value& object) {
  Tracker made;
  made.name = std::string(kube::name(object));
  const std::string_view type = object["spec"]["type"].as_string();
  if (type == "root") made.type = TrackerType::Root;
  if (type == "component-revision") made.type = TrackerType::ComponentRevisions;
  made.generation = object["spec"]["applicationGeneration"].as_int();
  made.holder = kube::annotation(object, kHolder);
  const Value entries = entries_of(object);
  made.is_readable = !is_compressed(object["spec"]) || entries.is_array();
  for (const Value& entry : entries.items()) {
    made.resources.push_back(ManagedResource::from_json(entry));
  }
  made.object = object;
  return made;
}

std::string tracker_name(const kube::Object& application, TrackerType type) {
  if (type == TrackerType::Root) return fmt::format("{}-{}", kube::name(application), kube::ns(application));
  const auto version = kube::annotation(application, kPublishVersion);
  const std::string part = version.empty() ? fmt::format("v{}", kube::generation(application)) : std::string(version);
  return fmt::format("{}-{}-{}", kube::name(application), part, kube::ns(application));
}

std::string tracker_name_apart(const kube::Object& application, TrackerType type) {
  constexpr std::size_t kMaxName = 253, kHashDigits = 10;
  const std::string plain = tracker_name(application, type);
  return fmt::format("{}-{}", plain.substr(0, kMaxName - kHashDigits - 1),
                     sha256_hex(kube::uid(application)).substr(0, kHashDigits));
}

bool is_named_for(const Tracker& tracker, const kube::Object& application, TrackerType type) {
  return tracker.name == tracker_name(application, type) || tracker.name == tracker_name_apart(application, type);
}

bool belongs_to(const Value& tracker, const kube::Object& application) {
  const auto uid = kube::label(tracker, kLabelUid);
  return kube::label(tracker, kLabelName) == kube::name(application) &&
         kube::label(tracker, kLabelNamespace) == kube::ns(application) && (uid.empty() || uid == kube::uid(application));
}

}  // namespace slipway::delivery::application
