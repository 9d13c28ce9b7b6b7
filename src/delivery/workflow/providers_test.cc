// The standard providers, called from steps, against an API and a web server on paper.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/digest.h"
#include "base/function_programs.h"
#include "base/http_trust.h"
#include "base/mail.h"
#include "base/manual_env.h"
#include "delivery/workflow/engine.h"
#include "json/patch.h"
#include "json/text.h"
#include "kube/object.h"

namespace slipway::delivery::workflow {
namespace {

using namespace std::chrono_literals;

/// Objects by resource and key; applies merge.
class PaperCluster : public client::Client {
 public:
  std::map<std::string, Value> objects;
  std::vector<std::string> calls;

  Task<Result<client::Reply>> call(client::Request request) override {
    calls.push_back(request.to_string());
    co_return answer(request);
  }
  Task<Result<std::unique_ptr<client::Watch>>> watch(client::Request) override { co_return fail(Reason::NotImplemented, ""); }

 private:
  Result<client::Reply> answer(const client::Request& request) {
    const std::string key = fmt::format("{}/{}/{}", request.resource.plural, request.ns, request.name);
    const auto found = objects.find(key);
    if (request.verb == client::Verb::List) return client::Reply{listed(request), {}, 200};
    if (request.verb == client::Verb::Patch) {
      const bool is_apply = request.patch_type == client::PatchType::Apply;
      if (found == objects.end() && !is_apply) return fail(kube::not_found(request.resource, request.name));
      Value& object = objects[key];
      object = json::apply_merge_patch(object.is_null() ? Value::empty_object() : object, request.body);
      if (is_apply) object = object.with_path({"metadata", "generation"}, 1);
      return client::Reply{object, {}, 200};
    }
    if (found == objects.end()) return fail(kube::not_found(request.resource, request.name));
    const Value object = found->second;
    if (request.verb == client::Verb::Delete) objects.erase(found);
    return client::Reply{object, {}, 200};
  }
  Value listed(const client::Request& request) const {
    json::ArrayBuilder items;
    for (const auto& [key, object] : objects) {
      if (key.starts_with(request.resource.plural + "/" + request.ns)) items.add(object);
    }
    return json::object({{"kind", "List"}, {"items", items.build()}});
  }
};

/// Web servers and a mail server on paper.
class PaperWeb : public HttpClient, public Mailer {
 public:
  std::vector<HttpCall> calls;
  std::vector<HttpTrust> trusts;
  std::vector<Mail> mails;
  int status = 200;
  std::string body = "hello";
  std::string challenge;  // of those who show no credentials
  Status mail_error;

  Task<Result<http::Response>> send(HttpCall call) override {
    calls.push_back(call);
    if (call.url.contains("nowhere")) co_return fail(Reason::ServiceUnavailable, "no such host");
    if (!challenge.empty() && !call.headers.contains("Authorization")) {
      co_return http::Response{.status = 401, .headers = {{"WWW-Authenticate", challenge}}, .body = ""};
    }
    co_return http::Response{.status = status, .headers = {{"X-One", "1"}}, .body = body};
  }
  Task<Result<http::Response>> send_trusting(HttpCall call, HttpTrust trust) override {
    trusts.push_back(trust);
    co_return co_await send(std::move(call));
  }
  Mailer* mailer() override { return this; }
  Task<Result<void>> send_mail(Mail mail) override {
    mails.push_back(mail);
    if (!mail_error.message.empty()) co_return fail(mail_error);
    co_return Result<void>{};
  }
};

class ProvidersTest : public testing::Test {
 protected:
  ~ProvidersTest() override { env.drop_all(); }

