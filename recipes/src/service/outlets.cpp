#include "outlets.hpp"

#include <stdexcept>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/use_awaitable.hpp>

#ifdef ZKRECIPES_SERVICE_HAS_SPOOL
#include <zkrecipes/service/metrics.hpp>
#include <zkrecipes/spool/spooled_producer.hpp>
#endif

namespace zkrecipes::service {
namespace {

namespace asio = boost::asio;

constexpr auto as_outcome = asio::as_tuple(asio::use_awaitable);

template <class Producer>
class producer_outlet : public outlet {
 public:
  explicit producer_outlet(Producer into) : into_(std::move(into)) {}

  asio::awaitable<result> put(std::string key, std::string data) override {
    co_return co_await into_.async_put(std::move(key), std::move(data), as_outcome);
  }
  asio::awaitable<result> last(asio::cancellation_slot cancelled) override {
    auto token = asio::bind_cancellation_slot(cancelled, as_outcome);
    co_return co_await into_.async_last(token);
  }

 private:
  Producer into_;
};

#ifdef ZKRECIPES_SERVICE_HAS_SPOOL
/// A message counts as put when it is in the file.
class spool_outlet : public outlet {
 public:
  spool_outlet(spooled_producer into, spool_options options, std::chrono::milliseconds closing)
      : into_(std::move(into)), options_(std::move(options)), closing_(closing) {}

  asio::awaitable<result> put(std::string key, std::string data) override {
    co_return co_await into_.async_put(std::move(key), std::move(data), as_outcome);
  }
  asio::awaitable<result> last(asio::cancellation_slot) override { co_return result(error_code(), into_.status().put); }
  // Another producer has taken the name over. After other errors the file is tried again.
  bool is_ended_by(const error_code& error) const override { return error == errc::superseded; }
  // Not all may be put in time: the rest stays in the file, and the next process with this id puts it.
  asio::awaitable<void> close() override { co_await into_.async_close(closing_, as_outcome); }
  bool accepts() const override {
    const auto now = into_.status();
    const bool is_full = now.lag >= options_.most_messages || now.lag_bytes >= options_.most_bytes;
    return now.is_open && !is_full && now.error.category() != spool_category();
  }
  std::string trouble() const override { return into_.status().trouble; }
  void add_to(metrics_page& page) const override { add_metrics(page, into_.status()); }

 private:
  spooled_producer into_;
  const spool_options options_;
  const std::chrono::milliseconds closing_;
};

template <class Into>
std::unique_ptr<outlet> make_spool_outlet(const Into& into, const std::string& producer,
                                          const configuration& settings) {
  spool_options options;
  options.file = settings.spool->folder + "/" + producer + ".spool";
  options.durability = settings.spool->durability;
  options.most_messages = settings.spool->most_messages;
  options.when_full = spool_full::reject;
  return std::make_unique<spool_outlet>(spooled_producer(into, producer, options), options, settings.http.put_timeout);
}
#else
template <class Into>
std::unique_ptr<outlet> make_spool_outlet(const Into&, const std::string&, const configuration&) {
  throw std::logic_error("built without the part spool");
}
#endif

template <class Producer, class Into>
outlet_factory outlets_into(Into into, const std::string& own, const configuration& settings) {
  return [into = std::move(into), own, settings](const std::string& name) -> std::unique_ptr<outlet> {
    if (settings.spool && name == own) return make_spool_outlet(into, name, settings);
    return std::make_unique<producer_outlet<Producer>>(Producer(into, name));
  };
}

}  // namespace

bool has_spool() {
#ifdef ZKRECIPES_SERVICE_HAS_SPOOL
  return true;
#else
  return false;
#endif
}

topic make_topic(const session& over, const configuration& settings) {
  topic_options options{.shards = settings.shards, .retention = {.groups = {settings.consumers}}};
  return {over, settings.input, std::move(options)};
}

outlet_factory make_outlets(const session& over, const std::string& own, const configuration& settings) {
  if (settings.mode == work_mode::single) return outlets_into<producer>(queue(over, settings.input), own, settings);
  return outlets_into<topic_producer>(make_topic(over, settings), own, settings);
}

}  // namespace zkrecipes::service
