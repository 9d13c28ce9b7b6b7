#include "cue/load/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "cue/data/yaml.h"
#include "cue/evaluation.h"
#include "cue/export/field_order.h"
#include "cue/export/text_options.h"
#include "cue/load/arguments.h"
#include "cue/load/file_kind.h"
#include "cue/load/load.h"
#include "cue/load/paths.h"
#include "cue/std/registry.h"
#include "cue/syntax/literal.h"
#include "json/text.h"

namespace slipway::cue::load {
namespace {

/// One value to be judged and shown.
struct CommandResult {
  std::shared_ptr<Evaluation> evaluation;
  Vertex* vertex;          // null: the expression names nothing
  std::string expression;  // of -e
};

// Fields of data can be referred to. JSON is YAML, whose fields can be named.
void name_fields(SourceText& source) {
  source.has_names = true;
  if (source.format == SourceFormat::Json) source.format = SourceFormat::Yaml;
}

// Labels of -l: "x:", "\"x\"", or an expression over the data, whose text is the label. With a context the data stands in a
// field of its own, beside what is known of its file.
std::expected<std::vector<std::string>, Errors> labels_of(const std::vector<std::string>& path, const SourceText& data,
                                                          std::size_t count, bool has_context) {
  std::vector<std::string> out;
  auto wrong = [](std::string message) { return std::unexpected(Errors{{"usage", "", std::move(message), {}}}); };
  for (const std::string& one : path) {
    std::string_view text = one;
    if (text.ends_with(':')) {
      text.remove_suffix(1);
      while (!text.empty()) {
        std::size_t colon = text.starts_with('"') ? text.find(':', text.find('"', 1)) : text.find(':');
        std::string label(text.substr(0, colon));
        while (label.starts_with(' ')) label.erase(0, 1);
        auto plain = label.starts_with('"') ? unquote(label) : fail(Reason::BadRequest, "");
        if (!plain && !is_identifier(label)) return wrong(fmt::format("expression is not a valid label: {}", label));
        out.push_back(plain ? quote(plain->value) : label);
        text = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
      }
      continue;
    }
    SourceText source = data;
    name_fields(source);
    std::vector<SourceText> files = {source};
    if (has_context) {
      files[0].below = {"data"};
      files.push_back(
          {"context", fmt::format("filename: {}\nindex: {}\nrecordCount: {}\n",
                                  quote(data.name.starts_with("./") ? data.name.substr(2) : data.name), data.document, count)});
    }
    CompileOptions compile_options;
    compile_options.expressions = {one};
    compile_options.expression_name = "--path";
    auto program = compile(files, {}, compile_options);
    if (!program) return std::unexpected(program.error());
    Evaluation evaluation(*program, Limits::for_command_line());
    evaluation.run({});
    Evaluator& evaluator = evaluation.evaluator();
    Value value = evaluator.value_of(evaluator.complete_expression(program->data().expressions[0]));
    if (value.tag == Value::Tag::Disjunction) return wrong(fmt::format("expression is not a valid label: {}", one));
    if (value.is_bottom()) return wrong(fmt::format("error evaluating label {}: {}", one, evaluator.message(*value.bottom)));
    if (value.tag != Value::Tag::String) return wrong(fmt::format("error evaluating label {}: {}", one, evaluator.show(value)));
    out.push_back(quote(value.str()));
  }
  return out;
}

void indent_json(std::string& out, const json::Value& value, const std::string& line) {
  bool is_array = value.type() == json::Type::Array;
  if ((!is_array && value.type() != json::Type::Object) || value.empty()) return json::print_to(out, value);
  std::string inner = line + "    ";
  out += is_array ? "[" : "{";
  std::string_view separator = "\n";
  auto next = [&] {
    out += separator;
    out += inner;
    separator = ",\n";
  };
  if (is_array) {
    for (const json::Value& item : value.items()) {
      next();
      indent_json(out, item, inner);
    }
  } else {
    for (auto [key, member] : value.members()) {
      next();
      json::print_to(out, json::Value(key));
      out += ": ";
      indent_json(out, member, inner);
    }
  }
  out += "\n" + line + (is_array ? "]" : "}");
}

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) out += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : c == '&' ? "\\u0026" : std::string(1, c);
  return out;
}

class Command {
 public:
  Command(Files& files, const Invocation& invocation, Options options) : files_(files), options_(std::move(options)) {
    options_.request.cwd = options_.chdir.empty() ? invocation.cwd : joined(invocation.cwd, options_.chdir);
    options_.request.input = invocation.input;
    variables_ = invocation.variables;
  }