  /// One pass of a run with one step that has this template.
  Pass pass(const std::string& text, const std::string& step = "{name: a, type: t}") {
    Templates templates;
    auto made = templates.compile("t", text);
    EXPECT_TRUE(made) << made.error().message;
    const Steps steps = read_steps(json::parse_yaml("[" + step + "]").value(), Value(), "steps").value();
    Providers providers;
    providers.add(standard_providers());
    const workflow::Run run{
        .setting = {.env = env,
                    .http = &web,
                    .on = [this](const std::string& name) -> Result<client::Client*> {
                      if (name == "far") return &far;
                      if (name.empty() || name == "local") return &hub;
                      return fail(Reason::NotFound, "there is no cluster " + name);
                    },
                    .manager = "slipway-workflow",
                    .owner = json::object({{"metadata", json::object({{"name", "app"}, {"namespace", "shop"}, {"uid", "u"}})}}),
                    .labels = json::object({{"app.oam.dev/name", "app"}}),
                    .context = json::object({{"name", "app"}, {"goes", goes}})},
        .steps = steps,
        .providers = providers,
        .definition = [made](std::string) { return found(*made); },
        .options = {}};
    Pass ended = env.run(run_pass(run, status, store));
    status = ended.status;
    store = ended.store;
    return ended;
  }
  static Task<Result<StepDefinition>> found(TemplatePtr program) { co_return StepDefinition{std::move(program)}; }
  std::string shown() const {
    const StepStatus& step = status.steps.at(0);
    return fmt::format("{}{}{}: {}", step.phase, step.reason.empty() ? "" : "/", step.reason, step.message);
  }

