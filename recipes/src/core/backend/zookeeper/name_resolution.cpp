#include "backend/zookeeper/name_resolution.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/ip/address.hpp>

namespace zkrecipes::backend {

name_resolution::name_resolution(const boost::asio::any_io_executor& strand, std::vector<endpoint> names,
                                 resolve_handler handler)
    : timer_(strand), handler_(std::move(handler)) {
  for (auto& each : names) {
    error_code not_numeric;
    boost::asio::ip::make_address(each.address, not_numeric);
    states_.push_back({!not_numeric, !not_numeric});
    resolved_name one;
    if (!not_numeric) one.addresses.push_back(each);
    one.name = std::move(each);
    all_.push_back(std::move(one));
  }
}

std::vector<std::string> name_resolution::hosts() const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    if (!states_[i].is_numeric) all.push_back(all_[i].name.address);
  }
  return all;
}

void name_resolution::note(const host_answer& what) {
  for (std::size_t i = 0; i < all_.size(); ++i) {
    auto& each = all_[i];
    if (states_[i].is_answered || each.name.address != what.host) continue;
    states_[i].is_answered = true;
    each.error = what.error;
    for (const auto& address : what.addresses) each.addresses.push_back({address, each.name.port});
  }
}

void name_resolution::give_up(const error_code& why) {
  for (const auto& host : hosts()) note(host_answer{host, {}, why});
}

bool name_resolution::is_done() const { return std::ranges::all_of(states_, &state::is_answered); }

}  // namespace zkrecipes::backend
