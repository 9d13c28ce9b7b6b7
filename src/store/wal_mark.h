// The mark in a database that its write-ahead log belongs to it: "open, WAL salt N". It is put into the database itself (by a
// checkpoint) when a store opens and taken out when it closes, so a database with a mark and without its log has lost what was
// acknowledged since. SQLite alone would open it and say nothing.
//
// The mark lies beside the format in user_version, which is in the file's header: it is read before SQLite sees the files, for
// whom another log in the place of the right one would be good enough. The number is of the first salt of the log's header:
// random for a new file, and counted up by one each time SQLite begins the same file anew
// (https://sqlite.org/fileformat2.html, "WAL File Format").
//
//   bits of user_version:  0-7 format, 8-29 the salt's lowest 22 bits, 30 set while there is a mark
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

struct sqlite3_vfs;

namespace slipway::store {

/// The header of the write-ahead log of a database; shorter when the log is missing or cut.
std::string wal_header(sqlite3_vfs* vfs, const std::string& database);

/// The format in a user_version, whatever its mark.
constexpr std::int64_t format_of(std::int64_t user_version) { return user_version & 0xff; }
constexpr bool has_wal_mark(std::int64_t user_version) { return (user_version & 0x4000'0000) != 0; }
/// A user_version with the mark for a log with this header.
std::int64_t with_wal_mark(std::int64_t format, std::string_view header);

/// What is wrong with a log beside a database with this user_version: "missing", "of another …"; empty when nothing is. A
/// header that a power cut has torn is nothing wrong: SQLite writes one only when the log before it was moved whole.
std::string_view wal_fault(std::int64_t user_version, std::string_view header);

}  // namespace slipway::store
