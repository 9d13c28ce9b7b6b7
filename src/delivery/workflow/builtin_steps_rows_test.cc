// Runs of all other steps.
#include "delivery/workflow/builtin_steps_play_test.h"

namespace slipway::delivery::workflow::step_rows {
namespace {

const char* kSecret = R"({"value":{"data":{"url":"aHR0cDovL3g=","token":"dA=="}}})";

}  // namespace

std::vector<StepRow> applying() {
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

std::vector<StepRow> exporting() {
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

std::vector<StepRow> telling() {
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

std::vector<StepRow> running() {
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

std::vector<StepRow> judging() {
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

std::vector<StepRow> reaching() {
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

/// The second parameter sets of steps that need no more than one row above.
std::vector<StepRow> varied() {
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
       {{"oam.load-rolled-comps", {R"({"value":[{"name":"db"}],"others":[]})"}},
        {"kube.apply", {rollout("app-v2", "rolloutSucceed", "batchReady", 0)}}},
       "oam.load-rolled-comps, kube.apply(AppRollout ns/app-db), builtin.wait(true)"},
      {"traffic-shift",
       R"({"partition":"100%","components":["db"]})",
       {{"oam.load-rolled-comps", {load}}, {"kube.read", {rollout("app-v1", "rolloutSucceed", "batchReady", 0)}}},
       "oam.load-rolled-comps, kube.read(AppRollout ns/app-db), builtin.wait(true)"},
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

}  // namespace slipway::delivery::workflow::step_rows
