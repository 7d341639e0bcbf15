// A page of metrics in the text format of Prometheus.
#pragma once

#include <concepts>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace service {

/// Collects samples in any order; the text has those of one metric together, behind its HELP and TYPE lines.
class metrics_page {
 public:
  using labels = std::vector<std::pair<std::string, std::string>>;

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
    std::string_view help;
    std::string samples{};
  };
  static std::string show(std::integral auto value) { return std::to_string(value); }
  static std::string show(double value);
  void add(const std::string& name, std::string_view type, std::string_view help, const std::string& value,
           const labels& of);

  std::map<std::string, metric> metrics_;
};

}  // namespace service
