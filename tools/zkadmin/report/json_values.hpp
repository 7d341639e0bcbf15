// Values of the JSON reports.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "cluster/status.hpp"
#include "text.hpp"

namespace zkadmin {

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