  Outcome run() {
    static const std::set<std::string> kOuts = {
        "", "cue", "json", "yaml", "text", "binary", "jsonl", "json+compact", "json+compact=false"};
    // "yaml:-": a form, then a file.
    if (std::size_t colon = options_.outfile.find(':'); colon != std::string::npos && options_.out.empty()) {
      options_.out = options_.outfile.substr(0, colon);
      options_.outfile = options_.outfile.substr(colon + 1);
    }
    bool has_form = options_.outfile.empty() || options_.outfile == "-" || !options_.out.empty();
    std::string_view file = options_.outfile;
    for (std::string_view known : {".cue", ".json", ".yaml", ".yml", ".txt", ".jsonl", ".ldjson", ".toml"})
      has_form = has_form || file.ends_with(known);
    if (!has_form) return failed(fmt::format("no encoding specified for file \"{}\"", file));
    static const std::set<std::string> kNotOffered = {"openapi", "jsonschema", "toml", "xml", "proto", "textproto", "binarypb"};
    if (!kOuts.contains(options_.out) && !kNotOffered.contains(options_.out))
      return failed(fmt::format("unsupported encoding \"{}\"", options_.out));
    std::vector<std::string> conditions;  // what @if asks for has no value
    for (const std::string& tag : options_.request.tags) {
      std::size_t equals = tag.find('=');
      std::string name = tag.substr(0, equals);
      std::string value = equals == std::string::npos ? "" : tag.substr(equals + 1);
      if (equals == std::string::npos) conditions.push_back(name);
      auto [known, is_new] = tags_.emplace(name, value);
      if (!is_new && known->second != value)
        return failed(fmt::format("tag \"{}\" is given two values: {} and {}", name, quote(known->second), quote(value)));
    }
    options_.request.tags = std::move(conditions);
    if (options_.names_files) return failed("use of -n/--name flag without a directory");
    auto loaded = load(files_, options_.request);
    if (!loaded) return failed(loaded.error());
    if (!options_.schema.empty() && loaded->instances.empty()) return failed("-d/--schema flag specified without a schema");
    // Under a schema a file without a document is anything.
    for (const SourceText& one : loaded->empty) {
      if (!options_.schema.empty()) loaded->data.insert(loaded->data.begin(), SourceText{one.name, "_"});
    }
    if (options_.verb == Verb::Vet && loaded->instances.empty()) return failed("data files specified without a schema");
    bool has_schema = !loaded->instances.empty() && options_.schema.empty();
    if (loaded->has_data_files && loaded->data.empty() && !has_schema) return outcome_;  // nothing but empty streams
    for (SourceText& one : loaded->data) {
      auto count = static_cast<std::size_t>(std::count_if(loaded->data.begin(), loaded->data.end(),
                                                          [&](const SourceText& other) { return other.name == one.name; }));
      auto labels = labels_of(options_.path, one, count, options_.has_context);
      if (!labels) return failed(labels.error());
      one.below = *labels;
    }
    return evaluate_all(*loaded);
  }

 private:
  Outcome evaluate_all(Loaded& loaded) {
    std::set<std::string> unused;
    for (const auto& [name, value] : tags_) unused.insert(name);
    std::vector<CommandResult> results;
    bool has_data = !loaded.data.empty();
    // Expressions look into data that stands alone.
    if (loaded.instances.empty() && !options_.expressions.empty()) {
      for (SourceText& one : loaded.data) name_fields(one);
    }
    if (loaded.instances.empty()) loaded.instances.emplace_back();
    for (const Instance& instance : loaded.instances) {
      // Data merged into a package is one value; under a schema, and for vet, each document stands for itself.
      bool is_apart =
          has_data && (options_.is_apart || options_.verb == Verb::Vet || !options_.schema.empty() || options_.is_list);
      std::size_t rounds = is_apart && options_.path.empty() ? loaded.data.size() : 1;
      for (std::size_t round = 0; round < rounds; ++round) {
        std::vector<SourceText> data = loaded.data;
        if (rounds > 1) data = {loaded.data[round]};
        auto program = compiled(instance, data);
        if (!program) {
          report(program.error());
          if (options_.verb != Verb::Vet) break;
          continue;
        }
        for (const std::string& tag : program->data().used_tags) unused.erase(tag);
        collect(*program, results);
      }
    }
    for (const std::string& tag : unused) {
      if (outcome_.errors.empty() && !known_as_build_tag(loaded, tag)) return failed(fmt::format("no tag for \"{}\"", tag));
    }
    return shown_results(results, has_data);
  }

