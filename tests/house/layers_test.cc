// The rules of the house, checked on the sources: who may include whom (tools/layers.txt), sizes, banned calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = SLIPWAY_SOURCE_DIR;

struct Source {
  std::string path;  // relative to the root
  std::vector<std::string> lines;

  bool is_header() const { return path.ends_with(".h"); }
  bool is_test() const { return path.find("_test.") != std::string::npos || path.ends_with("_fuzz.cc"); }
};

struct Room {
  std::set<std::string> uses;
  std::set<std::string> libraries;
};

std::vector<Source> read_sources(const std::string& folder) {
  std::vector<Source> sources;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
    const auto extension = entry.path().extension();
    if (extension != ".cc" && extension != ".h") continue;
    Source source{fs::relative(entry.path(), kRoot).string(), {}};
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) source.lines.push_back(line);
    sources.push_back(std::move(source));
  }
  std::sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) { return a.path < b.path; });
  return sources;
}

std::set<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

std::map<std::string, Room> read_layers() {
  std::map<std::string, Room> rooms;
  std::ifstream in(kRoot / "tools/layers.txt");
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.front() == '#') continue;
    const auto first = line.find('|');
    const auto second = line.find('|', first + 1);
    const auto name = words(line.substr(0, first));
    rooms[*name.begin()] = Room{words(line.substr(first + 1, second - first - 1)), words(line.substr(second + 1))};
  }
  return rooms;
}

/// What a room may include: its row, and what those may use in turn; os, net and git only where they are named.
std::set<std::string> reachable(const std::map<std::string, Room>& rooms, const std::string& room) {
  static const std::set<std::string> kNamedOnly{"os", "net", "git"};
  std::set<std::string> seen{room};
  std::vector<std::string> open{room};
  while (!open.empty()) {
    const std::string at = open.back();
    open.pop_back();
    for (const std::string& used : rooms.at(at).uses) {
      if (at != room && kNamedOnly.contains(used)) continue;
      if (seen.insert(used).second) open.push_back(used);
    }
  }
  return seen;
}

std::optional<std::string> room_of(const std::map<std::string, Room>& rooms, const std::string& path) {
  std::optional<std::string> best;
  for (const auto& [name, room] : rooms) {
    const bool is_inside = path.starts_with(name + "/") || path == name + ".h";
    if (is_inside && (!best || name.size() > best->size())) best = name;
  }
  return best;
}

/// The library of layers.txt that an angle-bracket include belongs to; nullopt for the standard library and the system.
std::optional<std::string> library_of(const std::string& header) {
  static const std::vector<std::pair<std::string, std::string>> kPrefixes{
      {"boost/asio", "asio"}, {"boost/beast", "beast"}, {"zlib.h", "zlib"},           {"openssl/", "crypto"}, {"fmt/", "fmt"},
      {"spdlog/", "spdlog"},  {"simdjson", "simdjson"}, {"sqlite3", "sqlite"},        {"yaml.h", "yaml"},     {"re2/", "re2"},
      {"CLI/", "cli11"},      {"git2", "git2"},         {"prometheus/", "prometheus"}};
  for (const auto& [prefix, library] : kPrefixes) {
    if (header.starts_with(prefix)) return library;
  }
  return std::nullopt;
}

TEST(House, rooms_include_only_what_their_row_names) {
  const auto rooms = read_layers();
  const std::regex include(R"re(^\s*#\s*include\s*(["<])([^">]+)[">])re");
  int seen = 0;
  for (const Source& source : read_sources("src")) {
    const auto room = room_of(rooms, source.path.substr(4));
    ASSERT_TRUE(room) << source.path << " is in no room of tools/layers.txt";
    const auto allowed = reachable(rooms, *room);
    for (const std::string& line : source.lines) {
      std::smatch match;
      if (line.find('#') == std::string::npos || !std::regex_search(line, match, include)) continue;
      ++seen;
      const std::string header = match[2];
      if (match[1] == "\"") {
        const auto other = room_of(rooms, header);
        ASSERT_TRUE(other) << source.path << ": include \"" << header << "\" by its path below src/";
        EXPECT_TRUE(allowed.contains(*other)) << source.path << " (room " << *room << ") may not include " << header;
      } else if (const auto library = library_of(header); library && *library != "asio") {
        EXPECT_TRUE(rooms.at(*room).libraries.contains(*library) || source.is_test())
            << source.path << " (room " << *room << ") may not use " << *library;
      }
    }
  }
  EXPECT_GT(seen, 100);
}

TEST(House, files_stay_below_their_size_limits) {
  for (const std::string folder : {"src", "tests", "tools", "bench"}) {
    for (const Source& source : read_sources(folder)) {
      EXPECT_LE(source.lines.size(), source.is_header() ? 400U : 800U) << source.path << " is too long: split it by subject";
    }
  }
}

