#include "base/pod_record.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <set>

namespace slipway {
namespace {

constexpr std::string_view kManifestTitle = "slipway-pod-manifest";
constexpr std::string_view kStateTitle = "slipway-pod-state";
constexpr std::int64_t kVersion = 1;

template <class Enum>
struct EnumName {
  Enum value;
  std::string_view name;
};
constexpr EnumName<PodRestart> kRestarts[] = {
    {PodRestart::Never, "Never"}, {PodRestart::OnFailure, "OnFailure"}, {PodRestart::Always, "Always"}};
constexpr EnumName<PodMounting> kMountings[] = {
    {PodMounting::None, "None"}, {PodMounting::Namespace, "Namespace"}, {PodMounting::Mapped, "Mapped"}};
constexpr EnumName<PodContainerPhase> kContainerPhases[] = {{PodContainerPhase::Waiting, "Waiting"},
                                                            {PodContainerPhase::Running, "Running"},
                                                            {PodContainerPhase::Terminated, "Terminated"}};
constexpr EnumName<PodPhase> kPhases[] = {{PodPhase::Pending, "Pending"},
                                          {PodPhase::Running, "Running"},
                                          {PodPhase::Succeeded, "Succeeded"},
                                          {PodPhase::Failed, "Failed"},
                                          {PodPhase::Lost, "Lost"}};

template <class Enum, std::size_t N>
std::string_view name_of(const EnumName<Enum> (&names)[N], Enum value) {
  return names[static_cast<std::size_t>(value)].name;
}

void put(std::string& out, std::string_view key, std::string_view value) {
  out.append(key).push_back(' ');
  for (const char c : value) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out.push_back(c);
    }
  }
  out.push_back('\n');
}

void put(std::string& out, std::string_view key, bool value) { put(out, key, std::string_view(value ? "true" : "false")); }
void put(std::string& out, std::string_view key, std::int64_t value) { put(out, key, std::string_view(fmt::to_string(value))); }
void put(std::string& out, std::string_view key, std::uint64_t value) {
  put(out, key, std::string_view(fmt::to_string(value)));
}
void put(std::string& out, std::string_view key, const ProcessId& value) {
  put(out, key, std::string_view(fmt::format("{} {}", value.pid, value.start_ticks)));
}

/// The lines of a record, one after the other, with typed access to the value of the current one. The first failure stays.
class Lines {
 public:
  Lines(std::string_view text, std::string_view what) : rest_(text), what_(what) {}

  /// Moves to the next line; false at the end or after a failure.
  bool next() {
    if (failure_ || rest_.empty()) return false;
    ++number_;
    const auto end = rest_.find('\n');
    if (end == std::string_view::npos) return refuse("the record is cut off");
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    const auto space = line.find(' ');
    if (space == std::string_view::npos) return refuse("a line needs a key and a value");
    key_ = line.substr(0, space);
    return unescape(line.substr(space + 1));
  }

  std::string_view key() const { return key_; }
  const std::string& text() const { return value_; }

  void read(std::string& into) { into = value_; }
  void read(bool& into) {
    into = value_ == "true";
    if (!into && value_ != "false") refuse("must be true or false");
  }
  void read(std::int64_t& into) { number(value_, into); }
  void read(std::int32_t& into) { number(value_, into); }
  void read(std::uint64_t& into) { number(value_, into); }
  void read(ProcessId& into) {
    const std::string_view value = value_;
    const auto space = value.find(' ');
    if (space == std::string_view::npos) return void(refuse("must be a pid and its start"));
    number(value.substr(0, space), into.pid);
    number(value.substr(space + 1), into.start_ticks);
  }
  template <class Enum, std::size_t N>
  void read(const EnumName<Enum> (&names)[N], Enum& into) {
    for (const auto& row : names) {
      if (row.name == value_) return void(into = row.value);
    }
    refuse("unknown value");
  }

  bool refuse(std::string_view why) {
    if (!failure_) failure_ = fmt::format("{} line {} ({}): {}", what_, number_, key_, why);
    return false;
  }
  const std::optional<std::string>& failure() const { return failure_; }

