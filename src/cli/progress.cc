#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string_view>

#include "plane/show.h"

namespace slipway::cli {
namespace {

using kube::Object;

std::string clock_text(Time now) { return to_rfc3339(now).substr(11, 8); }

std::string end_text(const Object& object) {
  const auto end = plane::verdict(object);
  return end ? end->text : "";
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

/// One line per piece of news, and per end of an object. How far an object is, is told once a second at most.
class Lines : public Progress {
 public:
  Lines(Env& env, std::FILE* out) : env_(env), out_(out) {}

  void changed(const Object& before, const Object& after) override {
    if (after.is_null()) {
      line(fmt::format("{}: deleted", plane::title(before)));
      return;
    }
    for (const delivery::News& news : plane::news(before, after)) tell(after, news);
    const std::string end = end_text(after);
    if (!end.empty() && end != end_text(before)) line(fmt::format("{}: {}", plane::title(after), end));
  }

 private:
  void tell(const Object& object, const delivery::News& news) {
    if (news.is_progress) {
      const Steady now = env_.clock.steady();
      if (now - told_ < std::chrono::seconds{1}) return;
      told_ = now;
    }
    line(fmt::format("{}{}{}: {}", plane::title(object), news.part.empty() ? "" : " ", news.part, news.text));
  }

  void line(const std::string& text) {
    fmt::print(out_, "{} {}\n", clock_text(env_.clock.now()), clipped(text, kMaxLine));
    std::fflush(out_);
  }

  static constexpr std::size_t kMaxLine = 4096;
  Env& env_;
  std::FILE* out_;
  Steady told_{};  // when it was last said how far something is
};

/// Redraws the step tables in place, a few times a second at most.
class LiveTable : public Progress {
 public:
  LiveTable(Env& env, MakeView view) : env_(env), view_(std::move(view)) {}

  void changed(const Object&, const Object& after) override {
    if (after.is_null()) return;
    objects_[fmt::format("{}/{}/{}", after["apiVersion"].as_string(), kube::ns(after), plane::title(after))] = after;
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
    const auto view = view_();
    for (const auto& [name, object] : objects_) text += plane::summary(object, *view);
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
  MakeView view_;
  std::map<std::string, Object> objects_;
  bool is_dirty_ = false;
  int height_ = 0;
  Steady drawn_{};
};

}  // namespace

std::unique_ptr<Progress> make_progress(Env& env, Output output, MakeView view) {
  if (output == Output::Json) return std::make_unique<Lines>(env, stderr);
  if (isatty(STDOUT_FILENO) == 1) return std::make_unique<LiveTable>(env, std::move(view));
  return std::make_unique<Lines>(env, stdout);
}

}  // namespace slipway::cli
