#include "server/crd.h"

#include "server/registry.h"
#include "server/server_fixture.h"

namespace slipway::server {
namespace {

using client::PatchType;

class Crd : public ServerTest {
 public:
  static Value two_versions() {
    const Value v1 = widgets_definition()["spec"]["versions"].item(0);
    return widgets_definition().with_path(
        {"spec", "versions"}, json::array({v1, v1.with("name", "v2").with("storage", false).with("subresources", Value())}));
  }
  static Value condition(const Value& crd, std::string_view type) {
    return kube::condition(crd, type).without("lastTransitionTime");
  }
};

TEST_F(Crd, is_established_by_its_own_write) {
  const Value crd = define_widgets();
  EXPECT_EQ(condition(crd, "NamesAccepted"),
            yaml("{type: NamesAccepted, status: 'True', reason: NoConflicts, message: no conflicts found}"));
  EXPECT_EQ(
      condition(crd, "Established"),
      yaml("{type: Established, status: 'True', reason: InitialNamesAccepted, message: the initial names have been accepted}"));
  EXPECT_EQ(crd["status"]["acceptedNames"],
            yaml("{plural: widgets, kind: Widget, shortNames: [wd], singular: widget, listKind: WidgetList}"));
  EXPECT_EQ(crd["status"]["storedVersions"], yaml("[v1]"));
  EXPECT_EQ(must(create(kWidgets, widget("w")))["spec"], yaml("{size: 1, color: red}"));
  EXPECT_EQ(must(list(kWidgets))["kind"].str(), "WidgetList");
}

/// A definition named as a built-in resource, in version v2.
Value definition_named_as(std::string_view plural, std::string_view group, std::string_view kind) {
  return yaml(fmt::format(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: {0}.{1}
  annotations: {{api-approved.kubernetes.io: "unapproved, for a test"}}
spec:
  group: {1}
  scope: Cluster
  names: {{plural: {0}, kind: {2}}}
  versions:
  - {{name: v2, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object}}}}}}
)",
                          plural, group, kind));
}

const kube::Resource kClusterRoles{"rbac.authorization.k8s.io", "v1", "clusterroles"};

TEST_F(Crd, does_not_get_the_name_of_a_builtin_resource) {
  const std::size_t roles = must(list(kClusterRoles, ""))["items"].size();
  for (const Value& definition : {definition_named_as("clusterroles", "rbac.authorization.k8s.io", "Odd"),
                                  definition_named_as("customresourcedefinitions", "apiextensions.k8s.io", "Odd")}) {
    const std::string plural = definition["spec"]["names"]["plural"].str();
    const Value made = must(create(kCrds, definition));
    EXPECT_EQ(condition(made, "NamesAccepted"),
              yaml(fmt::format("{{type: NamesAccepted, status: 'False', reason: PluralConflict, message: '\"{}\" is already in "
                               "use'}}",
                               plural)));
    EXPECT_FALSE(kube::is_true(made, "Established"));
    EXPECT_EQ(reason(list({definition["spec"]["group"].str(), "v2", plural}, "")), "NotFound");
    EXPECT_EQ(must(list(kClusterRoles, ""))["items"].size(), roles);
    reopen();
    EXPECT_EQ(must(get(kCrds, std::string(kube::name(definition)), ""))["status"], made["status"]);
    must(remove(kCrds, std::string(kube::name(definition)), "", ""));
    EXPECT_EQ(reason(get(kCrds, std::string(kube::name(definition)), "")), "NotFound");
    EXPECT_EQ(must(list(kClusterRoles, ""))["items"].size(), roles);
  }
}

TEST_F(Crd, a_database_in_which_one_has_such_a_name_heals) {
  for (const Value& definition : {definition_named_as("clusterroles", "rbac.authorization.k8s.io", "Odd"),
                                  definition_named_as("customresourcedefinitions", "apiextensions.k8s.io", "Odd")}) {
    const std::string name(kube::name(definition));
    Value made = must(create(kCrds, definition));
    made = made.with_path({"metadata", "resourceVersion"}, std::to_string(store_->next_revision()));
    made = made.with_path({"status", "acceptedNames"}, definition["spec"]["names"]);
    made = made.with_path({"status", "conditions"},
                          yaml("[{type: NamesAccepted, status: 'True'}, {type: Established, status: 'True'}]"));
    const std::string key = "/registry/apiextensions.k8s.io/customresourcedefinitions/" + name;
    ASSERT_TRUE(env_.run(store_->append({{key, made, store_->get(key)->modified}})));
    const std::size_t roles = must(list(kClusterRoles, ""))["items"].size();
    reopen();
    EXPECT_EQ(must(list(kClusterRoles, ""))["items"].size(), roles);
    const Value healed = must(get(kCrds, name, ""));
    EXPECT_FALSE(kube::is_true(healed, "NamesAccepted"));
    EXPECT_FALSE(kube::is_true(healed, "Established"));
    EXPECT_EQ(healed["status"]["acceptedNames"], yaml("{plural: '', kind: ''}"));
    EXPECT_GE(must(list(kCrds, ""))["items"].size(), 1U);
  }
}

