// That built-in steps ask for what definitions/step/TABLE.md says. A run is written as its calls in order, with what is told of
// each, and how it ends.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "cue/cue.h"
#include "cue/schema.h"
#include "cue/section.h"
#include "delivery/workflow/builtin_texts.h"
#include "delivery/workflow/template.h"
#include "json/text.h"

namespace slipway::delivery::workflow {
namespace {

using cue::Cursor;
using json::Value;

std::string text_of(std::string_view path) {
  for (const BuiltinText& one : builtin_texts()) {
    if (one.path == path) return std::string(one.text);
  }
  ADD_FAILURE() << "no text " << path;
  return "";
}

std::optional<cue::Program> compiled(const std::string& name, const std::string& text) {
  auto program = cue::compile({{name, text}}, packages(), compile_options());
  EXPECT_TRUE(program.has_value()) << name << (program ? "" : ": " + cue::describe(program.error()));
  return program ? std::optional(*program) : std::nullopt;
}

// One step, played as the engine plays it: the first call that was not done is answered from a table, the step is evaluated
// again with the answer.
using Answers = std::map<std::string, std::vector<std::string>>;  // "kube.read" → what is returned, in turn; the last one stays

struct Play {
  const Answers& answers;
  std::map<std::string, std::size_t> asked;

  Value answer(const std::string& call) {
    auto found = answers.find(call);
    if (found == answers.end() || found->second.empty()) return json::object({});
    const std::size_t turn = std::min(asked[call]++, found->second.size() - 1);
    auto value = json::parse(found->second[turn]);
    EXPECT_TRUE(value.has_value()) << found->second[turn];
    return value ? *value : Value();
  }
};

/// What a call is about, in few words.
std::string gist(const std::string& call, const Value& params) {
  const Value& object = params["value"];
  if (call == "builtin.wait" || call == "op.wait") return params["continue"].as_bool() ? "true" : "false";
  if (call.starts_with("builtin.")) return params["message"].str();
  if (call == "http.do") return params["method"].str() + " " + params["url"].str();
  if (call == "util.string") return "";
  if (call == "op.component-apply" || call == "oam.component-apply")
    return params["cluster"].str() + " " + object["name"].str();
  if (call.starts_with("config.")) return params["namespace"].str() + " " + params["name"].str();
  if (!object["kind"].is_null()) {
    const std::string ns = object["metadata"]["namespace"].str();
    std::string cluster = params["cluster"].str();
    if (!cluster.empty()) cluster += ": ";
    return cluster + object["kind"].str() + " " + (ns.empty() ? "" : ns + "/") + object["metadata"]["name"].str();
  }
  return "";
}

constexpr const char* kContext =
    R"({"name":"app","appName":"app","namespace":"ns","stepName":"step","stepSessionID":"id7","publishVersion":"",)"
    R"("appRevision":"app-v2","appRevisionNum":2})";

struct Played {
  std::string trace;
  std::vector<Value> params;  // of the calls, in order
  std::string error;          // the end, when it is one
};

/// What is concrete of the fields beside `#do`.
Value flat_params(const Cursor& call) {
  json::ObjectBuilder out;
  for (const cue::FieldCursor& one : call.fields()) {
    if (auto value = one.value.to_json()) out.add(one.name, *value);
  }
  return out.build();
}

Played play(const std::string& step, const std::string& parameter, const Answers& answers) {
  auto program = compiled(step, cue::section(text_of("step/" + step + ".cue"), "template"));
  if (!program) return {};
  Played out;
  Play answering{.answers = answers, .asked = {}};
  Cursor root = cue::evaluate(*program, {{"parameter", *json::parse(parameter)}, {"context", *json::parse(kContext)}});
  std::set<std::string> done;
  for (int turn = 0; turn < 50; ++turn) {
    if (auto errors = root.validate(); !errors.empty()) {
      out.error = errors.front().path + ": " + errors.front().message;
      return out;
    }
    const std::vector<cue::Call> calls = cue::calls(root);
    auto next = std::ranges::find_if(calls, [&](const cue::Call& one) { return !done.contains(one.path); });
    if (next == calls.end()) return out;
    const std::string name = next->provider + "." + next->function;
    const bool is_flat = next->provider == "op";
    auto params = next->value.field("$params").exists() ? next->value.field("$params").to_json() : Value();
    if (is_flat) params = flat_params(next->value);
    if (!params) {
      out.error = next->path + ": " + params.error().front().message;
      return out;
    }
    const std::string about = gist(name, *params);
    out.trace += (out.trace.empty() ? "" : ", ") + name + (about.empty() ? "" : "(" + about + ")");
    out.params.push_back(*params);
    if (name == "builtin.fail" || name == "builtin.suspend") return out;
    if ((name == "builtin.wait" || name == "op.wait") && !(*params)["continue"].as_bool()) return out;
    done.insert(next->path);
    root = cue::fill(root, {{is_flat ? next->path : next->path + ".$returns", answering.answer(name)}});
  }
  ADD_FAILURE() << step << " never ends";
  return out;
}

struct Row {
  const char* step;
  const char* parameter;
  Answers answers;
  const char* trace;
};

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const Played played = play(row.step, row.parameter, row.answers);
    EXPECT_EQ(played.trace, row.trace) << row.step << " " << row.parameter;
    EXPECT_EQ(played.error, "") << row.step << " " << row.parameter;
  }
}

const char* kSecret = R"({"value":{"data":{"url":"aHR0cDovL3g=","token":"dA=="}}})";

