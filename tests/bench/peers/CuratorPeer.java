import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Measures Curator's recipes and prints the figures as one JSON object. Everything it does has a time limit, and its
 * nodes are removed before it ends, also after an error.
 */
public final class CuratorPeer {
  private final ExecutorService threads = Executors.newCachedThreadPool(CuratorPeer::daemon);
  private final PeerOptions options;
  private final String base;

  private CuratorPeer(PeerOptions options) {
    this.options = options;
    this.base = options.path();
  }

  public static void main(String[] arguments) {
    PeerOptions options;
    try {
      options = PeerOptions.parse(arguments);
    } catch (IllegalArgumentException e) {
      System.err.println("curator peer: " + e.getMessage());
      System.exit(2);
      return;
    }
    Thread main = Thread.currentThread();
    Thread on_signal = new Thread(() -> interrupt_and_join(main));
    Runtime.getRuntime().addShutdownHook(on_signal);
    int status = new CuratorPeer(options).run();
    try {
      Runtime.getRuntime().removeShutdownHook(on_signal);
    } catch (IllegalStateException e) {
      return;  // a signal already ends the process, and its handler waits for this thread
    }
    System.exit(status);
  }

  private int run() {
    Map<String, Double> operations = null;
    boolean connected = false;
    try (ObservedClient owner = ObservedClient.connect(options.hosts());
        ObservedClient waiter = ObservedClient.connect(options.hosts())) {
      connected = true;
      operations = bounded(options.limit_seconds(), () -> {
        owner.curator.create().orSetData().forPath(base);  // another candidate may have made it
        return measure(owner, waiter);
      });
    } catch (Exception e) {
      tell(e);
    }
    if ((connected && !removed()) || operations == null) {
      return 1;
    }
    return print(operations) ? 0 : 1;
  }

  private Map<String, Double> measure(ObservedClient owner, ObservedClient waiter) throws Exception {
    return switch (options.part()) {
      case "rates" -> new CuratorRates(owner.curator, options.hosts(), base, threads).serve();
      case "deliveries" -> new CuratorDeliveries(owner.curator, base).serve();
      case "wake-ups" -> new CuratorCrowd(owner, base).run(options.waiting());
      case "leaders" -> new CuratorLeader(options.hosts(), base).run();
      default -> new CuratorOperations(owner, waiter, base, options, threads).measure_all();
    };
  }

  private static boolean print(Map<String, Double> operations) {
    Map<String, Object> answer = new LinkedHashMap<>();
    answer.put("peer", "curator");
    answer.put("operations", operations);
    try {
      System.out.println(new ObjectMapper().writeValueAsString(answer));
      return true;
    } catch (IOException e) {
      tell(e);
      return false;
    }
  }

  private boolean removed() {
    try {
      bounded(3 * ObservedClient.WAIT_SECONDS, this::remove_base);
      return true;
    } catch (Exception e) {
      tell(e);
      System.err.println("curator peer: " + base + " is left behind");
      return false;
    }
  }

  private static void tell(Exception e) {
    String what = e instanceof InterruptedException ? "interrupted" : e.getMessage();
    System.err.println("curator peer: " + (what == null ? e.toString() : what));
  }

  /** Uses a new session: the measuring ones are closed by now, so they can not make nodes again. */
  private Void remove_base() throws Exception {
    try (ObservedClient remover = ObservedClient.connect(options.hosts())) {
      remover.curator.delete().quietly().deletingChildrenIfNeeded().forPath(base);
    }
    return null;
  }

  private <T> T bounded(long seconds, Callable<T> work) throws Exception {
    Future<T> future = threads.submit(work);
    try {
      return future.get(seconds, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new IllegalStateException("gave up after " + seconds + " s");
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    } finally {
      future.cancel(true);
    }
  }

  private static void interrupt_and_join(Thread main) {
    main.interrupt();
    try {
      main.join(4000L * ObservedClient.WAIT_SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work);
    thread.setDaemon(true);
    return thread;
  }
}
