#include "spool/make_spool.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include <pthread.h>
#include <signal.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include "backend/descriptors.hpp"
#include "session/core.hpp"
#include "spool/spool_disk.hpp"
#include "spool/spool_file.hpp"
#include "spool/spool_state.hpp"

namespace zkrecipes::detail {

/// The one thread that works with the file of a spooled producer.
/// Owns the file and gives it to jobs only, one after the other, on its own thread. Thread safety: safe.
class spool_thread {
 public:
  using job = std::function<void(spool_file&)>;

  explicit spool_thread(spool_file_settings settings);
  ~spool_thread() { stop(); }
  spool_thread(const spool_thread&) = delete;
  spool_thread& operator=(const spool_thread&) = delete;

  void run(job next);
  /// Waits for the job under way, drops the others, closes the file and ends the thread. Not from a job.
  void stop() noexcept;

 private:
  void work();
  bool take(job& next);

  spool_file_settings settings_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<job> jobs_;
  bool is_stopped_ = false;
  std::mutex joining_;
  std::thread thread_;
};

namespace {

/// Signals of the process are for the threads of the program.
class blocked_signals {
 public:
  blocked_signals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~blocked_signals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  blocked_signals(const blocked_signals&) = delete;
  blocked_signals& operator=(const blocked_signals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

spool_thread::spool_thread(spool_file_settings settings) : settings_(std::move(settings)) {
  const blocked_signals while_it_starts;
  thread_ = std::thread([this] { work(); });
}

void spool_thread::run(job next) {
  {
    std::lock_guard lock(mutex_);
    if (!is_stopped_) jobs_.push_back(std::move(next));
  }
  changed_.notify_one();
}

void spool_thread::stop() noexcept {
  std::deque<job> dropped;
  {
    std::lock_guard lock(mutex_);
    is_stopped_ = true;
    dropped.swap(jobs_);
  }
  changed_.notify_one();
  std::lock_guard lock(joining_);
  if (thread_.joinable()) thread_.join();
}

void spool_thread::work() {
  spool_file file(settings_);
  for (job next; take(next); next = nullptr) next(file);
}

bool spool_thread::take(job& next) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_stopped_ || !jobs_.empty(); });
  if (jobs_.empty()) return false;
  next = std::move(jobs_.front());
  jobs_.pop_front();
  return true;
}

/// The real disk of a spooled producer.
/// A child of `fork` has neither the thread nor the file: it waits for nothing, and leaves its copies as they are.
class sqlite_disk : public spool_disk {
 public:
  sqlite_disk(boost::asio::any_io_executor strand, spool_file_settings settings);
  ~sqlite_disk() override {
    if (home_.is_elsewhere()) static_cast<void>(thread_.release());
  }

  void open(std::optional<std::uint64_t> keep, handler done) override;
  void commit(spool_change change, handler done) override;
  void load(std::uint64_t from, std::size_t most_messages, std::size_t most_bytes, handler done) override;
  void close(handler done) override;
  void stop() noexcept override {
    if (!home_.is_elsewhere()) thread_->stop();
  }

 private:
  void run(std::function<spool_answer(spool_file&)> work, handler done);

  boost::asio::any_io_executor strand_;
  backend::home_process home_;
  std::unique_ptr<spool_thread> thread_;
};

namespace asio = boost::asio;

sqlite_disk::sqlite_disk(asio::any_io_executor strand, spool_file_settings settings)
    : strand_(std::move(strand)), thread_(std::make_unique<spool_thread>(std::move(settings))) {}

namespace {

constexpr std::chrono::milliseconds pause_without_memory{10};

struct job {
  std::function<spool_answer(spool_file&)> work;
  spool_disk::handler done;
  spool_answer answer;

  /// An exception must not end the process, which has other work.
  void execute(spool_file& file) noexcept {
    try {
      answer = work(file);
    } catch (...) {  // there is no memory for words either
      file.close();
      answer.error = make_error_code(boost::system::errc::not_enough_memory);
    }
  }
};

/// False: there is no memory for it.
bool has_posted(const asio::any_io_executor& strand, const std::shared_ptr<job>& which) noexcept {
  try {
    asio::post(strand, [which] { which->done(std::move(which->answer)); });
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

}  // namespace

/// The context keeps running until the answer has come.
void sqlite_disk::run(std::function<spool_answer(spool_file&)> work, handler done) {
  auto strand = asio::prefer(strand_, asio::execution::outstanding_work.tracked);
  auto mine = std::make_shared<job>(job{std::move(work), std::move(done), {}});
  if (home_.is_elsewhere()) {
    mine->answer.error = errc::closed;
    return asio::post(strand_, [mine] { mine->done(std::move(mine->answer)); });
  }
  thread_->run([strand = std::move(strand), mine = std::move(mine)](spool_file& file) {
    mine->execute(file);
    // Nothing tells when there is memory again, and to wait for news would take some.
    while (!has_posted(strand, mine)) std::this_thread::sleep_for(pause_without_memory);
  });
}

void sqlite_disk::open(std::optional<std::uint64_t> keep, handler done) {
  run([keep](spool_file& file) { return file.open(keep); }, std::move(done));
}

void sqlite_disk::commit(spool_change change, handler done) {
  auto what = std::make_shared<const spool_change>(std::move(change));
  run([what = std::move(what)](spool_file& file) { return file.commit(*what); }, std::move(done));
}

void sqlite_disk::load(std::uint64_t from, std::size_t most_messages, std::size_t most_bytes, handler done) {
  run([=](spool_file& file) { return file.load(from, most_messages, most_bytes); }, std::move(done));
}

void sqlite_disk::close(handler done) {
  run([](spool_file& file) { return file.finish(); }, std::move(done));
}

std::shared_ptr<spool_state> make_spool(const session& with, const std::string& name, spool_options options,
                                        std::unique_ptr<spool_target> target) {
  const auto& on = with.get_core()->get_scheduler();
  spool_file_settings settings;
  settings.file = options.file;
  // Two sessions with different roots have different queues at one path.
  settings.path = with.get_core()->root() + target->identity();
  settings.name = name;
  settings.durability = options.durability;
  settings.has_origins = !target->knows_last();
  auto disk = std::make_shared<sqlite_disk>(on->strand, std::move(settings));
  auto state = std::make_shared<spool_state>(on, std::move(options), std::move(target), std::move(disk));
  state->start();
  return state;
}

}  // namespace zkrecipes::detail