 private:
  template <class Number>
  void number(std::string_view text, Number& into) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
    if (error != std::errc() || end != text.data() + text.size()) refuse("must be a whole number in range");
  }

  bool unescape(std::string_view escaped) {
    value_.clear();
    for (std::size_t i = 0; i < escaped.size(); ++i) {
      if (escaped[i] == '\0') return refuse("a NUL byte cannot be passed to a process");
      if (escaped[i] != '\\') {
        value_.push_back(escaped[i]);
        continue;
      }
      if (++i == escaped.size() || (escaped[i] != '\\' && escaped[i] != 'n')) return refuse("unknown escape");
      value_.push_back(escaped[i] == 'n' ? '\n' : '\\');
    }
    return true;
  }

  std::string_view rest_;
  std::string_view what_;
  int number_ = 0;
  std::string_view key_;
  std::string value_;
  std::optional<std::string> failure_;
};

/// Reads the title line of a record.
void read_title(Lines& lines, std::string_view title) {
  std::int64_t version = 0;
  if (!lines.next() || lines.key() != title) return void(lines.refuse("not a record of this kind"));
  lines.read(version);
  if (version != kVersion) lines.refuse("written by another version of slipway");
}

void put_container(std::string& out, std::string_view key, const PodContainer& container) {
  put(out, key, container.name);
  for (const auto& arg : container.argv) put(out, "arg", arg);
  for (const auto& variable : container.env) put(out, "env", variable);
  put(out, "folder", container.folder);
  put(out, "log", container.log);
  if (!container.error_log.empty()) put(out, "error_log", container.error_log);
  if (!container.times.empty()) put(out, "times", container.times);
  if (!container.input.empty()) put(out, "input", container.input);
  if (container.user) put(out, "user", *container.user);
  if (container.group) put(out, "group", *container.group);
  if (container.has_terminal) put(out, "has_terminal", true);
  for (const auto& mount : container.mounts) {
    put(out, "mount", mount.target);
    put(out, "source", mount.source);
    put(out, "is_read_only", mount.is_read_only);
  }
}

void read_container_line(Lines& lines, PodContainer& container) {
  const std::string_view key = lines.key();
  if (key == "arg") {
    container.argv.push_back(lines.text());
  } else if (key == "env") {
    container.env.push_back(lines.text());
  } else if (key == "folder") {
    lines.read(container.folder);
  } else if (key == "log") {
    lines.read(container.log);
  } else if (key == "error_log") {
    lines.read(container.error_log);
  } else if (key == "times") {
    lines.read(container.times);
  } else if (key == "input") {
    lines.read(container.input);
  } else if (key == "user") {
    lines.read(container.user.emplace());
  } else if (key == "group") {
    lines.read(container.group.emplace());
  } else if (key == "has_terminal") {
    lines.read(container.has_terminal);
  } else if (key == "mount") {
    container.mounts.push_back({.source = "", .target = lines.text()});
  } else if (key == "source" && !container.mounts.empty()) {
    lines.read(container.mounts.back().source);
  } else if (key == "is_read_only" && !container.mounts.empty()) {
    lines.read(container.mounts.back().is_read_only);
  } else {
    lines.refuse("unknown key");
  }
}

/// A line before the first container.
void read_pod_line(Lines& lines, PodManifest& manifest) {
  const std::string_view key = lines.key();
  if (key == "restart") {
    lines.read(kRestarts, manifest.restart);
  } else if (key == "grace_seconds") {
    lines.read(manifest.grace_seconds);
  } else if (key == "wants_namespace") {
    lines.read(manifest.wants_namespace);
  } else if (key == "limited_volume") {
    lines.read(manifest.limits.emplace_back().name);
  } else if (key == "limit_folder" && !manifest.limits.empty()) {
    lines.read(manifest.limits.back().folder);
  } else if (key == "limit_bytes" && !manifest.limits.empty()) {
    lines.read(manifest.limits.back().bytes);
  } else {
    lines.refuse("unknown key");
  }
}

void check_manifest(Lines& lines, const PodManifest& manifest) {
  std::set<std::string_view> names;
  if (manifest.containers.empty()) lines.refuse("a pod needs a container");
  for (const auto* list : {&manifest.init_containers, &manifest.containers}) {
    for (const auto& container : *list) {
      if (container.argv.empty()) lines.refuse(fmt::format("container {} has no command", container.name));
      if (!names.insert(container.name).second) lines.refuse(fmt::format("two containers are named {}", container.name));
    }
  }
}

