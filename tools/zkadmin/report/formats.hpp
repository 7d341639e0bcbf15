// What the reports have in common: tables as text, times, data of any bytes, lines for scripts, values of JSON.
#pragma once

#include <cctype>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "base/text.hpp"
#include "cluster/status.hpp"
#include "settings/command_line.hpp"
#include "terminal/table.hpp"

namespace zkadmin {

/// A cell shows at most 1 000 bytes: names and data may be of any length, and each row is as wide as the widest.
std::string printed(table content);

/// The output in this format, which one of the functions makes.
template <class Table, class Json, class Tsv>
std::string in_format(output_format format, Table as_table, Json as_json, Tsv as_tsv) {
  switch (format) {
    case output_format::table: return as_table();
    case output_format::json: return as_json();
    case output_format::tsv: return as_tsv();
  }
  return {};
}

// How much a table holds.

struct table_bounds {
  std::size_t rows;    ///< A table of shards ends after so many.
  std::size_t ranges;  ///< Characters of a list of shards.
};

inline constexpr table_bounds for_print{20, 40};
inline constexpr table_bounds everything{std::numeric_limits<std::size_t>::max(),
                                         std::numeric_limits<std::size_t>::max()};

/// A table with a row for each. Behind the first `most` rows one tells how many were left out.
template <class All, class Row>
table table_of(std::vector<column> columns, const All& all, Row row, std::size_t most = everything.rows) {
  table content{std::move(columns), {}};
  for (const auto& each : all) {
    if (content.rows.size() == most) {
      content.rows.push_back({{"and " + std::to_string(std::size(all) - most) + " more"}});
      break;
    }
    content.rows.push_back(row(each));
  }
  return content;
}

/// A value in a table for people: a span as "1.2 s", nothing as a dash.
inline table_cell cell_of(table_cell cell) { return cell; }
inline table_cell cell_of(std::string text) { return {std::move(text)}; }
inline table_cell cell_of(const char* text) { return {text}; }
inline table_cell cell_of(std::chrono::milliseconds span) { return {short_duration(span)}; }
template <std::integral Number>
table_cell cell_of(Number number) {
  return {std::to_string(number)};
}
template <class Value>
table_cell cell_of(const std::optional<Value>& value) {
  return value ? cell_of(*value) : table_cell{"-"};
}

template <class... Values>
table_row row_of(const Values&... values) {
  return {cell_of(values)...};
}

/// A table behind an empty line; nothing if it has no rows.
std::string block(const table& content);

/// Adds a row for each group of something; the cells about the thing itself stand in the first one.
template <class Groups, class Row>
void add_rows_of_groups(table& to, table_row first, const Groups& groups, Row row_of_group) {
  if (std::empty(groups)) {
    first.push_back({"-"});
    to.rows.push_back(first);
  }
  const table_row none(first.size());
  for (const auto& each : groups) {
    for (auto& cell : row_of_group(each)) first.push_back(std::move(cell));
    to.rows.push_back(std::exchange(first, none));
  }
}

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

/// A value in a line for scripts: a flag as yes or no, a span in milliseconds, nothing as an empty field.
inline std::string field_of(std::string text) { return text; }
inline std::string field_of(const char* text) { return text; }
inline std::string field_of(std::chrono::milliseconds span) { return std::to_string(span.count()); }
template <std::integral Number>
std::string field_of(Number value) {
  if constexpr (std::same_as<Number, bool>) {
    return value ? "yes" : "no";
  } else {
    return std::to_string(value);
  }
}
template <class Value>
std::string field_of(const std::optional<Value>& value) {
  return value ? field_of(*value) : "";
}

/// One line. Tabs, line ends and backslashes in a field are escaped as \t, \n, \r and \\, other control characters as
/// \x1b.
std::string line_of(std::initializer_list<std::string> fields);

template <class... Values>
std::string tsv_line(const Values&... values) {
  return line_of({field_of(values)...});
}

/// A line for each note.
std::string note_lines(const std::vector<survey_note>& notes);

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

/// An array with what `make` gives for each.
template <class All, class Make>
boost::json::array array_of(const All& all, Make make) {
  boost::json::array array;
  for (const auto& each : all) array.push_back(make(each));
  return array;
}

/// The texts, without malformed bytes.
boost::json::array text_array(const std::vector<std::string>& texts);

boost::json::array note_array(const std::vector<survey_note>& notes);

// A survey of things of one kind; `names` tells of several of them: "shard groups". One that is missing: nothing is
// known of them.

/// The same table, and below each row the lines that `lines_of` gives for its number.
template <class Lines>
table with_lines(table content, Lines lines_of) {
  std::vector<table_row> rows;
  for (std::size_t i = 0; i < content.rows.size(); ++i) {
    rows.push_back(std::move(content.rows[i]));
    for (const auto& each : lines_of(i)) rows.push_back({{"  " + each}});
  }
  content.rows = std::move(rows);
  return content;
}

/// For people: the rows, and a line if there are none, or if these are not all.
template <class Status>
std::string survey_table(const std::optional<survey<Status>>& all, std::string names, const std::string& rows) {
  const auto title = static_cast<char>(std::toupper(names.front())) + names.substr(1);
  if (!all) return title + ": not known.\n";
  if (!all->complete) return rows + "There may be more " + names + " than these.\n";
  return all->found.empty() ? rows + "No " + names + ".\n" : rows;
}
/// The document with all of them, one line of JSON, "schema":1.
template <class Status, class Object>
std::string survey_json(const std::optional<survey<Status>>& all, const char* names, Object object_of) {
  boost::json::object document{{"schema", 1}, {"complete", all && all->complete}};
  document[names] = all ? boost::json::value(array_of(all->found, object_of)) : boost::json::value(nullptr);
  document["notes"] = all ? note_array(all->notes) : boost::json::array();
  return json_line(document);
}
/// A line about the survey, those of each of them, and the notes.
template <class Status, class Lines>
std::string survey_tsv(const std::optional<survey<Status>>& all, const char* names, Lines lines_of) {
  if (!all) return tsv_line(names, "unknown", "");
  auto text = tsv_line(names, all->complete ? "complete" : "incomplete", all->found.size());
  for (const auto& each : all->found) text += lines_of(each);
  return text + note_lines(all->notes);
}

}  // namespace zkadmin
