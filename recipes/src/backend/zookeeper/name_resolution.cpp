#include "backend/zookeeper/name_resolution.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>

namespace zkrecipes::backend {

namespace asio = boost::asio;

name_resolution::name_resolution(const asio::any_io_executor& strand, std::vector<endpoint> names,
                                 resolve_handler handler)
    : resolver_(strand) {
  for (auto& each : names) names_.push_back({std::move(each), {}});
  handlers_.push_back(std::move(handler));
}

bool name_resolution::join(const std::vector<endpoint>& names, resolve_handler& handler) {
  const bool is_wanted = !handlers_.empty() && std::ranges::equal(names, names_, {}, {}, &resolved_name::name);
  if (is_wanted) handlers_.push_back(std::move(handler));
  return is_wanted;
}

void name_resolution::next() {
  for (; done_ < names_.size(); ++done_) {
    auto& each = names_[done_];
    error_code not_numeric;
    asio::ip::make_address(each.name.address, not_numeric);
    if (not_numeric) return ask(each);
    each.addresses.push_back(each.name);
  }
  asio::post(resolver_.get_executor(), [self = shared_from_this()] { self->finish(); });
}

void name_resolution::ask(resolved_name& which) {
  resolver_.async_resolve(which.name.address, std::string(),
                          [self = shared_from_this(), &which](error_code, const auto& results) {
                            for (const auto& each : results) {
                              which.addresses.push_back({each.endpoint().address().to_string(), which.name.port});
                            }
                            ++self->done_;
                            self->next();
                          });
}

void name_resolution::finish() {
  for (const auto& each : std::exchange(handlers_, {})) each(names_);
}

}  // namespace zkrecipes::backend