  static bool known_as_build_tag(const Loaded& loaded, const std::string& tag) {
    for (const Instance& one : loaded.instances) {
      for (const SourceText& file : one.files) {
        if (file.text.find("@if(") != std::string::npos && file.text.find(tag) != std::string::npos) return true;
      }
    }
    return false;
  }

  std::expected<Program, Errors> compiled(const Instance& instance, const std::vector<SourceText>& data) {
    CompileOptions compile_options;
    compile_options.tags = tags_;
    compile_options.is_legacy = options_.is_legacy;
    compile_options.are_files_apart = true;
    compile_options.has_variables = options_.has_variables;
    if (options_.has_variables) compile_options.variables = variables_;
    compile_options.embed = [this](std::string_view file, std::string_view body) {
      return embed(files_, options_.request, file, body);
    };
    std::vector<SourceText> files = instance.files;
    compile_options.expressions = options_.expressions;
    if (!options_.schema.empty()) {
      compile_options.expressions = {options_.schema.back()};
      compile_options.expression_name = "--schema";
      // Without data there is nothing to check; but the schema must be right.
      auto program = compile(files, instance.packages, compile_options);
      if (!program || !data.empty()) {
        compile_options.data = data;
        return program ? compile(files, instance.packages, compile_options) : program;
      }
      compile_options.expressions = options_.expressions;
      compile_options.expression_name = CompileOptions{}.expression_name;
    }
    std::vector<SourceText> first;
    for (const SourceText& one : data) {
      // A list or scalar beside fields would be an embedding; it is to be what the files are.
      bool is_part = files.empty() || is_struct(one);
      (is_part ? first : compile_options.data).push_back(one);
    }
    std::sort(first.begin(), first.end(), [](const SourceText& a, const SourceText& b) {
      return std::tie(a.name, a.document) < std::tie(b.name, b.document);
    });
    files.insert(files.begin(), first.begin(), first.end());
    return compile(files, instance.packages, compile_options);
  }

  void collect(const Program& program, std::vector<CommandResult>& out) {
    auto evaluation = std::make_shared<Evaluation>(program, Limits::for_command_line());
    Vertex* root = evaluation->run({});
    Evaluator& evaluator = evaluation->evaluator();
    const ProgramData& data = program.data();
    if (!data.data_values.empty()) {
      std::vector<const ir::Expr*> parts = data.expressions;
      if (options_.schema.empty()) parts = {evaluator.constant(Value::of(root), 0)};
      parts.insert(parts.end(), data.data_values.begin(), data.data_values.end());
      Vertex* whole = evaluator.complete_all(parts);
      if (options_.schema.empty() || options_.expressions.empty()) return out.push_back({evaluation, whole, ""});
      for (const std::string& one : options_.expressions)
        out.push_back({evaluation, Cursor(evaluation, whole).lookup(one).vertex(), one});
    } else if (!data.expressions.empty()) {
      for (std::size_t i = 0; i < data.expressions.size(); ++i)
        out.push_back({evaluation, evaluator.complete_expression(data.expressions[i]), options_.expressions[i]});
    } else {
      out.push_back({evaluation, root, ""});
    }
  }

  // Several expressions are told apart by a line that says which one it is.
  bool has_headings() const { return options_.verb == Verb::Eval && options_.expressions.size() > 1 && form() == "cue"; }
  static std::string heading(const CommandResult& one) { return fmt::format("// {}\n", one.expression); }

  // Of several packages none is shown when one has failed.
  bool has_failed_package(const std::vector<CommandResult>& results) {
    if (!options_.expressions.empty() || options_.ignores_errors) return false;
    for (const CommandResult& one : results) {
      Errors errors = one.evaluation->errors_of(one.vertex, Demand::Valid);
      if (errors.empty()) continue;
      report(errors);
      return true;
    }
    return false;
  }

