import static java.util.concurrent.TimeUnit.SECONDS;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.CuratorWatcher;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;

/**
 * Every measured operation, in the steady state: the parents exist, and a first round does not count. Recipe objects
 * are used again where Curator allows it, because a service does so, and because it is the cheapest way for Curator.
 */
final class CuratorOperations {
  private static final int WAIT = ObservedClient.WAIT_SECONDS;
  private static final byte[] ITEM = {'x'};

  private final ObservedClient waiting;
  private final CuratorFramework owner;
  private final CuratorFramework waiter;
  private final String base;
  private final PeerOptions options;
  private final ExecutorService threads;
  private final Map<String, Double> operations = new LinkedHashMap<>();

  CuratorOperations(ObservedClient owner, ObservedClient waiter, String base, PeerOptions options,
      ExecutorService threads) {
    this.waiting = waiter;
    this.owner = owner.curator;
    this.waiter = waiter.curator;
    this.base = base;
    this.options = options;
    this.threads = threads;
  }

  private interface Action {
    void run() throws Exception;
  }

  /** Runs the operation once, on fresh paths named after the number if it needs them; returns nanoseconds. */
  private interface Round {
    long run(int number) throws Exception;
  }

  Map<String, Double> measure_all() throws Exception {
    measure_locks();
    measure("acquire a free semaphore", semaphore());
    measure("win a free election", this::win_election);
    measure("resign to successor", this::resign);
    measure_queues();
    measure("double barrier enter, last one in", this::enter_barrier);
    measure("group join", this::join_group);
    return operations;
  }

  private void measure_locks() throws Exception {
    InterProcessLock lock = new InterProcessMutex(owner, make("lock"));
    measure("acquire a free lock", number -> acquire_and_release(lock));
    measure("release a lock", number -> {
      acquire(lock);
      return elapsed(lock::release);
    });
    InterProcessLock next = new InterProcessMutex(waiter, base + "/lock");
    measure("lock hand-off", number -> hand_off(lock, next));
    InterProcessLock read = new InterProcessReadWriteLock(owner, make("read-write-lock")).readLock();
    measure("acquire a free read lock", number -> acquire_and_release(read));
  }

  private static long acquire_and_release(InterProcessLock lock) throws Exception {
    long time = elapsed(() -> acquire(lock));
    lock.release();
    return time;
  }

  private long hand_off(InterProcessLock from, InterProcessLock to) throws Exception {
    acquire(from);
    waiting.forget_answers();
    Future<Long> owned_at = threads.submit(() -> {
      acquire(to);
      long now = System.nanoTime();
      to.release();
      return now;
    });
    waiting.await_answer("GetData");  // it has set the watch on its predecessor: from here on it only waits
    long start = System.nanoTime();
    from.release();
    return owned_at.get(WAIT, SECONDS) - start;
  }

  private Round semaphore() throws Exception {
    InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(owner, make("semaphore"), 2);
    return number -> {
      long start = System.nanoTime();
      Lease lease = semaphore.acquire(WAIT, SECONDS);
      long time = System.nanoTime() - start;
      require(lease != null, "no lease");
      semaphore.returnLease(lease);
      return time;
    };
  }

  private long win_election(int number) throws Exception {
    try (LeaderLatch latch = new LeaderLatch(owner, make("election-" + number))) {
      CompletableFuture<Long> led_at = led_at(latch);
      long start = System.nanoTime();
      latch.start();
      return led_at.get(WAIT, SECONDS) - start;
    }
  }

  private long resign(int number) throws Exception {
    String path = make("resignation-" + number);
    LeaderLatch leader = new LeaderLatch(owner, path);
    CompletableFuture<Long> first_led_at = led_at(leader);
    leader.start();
    first_led_at.get(WAIT, SECONDS);
    waiting.forget_answers();
    try (LeaderLatch successor = new LeaderLatch(waiter, path)) {
      CompletableFuture<Long> led_at = led_at(successor);
      successor.start();
      waiting.await_answer("GetData");
      long start = System.nanoTime();
      leader.close();
      return led_at.get(WAIT, SECONDS) - start;
    }
  }

  private static CompletableFuture<Long> led_at(LeaderLatch latch) {
    CompletableFuture<Long> time = new CompletableFuture<>();
    latch.addListener(new LeaderLatchListener() {
      @Override
      public void isLeader() {
        time.complete(System.nanoTime());
      }

      @Override
      public void notLeader() {}
    });
    return time;
  }

  private void measure_queues() throws Exception {
    SimpleDistributedQueue queue = new SimpleDistributedQueue(owner, make("queue"));
    measure("queue put", number -> elapsed(() -> require(queue.offer(ITEM), "offer refused")));
    measure("queue take", number -> elapsed(() -> require(queue.poll(WAIT, SECONDS) != null, "no item")));
    SafeQueueBacklog backlog = new SafeQueueBacklog(owner, make("safe-queue"), make("safe-queue-locks"));
    record("queue take and acknowledge", backlog.cycles(options.repeat()));
  }

  private long enter_barrier(int number) throws Exception {
    String path = make("barrier-" + number);
    waiting.forget_answers();
    Future<Boolean> first =
        threads.submit(() -> new DistributedDoubleBarrier(waiter, path, 2).enter(WAIT, SECONDS));
    waiting.await_answer("GetChildren");  // the first member has counted only itself, and waits
    DistributedDoubleBarrier last = new DistributedDoubleBarrier(owner, path, 2);
    long time = elapsed(() -> require(last.enter(WAIT, SECONDS), "barrier not entered"));
    require(first.get(WAIT, SECONDS), "first member not let in");
    return time;
  }

  /** GroupMember does not report when it has joined. The other client's watch fires as early as a report could. */
  private long join_group(int number) throws Exception {
    String path = make("group-" + number);
    CompletableFuture<Long> seen_at = new CompletableFuture<>();
    waiter.checkExists()
        .usingWatcher((CuratorWatcher) event -> seen_at.complete(System.nanoTime()))
        .forPath(path + "/member");
    try (GroupMember member = new GroupMember(owner, path, "member")) {
      long start = System.nanoTime();
      member.start();
      return seen_at.get(WAIT, SECONDS) - start;
    }
  }

  private String make(String name) throws Exception {
    return owner.create().forPath(base + "/" + name);
  }

  private void measure(String name, Round round) throws Exception {
    List<Long> times = new ArrayList<>();
    try {
      round.run(0);
      for (int number = 1; number <= options.repeat(); number++) {
        times.add(round.run(number));
      }
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException("\"" + name + "\" failed: " + e, e);
    }
    record(name, times);
  }

  private void record(String name, List<Long> times) {
    Collections.sort(times);
    int middle = times.size() / 2;
    double median =
        times.size() % 2 == 1 ? times.get(middle) : (times.get(middle - 1) + times.get(middle)) / 2.0;
    operations.put(name, Math.round(median / 1e6 / options.round_trip_ms() * 1000) / 1000.0);
  }

  private static void acquire(InterProcessLock lock) throws Exception {
    require(lock.acquire(WAIT, SECONDS), "lock not acquired");
  }

  private static long elapsed(Action action) throws Exception {
    long start = System.nanoTime();
    action.run();
    return System.nanoTime() - start;
  }

  private static void require(boolean ok, String otherwise) {
    if (!ok) {
      throw new IllegalStateException(otherwise + " within " + WAIT + " s");
    }
  }
}