  ManualEnv env;
  PaperCluster hub;
  PaperCluster far;
  PaperWeb web;
  RunStatus status;
  RunStore store;
  bool goes = false;
};

constexpr const char* kObject =
    R"({apiVersion: "v1", kind: "ConfigMap", metadata: {name: "c", namespace: "shop"}, data: k: "v"})";

TEST_F(ProvidersTest, apply_writes_with_labels_and_gives_the_object_back) {
  for (const std::string& style :
       {fmt::format("import \"vela/op\"\no: op.#Apply & {{value: {}}}\nm: op.#Message & {{message: \"gen "
                    "\\(o.value.metadata.generation)\"}}",
                    kObject),
        fmt::format("import (\"vela/kube\"\n\"vela/builtin\")\no: kube.#Apply & {{$params: value: {}}}\nm: builtin.#Message & "
                    "{{$params: message: \"gen \\(o.$returns.value.metadata.generation)\"}}",
                    kObject)}) {
    status = {};
    pass(style);
    EXPECT_EQ(shown(), "succeeded: gen 1");
    EXPECT_EQ(json::print(hub.objects.at("configmaps/shop/c")["metadata"]["labels"]), R"({"app.oam.dev/name":"app"})");
    EXPECT_EQ(status.steps.at(0).resource_ref->kind, "ConfigMap");
  }
}

TEST_F(ProvidersTest, apply_defaults_the_namespace_only_where_there_are_namespaces) {
  pass(
      "import \"vela/op\"\na: op.#Apply & {value: {apiVersion: \"v1\", kind: \"ConfigMap\", metadata: name: \"c\"}}\n"
      "b: op.#Apply & {cluster: \"far\", value: {apiVersion: \"v1\", kind: \"Namespace\", metadata: name: \"n\"}}");
  EXPECT_EQ(shown(), "succeeded: ");
  EXPECT_TRUE(hub.objects.contains("configmaps/default/c"));
  EXPECT_TRUE(far.objects.contains("namespaces//n"));
  EXPECT_EQ(status.steps.at(0).resource_ref->cluster, "far");
}

TEST_F(ProvidersTest, apply_merges_its_patch_by_the_comments_in_the_template) {
  pass(fmt::format(
      "import \"vela/op\"\no: op.#Apply & {{value: {}, patch: {{\n// +patchStrategy=retainKeys\ndata: {{z: \"2\"}}\n}}}}",
      kObject));
  EXPECT_EQ(shown(), "succeeded: ");
  EXPECT_EQ(json::print(hub.objects.at("configmaps/shop/c")["data"]), R"({"z":"2"})");
}

TEST_F(ProvidersTest, what_a_server_writes_differently_is_no_conflict) {
  hub.objects["configmaps/shop/c"] = json::parse(R"({"data": {"other": "x"}, "spec": {"cpu": "1"}})").value();
  pass(
      "import \"vela/op\"\no: op.#Read & {value: {apiVersion: \"v1\", kind: \"ConfigMap\", metadata: {name: \"c\", namespace: "
      "\"shop\"}, spec: cpu: \"1000m\"}}\n"
      "m: op.#Message & {message: o.value.data.other}");
  EXPECT_EQ(shown(), "succeeded: x");
}

TEST_F(ProvidersTest, reading_what_is_not_there_is_no_failure) {
  const std::string read =
      "import \"vela/op\"\no: op.#Read & {value: {apiVersion: \"v1\", kind: \"ConfigMap\", metadata: {name: \"c\", namespace: "
      "\"shop\"}}}\n"
      "if o.err != _|_ {w: op.#ConditionalWait & {continue: false, message: o.err}}";
  const Pass waiting = pass(read);
  EXPECT_EQ(shown(), "running/Wait: configmaps \"c\" not found");
  ASSERT_EQ(waiting.watched.size(), 1U);
  EXPECT_EQ(waiting.watched.at(0).name, "c");
  hub.objects["configmaps/shop/c"] = json::object({{"kind", "ConfigMap"}});
  pass(read);
  EXPECT_EQ(shown(), "succeeded: ");
}

TEST_F(ProvidersTest, a_wait_without_a_message_says_what_is_not_there) {
  const std::string read =
      "import \"vela/op\"\nr: op.#Read & {apiVersion: \"v1\", kind: \"ConfigMap\", name: \"c\", namespace: \"shop\"}\n"
      "w: op.#ConditionalWait & {continue: r.data.k == \"v\"}";
  pass(read);
  EXPECT_EQ(shown(), "running/Wait: r: configmaps \"c\" not found");
  hub.objects["configmaps/shop/c"] = json::parse(R"({"kind": "ConfigMap", "data": {"other": "x"}})").value();
  pass(read);
  EXPECT_EQ(shown(), "running/Wait: w: continue has no value yet");
  hub.objects["configmaps/shop/c"] = json::parse(R"({"kind": "ConfigMap", "data": {"k": "x"}})").value();
  pass(read);
  EXPECT_EQ(shown(), "running/Wait: ");
  hub.objects["configmaps/shop/c"] = json::parse(R"({"kind": "ConfigMap", "data": {"k": "v"}})").value();
  pass(read);
  EXPECT_EQ(shown(), "succeeded: ");
}

TEST_F(ProvidersTest, list_delete_and_patch) {
  hub.objects["configmaps/shop/c"] = json::parse(R"({"kind": "ConfigMap", "data": {"k": "v"}})").value();
  const std::string who = R"(value: {apiVersion: "v1", kind: "ConfigMap", metadata: {name: "c", namespace: "shop"}})";
  pass(
      fmt::format("import \"vela/op\"\np: op.#Patch & {{{}, patch: data: z: \"2\"}}\n"
                  "l: op.#List & {{resource: {{apiVersion: \"v1\", kind: \"ConfigMap\"}}, filter: namespace: \"shop\"}}\n"
                  "m: op.#Message & {{message: \"\\(len(l.list.items)) \\(p.result.data.z)\"}}",
                  who));
  EXPECT_EQ(shown(), "succeeded: 1 2");
  status = {};
  pass(fmt::format("import \"vela/kube\"\nd: kube.#Delete & {{$params: {}}}", who));
  EXPECT_EQ(shown(), "succeeded: ");
  EXPECT_TRUE(hub.objects.empty());
}

TEST_F(ProvidersTest, an_unknown_kind_or_cluster_fails_the_step) {
  pass("import \"vela/op\"\no: op.#Apply & {value: {apiVersion: \"x.y/v1\", kind: \"Odd\", metadata: name: \"c\"}}");
  EXPECT_EQ(shown(), "failed/Execute: function call error for o: no matches for kind \"Odd\" in version \"x.y/v1\"");
  status = {};
  pass(fmt::format("import \"vela/op\"\no: op.#Apply & {{cluster: \"moon\", value: {}}}", kObject));
  EXPECT_EQ(shown(), "failed/Execute: function call error for o: there is no cluster moon");
}

TEST_F(ProvidersTest, http_answers_in_both_styles) {
  for (const char* text :
       {"import \"vela/op\"\nr: op.#HTTPGet & {url: \"http://a/b\", request: header: H: \"1\"}\nm: op.#Message & {message: "
        "\"\\(r.response.statusCode) \\(r.response.body) \\(r.response.header[\"X-One\"][0])\"}",
        "import (\"vela/http\"\n\"vela/builtin\")\nr: http.#HTTPGet & {$params: {url: \"http://a/b\", request: header: H: "
        "\"1\"}}\nm: builtin.#Message & {$params: message: \"\\(r.$returns.statusCode) \\(r.$returns.body) "
        "\\(r.$returns.header[\"X-One\"][0])\"}"}) {
    status = {};
    pass(text);
    EXPECT_EQ(shown(), "succeeded: 200 hello 1");
    EXPECT_EQ(web.calls.back().headers.get("H"), "1");
    EXPECT_EQ(web.calls.back().method, "GET");
  }
  status = {};
  pass("import \"vela/http\"\nr: http.#Do & {$params: {url: \"http://nowhere/b\"}}");
  EXPECT_EQ(shown(), "failed/Execute: function call error for r: GET \"http://nowhere/b\": no such host");
}

TEST_F(ProvidersTest, a_post_is_sent_once_and_again_with_the_same_key_after_a_failure) {
  const std::string post =
      "import (\"vela/http\"\n\"vela/builtin\")\nr: http.#Post & {$params: {url: \"http://{}/b\", request: body: \"x\"}}\n"
      "w: builtin.#ConditionalWait & {$params: continue: context.goes}";
  const auto at = [&](const std::string& host) {
    std::string text = post;
    return text.replace(text.find("{}"), 2, host);
  };
  pass(at("nowhere"));
  env.advance(std::chrono::seconds{1});
  pass(at("there"));
  pass(at("there"));
  EXPECT_EQ(shown(), "running/Wait: ");
  ASSERT_EQ(web.calls.size(), 2U);
  EXPECT_EQ(web.calls.at(0).headers.get("Idempotency-Key"), web.calls.at(1).headers.get("Idempotency-Key"));
  EXPECT_EQ(web.calls.at(0).headers.get("Idempotency-Key").size(), 32U);
}

TEST_F(ProvidersTest, variables_exports_and_encodings) {
  pass(
      "import \"vela/op\"\nput: op.#DoVar & {method: \"Put\", path: \"a.b\", value: 3}\nget: op.#DoVar & {path: \"a.b\"}\n"
      "e: op.#Export & {value: {x: get.value}}\nother: op.#Export & {value: \"t\"}\n"
      "s: op.#ConvertString & {bt: 'bytes'}\nt: op.#DateToTimestamp & {date: \"1970-01-01T00:01:00Z\"}\n"
      "m: op.#Message & {message: \"\\(s.str) \\(t.timestamp)\"}");
  EXPECT_EQ(shown(), "succeeded: bytes 60");
  EXPECT_EQ(json::print(store.vars), R"({"a":{"b":3},"x":3,"other":"t"})");
}

TEST_F(ProvidersTest, configurations) {
  pass(
      "import \"vela/config\"\nc: config.#CreateConfig & {$params: {name: \"s\", namespace: \"shop\", config: {host: \"h\"}}}");
  EXPECT_EQ(shown(), "succeeded: ");
  EXPECT_EQ(kube::label(hub.objects.at("secrets/shop/s"), "config.oam.dev/catalog"), "velacore-config");
  status = {};
  pass("import \"vela/op\"\nc: op.#ReadConfig & {name: \"s\", namespace: \"shop\"}\nm: op.#Message & {message: c.config.host}");
  EXPECT_EQ(shown(), "succeeded: h");
  status = {};
  pass(
      "import \"vela/config\"\nc: config.#CreateConfig & {$params: {name: \"s\", namespace: \"shop\", template: \"t\", config: "
      "{}}}");
  EXPECT_EQ(shown(), "failed/Execute: function call error for c: the template does not exist");
}

constexpr const char* kConfigTemplate = R"CUE(
import "vela/config"
metadata: {name: "registry", scope: "project", sensitive: false}
template: {
	output: {
		apiVersion: "v1"
		kind:       "Secret"
		metadata: {name: context.name, namespace: context.namespace, labels: own: "x"}
		type: "Opaque"
		stringData: {url: parameter.url}
	}
	outputs: map: {
		apiVersion: "v1"
		kind:       "ConfigMap"
		metadata: {name: "\(context.name)-map", namespace: context.namespace}
		data: url: parameter.url
	}
	validation: config.#HelmRepository & {$params: {url: parameter.url, if parameter.user != _|_ {username: parameter.user, password: "p"}}}
	parameter: {
		url:   string
		user?: string
	}
}
)CUE";

/// The step that makes the configuration s of the template.
std::string creating(const std::string& config) {
  return fmt::format(
      "import \"vela/config\"\nc: config.#CreateConfig & {{$params: {{name: \"s\", namespace: \"shop\", template: "
      "\"registry\", config: {}}}}}",
      config);
}

TEST_F(ProvidersTest, configurations_are_made_by_their_template) {
  hub.objects["configmaps/vela-system/config-template-registry"] = json::object(
      {{"kind", "ConfigMap"},
       {"metadata",
        json::object({{"name", "config-template-registry"}, {"labels", json::object({{"config.oam.dev/scope", "project"}})}})},
       {"data", json::object({{"template", kConfigTemplate}})}});
  web.body = "entries: {}";
  pass(creating("{url: \"https://charts.test/\", user: \"u\"}"));
  EXPECT_EQ(shown(), "succeeded: ");
  ASSERT_EQ(web.calls.size(), 1U);
  EXPECT_EQ(web.calls[0].url, "https://charts.test/index.yaml");
  EXPECT_EQ(web.calls[0].headers.get("Authorization"), "Basic " + base64_encode("u:p"));
  const Value secret = hub.objects.at("secrets/shop/s");
  EXPECT_EQ(secret["type"].as_string(), "Opaque");
  EXPECT_EQ(secret["stringData"]["url"].as_string(), "https://charts.test/");
  for (const auto& [name, value] : {std::pair("own", "x"),
                                    {"config.oam.dev/catalog", "velacore-config"},
                                    {"config.oam.dev/type", "registry"},
                                    {"config.oam.dev/scope", "project"}}) {
    EXPECT_EQ(kube::label(secret, name), value) << name;
  }
  EXPECT_EQ(hub.objects.at("configmaps/shop/s-map")["data"]["url"].as_string(), "https://charts.test/");

  status = {};
  pass("import \"vela/config\"\nc: config.#DeleteConfig & {$params: {name: \"s\", namespace: \"shop\"}}");
  EXPECT_EQ(shown(), "succeeded: ");
  EXPECT_FALSE(hub.objects.contains("secrets/shop/s"));
  EXPECT_FALSE(hub.objects.contains("configmaps/shop/s-map"));
}

TEST_F(ProvidersTest, configurations_that_their_template_refuses_are_not_made) {
  const std::pair<const char*, const char*> rows[] = {
      {"{url: \"https://nowhere\"}", "failed to validate config: https://nowhere/index.yaml: no such host"},
      {"{url: 5}", "config template registry: "},
      {"{}", "config template registry: "},
  };
  hub.objects["configmaps/vela-system/config-template-registry"] =
      json::object({{"data", json::object({{"template", kConfigTemplate}})}});
  for (const auto& [config, told] : rows) {
    status = {};
    pass(creating(config));
    EXPECT_TRUE(shown().starts_with(std::string("failed/Execute: function call error for c: ") + told)) << shown();
    EXPECT_FALSE(hub.objects.contains("secrets/shop/s")) << config;
  }
  status = {};
  hub.objects["configmaps/vela-system/config-template-registry"] =
      json::object({{"data", json::object({{"template", "template: {nacos: {endpoint: name: \"n\"}\nparameter: {...}}"}})}});
  pass(creating("{}"));
  EXPECT_TRUE(shown().contains("the writer nacos is not done here")) << shown();
  status = {};
  hub.objects["secrets/shop/s"] = json::parse(R"({"metadata": {"labels": {"config.oam.dev/type": "other"}}})").value();
  pass(creating("{}"));
  EXPECT_TRUE(shown().ends_with("the template of the config can not be changed")) << shown();
}

TEST_F(ProvidersTest, configurations_that_are_sensitive_are_not_read_back) {
  hub.objects["secrets/shop/s"] =
      json::parse(R"({"metadata": {"annotations": {"config.oam.dev/sensitive": "true"}}, "data": {}})").value();
  pass("import \"vela/config\"\nc: config.#ReadConfig & {$params: {name: \"s\", namespace: \"shop\"}}");
  EXPECT_EQ(shown(), "failed/Execute: function call error for c: the config is sensitive");
}

TEST_F(ProvidersTest, registries_of_images_are_asked_as_docker_asks_them) {
  const auto verdict = [&](const std::string& params) {
    status = {};
    web.calls.clear();
    pass(
        fmt::format("import (\"vela/config\"\n\"vela/builtin\")\nc: config.#ImageRegistry & {{$params: {}}}\n"
                    "m: builtin.#Message & {{$params: message: \"\\(c.$returns.result) \\(c.$returns.message)\"}}",
                    params));
    return shown();
  };
  const std::string user = R"({registry: "r.test", auth: {username: "u", password: "p"}})";
  EXPECT_EQ(verdict(user), "succeeded: true ");
  EXPECT_EQ(web.calls[0].url, "https://r.test/v2/");
  web.challenge = R"(Bearer realm="https://auth.test/token",service="r.test")";
  EXPECT_EQ(verdict(user), "succeeded: true ");
  EXPECT_EQ(web.calls[1].url, "https://auth.test/token?service=r.test");
  EXPECT_EQ(web.calls[1].headers.get("Authorization"), "Basic " + base64_encode("u:p"));
  web.challenge = "Basic realm=\"r\"";
  web.status = 403;
  EXPECT_EQ(verdict(user), "succeeded: false https://r.test/v2/: 403: the registry does not take these credentials");
  EXPECT_EQ(verdict(R"({registry: "nowhere", useHTTP: true})"), "succeeded: false http://nowhere/v2/: no such host");
  web.challenge.clear();
  web.status = 200;
  EXPECT_EQ(verdict(R"({registry: "r.test", insecure: true})"), "succeeded: true ");
  EXPECT_TRUE(web.trusts.back().is_insecure);
}

TEST_F(ProvidersTest, http_servers_with_certificates_of_their_own_are_trusted_by_a_secret) {
  const std::string call =
      "import \"vela/http\"\nr: http.#Do & {$params: {url: \"https://a/b\", tls_config: {secret: \"tls\"}}}";
  pass(call);
  EXPECT_EQ(shown(), "failed/Execute: function call error for r: secrets \"tls\" not found");
  hub.objects["secrets/shop/tls"] = json::object({{"data", json::object({{"client.crt", base64_encode("c")}})}});
  status = {};
  pass(call);
  EXPECT_EQ(shown(), "failed/Execute: function call error for r: tls_config: secret tls has no key ca.crt");
  hub.objects["secrets/shop/tls"] = json::object({{"data", json::object({{"ca.crt", base64_encode("a")},
                                                                         {"client.crt", base64_encode("c")},
                                                                         {"client.key", base64_encode("k")}})}});
  status = {};
  pass(call);
  EXPECT_EQ(shown(), "succeeded: ");
  ASSERT_EQ(web.trusts.size(), 1U);
  EXPECT_EQ(web.trusts[0], (HttpTrust{.authority_pem = "a", .certificate_pem = "c", .key_pem = "k"}));
}

TEST_F(ProvidersTest, a_mail_is_sent_once) {
  const std::string step = R"(import ("vela/email"
"vela/builtin")
mail: email.#SendEmail & {$params: {
	from: {address: "a@b", alias: "A", password: "p", host: "h", port: 465}
	to: ["c@d"]
	content: {subject: "s", body: "t"}
}}
w: builtin.#ConditionalWait & {$params: continue: context.goes})";
  web.mail_error.message = "mail server h:465: later";
  pass(step);
  EXPECT_EQ(shown(), "failed/Execute: function call error for mail: mail server h:465: later");
  web.mail_error = {};
  env.advance(1s);
  pass(step);
  EXPECT_EQ(shown(), "running/Wait: ");
  pass(step);
  ASSERT_EQ(web.mails.size(), 2U) << "one failed, one was taken";
  const Mail& mail = web.mails[1];
  EXPECT_EQ(mail.host, "h");
  EXPECT_EQ(mail.port, 465);
  EXPECT_EQ(mail.user, "a@b");
  EXPECT_EQ(mail.from_name, "A");
  EXPECT_EQ(mail.to, std::vector<std::string>{"c@d"});
  EXPECT_EQ(mail.subject, "s");
}