TEST_F(Crd, tells_the_registry_all_about_the_kind) {
  define_widgets();
  const auto found = server_->registry().find_word("wd");
  ASSERT_TRUE(found);
  const kube::ResourceType& type = **found;
  EXPECT_EQ(type.resource, kWidgets);
  EXPECT_EQ(type.kind, (kube::GroupVersionKind{"example.com", "v1", "Widget"}));
  EXPECT_TRUE(type.is_custom);
  EXPECT_TRUE(type.has_status);
  EXPECT_FALSE(type.allows_blind_update);
  ASSERT_EQ(type.columns.size(), 1u);
  EXPECT_EQ(type.columns[0].json_path, ".spec.size");
  for (const char* word : {"widgets", "Widget", "widgets.example.com", "WIDGETS"})
    EXPECT_TRUE(server_->registry().find_word(word)) << word;
  const auto missing = server_->registry().find_word("frob");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "the server doesn't have a resource type \"frob\"");
  const auto kind = server_->registry().find_kind({"example.com", "v3", "Widget"});
  ASSERT_FALSE(kind);
  EXPECT_EQ(kind.error().message, "no matches for kind \"Widget\" in version \"example.com/v3\"");
}

TEST_F(Crd, several_versions_show_one_object) {
  must(create(kCrds, two_versions()));
  const kube::Resource v2{"example.com", "v2", "widgets"};
  const Value made = must(create(v2, widget("w").with("apiVersion", "example.com/v2")));
  EXPECT_EQ(made["apiVersion"].str(), "example.com/v2");
  const Value other = must(get(kWidgets, "w"));
  EXPECT_EQ(other["apiVersion"].str(), "example.com/v1");
  EXPECT_EQ(kube::uid(other), kube::uid(made));
  EXPECT_EQ(must(list(v2))["items"].item(0), made);
}

TEST_F(Crd, a_new_storage_version_is_remembered_beside_the_old) {
  const Value crd = must(create(kCrds, two_versions()));
  must(create(kWidgets, widget("w")));
  const Value& versions = crd["spec"]["versions"];
  const Value turned = crd.with_path(
      {"spec", "versions"}, json::array({versions.item(0).with("storage", false), versions.item(1).with("storage", true)}));
  const Value next = must(update(kCrds, turned));
  EXPECT_EQ(next["status"]["storedVersions"], yaml("[v1, v2]"));
  EXPECT_EQ(must(get(kWidgets, "w"))["apiVersion"].str(), "example.com/v1");
  const auto dropped = update(kCrds, next.with_path({"spec", "versions"}, json::array({next["spec"]["versions"].item(1)})));
  EXPECT_EQ(message(dropped),
            "CustomResourceDefinition.apiextensions.k8s.io \"widgets.example.com\" is invalid: status.storedVersions[0]: "
            "Invalid value: "
            "\"v1\": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a "
            "storage "
            "migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions");
}

TEST_F(Crd, a_version_goes_once_status_says_that_nothing_is_stored_in_it) {
  const Value crd = must(create(kCrds, two_versions()));
  const Value& versions = crd["spec"]["versions"];
  must(update(kCrds, crd.with_path({"spec", "versions"}, json::array({versions.item(0).with("storage", false),
                                                                      versions.item(1).with("storage", true)}))));
  Request asked = request(Verb::Patch, kCrds, "widgets.example.com", "");
  asked.subresource = "status";
  asked.body = yaml("{status: {storedVersions: [v2]}}");
  const Value migrated = must(object_of(asked));
  EXPECT_EQ(migrated["status"]["storedVersions"], yaml("[v2]"));
  EXPECT_TRUE(kube::is_true(migrated, "Established"));
  const Value left = migrated.with_path({"spec", "versions"}, json::array({migrated["spec"]["versions"].item(1)}));
  EXPECT_EQ(must(update(kCrds, left))["status"]["storedVersions"], yaml("[v2]"));
  EXPECT_EQ(message(list(kWidgets)), "the server could not find the requested resource");
}

