// The streams that the proxies pass on, and the replies that testcluster reads itself. The first byte of the input
// tells into how many pieces the stream is cut.
#include <testcluster/error.hpp>
#include <testcluster/op_code.hpp>

#include "frame_filter.hpp"
#include "fuzz/target.hpp"
#include "jute/messages.hpp"
#include "proxy_link.hpp"

namespace fuzz::proxy_frames_target {

using namespace testcluster;

/// Gives the stream to `pass` in pieces of this size, and collects what it lets pass.
template <class Pass>
std::string in_pieces(std::string_view stream, std::size_t size, Pass pass) {
  std::string passed;
  for (std::size_t begin = 0; begin < stream.size(); begin += size) passed += pass(stream.substr(begin, size));
  return passed;
}

void split(std::string_view stream, std::size_t size) {
  detail::frame_splitter frames;
  auto passed = in_pieces(stream, size, [&](std::string_view piece) {
    std::string all;
    frames.add(piece);
    while (const auto frame = frames.next()) all += *frame;
    return all;
  });
  passed += frames.rest();
  require(passed == stream, "a splitter loses no byte");
}

void filter(std::string_view stream, std::size_t size) {
  detail::drop_rules rules;
  detail::frame_filter idle(rules);
  const auto passed = in_pieces(stream, size, [&](std::string_view piece) { return idle.requests(piece).pass; });
  require(passed + idle.rest_of_requests() == stream, "without a rule everything passes");
  rules.add(detail::drop_rules::what::reply, op::exists, 1);
  rules.add_each(detail::drop_rules::what::request, op::create, "/a");
  detail::frame_filter busy(rules);
  for (std::size_t begin = 0; begin < stream.size(); begin += size) {
    const auto piece = stream.substr(begin, size);
    if (busy.requests(piece).cut || busy.replies(piece).cut) break;
  }
}

void greet(std::string_view stream, std::size_t size) {
  detail::election_greeting none("");
  const auto same = in_pieces(stream, size, [&](std::string_view piece) { return none.pass(piece); });
  require(same + none.rest() == stream, "without an address everything passes");
  detail::election_greeting other("127.0.0.1:3888");
  auto passed = in_pieces(stream, size, [&](std::string_view piece) { return other.pass(piece); });
  passed += other.rest();
  require(passed.size() <= stream.size() + 14, "no more than an address is added");
}

template <class Read>
void attempt(Read read) try {
  read();
} catch (const testcluster::error&) {  // it ends too early
}

void read_stream(std::string_view input) {
  const std::size_t size = take_byte(input) % 32u + 1;
  split(input, size);
  filter(input, size);
  greet(input, size);
  attempt([&] { jute::connect_reply(input); });
  attempt([&] { jute::owner_in(input); });
  attempt([&] { require(jute::names_in(input).size() <= input.size() / 4, "no name without its length"); });
}

const target known("proxy_frames", read_stream);

}  // namespace fuzz::proxy_frames_target
