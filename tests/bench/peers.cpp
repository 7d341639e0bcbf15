#include "peers.hpp"

#include <optional>
#include <stdexcept>

#include <boost/json.hpp>

#include "support/process.hpp"

namespace bench {

namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> command_line(const std::string& program, const std::string& name, const std::string& part,
                                      const std::string& hosts, const std::vector<std::string>& options) {
  std::vector<std::string> words{program, name, "--part", part, "--hosts", hosts};
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

}  // namespace

peer::peer(const std::string& program, const std::string& name, const std::string& part, const std::string& hosts,
           const std::vector<std::string>& options)
    : process_(name, command_line(program, name, part, hosts, options)) {}

std::string peer::line() {
  constexpr auto time_limit = 200s;  // longer than the program's own limit
  std::optional<std::string> said;
  const bool in_time = zkrecipes::test::wait_until([&] { return (said = process_.answer()).has_value(); }, time_limit);
  if (!in_time) throw std::runtime_error(process_.name() + " says nothing");
  return *said;
}

json::object peer::figures() { return json::parse(line()).as_object().at("operations").as_object(); }

}  // namespace bench