void put_exit(std::string& out, std::string_view key, const PodExit& exit) {
  put(out, key,
      std::string_view(fmt::format("{} {} {} {} {} {}", exit.exit_code, exit.signal_number, exit.started_us, exit.finished_us,
                                   exit.reason.empty() ? "-" : exit.reason, exit.message)));
}

void read_exit(Lines& lines, PodExit& exit) {
  std::string_view rest = lines.text();
  std::int64_t numbers[4] = {};
  for (auto& number : numbers) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc() || end == rest.data() + rest.size() || *end != ' ') return void(lines.refuse("malformed exit"));
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + 1);
  }
  const auto space = rest.find(' ');
  if (space == std::string_view::npos) return void(lines.refuse("malformed exit"));
  exit = {.exit_code = static_cast<std::int32_t>(numbers[0]),
          .signal_number = static_cast<std::int32_t>(numbers[1]),
          .started_us = numbers[2],
          .finished_us = numbers[3],
          .reason = std::string(rest.substr(0, space)),
          .message = std::string(rest.substr(space + 1))};
  if (exit.reason == "-") exit.reason.clear();
}

void put_container_state(std::string& out, const PodContainerState& container) {
  put(out, container.is_init ? "init_container" : "container", container.name);
  put(out, "container_phase", to_string(container.phase));
  put(out, "waiting_reason", container.waiting_reason);
  put(out, "process", container.process);
  put(out, "started_us", container.started_us);
  put_exit(out, "exit", container.exit);
  put(out, "restarts", std::int64_t{container.restarts});
  if (container.last_exit) put_exit(out, "last_exit", *container.last_exit);
}

void read_container_state_line(Lines& lines, PodContainerState& container) {
  const std::string_view key = lines.key();
  if (key == "container_phase") {
    lines.read(kContainerPhases, container.phase);
  } else if (key == "waiting_reason") {
    lines.read(container.waiting_reason);
  } else if (key == "process") {
    lines.read(container.process);
  } else if (key == "started_us") {
    lines.read(container.started_us);
  } else if (key == "exit") {
    read_exit(lines, container.exit);
  } else if (key == "restarts") {
    lines.read(container.restarts);
  } else if (key == "last_exit") {
    read_exit(lines, container.last_exit.emplace());
  } else {
    lines.refuse("unknown key");
  }
}

void read_state_line(Lines& lines, PodState& state) {
  const std::string_view key = lines.key();
  if (key == "supervisor") {
    lines.read(state.supervisor);
  } else if (key == "mark") {
    lines.read(state.mark);
  } else if (key == "reason") {
    lines.read(state.reason);
  } else if (key == "mounting") {
    lines.read(kMountings, state.mounting);
  } else if (key == "phase") {
    lines.read(kPhases, state.phase);
  } else if (key == "is_stopping") {
    lines.read(state.is_stopping);
  } else if (key == "message") {
    lines.read(state.message);
  } else if (key == "container" || key == "init_container") {
    state.containers.push_back({.name = lines.text(), .is_init = key == "init_container"});
  } else if (!state.containers.empty()) {
    read_container_state_line(lines, state.containers.back());
  } else {
    lines.refuse("unknown key");
  }
}

/// A mark from its line; nothing when it is none.
std::optional<PodLogMark> log_mark(std::string_view line) {
  PodLogMark mark;
  mark.begins_run = line.starts_with("run ");
  if (!mark.begins_run && !line.starts_with("at ")) return std::nullopt;
  line.remove_prefix(line.find(' ') + 1);
  const auto [space, error] = std::from_chars(line.data(), line.data() + line.size(), mark.at_us);
  if (error != std::errc() || space == line.data() + line.size() || *space != ' ') return std::nullopt;
  const auto [end, wrong] = std::from_chars(space + 1, line.data() + line.size(), mark.bytes);
  if (wrong != std::errc() || end != line.data() + line.size()) return std::nullopt;
  return mark;
}

}  // namespace