  Outcome shown_results(const std::vector<CommandResult>& results, bool has_data) {
    std::vector<std::string> texts;
    bool is_incomplete_somewhere = false;
    if (results.size() > 1 && options_.schema.empty() && options_.verb != Verb::Vet && has_failed_package(results))
      return outcome_;
    for (const CommandResult& one : results) {
      if (one.vertex == nullptr) return failed(fmt::format("reference \"{}\" not found", one.expression));
      bool wants_concrete = options_.verb == Verb::Export || options_.is_concrete ||
                            (options_.verb == Verb::Vet && has_data && !options_.allows_incomplete);
      Errors errors = one.evaluation->errors_of(one.vertex, wants_concrete ? Demand::Concrete : Demand::Valid);
      const Value& value = deref(one.vertex)->base;
      bool is_absent = value.is_bottom() && value.bottom->is_absent;
      if (errors.empty() && is_absent && options_.verb == Verb::Eval) errors.push_back(one.evaluation->error_of(*value.bottom));
      bool is_refused = !options_.ignores_errors || one.evaluation->evaluator().spent() != nullptr;
      if (!errors.empty() && is_refused) {
        if (has_headings()) texts.push_back(heading(one));
        report(errors);
        if (options_.verb != Verb::Vet) break;
        continue;
      }
      if (options_.verb == Verb::Vet) {
        bool may_be_open = wants_concrete || options_.allows_incomplete;
        is_incomplete_somewhere =
            is_incomplete_somewhere || (!may_be_open && !one.evaluation->errors_of(one.vertex, Demand::Concrete).empty());
        continue;
      }
      order_fields(one.evaluation->evaluator(), one.vertex);
      texts.push_back((has_headings() ? heading(one) : "") + text_of(one));
    }
    if (is_incomplete_somewhere && outcome_.errors.empty())
      return failed("some instances are incomplete; use the -c flag to show errors or -c=false to allow incomplete instances");
    write(texts);
    return outcome_;
  }

  std::string form() const {
    if (!options_.out.empty()) return options_.out;
    if (options_.outfile.ends_with(".yaml") || options_.outfile.ends_with(".yml")) return "yaml";
    if (options_.outfile.ends_with(".cue")) return "cue";
    if (options_.outfile.ends_with(".json")) return "json";
    if (options_.outfile.ends_with(".txt")) return "text";
    if (options_.outfile.ends_with(".jsonl") || options_.outfile.ends_with(".ldjson")) return "jsonl";
    return options_.verb == Verb::Eval ? "cue" : "json";
  }

  std::string text_of(const CommandResult& one) {
    std::string out = form();
    if (out == "openapi" || out == "jsonschema" || out == "toml" || out == "xml" || out.ends_with("proto") ||
        out == "binarypb") {
      report({{"usage", "", fmt::format("unsupported encoding \"{}\"", out), {}}});
      return "";
    }
    Evaluator& evaluator = one.evaluation->evaluator();
    Value error;
    std::string text;
    if (out == "cue") return language_text(one);
    if (out == "yaml") {
      text = to_yaml_text(evaluator, Value::of(one.vertex), error);
    } else {
      std::string compact = evaluator.to_json(Value::of(one.vertex), error);
      auto value = json::parse(error.is_bottom() ? "null" : compact, {.max_bytes = std::size_t{1} << 30});
      if (out == "json+compact") {
        text = compact + "\n";
      } else if (out == "binary") {
        Value known = evaluator.value_of(one.vertex);
        if (known.tag == Value::Tag::String || known.tag == Value::Tag::Bytes) return std::string(known.str());
        report({{"eval", evaluator.path_of(one.vertex), "want a string or bytes for --out binary", {}}});
        return "";
      } else if (out == "text") {
        bool is_text = value && value->is_string() && deref(one.vertex)->base.tag != Value::Tag::Bytes;
        text = is_text ? value->str() + "\n" : "";
        if (!is_text && !error.is_bottom())
          report({{"eval", evaluator.path_of(one.vertex), cannot_be_text(evaluator, one.vertex), {}}});
      } else if (out == "jsonl") {
        text = compact + "\n";
      } else if (value) {
        indent_json(text, *value, "");
        text += "\n";
      }
      if (options_.has_escapes) text = escaped(text);
    }
    if (error.is_bottom()) {
      Errors all = one.evaluation->errors_of(one.vertex, Demand::Concrete);
      report(all.empty() ? Errors{one.evaluation->error_of(*error.bottom)} : all);
    }
    return error.is_bottom() ? "" : text;
  }

  static std::string cannot_be_text(Evaluator& evaluator, Vertex* v) {
    const Value& value = deref(v)->base;
    bool is_container = value.is_container();
    return fmt::format("cannot use value {} (type {}) as string", evaluator.show(is_container ? Value::of(v) : value),
                       describe_kind(kinds_of(value)));
  }

