// The types of CEL expressions (cel-spec, "Values" and "Type checking") and of values with a schema: an Object is a JSON object
// whose fields are known, a Var stands for a type not yet known while an expression is checked. Immutable and shared.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slipway::cel {

enum class Kind : std::uint8_t {
  Dyn,
  Null,
  Bool,
  Int,
  Uint,
  Double,
  String,
  Bytes,
  List,
  Map,
  Object,  // a JSON object with declared fields
  Timestamp,
  Duration,
  Type,
  Optional,
  Opaque,  // a value of an extension library, by name
  Var,     // only while checking and in signatures
  Error,   // only of values
};

struct Type;
using TypePtr = std::shared_ptr<const Type>;

/// One declared field of an Object.
struct Field {
  std::string json_name;
  TypePtr type;
};

/// How items of a list are told apart (x-kubernetes-list-type).
enum class Identity : std::uint8_t { Order, Set, Keys };

struct Type {
  Kind kind = Kind::Dyn;
  std::vector<TypePtr> params{};                       // List: item; Map: key, value; Optional and Type: one or none
  std::string name{};                                  // of Object, Opaque and of a Var in a signature
  int id = 0;                                          // of a Var while checking
  std::map<std::string, Field, std::less<>> fields{};  // of Object, by the name rules use (see escape())
  Identity identity = Identity::Order;                 // of List
  std::vector<std::string> keys{};                     // of List with Identity::Keys, JSON names
  std::optional<std::uint64_t> max_size{};             // by a schema: characters, bytes, items or entries at the most
  std::uint64_t min_json_bytes = 0;                    // by a schema: of its shortest JSON text
};

/// A type without parameters; shared.
TypePtr type_of(Kind kind);
TypePtr list_of(TypePtr item);
TypePtr map_of(TypePtr key, TypePtr value);
TypePtr optional_of(TypePtr value);
TypePtr type_type(TypePtr of);
TypePtr opaque(std::string_view name);
TypePtr var(std::string_view name, int id);

/// The field of an Object by the name rules use; a reserved word needs no underscores where a rule may write it
/// ("a.namespace").
const Field* field_of(const Type& type, std::string_view name);

/// As error messages of cel-go print it: "list(int)", "map(string, dyn)"; that of null is "null" here.
std::string to_string(const Type& type);

/// The name by which rules reach the property `name`: "a-b" is a__dash__b, "in" is __in__. Empty when it cannot be reached.
std::string escape(std::string_view name);

}  // namespace slipway::cel
