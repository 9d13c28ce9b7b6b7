// The mark in a database that its write-ahead log belongs to it: "open, WAL salt N". It is put into the database itself (by a
// checkpoint) when a store opens and taken out when it closes, so a database with a mark and without its log has lost what was
// acknowledged since. SQLite alone would open it and say nothing.
//
// The number is the first salt of the log's header: random for a new file, and counted up by one each time SQLite begins the
// same file anew (https://sqlite.org/fileformat2.html, "WAL File Format"). So another log in its place is found out too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

struct sqlite3_vfs;

namespace slipway::store {

/// The row of `meta` that holds the mark.
inline constexpr const char* kWalMark = "open";

/// The header of the write-ahead log of a database; shorter when the log is missing or cut.
std::string wal_header(sqlite3_vfs* vfs, const std::string& database);

/// The mark for a log with this header; never 0.
std::int64_t wal_mark(std::string_view header);

/// What is wrong with a log beside a database with this mark (0: none): "missing", "of another database, …"; empty when nothing
/// is. A header that a power cut has torn is nothing wrong: SQLite writes one only when the log before it was moved whole.
std::string_view wal_fault(std::int64_t mark, std::string_view header);

}  // namespace slipway::store