std::vector<Row> delivering() {
  return {
      {"deploy", R"({})", {}, "multicluster.deploy"},
      {"deploy", R"({"auto":false,"policies":["p"]})", {}, R"(builtin.suspend(Waiting approval to the deploy step "step"))"},
      {"builtin-apply-component",
       R"({"value":{"name":"web"},"cluster":"c","namespace":"n"})",
       {},
       "oam.component-apply(c web)"},
      {"builtin-apply-component", R"({"value":{"name":"web"}})", {}, "oam.component-apply( web)"},
      {"apply-component", R"({"component":"web"})", {}, ""},
      {"step-group", R"({})", {}, ""},
      {"apply-application",
       R"({})",
       {{"oam.load-comps-in-order", {R"({"value":[{"name":"a"},{"name":"b"}]})"}}},
       "oam.load-comps-in-order, oam.component-apply( a), oam.component-apply( b)"},
      {"apply-application-in-parallel",
       R"({})",
       {{"oam.load-comps-in-order", {R"({"value":[{"name":"a"}]})"}}},
       "oam.load-comps-in-order, oam.component-apply( a)"},
      {"apply-remaining",
       R"({"exceptions":["a"]})",
       {{"oam.load", {R"({"value":{"a":{"name":"a"},"b":{"name":"b"}}})"}}},
       "oam.load, oam.component-apply( b)"},
      {"deploy2runtime",
       R"({})",
       {{"oam.load", {R"({"value":{"a":{"name":"a"}}})"}},
        {"multicluster.list-clusters", {R"({"outputs":{"clusters":["x","y"]}})"}}},
       "oam.load, multicluster.list-clusters, oam.component-apply(x a), oam.component-apply(y a)"},
      {"deploy2runtime",
       R"({"clusters":["z"]})",
       {{"oam.load", {R"({"value":{"a":{"name":"a"}}})"}}},
       "oam.load, oam.component-apply(z a)"},
  };
}

TEST(BuiltinSteps, deliver_components) { check(delivering()); }

/// A rollout as a step sees it: what it rolls out, how far it is, and its plan.
std::string rollout(const char* revision, const char* rolling, const char* batch, int current, const char* plan = "{}") {
  return fmt::format(
      R"({{"value":{{"apiVersion":"core.oam.dev/v1beta1","kind":"AppRollout","metadata":{{"name":"app-web","namespace":"ns"}},)"
      R"("spec":{{"targetRevisionName":"{0}","rolloutPlan":{4}}},"status":{{"lastTargetRevision":"{0}","rollingState":"{1}",)"
      R"("batchRollingState":"{2}","currentBatch":{3}}}}}}})",
      revision, rolling, batch, current, plan);
}

/// An environment "prod" with a web service and a database that Terraform provides.
const char* kProd = R"({"outputs":{"policy":"p","decisions":[{"cluster":"x","namespace":"prod"}],"components":[)"
                    R"({"name":"web","type":"webservice"},)"
                    R"({"name":"db","type":"rds","properties":{"size":1,"writeConnectionSecretToRef":{"name":"conn"}}}]}})";
const char* kFromTerraform = R"({"outputs":{"components":[{"name":"db","type":"rds"}]}})";

std::vector<Row> environments() {
  const Answers ready = {{"op.prepare-env-binding", {kProd}},
                         {"op.load-terraform-components", {kFromTerraform}},
                         {"op.get-connection-status", {R"({"outputs":{"healthy":true}})"}},
                         {"op.read", {R"({"value":{"data":{"DB_HOST":"eA=="}}})"}}};
  const Answers absent = {{"op.prepare-env-binding", {kProd}},
                          {"op.load-terraform-components", {kFromTerraform}},
                          {"op.get-connection-status", {R"({"outputs":{"healthy":false}})"}},
                          {"op.read", {R"({"err":"not found"})"}}};
  return {
      {"deploy2env",
       R"({"env":"prod"})",
       {{"op.prepare-env-binding", {kProd}}},
       "op.prepare-env-binding, op.component-apply(x web), op.component-apply(x db)"},
      {"deploy2env",
       R"({"env":"prod","policy":"p","parallel":true})",
       {{"op.prepare-env-binding", {kProd}}},
       "op.prepare-env-binding, op.component-apply(x web), op.component-apply(x db), op.component-apply(x web), "
       "op.component-apply(x db)"},
      {"deploy-cloud-resource", R"({"env":"prod"})", ready,
       "op.prepare-env-binding, op.load-terraform-components, op.component-apply( db-prod), op.get-connection-status, "
       "op.read(Secret ns/conn-prod), op.wait(true), op.apply(x: Secret prod/conn)"},
      {"deploy-cloud-resource", R"({"env":"prod","policy":"p"})", absent,
       "op.prepare-env-binding, op.load-terraform-components, op.component-apply( db-prod), op.get-connection-status, "
       "op.read(Secret ns/conn-prod), op.wait(false)"},
      {"share-cloud-resource", R"({"env":"prod","placements":[{"cluster":"y"},{"namespace":"n"}]})", ready,
       "op.prepare-env-binding, op.load-terraform-components, op.get-connection-status, op.read(Secret ns/conn-prod), "
       "op.wait(true), op.apply(y: Secret ns/conn), op.apply(local: Secret n/conn)"},
      {"share-cloud-resource", R"({"env":"prod","policy":"p","placements":[]})", absent,
       "op.prepare-env-binding, op.load-terraform-components, op.get-connection-status, op.read(Secret ns/conn-prod), "
       "op.wait(false)"},
  };
}

