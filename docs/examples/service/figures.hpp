// Tables of figures: which member of a struct is which metric.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include <zkrecipes/error.hpp>

#include "metrics_page.hpp"

namespace service {

auto value_of(std::integral auto number) { return number; }
inline double value_of(double number) { return number; }
template <class Count, class Period>
double value_of(std::chrono::duration<Count, Period> length) {
  return std::chrono::duration<double>(length).count();
}
inline int value_of(bool is_so) { return is_so ? 1 : 0; }
inline int value_of(const zkrecipes::error_code& error) { return error ? 1 : 0; }
/// A text is 1 if there is one. What it says is left to the log, because each new text would begin a new time series.
inline int value_of(const std::string& text) { return text.empty() ? 0 : 1; }
/// The number of the elements.
template <class Element>
std::size_t value_of(const std::vector<Element>& list) {
  return list.size();
}

/// A row of a table. By the convention of Prometheus the name ends with _total if the figure only grows.
template <class Status, class Member>
struct figure {
  const char* name;
  const char* help;
  Member Status::*member;
};

template <class Status, class... Members>
constexpr auto table_of(figure<Status, Members>... rows) {
  return std::tuple(rows...);
}

/// Adds all figures of a table; `prefix` goes in front of their names.
template <class Status, class Table>
void add_figures(metrics_page& page, const std::string& prefix, const Table& rows, const Status& now,
                 const metrics_page::labels& of) {
  const auto add = [&](const auto& row) {
    const auto name = prefix + row.name;
    const auto value = value_of(now.*row.member);
    name.ends_with("_total") ? page.counter(name, row.help, value, of) : page.gauge(name, row.help, value, of);
  };
  std::apply([&](const auto&... each) { (add(each), ...); }, rows);
}

}  // namespace service
