#include "frame_filter.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <testcluster/op_code.hpp>

#include "jute/messages.hpp"

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

namespace {

constexpr std::size_t prefix_size = 4;
constexpr std::int32_t largest_frame = 64 << 20;

}  // namespace

std::optional<std::string> frame_splitter::next() {
  if (!opaque_ && pending_.size() >= prefix_size) {
    const auto length = jute::reader(pending_).int32();
    opaque_ = length < 0 || length > largest_frame;
    if (!opaque_) {
      const auto whole = prefix_size + static_cast<std::size_t>(length);
      if (pending_.size() < whole) return {};
      auto frame = pending_.substr(0, whole);
      pending_.erase(0, whole);
      return frame;
    }
  }
  if (!opaque_ || pending_.empty()) return {};
  return rest();
}

namespace {

constexpr std::size_t length_size = 4;  // of the frame, in front of it

struct request_header {
  std::int32_t xid = 0;
  std::int32_t op_code = 0;
};

std::optional<request_header> header_of(const std::string& frame) {
  if (frame.size() < length_size + 8) return {};
  jute::reader in(std::string_view(frame).substr(length_size));
  const auto xid = in.int32();
  return request_header{xid, in.int32()};
}

template <class Lose>
verdict sift(frame_splitter& stream, std::string_view bytes, Lose lose) {
  verdict result;
  stream.add(bytes);
  while (const auto frame = stream.next()) {
    if (!stream.opaque() && lose(*frame)) {
      result.cut = true;
      return result;
    }
    result.pass += *frame;
  }
  return result;
}

}  // namespace

verdict frame_filter::requests(std::string_view bytes) {
  return sift(requests_, bytes, [this](const std::string& frame) { return lose_request(frame); });
}

verdict frame_filter::replies(std::string_view bytes) {
  return sift(replies_, bytes, [this](const std::string& frame) { return lose_reply(frame); });
}

bool frame_filter::lose_request(const std::string& frame) {
  const bool connect = !std::exchange(connect_request_seen_, true);
  const auto header = connect ? request_header{0, op::create_session} : header_of(frame).value_or(request_header{});
  if (rules_.hit(drop_rules::what::request, header.op_code, frame)) return true;
  if (rules_.hit(drop_rules::what::reply, header.op_code, frame)) {
    if (connect) {
      lose_connect_reply_ = true;
    } else {
      replies_to_lose_.push_back(header.xid);
    }
  }
  return false;
}

bool frame_filter::lose_reply(const std::string& frame) {
  if (!std::exchange(connect_reply_seen_, true)) return lose_connect_reply_;
  const auto header = header_of(frame);
  return header && std::find(replies_to_lose_.begin(), replies_to_lose_.end(), header->xid) != replies_to_lose_.end();
}

}  // namespace testcluster::detail