/// A template that shows the kinds that a chart is rendered to.
std::string charting(const std::string& params) {
  return fmt::format(
      "import (\"vela/helm\"\n\"vela/builtin\"\n\"strings\")\nc: helm.#Render & {{$params: {}}}\n"
      "m: builtin.#Message & {{$params: message: strings.Join([for r in c.$returns.resources "
      "{{\"\\(r.kind)@\\(r.metadata.namespace)\"}}], \",\")}}",
      params);
}

TEST_F(ProvidersTest, charts_are_rendered_by_helm) {
  FunctionPrograms programs;
  programs.add("helm", [](const ProgramCall&) -> Result<ProgramEnd> {
    return ProgramEnd{0,
                      "---\n# Source: a\napiVersion: v1\nkind: Service\nmetadata: {name: s}\n---\n---\nkind: Job\n"
                      "metadata: {name: j, namespace: other}\n---\nkind: Job\nmetadata: {name: k, namespace: word}\n",
                      ""};
  });
  static_cast<Env&>(env).programs = &programs;
  hub.objects["secrets/shop/v"] = json::object({{"data", json::object({{"values.yaml", base64_encode("a: word")}})}});
  pass(charting(
      R"({chart: {source: "podinfo", repoURL: "https://charts.test", version: "6.x"}, release: {name: "web", namespace: "n"},
    values: b: 2, valuesFrom: [{kind: "Secret", name: "v"}, {kind: "ConfigMap", name: "none", optional: true}], options: includeCRDs: false})"));
  EXPECT_EQ(shown(), "succeeded: Service@n,Job@other,Job@(secret)");
  ASSERT_EQ(programs.calls().size(), 1U);
  const ProgramCall& call = programs.calls()[0];
  EXPECT_EQ(call.arguments, (std::vector<std::string>{"template", "web", "podinfo", "--repo", "https://charts.test",
                                                      "--version", "6.x", "--namespace", "n", "--no-hooks", "--skip-tests",
                                                      "--values", "values-0.yaml", "--values", "values-1.yaml"}));
  EXPECT_EQ(call.files.at("values-0.yaml").content, "a: word");
  EXPECT_EQ(call.files.at("values-1.yaml").content, R"({"b":2})");
  EXPECT_EQ(call.tenant, "shop");
}