TEST(BuiltinSteps, deliver_environments) { check(environments()); }

std::vector<Row> rolling() {
  const char* load = R"({"value":[{"name":"web"}]})";
  const char* blue_green = R"({"batchPartition":0,"traffic":{"provider":"nginx"},"rolloutBatches":[{"replicas":"50%"},)"
                           R"({"replicas":0},{"gates":[{"name":"promotion","at":"before","approval":{}}]}]})";
  const Answers shared_out = {{"oam.load-comps-in-order", {load}},
                              {"kube.read", {rollout("app-v2", "rollingInBatches", "batchReady", 0, blue_green)}}};
  const Answers shifted = {
      {"oam.load-comps-in-order", {load}},
      {"kube.read",
       {rollout("app-v2", "rollingInBatches", "batchReady", 1, R"({"batchPartition":1,"rolloutBatches":[{},{},{}]})")}}};
  const Answers failed = {{"oam.load-comps-in-order", {load}},
                          {"kube.read", {rollout("app-v2", "rolloutFailed", "batchReady", 1, R"({"batchPartition":2})")}}};
  return {
      {"app-rollout", R"({"component":"web","plan":{}})", {}, "kube.apply(AppRollout ns/app-web), builtin.wait(false)"},
      {"app-rollout",
       R"({"component":"web","plan":{}})",
       {{"kube.apply", {rollout("app-v1", "rolloutSucceed", "batchReady", 0)}}},
       "kube.apply(AppRollout ns/app-web), builtin.wait(false)"},
      {"app-rollout",
       R"({"component":"web","plan":{}})",
       {{"kube.apply", {rollout("app-v2", "rolloutSucceed", "batchReady", 0)}}},
       "kube.apply(AppRollout ns/app-web), builtin.wait(true)"},
      {"app-rollout",
       R"({"component":"web","plan":{}})",
       {{"kube.apply", {rollout("app-v2", "rolloutFailed", "batchReady", 0)}}},
       "kube.apply(AppRollout ns/app-web), builtin.fail(the rollout of web failed)"},
      {"blue-green-rollout",
       R"({"partition":"50%"})",
       {{"oam.load-comps-in-order", {load}}, {"kube.apply", {rollout("app-v2", "rollingInBatches", "batchInRolling", 0)}}},
       "oam.load-comps-in-order, kube.apply(AppRollout ns/app-web), builtin.wait(false)"},
      {"blue-green-rollout",
       R"({"partition":"50%"})",
       {{"oam.load-comps-in-order", {load}}, {"kube.apply", {rollout("app-v2", "rollingInBatches", "batchReady", 0)}}},
       "oam.load-comps-in-order, kube.apply(AppRollout ns/app-web), builtin.wait(true)"},
      {"blue-green-rollout",
       R"({"components":["db"]})",
       {{"oam.load-comps-in-order", {load}}},
       "oam.load-comps-in-order, builtin.wait(true)"},
      {"traffic-shift",
       R"({"partition":"50%"})",
       {{"oam.load-comps-in-order", {load}}, {"kube.read", {rollout("app-v2", "rollingInBatches", "batchReady", 0)}}},
       "oam.load-comps-in-order, kube.read(AppRollout ns/app-web), builtin.fail(the rollout of web has no provider of traffic: "
       "set property traffic {provider, ingressRef, service} of the step blue-green-rollout)"},
      {"traffic-shift",
       R"({"partition":"50%"})",
       {{"oam.load-comps-in-order", {load}}, {"kube.read", {rollout("app-v1", "rolloutSucceed", "batchReady", 0)}}},
       "oam.load-comps-in-order, kube.read(AppRollout ns/app-web), builtin.wait(true)"},
      {"traffic-shift", R"({"partition":"50%"})", shared_out,
       "oam.load-comps-in-order, kube.read(AppRollout ns/app-web), kube.patch(AppRollout ns/app-web), builtin.wait(false)"},
      {"rollout-promotion", R"({"manualApproval":true,"rollbackIfNotApproved":true})", shifted,
       "oam.load-comps-in-order, kube.read(AppRollout ns/app-web), kube.patch(AppRollout ns/app-web), builtin.wait(false)"},
      {"rollout-promotion", R"({})", failed,
       "oam.load-comps-in-order, kube.read(AppRollout ns/app-web), builtin.fail(the rollout of web was not approved or "
       "failed)"},
      {"rollout-wait-succeed",
       R"({"appName":"app","component":"web"})",
       {{"oam.load", {R"({"value":{"web":{"name":"web"}}})"}},
        {"kube.read", {rollout("web-v2", "rolloutSucceed", "batchReady", 0)}}},
       "oam.load, oam.component-apply( web), kube.read(Rollout ns/web), builtin.wait(true)"},
  };
}

TEST(BuiltinSteps, roll_components_out) { check(rolling()); }