TEST_F(Crd, is_accepted_once_its_names_are_free) {
  define_widgets();
  const Value clash = widgets_definition()
                          .with_path({"metadata", "name"}, "gadgets.example.com")
                          .with_path({"spec", "names"}, yaml("{plural: gadgets, singular: gadget, kind: Widget}"));
  must(create(kCrds, clash));
  must(remove(kCrds, "widgets.example.com", "", ""));
  must(patch(kCrds, "widgets.example.com", PatchType::Merge, "{metadata: {finalizers: null}}", "", ""));
  EXPECT_TRUE(kube::is_true(must(get(kCrds, "gadgets.example.com", "")), "Established"));
  EXPECT_TRUE(list({"example.com", "v1", "gadgets"}));
}

TEST_F(Crd, a_new_schema_shows_in_old_objects) {
  const Value crd = define_widgets();
  must(create(kWidgets, widget("w")));
  const Value schema = yaml(
      "{type: object, properties: {spec: {type: object, properties: {size: {type: integer}, shape: {type: string, "
      "default: round}}}}}");
  const Value version =
      crd["spec"]["versions"].item(0).with_path({"schema", "openAPIV3Schema"}, schema).without("selectableFields");
  must(update(kCrds, crd.with_path({"spec", "versions"}, json::array({version}))));
  EXPECT_EQ(must(get(kWidgets, "w"))["spec"], yaml("{size: 1, shape: round}"));
  reopen();
  EXPECT_EQ(must(get(kWidgets, "w"))["spec"], yaml("{size: 1, shape: round}"));
  EXPECT_EQ(must(list(kWidgets))["items"].item(0)["spec"], yaml("{size: 1, shape: round}"));
}

TEST_F(Crd, a_version_that_is_not_served_is_not_found) {
  const Value crd = must(create(kCrds, two_versions()));
  const Value& versions = crd["spec"]["versions"];
  must(update(kCrds,
              crd.with_path({"spec", "versions"}, json::array({versions.item(0), versions.item(1).with("served", false)}))));
  EXPECT_EQ(message(list({"example.com", "v2", "widgets"})), "the server could not find the requested resource");
  EXPECT_TRUE(list(kWidgets));
}

TEST_F(Crd, warns_of_a_deprecated_version) {
  const Value crd = must(create(kCrds, two_versions()));
  const Value& versions = crd["spec"]["versions"];
  must(update(kCrds,
              crd.with_path({"spec", "versions"}, json::array({versions.item(0), versions.item(1).with("deprecated", true)}))));
  const auto reply = call(request(Verb::List, {"example.com", "v2", "widgets"}, ""));
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->warnings, (std::vector<std::string>{"example.com/v2 Widget is deprecated"}));
  const auto silent = call(request(Verb::List, kWidgets, ""));
  ASSERT_TRUE(silent);
  EXPECT_TRUE(silent->warnings.empty());
}

TEST_F(Crd, of_names_that_are_taken_is_not_served) {
  define_widgets();
  const Value clash = widgets_definition()
                          .with_path({"metadata", "name"}, "gadgets.example.com")
                          .with_path({"spec", "names"}, yaml("{plural: gadgets, singular: gadget, kind: Widget}"));
  const Value crd = must(create(kCrds, clash));
  EXPECT_EQ(condition(crd, "NamesAccepted"),
            yaml("{type: NamesAccepted, status: 'False', reason: KindConflict, message: '\"Widget\" is already in use'}"));
  EXPECT_EQ(condition(crd, "Established"),
            yaml("{type: Established, status: 'False', reason: NotAccepted, message: not all names are accepted}"));
  EXPECT_EQ(message(list({"example.com", "v1", "gadgets"})), "the server could not find the requested resource");
}

