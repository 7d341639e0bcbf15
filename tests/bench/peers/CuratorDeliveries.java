import static java.util.concurrent.TimeUnit.SECONDS;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.state.ConnectionState;

/**
 * Messages that have an effect, with Curator's queue that has acknowledgements. Reads numbers of messages from standard
 * input, fills the queue with as many, works them off, and prints the messages a second of the latter.
 */
final class CuratorDeliveries {
  private static final int WAIT = 60;
  private static final byte[] ITEM = "account".getBytes();

  private final CuratorFramework client;
  private final String base;
  private int number = 0;

  CuratorDeliveries(CuratorFramework client, String base) {
    this.client = client;
    this.base = base;
  }

  /** Serves standard input until an empty line or its end. */
  Map<String, Double> serve() throws Exception {
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    System.out.println("ready");
    for (String count = input.readLine(); count != null && !count.isEmpty(); count = input.readLine()) {
      System.out.println(rate(Integer.parseInt(count)));
    }
    return Map.of();
  }

  private double rate(int count) throws Exception {
    String path = base + "/deliveries-" + ++number;
    String effects = base + "/effects-" + number;
    client.create().creatingParentsIfNeeded().forPath(effects);
    put(path, count + 1);
    EffectMaker consumer = new EffectMaker(client, effects);
    try (DistributedQueue<byte[]> queue = QueueBuilder.builder(client, consumer, new SafeQueueBacklog.Bytes(), path)
        .lockPath(base + "/locks-" + number).buildQueue()) {
      queue.start();
      // From the beginning of the first message to that of one more: as many whole cycles.
      long start = consumer.next();
      long end = start;
      for (int i = 0; i < count; i++) {
        end = consumer.next();
      }
      return count / ((end - start) / 1e9);
    }
  }

  private void put(String path, int items) throws Exception {
    try (DistributedQueue<byte[]> queue =
        QueueBuilder.builder(client, null, new SafeQueueBacklog.Bytes(), path).buildQueue()) {
      queue.start();
      for (int i = 0; i < items; i++) {
        queue.put(ITEM);
      }
      if (!queue.flushPuts(WAIT, SECONDS)) {
        throw new IllegalStateException("items not put within " + WAIT + " s");
      }
    }
  }

  private static final class EffectMaker implements QueueConsumer<byte[]> {
    private final CuratorFramework client;
    private final String effects;
    private final BlockingQueue<Long> begun = new LinkedBlockingQueue<>();
    private int number = 0;

    EffectMaker(CuratorFramework client, String effects) {
      this.client = client;
      this.effects = effects;
    }

    @Override
    public void consumeMessage(byte[] item) throws Exception {
      begun.add(System.nanoTime());
      client.create().forPath(effects + "/" + ++number, item);
    }

    @Override
    public void stateChanged(CuratorFramework changed, ConnectionState state) {}

    long next() throws InterruptedException {
      Long time = begun.poll(WAIT, SECONDS);
      if (time == null) {
        throw new IllegalStateException("no item within " + WAIT + " s");
      }
      return time;
    }
  }
}
