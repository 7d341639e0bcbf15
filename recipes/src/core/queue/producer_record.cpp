#include "queue/producer_record.hpp"

#include <charconv>
#include <utility>
#include <vector>

#include "session/outcomes.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// The record is a number, a space, and the GUID of the producer that put the item with this number; a new record is
/// only "0".
bool parse_progress(const std::string& text, std::uint64_t& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && (end == text.data() + text.size() || *end == ' ');
}

}  // namespace

awaitable<error_code> producer_record::read(lease_clock::time_point until) {
  for (;;) {
    std::vector<backend::request> look{make_request(opcode::get, path_)};
    auto looked = co_await perform_latest(session_, std::move(look), persistence::limited);
    auto& [refused, replies] = looked;
    if (may_have_happened(refused) && session_->now() < until) continue;
    if (refused) co_return refused;
    auto& found = replies.front();
    if (found.error == errc::no_node) {
      auto error = co_await make();
      if (error) co_return error;
      continue;
    }
    if (found.error) co_return found.error;
    std::uint64_t number = 0;
    if (!parse_progress(found.data, number)) co_return errc::foreign_data;
    if (guid_.empty()) guid_ = session_->make_guid();  // not in the constructor, which any thread may run
    last_ = number;
    is_ours_ = found.data == data_of(number);
    version_ = found.stat.version;
    is_known_ = true;
    co_return error_code();
  }
}

awaitable<error_code> producer_record::make() {
  auto error = co_await make_folder_();
  if (error) co_return may_have_happened(error) ? error_code() : error;
  auto create = make_request(opcode::create, path_);
  create.data = "0";
  auto created = co_await session_->perform(std::move(create), retry::always);
  const bool is_wiped = created.error == errc::no_node;  // an operator removed the folder in between: try again
  const bool fine = created.error == errc::node_exists || is_wiped || may_have_happened(created.error);
  co_return fine ? error_code() : created.error;
}

std::string producer_record::data_of(std::uint64_t number) const { return std::to_string(number) + ' ' + guid_; }

void producer_record::add_to(transaction& all, std::uint64_t number, std::int32_t behind) const {
  const auto version = static_cast<std::uint32_t>(version_) + static_cast<std::uint32_t>(behind);  // it may wrap
  all.set(path_, data_of(number), static_cast<std::int32_t>(version));
}

void producer_record::record_written(std::uint64_t number, std::int32_t version) {
  last_ = number;
  version_ = version;
}

}  // namespace zkrecipes::detail