TEST_F(Crd, is_judged) {
  const auto with = [&](std::initializer_list<std::string_view> path, Value value) {
    const auto made = create(kCrds, widgets_definition().with_path(path, std::move(value)));
    const std::string text = message(made);
    const std::string head = "CustomResourceDefinition.apiextensions.k8s.io \"widgets.example.com\" is invalid: ";
    return text.starts_with(head) ? text.substr(head.size()) : text;
  };
  EXPECT_EQ(with({"spec", "scope"}, "World"),
            "spec.scope: Unsupported value: \"World\": supported values: \"Cluster\", \"Namespaced\"");
  EXPECT_EQ(with({"spec", "names", "plural"}, "gadgets"),
            "metadata.name: Invalid value: \"widgets.example.com\": must be spec.names.plural+\".\"+spec.group");
  const Value version = widgets_definition()["spec"]["versions"].item(0);
  EXPECT_EQ(with({"spec", "versions"}, json::array({version.with("storage", false)})),
            "spec.versions: Invalid value: []: must have exactly one version marked as storage version");
  EXPECT_EQ(with({"spec", "versions"}, json::array({version, version.with("storage", false)})),
            "spec.versions: Invalid value: []: must contain unique version names");
  EXPECT_EQ(with({"spec", "versions"}, json::array({version.without("schema")})),
            "spec.versions[0].schema.openAPIV3Schema: Required value: schemas are required");
  EXPECT_EQ(with({"spec", "names", "listKind"}, "Widget"),
            "spec.names.listKind: Invalid value: \"Widget\": kind and listKind may not be the same");
  EXPECT_EQ(with({"spec", "conversion"}, yaml("{strategy: Webhook}")),
            "spec.conversion.strategy: Unsupported value: \"Webhook\": supported values: \"None\"");
  const std::string loose =
      with({"spec", "versions"},
           json::array({version.with_path({"schema", "openAPIV3Schema", "properties", "spec"}, yaml("{properties: {}}"))}));
  EXPECT_TRUE(loose.starts_with("spec.versions[0].schema.openAPIV3Schema.properties[spec].type: Required value")) << loose;
  EXPECT_EQ(must(list(kCrds, ""))["items"].size(), 0u);
}

class CrdVersion : public Crd {
 protected:
  /// What is wrong with a definition whose version has this instead of what the fixture has.
  std::string fault(std::string_view key, std::string_view text) {
    const Value crd = widgets_definition();
    const Value version = crd["spec"]["versions"].item(0).with(key, yaml(text));
    const std::string found = message(create(kCrds, crd.with_path({"spec", "versions"}, json::array({version}))));
    const auto at = found.find("spec.versions[0].");
    return at == std::string::npos ? found.substr(0, 9) : found.substr(at + 17);
  }
};

TEST_F(CrdVersion, has_scale_paths_below_spec_and_status) {
  EXPECT_EQ(fault("subresources", "{scale: {specReplicasPath: .spec.size}}"),
            "subresources.scale.statusReplicasPath: Required value");
  EXPECT_EQ(fault("subresources", "{scale: {specReplicasPath: .status.size, statusReplicasPath: .status.size}}"),
            "subresources.scale.specReplicasPath: Invalid value: \".status.size\": should be a json path under .spec");
  EXPECT_EQ(fault("subresources",
                  "{scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size, labelSelectorPath: .meta.x}}"),
            "subresources.scale.labelSelectorPath: Invalid value: \".meta.x\": should be a json path under either .spec or "
            ".status");
  EXPECT_EQ(fault("subresources", "{scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}"), "succeeded");
  const auto type = server_->registry().find(kWidgets);
  ASSERT_TRUE(type);
  EXPECT_EQ((*type)->scale, (kube::ScalePaths{".spec.size", ".status.size", ""}));
}

TEST_F(CrdVersion, has_columns_that_can_be_shown) {
  EXPECT_EQ(fault("additionalPrinterColumns", "[{name: A, type: colour, jsonPath: .x}]"),
            "additionalPrinterColumns[0].type: Invalid value: \"colour\": must be one of boolean,date,integer,number,string");
  EXPECT_EQ(fault("additionalPrinterColumns", "[{name: A, type: string, jsonPath: x}]"),
            "additionalPrinterColumns[0].jsonPath: Invalid value: \"x\": must be a simple json path starting with .");
  EXPECT_EQ(fault("additionalPrinterColumns", "[{name: A, type: string, jsonPath: .x, format: ipv4}]"),
            "additionalPrinterColumns[0].format: Invalid value: \"ipv4\": must be one of "
            "byte,date,date-time,double,float,int32,int64,password");
}

TEST_F(CrdVersion, selects_by_scalar_fields_of_its_schema) {
  EXPECT_EQ(
      fault("selectableFields", "[{jsonPath: .spec.shade}]"),
      "selectableFields[0].jsonPath: Invalid value: \".spec.shade\": is an invalid path: does not refer to a valid field");
  EXPECT_EQ(fault("selectableFields", "[{jsonPath: .metadata.name}]"),
            "selectableFields[0].jsonPath: Invalid value: \".metadata.name\": must not point to fields in metadata");
  EXPECT_EQ(fault("selectableFields", "[{jsonPath: .spec}]"),
            "selectableFields[0].jsonPath: Invalid value: \".spec\": must point to a field of type string, boolean or integer. "
            "Enum string fields and strings with formats are allowed.");
  EXPECT_EQ(fault("selectableFields", "[{jsonPath: .spec.size}, {jsonPath: .spec.size}]"),
            "selectableFields[1].jsonPath: Duplicate value: \".spec.size\"");
}

