import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
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

/** Measures rates without a delay: reads names of lines, does a round of each, and prints the operations per second. */
final class CuratorRates {
  private static final int WAIT = 60;
  private static final int CONTENDERS = 4;
  private static final int LOCKS = 400;
  private static final int ITEMS = 400;
  private static final int MANY_ITEMS = 1000;
  private static final int BATCH = 100;
  private static final byte[] ITEM = {'x'};
  private static final int TOPIC_MESSAGES = 200_000;
  private static final int TOPIC_BATCH = 1000;
  private static final int TOPIC_MESSAGE_BYTES = 100;

  private final CuratorFramework client;
  private final String hosts;
  private final String base;
  private final ExecutorService threads;
  private int number = 0;
  private DistributedQueue<byte[]> topic;

  CuratorRates(CuratorFramework client, String hosts, String base, ExecutorService threads) {
    this.client = client;
    this.hosts = hosts;
    this.base = base;
    this.threads = threads;
  }

  private interface Round {
    void run() throws Exception;
  }

  private record Line(int count, Round round) {}

  /** Serves standard input until an empty line or its end. */
  Map<String, Double> serve() throws Exception {
    List<ObservedClient> clients = new ArrayList<>();
    try {
      for (int i = 0; i < CONTENDERS; i++) {
        clients.add(ObservedClient.connect(hosts));
      }
      Map<String, Line> known = lines(clients);
      BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
      System.out.println("ready");
      for (String name = input.readLine(); name != null && !name.isEmpty(); name = input.readLine()) {
        System.out.println(rate(known.get(name)));
      }
    } finally {
      clients.forEach(ObservedClient::close);
      if (topic != null) {
        topic.close();
      }
    }
    return Map.of();
  }

  private Map<String, Line> lines(List<ObservedClient> clients) {
    InterProcessMutex lock = new InterProcessMutex(client, base + "/lock");
    SimpleDistributedQueue queue = new SimpleDistributedQueue(client, base + "/queue");
    return Map.of(
        "locks, free", new Line(LOCKS, () -> lock_many(lock, LOCKS)),
        "locks, contended by four clients", new Line(LOCKS, () -> contend(clients)),
        "queue items put one by one", new Line(ITEMS, () -> put_many(queue, ITEMS)),
        "queue items taken one by one", new Line(ITEMS, () -> take_many(queue, ITEMS)),
        "queue items put in batches", new Line(MANY_ITEMS, this::put_batches),
        "queue items put without waiting", new Line(MANY_ITEMS, this::put_in_background),
        "topic messages put", new Line(TOPIC_MESSAGES, this::put_large_batches));
  }

  /** Operations per second; null if there is no such operation. */
  private static Double rate(Line line) throws Exception {
    if (line == null) {
      return null;
    }
    long start = System.nanoTime();
    line.round().run();
    return line.count() / ((System.nanoTime() - start) / 1e9);
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

  /** In Curator a batch is one node with many items in it. */
  private void put_batches() throws Exception {
    byte[][] items = new byte[BATCH][];
    Arrays.fill(items, ITEM);
    try (DistributedQueue<byte[]> queue = producer("batches-" + ++number)) {
      for (int i = 0; i < MANY_ITEMS / BATCH; i++) {
        queue.putMulti(items_of(items));
        flush(queue);
      }
    }
  }

  /** As many batches are under way as Curator sends by itself. The first round makes the queue. */
  private void put_large_batches() throws Exception {
    if (topic == null) {
      topic = producer("topic");
    }
    byte[][] items = new byte[TOPIC_BATCH][TOPIC_MESSAGE_BYTES];
    for (int i = 0; i < TOPIC_MESSAGES / TOPIC_BATCH; i++) {
      topic.putMulti(items_of(items));
    }
    flush(topic);
  }

  private void put_in_background() throws Exception {
    try (DistributedQueue<byte[]> queue = producer("background-" + ++number)) {
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
}
