// Log lines: a level, a text and key=value fields. The implementation is handed in (Env::log); tests use NullLog.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace slipway {

enum class LogLevel : std::uint8_t { Debug, Info, Warn, Error };

class Log {
 public:
  using Fields = std::initializer_list<std::pair<std::string_view, std::string_view>>;
  virtual ~Log() = default;
  virtual void write(LogLevel level, std::string_view text, Fields fields) = 0;

  void debug(std::string_view text, Fields fields = {}) { write(LogLevel::Debug, text, fields); }
  void info(std::string_view text, Fields fields = {}) { write(LogLevel::Info, text, fields); }
  void warn(std::string_view text, Fields fields = {}) { write(LogLevel::Warn, text, fields); }
  void error(std::string_view text, Fields fields = {}) { write(LogLevel::Error, text, fields); }
};

class NullLog : public Log {
 public:
  void write(LogLevel, std::string_view, Fields) override {}
};

}  // namespace slipway
