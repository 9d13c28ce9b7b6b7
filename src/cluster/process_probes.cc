#include "cluster/process_probes.h"

#include <algorithm>
#include <csignal>

#include "json/text.h"

namespace slipway::cluster {

namespace {

using json::Value;

constexpr std::string_view kUserAgent = "kube-probe/1.33";

const Value& named(const Value& list, std::string_view name) {
  static const Value kNone;
  const auto found = std::ranges::find(list.items(), name, [](const Value& item) { return item["name"].as_string(); });
  return found == list.items().end() ? kNone : *found;
}

/// A number, or the name of one of the container's ports; 0 when there is none such.
std::uint16_t port_of(const Value& port, const Value& container) {
  const std::int64_t number =
      port.is_string() ? named(container["ports"], port.as_string())["containerPort"].as_int() : port.as_int();
  return number > 0 && number <= 65535 ? static_cast<std::uint16_t>(number) : std::uint16_t{0};
}

HttpCall http_call(const Value& probe, const std::string& address, std::uint16_t port, Duration timeout) {
  const std::string host = probe["host"].as_string().empty() ? address : probe["host"].str();
  const std::string_view path = probe["path"].as_string();
  const char* scheme = probe["scheme"].as_string() == "HTTPS" ? "https" : "http";
  HttpCall call;
  call.url = fmt::format("{}://{}:{}{}{}", scheme, host, port, path.starts_with('/') ? "" : "/", path);
  call.timeout = timeout;
  call.headers.set("Accept", "*/*");
  call.headers.set("User-Agent", std::string(kUserAgent));
  for (const Value& header : probe["httpHeaders"].items()) call.headers.set(header["name"].str(), header["value"].str());
  return call;
}

}  // namespace

void ProcessProbes::judge(const kube::Object& pod, const PodState& state, const std::string& address, PodReport& report) {
  const auto has_probes = [](const Value& container) { return !probes_of(container).empty(); };
  if (std::ranges::none_of(pod["spec"]["containers"].items(), has_probes)) return;
  Containers& containers = pods_[std::string(kube::uid(pod))];
  const Steady now = env_.clock.steady();
  for (Value& status : report.containers) {
    const std::string name = status["name"].str();
    const auto run = std::ranges::find_if(state.containers, [&](const auto& one) { return !one.is_init && one.name == name; });
    const Value& container = named(pod["spec"]["containers"], name);
    if (run == state.containers.end() || run->phase != PodContainerPhase::Running || !has_probes(container)) continue;
    Watched& own = watched(containers, container, *run, named(pod["status"]["containerStatuses"], name));
    for (const std::size_t index : own.probes.take_due(now, kube::is_deleting(pod))) {
      tasks_.spawn(run_probe(pod, name, own.process, index, own.probes.spec(index), address));
    }
    if (own.probes.failed() != nullptr && !kube::is_deleting(pod)) end_failed(own, pod);
    status = status.with("ready", own.probes.is_ready()).with("started", own.probes.is_started());
    if (!own.complaint.empty()) report.warning = PodWarning{"Unhealthy", own.complaint};
    for (const auto& due : {own.probes.next(), own.kill_at}) {
      if (!due) continue;
      const Duration wait = std::max(*due - now, Duration{0});
      report.look_again = std::min(report.look_again.value_or(wait), wait);
    }
  }
}

ProcessProbes::Watched& ProcessProbes::watched(Containers& containers, const json::Value& container,
                                               const PodContainerState& state, const json::Value& status) {
  const auto known = containers.find(state.name);
  if (known != containers.end() && known->second.process == state.process) return known->second;
  const Time started{Duration{state.started_us}};
  const bool is_same_run = kube::time_of(status["state"]["running"]["startedAt"]) == started;
  ContainerProbes probes(container, env_.clock.steady(), env_.clock.now() - started, status, is_same_run);
  return containers.insert_or_assign(state.name, Watched{state.process, state.started_us, std::move(probes)}).first->second;
}

/// A signal that is lost is sent again with the next look.
void ProcessProbes::end_failed(Watched& watched, const kube::Object& pod) {
  const Steady now = env_.clock.steady();
  const bool is_late = watched.kill_at && *watched.kill_at <= now;
  if (watched.kill_at && !is_late) return;
  const auto sent = env_.processes.signal(watched.process, is_late ? SIGKILL : SIGTERM);
  if (!sent) env_.log.warn("a container that failed its probe could not be ended", {{"error", sent.error().message}});
  const Duration grace = seconds_saturating(pod["spec"]["terminationGracePeriodSeconds"].as_int(30));
  watched.kill_at = now + (is_late ? std::chrono::seconds{1} : watched.probes.failed()->grace.value_or(grace));
}

Task<> ProcessProbes::run_probe(kube::Object pod, std::string container, ProcessId process, std::size_t index, ProbeSpec spec,
                                std::string address) {
  const std::string fault = co_await ask(pod, named(pod["spec"]["containers"], container), spec, std::move(address));
  const auto found = pods_.find(std::string(kube::uid(pod)));
  if (found == pods_.end()) co_return;
  const auto own = found->second.find(container);
  if (own == found->second.end() || !(own->second.process == process)) co_return;
  own->second.probes.record(index, fault.empty());
  own->second.complaint = fault.empty() ? "" : fmt::format("{} probe failed: {}", to_string(spec.kind), fault);
  if (changed_) changed_(kube::key_of(pod));
}

Task<std::string> ProcessProbes::ask(kube::Object pod, json::Value container, ProbeSpec spec, std::string address) {
  if (const Value& http = spec.action["httpGet"]; !http.is_null()) {
    co_return co_await ask_http(http, port_of(http["port"], container), spec.timeout, std::move(address));
  }
  if (const Value& tcp = spec.action["tcpSocket"]; !tcp.is_null()) {
    const std::uint16_t port = port_of(tcp["port"], container);
    if (port == 0) co_return fmt::format("no port {}", json::print(tcp["port"]));
    if (!tools_.dial) co_return "no way to connect is configured";
    const auto dialled =
        co_await tools_.dial(tcp["host"].as_string().empty() ? address : tcp["host"].str(), port, spec.timeout);
    co_return dialled ? std::string() : dialled.error().message;
  }
  if (const Value& exec = spec.action["exec"]; !exec.is_null()) {
    co_return co_await ask_exec(std::move(pod), container["name"].str(), exec["command"], spec.timeout);
  }
  co_return "a probe without httpGet, tcpSocket or exec is not implemented";
}

Task<std::string> ProcessProbes::ask_http(json::Value probe, std::uint16_t port, Duration timeout, std::string address) {
  if (port == 0) co_return fmt::format("no port {}", json::print(probe["port"]));
  if (tools_.http == nullptr) co_return "no HTTP client is configured";
  const auto answer = co_await tools_.http->send(http_call(probe, address, port, timeout));
  if (!answer) co_return answer.error().message;
  if (answer->status >= 200 && answer->status < 400) co_return "";
  co_return fmt::format("HTTP probe failed with statuscode: {}", answer->status);
}

Task<std::string> ProcessProbes::ask_exec(kube::Object pod, std::string container, json::Value command, Duration timeout) {
  server::ExecQuery query;
  query.container = std::move(container);
  for (const Value& word : command.items()) query.command.push_back(word.str());
  const auto started = co_await tools_.exec(std::move(pod), std::move(query));
  if (!started) co_return started.error().message;
  server::PodExec* exec = started->get();
  bool is_late = false;
  const auto timer = env_.clock.call_at(env_.clock.steady() + timeout, [exec, &is_late] {
    is_late = true;
    exec->close();
  });
  std::string printed;
  for (;;) {
    const auto output = co_await exec->next();
    if (!output)
      co_return is_late ? fmt::format("command timed out after {}", slipway::to_string(timeout)) : output.error().message;
    if (printed.size() < 1024) printed += output->out + output->err;
    if (!output->exit_code) continue;
    co_return *output->exit_code == 0 ? std::string() : fmt::format("exit code {}: {}", *output->exit_code, printed);
  }
}

}  // namespace slipway::cluster
