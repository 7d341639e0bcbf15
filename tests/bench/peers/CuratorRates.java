import static java.util.concurrent.TimeUnit.SECONDS;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.MultiItem;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;

/** How many in a second, without a delay: the median of the rounds. */
final class CuratorRates {
  private static final int WAIT = 60;
  private static final int ROUNDS = 3;
  private static final int CONTENDERS = 4;
  private static final int LOCKS = 400;
  private static final int ITEMS = 400;
  private static final int MANY_ITEMS = 1000;
  private static final int BATCH = 100;
  private static final byte[] ITEM = {'x'};

  private final CuratorFramework client;
  private final String hosts;
  private final String base;
  private final ExecutorService threads;
  private final Map<String, Double> rates = new LinkedHashMap<>();

  CuratorRates(CuratorFramework client, String hosts, String base, ExecutorService threads) {
    this.client = client;
    this.hosts = hosts;
    this.base = base;
    this.threads = threads;
  }

  private interface Round {
    void run(int number) throws Exception;
  }

  Map<String, Double> measure_all() throws Exception {
    InterProcessMutex lock = new InterProcessMutex(client, base + "/lock");
    measure("locks, free", LOCKS, number -> lock_many(lock, LOCKS));
    measure_contended();
    SimpleDistributedQueue queue = new SimpleDistributedQueue(client, base + "/queue");
    measure("queue items put one by one", ITEMS, number -> put_many(queue, ITEMS));
    measure("queue items taken one by one", ITEMS, number -> take_many(queue, ITEMS));
    measure("queue items put in batches", MANY_ITEMS, this::put_batches);
    measure("queue items put without waiting", MANY_ITEMS, this::put_in_background);
    return rates;
  }

  private void measure_contended() throws Exception {
    List<ObservedClient> clients = new ArrayList<>();
    try {
      for (int i = 0; i < CONTENDERS; i++) {
        clients.add(ObservedClient.connect(hosts));
      }
      measure("locks, contended by four clients", LOCKS, number -> contend(clients));
    } finally {
      clients.forEach(ObservedClient::close);
    }
  }

  private void contend(List<ObservedClient> clients) throws Exception {
    List<Future<?>> contenders = new ArrayList<>();
    for (ObservedClient each : clients) {
      contenders.add(threads.submit(() -> {
        lock_many(new InterProcessMutex(each.curator, base + "/contended"), LOCKS / CONTENDERS);
        return null;
      }));
    }
    for (Future<?> each : contenders) {
      each.get(WAIT, SECONDS);
    }
  }

  private static void lock_many(InterProcessMutex lock, int count) throws Exception {
    for (int i = 0; i < count; i++) {
      lock.acquire();
      lock.release();
    }
  }

  private static void put_many(SimpleDistributedQueue queue, int count) throws Exception {
    for (int i = 0; i < count; i++) {
      queue.offer(ITEM);
    }
  }

  private static void take_many(SimpleDistributedQueue queue, int count) throws Exception {
    for (int i = 0; i < count; i++) {
      queue.take();
    }
  }

  /** A batch of Curator's is one node with many items in it. */
  private void put_batches(int number) throws Exception {
    byte[][] items = new byte[BATCH][];
    Arrays.fill(items, ITEM);
    try (DistributedQueue<byte[]> queue = producer("batches-" + number)) {
      for (int i = 0; i < MANY_ITEMS / BATCH; i++) {
        queue.putMulti(items_of(items));
        flush(queue);
      }
    }
  }

  private void put_in_background(int number) throws Exception {
    try (DistributedQueue<byte[]> queue = producer("background-" + number)) {
      for (int i = 0; i < MANY_ITEMS; i++) {
        queue.put(ITEM);
      }
      flush(queue);
    }
  }

  private DistributedQueue<byte[]> producer(String name) throws Exception {
    DistributedQueue<byte[]> queue =
        QueueBuilder.builder(client, null, new SafeQueueBacklog.Bytes(), base + "/" + name).buildQueue();
    queue.start();
    return queue;
  }

  private static MultiItem<byte[]> items_of(byte[][] items) {
    int[] next = {0};
    return () -> next[0] < items.length ? items[next[0]++] : null;
  }

  private static void flush(DistributedQueue<byte[]> queue) throws Exception {
    if (!queue.flushPuts(WAIT, SECONDS)) {
      throw new IllegalStateException("items not put within " + WAIT + " s");
    }
  }

  private void measure(String name, int count, Round round) throws Exception {
    double[] seconds = new double[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
      long start = System.nanoTime();
      round.run(i);
      seconds[i] = (System.nanoTime() - start) / 1e9;
    }
    Arrays.sort(seconds);
    rates.put(name, Math.round(count / seconds[ROUNDS / 2] * 10) / 10.0);
  }
}