std::vector<Row> applying() {
  const char* ready = R"({"value":{"status":{"readyReplicas":2}}})";
  return {
      {"apply-object",
       R"({"value":{"kind":"ConfigMap","metadata":{"name":"c"}},"cluster":"w"})",
       {},
       "kube.apply(w: ConfigMap c)"},
      {"apply-object", R"({"value":{"kind":"ConfigMap","metadata":{"name":"c"}}})", {}, "kube.apply(ConfigMap c)"},
      {"apply-deployment", R"({"image":"i"})", {}, "kube.apply(Deployment ns/step), builtin.wait(false)"},
      {"apply-deployment",
       R"({"image":"i","replicas":2})",
       {{"kube.apply", {ready}}},
       "kube.apply(Deployment ns/step), builtin.wait(true)"},
      {"apply-app", R"({"data":{"kind":"Application"}})", {}, "kube.apply(Application ), builtin.wait(false)"},
      {"apply-app",
       R"({"ref":{"name":"c"}})",
       {{"kube.read", {R"({"value":{"data":{"application":"kind: Application\nmetadata: {name: x}"}}})"}},
        {"kube.apply", {R"({"value":{"status":{"status":"running"}}})"}}},
       "kube.read(ConfigMap ns/c), kube.apply(Application x), builtin.wait(true)"},
      {"read-app", R"({"name":"a"})", {}, "kube.read(Application ns/a)"},
      {"read-app",
       R"({"name":"a"})",
       {{"kube.read", {R"({"err":"a not found"})"}}},
       "kube.read(Application ns/a), builtin.message(Application not found)"},
      {"read-object", R"({"name":"a"})", {}, "kube.read(Application default/a)"},
      {"read-object",
       R"({"apiVersion":"v1","kind":"Pod","name":"p","namespace":"n","cluster":"c"})",
       {},
       "kube.read(c: Pod n/p)"},
      {"clean-jobs", R"({})", {}, "kube.delete(Job ns/app), kube.delete(Pod ns/app)"},
      {"depends-on-app",
       R"({"name":"b","namespace":"m"})",
       {{"kube.read", {R"({"value":{"status":{"status":"running"}}})"}}},
       "kube.read(Application m/b), builtin.wait(true)"},
      {"depends-on-app",
       R"({"name":"b","namespace":"m"})",
       {{"kube.read", {R"({"err":"not found"})", R"({"value":{"data":{"application":"kind: Application"}}})"}}},
       "kube.read(Application m/b), kube.read(ConfigMap m/b), kube.apply(Application ), builtin.wait(false)"},
  };
}

TEST(BuiltinSteps, apply_and_read_objects) { check(applying()); }

std::vector<Row> exporting() {
  const Answers two = {
      {"multicluster.get-placements-from-topology-policies",
       {R"({"placements":[{"cluster":"x","namespace":""},{"cluster":"y","namespace":""}]})"}},
  };
  return {
      {"export2config", R"({"configName":"c","data":{"a":"b"}})", {}, "kube.apply(ConfigMap ns/c)"},
      {"export2secret", R"({"secretName":"s","namespace":"n","data":{"a":"b"}})", {}, "kube.apply(Secret n/s)"},
      {"export-data", R"({"data":{"a":"b"},"topology":"t"})", two,
       "multicluster.get-placements-from-topology-policies, kube.apply(x: ConfigMap ns/app), kube.apply(y: ConfigMap ns/app)"},
      {"export-data",
       R"({"kind":"Secret","name":"s","data":{"a":"b"}})",
       {},
       "multicluster.get-placements-from-topology-policies"},
      {"export-service",
       R"({"ip":"1.1.1.1","port":1,"targetPort":2})",
       {{"multicluster.get-placements-from-topology-policies", {R"({"placements":[{"cluster":"x","namespace":""}]})"}}},
       "multicluster.get-placements-from-topology-policies, kube.apply(x: Service ns/app), kube.apply(x: Endpoints ns/app)"},
      {"create-config", R"({"name":"c","config":{"a":1}})", {}, "config.create(ns c)"},
      {"read-config", R"({"name":"c","namespace":"m"})", {}, "config.read(m c)"},
      {"list-config", R"({"template":"t"})", {}, "config.list(ns )"},
      {"delete-config", R"({"name":"c"})", {}, "config.delete(ns c)"},
  };
}

TEST(BuiltinSteps, export_data) { check(exporting()); }

