#include "spool_outlet.hpp"

#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/spool/spooled_producer.hpp>

#include "library_metrics.hpp"

namespace service {
namespace {

namespace asio = boost::asio;

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

class spool_outlet : public outlet {
 public:
  spool_outlet(zkrecipes::spooled_producer into, zkrecipes::spool_options options, std::chrono::milliseconds closing)
      : into_(std::move(into)), options_(std::move(options)), closing_(closing) {}

  asio::awaitable<result> put(std::string key, std::string data, asio::cancellation_slot cancelled) override {
    auto token = asio::bind_cancellation_slot(cancelled, as_result);
    co_return co_await into_.async_put(std::move(key), std::move(data), token);
  }
  asio::awaitable<result> last(asio::cancellation_slot) override {
    co_return result(zkrecipes::error_code(), into_.status().put);
  }
  // Another producer has taken the name over. After other errors the file is tried again.
  bool is_ended_by(const zkrecipes::error_code& error) const override { return error == zkrecipes::errc::superseded; }
  // Not all may be put in time: the rest stays in the file, and the next process with this id puts it.
  asio::awaitable<void> close() override { co_await into_.async_close(closing_, as_result); }
  bool accepts() const override {
    const auto now = into_.status();
    const bool is_full = now.lag >= options_.most_messages || now.lag_bytes >= options_.most_bytes;
    return now.is_open && !is_full && now.error.category() != zkrecipes::spool_category();
  }
  std::string trouble() const override { return into_.status().trouble; }
  void add_to(metrics_page& page) const override { add_metrics(page, into_.status()); }

 private:
  zkrecipes::spooled_producer into_;
  const zkrecipes::spool_options options_;
  const std::chrono::milliseconds closing_;
};

template <class Into>
std::unique_ptr<outlet> make(const Into& into, const std::string& producer, const configuration& settings) {
  zkrecipes::spool_options options;
  options.file = settings.spool->folder + "/" + producer + ".spool";
  options.durability = settings.spool->durability;
  options.most_messages = settings.spool->most_messages;
  options.when_full = zkrecipes::spool_full::reject;
  return std::make_unique<spool_outlet>(zkrecipes::spooled_producer(into, producer, options), options,
                                        settings.http.put_timeout);
}

}  // namespace

bool has_spool() { return true; }

std::unique_ptr<outlet> make_spool_outlet(const zkrecipes::queue& into, const std::string& producer,
                                          const configuration& settings) {
  return make(into, producer, settings);
}

std::unique_ptr<outlet> make_spool_outlet(const zkrecipes::topic& into, const std::string& producer,
                                          const configuration& settings) {
  return make(into, producer, settings);
}

}  // namespace service