  std::string language_text(const CommandResult& one) {
    TextOptions style;
    bool is_eval = options_.verb == Verb::Eval;
    style.is_final = true;
    style.is_in_columns = true;
    // With errors or attributes shown in place each field has lines of its own.
    style.joins_single_fields = style.lists_in_columns =
        (!options_.ignores_errors && !options_.shows_attributes) || options_.is_simplified;
    style.has_attributes = options_.shows_attributes;
    style.has_expressions = is_eval && !options_.is_concrete;
    style.has_definitions = is_eval && !options_.is_concrete;
    style.has_hidden = options_.shows_hidden;
    style.has_optional = options_.shows_optional;
    style.has_required = is_eval;
    style.has_docs = !is_eval;
    style.indent = is_eval ? "    " : "\t";
    std::string text = cue_text(one.evaluation->evaluator(), one.vertex, style);
    if (!text.empty() && !text.ends_with('\n')) text += "\n";
    if (!is_eval && !options_.request.package.empty()) text = "package " + options_.request.package + "\n\n" + text;
    return text;
  }

  void write(const std::vector<std::string>& texts) {
    std::string all;
    std::string between = has_headings() ? "" : form() == "cue" ? "// ---\n" : form() == "yaml" ? "---\n" : "";
    if (options_.is_list && form().starts_with("json")) {
      return write_list(texts);
    }
    for (std::size_t i = 0; i < texts.size(); ++i) all += (i > 0 ? between : "") + texts[i];
    put(std::move(all));
  }

  void write_list(const std::vector<std::string>& texts) {
    std::string all = "[";
    for (std::size_t i = 0; i < texts.size(); ++i) {
      all += i > 0 ? ",\n    " : "\n    ";
      for (char c : texts[i].substr(0, texts[i].size() - 1)) all += c == '\n' ? std::string("\n    ") : std::string(1, c);
    }
    put(all + (texts.empty() ? "]\n" : "\n]\n"));
  }

  void put(std::string text) {
    if (options_.outfile.empty() || options_.outfile == "-") {
      outcome_.output = std::move(text);
      return;
    }
    if (outcome_.code != 0) return;
    std::string path = joined(options_.request.cwd, options_.outfile);
    if (files_.exists(path) && !options_.is_forced) {
      failed(fmt::format("error writing \"{}\": file already exists", options_.outfile));
      return;
    }
    if (auto done = files_.write(path, text, 0644); !done) failed(done.error().message);
  }

  Outcome failed(const std::string& message) { return failed(Errors{{"usage", "", message, {}}}); }
  Outcome failed(const Errors& errors) {
    report(errors);
    return outcome_;
  }

  void report(const Errors& errors) {
    outcome_.code = 1;
    // Programs read them all, and all places.
    if (options_.is_json_errors) {
      outcome_.errors += json::print(to_json(errors)) + "\n";
      return;
    }
    bool is_syntax = !errors.empty() && errors[0].code == "syntax";
    std::size_t limit = options_.shows_all_errors || !is_syntax ? errors.size() : std::min<std::size_t>(errors.size(), 10);
    Errors shown_ones(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(limit));
    for (Error& one : shown_ones) {
      // The flag that names a schema tells of nothing but itself, a field that is not allowed of its own place alone.
      auto is_flag = [](const Position& at) { return at.file == "--schema"; };
      if (!std::ranges::all_of(one.positions, is_flag)) std::erase_if(one.positions, is_flag);
      if (one.message.starts_with("field not allowed") && one.positions.size() > 1) one.positions.resize(1);
    }
    outcome_.errors += describe(shown_ones);
    if (limit < errors.size()) outcome_.errors += fmt::format("too many errors\n");
  }

  Files& files_;
  Options options_;
  std::map<std::string, std::string> tags_;
  std::map<std::string, std::string> variables_;
  Outcome outcome_;
};

}  // namespace

Outcome run_command(Files& files, const Invocation& invocation) {
  auto options = parse_arguments(invocation.arguments);
  if (!options) {
    bool is_json = std::ranges::find(invocation.arguments, "--errors=json") != invocation.arguments.end();
    Errors wrong = {{"usage", "", options.error(), {}}};
    return {1, "", is_json ? json::print(to_json(wrong)) + "\n" : describe(wrong)};
  }
  return Command(files, invocation, std::move(*options)).run();
}

}  // namespace slipway::cue::load
