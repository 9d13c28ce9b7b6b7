#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string_view>

#include "delivery/jobflow/render.h"

namespace slipway::cli {
namespace {

using kube::Object;

std::string clock_text(Time now) { return to_rfc3339(now).substr(11, 8); }

/// "workflow/release" for messages.
std::string title(const Object& object) {
  std::string kind(kube::kind(object));
  for (char& c : kind) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return fmt::format("{}/{}", kind, kube::name(object));
}

/// The condition that ended an object, or null.
const json::Value& end_condition(const Object& object) {
  for (const auto* type : {"Complete", "Failed", "Invalid"}) {
    if (kube::is_true(object, type)) return kube::condition(object, type);
  }
  return kube::condition(Object{}, "");
}

std::string end_text(const Object& object) {
  if (kube::kind(object) == "Pod") return object["status"]["phase"].str();
  const json::Value& condition = end_condition(object);
  if (condition.is_null()) return "";
  std::string text = condition["type"].str();
  if (const auto reason = condition["reason"].as_string(); !reason.empty() && condition["type"].as_string() != "Complete") {
    text += fmt::format(" ({})", reason);
  }
  if (const auto message = condition["message"].as_string(); !message.empty()) text += fmt::format(": {}", message);
  return text;
}

std::string step_text(const json::Value& step) {
  std::string text = step["phase"].str();
  if (const auto attempt = step["attempts"].as_int(); attempt > 1) text += fmt::format(" (attempt {})", attempt);
  if (const auto reason = step["reason"].as_string(); !reason.empty()) text += fmt::format(" {}", reason);
  if (const auto message = step["message"].as_string(); !message.empty()) text += fmt::format(": {}", message);
  return text;
}

/// At most `columns` characters of a line, none of them cut in two, none of them steering the terminal.
std::string clipped(std::string_view line, std::size_t columns) {
  std::string text;
  for (const char c : line) {
    const bool is_start = (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    if (is_start && columns-- == 0) break;
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? '?' : c;
  }
  return text;
}

/// One line per change of a step, of a suspension, and per end of an object. A large graph, whose steps are elsewhere, tells
/// its failures and, now and then, how far it is.
class Lines : public Progress {
 public:
  Lines(Env& env, std::FILE* out) : env_(env), out_(out) {}

  void changed(const Object& before, const Object& after) override {
    if (after.is_null()) {
      line(fmt::format("{}: deleted", title(before)));
      return;
    }
    // What ended first, then what started because of it: one status write may hold both.
    for (const bool is_complete : {true, false}) {
      for (const auto& [name, step] : after["status"]["statuses"].members()) {
        const std::string text = step_text(step);
        if (step["complete"].as_bool() != is_complete || text == step_text(before["status"]["statuses"][name])) continue;
        line(fmt::format("{} {}: {}", title(after), name, text));
      }
    }
    const json::Value& suspended = kube::condition(after, "Suspended");
    if (suspended["status"] != kube::condition(before, "Suspended")["status"]) {
      line(fmt::format("{}: {}: {}", title(after), suspended["reason"].as_string(), suspended["message"].as_string()));
    }
    if (after["status"]["stepSets"].as_int() > 0) tell_large(before["status"], after);
    const std::string end = end_text(after);
    if (!end.empty() && end != end_text(before)) line(fmt::format("{}: {}", title(after), end));
  }

 private:
  void tell_large(const json::Value& before, const Object& after) {
    std::set<std::string> known;
    for (const json::Value& failure : before["failures"].items()) known.insert(failure["step"].str());
    for (const json::Value& failure : after["status"]["failures"].items()) {
      if (known.contains(failure["step"].str())) continue;
      line(fmt::format("{} {}: Failed {}: {}", title(after), failure["step"].as_string(), failure["reason"].as_string(),
                       failure["message"].as_string()));
    }
    const Steady now = env_.clock.steady();
    if (now - told_ < std::chrono::seconds{1} || before["progress"] == after["status"]["progress"]) return;
    told_ = now;
    line(fmt::format("{}: {} steps have ended", title(after), after["status"]["progress"].as_string()));
  }

  void line(const std::string& text) {
    fmt::print(out_, "{} {}\n", clock_text(env_.clock.now()), clipped(text, kMaxLine));
    std::fflush(out_);
  }

  static constexpr std::size_t kMaxLine = 4096;
  Env& env_;
  std::FILE* out_;
  Steady told_{};  // how far a large graph is
};

/// Redraws the step tables in place, a few times a second at most.
class LiveTable : public Progress {
 public:
  explicit LiveTable(Env& env) : env_(env) {}

  void changed(const Object&, const Object& after) override {
    if (after.is_null()) return;
    objects_[fmt::format("{}/{}", kube::ns(after), title(after))] = after;
    is_dirty_ = true;
  }
  void tick() override {
    const Steady now = env_.clock.steady();
    if (!is_dirty_ && now - drawn_ < std::chrono::seconds{1}) return;
    if (now - drawn_ < std::chrono::milliseconds{80}) return;
    draw();
  }
  void end() override {
    show(erasure());
    height_ = 0;
  }
  Duration refresh() const override { return std::chrono::milliseconds{100}; }

 private:
  /// Takes the last frame away.
  std::string erasure() const { return height_ > 0 ? fmt::format("\x1b[{}F\x1b[J", height_) : ""; }
  /// One write for a frame: a terminal never shows half of one. Never more lines than the window has: what does not fit is
  /// counted.
  void draw() {
    winsize window{};
    const int rows = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_row > 3 ? window.ws_row : 40;
    const std::size_t columns = window.ws_col > 20 ? window.ws_col : 120;
    std::string text;
    for (const auto& [name, object] : objects_) text += summary(object, step_sets_(object), env_.clock.now());
    std::string frame = erasure();
    int shown = 0;
    std::size_t begin = 0;
    for (; begin < text.size() && shown < rows - 2; ++shown) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      frame += clipped(std::string_view(text).substr(begin, end - begin), columns - 1) + "\n";
      begin = end + 1;
    }
    if (begin < text.size()) {
      frame +=
          fmt::format("… {} more lines\n", std::count(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), '\n'));
      ++shown;
    }
    height_ = shown;
    is_dirty_ = false;
    drawn_ = env_.clock.steady();
    show(frame);
  }
  static void show(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }

  Env& env_;
  std::map<std::string, Object> objects_;
  bool is_dirty_ = false;
  int height_ = 0;
  Steady drawn_{};
};

}  // namespace

std::string summary(const Object& object, const std::vector<Object>& step_sets, Time now) {
  if (kube::kind(object) == "Workflow") return delivery::jobflow::summary(object, step_sets, now);
  const std::string end = end_text(object);
  return fmt::format("{}: {}\n", title(object), end.empty() ? "under way" : end);
}

std::unique_ptr<Progress> make_progress(Env& env, Output output) {
  if (output == Output::Json) return std::make_unique<Lines>(env, stderr);
  if (isatty(STDOUT_FILENO) == 1) return std::make_unique<LiveTable>(env);
  return std::make_unique<Lines>(env, stdout);
}

}  // namespace slipway::cli
