// vela/helm: the objects of a Helm chart, rendered by the program helm of this machine (`helm template`). Nothing is installed:
// who applies the objects owns them, so there is no release, no hook is run, and a failed upgrade is not rolled back.
#include <fmt/format.h>

#include "base/digest.h"
#include "base/programs.h"
#include "client/client.h"
#include "delivery/workflow/provider.h"
#include "json/text.h"
#include "kube/object.h"
#include "kube/well_known.h"

namespace slipway::delivery::workflow {
namespace {

constexpr const char* kProgram = "helm";
constexpr Duration kTimeout = std::chrono::minutes{5};
constexpr std::size_t kMaxTold = 2'000;  // of what helm says when it fails
constexpr const char* kValuesKey = "values.yaml";

/// The text of one of valuesFrom; empty when it is optional and not there.
Task<Result<std::string>> values_text(const CallSetting& setting, Value from) {
  const std::string kind = from["kind"].str();
  const bool is_secret = kind == "Secret";
  if (!is_secret && kind != "ConfigMap") {
    co_return fail(Reason::NotImplemented,
                   fmt::format("valuesFrom of kind {} is not done here: put the values into a ConfigMap or a Secret", kind));
  }
  SLIPWAY_CO_TRY(hub, setting.on(""));
  std::string ns = from["namespace"].str();
  if (ns.empty()) ns = kube::ns(setting.owner);
  const std::string key = from["key"].as_string().empty() ? kValuesKey : from["key"].str();
  const auto object = co_await client::get(*hub, is_secret ? kube::kSecrets : kube::kConfigMaps, {ns, from["name"].str()});
  const bool is_absent = !object && object.error().reason == Reason::NotFound;
  if (is_absent && from["optional"].as_bool()) co_return "";
  if (!object) co_return fail(object.error());
  const Value& data = (*object)["data"][key];
  if (data.is_null() && from["optional"].as_bool()) co_return "";
  if (data.is_null())
    co_return fail(Reason::NotFound, fmt::format("{} {}/{} has no key {}", kind, ns, from["name"].as_string(), key));
  std::string text = data.str();
  if (is_secret && !base64_decode(data.as_string(), text)) {
    co_return fail(Reason::Invalid, fmt::format("key {} of secret {} is not base64", key, from["name"].as_string()));
  }
  co_return text;
}

struct ChartValues {
  std::vector<std::string> texts;  // as files, those that go before others last
  std::vector<Value> secret_ones;  // what was read from Secrets
};

Task<Result<ChartValues>> all_values(const CallSetting& setting, Value params) {
  ChartValues values;
  for (const Value& from : params["valuesFrom"].items()) {
    SLIPWAY_CO_TRY(text, co_await values_text(setting, from));
    if (text.empty()) continue;
    if (from["kind"].as_string() == "Secret") {
      const auto parsed = json::parse_yaml(text);
      values.secret_ones.push_back(parsed ? *parsed : Value(text));  // helm says what is wrong with it
    }
    values.texts.push_back(std::move(text));
  }
  if (!params["values"].is_null()) values.texts.push_back(json::print(params["values"]));
  co_return values;
}

/// `--repo URL NAME`, or the chart's own URL.
Result<std::vector<std::string>> chart_arguments(const Value& chart) {
  const std::string source = chart["source"].str();
  const bool is_url = source.starts_with("oci://") || source.starts_with("https://") || source.starts_with("http://");
  const std::string repository = chart["repoURL"].str();
  if (!chart["auth"].is_null()) {
    return fail(Reason::NotImplemented,
                "chart.auth is not done here: use the component helm, which Flux installs with a Secret");
  }
  if (source.empty() || source.starts_with('-') || repository.starts_with('-')) {
    return fail(Reason::Invalid, "chart.source: must be the name of a chart or a URL");
  }
  if (!is_url && repository.empty()) {
    return fail(Reason::Invalid, fmt::format("chart.repoURL: required, since chart.source \"{}\" is no URL", source));
  }
  std::vector<std::string> arguments = {source};
  if (!is_url) arguments.insert(arguments.end(), {"--repo", repository});
  const std::string version = chart["version"].str();
  if (!version.empty() && version != "latest") arguments.insert(arguments.end(), {"--version", version});
  return arguments;
}

Result<ProgramCall> helm_call(const ProviderCall& call, const std::vector<std::string>& values) {
  const Value& params = call.params;
  const Value& options = params["options"];
  std::string release = params["release"]["name"].str();
  if (release.empty() || release.starts_with('-')) return fail(Reason::Invalid, "release.name: must be a name");
  std::string ns = params["release"]["namespace"].str();
  if (ns.empty()) ns = kube::ns(call.setting.owner);
  SLIPWAY_TRY(chart, chart_arguments(params["chart"]));
  ProgramCall made{.name = kProgram, .arguments = {"template", release}};
  made.arguments.insert(made.arguments.end(), chart.begin(), chart.end());
  made.arguments.insert(made.arguments.end(), {"--namespace", ns, "--no-hooks"});
  if (options["includeCRDs"].as_bool(true)) made.arguments.emplace_back("--include-crds");
  if (options["skipTests"].as_bool(true)) made.arguments.emplace_back("--skip-tests");
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string file = fmt::format("values-{}.yaml", i);
    made.files[file] = {values[i]};
    made.arguments.insert(made.arguments.end(), {"--values", file});
  }
  made.network = ProgramCall::Network::machine;
  made.tenant = std::string(kube::ns(call.setting.owner));
  made.timeout = kTimeout;
  if (const std::string timeout = options["timeout"].str(); !timeout.empty()) {
    SLIPWAY_TRY(wanted, parse_duration(timeout));
    made.timeout = wanted;
  }
  return made;
}

/// The objects of helm's output, in its order. Those without a namespace are in the release's.
Result<Value> objects_in(const std::string& text, const std::string& ns) {
  SLIPWAY_TRY(documents, json::parse_yaml_all(text));
  json::ArrayBuilder objects;
  for (const json::YamlDocument& document : documents) {
    if (!document.value.is_object() || document.value.empty()) continue;
    const bool has_place = !kube::ns(document.value).empty() || kube::kind(document.value) == "Namespace" || ns.empty();
    objects.add(has_place ? document.value : document.value.with_path({"metadata", "namespace"}, ns));
  }
  return objects.build();
}

Task<Answer> render(ProviderCall call) {
  Programs* programs = call.setting.env.programs;
  if (programs == nullptr) co_return Answer::error("the program helm cannot be run from here");
  const auto values = co_await all_values(call.setting, call.params);
  if (!values) co_return Answer::error(values.error());
  auto order = helm_call(call, values->texts);
  if (!order) co_return Answer::error(order.error());
  const auto end = co_await programs->run(std::move(*order));
  if (!end && end.error().reason == Reason::NotFound) {
    co_return Answer::error(fmt::format("{}: install helm where Slipway runs, or use the component helm, which Flux installs",
                                        end.error().message));
  }
  if (!end) co_return Answer::error(end.error());
  if (end->code != 0) {
    co_return Answer::error(fmt::format("helm ended with {}: {}", end->code, end->error.substr(0, kMaxTold)));
  }
  const auto objects = objects_in(end->output, call.params["release"]["namespace"].str());
  if (!objects) co_return Answer::error(fmt::format("what helm made is no YAML: {}", objects.error().message));
  if (objects->empty()) co_return Answer::error("the chart makes no objects with these values");
  Answer answer = Answer::done(json::object({{"resources", *objects}, {"notes", ""}}));
  answer.is_secret = !values->secret_ones.empty();
  answer.secret_part = json::array(values->secret_ones);
  co_return answer;
}

}  // namespace

std::vector<Provider> helm_providers() {
  return {{.package = "helm",
           .function = "render",
           .params = {"chart", "release", "values", "valuesFrom", "options"},
           .run = render,
           .flat_function = "-"}};
}

}  // namespace slipway::delivery::workflow