std::vector<Row> telling() {
  return {
      {"print-message-in-status", R"({"message":"hello"})", {}, "builtin.message(hello)"},
      {"suspend", R"({})", {}, "builtin.suspend"},
      {"suspend", R"({"duration":"1m","message":"look"})", {}, "builtin.suspend(look)"},
      {"request", R"({"url":"http://x"})", {{"http.do", {R"({"statusCode":200,"body":"{}"})"}}}, "http.do(GET http://x)"},
      {"request",
       R"({"url":"http://x","method":"POST","body":{"a":1}})",
       {{"http.do", {R"({"statusCode":404,"body":"{}"})"}}},
       "http.do(POST http://x), builtin.fail(request of http://x is fail: 404)"},
      {"webhook",
       R"({"url":{"value":"http://x"}})",
       {{"kube.read", {R"({"value":{"kind":"Application"}})"}}},
       "kube.read(Application ns/app), http.do(POST http://x)"},
      {"webhook",
       R"({"url":{"secretRef":{"name":"s","key":"url"}},"data":{"a":1}})",
       {{"kube.read", {kSecret}}, {"util.string", {R"({"str":"http://y"})"}}},
       "kube.read(Secret ns/s), util.string, http.do(POST http://y)"},
      {"notification", R"({"slack":{"url":{"value":"http://x"},"message":{"text":"t"}}})", {}, "http.do(POST http://x)"},
      {"notification",
       R"({"lark":{"url":{"secretRef":{"name":"s","key":"url"}},"message":{"msg_type":"text","content":"t"}}})",
       {{"kube.read", {kSecret}}, {"util.string", {R"({"str":"http://y"})"}}},
       "kube.read(Secret ns/s), util.string, http.do(POST http://y)"},
      {"notification",
       R"({"email":{"from":{"address":"a","host":"h","password":{"value":"p"}},"to":["b"],"content":{"subject":"s","body":"t"}}})",
       {},
       "email.send"},
      {"chat-gpt",
       R"({"token":{"value":"t"},"prompt":{"type":"audit","content":{"kind":"Pod"}}})",
       {{"http.do", {R"({"statusCode":200,"body":"{\"choices\":[{\"message\":{\"content\":\"fine\"}}]}"})"}}},
       "http.do(POST https://api.openai.com/v1/chat/completions), util.log"},
      {"chat-gpt",
       R"({"token":{"secretRef":{"name":"s","key":"token"}},"prompt":{"content":"why?"}})",
       {{"kube.read", {kSecret}},
        {"util.string", {R"({"str":"t"})"}},
        {"http.do", {R"({"statusCode":401,"body":"{\"error\":{\"message\":\"no\"}}"})"}}},
       "kube.read(Secret ns/s), util.string, http.do(POST https://api.openai.com/v1/chat/completions), "
       "builtin.fail(401: failed to request: no)"},
  };
}

TEST(BuiltinSteps, tell_and_ask_others) { check(telling()); }

std::vector<Row> running() {
  return {
      {"vela-cli",
       R"({"command":["vela","ls"]})",
       {{"kube.apply", {R"({"value":{"status":{"succeeded":1}}})"}}},
       "kube.apply(Job vela-system/app-step-id7), util.log, builtin.wait(true)"},
      {"vela-cli",
       R"({"command":["vela"],"serviceAccountName":"x","storage":{"secret":[{"name":"a","mountPath":"/a","secretName":"s"}]}})",
       {{"kube.apply", {R"({"value":{"status":{"failed":3}}})"}}},
       "kube.apply(Job ns/app-step-id7), util.log, builtin.fail(failed to execute vela command)"},
      {"build-push-image",
       R"({"image":"i","context":{"git":"git://x/y"},"credentials":{"image":{"name":"s"}}})",
       {{"kube.read", {R"({"value":{"status":{"phase":"Running"}}})"}}},
       "kube.apply(Pod ns/app-id7-kaniko), util.log, kube.read(Pod ns/app-id7-kaniko), builtin.wait(false)"},
      {"build-push-image",
       R"({"image":"i","context":"s3://x"})",
       {{"kube.read", {R"({"value":{"status":{"phase":"Failed"}}})"}}},
       "kube.apply(Pod ns/app-id7-kaniko), util.log, kube.read(Pod ns/app-id7-kaniko), builtin.fail(failed to build i)"},
      {"apply-terraform-config",
       R"({"source":{"path":"p","remote":"r"},"variable":{"a":1}})",
       {{"kube.apply", {R"({"value":{"status":{"apply":{"state":"Available"}}}})"}}},
       "kube.apply(Configuration ns/app-step), builtin.wait(true)"},
      {"apply-terraform-config",
       R"({"source":{"hcl":"h"},"variable":{}})",
       {},
       "kube.apply(Configuration ns/app-step), builtin.wait(false)"},
      {"apply-terraform-provider",
       R"({"type":"aws","accessKey":"a","secretKey":"b","region":"c"})",
       {{"kube.read", {R"({"value":{"status":{"state":"ready"}}})"}}},
       "config.create(ns app-step), kube.read(Provider ns/aws-provider), builtin.wait(true)"},
      {"apply-terraform-provider",
       R"({"type":"gcp","name":"g","credentials":"a","region":"b","project":"c"})",
       {},
       "config.create(ns app-step), kube.read(Provider ns/g), builtin.wait(false)"},
  };
}

TEST(BuiltinSteps, run_jobs_and_wait_for_them) { check(running()); }

std::vector<Row> judging() {
  const char* endpoints =
      R"({"list":[{"endpoint":{"host":"h","port":80,"inner":true}},{"endpoint":{"host":"g","port":81,"portName":"w"}}]})";
  return {
      {"check-metrics",
       R"({"query":"q","condition":">1"})",
       {{"metrics.promCheck", {R"({"result":false,"failed":true,"message":"low"})"}}},
       "metrics.promCheck, builtin.fail(low)"},
      {"check-metrics",
       R"({"query":"q","condition":">1","duration":"1m"})",
       {{"metrics.promCheck", {R"({"result":true,"failed":false})"}}},
       "metrics.promCheck, builtin.wait(true)"},
      {"collect-service-endpoints", R"({})", {}, "query.collectServiceEndpoints, builtin.wait(false)"},
      {"collect-service-endpoints",
       R"({"outer":true,"portName":"w","port":81})",
       {{"query.collectServiceEndpoints", {endpoints}}},
       "query.collectServiceEndpoints, builtin.wait(true)"},
      {"collect-service-endpoints",
       R"({"outer":true,"port":80})",
       {{"query.collectServiceEndpoints", {endpoints}}},
       "query.collectServiceEndpoints, builtin.wait(false)"},
      {"generate-jdbc-connection",
       R"({"name":"s"})",
       {{"kube.read",
         {R"({"value":{"data":{"DB_HOST":"eA==","DB_PORT":"eA==","DB_NAME":"eA==","DB_USER":"eA==","DB_PASSWORD":"eA=="}}})"}},
        {"util.string", {R"({"str":"x"})"}}},
       "kube.read(Secret s), util.string, util.string, util.string, util.string, util.string"},
      {"restart-workflow", R"({"every":"5m"})", {}, "kube.patch(Application ns/app)"},
      {"restart-workflow",
       R"({"after":"2h"})",
       {{"kube.apply", {R"({"value":{"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"}}})"}},
        {"time.timestamp", {R"({"timestamp":1000})"}},
        {"time.date", {R"({"date":"1970-01-01T02:16:40Z"})"}}},
       "kube.apply(ConfigMap ns/app-restart-id7), time.timestamp, time.date, kube.delete(ConfigMap ns/app-restart-id7), "
       "kube.patch(Application ns/app)"},
      {"restart-workflow",
       R"({"every":"5m","after":"2h"})",
       {},
       "builtin.fail(Exactly one of 'at', 'after', or 'every' parameters must be specified (found 2))"},
  };
}

TEST(BuiltinSteps, judge_and_look_around) { check(judging()); }

std::vector<Row> reaching() {
  return {
      {"gitops",
       R"({"gitRepo":"https://git.test/a.git"})",
       {{"gitops.push", {R"({"commit":"c","branch":"main","changed":true,"message":"pushed"})"}}},
       "gitops.push, builtin.message(pushed)"},
      {"gitops",
       R"({"gitRepo":"git@git.test:a.git","branch":"live","path":"","pullRequestBranch":"p","credentials":{"secretRef":{"name":"k"}},)"
       R"("components":["web"],"policies":["t"],"secrets":"omit","author":{"name":"Ann"},"message":"m"})",
       {{"gitops.push", {R"({"message":"main has it"})"}}},
       "gitops.push, builtin.message(main has it)"},
      {"open-cluster-management",
       R"({"placement":[{"clusterSelector":{"region":"east"},"replicas":"70%"}]})",
       {{"clusters.place", {R"({"message":"web: east 7"})"}}},
       "clusters.place, builtin.message(web: east 7)"},
      {"open-cluster-management",
       R"({"placement":[{"clusterSelector":{}}],"components":["web"],"policies":["o"],"namespace":"n"})",
       {{"clusters.place", {R"({"message":"web: east"})"}}},
       "clusters.place, builtin.message(web: east)"},
      {"helm-template",
       R"({"source":"https://git.test/t.git","path":"chart","parameters":{"image":"i","replicas":3}})",
       {{"prerender.helm-template", {R"({"message":"done"})"}}},
       "prerender.helm-template, builtin.message(done)"},
      {"helm-template",
       R"({"source":"https://git.test/t.git","branch":"b","credentials":{"secretRef":{"name":"k"}}})",
       {{"prerender.helm-template", {R"({"message":"done"})"}}},
       "prerender.helm-template, builtin.message(done)"},
      {"kustomize-patch",
       R"({"source":"https://git.test/t.git","path":"base","patch":{"spec":{"components":[{"name":"c"}]}}})",
       {{"prerender.kustomize-patch", {R"({"message":"done"})"}}},
       "prerender.kustomize-patch, builtin.message(done)"},
      {"kustomize-patch",
       R"({"source":"https://git.test/t.git"})",
       {{"prerender.kustomize-patch", {R"({"message":"done"})"}}},
       "prerender.kustomize-patch, builtin.message(done)"},
  };
}

TEST(BuiltinSteps, reach_beyond_the_cluster) { check(reaching()); }

/// Steps with parameters that they refuse.
std::vector<std::pair<std::string, const char*>> refused() {
  return {
      {"deploy", R"({"auto":"yes"})"},
      {"builtin-apply-component", R"({"value":"web"})"},
      {"apply-object", R"({"value":"text"})"},
      {"apply-deployment", R"({"replicas":1})"},
      {"apply-app", R"({"neither":1})"},
      {"read-app", R"({})"},
      {"read-object", R"({"kind":"Pod"})"},
      {"clean-jobs", R"({"namespace":5})"},
      {"depends-on-app", R"({"name":"a"})"},
      {"apply-remaining", R"({"exceptions":"a"})"},
      {"deploy2runtime", R"({"clusters":"a"})"},
      {"export2config", R"({"data":{}})"},
      {"export2secret", R"({"secretName":"s","kind":"other","data":{}})"},
      {"export-data", R"({"kind":"Pod","data":{}})"},
      {"export-service", R"({"ip":"1.1.1.1","port":"a","targetPort":2})"},
      {"create-config", R"({"name":"c","config":"text"})"},
      {"read-config", R"({})"},
      {"list-config", R"({})"},
      {"delete-config", R"({})"},
      {"print-message-in-status", R"({})"},
      {"suspend", R"({"duration":5})"},
      {"request", R"({"method":"GET"})"},
      {"request", R"({"url":"u","method":"FETCH"})"},
      {"webhook", R"({"url":"http://x","data":{}})"},
      {"notification", R"({"slack":{"url":{"value":"u"},"message":{}}})"},
      {"chat-gpt", R"({"token":{"value":"t"},"prompt":{"type":"poem","content":"x"}})"},
      {"vela-cli", R"({"command":"vela ls"})"},
      {"build-push-image", R"({"context":"c"})"},
      {"apply-terraform-config", R"({"source":{"hcl":"h"},"variable":{},"deleteResource":"yes"})"},
      {"apply-terraform-provider", R"({"type":"none"})"},
      {"check-metrics", R"({"condition":">1"})"},
      {"collect-service-endpoints", R"({"port":"http"})"},
      {"generate-jdbc-connection", R"({})"},
      {"restart-workflow", R"({"every":"often"})"},
      {"addon-operation", R"({"addonName":"a","operation":"remove"})"},
      {"app-rollout", R"({"plan":{}})"},
      {"apply-component", R"({"component":1})"},
      {"blue-green-rollout", R"({"components":"db"})"},
      {"deploy-cloud-resource", R"({"env":1})"},
      {"deploy2env", R"({"env":"prod","parallel":"yes"})"},
      {"rollout-promotion", R"({"manualApproval":"no"})"},
      {"rollout-wait-succeed", R"({"appName":"app","component":1})"},
      {"share-cloud-resource", R"({"env":"prod","placements":"x"})"},
      {"traffic-shift", R"({"partition":[]})"},
      {"gitops", R"({"branch":"main"})"},
      {"gitops", R"({"gitRepo":"https://git.test/a.git","secrets":"hide"})"},
      {"open-cluster-management", R"({"placement":[{"clusterSelector":"east"}]})"},
      {"helm-template", R"({"path":"chart"})"},
      {"kustomize-patch", R"({"source":"https://git.test/t.git","patch":"image: x"})"},
  };
}

TEST(BuiltinSteps, refuse_wrong_parameters_before_the_first_call) {
  for (const auto& [step, parameter] : refused()) {
    const Played played = play(step, parameter, {});
    EXPECT_NE(played.error, "") << step << " " << parameter << " " << played.trace;
    EXPECT_EQ(played.trace, "") << step << " " << parameter;
  }
}

/// The second parameter sets of steps that need no more than one row above.
std::vector<Row> varied() {
  const char* load = R"({"value":[{"name":"web"},{"name":"db"}]})";
  return {
      {"apply-component", R"({"component":"web","cluster":"c","namespace":"n"})", {}, ""},
      {"apply-remaining", R"({})", {{"oam.load", {R"({"value":{"a":{"name":"a"}}})"}}}, "oam.load, oam.component-apply( a)"},
      {"clean-jobs", R"({"labelselector":{"a":"b"},"namespace":"n"})", {}, "kube.delete(Job n/app), kube.delete(Pod n/app)"},
      {"create-config", R"({"name":"c","namespace":"m","template":"t","config":{}})", {}, "config.create(m c)"},
      {"read-config", R"({"name":"c"})", {}, "config.read(ns c)"},
      {"list-config", R"({"template":"t","namespace":"m"})", {}, "config.list(m )"},
      {"delete-config", R"({"name":"c","namespace":"m"})", {}, "config.delete(m c)"},
      {"depends-on-app",
       R"({"name":"b","namespace":"n"})",
       {{"kube.read", {R"({"value":{"status":{"status":"rendering"}}})"}}},
       "kube.read(Application n/b), builtin.wait(false)"},
      {"export-service",
       R"({"name":"s","namespace":"n","ip":"1.1.1.1","port":80,"targetPort":8080,"topology":"t"})",
       {{"multicluster.get-placements-from-topology-policies", {R"({"placements":[{"cluster":"y","namespace":"m"}]})"}}},
       "multicluster.get-placements-from-topology-policies, kube.apply(y: Service n/s), kube.apply(y: Endpoints n/s)"},
      {"export2config", R"({"configName":"c","namespace":"n","cluster":"w","data":{}})", {}, "kube.apply(w: ConfigMap n/c)"},
      {"export2secret", R"({"secretName":"s","type":"t","cluster":"w","data":{}})", {}, "kube.apply(w: Secret ns/s)"},
      {"generate-jdbc-connection",
       R"({"name":"s","namespace":"n"})",
       {{"kube.read",
         {R"({"value":{"data":{"DB_HOST":"eA==","DB_PORT":"eA==","DB_NAME":"eA==","DB_USER":"eA==","DB_PASSWORD":"eA=="}}})"}},
        {"util.string", {R"({"str":"x"})"}}},
       "kube.read(Secret n/s), util.string, util.string, util.string, util.string, util.string"},
      {"print-message-in-status", R"({"message":""})", {}, "builtin.message"},
      {"read-app",
       R"({"name":"a","namespace":"m"})",
       {{"kube.read", {R"({"value":{"kind":"Application"}})"}}},
       "kube.read(Application m/a)"},
      {"app-rollout",
       R"({"component":"db","plan":{"rolloutBatches":[{"replicas":1}]}})",
       {{"kube.apply", {rollout("app-v2", "rolloutSucceed", "batchReady", 0)}}},
       "kube.apply(AppRollout ns/app-db), builtin.wait(true)"},
      {"traffic-shift",
       R"({"partition":"100%","components":["db"]})",
       {{"oam.load-comps-in-order", {load}}, {"kube.read", {rollout("app-v1", "rolloutSucceed", "batchReady", 0)}}},
       "oam.load-comps-in-order, kube.read(AppRollout ns/app-db), builtin.wait(true)"},
      {"rollout-wait-succeed",
       R"({"appName":"app","component":"db"})",
       {{"oam.load", {R"({"value":{"db":{"name":"db"}}})"}},
        {"kube.read", {rollout("db-v2", "rollingInBatches", "batchReady", 0)}}},
       "oam.load, oam.component-apply( db), kube.read(Rollout ns/db), builtin.wait(false)"},
      {"addon-operation",
       R"({"addonName":"a"})",
       {},
       "builtin.fail(NotImplemented: there are no addons here, so a cannot be enabled; apply what the addon brings instead: "
       "its "
       "definitions with `slipway def apply`, its Application with `slipway apply -f`)"},
      {"addon-operation",
       R"({"addonName":"b","operation":"disable","args":["x=y"]})",
       {},
       "builtin.fail(NotImplemented: there are no addons here, so b cannot be disabled; apply what the addon brings instead: "
       "its "
       "definitions with `slipway def apply`, its Application with `slipway apply -f`)"},
  };
}

TEST(BuiltinSteps, ask_the_same_way_with_other_parameters) { check(varied()); }

/// They have no parameters.
const std::set<std::string> kBare = {"apply-application", "apply-application-in-parallel", "step-group"};

TEST(BuiltinSteps, each_have_two_parameter_sets_and_a_wrong_one) {
  std::map<std::string, std::set<std::string>> good;
  std::map<std::string, int> bad;
  for (const auto& rows : {delivering(), environments(), rolling(), applying(), exporting(), telling(), running(), judging(),
                           reaching(), varied()}) {
    for (const Row& row : rows) good[row.step].insert(row.parameter);
  }
  for (const auto& [step, parameter] : refused()) ++bad[step];
  for (const BuiltinText& one : builtin_texts()) {
    if (!one.path.starts_with("step/")) continue;
    const std::string step(one.path.substr(5, one.path.size() - 9));
    EXPECT_GE(good[step].size(), kBare.contains(step) ? 1U : 2U) << step;
    EXPECT_GE(bad[step], kBare.contains(step) ? 0 : 1) << step;
  }
}

/// The parameters of the nth call of a step.
Value params_of(const std::string& step, const std::string& parameter, std::size_t n = 0, const Answers& answers = {}) {
  const Played played = play(step, parameter, answers);
  EXPECT_EQ(played.error, "");
  EXPECT_LT(n, played.params.size());
  return n < played.params.size() ? played.params[n] : Value();
}

TEST(BuiltinSteps, push_below_the_applications_name_unless_told_otherwise) {
  const Answers answers = {{"gitops.push", {R"({"message":"pushed"})"}}};
  const Value by_default = params_of("gitops", R"({"gitRepo":"u"})", 0, answers);
  EXPECT_EQ(by_default["path"].as_string(), "app");
  EXPECT_EQ(by_default["branch"].as_string(), "main");
  EXPECT_EQ(by_default["secrets"].as_string(), "refuse");
  EXPECT_EQ(params_of("gitops", R"({"gitRepo":"u","path":""})", 0, answers)["path"].as_string(), "");
}

TEST(BuiltinSteps, pass_their_parameters_on) {
  EXPECT_EQ(json::print(params_of("deploy", R"({"policies":["a","b"]})")),
            R"({"policies":["a","b"],"parallelism":5,"ignoreTerraformComponent":true,"inlinePolicies":[]})");
  EXPECT_EQ(json::print(params_of("request", R"({"url":"u","header":{"A":"b"},"body":{"x":[1]}})")),
            R"({"method":"GET","url":"u","request":{"body":"{\"x\":[1]}","header":{"A":"b"}}})");
  EXPECT_EQ(json::print(params_of("notification", R"({"slack":{"url":{"value":"u"},"message":{"text":"t"}}})")["request"]),
            R"({"header":{"Content-Type":"application/json"},"body":"{\"text\":\"t\"}"})");
  EXPECT_EQ(
      json::print(params_of("export2secret", R"({"secretName":"s","kind":"docker-registry",)"
                                             R"("dockerRegistry":{"username":"u","password":"p","server":"r"}})")["value"]),
      R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"ns"},)"
      R"("stringData":{".dockerconfigjson":"{\"auths\":{\"r\":{\"username\":\"u\",\"password\":\"p\",\"auth\":\"dTpw\"}}}"},)"
      R"("type":"kubernetes.io/dockerconfigjson"})");
  EXPECT_EQ(json::print(params_of("clean-jobs", R"({"labelSelector":{"a":"b"},"namespace":"n"})")["filter"]),
            R"({"namespace":"n","matchingLabels":{"a":"b"}})");
  EXPECT_EQ(
      json::print(params_of("apply-terraform-provider", R"({"type":"ec","apiKey":"k"})")),
      R"({"name":"app-step","namespace":"ns","template":"terraform-ec","config":{"name":"ec-provider","EC_API_KEY":"k"}})");
  EXPECT_EQ(json::print(params_of("restart-workflow", R"({"at":"2026-01-01T00:00:00Z"})")["patch"]),
            R"({"metadata":{"annotations":{"app.oam.dev/restart-workflow":"2026-01-01T00:00:00Z"}}})");
}

TEST(BuiltinSteps, mount_a_volume_twice_but_declare_it_once) {
  const Value pod =
      params_of("vela-cli", R"({"command":["c"],"storage":{"secret":[)"
                            R"({"name":"a","mountPath":"/a","secretName":"s"},)"
                            R"({"name":"a","mountPath":"/b","secretName":"s","subPath":"x"}],)"
                            R"("hostPath":[{"name":"h","path":"/h","mountPath":"/c"}]}})")["value"]["spec"]["template"]["spec"];
  EXPECT_EQ(json::print(pod["volumes"]), R"([{"name":"secret-a","secret":{"secretName":"s","defaultMode":420}},)"
                                         R"({"name":"hostpath-h","hostPath":{"path":"/h","type":"Directory"}}])");
  EXPECT_EQ(pod["containers"].item(0)["volumeMounts"].size(), 3u);
}

}  // namespace
}  // namespace slipway::delivery::workflow