TEST_F(ProvidersTest, charts_that_cannot_be_rendered_say_why) {
  FunctionPrograms programs;
  static_cast<Env&>(env).programs = &programs;
  const auto told = [&](const std::string& params) {
    status = {};
    pass(charting(params));
    const std::string text = shown();
    const std::string begin = "failed/Execute: function call error for c: ";
    EXPECT_TRUE(text.starts_with(begin)) << text;
    return text.substr(std::min(text.size(), begin.size()));
  };
  const std::string chart = R"({chart: {source: "oci://r.test/c"}, release: name: "web")";
  EXPECT_EQ(told(chart + "}"),
            "exec: \"helm\": executable file not found in $PATH: install helm where Slipway runs, or use the "
            "component helm, which Flux installs");
  programs.add("helm", [](const ProgramCall&) -> Result<ProgramEnd> { return ProgramEnd{1, "", "no chart"}; });
  EXPECT_EQ(told(chart + "}"), "helm ended with 1: no chart");
  EXPECT_EQ(told(R"({chart: {source: "c"}, release: name: "web"})"),
            "chart.repoURL: required, since chart.source \"c\" is no URL");
  EXPECT_EQ(told(R"({chart: {source: "--post-renderer=x"}, release: name: "web"})"),
            "chart.source: must be the name of a chart or a URL");
  EXPECT_EQ(told(R"({chart: {source: "oci://r.test/c", auth: secretRef: name: "s"}, release: name: "web"})"),
            "chart.auth is not done here: use the component helm, which Flux installs with a Secret");
  EXPECT_EQ(told(chart + R"(, valuesFrom: [{kind: "OCIRepository", name: "v"}]})"),
            "valuesFrom of kind OCIRepository is not done here: put the values into a ConfigMap or a Secret");
  EXPECT_EQ(told(chart + R"(, valuesFrom: [{kind: "ConfigMap", name: "v"}]})"), "configmaps \"v\" not found");
  programs.add("helm", [](const ProgramCall&) -> Result<ProgramEnd> { return ProgramEnd{}; });
  EXPECT_EQ(told(chart + "}"), "the chart makes no objects with these values");
}

TEST_F(ProvidersTest, a_metric_must_hold_for_its_duration) {
  web.body = R"({"status": "success", "data": {"resultType": "vector", "result": [{"value": [1, "5"]}]}})";
  const std::string check =
      "import (\"vela/metrics\"\n\"vela/builtin\")\nc: metrics.#PromCheck & {$params: {query: \"up{x=\\\"y\\\"}\", condition: "
      "\">3\", duration: \"1m\"}}\n"
      "w: builtin.#ConditionalWait & {$params: {continue: c.$returns.result, message: c.$returns.message}}\n"
      "if c.$returns.failed {f: builtin.#Fail & {$params: message: c.$returns.message}}";
  pass(check);
  EXPECT_EQ(shown(), "running/Wait: the query gives 5, which has met >3 for 0s of 1m0s");
  EXPECT_TRUE(web.calls.back().url.ends_with("/api/v1/query?query=up%7Bx%3D%22y%22%7D")) << web.calls.back().url;
  env.advance(60s);
  pass(check);
  EXPECT_EQ(shown(), "succeeded: ");
}

struct Progress {
  const char* status;
  const char* shown;
};

TEST_F(ProvidersTest, a_step_of_an_operator_ends_by_its_condition) {
  const std::string output = "output: {apiVersion: \"batch/v1\", kind: \"Job\", metadata: name: \"j\"}";
  const Progress kProgress[] = {
      {R"({})", "running/Wait: waits for condition workflow-progress of generation 1"},
      {R"({"observedGeneration": 0, "conditions": [{"type": "workflow-progress", "status": "True", "reason": "Succeeded"}]})",
       "running/Wait: waits for condition workflow-progress of generation 1"},
      {R"({"observedGeneration": 1, "conditions": [{"type": "workflow-progress", "status": "True", "reason": "Succeeded"}]})",
       "succeeded: "},
      {R"({"observedGeneration": 1,
           "conditions": [{"type": "workflow-progress", "status": "False", "reason": "X", "message": "no"}]})",
       "failed/Action: no"},
      {R"({"observedGeneration": 1,
           "conditions": [{"type": "workflow-progress", "status": "False", "reason": "Stopped", "message": "end"}]})",
       "failed/Terminate: end"},
  };
  for (const Progress& progress : kProgress) {
    status = {};
    store = {};
    hub.objects["jobs/shop/j"] = json::object({{"status", json::parse(progress.status).value()}});
    pass(output);
    EXPECT_EQ(shown(), progress.shown) << progress.status;
    const auto told = json::parse(kube::annotation(hub.objects["jobs/shop/j"], "app.oam.dev/workflow-context"));
    ASSERT_TRUE(told);
    EXPECT_EQ((*told)["stepName"].as_string(), "a");
    EXPECT_EQ((*told)["appName"].as_string(), "app");
  }
}

}  // namespace
}  // namespace slipway::delivery::workflow
