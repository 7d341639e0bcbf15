// A page of metrics in the text format of Prometheus, version 0.0.4.
#pragma once

#include <concepts>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes::service {

/// Collects samples in any order; the text has those of one metric together, behind its HELP and TYPE lines. Names are
/// written as they are, help and the texts of labels so that each is one line of valid UTF-8.
/// Prometheus refuses a whole text with two equal samples, so the second one is left out. Thread safety: none.
class metrics_page {
 public:
  using labels = std::vector<std::pair<std::string, std::string>>;

  /// The type of an HTTP answer with the text.
  static constexpr const char* content_type = "text/plain; version=0.0.4; charset=utf-8";

  /// A total that only grows until the process ends. By convention its name ends with _total.
  void counter(const std::string& name, std::string_view help, auto value, const labels& of = {}) {
    add(name, "counter", help, show(value), of);
  }
  void gauge(const std::string& name, std::string_view help, auto value, const labels& of = {}) {
    add(name, "gauge", help, show(value), of);
  }
  std::string text() const;

 private:
  struct metric {
    std::string_view type;
    std::string help;
    std::string samples{};
    /// The labels that have a sample. A second one with the same labels would make Prometheus refuse the page.
    std::set<std::string> seen{};
  };
  static std::string show(std::integral auto value) { return std::to_string(value); }
  static std::string show(double value);
  void add(const std::string& name, std::string_view type, std::string_view help, const std::string& value,
           const labels& of);

  std::map<std::string, metric> metrics_;
};

}  // namespace zkrecipes::service
