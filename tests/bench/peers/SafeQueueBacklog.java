import static java.util.concurrent.TimeUnit.SECONDS;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.state.ConnectionState;

/**
 * Consumes a backlog from Curator's queue with a lock path, which is its queue with acknowledgements. That queue pushes
 * items into a consumer. So with a backlog the time from one item to the next is the cost of acknowledging the first
 * and taking the second: a cycle.
 */
final class SafeQueueBacklog {
  private static final int WAIT = ObservedClient.WAIT_SECONDS;
  private static final byte[] ITEM = {'x'};

  private final CuratorFramework client;
  private final String path;
  private final String lock_path;

  SafeQueueBacklog(CuratorFramework client, String path, String lock_path) {
    this.client = client;
    this.path = path;
    this.lock_path = lock_path;
  }

  /** Returns the nanoseconds of each of `count` cycles. */
  List<Long> cycles(int count) throws Exception {
    int items = count + 2;  // the first interval is the warm-up
    put(items);
    TimedConsumer consumer = new TimedConsumer();
    try (DistributedQueue<byte[]> queue =
        QueueBuilder.builder(client, consumer, new Bytes(), path).lockPath(lock_path).buildQueue()) {
      queue.start();
      return intervals(consumer, items);
    }
  }

  private void put(int items) throws Exception {
    try (DistributedQueue<byte[]> queue =
        QueueBuilder.builder(client, null, new Bytes(), path).buildQueue()) {
      queue.start();
      for (int i = 0; i < items; i++) {
        queue.put(ITEM);
      }
      if (!queue.flushPuts(WAIT, SECONDS)) {
        throw new IllegalStateException("items not put within " + WAIT + " s");
      }
    }
  }

  private static List<Long> intervals(TimedConsumer consumer, int items) throws InterruptedException {
    consumer.next();
    long previous = consumer.next();
    List<Long> intervals = new ArrayList<>();
    for (int i = 2; i < items; i++) {
      long taken_at = consumer.next();
      intervals.add(taken_at - previous);
      previous = taken_at;
    }
    return intervals;
  }

  private static final class TimedConsumer implements QueueConsumer<byte[]> {
    private final BlockingQueue<Long> taken_at = new LinkedBlockingQueue<>();

    @Override
    public void consumeMessage(byte[] item) {
      taken_at.add(System.nanoTime());
    }

    @Override
    public void stateChanged(CuratorFramework changed, ConnectionState state) {}

    long next() throws InterruptedException {
      Long time = taken_at.poll(WAIT, SECONDS);
      if (time == null) {
        throw new IllegalStateException("no item within " + WAIT + " s");
      }
      return time;
    }
  }

  static final class Bytes implements QueueSerializer<byte[]> {
    @Override
    public byte[] serialize(byte[] item) {
      return item;
    }

    @Override
    public byte[] deserialize(byte[] bytes) {
      return bytes;
    }
  }
}