TEST_F(CrdVersion, warns_only_when_deprecated) {
  EXPECT_EQ(fault("deprecationWarning", "use v2"),
            "deprecationWarning: Invalid value: \"use v2\": can only be set for deprecated versions");
}

TEST_F(Crd, of_a_community_group_says_who_approved_it) {
  const auto made = [&](std::string_view annotations) {
    return create(kCrds, widgets_definition()
                             .with("metadata", yaml(fmt::format("{{name: widgets.toys.k8s.io, annotations: {}}}", annotations)))
                             .with_path({"spec", "group"}, "toys.k8s.io"));
  };
  const std::string head =
      "CustomResourceDefinition.apiextensions.k8s.io \"widgets.toys.k8s.io\" is invalid: "
      "metadata.annotations[api-approved.kubernetes.io]: ";
  EXPECT_EQ(message(made("{}")), head +
                                     "Required value: protected groups must have approval annotation "
                                     "\"api-approved.kubernetes.io\", see "
                                     "https://github.com/kubernetes/enhancements/pull/1111");
  EXPECT_EQ(message(made("{api-approved.kubernetes.io: sure}")),
            head +
                "Invalid value: \"sure\": protected groups must have approval annotation \"api-approved.kubernetes.io\" with "
                "either a URL or a reason starting with \"unapproved\", see "
                "https://github.com/kubernetes/enhancements/pull/1111");
  const Value crd = must(made("{api-approved.kubernetes.io: 'https://github.com/x/y/pull/1'}"));
  EXPECT_EQ(
      condition(crd, "KubernetesAPIApprovalPolicyConformant"),
      yaml("{type: KubernetesAPIApprovalPolicyConformant, status: 'True', reason: ApprovedAnnotation, message: 'approved in "
           "https://github.com/x/y/pull/1'}"));
}

TEST_F(Crd, keeps_its_identity_once_established) {
  const Value crd = define_widgets();
  EXPECT_EQ(message(update(kCrds, crd.with_path({"spec", "scope"}, "Cluster"))),
            "CustomResourceDefinition.apiextensions.k8s.io \"widgets.example.com\" is invalid: spec.scope: Invalid value: "
            "\"Cluster\": field "
            "is immutable");
  EXPECT_EQ(message(update(kCrds, crd.with_path({"spec", "names", "kind"}, "Gadget"))),
            "CustomResourceDefinition.apiextensions.k8s.io \"widgets.example.com\" is invalid: spec.names.kind: Invalid value: "
            "\"Gadget\": "
            "field is immutable");
}

TEST_F(Crd, what_the_log_says_is_served_whoever_wrote_it) {
  const Value crd = define_widgets();
  const std::string key = "/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com";
  ASSERT_TRUE(env_.run(store_->append({{key, std::nullopt, store_->get(key)->modified}})));
  EXPECT_FALSE(server_->registry().find(kWidgets));
  ASSERT_TRUE(env_.run(store_->append({{key, crd, 0}})));
  EXPECT_TRUE(server_->registry().find(kWidgets));
}

TEST_F(Crd, again_changes_nothing) {
  const Value crd = define_widgets();
  env_.advance(std::chrono::hours{1});
  EXPECT_EQ(must(update(kCrds, crd)), crd);
  EXPECT_EQ(store_->revision(), kube::revision(crd));
}

TEST_F(Crd, goes_in_two_steps) {
  define_widgets();
  must(create(kWidgets, widget("w")));
  const Value going = must(remove(kCrds, "widgets.example.com", "", ""));
  EXPECT_TRUE(kube::has_finalizer(going, kCrdFinalizer));
  EXPECT_EQ(
      condition(going, "Terminating"),
      yaml("{type: Terminating, status: 'True', reason: InstanceDeletionPending, message: CustomResourceDefinition marked for "
           "deletion; CustomResource deletion will begin soon}"));
  const auto late = create(kWidgets, widget("x"));
  EXPECT_EQ(reason(late), "MethodNotAllowed");
  EXPECT_EQ(message(late), "create not allowed while custom resource definition is terminating");
  must(object_of(request(Verb::DeleteCollection, kWidgets, "", "")));
  must(patch(kCrds, "widgets.example.com", PatchType::Merge, "{metadata: {finalizers: null}}", "", ""));
  EXPECT_EQ(message(get(kCrds, "widgets.example.com", "")),
            "customresourcedefinitions.apiextensions.k8s.io \"widgets.example.com\" not found");
  EXPECT_EQ(message(list(kWidgets)), "the server could not find the requested resource");
}

}  // namespace
}  // namespace slipway::server
