// What the reports have in common: tables as text, times, data of any bytes, lines for scripts, values of JSON.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/text.hpp"
#include "cluster/status.hpp"
#include "terminal/table.hpp"

namespace zkadmin {

std::string printed(const table& content);

// How much a table holds.

struct table_bounds {
  std::size_t rows;    ///< A table of shards ends after so many.
  std::size_t ranges;  ///< Characters of a list of shards.
};

inline constexpr table_bounds for_print{20, 40};
inline constexpr table_bounds everything{std::numeric_limits<std::size_t>::max(),
                                         std::numeric_limits<std::size_t>::max()};

// Times of the servers or of this machine, as text.

/// "2026-11-26 14:03:39 UTC" for milliseconds since 1970.
std::string utc_time(std::int64_t ms);

// One line for each step of what is followed to its end.

/// "   +12 ms  finishing     a -> b". `who` is printable.
std::string progress_line(std::chrono::milliseconds at, const std::string& state, const std::string& who);

// Data of any bytes as text.

bool is_utf8(std::string_view data);

/// Whether a terminal can show it: UTF-8 without control characters other than tabs and line ends.
bool is_showable(std::string_view data);

/// As RFC 4648 defines it, in one line.
std::string base64(std::string_view data);

/// "00000000  68 65 6c 6c 6f ...  |hello|", 16 bytes a line, as `hexdump -C` prints it.
std::string hex_dump(std::string_view data);

/// "2026-01-31T12:00:00.123Z" of milliseconds since 1970.
std::string utc_timestamp(std::int64_t ms);

// Lines of fields for scripts.

/// One line. Tabs, line ends and backslashes in a field are escaped as \t, \n, \r and \\, other control characters as
/// \x1b.
std::string tsv_line(std::initializer_list<std::string> fields);

// Values of the JSON reports.

/// Null if the text is empty.
inline boost::json::value or_null(const std::string& text) {
  return text.empty() ? boost::json::value(nullptr) : boost::json::value(well_formed(text));
}

template <class Number>
boost::json::value or_null(const std::optional<Number>& value) {
  return value ? boost::json::value(*value) : boost::json::value(nullptr);
}

inline boost::json::value or_null(const std::optional<std::chrono::milliseconds>& value) {
  return value ? boost::json::value(value->count()) : boost::json::value(nullptr);
}

/// A whole number is written without a fraction.
boost::json::value plain_number(double value);

/// One line, which also a terminal may show: what it would not show as itself is written as \uNNNN.
std::string json_line(const boost::json::object& document);

boost::json::array note_array(const std::vector<survey_note>& notes);

}  // namespace zkadmin
