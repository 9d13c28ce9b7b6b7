// Runs of steps that deliver components and environments and roll them out.
#include "delivery/workflow/builtin_steps_play_test.h"

#include <fmt/format.h>

namespace slipway::delivery::workflow::step_rows {
namespace {

/// An environment "prod" with a web service and a database that Terraform provides.
const char* kProd = R"({"outputs":{"policy":"p","decisions":[{"cluster":"x","namespace":"prod"}],"components":[)"
                    R"({"name":"web","type":"webservice"},)"
                    R"({"name":"db","type":"rds","properties":{"size":1,"writeConnectionSecretToRef":{"name":"conn"}}}]}})";
const char* kFromTerraform = R"({"outputs":{"components":[{"name":"db","type":"rds"}]}})";

}  // namespace

std::string rollout(const char* revision, const char* rolling, const char* batch, int current, const char* plan) {
  return fmt::format(
      R"({{"value":{{"apiVersion":"core.oam.dev/v1beta1","kind":"AppRollout","metadata":{{"name":"app-web","namespace":"ns"}},)"
      R"("spec":{{"targetRevisionName":"{0}","rolloutPlan":{4}}},"status":{{"lastTargetRevision":"{0}","rollingState":"{1}",)"
      R"("batchRollingState":"{2}","currentBatch":{3}}}}}}})",
      revision, rolling, batch, current, plan);
}

std::vector<StepRow> delivering() {
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

std::vector<StepRow> environments() {
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

constexpr const char* kLoaded = R"({"value":[{"name":"web"}],"others":[]})";

std::vector<StepRow> rolling() {
  const char* blue_green = R"({"batchPartition":0,"traffic":{"provider":"nginx"},"rolloutBatches":[{"replicas":"50%"},)"
                           R"({"replicas":0},{"gates":[{"name":"promotion","at":"before","approval":{}}]}]})";
  const Answers shared_out = {{"oam.load-rolled-comps", {kLoaded}},
                              {"kube.read", {rollout("app-v2", "rollingInBatches", "batchReady", 0, blue_green)}}};
  const std::string unsplit = rollout("app-v2", "rollingInBatches", "batchReady", 0,
                                      R"({"batchPartition":0,"rolloutBatches":[{"replicas":"50%"},{"replicas":0},{}]})");
  const Answers shifted = {
      {"oam.load-rolled-comps", {kLoaded}},
      {"kube.read",
       {rollout("app-v2", "rollingInBatches", "batchReady", 1, R"({"batchPartition":1,"rolloutBatches":[{},{},{}]})")}}};
  const Answers failed = {{"oam.load-rolled-comps", {kLoaded}},
                          {"kube.read", {rollout("app-v2", "rolloutFailed", "batchReady", 1, R"({"batchPartition":2})")}}};
  return {
      {"app-rollout",
       R"({"component":"web","plan":{}})",
       {{"oam.load-rolled-comps", {kLoaded}}},
       "oam.load-rolled-comps, kube.apply(AppRollout ns/app-web), builtin.wait(false)"},
      {"app-rollout",
       R"({"component":"web","plan":{}})",
       {{"oam.load-rolled-comps", {kLoaded}}, {"kube.apply", {rollout("app-v1", "rolloutSucceed", "batchReady", 0)}}},
       "oam.load-rolled-comps, kube.apply(AppRollout ns/app-web), builtin.wait(false)"},
      {"app-rollout",
       R"({"component":"web","plan":{}})",
       {{"oam.load-rolled-comps", {kLoaded}}, {"kube.apply", {rollout("app-v2", "rolloutSucceed", "batchReady", 0)}}},
       "oam.load-rolled-comps, kube.apply(AppRollout ns/app-web), builtin.wait(true)"},
      {"app-rollout",
       R"({"component":"web","plan":{}})",
       {{"oam.load-rolled-comps", {kLoaded}}, {"kube.apply", {rollout("app-v2", "rolloutFailed", "batchReady", 0)}}},
       "oam.load-rolled-comps, kube.apply(AppRollout ns/app-web), builtin.fail(the rollout of web failed)"},
      {"app-rollout",
       R"({"component":"conf","plan":{}})",
       {{"oam.load-rolled-comps", {R"({"value":[],"others":[{"name":"conf"}]})"}}},
       "oam.load-rolled-comps, oam.component-apply( conf), builtin.wait(true)"},
      {"blue-green-rollout",
       R"({"partition":"50%"})",
       {{"oam.load-rolled-comps", {kLoaded}}, {"kube.apply", {rollout("app-v2", "rollingInBatches", "batchInRolling", 0)}}},
       "oam.load-rolled-comps, kube.apply(AppRollout ns/app-web), builtin.wait(false)"},
      {"blue-green-rollout",
       R"({"partition":"50%"})",
       {{"oam.load-rolled-comps", {kLoaded}}, {"kube.apply", {rollout("app-v2", "rollingInBatches", "batchReady", 0)}}},
       "oam.load-rolled-comps, kube.apply(AppRollout ns/app-web), builtin.wait(true)"},
      {"blue-green-rollout",
       R"({"components":["db"]})",
       {{"oam.load-rolled-comps", {kLoaded}}},
       "oam.load-rolled-comps, builtin.wait(true)"},
      {"traffic-shift",
       R"({"partition":"50%"})",
       {{"oam.load-rolled-comps", {kLoaded}}, {"kube.read", {unsplit}}},
       "oam.load-rolled-comps, kube.read(AppRollout ns/app-web), kube.patch(AppRollout ns/app-web), builtin.message(nothing "
       "splits the traffic of web: it goes by the share of ready pods (property traffic of the step blue-green-rollout names "
       "what splits it)), builtin.wait(false)"},
      {"traffic-shift",
       R"({"partition":"50%"})",
       {{"oam.load-rolled-comps", {kLoaded}}, {"kube.read", {rollout("app-v1", "rolloutSucceed", "batchReady", 0)}}},
       "oam.load-rolled-comps, kube.read(AppRollout ns/app-web), builtin.wait(true)"},
      {"traffic-shift", R"({"partition":"50%"})", shared_out,
       "oam.load-rolled-comps, kube.read(AppRollout ns/app-web), kube.patch(AppRollout ns/app-web), builtin.wait(false)"},
      {"rollout-promotion", R"({"manualApproval":true,"rollbackIfNotApproved":true})", shifted,
       "oam.load-rolled-comps, kube.read(AppRollout ns/app-web), kube.patch(AppRollout ns/app-web), builtin.wait(false)"},
      {"rollout-promotion", R"({})", failed,
       "oam.load-rolled-comps, kube.read(AppRollout ns/app-web), builtin.fail(the rollout of web was not approved or "
       "failed)"},
      {"rollout-wait-succeed",
       R"({"appName":"app","component":"web"})",
       {{"oam.load", {R"({"value":{"web":{"name":"web"}}})"}},
        {"kube.read", {rollout("web-v2", "rolloutSucceed", "batchReady", 0)}}},
       "oam.load, oam.component-apply( web), kube.read(Rollout ns/web), builtin.wait(true)"},
  };
}

}  // namespace slipway::delivery::workflow::step_rows
