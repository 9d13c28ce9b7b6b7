#include "kubevela_shop.h"

#include <zstd.h>

#include <string>

#include "base/digest.h"
#include "base/gzip.h"
#include "json/text.h"
#include "kube/object.h"

namespace slipway::oracle_test {
namespace {

using json::Value;

Value yaml(const char* text) { return json::parse_yaml(text).value(); }

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

constexpr const char* kShop = R"(
apiVersion: core.oam.dev/v1beta1
kind: Application
metadata: {name: shop, namespace: shop, finalizers: [app.oam.dev/resource-tracker-finalizer]}
spec:
  components:
  - name: web
    type: webservice
    properties: {image: "nginx:1", env: [{name: KEPT, value: a}, {name: GONE, value: b}]}
    traits: [{type: note, properties: {text: one}}]
  policies: []
)";
constexpr const char* kNote = R"(
apiVersion: core.oam.dev/v1beta1
kind: TraitDefinition
metadata: {name: note, namespace: vela-system}
spec:
  schematic:
    cue:
      template: |
        parameter: text: string
        outputs: paper: {apiVersion: "v1", kind: "ConfigMap", data: text: parameter.text}
)";
constexpr const char* kShopLabels = R"(
app.oam.dev/name: shop
app.oam.dev/namespace: shop
app.oam.dev/component: web
app.oam.dev/appRevision: shop-v1
app.oam.dev/cluster: ""
)";
constexpr const char* kDeployment = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app.oam.dev/component: web}}
  template:
    metadata: {labels: {app.oam.dev/component: web, app.oam.dev/name: shop}}
    spec: {containers: [{name: web, image: "nginx:1", env: [{name: KEPT, value: a}, {name: GONE, value: b}]}]}
)";
constexpr const char* kPaper = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: web-note-7c9f86b4d5, namespace: shop}
data: {text: one}
)";
class Shop {
 public:
  explicit Shop(const Store& store) : store_(store) {
    store_(yaml(kNote));
    app_ = store_(yaml(kShop));
    const Value labels = yaml(kShopLabels);
    const Value deployment = store_labelled(kDeployment, labels.with("app.oam.dev/resourceType", "WORKLOAD"));
    const Value trait = labels.with("app.oam.dev/resourceType", "TRAIT")
                            .with("trait.oam.dev/type", "note")
                            .with("trait.oam.dev/resource", "paper");
    const Value paper = store_labelled(kPaper, trait);
    const Value old = store_labelled("{apiVersion: v1, kind: ConfigMap, metadata: {name: old, namespace: shop}}", trait);
    const Value managed = json::array({entry(deployment, ""), entry(paper, "note"), entry(old, "note").with("deleted", true)});
    const Value run = yaml(
        "{appRevision: shop-v1, mode: DAG-DAG, status: succeeded, suspend: false, terminated: false, "
        "finished: true, startTime: '2026-01-01T00:00:00Z', endTime: '2026-01-01T00:00:02Z', steps: [{id: "
        "abcdefghij, name: web, type: apply-component, phase: succeeded}]}");
    store_records(managed, run);
    store_(app_.with("status", status(run)));
  }

 private:
  Value store_labelled(const char* text, const Value& labels) {
    return store_(yaml(text).with_path({"metadata", "labels"}, labels));
  }

  static Value entry(const Value& live, const std::string& trait) {
    const Value metadata = json::object({{"name", live["metadata"]["name"]},
                                         {"namespace", live["metadata"]["namespace"]},
                                         {"labels", live["metadata"]["labels"]}});
    json::ObjectBuilder out;
    for (const char* key : {"apiVersion", "kind"}) out.add(key, live[key]);
    for (const char* key : {"name", "namespace"}) out.add(key, live["metadata"][key]);
    out.add("creator", "workflow");
    out.add("component", "web");
    if (!trait.empty()) out.add("trait", trait);
    Value raw = json::object({{"apiVersion", live["apiVersion"]}, {"kind", live["kind"]}, {"metadata", metadata}});
    for (const char* key : {"spec", "data"}) {
      if (live.has(key)) raw = raw.with(key, live[key]);
    }
    out.add("raw", raw);
    return out.build();
  }

  void store_records(const Value& managed, const Value& run) {
    const Value labels = json::object({{"app.oam.dev/name", "shop"},
                                       {"app.oam.dev/namespace", "shop"},
                                       {"app.oam.dev/uid", Value(kube::uid(app_))},
                                       {"app.oam.dev/appRevision", "shop-v1"}});
    const Value spec = json::object({{"type", "versioned"}, {"applicationGeneration", kube::generation(app_)}});
    const Value finalizers = json::array({Value("resourcetracker.core.oam.dev/finalizer")});
    store_(json::object({{"apiVersion", kOam},
                         {"kind", "ResourceTracker"},
                         {"metadata", json::object({{"name", "shop-v1-shop"}, {"labels", labels}, {"finalizers", finalizers}})},
                         {"spec", spec_with(spec, "managedResources", managed, Compression::Zstd)}}));
    const Value content = json::object({{"application", yaml(kShop).without_path({"spec", "policies"})},
                                        {"traitDefinitions", json::object({{"note", yaml(kNote)}})}});
    const Value revision_labels =
        json::object({{"app.oam.dev/name", "shop"}, {"app.oam.dev/app-revision-hash", "5f574e7015a8350c"}});
    store_(json::object({{"apiVersion", kOam},
                         {"kind", "ApplicationRevision"},
                         {"metadata", json::object({{"name", "shop-v1"},
                                                    {"namespace", "shop"},
                                                    {"labels", revision_labels},
                                                    {"ownerReferences", json::array({kube::owner_reference(app_)})}})},
                         {"spec", spec_with(Value::empty_object(), nullptr, content, Compression::Zstd)},
                         {"status", json::object({{"succeeded", true}, {"workflow", run}})}}));
  }

  static Value status(const Value& run) {
    const Value latest = json::object({{"name", "shop-v1"}, {"revision", 1}, {"revisionHash", "5f574e7015a8350c"}});
    return json::object({{"status", "running"}, {"observedGeneration", 1}, {"latestRevision", latest}, {"workflow", run}});
  }

  const Store& store_;
  Value app_;
};

}  // namespace

Value spec_with(const Value& spec, const char* member, const Value& content, Compression how) {
  if (how == Compression::None) return member == nullptr ? content : spec.with(member, content);
  const std::string text = json::print(content);
  const Value packed = json::object({{"type", how == Compression::Gzip ? "gzip" : "zstd"},
                                     {"data", base64_encode(how == Compression::Gzip ? gzip(text) : zstd(text))}});
  return spec.with("compression", packed);
}

void leave_shop(const Store& store) { const Shop shop(store); }

Value shop_application() { return yaml(kShop).without_path({"metadata", "finalizers"}); }

}  // namespace slipway::oracle_test
