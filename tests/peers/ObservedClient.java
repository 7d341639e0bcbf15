import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.drivers.AdvancedTracerDriver;
import org.apache.curator.drivers.EventTrace;
import org.apache.curator.drivers.OperationTrace;
import org.apache.curator.ensemble.fixed.FixedEnsembleProvider;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryNTimes;

/** A connected Curator client that reports which kinds of its requests have been answered. */
final class ObservedClient implements AutoCloseable {
  static final int WAIT_SECONDS = 10;

  final CuratorFramework curator;
  private final BlockingQueue<String> answered = new LinkedBlockingQueue<>();

  private ObservedClient(CuratorFramework curator) {
    this.curator = curator;
    curator.getZookeeperClient().setTracerDriver(new AdvancedTracerDriver() {
      @Override
      public void addTrace(OperationTrace trace) {
        answered.add(trace.getName());
      }

      @Override
      public void addEvent(EventTrace trace) {}
    });
  }

  static ObservedClient connect(String hosts) throws InterruptedException {
    // By default Curator takes the servers' own addresses from /zookeeper/config. Then its next connection would bypass
    // the proxies with the injected delay.
    CuratorFramework curator = CuratorFrameworkFactory.builder()
        .ensembleProvider(new FixedEnsembleProvider(hosts, false))
        .ensembleTracker(false)
        .sessionTimeoutMs(WAIT_SECONDS * 1000)
        .connectionTimeoutMs(WAIT_SECONDS * 1000)
        .retryPolicy(new RetryNTimes(2, 100))
        .build();
    ObservedClient client = new ObservedClient(curator);
    curator.start();
    try {
      if (curator.blockUntilConnected(WAIT_SECONDS, TimeUnit.SECONDS)) {
        return client;
      }
    } catch (InterruptedException e) {
      client.close();
      throw e;
    }
    client.close();
    throw new IllegalStateException("cannot reach ZooKeeper at " + hosts + " within " + WAIT_SECONDS
        + " s; check --hosts and that the ensemble is up");
  }

  void forget_answers() {
    answered.clear();
  }

  /** Waits until a request of this kind ("GetData", "GetChildren") was answered since forget_answers(). */
  void await_answer(String kind) throws InterruptedException {
    String name;
    do {
      name = answered.poll(WAIT_SECONDS, TimeUnit.SECONDS);
      if (name == null) {
        throw new IllegalStateException("the waiting client got no answer to " + kind);
      }
    } while (!name.startsWith(kind));
  }

  @Override
  public void close() {
    curator.close();
  }
}
