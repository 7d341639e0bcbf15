#include "drop_rules.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <testcluster/op_code.hpp>

namespace testcluster::detail {

namespace asio = boost::asio;

asio::awaitable<void> change::wait() {
  boost::system::error_code cancelled;
  co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
}

bool drop_rules::hit(what lost, std::int32_t op_code, std::string_view request) {
  bool found = false;
  for (auto& each : rules_) {
    if (each.lost != lost || each.op_code != op_code || request.find(each.text) == request.npos) continue;
    if (each.left == each_one || --each.left == 0) found = true;
  }
  std::erase_if(rules_, [](const rule& each) { return each.left == 0; });
  return found;
}

std::vector<std::string> drop_rules::describe() const {
  std::vector<std::string> all;
  for (const auto& each : rules_) {
    all.push_back((each.lost == what::reply ? "drop-reply " : "drop-request ") + op::name_of(each.op_code) + " " +
                  (each.left == each_one ? each.text : std::to_string(each.left)));
  }
  return all;
}

}  // namespace testcluster::detail