/// Function bodies begin at a line that ends in "{" at namespace or class depth and end at the "}" of the same indentation: the
/// sources are clang-formatted, so indentation tells.
TEST(House, functions_stay_below_70_lines) {
  const std::regex begin(R"(^( *)[A-Za-z_~\[].*[)a-z>&] (const |noexcept |override |mutable )*\{$)");
  const std::regex other(R"(^ *(namespace|class|struct|enum|union|extern|return)\b)");
  for (const std::string folder : {"src", "tests", "tools", "bench"}) {
    for (const Source& source : read_sources(folder)) {
      for (std::size_t i = 0; i < source.lines.size(); ++i) {
        std::smatch match;
        if (!source.lines[i].ends_with('{')) continue;
        if (std::regex_search(source.lines[i], other) || !std::regex_match(source.lines[i], match, begin)) continue;
        // A parameter list over several lines ends deeper than the body it opens: the body's first line tells.
        std::size_t indent = match[1].str().size();
        const std::size_t body = i + 1 < source.lines.size() ? source.lines[i + 1].find_first_not_of(' ') : std::string::npos;
        if (body != std::string::npos && body >= 2) indent = std::min(indent, body - 2);
        const std::string close = std::string(indent, ' ') + "}";
        std::size_t end = i + 1;
        while (end < source.lines.size() && !source.lines[end].starts_with(close)) ++end;
        EXPECT_LE(end - i + 1, 70U) << source.path << ":" << i + 1 << ": " << source.lines[i];
      }
    }
  }
}

struct Ban {
  std::string pattern;
  std::vector<std::string> words;  // a line without one of them cannot match; searched for first, since that is quick
  std::string instead;
  std::set<std::string> allowed_rooms;
  std::set<std::string> rooms{};        // where it holds; empty: everywhere
  std::vector<std::string> harmless{};  // calls that match and are others: of SourceObject and krm::Node, which do not throw
};

/// The rooms that the logic thread runs in, over texts that users wrote.
const std::set<std::string> kWithoutThrowingAt{"base",
                                               "client",
                                               "cluster",
                                               "control",
                                               "delivery/application",
                                               "delivery/family",
                                               "delivery/gate",
                                               "delivery/graph",
                                               "delivery/jobflow",
                                               "delivery/package",
                                               "delivery/pipeline",
                                               "delivery/probe",
                                               "delivery/rollout",
                                               "delivery/wave",
                                               "delivery/workflow",
                                               "fleet",
                                               "flux",
                                               "git",
                                               "kube",
                                               "net",
                                               "os",
                                               "plane",
                                               "remote",
                                               "serve",
                                               "server"};

TEST(House, banned_calls_are_absent) {
  const std::vector<Ban> bans{
      {R"((system|steady|high_resolution)_clock::now)", {"_clock::now"}, "Env::clock", {"os"}},
      {R"(\bstd::random_device\b|\bstd::mt19937|\brand\(\))",
       {"std::random_device", "std::mt19937", "rand()"},
       "Env::random",
       {"os"}},
      {R"(\bgetenv\()", {"getenv("}, "options of the cli", {"os", "cli"}},
      {R"(\bstd::(thread|jthread|async)\b)", {"std::thread", "std::jthread", "std::async"}, "Env::compute", {"os"}},
      {R"(\bstd::filesystem\b|\bfopen\(|\bstd::(i|o)?fstream\b)",
       {"std::filesystem", "fopen(", "fstream"},
       "Env::files",
       {"os", "git"}},
      {R"(\bstd::unordered_)",
       {"std::unordered_"},
       "an ordered container (iteration must not depend on addresses)",
       {"json", "os", "cue"}},
      {R"(catch \(\.\.\.\) *\{ *\})", {"catch (...)"}, "an error", {}},
      {R"(\bsleep_for\(std::chrono|\busleep\(|this_thread::sleep)", {"sleep"}, "virtual time", {"os"}},
      // An exception over text that users wrote must not reach the logic thread's loop.
      {R"(\bstd::(sto(i|l|ll|ul|ull|f|d|ld)|ato(i|l|ll|f))\()",
       {"std::sto", "std::ato"},
       "parse_count() or leading_count() of base/count.h",
       {}},
      {R"((\.|->)at\()",
       {".at(", "->at("},
       "find(), value_at() of base/lookup.h, or an index that was checked: at() throws",
       {},
       kWithoutThrowingAt,
       {"source.at(", "source_.at(", "tree.root.at({"}},
      {R"(^using namespace std;)", {"using namespace std;"}, "qualified names", {}},
  };
  const auto rooms = read_layers();
  const auto sources = read_sources("src");
  for (const Ban& ban : bans) {
    const std::regex pattern(ban.pattern, std::regex::optimize);
    for (const Source& source : sources) {
      const auto room = room_of(rooms, source.path.substr(4));
      if (source.is_test() || (room && ban.allowed_rooms.contains(*room))) continue;
      if (!ban.rooms.empty() && (!room || !ban.rooms.contains(*room))) continue;
      for (std::size_t i = 0; i < source.lines.size(); ++i) {
        const std::string& line = source.lines[i];
        if (std::ranges::none_of(ban.words, [&](const std::string& word) { return line.contains(word); })) continue;
        auto code = line.substr(0, line.find("//"));
        for (const std::string& one : ban.harmless) {
          if (const auto found = code.find(one); found != std::string::npos) code.erase(found, one.size());
        }
        EXPECT_FALSE(std::regex_search(code, pattern)) << source.path << ":" << i + 1 << ": use " << ban.instead;
      }
    }
  }
}

TEST(House, file_names_name_a_subject) {
  const std::regex bins(R"((^|/|_)(utils?|helpers?|common|misc|manager)(/|_|\.))");
  for (const std::string folder : {"src", "tests", "tools", "bench"}) {
    for (const Source& source : read_sources(folder)) {
      EXPECT_FALSE(std::regex_search(source.path, bins)) << source.path;
    }
  }
}

TEST(House, headers_open_with_their_concept) {
  for (const Source& source : read_sources("src")) {
    if (!source.is_header() || source.lines.empty()) continue;
    EXPECT_TRUE(source.lines[0].starts_with("// ")) << source.path << " does not say what it is for";
  }
}

}  // namespace