std::string encode_log_mark(const PodLogMark& mark) {
  return fmt::format("{} {} {}\n", mark.begins_run ? "run" : "at", mark.at_us, mark.bytes);
}

std::vector<PodLogMark> decode_log_marks(std::string_view text) {
  std::vector<PodLogMark> marks;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    if (const auto mark = log_mark(text.substr(0, end))) marks.push_back(*mark);
    text.remove_prefix(end + 1);
  }
  return marks;
}

std::string encode_manifest(const PodManifest& manifest) {
  std::string out;
  put(out, kManifestTitle, kVersion);
  put(out, "restart", to_string(manifest.restart));
  put(out, "grace_seconds", manifest.grace_seconds);
  put(out, "wants_namespace", manifest.wants_namespace);
  for (const auto& limit : manifest.limits) {
    put(out, "limited_volume", limit.name);
    put(out, "limit_folder", limit.folder);
    put(out, "limit_bytes", limit.bytes);
  }
  for (const auto& container : manifest.init_containers) put_container(out, "init_container", container);
  for (const auto& container : manifest.containers) put_container(out, "container", container);
  put(out, "end", std::string_view("manifest"));
  return out;
}

Result<PodManifest> decode_manifest(std::string_view text) {
  Lines lines(text, "pod manifest");
  PodManifest manifest;
  PodContainer* container = nullptr;
  bool has_ended = false;
  read_title(lines, kManifestTitle);
  while (!has_ended && lines.next()) {
    const std::string_view key = lines.key();
    if (key == "end") {
      has_ended = true;
    } else if (key == "init_container" || key == "container") {
      auto& list = key == "container" ? manifest.containers : manifest.init_containers;
      container = &list.emplace_back();
      lines.read(container->name);
    } else if (container != nullptr) {
      read_container_line(lines, *container);
    } else {
      read_pod_line(lines, manifest);
    }
  }
  if (!has_ended) lines.refuse("the record is cut off");
  check_manifest(lines, manifest);
  if (lines.failure()) return fail(Reason::Invalid, *lines.failure());
  return manifest;
}

std::string encode_state(const PodState& state) {
  std::string out;
  put(out, kStateTitle, kVersion);
  put(out, "supervisor", state.supervisor);
  if (state.mark != 0) put(out, "mark", state.mark);
  put(out, "mounting", to_string(state.mounting));
  put(out, "phase", to_string(state.phase));
  put(out, "is_stopping", state.is_stopping);
  if (!state.reason.empty()) put(out, "reason", state.reason);
  put(out, "message", state.message);
  for (const auto& container : state.containers) put_container_state(out, container);
  put(out, "end", std::string_view("state"));
  return out;
}

Result<PodState> decode_state(std::string_view text) {
  Lines lines(text, "pod state");
  PodState state;
  bool has_ended = false;
  read_title(lines, kStateTitle);
  while (!has_ended && lines.next()) {
    if (lines.key() == "end") {
      has_ended = true;
    } else {
      read_state_line(lines, state);
    }
  }
  if (!has_ended) lines.refuse("the record is cut off");
  if (lines.failure()) return fail(Reason::Invalid, *lines.failure());
  return state;
}

bool is_final(PodPhase phase) {
  switch (phase) {
    case PodPhase::Pending:
    case PodPhase::Running:
      return false;
    case PodPhase::Succeeded:
    case PodPhase::Failed:
    case PodPhase::Lost:
      return true;
  }
  return false;
}

PodFate pod_fate(const std::optional<PodState>& state, bool is_supervisor_alive) {
  if (!state) return PodFate::NotStarted;
  if (state->phase == PodPhase::Lost) return PodFate::Lost;
  if (is_final(state->phase)) return PodFate::Finished;
  return is_supervisor_alive ? PodFate::Supervised : PodFate::Lost;
}

std::string_view to_string(PodRestart restart) { return name_of(kRestarts, restart); }
std::string_view to_string(PodMounting mounting) { return name_of(kMountings, mounting); }
std::string_view to_string(PodContainerPhase phase) { return name_of(kContainerPhases, phase); }
std::string_view to_string(PodPhase phase) { return name_of(kPhases, phase); }

}  // namespace slipway
